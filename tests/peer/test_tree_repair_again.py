"""A Twinplane router repairs a tree twice, or two of them, or is told what is not so (RFC 4875, 15.1)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from .bench import Bench
from .codec.ip import PROTOCOL_RSVP
from .repair_bench import AVAILABLE, IN_USE
from .repairing import send_to
from .test_mutations import changed, too_long_lived
from .test_tree_repair import SOUTH, failed, grown
from .tree import Root
from .tree_repair_bench import FURTHER, LABELS, TreeRepair, datagram, stacks
from .tree_repairing import Came

ROUTING_PROBLEM = 24
NOWHERE = "192.0.2.99"
CHANGES = 150


@pytest.fixture
def build() -> Iterator[Any]:
    made: list[TreeRepair] = []

    def build(**has: Any) -> TreeRepair:
        made.append(TreeRepair(**has))
        return made[-1]

    yield build
    for repair in made:
        repair.assert_nothing_stays()


def test_a_link_that_comes_and_goes(build: Any) -> None:
    """Each failure is one more repair, and no packet takes a way that is not there (RFC 4090, 6.5.2)."""
    r: TreeRepair = build(reversion="1 s", refresh="1 s")
    paths = grown(r, refresh_ms=1000)
    failed(r)
    for _ in range(3):
        r.bench.net.repair(r.failing)
        r.lives(paths, 1)
        assert r.sends() in (r.around, {"east": [[LABELS["east"]]], **SOUTH})
        r.fail()
        assert r.sends() == r.around
    r.bench.net.repair(r.failing)
    r.lives(paths, 10)
    assert r.sends() == {"east": [[LABELS["east"]]], **SOUTH} and not r.end.around
    r.fail()
    r.lives(paths, 8)
    assert r.sends() == r.around and r.end.leaves_around() == sorted(r.behind)


def test_a_second_failure_is_the_roots(build: Any) -> None:
    """The bypass goes, too: an error for each leaf that it led around, no harm to others (RFC 4875, 11)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    r.root.errors.clear()
    r.bench.net.fail("plr", "mid")
    r.bench.until(lambda: len(r.root.errors) == 2)
    assert {code for code, _, _ in r.root.told()} == {ROUTING_PROBLEM}
    assert sorted(leaf for _, _, leaves in r.root.told() for leaf in leaves) == sorted(r.behind)
    assert r.sends() == SOUTH
    # No way is left for a PathTear.
    r.end.around.clear()


def test_a_leaf_in_two_sub_groups_is_led_around_once(build: Any) -> None:
    """Each of them goes around, one packet does, and it stays as long as one names it (RFC 4875, 10.2)."""
    r: TreeRepair = build()
    first, second = r.path([r.to_east(), r.to("south")]), r.path([r.to_east()], 2)
    r.up(first, second)
    r.fail()
    r.bench.until(lambda: r.end.leaves_around() == [r.end.router_id] * 2)
    assert r.sends() == r.around
    r.tear(second)
    r.bench.until(lambda: r.end.leaves_around() == [r.end.router_id])
    assert r.sends() == r.around


def test_two_lsps_share_a_bypass_and_no_label(build: Any) -> None:
    """Their Paths have one session and different LSP ids around, too (RFC 4875, 6.1, 15.1.1)."""
    r: TreeRepair = build()
    r.up(r.path([r.to_east(), r.to("south")]))
    other = Root(r.root.router_id, [r.west], lsp_id=2)
    asks = r.path([r.to_east()]).need(c.SessionAttribute).flags
    path = other.path(r.west, [r.to_east()], asks=asks)
    other.signal(r.west, path)
    r.bench.until(lambda: any(item.filter.lsp_id == 2 for item in other.reserved().values()))
    r.bench.run(0.5)
    r.fail()
    r.bench.until(lambda: len(r.end.around) == 2)
    assert {sender.lsp_id for _, sender in r.end.around} == {1, 2} and len(r.end.egress_labels) == 1
    for lsp_id, given in ((1, LABELS["east"]), (2, LABELS["east"] + 1)):
        r.east2.labelled.clear()
        r.west.send_labelled([c.LabelEntry(r.label_of(lsp_id), 20)], datagram(r.root))
        r.bench.run(0.01)
        assert stacks(r.east2) == [[r.tunnel, given]]
    other.tear(r.west, path)
    r.bench.until(lambda: len(r.end.around) == 1)


def test_one_resv_answers_two_sub_groups_around(build: Any) -> None:
    """Flow descriptors of both Paths in one Resv, with another label (RFC 4875, 6.2)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    r.end.answers_repairs, r.end.tree_label = False, 2345
    first, second = r.end.around.values()
    resv = r.end.answer(first.side, first.message, c.leaves_of(first.message))
    more = r.end.answer(second.side, second.message, c.leaves_of(second.message))
    tail = more.objects[more.objects.index(more.need(c.TreeFilter)) :]
    send_to(first.side, first.message.need(c.RsvpHop).address, resv.adding(*tail))
    r.bench.run(0.05)
    assert r.sends() == {"east2": [[r.tunnel, 2345]], **SOUTH}
    assert {r.flags()[leaf] for leaf in r.behind} == {AVAILABLE | IN_USE}


def about_something_else(r: TreeRepair, came: Came, kind: int, what: str) -> c.Message:
    """A Resv or ResvTear of the merge point with another leaf, sub-group, LSP id, session or sender."""
    leaf = {"leaf": NOWHERE, "leaf-elsewhere": r.leaf["south"].address}.get(what, FURTHER)
    lie = r.end.answer(came.side, came.message, [leaf])
    if what == "session":
        lie = lie.swapped(replace(r.root.session, tunnel_id=99))
    elif what == "root":
        lie = lie.swapped(r.root.sender(2).filter())
    elif what in ("sub_group", "lsp_id"):
        lie = lie.swapped(replace(lie.need(c.TreeFilter), **{what: 77}))
    if kind == c.Type.RESV_TEAR:
        return replace(lie.without(c.TimeValues, c.Flowspec, c.Label, c.RecordRoute), kind=kind)
    # Beside a leaf that is in the Path the label is a good one.
    return lie.adding(c.SubLsp(FURTHER)) if what.startswith("leaf") else lie.swapped(c.Label(2999))


@pytest.mark.parametrize("kind", [c.Type.RESV, c.Type.RESV_TEAR])
def test_answers_about_something_else_change_nothing(build: Any, kind: int) -> None:
    """Strange leaves, sub-groups, LSPs and sessions in what the merge point says (RFC 2205, 3.1.4, 3.1.6)."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    r.root.errors.clear()
    (came,) = [came for came in r.end.around.values() if FURTHER in c.leaves_of(came.message)]
    for what in ("leaf", "leaf-elsewhere", "sub_group", "lsp_id", "session", "root"):
        lie = about_something_else(r, came, kind, what)
        send_to(came.side, came.message.need(c.RsvpHop).address, lie)
        r.bench.run(0.05)
        assert r.sends() == r.around and r.reserved_now() == {*r.behind, r.leaf["south"].address}, what
        assert not Bench.came(r.west, c.Type.RESV_TEAR) and not r.root.errors, what


def test_changed_bytes_to_who_repairs_harm_no_other_branch(build: Any) -> None:
    """Resvs, ResvTears and PathErrs with bytes changed: south has each packet once, and nothing is left."""
    r: TreeRepair = build()
    grown(r)
    failed(r)
    (came, *_) = r.end.around.values()
    resv = r.end.answer(came.side, came.message, c.leaves_of(came.message))
    tear = replace(resv.without(c.TimeValues, c.Flowspec, c.Label, c.RecordRoute), kind=c.Type.RESV_TEAR)
    spec = c.ErrorSpec(r.east2.ends.address, ROUTING_PROBLEM, 5)
    told = [r.root.session, spec, came.message.need(c.TreeSender), came.message.need(c.SenderTspec)]
    error = c.Message(c.Type.PATH_ERR, [*told, c.SubLsp(FURTHER)])
    chance = random.Random(4090)
    to = came.message.need(c.RsvpHop).address
    for place in range(CHANGES):
        data = changed((resv, resv, tear, error)[place % 4].encode(), chance)
        if not too_long_lived(data):
            r.east2.send_bytes(c.Ipv4(r.east2.ends.address, to, PROTOCOL_RSVP, b"", 255), data)
        r.bench.run(0.004)
        if place % 10 == 9:
            assert r.sends()["south"] == SOUTH["south"], place
            assert len(r.sends().get("east2", [])) <= 1, place
    for path in list(r.signalled.values()):
        r.tear(path)
    r.bench.run(0.05)
