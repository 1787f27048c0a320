"""Fast reroute (RFC 4090) as users meet it: exact gaps in virtual time, tables, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError

PERIOD_MS = 1
"""From one packet to the next."""

BATCH = 2000


def ladder(
    seed: int = 7, *, bfd: Any = False, detection: str = "10 ms", te: bool = True, many: bool = False
) -> tp.Network:
    """A row from a to d, where m leads around the link from b to c, and n around c."""
    net = tp.Network(seed=seed)
    for name in "abcdmn":
        router = net.router(name, protection="facility")
        if bfd:
            net.draft.change_node(router, {"rsvp": {"protection": "facility", "bfd": bfd}})
    for a, b in [("a", "b"), ("b", "c"), ("c", "d"), ("b", "m"), ("m", "c"), ("b", "n"), ("n", "d")]:
        cost = 1 if "m" not in (a, b) and "n" not in (a, b) else 10
        net.link(a, b, rate="10 Gbit/s", delay="50 us", detection=detection, metric=cost)
    net.ospf(area=0, te=te)
    return net


def lost(count: int, *, fail: str, protection: dict[str, bool]) -> list[int]:
    """Packets that the first two of so many LSPs lost when `fail` did."""
    net = ladder()
    nodes = {node.name: node for node in net.nodes}
    said: dict[str, Any] = {"to": nodes["d"], "route": ["b", "c", "d"], "protection": protection}
    lsps = [nodes["a"].lsp(f"l{place}", **said) for place in range(min(count, 2))]
    net.run(until="20 s")
    # No more at once than the queue of a control processor takes.
    for place, first in enumerate(range(2, count, BATCH)):
        nodes["a"].lsp(f"others{place}", count=min(BATCH, count - first), **said)
        net.run(until=f"{22 + 2 * place} s")
    net.run(until="40 s")
    states = net.table("protected_lsps").filter(node="b")["state"]
    assert states.to_list() == ["available"] * count
    flows = [
        net.flow(nodes["a"], nodes["d"], over=lsp, rate="4.096 Mbit/s", size=512, start="40 s", stop="42 s")
        for lsp in lsps
    ]
    # Half a period after a packet, so that no packet is on the link when it fails.
    net.run(until="40.5005 s")
    if fail == "c":
        net.at("40.5005 s").fail("c")
    else:
        net.fail("b", "c")
    net.run(until="43 s")
    assert net.table("protected_lsps").filter(node="b")["state"].to_list() == ["in-use"] * count
    return [flow.stats()["lost"].sum() for flow in flows]


@pytest.mark.parametrize("count", [1, 100, 10_000])
@pytest.mark.parametrize("fail", ["link", "c"])
def test_exactly_what_comes_before_the_failure_is_seen_is_lost(count: int, fail: str) -> None:
    """Ten packets leave in the ten milliseconds of detection; those before and after arrive."""
    asked = {"node": fail == "c"}
    assert set(lost(count, fail=fail, protection=asked)) == {10 // PERIOD_MS}


def test_by_bfd_exactly_what_comes_until_the_neighbour_is_found_dead_is_lost() -> None:
    """The port stays up: routers see nothing but that BFD's packets stay away."""
    net = ladder(bfd={"interval": "10 ms", "multiplier": 3}, detection="100 s")
    nodes = {node.name: node for node in net.nodes}
    lsps = [
        nodes["a"].lsp(f"l{place}", to=nodes["d"], route=["b", "c", "d"], protection={}) for place in range(3)
    ]
    begin, failed = 20.0, 20.5005
    flows = [
        net.flow(nodes["a"], nodes["d"], over=lsp, rate="4.096 Mbit/s", size=512, start="20 s", stop="22 s")
        for lsp in lsps
    ]
    net.at(f"{failed} s").fail("b", "c")
    net.run(until="23 s")
    events = net.table("events").filter(node="b").to_dicts()
    (diverted,) = [row["time_s"] for row in events if "lsps-diverted" in str(row["event"])]
    assert 0.02 <= diverted - failed <= 0.031, "between two and three intervals, and the way of a packet"
    # A packet comes to b after 50 us on the link and 0.4 us on the wire.
    comes = [begin + place * PERIOD_MS / 1000 + 50.4e-6 for place in range(2000)]
    expected = sum(failed <= at < diverted for at in comes)
    assert [flow.stats()["lost"].sum() for flow in flows] == [expected] * 3


def test_a_declared_bypass_needs_no_traffic_engineering() -> None:
    net = ladder(te=False)
    nodes = {node.name: node for node in net.nodes}
    nodes["b"].lsp("around", to="c", route=["m", "c"], bypass="c")
    east = nodes["a"].lsp("east", to="d", route=["b", "c", "d"], protection={})
    net.run(until="10 s")
    assert east.up
    (row,) = net.table("bypasses").to_dicts()
    assert (row["node"], row["bypass"], row["protects"], row["lsps"], row["diverted"]) == (
        "b",
        "around",
        "link",
        1,
        0,
    )
    net.fail("b", "c")
    net.run(until="11 s")
    assert net.table("bypasses")["diverted"].to_list() == [1]
    assert "lsps-diverted" in str(net.table("events")["event"].to_list())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"route": ["c"], "bypass": "c"}, "what it protects from, it would not survive"),
        ({"route": ["m", "c"], "bypass": "d"}, "'b' has no link to 'd'"),
        ({"route": ["m", "c"], "bypass": "c", "count": 2}, "one each has a way of its own"),
        ({"route": ["m", "c"], "bypass": "c", "protection": {}}, "a bypass tunnel is not protected itself"),
    ],
)
def test_a_bypass_that_can_not_help_is_refused(said: dict[str, Any], words: str) -> None:
    net = ladder()
    (b,) = (node for node in net.nodes if node.name == "b")
    with pytest.raises(TwinplaneError, match=words):
        b.lsp("around", to="c", **said)
        net.run(until="1 s")


def test_a_bypass_in_the_same_duct_is_refused() -> None:
    net = tp.Network(seed=1)
    for name in "abm":
        net.router(name)
    net.link("a", "b", srlg="duct")
    net.link("a", "m", srlg="duct")
    net.link("m", "b")
    (a,) = (node for node in net.nodes if node.name == "a")
    with pytest.raises(TwinplaneError, match="is in group 'duct', too"):
        a.lsp("around", to="b", route=["m", "b"], bypass="b")
        net.run(until="1 s")


def test_why_an_lsp_is_not_protected_is_said() -> None:
    """Nothing leads around the link to d once n is not there."""
    net = tp.Network(seed=3)
    for name in "abc":
        net.router(name, protection="facility")
    net.link("a", "b")
    net.link("b", "c")
    net.ospf(area=0, te=True)
    (a,) = (node for node in net.nodes if node.name == "a")
    a.lsp("east", to="c", route=["b", "c"], protection={})
    a.lsp("west", to="b", protection={})
    with pytest.warns(tp.TwinplaneWarning) as warned:
        net.run(until="60 s")
    first, second = (str(warning.message) for warning in warned)
    assert "lsp 'east'" in first and "leads it and 1 more around the link from 'a' to 'b'" in first, first
    assert "no second way leads it around the link from 'b' to 'c'" in second, second
    rows = net.table("protected_lsps").sort("node").to_dicts()
    assert [(row["node"], row["state"]) for row in rows] == [
        ("a", "unprotected"),
        ("a", "unprotected"),
        ("b", "unprotected"),
    ]
    assert all(row["lacks"] for row in rows)


def test_a_router_without_a_bypass_tunnel_is_named() -> None:
    """There is a second way around the link from b to c, and b makes no bypass tunnel."""
    net = tp.Network(seed=3)
    for name in "abcm":
        net.router(name)
    for a, b in ("ab", "bc", "bm", "mc"):
        net.link(a, b)
    nodes = {node.name: node for node in net.nodes}
    nodes["b"].lsp("east", to="c", route=["c"], protection={})
    with pytest.warns(
        tp.TwinplaneWarning, match="'b' has no bypass tunnel that leads it around the link to 'c'"
    ):
        net.run(until="1 s")
    nodes["b"].lsp("around", to="c", route=["m", "c"], bypass="c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.run(until="2 s")


def test_detours_are_shown_and_what_can_not_be_is_named() -> None:
    """From d there is no way around its link; c knows of no links, and makes no detour."""
    net = tp.Network(seed=3)
    for name in "abcd":
        net.router(name)
    for a, b in ("ab", "bc", "ca", "cd"):
        net.link(a, b)
    net.ospf(area=0, te=True)
    nodes = {node.name: node for node in net.nodes}
    net.draft.change_node(nodes["c"], {"ospf": {"te": False}})
    asked = {"node": True, "method": "one-to-one"}
    nodes["a"].lsp("east", to="d", route=["b", "c", "d"], protection=asked)
    nodes["c"].lsp("west", to="a", route=["b", "a"], protection=asked)
    with pytest.warns(tp.TwinplaneWarning) as warned:
        net.run(until="40 s")
    said = sorted(str(warning.message) for warning in warned)
    assert any("around the link from 'c' to 'd', as 'protection' asks for" in one for one in said), said
    assert any("'c' has no detour that leads it around the link to 'b'" in one for one in said), said
    with pytest.raises(TwinplaneError, match="one-to-one"):
        nodes["a"].lsp("south", to="d", protection={"method": "one-to-two"})


def test_a_tree_and_a_standby_as_users_ask_for_them() -> None:
    """Both survive a failure; what does not go together is refused in one sentence."""
    net = tp.Network(seed=7)
    routers = {name: net.router(name, protection="facility") for name in "abcm"}
    for x, y, cost in [("a", "b", 1), ("b", "c", 1), ("a", "m", 10), ("m", "b", 10), ("m", "c", 10)]:
        net.link(x, y, rate="1 Gbit/s", delay="50 us", metric=cost, detection="10 ms")
    net.ospf(area=0, te=True, hello_interval="1 s", dead_interval="4 s")
    a, c = routers["a"], routers["c"]
    tree = a.p2mp("tree", ["b", "c"], carries="172.16.0.1/32", protection={})
    lsp = a.lsp("one", to=c, protection={"method": "1:1", "disjoint": "node", "revert_after": "5 s"})
    with pytest.raises(TwinplaneError, match="trees are protected by bypass tunnels only"):
        a.p2mp("other", ["c"], protection={"method": "one-to-one"})
    net.run(until="20 s")
    states = net.table("protected_trees").filter(node="a")["state"].to_list()
    assert (states, tree.up, lsp.up) == (["available"], True, True)
    net.at("20 s").fail("a", "b")
    net.run(until="22 s")
    assert net.table("protected_trees").filter(node="a")["state"].to_list() == ["in-use"]
    assert tree.up and lsp.up
