"""Charts as SVG for where no script draws them: plain, with the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from . import DASHES, Chart, Curve, Value, look, thinned
from .words import WORD, placed

WIDTH, LEFT, RIGHT, FOOT = 900.0, 74.0, 12.0, 40.0
PANEL, ROW, LEGEND = 130.0, 20.0, 18.0
LETTERS = 110
POINTS_MAX = 400
STROKES = {"dash": "6 3", "dot": "2 2", "dashdot": "6 2 2 2", "longdash": "10 3", "longdashdot": "9 2 2 2"}


class Axis:
    """A stretch of values on a stretch of the drawing."""

    def __init__(self, low: float, high: float, begin: float, end: float, *, log: bool = False) -> None:
        self.log = log and low > 0
        self.low, self.high = (math.log10(low), math.log10(high)) if self.log else (low, high)
        self.begin, self.end = begin, end

    def at(self, value: float) -> float:
        """Where a value is."""
        place = (math.log10(value) if value > 0 else self.low) if self.log else value
        share = (place - self.low) / ((self.high - self.low) or 1.0)
        return self.begin + min(1.0, max(0.0, share)) * (self.end - self.begin)

    def ticks(self, count: int) -> list[float]:
        """Some round values."""
        if self.log:
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            return [10.0**power for power in range(first, last + 1, max(1, (last - first) // count + 1))]
        rough = ((self.high - self.low) or 1.0) / count
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [place * step for place in range(first, last + 1)]


def drawing(chart: Chart) -> str:
    """The chart as SVG."""
    words = placed(chart, LETTERS)
    y = 6.0 + WORD * max((row + 1 for _, row, _ in words), default=0)
    x = _across(chart)
    parts = [_text(x.at(one.x), y - 4 - WORD * row, one.text, late) for one, row, late in words]
    for panel in range(chart.panels):
        names = list(dict.fromkeys(one.name for one in chart.curves if one.panel == panel))
        if len(names) > 1 and not set(names) <= set(chart.ticks.get(panel, ())):
            legend = list(_legend(chart, panel, names, y + 6))
            parts += legend[:-1]
            y = float(legend[-1])
        rows = chart.ticks.get(panel)
        high = max(40.0, ROW * len(rows) + 10) if rows else PANEL
        parts += _panel(chart, panel, x, y + 4, y + 4 + high)
        y += high + 12
    parts += [_text(x.at(tick), y + 10, _number(tick, x.ticks(8)), None) for tick in x.ticks(8)]
    parts.append(_text((x.begin + x.end) / 2, y + 28, chart.x_title, None))
    return (
        f'<svg class="plain" viewBox="0 0 {WIDTH:g} {y + FOOT:g}" role="img" aria-label="{escape(chart.alt)}"'
        ' xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="12"'
        f' fill="currentColor">{"".join(parts)}</svg>'
    )


def _across(chart: Chart) -> Axis:
    xs = [float(value) for curve in chart.curves for value in curve.x if value is not None]
    low, high = chart.x_range or (min(xs, default=0.0), max(xs, default=1.0))
    return Axis(low, high, LEFT, WIDTH - RIGHT, log=chart.log_x)


def _legend(chart: Chart, panel: int, names: Sequence[str], y: float) -> Iterator[str]:
    """Names with their lines; the last is how far down they reach."""
    styles = {one.name: one for one in reversed(chart.curves) if one.panel == panel}
    x = LEFT
    for name in names:
        wide = 40 + 7 * len(name)
        if x > LEFT and x + wide > WIDTH:
            x, y = LEFT, y + LEGEND
        yield f'<path d="M{x:.0f} {y + 4:.0f}h24" fill="none" {_stroke(styles[name])}/>'
        yield _text(x + 28, y + 8, name, False)
        x += wide
    yield str(y + LEGEND - 4)


def _panel(chart: Chart, panel: int, x: Axis, top: float, low: float) -> Iterator[str]:
    y = _upwards(chart, panel, top, low)
    wide, high = x.end - x.begin, low - top
    for band in chart.bands:
        begin, end = x.at(band.begin), x.at(band.end)
        area = f'x="{begin:.1f}" y="{top:.1f}" width="{end - begin:.1f}" height="{high:.1f}"'
        yield f'<rect {area} fill="#808080" fill-opacity=".2"/>'
    names = chart.ticks.get(panel)
    ticks = [-float(row) for row in range(len(names))] if names else y.ticks(4)
    for place, tick in enumerate(ticks):
        at = y.at(tick)
        if not names:
            yield f'<path d="M{x.begin:.0f} {at:.1f}h{wide:.0f}" stroke="var(--line)" stroke-width=".5"/>'
        yield _text(x.begin - 6, at + 4, names[place] if names else _number(tick, ticks), True)
    yield f'<path d="M{x.begin:.0f} {top:.1f}V{low:.1f}h{wide:.0f}" fill="none" stroke="currentColor"/>'
    for at in dict.fromkeys(mark.x for mark in chart.marks):
        yield f'<path d="M{x.at(at):.1f} {top:.1f}V{low:.1f}" stroke="currentColor" stroke-dasharray="2 2"/>'
    for curve in chart.curves:
        if curve.panel == panel:
            yield from _curve(curve, x, y)
    if title := chart.y_titles[panel]:
        turned = f'transform="translate(13 {(top + low) / 2:.1f}) rotate(-90)"'
        yield f'<text {turned} text-anchor="middle">{escape(title)}</text>'


def _upwards(chart: Chart, panel: int, top: float, low: float) -> Axis:
    values = [float(v) for one in chart.curves if one.panel == panel for v in one.y if v is not None]
    is_log = panel in chart.log
    least, most = min(values, default=0.0), max(values, default=1.0)
    limits = chart.limits(panel) or (least if is_log or least < 0 else 0.0, most)
    return Axis(*limits, low, top, log=is_log)


def _curve(curve: Curve, x: Axis, y: Axis) -> Iterator[str]:
    strip = curve.shape in ("strip", "gap")
    xs, ys = (list(curve.x), list(curve.y)) if strip else thinned(curve.x, curve.y, POINTS_MAX)
    points = [None if u is None or v is None else (x.at(u), y.at(v)) for u, v in zip(xs, ys, strict=True)]
    if curve.shape in ("points", "ticks", "both"):
        mark = "m0 -4v8" if curve.shape == "ticks" else "m-3 0h6m-3 -3v6"
        path = "".join(f"M{at[0]:.1f} {at[1]:.1f}{mark}" for at in points if at)
        yield f'<path d="{path}" fill="none" stroke="var(--shade-{look(curve.style)[0]})" stroke-width="2"/>'
    if curve.shape in ("points", "ticks"):
        return
    path, before = "", None
    for at in points:
        if at is None:
            before = None
            continue
        if curve.shape == "bars":
            path += f"M{at[0]:.1f} {y.begin:.1f}V{at[1]:.1f}"
        elif before is None:
            path += f"M{at[0]:.1f} {at[1]:.1f}"
        else:
            path += f"H{at[0]:.1f}V{at[1]:.1f}" if curve.shape == "steps" else f"L{at[0]:.1f} {at[1]:.1f}"
        before = at
    yield f'<path d="{path}" fill="none" {_stroke(curve)}/>'


def _stroke(curve: Curve) -> str:
    shade, dash = look(curve.style)
    wide = {"strip": 9.0, "gap": 2.0, "bars": 4.0}.get(curve.shape, 1.6)
    strokes = (
        "2 2" if curve.shape == "gap" else "" if curve.shape == "strip" else STROKES.get(DASHES[dash], "")
    )
    dashed = f' stroke-dasharray="{strokes}"' if strokes else ""
    return f'stroke="var(--shade-{shade})" stroke-width="{wide:g}"{dashed}'


def _text(x: float, y: float, text: str, late: bool | None) -> str:
    anchor = "middle" if late is None else "end" if late else "start"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _number(value: Value, others: Sequence[float]) -> str:
    """A number with as many digits as tell it from its neighbours."""
    steps = [abs(b - a) for a, b in pairwise(others)]
    digits = max(0, -math.floor(math.log10(min(steps)) + 1e-9)) if steps and min(steps) > 0 else 0
    return f"{value:,.{min(digits, 9)}f}"
