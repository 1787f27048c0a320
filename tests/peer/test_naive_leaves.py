"""A Twinplane router as root of a point-to-multipoint LSP with naive leaves (RFC 4875)."""

from __future__ import annotations

from typing import Any

import pytest

from . import codec as c
from . import wide_bench
from .bench import Bench
from .codec.ip import PROTOCOL_UDP
from .tree import Leaf, tree_key

tp: Any = pytest.importorskip("twinplane")

LABELS = {"east": 2001, "south": 2002, "north": 2003}
BEHIND = "198.51.100.0/24"


class Rooted:
    """A root with a source, west, and three leaves."""

    def __init__(self, **root_has: Any) -> None:
        links = [("west", "root"), *(("root", name) for name in LABELS)]
        self.bench = wide_bench.build(tp, {"root": root_has}, links)
        self.leaf = {name: Leaf(self.bench.sides[name], label) for name, label in LABELS.items()}
        self.west = self.bench.sides["west"]
        self.root = self.bench.routers["root"]
        self.id = str(self.root.loopback)

    def copies(self) -> dict[str, list[int]]:
        """One packet from the source: the labels with which it comes to leaves."""
        for leaf in self.leaf.values():
            leaf.side.labelled.clear()
        source, to = self.west.ends.router_id, "198.51.100.9"
        udp = c.Udp(5000, 5001, bytes(40)).encode(source, to)
        self.west.send_ip(c.Ipv4(source, to, PROTOCOL_UDP, udp, 20))
        self.bench.run(0.01)
        return {
            n: [item.stack[0].label for item in leaf.came()] for n, leaf in self.leaf.items() if leaf.came()
        }


@pytest.mark.parametrize("signalling", ["together", "separate"])
def test_naive_leaves_are_had_grafted_and_pruned(signalling: str) -> None:
    """Each gets its Path and its packets; who stays is not signalled again (RFC 4875, 5.2.1, 7.2.2, 10.1)."""
    r = Rooted()
    tree = r.root.p2mp(
        "tree", ["east", "south"], carries=BEHIND, bandwidth="10 Mbit/s", signalling=signalling
    )
    r.bench.until(lambda: tree.up)
    assert r.copies() == {name: [LABELS[name]] for name in ("east", "south")}
    for name in ("east", "south"):
        leaf = r.leaf[name]
        ((key, path),) = leaf.paths.items()
        assert c.leaves_of(path) == [leaf.address]
        session, sender = key
        assert sender.originator == r.id and sender.address == r.id
        assert session.extended_tunnel_id in (r.id, "0.0.0.0")
        assert path.need(c.SenderTspec).traffic.rate == 10e6 / 8
        assert path.get(c.RecordRoute) is not None and path.get(c.SecondaryRoute) is None
    senders = {sender.group for leaf in r.leaf.values() for _, sender in leaf.paths}
    assert len(senders) == (2 if signalling == "separate" else len(senders))

    r.bench.forget()
    tree.graft("north")
    r.bench.until(lambda: tree.up)
    north = r.leaf["north"]
    ((key, _),) = north.paths.items()
    assert key[1].group not in senders and key[1].originator == r.id
    assert not Bench.came(r.leaf["east"].side, c.Type.PATH)
    assert r.copies() == {name: [label] for name, label in LABELS.items()}

    tree.prune("north")
    r.bench.until(lambda: not north.paths)
    (torn,) = Bench.came(north.side, c.Type.PATH_TEAR)
    assert tree_key(torn) == key
    assert r.copies() == {name: [LABELS[name]] for name in ("east", "south")}
    r.bench.assert_sound()


def test_a_leaf_that_refuses_harms_no_other() -> None:
    """Its error changes its own state, and it is asked again (RFC 4875, 11)."""
    r = Rooted()
    east, south = r.leaf["east"], r.leaf["south"]
    south.answers = False
    tree = r.root.p2mp("tree", ["east", "south"], carries=BEHIND, retry_first="100 ms", retry_max="200 ms")
    r.bench.until(lambda: east.paths and south.paths)
    south.refuse(*south.paths, 24, 9, south.address)
    r.bench.run(0.05)
    assert r.copies() == {"east": [LABELS["east"]]} and not tree.up
    south.answers = True
    r.bench.until(lambda: tree.up, 5.0)
    assert r.copies() == {name: [LABELS[name]] for name in ("east", "south")}
    r.bench.assert_sound()
