"""The page: self-contained, well-formed, and readable without its figures."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_results import METRICS, manifest
from twinplane import Network
from twinplane.charts import Chart, Curve, Mark, thinned
from twinplane.charts.interactive import figure
from twinplane.charts.static import save
from twinplane.charts.table import Table
from twinplane.experiments.lsp_flap.parameters import FlapParameters
from twinplane.network.drawing import topology
from twinplane.reports import lsps, of_results
from twinplane.reports.page import Page, Section, embedded, render
from twinplane.reports.returns import returns
from twinplane.reports.timeline import filled, timeline
from twinplane.reports.topology import svg
from twinplane.results import folder as results

TOPOLOGY: dict[str, Any] = {
    "nodes": [
        {"name": "a<b", "kind": "edge", "x": 0.0, "y": 0.0},
        {"name": "r1", "kind": "router", "x": 1.0, "y": 1.0},
    ],
    "links": [
        {"a": "a<b", "b": "r1", "rate_bps": 10**9, "delay_s": 5e-5, "lsps": 2},
        {"a": "r1", "b": "a<b", "rate_bps": 10**9, "delay_s": 5e-5, "lsps": 0},
    ],
    "routes": [{"name": "gold", "count": 2, "nodes": ["a<b", "r1"]}],
    "lsps": 2,
}


class Outline(HTMLParser):
    """Tags that are open, headings, captions, and whatever would need a network."""

    VOID = ("meta", "br", "link", "img", "input")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: dict[str, int] = {}
        self.outside: list[str] = []
        self.unnamed: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        named = dict(attrs)
        if tag in ("script", "img", "link") and (named.get("src") or named.get("href")):
            self.outside.append(tag)
        if named.get("role") in ("img", "region") and not named.get("aria-label"):
            self.unnamed.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


def test_the_page_of_a_results_folder(tmp_path: Path) -> None:
    entries = [
        {"parameters": FlapParameters(n=n).model_dump(), "metrics": {**METRICS, "k": min(n, 300), "k_up": n}}
        for n in (100, 300, 500)
    ]
    entries[0]["intervals"] = {"k": {"n": 2, "mean": 100, "sd": 0.0, "low": 100, "high": 100}}
    results.save(
        tmp_path,
        manifest(settings={"n": ["100", "300", "500"]}, points=3),
        {"points": entries, "topology": TOPOLOGY, "warnings": [f"link a - b: {n}" for n in range(25)]},
    )
    page = of_results(results.load(tmp_path))
    text = page.read_text()
    found = outline(text)
    assert found.outside == [] and found.unnamed == []
    assert found.count["h1"] == 1
    assert found.count["table"] == found.count["caption"]
    assert '<meta name="viewport"' in text
    assert text.count("plotly.js v") <= 2
    for part in (
        "up to N = 300 all flapped LSPs were back",
        "Published, predicted",
        "K &lt; N",
        "a&lt;b",
        "--seed 1",
        "Warning: link a - b: 0.",
        "And 5 more.",
    ):
        assert part in text


def test_data_cannot_end_the_script() -> None:
    assert "</" not in embedded({"a": "</script><!--"})


def test_names_are_escaped() -> None:
    page = Page("<t>", "q", "a", [Section("s", ["<p>"], tables=[Table("<c>", ["<h>"], [["<x>"]])])])
    text = render(page)
    assert not re.search(r"<t>|<p><p>|<c>|<h>|<x>", text)


def test_timeline_has_both_planes() -> None:
    messages = pl.DataFrame(
        {"start_s": [0.0, 0.01, 0.5], "direction": ["tx"] * 3, "type": ["Path"] * 3, "count": [1, 2, 3]}
    )
    up = pl.DataFrame({"time_s": [0.01, 0.02], "up": [0, 4]})
    series = pl.DataFrame(
        {
            "node": ["e", "e"],
            "start_s": [0.0, 0.01],
            "packets": [5, 0],
            "min_s": [1e-4, None],
            "p50_s": [1e-4, None],
            "p99_s": [2e-4, None],
            "max_s": [2e-4, None],
        }
    )
    chart = timeline(
        "k", "t", messages=messages, up=up, series=series, loss=[(0, 1, 2)], marks=[Mark(0.5, "event")]
    )
    assert chart is not None
    assert list(chart.y_titles) == ["messages per 10 ms", "LSPs up", "delay (us)", "packets lost"]
    assert "6 Path" in chart.alt and "2 packets are lost" in chart.alt
    assert "delay 100 to 200 us" in chart.alt
    slow = series.with_columns(pl.col("min_s", "p50_s", "p99_s", "max_s") * 1000)
    chart_ms = timeline("k", "t", messages=None, up=None, series=slow)
    assert chart_ms is not None and list(chart_ms.y_titles) == ["delay (ms)"]
    assert max(y for curve in chart_ms.curves for y in curve.y if y is not None) == pytest.approx(200)
    drawn = figure(chart)
    assert {trace["yaxis"] for trace in drawn["data"]} == {"y", "y2", "y3", "y4"}
    assert timeline("k", "t", messages=None, up=None, series=None) is None


def test_the_distribution_counts_those_that_stay_away() -> None:
    table = pl.DataFrame(
        {"event": [1, 1, 1, 1, 2], "index": [0, 1, 2, 3, 0], "re_establish_s": [0.3, None, 0.1, 0.2, 0.004]}
    )
    section = returns({"n = 4": table})
    first, second = section.charts[0].curves
    assert (first.x, first.y) == ([0.0, 0.1, 0.2, 0.3], [0.0, 0.25, 0.5, 0.75])
    assert (second.x, second.y) == ([0.0, 0.004], [0.0, 1.0])
    assert "3 of 4 came back, the last after 300 ms" in section.charts[0].alt
    assert section.tables[0].rows[0] == [
        *("n = 4, event 1", "4", "3", "100 ms", "200 ms", "300 ms", "300 ms", "300 ms"),
    ]


def test_silence_is_drawn_as_zero() -> None:
    x, y = filled([0.0, 0.01, 0.5], [1, 2, 3])
    assert (x, y) == ([-0.01, 0.0, 0.01, 0.02, 0.49, 0.5, 0.51], [0, 1, 2, 0, 0, 3, 0])


def test_thinning_keeps_extremes() -> None:
    x = list(range(10_000))
    y = [0.0] * 10_000
    y[7_777] = 9.0
    thin_x, thin_y = thinned(x, y)
    assert len(thin_x) <= 2_002 and max(v for v in thin_y if v is not None) == 9.0


def test_figures_are_files(tmp_path: Path) -> None:
    chart = Chart(
        "c", "t", "a", "x", ["y", "z"], [Curve("n", [1, 2], [1, None]), Curve("m", [1], [2], 1, "both", 1)]
    )
    first = {path.name: path.read_bytes() for path in save(chart, tmp_path / "one")}
    second = {path.name: path.read_bytes() for path in save(chart, tmp_path / "two")}
    assert sorted(first) == ["c.png", "c.svg"]
    assert first == second


def test_lsps_say_how_they_carry_behaviours() -> None:
    net = Network(seed=1)
    a, b = net.router("a", diffserv={"tc_map": {"3": "AF22"}}), net.router("b")
    net.link(a, b, reservable="1 Gbit/s")
    plain = b.lsp("plain", a)
    assert list(lsps.table(net).titles) == ["name", "from", "to", "bandwidth", "state"]
    a.lsp("e", b, carries="10.2.0.0/24", diffserv={"kind": "e-lsp", "map": ["EF"] * 8}, classes="EF")
    a.lsp(
        "l",
        b,
        carries="10.2.0.0/24",
        diffserv={"kind": "l-lsp", "class": "AF1", "model": "uniform"},
        classes="AF1",
    )
    a.lsp("ef", b, diffserv="l-lsp EF")
    a.lsp("pre", b)
    rows = {row[0]: list(row[3:6]) for row in lsps.table(net).rows}
    mapping = ", ".join(f"{tc} EF" for tc in range(8))
    assert rows == {
        "plain": ["-", "all", "-"],
        "e": ["E-LSP, pipe", "EF", mapping],
        "l": ["L-LSP AF1, uniform", "AF11, AF12, AF13", "1 AF11, 2 AF12, 3 AF13"],
        "ef": ["L-LSP EF, pipe", "all", "0 EF"],
        "pre": [
            "preconfigured E-LSP, pipe",
            "all",
            "0 default, 1 AF11, 2 AF12, 3 AF22, 4 AF31, 5 EF, 6 CS6, 7 CS7",
        ],
    }
    assert plain.spec.get("diffserv") is None


def test_neighbours_are_drawn_beside_each_other() -> None:
    net = Network(seed=1)
    ends = [net.host(name, f"10.{n}.0.2/24") for n, name in enumerate(("left", "right"), 1)]
    a, b, c = (net.router(name) for name in "abc")
    for x, y in ((ends[0], a), (a, b), (b, c), (c, ends[1])):
        net.link(x, y)
    drawn = {node["name"]: (node["x"], node["y"]) for node in topology(net)["nodes"]}
    assert drawn == {name: (float(n), 0.0) for n, name in enumerate(("left", "a", "b", "c", "right"))}
    net.link(a, c)
    ring = {node["name"]: (node["x"], node["y"]) for node in topology(net)["nodes"]}
    assert len(set(ring.values())) == 5 and ring["left"] == (0.0, 1.0)


def test_the_drawing_says_what_it_shows() -> None:
    drawing, text = svg(TOPOLOGY)
    assert text == "2 nodes, 2 links, 2 LSPs. gold (2 LSPs): a<b - r1."
    assert "a&lt;b" in drawing and "a<b" not in drawing
    outline(drawing)
