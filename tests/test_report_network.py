"""The page of a network at hand: a line for each flow, and tables that say which is which."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import twinplane as tp
from twinplane.charts import DASHES, MARKERS, SHADES, STYLES, look
from twinplane.reports import flows, from_network, queues
from twinplane.reports.timeline import timeline

BANDS = tp.queues.Prio(
    classes={
        "voice": {"queue": tp.queues.Pfifo(limit=50)},
        "bulk": {"queue": {"discipline": "red", "limit": "60 kB", "min": "5 kB", "max": "15 kB"}},
    },
    filters=[{"phb": "EF", "class": "voice"}],
)


def classed(extra: int = 0) -> tp.Network:
    """Voice and bulk through a priority queue in front of a slow link, without an LSP."""
    net = tp.Network(seed=2, queue_bin="10 ms")
    left, right = net.host("left", "10.1.0.2/24"), net.host("right", "10.2.0.2/24")
    p, q = net.router("p"), net.router("q")
    net.link(left, p, rate="100 Mbit/s")
    net.link(p, q, rate="10 Mbit/s", queue={"p": BANDS})
    net.link(q, right, rate="100 Mbit/s")
    net.flow(left, right, rate="1 Mbit/s", size=200, dscp="EF", name="voice")
    net.flow(left, right, rate="20 Mbit/s", size=1500, name="bulk", stop="100 ms", arrivals="poisson")
    for number in range(extra):
        dscp = ("CS1", "AF21")[number % 2]
        net.flow(left, right, rate="10 kbit/s", size=100, name=f"more{number}", dscp=dscp)
    net.run(until="200 ms")
    return net


def test_each_flow_has_a_line_in_a_unit_that_suits() -> None:
    net = classed()
    found = flows.courses(net)
    assert [(one.name, one.style) for one in found] == [("voice", 0), ("bulk", 1)]
    for one, stats in zip(found, (flow.stats() for flow in net.flows), strict=True):
        assert sum(one.packets) == stats["received"][0]
        whole = sum(n * mean for n, mean in zip(one.packets, one.mean, strict=True)) / sum(one.packets)
        assert whole == pytest.approx(stats["delay_mean_s"][0])
        assert (min(one.low), max(one.high)) == (stats["delay_min_s"][0], stats["delay_max_s"][0])
    chart = timeline("k", "t", messages=None, up=None, series=net.table("series"), flows=found)
    assert chart is not None and list(chart.y_titles) == ["mean delay (ms)", "greatest delay (ms)"]
    assert [curve.name for curve in chart.curves] == ["voice", "bulk"] * 2
    assert chart.alt.startswith("Delay of packets in ms: voice ") and ", bulk " in chart.alt
    most = max(y for curve in chart.curves for y in curve.y if y is not None)
    assert most == pytest.approx(max(found[1].high) * 1000)


def test_many_flows_are_drawn_by_behaviour() -> None:
    net = classed(11)
    found = flows.courses(net)
    names = ["default (1 flow)", "CS1 (6 flows)", "AF21 (5 flows)", "EF (1 flow)"]
    assert [one.name for one in found] == names
    received = [flow.stats()["received"][0] for flow in net.flows]
    assert [sum(one.packets) for one in found] == [sum(received[i] for i in one.flows) for one in found]
    table = flows.table(net, {flow.index: flow.stats() for flow in net.flows}, found)
    assert table.keys[:4] == [3, 0, 1, 2]
    assert [row[0] for row in table.rows][2:5] == ["more0", "more1", "more2"]


def test_more_flows_than_are_followed_are_drawn_by_class() -> None:
    net = classed(63)
    found = flows.courses(net, ["EF", "best effort", "CS1", "AF21"])
    assert [one.name for one in found] == ["EF", "best effort", "CS1", "AF21"]
    assert sum(found[0].packets) == net.flows[0].stats()["received"][0]
    assert flows.courses(tp.Network()) == []


def test_a_line_ends_where_nothing_arrives() -> None:
    one = flows.Course("x", 0, [0], start=[0.0, 0.1, 0.2, 1.2, 1.3])
    x, y = one.broken([1.0, 2.0, 3.0, 4.0, 5.0], 10)
    assert x == pytest.approx([0.0, 0.1, 0.2, 0.7, 1.2, 1.3])
    assert y == [10.0, 20.0, 30.0, None, 40.0, 50.0]


def test_styles_differ() -> None:
    looks = {look(style) for style in range(STYLES)}
    assert len(looks) == STYLES >= flows.FLOWS_MAX
    assert all(shade < len(SHADES) and dash < min(len(DASHES), len(MARKERS)) for shade, dash in looks)


def test_the_page_speaks_of_what_there_is(tmp_path: Path) -> None:
    net = classed()
    text = tp.report(net, tmp_path / "page.html").read_text()
    assert "LSPs are up" not in text and "0 LSPs are" not in text
    assert re.search(
        r"After 200 ms of virtual time, of \d+ packets sent \d+ arrived and \d+ were lost\.", text
    )
    assert "<strong>Packets over time.</strong>" in text
    # A line in the table of flows for each, and for each band of the queue.
    assert text.count('<svg class="key"') == 4
    net = tp.Network()
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    a.lsp("east", b)
    net.run(until="100 ms")
    assert "of virtual time, 1 of 1 LSPs are up.</p>" in from_network.page(net, None)


def test_reasons_share_a_cell() -> None:
    row = {"dropped_packets": 12, "drops": {"early-drop": 9, "buffer-full": 3, "sojourn": 0}}
    assert queues.drops(row) == "12\n9 early-drop\n3 buffer-full"
    assert queues.drops({"dropped_packets": 3, "drops": {"buffer-full": 3}}) == "3\n3 buffer-full"
    assert queues.drops({"dropped_packets": 0, "drops": {}}) == "0"
    section = queues.of_network(classed())[0]
    table = section.tables[0]
    place = list(table.titles).index("dropped")
    assert list(table.lines) == [place]
    assert not [title for title in table.titles if title.startswith("dropped:")]
    assert [row[0] for row in table.rows] == ["root", "├─\u00a0voice", "└─\u00a0bulk"]
    assert list(table.keys) == [None, 0, 1]
