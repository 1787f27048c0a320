"""A Twinplane router among naive routers of one point-to-multipoint LSP.

```text
west  ---- dut ---- east, south, north      west2 is another port of the root, west; the others are leaves
west2 ----/
```
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import twinplane

from . import codec as c
from . import referee, wide_bench
from .bench import Bench
from .codec.ip import PROTOCOL_UDP
from .codec.link import LABEL_FIRST_UNRESERVED
from .neighbour import Neighbour
from .tree import Leaf, Root
from .wide_bench import WideBench

BEYOND = "192.0.2.31"
"""A leaf behind east."""

LABELS = {"east": 2001, "south": 2002, "north": 2003}


class Tree:
    """The network of this page."""

    def __init__(self, **dut_has: Any) -> None:
        links = [("west", "dut"), ("west2", "dut"), *(("dut", name) for name in LABELS)]
        self.bench: WideBench = wide_bench.build(twinplane, {"dut": dut_has}, links, {"west2": "west"})
        self.west, self.west2 = (self.bench.sides[name] for name in ("west", "west2"))
        self.root = Root(self.west.ends.router_id, [self.west, self.west2])
        self.leaf = {name: Leaf(self.bench.sides[name], label) for name, label in LABELS.items()}
        self.dut = str(self.bench.routers["dut"].loopback)

    def to(self, name: str, *beyond: str, by: Neighbour | None = None) -> tuple[str, list[str]]:
        """A leaf with its whole route: through the router to this neighbour, and further."""
        leaf = self.leaf[name]
        route = [(by or self.west).ends.peer, leaf.side.ends.address, *beyond]
        return (beyond[-1] if beyond else leaf.address), route

    def up(self, side: Neighbour, path: c.Message) -> None:
        """Signal a sub-group, and wait until all of its leaves are reserved."""
        self.root.signal(side, path)
        wanted = set(c.leaves_of(path))
        self.bench.until(lambda: wanted <= set(self.root.reserved(side)))

    def label(self, side: Neighbour | None = None) -> int:
        """The one label of the LSP at a side."""
        (label,) = {item.label for item in self.root.reserved(side or self.west).values()}
        assert label is not None and label >= LABEL_FIRST_UNRESERVED
        return label

    def copies(self, side: Neighbour | None = None, label: int | None = None) -> dict[str, list[int]]:
        """Where one packet of the LSP comes out, with which labels."""
        for leaf in self.leaf.values():
            leaf.side.labelled.clear()
        source, to = self.root.router_id, "239.1.1.1"
        packet = c.Ipv4(source, to, PROTOCOL_UDP, c.Udp(5000, 5001, bytes(40)).encode(source, to))
        side = side or self.west
        side.send_labelled([c.LabelEntry(label or self.label(side), 20)], packet.encode())
        self.bench.run(0.01)
        came = {name: leaf.came() for name, leaf in self.leaf.items() if leaf.came()}
        assert all(item.stack[0].ttl == 19 for items in came.values() for item in items)
        return {name: [item.stack[0].label for item in items] for name, items in came.items()}

    def told_to_go_on(self) -> dict[str, int]:
        """How many Paths and PathTears each leaf has got."""
        kinds = (c.Type.PATH, c.Type.PATH_TEAR)
        found = {name: sum(len(Bench.came(leaf.side, k)) for k in kinds) for name, leaf in self.leaf.items()}
        return {name: count for name, count in found.items() if count}


def out(*names: str) -> dict[str, list[int]]:
    """One copy to each of these."""
    return {name: [LABELS[name]] for name in names}


def addresses(hops: tuple[Any, ...] | None) -> list[str]:
    return [hop.address for hop in hops or () if isinstance(hop, c.Ipv4Hop)]


@contextlib.contextmanager
def builder(name: str, sent: list[referee.Frame]) -> Iterator[Callable[..., Tree]]:
    """Builds networks for a test; afterwards nothing may be left in them, and `sent` has all frames."""
    made: list[Tree] = []

    def build(**dut_has: Any) -> Tree:
        made.append(Tree(**dut_has))
        return made[-1]

    yield build
    for tree in made:
        tree.bench.assert_clean()
        for port in tree.bench.ports.values():
            sent.extend(referee.Frame(name, port.peer.name, *frame) for frame in port.received)
