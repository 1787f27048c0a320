"""``twinplane compare``: two runs side by side, on the terminal, as JSON, as a page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from ..measure.alignment import TITLES
from ..measure.comparison import EPHEMERAL, Pair, compare, different, number, remarks
from ..results.folder import load
from ..results.manifest import time_of
from .tables import print_table


def compare_runs(first: Path, second: Path, as_json: bool, html: Path | None = None) -> None:
    """Metrics of two runs that differ, with residuals and bounds, and the order of their messages."""
    a, b = load(first), load(second)
    pairs = compare(a, b)
    if html is not None:
        from ..reports.from_two import page, write

        write(html, page(a, b, pairs))
    if as_json:
        parameters = {key: {"first": x, "second": y} for key, x, y in different(a, b)}
        typer.echo(json.dumps({"parameters": parameters, **as_plain(pairs)}))
        return
    rows = [row for pair in pairs for row in pair.rows if row.metric not in EPHEMERAL]
    differing = [row for row in rows if not row.equal]
    points = "1 point" if len(pairs) == 1 else f"{len(pairs)} points"
    typer.echo(f"{a.experiment}: {points}, {len(rows)} metrics, {len(rows) - len(differing)} of them equal")
    typer.echo(f"first    {first}  ({time_of(a.manifest)})\nsecond   {second}  ({time_of(b.manifest)})")
    if asked := different(a, b):
        typer.echo("asked for differently, so that residuals hold this too:")
        print_table(["parameter", "first", "second"], asked, left=1)
    if differing:
        print_table(
            ["point", "metric", "first", "second", "residual", "relative", "bound", "spread", "within"],
            [
                [
                    row.point,
                    row.metric,
                    number(row.first, row.refused),
                    number(row.second, row.refused),
                    number(row.residual),
                    "-" if row.relative is None else f"{row.relative:+.3%}",
                    "exact" if row.bound is None and row.residual is not None else number(row.bound),
                    number(row.spread),
                    row.verdict,
                ]
                for row in differing
            ],
            left=2,
        )
    for text in remarks(rows):
        typer.echo(text)
    print_signals(pairs)
    if html is not None:
        typer.echo(f"report   {html}")


def print_signals(pairs: list[Pair]) -> None:
    """One line for each neighbour."""
    found = [(pair.name, one) for pair in pairs for one in pair.signals or []]
    if not found:
        typer.echo("signalling messages: not kept by both runs (--signals keeps them)")
        return
    print_table(
        ["point", "node", "neighbor", *TITLES],
        [[name, one.node, one.neighbor, *one.cells()] for name, one in found],
        left=3,
    )


def as_plain(pairs: list[Pair]) -> dict[str, Any]:
    """Metrics and signals as plain values."""
    return {
        "metrics": [asdict(row) for pair in pairs for row in pair.rows],
        "signals": [{"point": pair.name, **one.as_dict()} for pair in pairs for one in pair.signals or []],
    }
