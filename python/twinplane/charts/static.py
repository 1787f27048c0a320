"""Charts as PNG and SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..files import write_with
from . import SHADES, Chart, look, thinned
from .words import placed

KINDS = ("png", "svg")
"""Files that can be made of a chart."""
LINES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (8, 3, 1, 3)))
MARKERS = ("o", "s", "^", "D", "P", "X")
LETTERS = 110
"""So many letters have room beside each other."""


def save(chart: Chart, folder: Path, kinds: Sequence[str] = KINDS) -> list[Path]:
    """Write a chart as ``KEY.png``, ``KEY.svg`` or both."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = chart.key
    matplotlib.rcParams["axes.formatter.useoffset"] = False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(
        dpi=150, figsize=(8, 4.5 if chart.panels == 1 else 1.9 * chart.panels + 1.2), layout="constrained"
    )
    axes = figure.subplots(chart.panels, 1, sharex=True, squeeze=False)[:, 0]
    for panel, title in enumerate(chart.y_titles):
        axis = axes[panel]
        axis.set_ylabel(title)
        axis.grid(True, color="#dddddd", linewidth=0.6)
        if panel in chart.log:
            axis.set_yscale("log")
        if chart.log_x:
            axis.set_xscale("log")
        if panel in chart.ticks:
            axis.set_yticks([-float(row) for row in range(len(chart.ticks[panel]))], chart.ticks[panel])
            axis.tick_params(axis="y", labelsize=7)
        for band in chart.bands:
            axis.axvspan(band.begin, band.end, color="#dddddd", linewidth=0)
        for mark in chart.marks:
            axis.axvline(mark.x, color="black", linewidth=0.8, linestyle=":")
    for mark, row, late in placed(chart, LETTERS):
        axes[0].annotate(
            mark.text,
            (mark.x, 1),
            xytext=(0, 1 + 9 * row),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=8,
            va="bottom",
            ha="right" if late else "left",
        )
    for curve in chart.curves:
        strip = curve.shape in ("strip", "gap")
        x, y = (list(curve.x), list(curve.y)) if strip else thinned(curve.x, curve.y)
        place, dash = look(curve.style)
        shade = SHADES[place]
        if curve.shape == "bars":
            axes[curve.panel].bar(x, y, label=curve.name, color=shade)
            continue
        if any(curve.errors) and len(curve.errors) == len(x):
            heights = [0.0 if value is None else float(value) for value in curve.errors]
            middle = [float("nan") if value is None else value for value in y]
            axes[curve.panel].errorbar(
                x, middle, heights, fmt="none", ecolor="black", capsize=3, elinewidth=0.9
            )
        axes[curve.panel].plot(
            [float("nan") if value is None else value for value in x],
            [float("nan") if value is None else value for value in y],
            label=curve.name,
            color=shade,
            linewidth={"strip": 5.0, "gap": 1.5}.get(curve.shape, 1.2),
            solid_capstyle="butt" if strip else "projecting",
            linestyle="none" if curve.shape in ("points", "ticks") else LINES[dash],
            marker={"points": MARKERS[dash], "both": MARKERS[dash], "ticks": "|"}.get(curve.shape),
            markersize=5,
            drawstyle="steps-post" if curve.shape == "steps" else "default",
        )
    for panel, axis in enumerate(axes):
        if sum(curve.panel == panel for curve in chart.curves) > 1:
            axis.legend(fontsize=8, frameon=False)
        limits = chart.limits(panel)
        if limits is not None:
            axis.set_ylim(*limits)
    if chart.x_range:
        axes[-1].set_xlim(*chart.x_range)
    axes[-1].set_xlabel(chart.x_title)
    figure.suptitle(chart.title, fontsize=11)
    # `savefig` lays a figure out and draws it twice for each file, which is most of the time of a short run.
    saved = []
    if "png" in kinds:
        draw_png: Any = FigureCanvasAgg(figure).print_png
        saved.append(write_with(folder / f"{chart.key}.png", draw_png))
        figure.set_layout_engine("none")
    if "svg" in kinds:
        figure.set_dpi(72)
        draw_svg: Any = FigureCanvasSVG(figure).print_svg
        saved.append(
            write_with(folder / f"{chart.key}.svg", lambda file: draw_svg(file, metadata={"Date": None}))
        )
    return saved
