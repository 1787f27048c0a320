"""Point-to-multipoint LSPs (RFC 4875, RFC 6388): every leaf gets every packet once, whatever changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError
from twinplane.model import network_file, source

GROUP = "239.1.1.1"
LEAVES = ["l0", "l1", "l2", "l3"]


def network(ospf: bool = False, **rsvp: Any) -> tuple[tp.Network, dict[str, Any]]:
    """A root, two routers behind it that are joined, and two leaves behind each with a host of its own."""
    net = tp.Network(seed=5)
    said: dict[str, Any] = {"igmp": True, **rsvp}
    if ospf:
        said["ospf"] = {"te": True}
    routers = {name: net.router(name, **said) for name in ["root", "a", "b", *LEAVES]}
    for one, other in [
        ("root", "a"),
        ("root", "b"),
        ("a", "b"),
        ("a", "l0"),
        ("a", "l1"),
        ("b", "l2"),
        ("b", "l3"),
    ]:
        net.link(routers[one], routers[other], rate="100 Mbit/s", delay="1 ms", reservable="90 Mbit/s")
    routers["sender"] = net.host("sender", "10.1.0.2/24")
    net.link(routers["sender"], routers["root"])
    for place, name in enumerate(LEAVES):
        host = net.host(f"h{place}", f"10.{place + 2}.0.2/24", join=[GROUP])
        net.link(host, routers[name])
        routers[host.name] = host
    return net, routers


def stream(net: tp.Network, to: list[str], **said: Any) -> Any:
    first, *more = to
    options = {"rate": "2 Mbit/s", "start": "200 ms", "stop": "1 s", **said}
    return net.flow("sender", first, group=GROUP, receivers=more, name="stream", **options)


def assert_all_once(net: tp.Network) -> None:
    """Each receiver got each packet once, nothing is unknown, and copies add up."""
    (account,) = net.table("flow_accounts").iter_rows(named=True)
    receivers = net.table("receivers")
    assert account["sent"] > 300
    assert set(receivers["received"]) == {account["sent"]}
    assert set(receivers["duplicated"]) == {0}
    assert account["received"] == len(receivers) * account["sent"]
    assert (account["lost"], account["unknown"], account["in_flight"]) == (0, 0, 0)


@pytest.mark.parametrize("signalling", ["together", "separate"])
@pytest.mark.parametrize("routed", ["hop by hop", "explicit", "computed"])
def test_a_group_goes_over_a_tree(signalling: str, routed: str) -> None:
    """The label is copied at the root and where the tree branches; hosts get the group by IGMP."""
    net, routers = network(ospf=routed == "computed")
    routes = {"l0": ["a", "l0"], "l1": ["a", "l1"], "l2": ["a", "b", "l2"], "l3": ["a", "b", "l3"]}
    tree = routers["root"].p2mp(
        "tree",
        LEAVES,
        group=GROUP,
        bandwidth="10 Mbit/s",
        signalling=signalling,
        routes=routes if routed == "explicit" else None,
    )
    if routed == "computed":
        stream(net, ["h0", "h1", "h2", "h3"], start="60 s", stop="61 s")
        net.run(until="61.5 s")
    else:
        stream(net, ["h0", "h1", "h2", "h3"])
        net.run(until="1.2 s")
    assert tree.up and tree.up_count == 4
    assert set(tree.s2ls["state"]) == {"up"}
    assert_all_once(net)
    rows = {row["node"]: row for row in net.table("p2mp_lsps").iter_rows(named=True)}
    assert rows["root"]["role"] == "root" and rows["root"]["reserved"] == 4
    assert {rows[leaf]["role"] for leaf in LEAVES} == {"leaf"}
    assert rows["a"]["role"] == "branch" and rows["a"]["bandwidth"] == 10e6
    if routed == "explicit":
        # Packets for all leaves cross the first link once, and bandwidth is reserved once.
        assert rows["root"]["branches"] == 1 and rows["a"]["branches"] == 3
    if signalling == "separate":
        assert rows["root"]["sub_groups"] == 4


def test_leaves_are_grafted_and_pruned_while_packets_flow() -> None:
    """Those that stay lose nothing and get nothing twice; a host at a leaf that is pruned gets no more."""
    net, routers = network()
    tree = routers["root"].p2mp("tree", ["l0", "l2"], group=GROUP)
    stream(net, ["h0", "h2"], start="200 ms", stop="2 s")
    net.run(until="500 ms")
    assert tree.up
    tree.graft("l1", routers["l3"])
    net.run(until="1 s")
    assert tree.leaves == ["l0", "l2", "l1", "l3"] and tree.up
    tree.prune("l1")
    net.run(until="2.2 s")
    assert tree.up and tree.up_count == 3
    by_name = {row["node"]: row for row in net.table("receivers").iter_rows(named=True)}
    (account,) = net.table("flow_accounts").iter_rows(named=True)
    for receiver in ("h0", "h2"):
        assert (by_name[receiver]["received"], by_name[receiver]["duplicated"]) == (account["sent"], 0)
    with pytest.raises(TwinplaneError, match="'l1' is no leaf of it"):
        tree.prune("l1")
    with pytest.raises(TwinplaneError, match="'l0' is a leaf of it already: each leaf is named once"):
        tree.graft("l0")
    assert tree.up_count == 3


def test_bandwidth_and_routes_change_while_packets_flow() -> None:
    """Another LSP takes over when it reaches all leaves (RFC 4875, 14.1); what has no room does not."""
    net, routers = network()
    routes = {"l0": ["a", "l0"], "l1": ["a", "l1"], "l2": ["a", "b", "l2"], "l3": ["a", "b", "l3"]}
    tree = routers["root"].p2mp("tree", LEAVES, group=GROUP, bandwidth="50 Mbit/s", routes=routes)
    stream(net, ["h0", "h1", "h2", "h3"], stop="6 s")
    net.run(until="1 s")
    # Each link has 90 Mbit/s: both LSPs fit only if they share.
    tree.change(bandwidth="80 Mbit/s")
    net.run(until="1.1 s")
    assert tree.up and set(tree.s2ls["lsp_id"]) == {1, 2}
    net.run(until="3 s")
    tree.change(routes={"l2": ["b", "l2"], "l3": ["b", "l3"]})
    net.run(until="5 s")
    tree.change(bandwidth="91 Mbit/s")
    net.run(until="6.2 s")
    assert tree.up and tree.spec["bandwidth"] == "91 Mbit/s"
    events = [json.loads(said)["event"] for said in net.table("events")["event"]]
    assert events.count("tree-rerouted") == 2 and "tree-stays" in events
    lsps = net.table("p2mp_lsps")
    assert set(lsps["lsp_id"]) == {3} and set(lsps["bandwidth"]) == {80e6}
    assert_all_once(net)


@pytest.mark.filterwarnings("ignore:.*no protocol that finds routes")
def test_leaves_join_by_ldp() -> None:
    """The same group, network and calls: leaves join along the routes to the root, and leave."""
    net, routers = network(ldp={"hello_interval": "1 s", "hold_time": "4 s"})
    tree = routers["root"].p2mp("tree", LEAVES, protocol="ldp", group=GROUP)
    stream(net, ["h0", "h1", "h2", "h3"], start="6 s", stop="7 s")
    net.run(until="6 s")
    assert tree.up and tree.up_count == 4 and tree.s2ls.is_empty()
    assert tree.spec["protocol"] == "ldp"
    net.run(until="7.2 s")
    assert_all_once(net)
    tree.prune("l1")
    tree.graft("a")
    net.run(until="7.5 s")
    assert tree.up and tree.up_count == 4
    rows = {row["node"]: row for row in net.table("ldp_p2mp_lsps").iter_rows(named=True)}
    assert "l1" not in rows and rows["a"]["role"] == "bud" and rows["a"]["name"] == "tree"
    assert rows["l2"]["root"] == rows["root"]["router_id"] and rows["l2"]["lsp_id"] == 1


def test_a_failure_is_led_around() -> None:
    """The root computes another way, and nothing is left of the old one."""
    net, routers = network(ospf=True)
    tree = routers["root"].p2mp(
        "tree", LEAVES, bandwidth="1 Mbit/s", retry_first="100 ms", path={"metric": "igp"}
    )
    net.run(until="60 s")
    assert tree.up
    net.fail("root", "b")
    net.run(until="120 s")
    assert tree.up
    hops = {row["leaf"]: row["route"].split() for row in tree.s2ls.iter_rows(named=True)}
    assert sorted(len(route) for route in hops.values()) == [2, 2, 3, 3]
    assert sum(net.table("rsvp_faults")["count"]) == 0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"leaves": []}, "it has no leaf: say one router at least"),
        ({"leaves": ["root"]}, "'root' is its root, and can't be a leaf of it"),
        ({"leaves": ["l0", "l0"]}, "'l0' is a leaf of it already: each leaf is named once"),
        ({"leaves": ["l9"]}, "no node has that name"),
        ({"leaves": ["h0"]}, "'h0' is a host: an LSP ends at a router"),
        ({"leaves": ["alone"]}, "there is no path from 'root' to 'alone'"),
        ({"leaves": ["l0"], "group": "10.1.1.1"}, "10.1.1.1 is no group that routers forward"),
        ({"leaves": ["l0"], "routes": {"l1": ["a", "l1"]}}, "'l1' is no leaf of it: routes are said by leaf"),
        ({"leaves": ["l0"], "routes": {"l0": ["a", "l1"]}}, "its route ends at 'l1', not at 'l0'"),
        (
            {"leaves": ["l0"], "routes": {"l0": ["l0"]}},
            "its route goes from 'root' to 'l0', and no link does",
        ),
        (
            {"leaves": ["l0", "l1"], "routes": {"l0": ["a", "l0"], "l1": ["b", "a", "l1"]}},
            None,
        ),
        (
            {"leaves": ["l2", "l3"], "routes": {"l2": ["b", "l2"], "l3": ["a", "b", "l3"]}},
            None,
        ),
        (
            {"leaves": ["l0"], "setup_priority": 3, "holding_priority": 5},
            "holding must not be weaker than setup",
        ),
    ],
)
def test_wrong_input_is_told(said: dict[str, Any], words: str | None) -> None:
    net, routers = network()
    net.router("alone")

    def described() -> None:
        routers["root"].p2mp("tree", **said)
        net.run(until="10 ms")

    if words is None:
        # Ways that cross go on by different links, and may.
        described()
        return
    with pytest.raises(TwinplaneError) as caught:
        described()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_routes_that_meet_again_are_told() -> None:
    net, routers = network()
    end = net.router("end")
    net.link(routers["l2"], end)
    routes = {"l2": ["b", "l2"], "end": ["a", "b", "l2", "end"]}
    routers["root"].p2mp("tree", ["l2", "end"], routes=routes)
    with pytest.raises(
        TwinplaneError, match=r"meets that of another leaf again at 'b', where both go on by one link"
    ):
        net.run(until="10 ms")


def test_a_group_that_another_tree_brings_is_told() -> None:
    net, routers = network()
    leaf = net.router("leaf", cbt={"groups": [{"group": GROUP, "core": "10.255.0.1"}]})
    net.link(routers["a"], leaf)
    routers["root"].p2mp("tree", ["l0", "leaf"], group=GROUP)
    with pytest.raises(TwinplaneError, match=r"239\.1\.1\.1 is a group of cbt at 'leaf' already"):
        net.run(until="10 ms")


def test_a_file_says_the_same(tmp_path: Path) -> None:
    text = """
name: tree
nodes:
  pe1: {kind: router}
  p: {kind: router, rsvp: {remerge: allow}}
  pe2: {kind: router}
  pe3: {kind: router}
links:
  - [pe1, p]
  - [p, pe2]
  - [p, pe3]
p2mp:
  - {name: east, root: pe1, leaves: [pe2, pe3], carries: 10.9.0.0/16, routes: {pe2: [p, pe2]}}
"""
    path = tmp_path / "tree.yaml"
    path.write_text(text)
    net = tp.Network.from_file(path)
    (tree,) = net.p2mp_lsps
    assert (tree.name, tree.leaves) == ("east", ["pe2", "pe3"])
    net.run(until="1 s")
    assert tree.up
    assert net.described()["p2mp"][0]["root"] == "pe1"
    for wrong, words in [
        ("leaves: [pe2, pe2]", "'pe2' is a leaf of it already"),
        ("leaves: [pe1]", "'pe1' is its root"),
        ("leaves: [pe9]", "no node has that name"),
    ]:
        broken = text.replace("leaves: [pe2, pe3]", wrong).replace(", routes: {pe2: [p, pe2]}", "")
        with pytest.raises(TwinplaneError) as caught:
            network_file.checked(source.parse(broken, path))
        _, line, _, sentence = str(caught.value).split(":", 3)
        assert int(line) == 13 and words in sentence, str(caught.value)


def test_leaves_that_are_reserved_soon_after_one_another_share_a_resv() -> None:
    """RFC 4875, 6.2.1: the first leaf is told at once, others a millisecond later at most, together."""
    net = tp.Network(seed=1)
    root, hub = net.router("root"), net.router("hub")
    net.link(root, hub, delay="100 us")
    leaves = [net.router(f"l{place}") for place in range(6)]
    for place, leaf in enumerate(leaves):
        net.link(hub, leaf, delay=f"{50 * (place + 1)} us")
    tree = root.p2mp("tree", leaves, group=GROUP)
    net.run(until="1 ms")
    assert tree.up_count == 1
    net.run(until="3 ms")
    assert tree.up
    rows = net.table("messages").filter(node="hub", direction="tx", type="Resv")
    assert rows["count"].sum() == 2
