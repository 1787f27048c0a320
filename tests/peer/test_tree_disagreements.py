"""What the naive peer has found of trees around a failure: was mended, or is done otherwise still."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from .bench import MBIT, Bench
from .repair_bench import AVAILABLE, IN_USE
from .repairing import send_to
from .test_tree_merge import REPAIRER, grown
from .tree import Route, send, tree_key
from .tree_repair_bench import BEYOND, TreeMerge, TreeRepair
from .tree_repairing import Came, tree_around

ROUTING_PROBLEM = 24
NOWHERE = "192.0.2.99"


def led_around() -> TreeRepair:
    """A tree whose root knows that it is led around a link."""
    r = TreeRepair()
    beyond, route = r.to_east(BEYOND)
    r.up(r.path([r.to_east(), (beyond, route[1:]), r.to("south")]))
    r.fail()
    r.bench.until(lambda: r.flags()[BEYOND] == AVAILABLE | IN_USE)
    r.bench.run(0.05)
    r.bench.forget()
    return r


def test_a_leaf_that_is_not_repaired_goes_though_another_of_its_sub_group_is() -> None:
    """State MUST be removed if it is not refreshed (RFC 4090, 7.2), by leaf (RFC 4875, 15.1.1)."""
    t = TreeMerge(refresh="1 s")
    path, _ = grown(t, 1000)
    t.bench.net.fail(t.bench.links["west", "dut"])
    t.repair(tree_around(path, t.west2, [t.by("east")], (REPAIRER, 1)))
    t.lives(20)
    assert not t.leaf["south"].paths


def test_a_sub_group_around_that_is_not_refreshed_takes_its_leaves_along() -> None:
    """The same, where both had been repaired, and the Path for one of them comes no more (RFC 4090, 7.2)."""
    t = TreeMerge(refresh="1 s")
    path, _ = grown(t, 1000)
    t.bench.net.fail(t.bench.links["west", "dut"])
    stays, goes = (
        tree_around(path, t.west2, [t.by(name)], (REPAIRER, place))
        for place, name in enumerate(("east", "south"))
    )
    t.repair(stays, goes)
    del t.goes_around[tree_key(goes)]
    t.lives(20)
    assert not t.leaf["south"].paths


def test_a_strange_leaf_beside_known_ones_is_refused() -> None:
    """A PathErr MUST be sent for a leaf that can't be had (RFC 4875, 5.2.2), also if others are repaired."""
    t = TreeMerge()
    path, _ = grown(t)
    routes: list[tuple[str, Route]] = [t.by("east"), (NOWHERE, [t.dut, NOWHERE])]
    t.send_around(tree_around(path, t.west2, routes, (REPAIRER, 1)))
    t.bench.run(0.1)
    specs = [(m.need(c.ErrorSpec).code, c.leaves_of(m)) for m in Bench.came(t.west2, c.Type.PATH_ERR)]
    assert specs == [(ROUTING_PROBLEM, [NOWHERE])]


def test_a_new_leaf_beside_known_ones_is_signalled_or_refused() -> None:
    """The rest of a Path is processed as any (RFC 4875, 5.2.2): north goes on, or a PathErr says why not."""
    t = TreeMerge()
    path, _ = grown(t)
    t.send_around(tree_around(path, t.west2, [t.by("east"), t.by("north")], (REPAIRER, 1)))
    t.bench.run(0.1)
    assert t.leaf["north"].paths or Bench.came(t.west2, c.Type.PATH_ERR)


def test_another_route_from_here_on_is_not_merged() -> None:
    """Only Paths whose explicit routes from here on are the same can be merged (RFC 4090, 7.1.1)."""
    t = TreeMerge()
    path, _ = grown(t)
    south = t.leaf["south"].address
    t.send_around(tree_around(path, t.west2, [(south, [t.dut, NOWHERE])], (REPAIRER, 1)))
    t.bench.run(0.1)
    assert Bench.came(t.west2, c.Type.PATH_ERR) and not t.answers()


def test_who_repairs_is_asked_to_confirm() -> None:
    """A RESV_CONFIRM MUST be in the Resv for the Path that it answers (RFC 4875, 8.2): here, one around."""
    t = TreeMerge()
    path, _ = grown(t)
    south = t.leaf["south"]
    south.asks_confirmation = True
    t.bench.net.fail(t.bench.links["west", "dut"])
    t.repair(tree_around(path, t.west2, [t.by("south")], (REPAIRER, 1)))
    south.reserve(*south.paths)
    t.bench.run(0.1)
    assert [m for m in Bench.came(t.west2, c.Type.RESV) if m.get(c.ResvConfirm)]


def test_the_root_is_asked_to_confirm_what_is_led_around() -> None:
    """And at who repairs: RESV_CONFIRM goes up, ResvConf comes down through the bypass (RFC 4090, 6.4.3)."""
    r = led_around()
    r.end.asks_confirmation = True
    for came in r.end.around.values():
        r.end.reserve_leaves(came.side, came.message)
    r.bench.run(0.1)
    asked = [m for m in Bench.came(r.west, c.Type.RESV) if m.get(c.ResvConfirm)]
    assert asked
    confirm, tail = asked[-1].need(c.ResvConfirm), asked[-1].objects
    tail = [
        o for o in tail[tail.index(asked[-1].need(c.Style)) :] if not isinstance(o, c.Label | c.RecordRoute)
    ]
    objects = [r.root.session, c.ErrorSpec(r.root.router_id, 0), confirm, *tail]
    send(r.west, c.Message(c.Type.RESV_CONF, objects), confirm.receiver)
    r.bench.run(0.1)
    assert r.end.repairs_of(c.Type.RESV_CONF)


def test_an_error_of_the_root_reaches_the_merge_point() -> None:
    """ResvErr goes on downstream under the names that the merge point knows (RFC 2205, 3.1.8; 4875, 11.2)."""
    r = led_around()
    flow = c.Flowspec(c.Traffic.of_bits(10 * MBIT))
    named = [c.Style(c.Style.SE), flow, r.root.sender(1).filter(), c.SubLsp(BEYOND)]
    spec, hop = c.ErrorSpec(r.west.ends.address, 1, 2), c.RsvpHop(r.west.ends.address, 0x77)
    send(r.west, c.Message(c.Type.RESV_ERR, [r.root.session, hop, spec, *named]), r.west.ends.peer)
    r.bench.run(0.1)
    told = [*r.end.repairs_of(c.Type.RESV_ERR), *Bench.came(r.east2, c.Type.RESV_ERR)]
    assert [c.leaves_of(message) for message in told] == [[BEYOND]]


def test_a_reservation_that_ends_at_the_merge_point_leaves_no_path_behind() -> None:
    """It ends no path state (RFC 2205, 3.1.6): that is refreshed, or a PathTear ends it (RFC 2205, 3.1.5)."""
    r = led_around()
    (came,) = r.end.around.values()
    r.end.take_back(came, *c.leaves_of(came.message))
    r.end.answers_repairs = False
    before = len(r.end.tree_tunnelled)
    # Longer than from one refresh to the next (RFC 2205, 3.7).
    r.bench.run(50.0, 0.1)
    assert len(r.end.tree_tunnelled) > before


def answered(r: TreeRepair, *leaves: str) -> tuple[Came, c.Message]:
    """The one Path around, and a Resv for some leaves of it, or for all of them."""
    (came,) = r.end.around.values()
    return came, r.end.answer(came.side, came.message, leaves or c.leaves_of(came.message))


def say(r: TreeRepair, came: Came, resv: c.Message) -> None:
    """Send a Resv to who repairs, and wait a moment."""
    send_to(came.side, came.message.need(c.RsvpHop).address, resv)
    r.bench.run(0.05)


def refused(r: TreeRepair) -> list[tuple[int, int]]:
    """Code and value of each ResvErr that came to the merge point, through the bypass or not."""
    came = [*r.end.repairs_of(c.Type.RESV_ERR), *Bench.came(r.east2, c.Type.RESV_ERR)]
    return [(spec.code, spec.value) for message in came for spec in message.all(c.ErrorSpec)]


def test_a_leaf_that_is_reserved_again_around_is_had_again() -> None:
    """A Resv without it removes a leaf (RFC 4875, 7.2.1); one with it brings it back, as along a link."""
    r = led_around()
    for leaves in ([r.end.router_id], []):
        say(r, *answered(r, *leaves))
    assert r.reserved_now() == {r.end.router_id, BEYOND, r.leaf["south"].address}


@pytest.mark.parametrize("label", [pytest.param(5, id="reserved"), pytest.param(1 << 20, id="too-great")])
def test_a_label_around_that_is_none_is_refused(label: int) -> None:
    """ResvErr 24/6, as along a link (RFC 3209, 4.1.1.2; RFC 3032, 2.1), and nothing is sent with it."""
    r = led_around()
    came, resv = answered(r)
    say(r, came, resv.swapped(c.Label(label)))
    assert (ROUTING_PROBLEM, 6) in refused(r) and r.sends() == r.around


def test_a_reservation_around_for_no_sender_is_refused() -> None:
    """ResvErr 4, as along a link: there is path state for the session, and not for that (RFC 2205, B)."""
    r = led_around()
    came, resv = answered(r)
    say(r, came, resv.swapped(replace(resv.need(c.TreeFilter), lsp_id=77)))
    assert (4, 0) in refused(r)


def test_an_error_of_who_repairs_reaches_the_leaf() -> None:
    """ResvErr for a Resv around goes on under the names that the leaf knows (RFC 2205, 3.1.8; 4875, 11.2)."""
    t = TreeMerge()
    path, _ = grown(t)
    around = tree_around(path, t.west2, [t.by("south")], (REPAIRER, 1))
    t.repair(around)
    spec, hop = c.ErrorSpec(t.west2.ends.address, 1, 2), c.RsvpHop(t.west2.ends.address, 0x78)
    flow = c.Flowspec(around.need(c.SenderTspec).traffic)
    named = [c.Style(c.Style.SE), flow, tree_key(around)[1].filter(), *around.all(c.SubLsp)]
    send(t.west2, c.Message(c.Type.RESV_ERR, [t.root.session, hop, spec, *named]), t.dut)
    t.bench.run(0.1)
    assert Bench.came(t.leaf["south"].side, c.Type.RESV_ERR)
