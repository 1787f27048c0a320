"""The failure report of demands and of more flows than are followed: classes and pairs stand for flows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import twinplane as tp
from test_report import outline
from test_report_failures import charts_of, kept_in
from twinplane.experiments.network.parameters import NetworkParameters
from twinplane.reports import flows as flows_over_time
from twinplane.reports import from_network, of_results, outages
from twinplane.reports import story as stories
from twinplane.reports.headline import headline
from twinplane.reports.story import BEST_EFFORT


def matrix(pairs: int = 3) -> tp.Network:
    """A ring of four with demands in two classes between its nodes, a link of which fails and comes back."""
    net = tp.Network(seed=1, routes="shortest")
    for name in "abcd":
        net.router(name)
    for x, y in ("ab", "bc", "cd", "da"):
        net.link(x, y, rate="10 Mbit/s", delay="1 ms", detection="30 ms")
    net.flow("c", "d", name="untouched", rate="100 kbit/s", dscp="EF")
    rows = [("a", "b"), ("c", "d"), ("a", "c"), ("b", "d"), ("d", "a")][:pairs]
    classes = {"gold": {"dscp": "AF41", "share": 0.5, "size": 200}, "best": {}}
    net.demands(dict.fromkeys(rows, "600 kbit/s"), classes=classes)
    net.at("1 s").fail("a", "b")
    net.at("2 s").heal("a", "b")
    net.run(until="3 s")
    return net


@pytest.fixture(scope="module")
def demanded() -> tp.Network:
    return matrix()


def test_a_failure_that_hurts_demands_names_classes_and_pairs(demanded: tp.Network) -> None:
    story = stories.of_network(demanded)
    sentence = headline(story) or ""
    assert sentence.startswith("Link a-b failed from 1 s to 2 s: class gold lost ")
    assert re.search(r"class gold lost \d+ packets of \d pairs? \(a-b", sentence)
    assert re.search(r", class best \d+ of \d pairs? \(a-", sentence)
    classes, flows, failed = outages.sections(story)[0].tables
    assert [row[0] for row in classes.rows] == ["gold", "best", "EF"]
    assert [row[1] for row in classes.rows] == ["3", "3", "1"] and classes.total[1] == "7"
    pairs = demanded.columns("demands")
    accounts = demanded.columns("flow_accounts")
    gold = [flow for flow, label in zip(pairs["flow"], pairs["class"], strict=True) if label == "gold"]
    for place, key in enumerate(("sent", "received", "lost"), 3):
        total = sum(accounts[key][accounts["flow"].index(flow)] for flow in gold)
        assert classes.rows[0][place] == f"{total:,}"
    assert flows.rows[0][0] == "gold a-b" and "other demands" not in str(flows.rows)
    assert int(failed.rows[0][3]) == sum(seen.is_demand and seen.lost > 0 for seen in story.flows)
    assert outages.account(story).endswith("nothing is left over.")
    text = from_network.page(demanded, None)
    assert outline(text).unnamed == [] and "most hurt of 7 flows and demands" in text


def test_classes_of_demands_are_sent_and_arrive_over_time(demanded: tp.Network) -> None:
    story = stories.of_network(demanded)
    chart = charts_of(story)[0]
    arrived = {one.name: one for one in chart.curves if one.name.endswith(" arrived")}
    assert set(arrived) == {"gold arrived", "best arrived", "EF arrived"}
    table = demanded.columns("demand_classes")
    for label, received in zip(table["class"], table["received"], strict=True):
        one = arrived[f"{label} arrived"]
        width = one.x[1] - one.x[0]  # type: ignore[operator]
        assert sum(value or 0 for value in one.y) * width == pytest.approx(received)
    courses = flows_over_time.courses(demanded, story.groups)
    assert [one.name for one in courses] == ["EF", "gold", "best"] and all(one.start for one in courses)


def test_more_flows_than_are_followed_are_shown_by_class() -> None:
    net = tp.Network(seed=1)
    net.router("a"), net.router("b")
    net.link("a", "b", rate="100 Mbit/s", delay="1 ms", detection="30 ms")
    for place in range(70):
        net.flow("a", "b", rate="100 kbit/s", size=125, dscp="EF" if place % 2 else 0)
    net.run(until="500 ms")
    net.fail("a", "b")
    net.run(until="1 s")
    story = stories.of_network(net)
    assert not story.is_followed and set(story.by_class) == {"EF", BEST_EFFORT}
    for group, bins in story.by_class.items():
        received = sum(flow.received for flow in story.flows if flow.group == group)
        assert sum(packets for _, packets in bins) == received
    names = [curve.name for curve in charts_of(story)[0].curves]
    assert {"EF sent", "EF arrived", "best effort sent", "best effort arrived"} <= set(names)


def test_a_results_folder_tells_the_same_of_demands(demanded: tp.Network, tmp_path: Path) -> None:
    parameters = NetworkParameters(file="demands.yaml", duration_s=3.0, drain_s=0.0)
    found = kept_in(tmp_path, demanded, parameters)
    kept, here = stories.of_results(found), stories.of_network(demanded)
    assert kept is not None and kept.flows == here.flows and kept.by_class == here.by_class
    assert headline(kept) == headline(here) and outages.sections(kept) == outages.sections(here)
    assert (headline(here) or "-") in of_results(found).read_text()
