"""Static routes with several next hops: what is said, what is shown, how flows are shared and moved."""

from __future__ import annotations

from pathlib import Path

import pytest
import twinplane as tp

WAYS = ("p1", "p2", "p3", "p4")
FLOWS = 64


def diamond(seed: int = 1) -> tp.Network:
    """Two hosts with four equal ways between their routers."""
    network = tp.Network(seed=seed)
    network.router("a")
    network.router("b")
    for way in WAYS:
        network.router(way)
        network.link("a", way, rate="1 Gbit/s", delay="10 us", detection=0)
        network.link(way, "b", rate="1 Gbit/s", delay="10 us", detection=0)
    network.host("left", "10.1.0.2/24")
    network.host("right", "10.2.0.2/24")
    network.link("left", "a", rate="1 Gbit/s", delay="1 us")
    network.link("right", "b", rate="1 Gbit/s", delay="1 us")
    network.route("a", "10.2.0.0/24", WAYS)
    return network


def sent_over(network: tp.Network) -> dict[str, int]:
    """Packets that each of the ways has forwarded."""
    balance = network.columns("balance")
    return dict(zip(balance["node"], balance["forwarded"], strict=True))


def test_flows_are_shared_and_keep_their_way() -> None:
    network = diamond()
    flows = [
        network.flow(
            "left", "right", rate="1 Mbit/s", start="50 ms", stop="250 ms", size=250, src_port=2000 + n
        )
        for n in range(FLOWS)
    ]
    network.run(0.15)
    before = sent_over(network)
    network.run(0.3)
    assert network.columns("fib", network.node("a"))["to"].count("group 1") == 1
    table = network.columns("next_hops", network.node("a"))
    assert (table["group"], table["to"], table["up"]) == ([1] * 4, list(WAYS), [True] * 4)
    assert table["uses"] == [1] * 4
    assert [flow.stats()["lost"].sum() for flow in flows] == [0] * FLOWS
    assert [flow.stats()["reordered"].sum() for flow in flows] == [0] * FLOWS
    after = sent_over(network)
    shares = {way: after[way] - before[way] for way in WAYS}
    # 16 flows are expected on each way, and 64 choices among four ways are hardly ever so uneven.
    assert all(6 / 64 < share / sum(shares.values()) < 28 / 64 for share in shares.values()), shares
    for key in ("received", "fragments", "copies"):
        assert key in network.columns("balance")


def test_a_cut_moves_only_the_flows_of_the_way_that_is_gone() -> None:
    whole, cut = diamond(), diamond()
    counts = []
    for network in (whole, cut):
        for n in range(FLOWS):
            network.flow(
                "left", "right", rate="1 Mbit/s", start="10 ms", stop="110 ms", size=250, src_port=2000 + n
            )
        if network is cut:
            network.fail("a", "p2")
        network.run(0.2)
        counts.append(sent_over(network))
        assert [flow.stats()["lost"].sum() for flow in network.flows] == [0] * FLOWS
    gone = counts[0]["p2"]
    others = [way for way in WAYS if way != "p2"]
    assert gone > 0
    assert all(counts[1][way] >= counts[0][way] for way in others), "nobody else's flows moved"
    table = cut.columns("next_hops", cut.node("a"))
    assert dict(zip(table["to"], table["up"], strict=True))["p2"] is False


def test_the_choice_is_the_nodes_own_and_repeatable() -> None:
    def shares(seed: int) -> dict[str, int]:
        network = diamond(seed)
        for n in range(FLOWS):
            network.flow("left", "right", rate="1 Mbit/s", stop="20 ms", size=250, src_port=2000 + n)
        network.run(0.1)
        return sent_over(network)

    assert shares(1) == shares(1)
    assert shares(1) != shares(2)


def test_files_say_routes(tmp_path: Path) -> None:
    file = tmp_path / "diamond.yaml"
    file.write_text(
        """\
name: diamond
nodes:
  a: {kind: router, routes: [{prefix: 10.2.0.0/24, via: [p1, "p2:e0"]}, {prefix: 10.3.0.0/24, via: p1}]}
  p1: {kind: router}
  p2: {kind: router}
links:
  - [a, p1]
  - [a, p2]
"""
    )
    network = tp.Network.from_file(file)
    network.run(0.01)
    fib = network.columns("fib", network.node("a"))
    to = dict(zip(fib["prefix"], fib["to"], strict=True))
    assert (to["10.2.0.0/24"], to["10.3.0.0/24"]) == ("group 1", "p1")
    assert network.columns("next_hops", network.node("a"))["to"] == ["p1", "p2"]
    assert network.described()["nodes"]["a"]["routes"][0]["via"] == ["p1", "p2:e0"]


@pytest.mark.parametrize(
    ("via", "said"),
    [
        (["b"], "no link leads from 'a' to 'b'"),
        (["p1", "p1"], "'a - p1' is given twice"),
        ([], "the list is empty: at least one element is needed"),
        (["px"], "'px', no node has that name"),
    ],
)
def test_wrong_routes_are_refused(via: list[str], said: str) -> None:
    with pytest.raises(tp.TwinplaneError, match=said):
        network = diamond()
        network.route("a", "10.9.0.0/16", via)
        network.run(0.01)
