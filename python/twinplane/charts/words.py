"""Where the words of marks stand above a chart, so that they do not cover each other."""

from __future__ import annotations

from . import Chart, Mark

ROWS = 4
"""Words stand in so many rows at most; what finds no room is left to the caption."""
WORD = 14
"""Height of a row in pixels."""


def placed(chart: Chart, letters: int) -> list[tuple[Mark, int, bool]]:
    """Marks with their row from below, and whether they lead to the left, where so many letters have room."""
    xs = [value for curve in chart.curves for value in curve.x if value is not None]
    low, high = chart.x_range or (min(xs, default=0.0), max(xs, default=1.0))
    long = (high - low) or 1.0
    taken: list[list[tuple[float, float]]] = [[] for _ in range(ROWS)]
    found = []
    for mark in sorted(chart.marks, key=lambda mark: mark.x):
        at, wide = (mark.x - low) / long, (len(mark.text) + 1) / letters
        late = at > 0.5 if wide <= 1 - at else at >= wide or at > 0.5
        begin, end = (at - wide, at) if late else (at, at + wide)
        for row, spans in enumerate(taken):
            if all(end <= other or begin >= until for other, until in spans):
                spans.append((begin, end))
                found.append((mark, row, late))
                break
    return found
