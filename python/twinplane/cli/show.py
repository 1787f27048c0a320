"""``twinplane show`` and ``twinplane compare``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from ..errors import TwinplaneError
from ..experiments import load as load_experiment
from ..experiments.base import Point
from ..results import Results, load
from .run import print_points
from .tables import print_table


def show_run(folder: Path, as_json: bool) -> None:
    """The table of a run, and what repeats it."""
    found = load(folder)
    if as_json:
        typer.echo(json.dumps({"manifest": found.manifest, "summary": found.summary}))
        return
    typer.echo(
        f"{found.experiment}  seed {found.manifest['seed']}   {found.manifest['clock']} time   {folder}"
    )
    print_points(found)
    rows = found.summary.get("intervals") or {}
    if rows:
        print_table(
            ["metric", "runs", "mean", "sd", "95 % from", "to"],
            [
                [key, *(_number(entry[part]) for part in ("n", "mean", "sd", "low", "high"))]
                for key, entry in rows.items()
            ],
            left=1,
        )
    experiment = load_experiment(found.experiment)
    verdicts = [row for row in experiment.comparisons(found.points) if row.holds is not None]
    if verdicts:
        held = sum(bool(row.holds) for row in verdicts)
        typer.echo(f"published claims that hold here: {held} of {len(verdicts)}")
    typer.echo(f"repeat   {found.manifest['command']}")


def compare_runs(first: Path, second: Path, as_json: bool) -> None:
    """Metrics of two runs that differ, with residuals."""
    a, b = load(first), load(second)
    if a.experiment != b.experiment:
        raise TwinplaneError(
            f"{first} holds '{a.experiment}', {second} '{b.experiment}': they cannot be compared"
        )
    pairs = _pairs(a, b)
    rows = [
        {
            "point": name,
            "metric": key,
            "first": x.metrics.get(key),
            "second": y.metrics.get(key),
            **_residual(x.metrics.get(key), y.metrics.get(key)),
        }
        for name, x, y in pairs
        for key in dict.fromkeys([*x.metrics, *y.metrics])
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    differing = [row for row in rows if row["first"] != row["second"]]
    equal = len(rows) - len(differing)
    typer.echo(f"{a.experiment}: {len(pairs)} points, {len(rows)} metrics, {equal} of them equal")
    if differing:
        print_table(
            ["point", "metric", str(first), str(second), "residual", "relative"],
            [
                [
                    str(row["point"]),
                    str(row["metric"]),
                    _number(row["first"]),
                    _number(row["second"]),
                    _number(row["residual"]),
                    "-" if row["relative"] is None else f"{row['relative']:+.3%}",
                ]
                for row in differing
            ],
            left=2,
        )


def _pairs(a: Results, b: Results) -> list[tuple[str, Point, Point]]:
    """Points of two runs that belong together: by what varies within either run."""
    if len(a.points) == len(b.points) == 1:
        return [("", a.points[0], b.points[0])]
    inner = [
        key
        for key in a.points[0].parameters
        if any(len({str(p.parameters.get(key)) for p in run.points}) > 1 for run in (a, b))
    ]
    by_name = {_name(point.parameters, inner): point for point in b.points}
    found = [
        (name, point, by_name[name])
        for point in a.points
        if (name := _name(point.parameters, inner)) in by_name
    ]
    if not found:
        raise TwinplaneError(f"{a.folder} and {b.folder}: they have no point in common")
    return found


def _name(parameters: Mapping[str, Any], keys: list[str]) -> str:
    return " ".join(f"{key}={parameters.get(key)}" for key in keys)


def _residual(x: Any, y: Any) -> dict[str, float | None]:
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in (x, y)):
        return {"residual": None, "relative": None}
    return {"residual": y - x, "relative": (y - x) / x if x else None}


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
