"""A Twinplane router as merge point of a tree that a naive router repairs (RFC 4875, 15.1; RFC 4090, 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import referee
from .bench import Bench
from .codec.ip import PROTOCOL_RSVP
from .repairing import ASKS
from .tree import send, tree_key
from .tree_bench import BEYOND, out
from .tree_repair_bench import TreeMerge
from .tree_repairing import tree_around

ROUTING_PROBLEM = 24
REPAIRER = "192.0.2.50"
sent: list[referee.Frame] = []


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Callable[..., TreeMerge]]:
    made: list[TreeMerge] = []

    def build(**has: Any) -> TreeMerge:
        made.append(TreeMerge(**has))
        return made[-1]

    yield build
    for merge in made:
        merge.bench.assert_clean()
        for port in merge.bench.ports.values():
            sent.extend(referee.Frame(request.node.name, port.peer.name, *frame) for frame in port.received)


def grown(t: TreeMerge, refresh_ms: int = 30_000) -> tuple[c.Message, c.Message]:
    """East and south in a sub-group, and a leaf beyond east in another."""
    first = t.root.path(t.west, [t.to("east"), t.to("south")], asks=ASKS, refresh_ms=refresh_ms)
    second = t.root.path(t.west, [t.to("east", BEYOND)], 2, asks=ASKS, refresh_ms=refresh_ms)
    t.up(t.west, first)
    t.up(t.west, second)
    return first, second


def repaired(t: TreeMerge, path: c.Message) -> tuple[c.Message, c.Message]:
    """The same leaves around, in sub-groups of the repairing router that are divided in another way."""
    me = t.west2.ends.address
    return (
        tree_around(path, t.west2, [t.by("east", BEYOND), t.by("south")], (me, 1)),
        tree_around(path, t.west2, [t.by("east")], (me, 2)),
    )


ROOTS = "the-root"


@pytest.mark.parametrize(
    ("originator", "groups"),
    [
        (ROOTS, [["east", "south"], ["beyond"]]),
        # The root's names mean other leaves here: nobody may go by them.
        (ROOTS, [["beyond"], ["south", "east"]]),
        (REPAIRER, [["south", "beyond", "east"]]),
        (REPAIRER, [["east"], ["beyond"], ["south"]]),
    ],
    ids=["as-before", "other-way-round", "all-in-one", "each-alone"],
)
def test_leaves_and_lsp_id_say_what_is_repaired(
    build: Callable[..., TreeMerge], originator: str, groups: list[list[str]]
) -> None:
    """And no sub-group; answers come straight back, and nothing goes on (RFC 4875, 15.1.1; 4090, 7.1.1)."""
    t = build()
    path, _ = grown(t)
    by = {"east": t.by("east"), "south": t.by("south"), "beyond": t.by("east", BEYOND)}
    t.bench.forget()
    who = t.root.router_id if originator == ROOTS else originator
    around = [
        tree_around(path, t.west2, [by[name] for name in names], (who, place))
        for place, names in enumerate(groups, 1)
    ]
    t.repair(*around)
    answers = Bench.arrivals(t.west2, c.Type.RESV)
    assert {item.packet.destination for item in answers} == {t.west2.ends.address}
    # Each sub-group is answered under its name, with all of its leaves (RFC 4875, 6.2).
    named: dict[c.TreeFilter, set[str]] = {}
    for item in t.answers():
        named.setdefault(item.filter, set()).add(item.leaf)
    assert named == {tree_key(path)[1].filter(): set(c.leaves_of(path)) for path in around}
    assert t.told_to_go_on() == {} and not t.root.errors
    # RFC 4090, 6.4.1: the label that was recorded leads on from both sides, and so does the new one.
    for label in (t.label(t.west), t.around_label()):
        assert t.copies_around(label) == out("east", "south")
    assert t.copies() == out("east", "south")
    t.end_repair(*around)
    assert t.told_to_go_on() == {} and t.copies() == out("east", "south")


def test_routes_and_labels_of_all_leaves_are_recorded_around(build: Callable[..., TreeMerge]) -> None:
    """RRO of the first leaf and SRROs of others, with what they need for protection (RFC 4875, 6.3.1, 15)."""
    t = build()
    path, _ = grown(t)
    t.repair(*repaired(t, path))
    for item in t.answers():
        assert item.record is not None
        here, label, *further = item.record
        assert isinstance(here, c.Ipv4Hop)
        # RFC 4090, 6.4.1.
        assert label == c.LabelHop(t.around_label(), flags=c.Recorded.GLOBAL_LABEL)
        assert [hop.address for hop in further if isinstance(hop, c.Ipv4Hop)][-1] in (
            item.leaf,
            t.leaf["east"].side.ends.address,
            t.leaf["south"].side.ends.address,
        )


def test_the_old_way_may_be_torn_down_while_another_is_there(build: Callable[..., TreeMerge]) -> None:
    """PathTears of the old hop take nothing from leaves; the last one takes all (RFC 4090, 7.1.3)."""
    t = build(refresh="1 s")
    paths = grown(t, 1000)
    around = repaired(t, paths[0])
    t.repair(*around)
    for path in paths:
        t.root.tear(t.west, path)
    t.bench.run(0.05)
    assert t.copies_around() == out("east", "south")
    assert not Bench.came(t.leaf["south"].side, c.Type.PATH_TEAR)
    t.lives(15)
    assert t.copies_around() == out("east", "south")
    assert t.leaf["east"].leaves() == {t.leaf["east"].address, BEYOND}
    # What goes on now is refreshed, and answered around.
    assert len(t.answers()) > 3 * 5
    t.end_repair(around[0])
    assert not t.leaf["south"].paths and t.leaf["east"].leaves() == {t.leaf["east"].address}
    assert t.copies_around() == out("east")
    t.end_repair(around[1])
    assert t.told_to_go_on().keys() >= {"east"} and not t.leaf["east"].paths


def test_a_repaired_tree_outlives_its_link(build: Callable[..., TreeMerge]) -> None:
    """Nothing is torn down when the link goes, and the bypass keeps all leaves (RFC 4090, 7.2)."""
    t = build(refresh="1 s")
    path, _ = grown(t, 1000)
    t.bench.net.fail(t.bench.links["west", "dut"])
    t.bench.run(2.0)
    assert not any(Bench.came(leaf.side, c.Type.PATH_TEAR) for leaf in t.leaf.values())
    assert not any(Bench.came(leaf.side, c.Type.RESV_ERR) for leaf in t.leaf.values())
    assert t.copies_around() == out("east", "south")
    around = repaired(t, path)
    t.repair(*around)
    t.lives(15)
    assert not any(Bench.came(leaf.side, c.Type.PATH_TEAR) for leaf in t.leaf.values())
    assert t.copies_around() == out("east", "south")
    t.end_repair(*around)
    assert not t.leaf["east"].paths and not t.leaf["south"].paths


def test_who_is_not_repaired_goes_in_its_time(build: Callable[..., TreeMerge]) -> None:
    """A sub-group that nobody repairs lives as if it had just been refreshed, no longer (RFC 4090, 7.2)."""
    t = build(refresh="1 s")
    path, _ = grown(t, 1000)
    t.bench.net.fail(t.bench.links["west", "dut"])
    around = tree_around(path, t.west2, [t.by("east"), t.by("south")], (REPAIRER, 1))
    t.repair(around)
    t.lives(4)
    assert t.leaf["east"].leaves() == {t.leaf["east"].address, BEYOND}
    t.lives(4)
    assert t.leaf["east"].leaves() == {t.leaf["east"].address}
    assert t.copies_around() == out("east", "south")
    # And all of it, when it is not refreshed around.
    t.goes_around.clear()
    t.lives(8)
    assert not t.leaf["east"].paths and not t.leaf["south"].paths


def test_leaves_that_are_pruned_around_are_gone(build: Callable[..., TreeMerge]) -> None:
    """With the link down, by a shorter Path or a PathTear through the bypass (RFC 4875, 7.2.1, 7.2.2)."""
    t = build()
    path, _ = grown(t)
    t.bench.net.fail(t.bench.links["west", "dut"])
    first, second = repaired(t, path)
    t.repair(first, second)
    t.repair(tree_around(path, t.west2, [t.by("east", BEYOND)], (t.west2.ends.address, 1)))
    assert not t.leaf["south"].paths and t.copies_around() == out("east")
    t.end_repair(second)
    assert t.leaf["east"].leaves() == {BEYOND} and t.copies_around() == out("east")


def test_leaves_that_the_old_way_names_stay(build: Callable[..., TreeMerge]) -> None:
    """A shorter Path through the bypass removes what no other Path names (RFC 4875, 7.2.1; 4090, 7.1.3)."""
    t = build()
    paths = grown(t)
    around = repaired(t, paths[0])
    t.repair(*around)
    me = t.west2.ends.address
    shorter = tree_around(paths[0], t.west2, [t.by("east", BEYOND)], (me, 1))
    t.repair(shorter)
    # The old way still names it.
    assert t.copies_around() == out("east", "south") and t.leaf["south"].paths
    for path in paths:
        t.root.tear(t.west, path)
    t.bench.run(0.05)
    assert not t.leaf["south"].paths and t.copies_around() == out("east")
    assert t.leaf["east"].leaves() == {t.leaf["east"].address, BEYOND}
    t.end_repair(shorter)
    assert t.leaf["east"].leaves() == {t.leaf["east"].address}


def test_a_link_that_is_back_may_be_taken_again(build: Callable[..., TreeMerge]) -> None:
    """Paths along the link again, then PathTears around: no packet is lost or doubled (RFC 4090, 6.5.2)."""
    t = build()
    paths = grown(t)
    link = t.bench.links["west", "dut"]
    around = repaired(t, paths[0])
    t.bench.net.fail(link)
    t.repair(*around)
    t.bench.net.repair(link)
    t.bench.run(0.1)
    t.bench.forget()
    for path in paths:
        t.root.signal(t.west, path)
    t.bench.until(
        lambda: {leaf for m in Bench.came(t.west, c.Type.RESV) for leaf in c.leaves_of(m)} == t.leaves
    )
    assert t.copies() == out("east", "south") and t.copies_around() == out("east", "south")
    t.end_repair(*around)
    assert t.copies() == out("east", "south")
    assert not any(Bench.came(leaf.side, c.Type.PATH_TEAR) for leaf in t.leaf.values())


def test_repairs_under_two_addresses_are_two(build: Callable[..., TreeMerge]) -> None:
    """One sender after another, as when the bypass is another one: each has its answer and its end."""
    t = build(refresh="1 s")
    path, _ = grown(t, 1000)
    t.bench.net.fail(t.bench.links["west", "dut"])
    leaves = [t.by("east"), t.by("south"), t.by("east", BEYOND)]
    first = tree_around(path, t.west2, leaves, (REPAIRER, 1))
    second = first.swapped(replace(first.need(c.TreeSender), address=t.west.ends.address))
    assert tree_key(first) != tree_key(second)
    t.repair(first)
    t.repair(second)
    assert t.copies_around() == out("east", "south")
    t.end_repair(first)
    t.lives(10)
    assert t.copies_around() == out("east", "south")
    t.end_repair(second)
    assert not t.leaf["east"].paths and not t.leaf["south"].paths


def test_a_reservation_that_ends_is_told_on_both_ways(build: Callable[..., TreeMerge]) -> None:
    """Towards the root, and to the repairing router, of that leaf alone (RFC 4090, 7.1.3)."""
    t = build()
    path, _ = grown(t)
    t.repair(*repaired(t, path))
    south = t.leaf["south"]
    t.bench.forget()
    south.answers = False
    ((key, below),) = south.paths.items()
    hop = c.RsvpHop(south.side.ends.address, below.need(c.RsvpHop).handle)
    said = [key[0], hop, c.Style(c.Style.SE), key[1].filter(), c.SubLsp(south.address)]
    send(south.side, c.Message(c.Type.RESV_TEAR, said), south.side.ends.peer)
    t.bench.run(0.1)
    assert t.copies() == out("east") and t.copies_around() == out("east")
    for side in (t.west, t.west2):
        torn = [leaf for m in Bench.came(side, c.Type.RESV_TEAR) for leaf in c.leaves_of(m)]
        resvs = Bench.came(side, c.Type.RESV)
        last = {item.filter: c.leaves_of(m) for m in resvs for item in c.reserved_leaves(m)}
        # A ResvTear, or a Resv that names it no more (RFC 4875, 7.2.1).
        assert south.address in torn or (last and all(south.address not in said for said in last.values()))


def test_an_error_of_a_leaf_goes_to_who_repairs(build: Callable[..., TreeMerge]) -> None:
    """Under the names of the Path around, to the address in its RSVP_HOP (RFC 4875, 11.1; 4090, 6.4.3)."""
    t = build()
    paths = grown(t)
    around = repaired(t, paths[0])
    t.repair(*around)
    t.bench.net.fail(t.bench.links["west", "dut"])
    t.root.errors.clear()
    east = t.leaf["east"]
    (key,) = [key for key, path in east.paths.items() if BEYOND in c.leaves_of(path)]
    east.refuse(key, ROUTING_PROBLEM, 5, BEYOND)
    t.bench.until(lambda: Bench.came(t.west2, c.Type.PATH_ERR))
    (item,) = Bench.arrivals(t.west2, c.Type.PATH_ERR)
    assert item.packet.destination == t.west2.ends.address
    assert c.leaves_of(item.message) == [BEYOND] and tree_key(item.message) == tree_key(around[0])
    assert item.message.need(c.ErrorSpec).node == east.side.ends.address
    assert t.copies_around() == out("east", "south")


def test_a_path_out_of_a_bypass_may_have_another_ttl(build: Callable[..., TreeMerge]) -> None:
    """Between its ends there were routers that did not look at it (RFC 4090, 7)."""
    t = build()
    path, _ = grown(t)
    (around, _) = repaired(t, path)
    payload = t.west2.encode(around)
    source = around.need(c.TreeSender).address
    packet = c.Ipv4(source, BEYOND, PROTOCOL_RSVP, payload, 63, options=c.ROUTER_ALERT)
    t.west2.send_labelled([c.LabelEntry(t.bypass)], replace(packet, ttl=17).encode())
    t.bench.until(lambda: {item.leaf for item in t.answers()} == {BEYOND, t.leaf["south"].address})
    assert not Bench.came(t.west2, c.Type.PATH_ERR)


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, and every checksum right."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "router.pcapng"
    # Each frame once: refreshes are all the same.
    path.write_bytes(referee.pcapng(list({frame.data: frame for frame in sent}.values())))
    assert referee.complaints(path) == []
