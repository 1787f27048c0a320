"""Charts as plain data, drawn for the page by `interactive` and for files by `static`.

A chart has panels under one another that share the horizontal axis. Curves differ by dash and marker as
well as by shade, so that they can be told apart in black and white.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "triangle-up", "diamond", "cross", "x")
SHADES = ("#000000", "#0b5394", "#a64d00", "#38761d", "#674ea7", "#666666")
DARK = ("#f2f2f2", "#7ab8f5", "#f2a65a", "#8fce6b", "#b9a5ef", "#a6a6a6")
"""The same shades on a dark page."""

NEAR_ZERO = 0.6
"""An axis begins at zero if the least value is at most this share of the greatest."""
LEAST_SHARE = 0.1
"""An axis covers at least this share of the greatest value."""

STYLES = len(SHADES) * 4
"""So many styles of curves differ: shades come round with other dashes and markers."""


def look(style: int) -> tuple[int, int]:
    """The places of a style's shade, and of its dash and marker."""
    turn, shade = divmod(style % STYLES, len(SHADES))
    return shade, (shade + turn) % len(DASHES)


Value = float | int | None


@dataclass(frozen=True)
class Curve:
    """One curve: a line, points on a line, bare points, steps, bars (a histogram), or stretches of time.

    Stretches (`strip`, or `gap` for a thin one) are pairs of ends, each pair followed by None. `ticks` are
    short upright lines: points that are so many that they would cover each other.
    """

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    panel: int = 0
    shape: str = "line"
    style: int = 0
    errors: Sequence[Value] = ()
    """How far each point may be off, drawn as bars; empty: none is."""
    words: Sequence[str | None] = ()
    """What is said of each point when it is pointed at."""


@dataclass(frozen=True)
class Mark:
    """A vertical line with a word to it."""

    x: float
    text: str


@dataclass(frozen=True)
class Band:
    """A stretch of time in which something was away, shaded behind all panels."""

    begin: float
    end: float


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
    log_x: bool = False
    bands: Sequence[Band] = ()
    zero: Sequence[int] = ()
    """Panels whose axis begins at zero, whatever the values are."""
    ticks: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Names of the rows of a panel, from the top: the first row is at 0, the next at -1."""
    x_range: tuple[float, float] | None = None

    def limits(self, panel: int) -> tuple[float, float] | None:
        """What the axis of a panel shows; None if the plotting library may choose.

        Zero is there if values come near it. Values that hardly differ are not drawn as if they did.
        """
        if panel in self.ticks:
            return 0.6 - len(self.ticks[panel]), 0.6
        values = [v for one in self.curves if one.panel == panel for v in one.y if v is not None]
        if panel in self.log or not values:
            return None
        if any(curve.shape == "bars" or curve.errors for curve in self.curves if curve.panel == panel):
            return None
        low, high = min(values), max(values)
        if low < 0:
            return None
        if low <= NEAR_ZERO * high or panel in self.zero:
            return (0.0, 1.06 * high) if high else (0.0, 1.0)
        room = max((high - low) * 0.08, (LEAST_SHARE * high - (high - low)) / 2)
        return max(0.0, low - room), high + room

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
