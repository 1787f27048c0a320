"""Charts for the page: plain plotly.js descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import DASHES, MARKERS, SHADES, Chart, Curve, Mark, look, thinned
from .words import WORD, placed

AXIS = {
    "showline": True,
    "linecolor": "#000",
    "gridcolor": "#ddd",
    "zeroline": False,
    "ticks": "outside",
    "automargin": True,
}

PANEL, ROW, FOOT = 150, 20, 60
"""Heights in pixels: of a panel, of a row of a panel with names, and of what is below the last panel."""
LEGEND = 22
"""Height of a line of a legend, which stands above its panel; 19 of it are the plotting library's own."""
PER_LINE, PER_LINE_NARROW = 110, 38
"""So many letters have room in a line of a legend, also on a telephone."""
KEY = 7
"""A line before a name is as wide as so many letters."""
BAR = 16
"""Height of the buttons that the plotting library puts above everything."""
SHAPES_MAX = 300
"""More lines and bands are drawn through all panels at once."""


def figure(chart: Chart) -> dict[str, Any]:
    """Traces and layout of a chart; and its layout on a narrow screen."""
    named = [_names(chart, panel) for panel in range(chart.panels)]
    narrow = _layout(chart, named, PER_LINE_NARROW)
    return {"data": [*_traces(chart, named)], "layout": _layout(chart, named, PER_LINE), "narrow": narrow}


def _layout(chart: Chart, named: list[list[str]], letters: int) -> dict[str, Any]:
    small = letters < PER_LINE
    legends = [_lines_of(names, letters) * LEGEND + 6 if len(names) > 1 else 12 for names in named]
    heights = [_height(chart, panel) for panel in range(chart.panels)]
    words = placed(chart, letters)
    rows = max((row + 1 for _, row, _ in words), default=0)
    bar = 0 if small or not words else BAR
    top, drawn = 12 + bar + WORD * rows + legends[0], sum(heights) + sum(legends[1:])
    layout: dict[str, Any] = {
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#000"},
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "margin": {"l": 45 if small else 60, "r": 5 if small else 15, "t": top, "b": FOOT},
        "height": drawn + top + FOOT,
        "hovermode": "closest" if chart.ticks else "x unified",
        "hoverlabel": {"bgcolor": "#fff", "font": {"color": "#000"}},
        "shapes": _shapes(chart),
        "annotations": [_word(*word, legends[0], 9 if small else 11) for word in words],
    }
    below = float(drawn)
    for panel, title in enumerate(chart.y_titles):
        above = below - (legends[panel] if panel else 0)
        below = above - heights[panel]
        place = "" if panel == 0 else str(panel + 1)
        layout[f"yaxis{place}"] = {
            **AXIS,
            "title": {"text": title, "standoff": 8, "font": {"size": 11 if small else 13}},
            "domain": [max(0.0, below / drawn), min(1.0, above / drawn)],
            "type": "log" if panel in chart.log else "linear",
            **_limits(chart, panel),
        }
        layout[f"legend{place}"] = {
            "orientation": "h",
            "tracegroupgap": LEGEND - 19,
            "x": 0,
            "y": above / drawn,
            "yanchor": "bottom",
            "font": {"size": 10 if small else 12},
            "bgcolor": "rgba(0,0,0,0)",
        }
    layout["xaxis"] = {**AXIS, "title": {"text": chart.x_title}, "anchor": _axis(chart.panels - 1)}
    if chart.log_x:
        layout["xaxis"]["type"] = "log"
    if chart.x_range:
        layout["xaxis"]["range"] = list(chart.x_range)
    return layout


def _lines_of(names: list[str], letters: int) -> int:
    """How many lines a legend has: names stand in columns that are as wide as the longest."""
    most = max(len(name) for name in names) + KEY
    return -(-len(names) // max(1, letters // most))


def _names(chart: Chart, panel: int) -> list[str]:
    """What the legend of a panel names: nothing if the names of its rows say it."""
    found = list(dict.fromkeys(curve.name for curve in chart.curves if curve.panel == panel))
    return [] if set(found) <= set(chart.ticks.get(panel, ())) else found


def _height(chart: Chart, panel: int) -> int:
    if panel in chart.ticks:
        return max(60, ROW * len(chart.ticks[panel]) + 16)
    return 320 if chart.panels == 1 else PANEL


def _limits(chart: Chart, panel: int) -> dict[str, Any]:
    limits = chart.limits(panel)
    if panel in chart.ticks:
        names = chart.ticks[panel]
        found = {"tickvals": [-row for row in range(len(names))], "ticktext": list(names), "ticks": ""}
        return {**found, "range": list(limits or ()), "showgrid": False, "tickfont": {"size": 11}}
    if limits is not None:
        return {"range": list(limits)}
    return {"rangemode": "normal" if panel in chart.log else "tozero"}


def _traces(chart: Chart, named: list[list[str]]) -> Iterator[dict[str, Any]]:
    """The traces; a name stands once in the legend of its panel, and in none that has one name only."""
    seen: set[tuple[int, str]] = set()
    for curve in chart.curves:
        trace = _trace(curve)
        first = (curve.panel, curve.name) not in seen
        seen.add((curve.panel, curve.name))
        trace["showlegend"] = first and len(named[curve.panel]) > 1
        if curve.panel:
            trace["legend"] = f"legend{curve.panel + 1}"
        yield {**trace, "legendgroup": curve.name} if chart.panels > 1 else trace


def _axis(panel: int) -> str:
    return "y" if panel == 0 else f"y{panel + 1}"


def _trace(curve: Curve) -> dict[str, Any]:
    strip = curve.shape in ("strip", "gap")
    x, y = (list(curve.x), list(curve.y)) if strip else thinned(curve.x, curve.y)
    shade, dash = look(curve.style)
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": curve.name,
        "x": x,
        "y": y,
        "yaxis": _axis(curve.panel),
        "mode": {"points": "markers", "ticks": "markers", "both": "lines+markers"}.get(curve.shape, "lines"),
        "line": {
            "color": SHADES[shade],
            "dash": "dot" if curve.shape == "gap" else "solid" if strip else DASHES[dash],
            "width": {"strip": 10, "gap": 2}.get(curve.shape, 1.6),
            "shape": "hv" if curve.shape == "steps" else "linear",
        },
        "marker": {
            "color": SHADES[shade],
            "symbol": "line-ns-open" if curve.shape == "ticks" else MARKERS[dash],
            "size": 8,
        },
    }
    if any(curve.errors) and len(curve.errors) == len(x):
        trace["error_y"] = {"array": list(curve.errors), "thickness": 1.2, "width": 4, "color": "#000"}
    if len(curve.words) == len(x):
        trace |= {"text": list(curve.words), "hoverinfo": "text"}
    if curve.shape == "bars":
        trace |= {"type": "bar", "marker": {"color": SHADES[shade]}}
        del trace["mode"], trace["line"]
    return trace


def _shapes(chart: Chart) -> list[dict[str, Any]]:
    """Lines and bands, panel by panel, so that they do not cross what is written between panels."""
    marks = list(dict.fromkeys(mark.x for mark in chart.marks))
    found: list[dict[str, Any]] = []
    if (len(marks) + len(chart.bands)) * chart.panels > SHAPES_MAX:
        places = ["paper"]
    else:
        places = [f"{_axis(panel)} domain" for panel in range(chart.panels)]
    for place in places:
        found += [_band(band.begin, band.end, place) for band in chart.bands]
        found += [_line(x, place) for x in marks]
    return found


def _line(x: float, place: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": place,
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "line": {"color": "#000", "width": 1, "dash": "dot"},
    }


def _band(begin: float, end: float, place: str) -> dict[str, Any]:
    return {
        "type": "rect",
        "layer": "below",
        "xref": "x",
        "yref": place,
        "x0": begin,
        "x1": end,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "fillcolor": "rgba(128,128,128,0.18)",
    }


def _word(mark: Mark, row: int, late: bool, above: int, size: int) -> dict[str, Any]:
    return {
        "x": mark.x,
        "yshift": above + WORD * row,
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "text": mark.text,
        "showarrow": False,
        "yanchor": "bottom",
        "xanchor": "right" if late else "left",
        "font": {"size": size},
    }
