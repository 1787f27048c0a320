"""``twinplane show``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from ..experiments import load as load_experiment
from ..experiments import scores
from ..results.folder import load
from ..results.manifest import time_of
from ..results.repeats import seeds
from .run import print_points
from .tables import print_table


def show_run(folder: Path, as_json: bool) -> None:
    """The table of a run, and what repeats it."""
    found = load(folder)
    if as_json:
        typer.echo(json.dumps({"manifest": found.manifest, "summary": found.summary}))
        return
    which = seeds(found.manifest["seed"], found.manifest["repeat"])
    name = load_experiment(found.experiment).called(found.points[0].parameters)
    typer.echo(f"{name}  {which}   {time_of(found.manifest)}   {folder}")
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
    real = found.manifest.get("real") is not None
    rows = [] if real else experiment.comparisons(found.points)
    if rows:
        typer.echo(scores.headline(rows))
    for text in found.warnings:
        typer.echo(f"warning  {text}")
    typer.echo(f"repeat   {found.manifest['command']}")


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
