"""Paths and PathTears out of a bypass that are about nothing, or about something else (RFC 4875, 15.1).

Whatever comes, leaves have each packet once, what was there before stays, and nothing is left in the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from .bench import MBIT, Bench
from .codec.ip import PROTOCOL_RSVP
from .test_mutations import changed, too_long_lived
from .test_tree_merge import REPAIRER, grown
from .tree import Route
from .tree_bench import BEYOND, out
from .tree_repair_bench import TreeMerge
from .tree_repairing import tree_around, tree_tear

NOWHERE = "192.0.2.99"
CHANGES = 150
BOTH = out("east", "south")


@pytest.fixture
def build() -> Iterator[Callable[..., TreeMerge]]:
    made: list[TreeMerge] = []

    def build(**has: object) -> TreeMerge:
        made.append(TreeMerge(**has))
        return made[-1]

    yield build
    for merge in made:
        merge.bench.assert_clean()


def assert_unharmed(t: TreeMerge) -> None:
    """Both leaves have a packet once, whichever way it comes, and the root hears of no error."""
    assert t.copies() == BOTH and t.copies_around() == BOTH
    assert not Bench.came(t.west, c.Type.PATH_ERR) and not Bench.came(t.west, c.Type.RESV_TEAR)


def refused(t: TreeMerge) -> list[tuple[int, list[str]]]:
    """Code and leaves of each PathErr to the repairing router; all come straight to it."""
    found = Bench.arrivals(t.west2, c.Type.PATH_ERR)
    assert {item.packet.destination for item in found} <= {t.west2.ends.address}
    return [(item.message.need(c.ErrorSpec).code, c.leaves_of(item.message)) for item in found]


def swapped_sender(path: c.Message, **said: object) -> c.Message:
    return path.swapped(replace(path.need(c.TreeSender), **said))  # type: ignore[arg-type]


def test_leaves_that_can_not_be_had_harm_no_other(build: Callable[..., TreeMerge]) -> None:
    """Those that are known are answered; whether others are refused: test_tree_disagreements.py."""
    t = build()
    path, _ = grown(t)
    t.bench.forget()
    routes: list[tuple[str, Route]] = [t.by("east"), (NOWHERE, [t.dut, NOWHERE]), t.by("south")]
    t.send_around(tree_around(path, t.west2, routes, (REPAIRER, 1)))
    t.bench.run(0.1)
    assert {item.leaf for item in t.answers()} == {t.leaf["east"].address, t.leaf["south"].address}
    assert {leaf for _, leaves in refused(t) for leaf in leaves} <= {NOWHERE}
    assert t.told_to_go_on() == {}
    assert_unharmed(t)


@pytest.mark.parametrize("alone", [True, False])
def test_a_leaf_that_the_tree_has_not(build: Callable[..., TreeMerge], alone: bool) -> None:
    """Signalled as any leaf is, or not at all: those of the tree stay as they are, and it goes again."""
    t = build()
    path, _ = grown(t)
    t.bench.forget()
    lie = tree_around(path, t.west2, [*([] if alone else [t.by("east")]), t.by("north")], (REPAIRER, 1))
    t.send_around(lie)
    t.bench.run(0.1)
    north = t.leaf["north"]
    if alone:
        # No LSP of that LSP id has it, and so it is one of its own (RFC 4875, 6.1).
        assert refused(t) or t.copies_around(t.around_label()) == out("north")
    assert_unharmed(t)
    assert set(t.told_to_go_on()) <= {"north"}
    t.end_repair(lie)
    assert not north.paths
    assert_unharmed(t)


def test_a_leaf_that_can_not_be_had_is_refused(build: Callable[..., TreeMerge]) -> None:
    """Alone in a Path, by a PathErr straight to who repairs (RFC 4875, 5.2.2; RFC 4090, 6.4.3)."""
    t = build()
    path, _ = grown(t)
    t.send_around(tree_around(path, t.west2, [(NOWHERE, [t.dut, NOWHERE])], (REPAIRER, 1)))
    t.bench.until(lambda: refused(t))
    assert refused(t) == [(24, [NOWHERE])]
    assert_unharmed(t)


@pytest.mark.parametrize("what", ["lsp-id", "session"])
def test_another_lsp_is_another_one(build: Callable[..., TreeMerge], what: str) -> None:
    """Known leaves under another LSP id or session: a label of its own, or an error (RFC 4875, 6.1)."""
    t = build()
    path, _ = grown(t)
    t.bench.forget()
    lie = tree_around(path, t.west2, [t.by("east"), t.by("south")], (REPAIRER, 1))
    if what == "lsp-id":
        lie = swapped_sender(lie, lsp_id=77)
    else:
        lie = lie.swapped(replace(lie.need(c.TreeSession), p2mp_id=0x09090909))
    t.send_around(lie)
    t.bench.run(0.1)
    assert t.answers() or refused(t)
    assert not {item.label for item in t.answers()} & {t.label(t.west)}
    assert_unharmed(t)
    t.end_repair(lie)
    assert_unharmed(t)
    for name in ("east", "south"):
        assert {key[0] for key in t.leaf[name].paths} == {t.root.session}
        assert {key[1].lsp_id for key in t.leaf[name].paths} == {t.root.lsp_id}


def test_a_repair_of_what_never_was(build: Callable[..., TreeMerge]) -> None:
    """No LSP is there at all: an LSP as any, or an error, and no state for long."""
    t = build()
    path = t.root.path(t.west, [t.to("east"), t.to("south")])
    lie = tree_around(path, t.west2, [t.by("east"), t.by("south")], (REPAIRER, 1))
    t.send_around(lie)
    t.bench.run(0.1)
    assert t.answers() or refused(t)
    if t.answers():
        assert t.copies_around(t.around_label()) == BOTH
    t.end_repair(lie)
    assert not t.leaf["east"].paths and not t.leaf["south"].paths


def test_a_leaf_that_is_named_twice_has_packets_once(build: Callable[..., TreeMerge]) -> None:
    """Twice in a Path, and in two of them; one PathTear does not take it from the other (RFC 4875, 7.2.2)."""
    t = build()
    paths = grown(t)
    by = [t.by("east"), t.by("south"), t.by("east", BEYOND), t.by("south")]
    lies = [tree_around(paths[0], t.west2, by, (REPAIRER, group)) for group in (1, 2)]
    for lie in lies:
        t.send_around(lie)
    t.bench.run(0.1)
    assert_unharmed(t)
    for path in paths:
        t.root.tear(t.west, path)
    t.end_repair(lies[0])
    # If a list that names a leaf twice is no list, nothing was repaired.
    assert t.copies_around(t.around_label() if t.answers() else t.bypass) in (BOTH, {})
    t.end_repair(lies[1])
    assert not t.leaf["east"].paths and not t.leaf["south"].paths


@pytest.mark.parametrize("who", ["group", "lsp-id", "session", "sender"])
def test_a_tear_of_what_is_not_there_tears_nothing(build: Callable[..., TreeMerge], who: str) -> None:
    """A PathTear needs the session and the sender of a Path (RFC 2205, 3.1.5; RFC 4875, 7.2.2)."""
    t = build()
    path, _ = grown(t)
    around = tree_around(path, t.west2, [t.by("east"), t.by("south"), t.by("east", BEYOND)], (REPAIRER, 1))
    t.repair(around)
    t.bench.forget()
    lie = {
        "group": swapped_sender(around, sub_group=9),
        "lsp-id": swapped_sender(around, lsp_id=9),
        "session": around.swapped(replace(t.root.session, tunnel_id=9)),
        "sender": swapped_sender(around, address=NOWHERE),
    }[who]
    t.send_around(tree_tear(lie), t.leaf["east"].address)
    t.bench.run(0.05)
    assert t.told_to_go_on() == {}
    assert_unharmed(t)
    # What was repaired is still there by itself.
    t.bench.net.fail(t.bench.links["west", "dut"])
    t.lives(2)
    assert t.copies_around() == BOTH


def test_a_tear_out_of_a_bypass_leaves_the_old_way_alone(build: Callable[..., TreeMerge]) -> None:
    """A PathTear is about the previous hop of its Path, too (RFC 2205, 3.1.5): that came by the link."""
    t = build()
    path, second = grown(t)
    t.repair(tree_around(path, t.west2, [t.by("south")], (REPAIRER, 1)))
    t.bench.forget()
    for old in (path, second):
        lie = tree_tear(old).swapped(c.RsvpHop(t.west2.ends.address, 0x78))
        t.send_around(lie, t.leaf["east"].address)
    t.bench.run(0.05)
    assert t.told_to_go_on() == {}
    assert_unharmed(t)


def test_the_roots_own_path_may_come_around(build: Callable[..., TreeMerge]) -> None:
    """Its sender and names by another hop: leaves are rerouted, and have nothing twice (RFC 4875, 18.1)."""
    t = build()
    path, _ = grown(t)
    lie = tree_around(path, t.west2, [t.by("east"), t.by("south")], (t.root.router_id, 1))
    lie = lie.swapped(t.root.sender(1))
    t.send_around(lie)
    t.bench.run(0.1)
    assert_unharmed(t)
    t.end_repair(lie)
    assert_unharmed(t)


@pytest.mark.parametrize("hop", ["merge-point", "nobody", "group", "nowhere", "root"])
def test_answers_go_to_nobody_else(build: Callable[..., TreeMerge], hop: str) -> None:
    """An RSVP_HOP that can't be answered harms nothing (RFC 4090, 6.4.3; RFC 2205, 3.1.4)."""
    t = build()
    path, _ = grown(t)
    address = {
        "merge-point": t.dut,
        "nobody": "0.0.0.0",
        "group": "224.0.0.1",
        "nowhere": NOWHERE,
        "root": t.west.ends.address,
    }[hop]
    t.bench.forget()
    lie = tree_around(path, t.west2, [t.by("east"), t.by("south")], (REPAIRER, 1))
    lie = lie.swapped(c.RsvpHop(address, 0x79))
    t.send_around(lie)
    t.bench.run(0.1)
    assert t.told_to_go_on() == {}
    for leaf in t.leaf.values():
        assert not Bench.came(leaf.side, c.Type.RESV)
    t.send_around(tree_tear(lie), t.leaf["east"].address)
    t.bench.run(0.05)
    assert_unharmed(t)


@pytest.mark.parametrize("what", ["bandwidth", "priorities", "no-leaf", "merge-point-as-sender", "style"])
def test_a_repair_that_is_not_like_its_tree(build: Callable[..., TreeMerge], what: str) -> None:
    """Answered, refused or dropped; the tree is as it was (RFC 4875, 5.2.1, 15)."""
    t = build()
    path, _ = grown(t)
    t.bench.forget()
    lie = tree_around(path, t.west2, [t.by("east"), t.by("south")], (REPAIRER, 1))
    asked = lie.need(c.SessionAttribute)
    lie = {
        "bandwidth": lie.swapped(c.SenderTspec(c.Traffic.of_bits(900 * MBIT))),
        "priorities": lie.swapped(replace(asked, setup_priority=0, holding_priority=0)),
        "no-leaf": lie.without(c.SubLsp, c.SecondaryRoute),
        "merge-point-as-sender": swapped_sender(lie, address=t.dut),
        "style": lie.swapped(replace(asked, flags=0)),
    }[what]
    t.send_around(lie, t.leaf["east"].address)
    t.bench.run(0.1)
    assert what == "no-leaf" or t.answers() or refused(t)
    assert_unharmed(t)
    t.send_around(tree_tear(lie), t.leaf["east"].address)
    t.bench.run(0.05)
    assert_unharmed(t)


def test_changed_bytes_out_of_a_bypass_harm_nobody(build: Callable[..., TreeMerge]) -> None:
    """Bytes of Paths and PathTears changed, checksums right: leaves have each packet once all the time."""
    t = build()
    path, _ = grown(t)
    chance = random.Random(4875)
    around = tree_around(path, t.west2, [t.by("east"), t.by("south"), t.by("east", BEYOND)], (REPAIRER, 1))
    for place in range(CHANGES):
        data = changed((around if place % 3 else tree_tear(around)).encode(), chance)
        if too_long_lived(data):
            continue
        packet = c.Ipv4(
            t.west2.ends.address, BEYOND, PROTOCOL_RSVP, data, 63, tos=0xC0, options=c.ROUTER_ALERT
        )
        t.west2.send_labelled([c.LabelEntry(t.bypass)], packet.encode())
        t.bench.run(0.004)
        if place % 10 == 9:
            assert t.copies() == BOTH, place
            t.bench.assert_sound()
