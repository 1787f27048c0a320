"""Charts for the page: plain plotly.js descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import DASHES, MARKERS, SHADES, Chart, Curve, Mark, look, thinned

AXIS = {
    "showline": True,
    "linecolor": "#000",
    "gridcolor": "#ddd",
    "zeroline": False,
    "ticks": "outside",
    "automargin": True,
}


def figure(chart: Chart) -> dict[str, Any]:
    """Traces and layout of a chart."""
    lines = len({curve.name for curve in chart.curves}) // 4
    layout: dict[str, Any] = {
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#000"},
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "margin": {"l": 60, "r": 15, "t": 40, "b": 70 + 22 * lines},
        "height": (400 if chart.panels == 1 else 180 * chart.panels + 80) + 22 * lines,
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "hovermode": "x unified",
        "shapes": [_line(mark.x) for mark in chart.marks],
        "annotations": [_word(mark, place) for place, mark in enumerate(chart.marks)],
    }
    gap = 0.05 if chart.panels > 1 else 0.0
    height = (1 - gap * (chart.panels - 1)) / chart.panels
    for panel, title in enumerate(chart.y_titles):
        top = 1 - panel * (height + gap)
        key = "yaxis" if panel == 0 else f"yaxis{panel + 1}"
        layout[key] = {
            **AXIS,
            "title": {"text": title, "standoff": 8},
            "domain": [max(0.0, top - height), top],
            "type": "log" if panel in chart.log else "linear",
            "rangemode": "normal" if panel in chart.log else "tozero",
        }
    layout["xaxis"] = {**AXIS, "title": {"text": chart.x_title}, "anchor": _axis(chart.panels - 1)}
    return {"data": [*_once(chart)], "layout": layout}


def _once(chart: Chart) -> Iterator[dict[str, Any]]:
    """The traces; a name that several panels share stands once in the legend."""
    seen: set[str] = set()
    for curve in chart.curves:
        trace = _trace(curve)
        if curve.name in seen:
            trace["showlegend"] = False
        seen.add(curve.name)
        yield {**trace, "legendgroup": curve.name} if chart.panels > 1 else trace


def _axis(panel: int) -> str:
    return "y" if panel == 0 else f"y{panel + 1}"


def _trace(curve: Curve) -> dict[str, Any]:
    x, y = thinned(curve.x, curve.y)
    shade, dash = look(curve.style)
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": curve.name,
        "x": x,
        "y": y,
        "yaxis": _axis(curve.panel),
        "mode": {"points": "markers", "both": "lines+markers"}.get(curve.shape, "lines"),
        "line": {
            "color": SHADES[shade],
            "dash": DASHES[dash],
            "width": 1.6,
            "shape": "hv" if curve.shape == "steps" else "linear",
        },
        "marker": {
            "color": SHADES[shade],
            "symbol": MARKERS[dash],
            "size": 8,
        },
    }
    if any(curve.errors) and len(curve.errors) == len(x):
        trace["error_y"] = {"array": list(curve.errors), "thickness": 1.2, "width": 4, "color": "#000"}
    if curve.shape == "bars":
        trace |= {"type": "bar", "marker": {"color": SHADES[shade]}}
        del trace["mode"], trace["line"]
    return trace


def _line(x: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "line": {"color": "#000", "width": 1, "dash": "dot"},
    }


def _word(mark: Mark, place: int) -> dict[str, Any]:
    """Every second word stands higher, so that close ones do not cover each other."""
    return {
        "x": mark.x,
        "yshift": 12 * (place % 2),
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "text": mark.text,
        "showarrow": False,
        "yanchor": "bottom",
        "xanchor": "left",
        "font": {"size": 11},
    }
