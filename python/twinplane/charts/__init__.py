"""Charts as plain data, drawn for the page by `interactive` and for files by `static`.

A chart has panels under one another that share the horizontal axis. Curves differ by dash and marker as
well as by shade, so that they can be told apart in black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "triangle-up", "diamond", "cross", "x")
SHADES = ("#000000", "#0b5394", "#a64d00", "#38761d", "#674ea7", "#666666")

STYLES = len(SHADES) * 4
"""So many styles of curves differ: shades come round with other dashes and markers."""


def look(style: int) -> tuple[int, int]:
    """The places of a style's shade, and of its dash and marker."""
    turn, shade = divmod(style % STYLES, len(SHADES))
    return shade, (shade + turn) % len(DASHES)


Value = float | int | None


@dataclass(frozen=True)
class Curve:
    """One curve: a line, points on a line, bare points, steps, or bars (a histogram)."""

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    panel: int = 0
    shape: str = "line"
    style: int = 0
    errors: Sequence[Value] = ()
    """How far each point may be off, drawn as bars; empty: none is."""


@dataclass(frozen=True)
class Mark:
    """A vertical line with a word to it."""

    x: float
    text: str


@dataclass(frozen=True)
class Chart:
    """A figure; `alt` says in words what it shows."""

    key: str
    title: str
    alt: str
    x_title: str
    y_titles: Sequence[str]
    curves: Sequence[Curve]
    marks: Sequence[Mark] = ()
    log: Sequence[int] = field(default=())
    """Panels with a logarithmic axis."""

    @property
    def panels(self) -> int:
        """How many panels there are."""
        return len(self.y_titles)


def thinned(x: Sequence[Value], y: Sequence[Value], most: int = 2000) -> tuple[list[Value], list[Value]]:
    """At most about `most` points: of every stretch its lowest and its highest, in order."""
    if len(x) <= most:
        return list(x), list(y)
    width = -(-2 * len(x) // most)
    keep: list[int] = []
    for begin in range(0, len(x), width):
        places = [place for place in range(begin, min(begin + width, len(x))) if y[place] is not None]
        if places:
            low = min(places, key=lambda place: (y[place] or 0, place))
            high = max(places, key=lambda place: (y[place] or 0, place))
            keep += sorted({low, high})
    return [x[place] for place in keep], [y[place] for place in keep]
