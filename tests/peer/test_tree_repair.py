"""A Twinplane router as point of local repair of a tree of naive routers (RFC 4875, 15.1; RFC 4090, 6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import referee
from .bench import MBIT, Bench
from .repair_bench import AVAILABLE, IN_USE
from .repairing import ASKS
from .tree import tree_key
from .tree_repair_bench import BEYOND, FURTHER, LABELS, TreeRepair

NODE = c.Recorded.NODE
ASKED = c.Asked.LOCAL | c.Asked.BANDWIDTH | c.Asked.NODE
ROUTING_PROBLEM = 24
SOUTH = {"south": [[LABELS["south"]]]}
sent: list[referee.Frame] = []


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Any]:
    made: list[TreeRepair] = []

    def build(*wanted: Any, **has: Any) -> TreeRepair:
        made.append(TreeRepair(*wanted, **has))
        return made[-1]

    yield build
    for repair in made:
        repair.assert_nothing_stays()
        for port in repair.bench.ports.values():
            sent.extend(referee.Frame(request.node.name, port.peer.name, *frame) for frame in port.received)


def grown(r: TreeRepair, **said: Any) -> tuple[c.Message, c.Message]:
    """A tree in two sub-groups: east, a leaf beyond it, and south; and another leaf beyond east."""
    beyond, route = r.to_east(BEYOND)
    paths = (
        r.path([r.to_east(), (beyond, route[1:]), r.to("south")], **said),
        r.path([r.to_east(FURTHER)], 2, **said),
    )
    r.up(*paths)
    return paths


def failed(r: TreeRepair) -> None:
    """The link fails, and the root hears of it."""
    r.fail()
    r.bench.until(lambda: all(r.flags()[leaf] == AVAILABLE | IN_USE for leaf in r.behind))


def test_all_leaves_behind_a_link_are_led_around_by_one_label(build: Any) -> None:
    """One bypass, both labels, and one copy, whatever the sub-groups (RFC 4875, 15.1, 15.1.1)."""
    r: TreeRepair = build()
    grown(r)
    # RFC 4875, 15.1.1, and RFC 4090, 6.2: an LSP with one end, from here to the merge point.
    ((session, sender),) = r.end.paths
    assert session.destination == r.end.router_id and r.own(sender.address)
    # RFC 4875, 15, and RFC 4090, 6: flags in the RRO of the first leaf and in the SRROs of others.
    assert r.flags() == {**dict.fromkeys(r.behind, AVAILABLE), r.leaf["south"].address: 0}
    assert r.sends() == {"east": [[LABELS["east"]]], **SOUTH}
    r.fail()
    assert r.sends() == r.around
    r.bench.until(lambda: r.flags()[FURTHER] == AVAILABLE | IN_USE)
    assert r.flags() == {**dict.fromkeys(r.behind, AVAILABLE | IN_USE), r.leaf["south"].address: 0}


def test_the_root_is_told_of_the_leaves_that_are_led_around(build: Any) -> None:
    """PathErr 25/3 under the root's names, once for each leaf (RFC 4090, 6.5.1; RFC 4875, 11.1)."""
    r: TreeRepair = build()
    paths = grown(r)
    failed(r)
    named = {tree_key(path): set(c.leaves_of(path)) for path in paths}
    assert r.repaired() == sorted(r.behind) and len(r.root.errors) == 2
    for error in r.root.errors:
        assert set(c.leaves_of(error)) <= named[tree_key(error)]
        assert r.own(error.need(c.ErrorSpec).node)
    # RFC 4090, 7.2, holds below; above, nothing is torn down either.
    assert not Bench.came(r.west, c.Type.RESV_TEAR)


def test_what_goes_around_a_failure_says_who_repairs(build: Any) -> None:
    """Session and LSP id stay; sender, hop, routes and wishes are of the repair (RFC 4090, 6.4.3, 6.4.4)."""
    r: TreeRepair = build()
    fast = c.FastReroute(flags=c.FastReroute.FACILITY, bandwidth=10 * MBIT / 8)
    paths = grown(r, extra=[fast])
    # RFC 4875, 15, and RFC 4090, 4.1: each Path has both objects as the root said them.
    for message in Bench.came(r.east, c.Type.PATH):
        if message.get(c.TreeSession) is not None:
            assert message.need(c.FastReroute) == fast
            assert message.need(c.SessionAttribute) == paths[0].need(c.SessionAttribute)
    failed(r)
    assert r.end.leaves_around() == sorted(r.behind) and not r.end.strangers
    routes = {}
    for label, item in r.end.tree_tunnelled:
        message, sender = item.message, item.message.need(c.TreeSender)
        assert label == r.tunnel and message.kind == c.Type.PATH
        assert message.need(c.TreeSession) == r.root.session
        # RFC 4875, 15.1.1: RECOMMENDED, the sender template-specific method.
        assert sender.lsp_id == r.root.lsp_id and r.own(sender.address)
        assert r.own(message.need(c.RsvpHop).address)
        # RFC 4875, 5.2.1: a sub-group has the name that it came with, or one of who sends the Path.
        assert sender.originator in (r.root.router_id, r.id)
        assert item.packet.router_alert and item.packet.source == sender.address
        asked, attribute = paths[0].need(c.SessionAttribute), message.need(c.SessionAttribute)
        assert attribute.flags == asked.flags & ~ASKED
        assert message.get(c.FastReroute) is None
        assert message.need(c.SenderTspec) == paths[0].need(c.SenderTspec)
        recorded = message.need(c.RecordRoute).hops
        assert isinstance(recorded[0], c.Ipv4Hop) and r.own(recorded[0].address)
        for leaf, hops in c.routed_leaves(message):
            routes[leaf] = [hop.address for hop in hops or () if isinstance(hop, c.Ipv4Hop)]
    # RFC 4875, 15.1, and RFC 4090, 6.4.4: SEROs as EROs, with an address of the merge point at first.
    assert {leaf: hops[1:] for leaf, hops in routes.items()} == {
        leaf: [] if leaf == r.end.router_id else [leaf] for leaf in r.behind
    }
    addresses = {r.end.router_id, r.east.ends.address, r.east2.ends.address}
    assert {hops[0] for hops in routes.values()} <= addresses
    # Nothing of it is said to the neighbour at the other end of the bypass's first link.
    assert not [m for m in Bench.came(r.east2, c.Type.PATH) if m.get(c.TreeSession)]


def test_a_repair_is_refreshed_and_ends_without_answers(build: Any) -> None:
    """For many lifetimes both ends go on; then the merge point says no more (RFC 4090, 7.2; 2205, 3.7)."""
    r: TreeRepair = build(refresh="1 s")
    paths = grown(r, refresh_ms=1000)
    failed(r)
    before = len(r.end.repairs_of(c.Type.PATH))
    r.lives(paths, 15)
    assert r.repaired() == sorted(r.behind) and len(r.root.errors) == 2
    # Two sub-groups, and a refresh each second and a half at least (RFC 2205, 3.7).
    assert 20 <= len(r.end.repairs_of(c.Type.PATH)) - before <= 2 * 30
    assert r.sends() == r.around and r.reserved_now() == {*r.behind, r.leaf["south"].address}
    r.end.answers_repairs = False
    r.lives(paths, 8)
    assert r.sends() == SOUTH and r.reserved_now() == {r.leaf["south"].address}


def test_a_bypass_that_goes_takes_its_flags_along(build: Any) -> None:
    """By a Resv at once, for all leaves that it was to protect (RFC 4090, 6)."""
    r: TreeRepair = build()
    grown(r)
    (tunnel,) = r.end.paths
    r.end.resv_tear(tunnel, r.east2, c.Style(c.Style.SE))
    r.bench.until(lambda: {r.flags()[leaf] for leaf in r.behind} == {0})
    assert not r.root.errors and r.sends() == {"east": [[LABELS["east"]]], **SOUTH}


def test_a_link_that_is_back_is_taken_again(build: Any) -> None:
    """Paths of all sub-groups along the link, then the flags and the packets (RFC 4090, 6.5.2)."""
    r: TreeRepair = build(reversion="2 s")
    grown(r)
    failed(r)
    r.bench.forget()
    r.end.along.clear()
    r.bench.net.repair(r.failing)
    r.bench.until(lambda: {r.flags()[leaf] for leaf in r.behind} == {AVAILABLE}, 60.0, 0.02)
    came = {leaf for came in r.end.along.values() for leaf in c.leaves_of(came.message)}
    assert came == set(r.behind)
    assert r.sends() == {"east": [[LABELS["east"]]], **SOUTH}
    r.bench.until(lambda: not r.end.around, 10.0, 0.02)


@pytest.mark.parametrize("answered", [[], [FURTHER]], ids=["none", "one-of-two"])
def test_a_link_that_is_back_waits_for_all_leaves(build: Any, answered: list[str]) -> None:
    """Who has no Resv along the link stays on the bypass, and refreshes it (RFC 4090, 6.5.2)."""
    r: TreeRepair = build(reversion="1 s", refresh="1 s")
    paths = grown(r, refresh_ms=1000)
    failed(r)
    r.end.answers_trees = bool(answered)
    r.end.without_along = {*r.behind} - {*answered}
    r.bench.net.repair(r.failing)
    before = len(r.end.repairs_of(c.Type.PATH))
    r.lives(paths, 15)
    assert r.sends() == r.around and r.flags()[BEYOND] == AVAILABLE | IN_USE
    assert len(r.end.repairs_of(c.Type.PATH)) - before >= 20
    r.end.answers_trees, r.end.without_along = True, set()
    r.lives(paths, 3)
    assert r.sends() == {"east": [[LABELS["east"]]], **SOUTH}


def test_a_sub_group_is_pruned_around_a_failure(build: Any) -> None:
    """Its PathTear comes out of the bypass under the names of its Path (RFC 4875, 7.2.2; 4090, 6.4.3)."""
    r: TreeRepair = build()
    _, second = grown(r)
    failed(r)
    r.tear(second)
    r.bench.until(lambda: r.end.repairs_of(c.Type.PATH_TEAR))
    (torn,) = r.end.repairs_of(c.Type.PATH_TEAR)
    assert c.leaves_of(torn) in ([], [FURTHER])
    (named,) = [m for m in r.end.repairs_of(c.Type.PATH) if c.leaves_of(m) == [FURTHER]]
    assert tree_key(torn) == tree_key(named)
    assert r.end.leaves_around() == sorted({*r.behind} - {FURTHER}) and r.sends() == r.around


def test_a_leaf_is_pruned_around_a_failure(build: Any) -> None:
    """A shorter Path goes through the bypass, and nobody else is harmed (RFC 4875, 7.2.1)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    r.signal(r.path([r.to_east(), r.to("south")]))
    r.bench.until(lambda: r.end.leaves_around() == sorted({*r.behind} - {BEYOND}))
    assert not r.end.repairs_of(c.Type.PATH_TEAR) and r.sends() == r.around


@pytest.mark.parametrize("group", [3, 2], ids=["by-another-path", "by-a-longer-path"])
def test_no_leaf_is_grafted_over_a_link_that_is_down(build: Any, group: int) -> None:
    """The root is told of that leaf alone, and those that are led around stay (RFC 4875, 5.2.2, 11)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    r.root.errors.clear()
    new, route = r.to_east("192.0.2.33")
    others = [r.to_east(FURTHER)] if group == 2 else []
    r.signal(r.path([*others, (new, route[1:] if others else route)], group))
    r.bench.until(lambda: r.root.errors)
    assert {(code, *leaves) for code, _, leaves in r.root.told()} == {(ROUTING_PROBLEM, new)}
    r.bench.run(0.05)
    assert r.end.leaves_around() == sorted(r.behind) and r.sends() == r.around


def test_an_error_behind_the_merge_point_comes_to_the_root(build: Any) -> None:
    """PathErr to the address of the repair goes up under the root's names (RFC 4875, 11.1; 4090, 6.4.3)."""
    r: TreeRepair = build()
    first, _ = grown(r)
    failed(r)
    r.root.errors.clear()
    (came,) = [came for came in r.end.around.values() if BEYOND in c.leaves_of(came.message)]
    r.end.refuse_leaves(came, ROUTING_PROBLEM, 5, BEYOND)
    r.bench.until(lambda: r.root.errors)
    assert r.root.told() == [(ROUTING_PROBLEM, 5, [BEYOND])]
    assert tree_key(r.root.errors[0]) == tree_key(first)
    assert r.root.errors[0].need(c.ErrorSpec).node == r.east2.ends.address
    assert r.sends() == r.around


def test_a_reservation_that_ends_behind_the_merge_point_ends_at_the_root(build: Any) -> None:
    """ResvTear for one leaf, straight to the repairing router: the others stay (RFC 4090, 7.1.3)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    (came,) = [came for came in r.end.around.values() if BEYOND in c.leaves_of(came.message)]
    r.end.without.add(BEYOND)
    r.end.take_back(came, BEYOND)
    r.bench.until(lambda: BEYOND not in r.reserved_now())
    assert r.reserved_now() == {*r.behind, r.leaf["south"].address} - {BEYOND}
    assert r.sends() == r.around


@pytest.mark.parametrize(
    ("asks", "extra", "protected"),
    [
        (c.Asked.SE_STYLE | c.Asked.LABELS, [], False),
        (ASKS, [], True),
        (c.Asked.SE_STYLE | c.Asked.LABELS, [c.FastReroute()], True),
    ],
    ids=["nothing", "flag", "object"],
)
def test_the_flag_or_the_object_asks(build: Any, asks: int, extra: list[c.Obj], protected: bool) -> None:
    """Either is enough for a tree, too (RFC 4875, 15; RFC 4090, 6); else the failure is the root's."""
    r: TreeRepair = build()
    path = r.path([r.to_east(), r.to("south")], asks=asks, extra=extra)
    r.up(path, flags={r.end.router_id: AVAILABLE if protected else 0})
    r.bench.run(1.0, 0.01)
    assert r.flags() == {r.end.router_id: AVAILABLE if protected else 0, r.leaf["south"].address: 0}
    r.fail()
    r.bench.run(0.05)
    assert r.sends() == (r.around if protected else SOUTH)


def test_a_label_that_changes_around_is_taken(build: Any) -> None:
    """The merge point's answer says which label is below that of the bypass (RFC 4875, 15.1)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    r.end.tree_label = 2222
    for came in r.end.around.values():
        r.end.reserve_leaves(came.side, came.message)
    r.bench.run(0.05)
    assert r.sends() == {"east2": [[r.tunnel, 2222]], **SOUTH}


def test_a_label_of_one_interface_protects_no_tree(build: Any) -> None:
    """Without the flag of the recorded label the bypass can't be used as it is (RFC 4090, 6.4.1)."""
    r: TreeRepair = build()
    r.end.label_flags = 0
    r.up(r.path([r.to_east()]), flags={r.end.router_id: 0})
    r.bench.run(2.0, 0.01)
    assert r.flags() == {r.end.router_id: 0} or r.end.tree_tunnelled


def test_a_router_fails_and_all_its_leaves_meet_behind_it(build: Any) -> None:
    """Node protection by one bypass to where all leaves come through (RFC 4875, 15.1.2)."""
    r: TreeRepair = build(over="next")
    beyond, route = r.to_east(BEYOND)
    path = r.path([r.to_east(), (beyond, route[2:])], asks=ASKS | c.Asked.NODE)
    r.up(path, flags={r.end.router_id: AVAILABLE | NODE, BEYOND: AVAILABLE | NODE})
    r.fail()
    # The label below that of the bypass is the one that east gave to the router that is gone.
    assert r.sends() == {"east2": [[r.tunnel, LABELS["east"]]]}
    r.bench.until(lambda: r.end.leaves_around() == sorted([r.end.router_id, BEYOND]))
    for message in r.end.repairs_of(c.Type.PATH):
        assert message.need(c.TreeSender).lsp_id == r.root.lsp_id and r.own(message.need(c.RsvpHop).address)
    r.bench.until(lambda: r.repaired() == sorted([r.end.router_id, BEYOND]))


def test_a_leaf_that_does_not_meet_the_others_takes_the_flag_back(build: Any) -> None:
    """A leaf beside the merge point: node protection is promised no more (RFC 4875, 15.1.2)."""
    r: TreeRepair = build(over="next")
    r.up(r.path([r.to_east()], asks=ASKS | c.Asked.NODE), flags={r.end.router_id: AVAILABLE | NODE})
    r.signal(r.path([r.to("north")], 2, asks=ASKS | c.Asked.NODE))
    north = r.leaf["north"].address
    r.bench.until(lambda: north in r.root.reserved() and not r.flags()[r.end.router_id] & NODE, 5.0)
    assert not r.flags()[north] & NODE
    r.tear(r.path([r.to("north")], 2, asks=ASKS | c.Asked.NODE))
    r.bench.until(lambda: r.flags()[r.end.router_id] == AVAILABLE | NODE, 5.0)


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_routers_sent(tmp_path: Path) -> None:
    """Nothing malformed, and every checksum right."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "routers.pcapng"
    # Each frame once: refreshes are all the same.
    path.write_bytes(referee.pcapng(list({frame.data: frame for frame in sent}.values())))
    assert referee.complaints(path) == []
