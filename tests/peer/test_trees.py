"""A Twinplane router as branch node and leaf of a point-to-multipoint LSP of naive routers (RFC 4875)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import referee
from .bench import MBIT, Bench
from .tree import Root, send, tree_key
from .tree_bench import BEYOND, LABELS, Tree, addresses, builder, out

sent: list[referee.Frame] = []


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Callable[..., Tree]]:
    with builder(request.node.name, sent) as build:
        yield build


def test_each_neighbour_gets_its_own_leaves(build: Callable[..., Tree]) -> None:
    """Routes are told apart at the branch; one label up, a copy for each branch (RFC 4875, 4.5, 5.2.2, 6)."""
    t = build()
    beyond, route = t.to("east", BEYOND)
    leaves = [t.to("east"), t.to("south"), (beyond, route[1:])]
    path = t.root.path(t.west, leaves)
    t.up(t.west, path)
    east, south = (t.leaf[name] for name in ("east", "south"))
    ((key, eastern),), ((_, southern),) = east.paths.items(), south.paths.items()
    route_of = {leaf: addresses(hops) for leaf, hops in c.routed_leaves(eastern)}
    here = east.side.ends.address
    assert route_of == {east.address: [here], BEYOND: [here, BEYOND]}
    # What was a later leaf is the first one now, and has an ERO.
    assert c.routed_leaves(southern) == [(south.address, (c.Ipv4Hop(south.side.ends.address),))]
    assert southern.get(c.SecondaryRoute) is None
    for message in (eastern, southern):
        session, sender = tree_key(message)
        assert session == t.root.session
        assert (sender.address, sender.lsp_id) == (t.root.router_id, t.root.lsp_id)
        assert sender.group == (t.root.router_id, 1) or sender.originator == t.dut
        assert message.need(c.SessionAttribute) == path.need(c.SessionAttribute)
        assert message.need(c.SenderTspec) == path.need(c.SenderTspec)
        # RFC 4875, 5.2.2: the route so far, and this router.
        assert addresses(message.need(c.RecordRoute).hops)[1:] == [t.west.ends.address]
    assert t.root.labels() == {t.label()}
    reserved = t.root.reserved()
    assert {item.filter for item in reserved.values()} == {t.root.sender(1).filter()}
    # RFC 4875, 6.3.1: the route of each leaf, from the leaf to a branch.
    assert addresses(reserved[BEYOND].record)[-1] == BEYOND
    assert here in addresses(reserved[BEYOND].record)
    assert addresses(reserved[south.address].record)[-1] == south.side.ends.address
    assert t.copies() == out("east", "south")
    t.root.tear(t.west, path)
    t.bench.until(lambda: not east.paths and not south.paths)
    assert key[0] == t.root.session


def test_leaves_without_routes_are_led_by_the_routing_table(build: Callable[..., Tree]) -> None:
    """No ERO and no SERO: hop by hop to each leaf (RFC 4875, 4.5)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [(t.leaf[name].address, None) for name in LABELS]))
    assert {name: leaf.leaves() for name, leaf in t.leaf.items()} == {n: {t.leaf[n].address} for n in LABELS}
    assert t.copies() == out(*LABELS)


def test_no_resv_goes_up_before_one_came(build: Callable[..., Tree]) -> None:
    """Then it names those that are reserved, with a label that does not change (RFC 4875, 6.2)."""
    t = build()
    for leaf in t.leaf.values():
        leaf.answers = False
    t.root.signal(t.west, t.root.path(t.west, [t.to("east"), t.to("south")]))
    east, south = t.leaf["east"], t.leaf["south"]
    t.bench.until(lambda: east.paths and south.paths)
    t.bench.run(0.05)
    assert not t.root.resvs
    south.reserve(*south.paths)
    t.bench.until(lambda: t.root.reserved())
    assert set(t.root.reserved()) == {south.address}
    assert t.copies() == out("south")
    east.reserve(*east.paths)
    t.bench.until(lambda: len(t.root.reserved()) == 2)
    assert len(t.root.labels()) == 1
    assert t.copies() == out("east", "south")


def test_one_resv_for_two_sub_groups(build: Callable[..., Tree]) -> None:
    """Each FILTER_SPEC has its leaves, and each Path its answer (RFC 4875, 6.1, 6.2)."""
    t = build()
    east = t.leaf["east"]
    east.answers = False
    t.root.signal(t.west, t.root.path(t.west, [t.to("east")]))
    t.root.signal(t.west, t.root.path(t.west, [t.to("east", BEYOND)], 2))
    t.bench.until(lambda: len(east.paths) == 2)
    east.reserve(*east.paths)
    t.bench.until(lambda: len(t.root.reserved()) == 2)
    groups = {leaf: item.filter for leaf, item in t.root.reserved().items()}
    assert groups == {east.address: t.root.sender(1).filter(), BEYOND: t.root.sender(2).filter()}
    assert t.copies() == out("east")


@pytest.mark.parametrize("group", [2, 1], ids=["by-another-path", "by-a-longer-path"])
def test_grafting(build: Callable[..., Tree], group: int) -> None:
    """A leaf that is added changes nothing for the others (RFC 4875, 5.3, 10.1)."""
    t = build()
    before = [t.to("east"), t.to("south")]
    t.up(t.west, t.root.path(t.west, before))
    label = t.label()
    t.bench.forget()
    t.up(t.west, t.root.path(t.west, [t.to("north")] if group == 2 else [*before, t.to("north")], group))
    assert t.label() == label
    if group == 2:
        assert t.told_to_go_on() == {"north": 1}
        assert t.root.reserved()[t.leaf["north"].address].filter == t.root.sender(2).filter()
    assert t.copies() == out(*LABELS)


def test_explicit_pruning(build: Callable[..., Tree]) -> None:
    """PathTear of a sub-group goes to where its Path went, under its names, and nowhere else (7.2.2)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [t.to("east"), t.to("south")]))
    grafted = t.root.path(t.west, [t.to("north")], 2)
    t.up(t.west, grafted)
    assert t.copies() == out(*LABELS)
    t.bench.forget()
    t.root.tear(t.west, grafted)
    t.bench.until(lambda: not t.leaf["north"].paths)
    assert t.told_to_go_on() == {"north": 1}
    assert t.copies() == out("east", "south")


@pytest.mark.parametrize("elsewhere", [False, True], ids=["for-good", "still-in-another-path"])
def test_implicit_pruning(build: Callable[..., Tree], elsewhere: bool) -> None:
    """A Path that names fewer leaves removes the others, unless another Path names them (RFC 4875, 7.2.1)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [t.to("east"), t.to("south")]))
    if elsewhere:
        t.up(t.west, t.root.path(t.west, [t.to("south")], 2))
        t.bench.run(0.05)
    t.root.signal(t.west, t.root.path(t.west, [t.to("east")]))
    t.bench.run(0.05)
    assert bool(t.leaf["south"].paths) == elsewhere
    assert t.leaf["east"].leaves() == {t.leaf["east"].address}
    assert t.copies() == (out("east", "south") if elsewhere else out("east"))


def test_a_leaf_with_ways_on(build: Callable[..., Tree]) -> None:
    """What ends here does not go on; the label is a real one (RFC 4875, 5.2.2, 6.2)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [(t.dut, [t.west.ends.peer])]))
    assert t.told_to_go_on() == {} and t.copies() == {}
    t.up(t.west, t.root.path(t.west, [(t.dut, [t.west.ends.peer]), t.to("east")]))
    assert t.leaf["east"].leaves() == {t.leaf["east"].address}
    assert t.copies() == out("east")


def test_lsps_of_a_tunnel_have_labels_of_their_own(build: Callable[..., Tree]) -> None:
    """Another LSP id is another LSP (RFC 4875, 6.1, 6.4)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [t.to("east")]))
    other = Root(t.root.router_id, [t.west], lsp_id=2)
    other.signal(t.west, other.path(t.west, [t.to("south")]))
    t.bench.until(lambda: t.leaf["south"].address in other.reserved())
    assert other.reserved()[t.leaf["south"].address].label != t.root.reserved()[t.leaf["east"].address].label


def test_what_is_not_refreshed_goes_alone(build: Callable[..., Tree]) -> None:
    """Soft state by sub-group (RFC 4875, 10; RFC 2205, 3.7)."""
    t = build(refresh="1 s")
    kept = t.root.path(t.west, [t.to("east")], refresh_ms=1000)
    t.up(t.west, kept)
    t.up(t.west, t.root.path(t.west, [t.to("south")], 2, refresh_ms=1000))
    for _ in range(10):
        t.root.signal(t.west, kept)
        t.bench.run(1.0, 0.02)
    assert not t.leaf["south"].paths and t.leaf["east"].paths
    assert t.copies() == out("east")


def test_reservations_are_confirmed_to_all_that_asked(build: Callable[..., Tree]) -> None:
    """Two that are merged: this router is the receiver, and tells both (RFC 4875, 8.2)."""
    t = build()
    asking = [t.leaf["east"], t.leaf["south"]]
    for leaf in asking:
        leaf.asks_confirmation = True
    t.up(t.west, t.root.path(t.west, [t.to("east"), t.to("south"), t.to("north")]))
    t.bench.run(0.05)
    _, last = t.root.resvs[-1]
    assert len(c.leaves_of(last)) == 3
    confirm = last.need(c.ResvConfirm)
    assert confirm.receiver == t.dut
    tail = last.objects[last.objects.index(last.need(c.Style)) :]
    spec = c.ErrorSpec(t.root.router_id, 0)
    objects = [
        t.root.session,
        spec,
        confirm,
        *(o for o in tail if not isinstance(o, c.Label | c.RecordRoute)),
    ]
    send(t.west, c.Message(c.Type.RESV_CONF, objects), confirm.receiver)
    t.bench.run(0.05)
    for leaf in asking:
        (told,) = Bench.came(leaf.side, c.Type.RESV_CONF)
        assert told.need(c.ResvConfirm).receiver == leaf.side.ends.address
        assert told.need(c.TreeFilter) in {sender.filter() for _, sender in leaf.paths}
    assert not Bench.came(t.leaf["north"].side, c.Type.RESV_CONF)


def test_an_error_of_one_leaf_is_told_of_it_alone(build: Callable[..., Tree]) -> None:
    """PathErr goes up under the root's names, and harms nobody else (RFC 4875, 11, 11.1)."""
    t = build()
    beyond, route = t.to("east", BEYOND)
    t.up(t.west, t.root.path(t.west, [t.to("east"), t.to("south"), (beyond, route[1:])]))
    east = t.leaf["east"]
    east.refuse(*east.paths, 24, 5, BEYOND)
    t.bench.until(lambda: t.root.errors)
    assert t.root.told() == [(24, 5, [BEYOND])]
    (error,) = t.root.errors
    assert tree_key(error) == (t.root.session, t.root.sender(1))
    assert error.need(c.ErrorSpec).node == east.side.ends.address
    assert t.copies() == out("east", "south")


def test_an_error_of_the_root_reaches_the_leaf_that_it_names(build: Callable[..., Tree]) -> None:
    """ResvErr goes down under the names that the leaf knows, and to no other (RFC 4875, 11, 11.2)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [t.to("east"), t.to("south")]))
    south = t.leaf["south"]
    spec = c.ErrorSpec(t.west.ends.address, 1, 2)
    flow = c.Flowspec(c.Traffic.of_bits(10 * MBIT))
    named = [c.Style(c.Style.SE), flow, t.root.sender(1).filter(), c.SubLsp(south.address)]
    hop = c.RsvpHop(t.west.ends.address, 0x77)
    send(t.west, c.Message(c.Type.RESV_ERR, [t.root.session, hop, spec, *named]), t.west.ends.peer)
    t.bench.until(lambda: Bench.came(south.side, c.Type.RESV_ERR))
    (told,) = Bench.came(south.side, c.Type.RESV_ERR)
    assert c.leaves_of(told) == [south.address]
    assert told.need(c.TreeFilter) in {sender.filter() for _, sender in south.paths}
    assert (told.need(c.ErrorSpec).code, told.need(c.ErrorSpec).value) == (1, 2)
    assert not Bench.came(t.leaf["east"].side, c.Type.RESV_ERR)


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, and the objects of RFC 4875 among it."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "router.pcapng"
    path.write_bytes(referee.pcapng(sent))
    assert referee.complaints(path) == []
    assert referee.object_classes(path) >= {50, 200, 201}
