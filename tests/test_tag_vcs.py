"""`tag-switching` where tags are VCs of ATM: how many there are, what they carry, how they come back."""

from __future__ import annotations

from typing import Any

import pytest
import twinplane as tp
from support import campaign
from twinplane.errors import TwinplaneError
from twinplane.experiments import load
from twinplane.experiments.scores import Kind
from twinplane.experiments.tag_switching.countries import edge, host
from twinplane.experiments.tag_switching.links import cells_of
from twinplane.experiments.tag_switching.parameters import TagSwitchingParameters
from twinplane.experiments.tag_switching.throughput import PATHS, address, labelled
from twinplane.experiments.tag_switching.vc_count import channels, countries
from twinplane.results.points import Point

EXPERIMENT = load("tag-switching")
SETTLED_S, CELLS_PER_S = 60, 4750


def point(**settings: Any) -> Point:
    """A point whose figures are as arithmetic says."""
    parameters = EXPERIMENT.parameters.model_validate(settings)
    outcomes = {}
    for name, one in EXPERIMENT.parts(parameters).items():
        network = EXPERIMENT.build(one, 1)
        EXPERIMENT.run(network, one)
        outcomes[name] = EXPERIMENT.summarise(network, one)
    found = Point(parameters.model_dump(), EXPERIMENT.joined(parameters, outcomes).metrics)
    assert EXPERIMENT.fault(found) is None, found.metrics
    rows = [row for row in EXPERIMENT.comparisons([found]) if row.published is None]
    assert rows and all(row.holds for row in rows), [(row.what, row.measured, row.predicted) for row in rows]
    assert EXPERIMENT.columns([found]) and EXPERIMENT.answer([found]) and EXPERIMENT.arithmetic([found])
    assert EXPERIMENT.headline(parameters)
    return found


def test_channels_are_counted_on_paper() -> None:
    """Two edges at one switch, a third one behind another switch."""
    links = [("a", "s", 1), ("b", "s", 1), ("s", "t", 5), ("t", "c", 1)]
    owners = [(name,) for name in "abcst"]
    # From a: to s 1, to b and t 2 each, to c 3. From b the same. From c: to t 1, to s 2, to a and b 3 each.
    assert channels("abc", links, owners, merge=False).total() == 8 + 8 + 9
    # An edge has one for each of four others on its own link. s - t has t and c, and back s, a and b; the
    # last link to each edge has one for all, as both others come by it.
    merged = channels("abc", links, owners, merge=True)
    assert merged["s", "t"] == 2 and merged["t", "s"] == 3
    assert merged.total() == 3 * 4 + 5 + 3


def test_paper_needs_one_shortest_path() -> None:
    square = [("a", "s", 1), ("a", "t", 1), ("s", "c", 1), ("t", "c", 1)]
    with pytest.raises(TwinplaneError, match="'c' has 2 shortest paths to 'a'"):
        channels("a", square, [("a",)], merge=False)


@pytest.mark.parametrize("merge", ["none", "merge"])
def test_six_countries_have_as_many_vcs_as_on_paper(merge: str) -> None:
    """Hierarchical: networks outside are BGP's, and cost nothing. Flat: each costs channels."""
    hierarchical = point(part="vcs", vc_merge=merge)
    flat = point(part="vcs", vc_merge=merge, routing="flat")
    assert flat.metrics["vcs"] > 2 * hierarchical.metrics["vcs"]
    more = countries(outside=30)
    expected = channels(more.edges, more.links, more.owners("hierarchical"), merge == "merge").total()
    assert expected == hierarchical.metrics["vcs"]
    assert len(EXPERIMENT.charts([hierarchical, flat])) == 1


@pytest.mark.parametrize("merge", ["none", "merge"])
def test_a_generated_network_has_as_many_vcs_as_on_paper(merge: str) -> None:
    point(part="vcs", vc_merge=merge, network="generated", edges=20)


def test_packets_beside_the_vcs_of_tags_are_a_fault() -> None:
    right = point(part="rtt", medium="atm")
    for wrong, words in (
        ({"with_tag_vcs": 4}, "with tags: 4 VCs between the hosts' networks, where arithmetic says 6"),
        (
            {"with_tag_cells": 17},
            "with tags: 17 cells went by VCs of tags, where what arrived takes 200 at least",
        ),
    ):
        assert EXPERIMENT.fault(Point(right.parameters, {**right.metrics, **wrong})) == words


def test_a_count_that_is_not_that_on_paper_is_a_fault() -> None:
    right = point(part="vcs")
    for wrong, words in (
        ({"vcs": 219}, "vcs: 219, where 220 are counted on paper"),
        ({"sessions": 28}, "sessions: 28, where 30 are counted on paper"),
        ({"unanswered": 2}, "2 requests of labels have no answer yet"),
    ):
        assert EXPERIMENT.fault(Point(right.parameters, {**right.metrics, **wrong})) == words


def hosts(encapsulation: str, rtt_ms: float) -> tuple[tp.Network, str, str]:
    """Two hosts, and ATM-LSRs between their edge routers."""
    settings = {"part": "tcp", "medium": "atm", "tags": "with", "tag_encapsulation": encapsulation}
    p = TagSwitchingParameters.model_validate({**settings, "rtt_ms": rtt_ms})
    path = PATHS["switzerland"]
    net = tp.Network(seed=1)
    labelled(net, p, path)
    for country in path:
        net.host(host(country), address=address(country))
        net.link(host(country), edge(country), rate="100 Mbit/s", delay="1 us")
    return net, host(path[0]), host(path[-1])


@pytest.mark.parametrize("encapsulation", ["vc-mux", "shim"])
def test_tcp_fills_cells_of_tags_as_arithmetic_says(encapsulation: str) -> None:
    """One after the other, packets of sizes on both sides of borders between cells."""
    sizes = [1500, 1284, 136, 1288, 88, 137, 232, 296, 432, 552, 576, 600, 1000, 1006, 1024, 1240, 1330, 1378,
             1400, 1480]  # fmt: skip
    sizes = sizes[: min(campaign.scaled(4), len(sizes))]
    net, sender, receiver = hosts(encapsulation, 12)
    flows = []
    for place, size in enumerate(sizes):
        start = SETTLED_S + 6 * place
        said = {"mss": size - 40, "message": 20 * (size - 40), "buffer": "16 kB", "ack_delay": 0}
        flows.append(net.tcp(sender, receiver, start=f"{start} s", stop=f"{start + 5} s", **said))
    net.run(until=f"{SETTLED_S + 6 * len(sizes) + 5} s")
    for place, (size, flow) in enumerate(zip(sizes, flows, strict=True)):
        begin = SETTLED_S + 6 * place + 1
        bins = [row for row in flow.series().to_dicts() if begin <= row["start_s"] < begin + 4]
        found = sum(row["acknowledged"] for row in bins if row["direction"] == "forward") * 8 / 4
        theory = (size - 40) * 8 * CELLS_PER_S / cells_of(size, encapsulation)
        assert abs(found / theory - 1) < 0.01, (size, found, theory)
        assert flow.stats()["wrong"].sum() == flow.stats()["retransmitted"].sum() == 0


@pytest.mark.parametrize("encapsulation", ["vc-mux", "shim"])
def test_a_small_buffer_gives_buffer_over_rtt_by_tags(encapsulation: str) -> None:
    """Windows of four to twelve segments, and a round trip that is longer than these take."""
    net, sender, receiver = hosts(encapsulation, 160)
    flows = {}
    for place, (buffer, mss) in enumerate([(5_840, 1_460), (14_600, 1_460), (4_288, 536), (6_432, 536)]):
        start = SETTLED_S + 25 * place
        said = {"mss": mss, "ack_delay": 0, "congestion": "none", "buffer": f"{buffer} B"}
        flow = net.tcp(sender, receiver, start=f"{start} s", stop=f"{start + 20} s", **said)
        flows[buffer] = flow
    net.run(until=f"{SETTLED_S + 25 * len(flows)} s")
    for buffer, flow in flows.items():
        row = flow.stats().filter(direction="forward").row(0, named=True)
        theory = buffer * 8 / row["rtt_mean_s"]
        assert abs(row["goodput_bps"] / theory - 1) < 0.02, (buffer, row["goodput_bps"], theory)


@pytest.mark.parametrize("merge", ["none", "merge"])
def test_a_loaded_network_with_tags_is_as_one_without(merge: str) -> None:
    found = point(part="load", medium="atm", vc_merge=merge, duration_s=5)
    assert found.metrics["with_lost"] == found.metrics["without_lost"] == 0
    later = found.metrics["with_delay_s"] - found.metrics["without_delay_s"]
    # Each switch but the last waits for whole packets: another 31 cells on each link behind the first.
    assert later > 0.004 if merge == "merge" else abs(later) < 0.001


def test_a_loaded_network_on_ethernet() -> None:
    points = [point(part="load", duration_s=5, load=load) for load in (0.5, 0.9)]
    (chart,) = EXPERIMENT.charts(points)
    assert [curve.name for curve in chart.curves][:2] == ["measured, with tags", "predicted, with tags"]


QUICK = {"hello_s": 2, "dead_s": 8, "spf_s": 1, "down_s": 20, "advertise_s": 5, "hold_s": 90, "runs": 1}


@pytest.mark.parametrize("detection", ["hello", "interface"])
def test_vcs_of_tags_are_set_up_again(detection: str) -> None:
    found = point(part="recovery", medium="atm", detection=detection, **QUICK)
    kinds = [row.kind for row in EXPERIMENT.comparisons([found])]
    assert kinds == [Kind.OUTSIDE] * 6 + [Kind.OURS] * 24
