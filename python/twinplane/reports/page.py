"""The page: sections of text, tables and figures, rendered with everything that they need inside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ..charts import DARK, DASHES, SHADES, Chart, look
from ..charts.interactive import figure
from ..charts.plain import STROKES, drawing
from ..charts.table import Table

WARNINGS_MAX = 20
"""More are counted only."""


@dataclass
class Drawing:
    """A picture as SVG, what it shows in words, and a heading if there are several."""

    svg: str
    text: str
    title: str = ""


@dataclass
class Picker:
    """A picture on which the reader chooses what is drawn, and when: its script is in the page.

    `data` is what the script reads (`reports.paths` says what is in it).
    """

    svg: str
    text: str
    data: Any


@dataclass
class Section:
    """A headed part of a page."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    picker: Picker | None = None
    folded: list[Table] = field(default_factory=list)
    """Tables that are read by who opens them."""
    points: list[str] = field(default_factory=list)
    command: str | None = None


@dataclass
class Page:
    """All of it."""

    title: str
    question: str
    answer: str
    sections: list[Section]
    lead: Chart | None = None
    footer: str = ""
    warnings: Sequence[str] = ()
    """What is surprising about what ran: sentences without their final stop."""


def render(page: Page) -> str:
    """The page as HTML that needs no network."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("twinplane.reports", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    charts = [*([page.lead] if page.lead else []), *(c for section in page.sections for c in section.charts)]
    data = {f"chart-{number}": figure(chart) for number, chart in enumerate(charts)}
    ids = {id(chart): f"chart-{number}" for number, chart in enumerate(charts)}
    return environment.get_template("page.html").render(
        page=page,
        more=max(0, len(page.warnings) - WARNINGS_MAX),
        ids=ids,
        identity=id,
        key=key,
        shades=list(zip(SHADES, DARK, strict=True)),
        dark=embedded(COLOURS),
        figures=embedded(data),
        embedded=embedded,
        plotly=plotly_js() if charts else "",
        plain=drawing,
        picker_js=script("picker.js"),
    )


COLOURS = {
    **{light: dark for light, dark in zip(SHADES, DARK, strict=True)},
    "#000": "#e8e8e8",
    "#fff": "#16181c",
    "#ddd": "#3a3d42",
}
"""Colours of figures on a dark page."""


def key(style: int) -> dict[str, Any]:
    """How the line of a style looks: the number of its shade, and its dashes."""
    shade, dash = look(style)
    return {"shade": shade, "dashes": STROKES.get(DASHES[dash], "")}


def embedded(value: Any) -> str:
    """JSON that can stand inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\!--")


def script(name: str) -> str:
    """A script that stands in the page."""
    return files("twinplane.reports").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def plotly_js() -> str:
    """The plotting library, once for each page."""
    return files("plotly").joinpath("package_data/plotly.min.js").read_text(encoding="utf-8")
