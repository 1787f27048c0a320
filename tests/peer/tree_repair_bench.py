"""Twinplane routers of a protected tree among naive ones: a point of local repair, and a merge point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import twinplane

from . import codec as c
from . import wide_bench
from .codec.ip import PROTOCOL_UDP
from .neighbour import Neighbour
from .repair_bench import AVAILABLE
from .repairing import ASKS, protected_path
from .tree import Key, Leaf, Root, tree_key
from .tree_bench import Tree
from .tree_repairing import TreeMergePoint, TunnelHead, send_around, tree_tear
from .wide_bench import WideBench

# Leaves behind east, out of sight.
BEYOND, FURTHER = "192.0.2.31", "192.0.2.32"
GROUP = "239.1.1.1"
LABELS = {"east": 2001, "south": 2002, "north": 2003}


def datagram(root: Root) -> bytes:
    """A packet that the root sends to its group."""
    udp = c.Udp(5000, 5001, bytes(40)).encode(root.router_id, GROUP)
    return c.Ipv4(root.router_id, GROUP, PROTOCOL_UDP, udp).encode()


def stacks(side: Neighbour) -> list[list[int]]:
    """The labels of packets that came to a port; without messages of RSVP."""
    return [
        [entry.label for entry in item.stack]
        for item in side.labelled
        if c.Ipv4.decode(item.payload).protocol == PROTOCOL_UDP
    ]


class TreeRepair:
    r"""A point of local repair of a tree; `over` is what is between it and east.

    ```text
    west ---- plr ---- east         or  west ---- plr ---- next ---- east, with north at next
              |  \      /
            south  mid              a way around by another port of east; south is no part of what fails
    ```

    All but plr, mid and next are naive; east speaks just enough OSPF to be found.
    """

    def __init__(self, over: str | None = None, **plr_has: Any) -> None:
        between = {over: {}} if over else {}
        routers = {"plr": {"protection": "facility", **plr_has}, "mid": {}, **between}
        links = [("west", "plr"), ("plr", "mid"), ("mid", "east2"), ("plr", "south")]
        links += [("plr", over), (over, "east"), (over, "north")] if over else [("plr", "east")]
        self.bench: WideBench = wide_bench.build(
            twinplane, routers, links, {"east2": "east"}, area=0, te=True, hello_interval=1
        )
        sides = self.bench.sides
        self.west, self.east, self.east2 = (sides[name] for name in ("west", "east", "east2"))
        self.root = Root(self.west.ends.router_id, [self.west])
        self.end = TreeMergePoint(
            self.east.ends.router_id, [self.east, self.east2], tree_label=LABELS["east"]
        )
        self.leaf = {name: Leaf(sides[name], LABELS[name]) for name in ("south", "north") if name in sides}
        self.bench.pumps.append(self.end.pump)
        self.bench.routed(self.bench.te_link("east", 10), self.bench.te_link("east2", 10))
        self.signalled: dict[Key, c.Message] = {}
        first = self.bench.links[("plr", over or "east")]
        self.failing = over or first
        # The address by which the point of local repair records itself, and that of the next router.
        self.plr = self.west.ends.peer
        self.next = str(first.address(over or "east"))

    def to_east(self, *beyond: str) -> tuple[str, list[str]]:
        """A leaf that is east or is beyond it, with its whole route."""
        hops = [self.plr, self.next]
        if self.next != self.east.ends.address:
            hops.append(self.east.ends.address)
        return (beyond[-1] if beyond else self.end.router_id), [*hops, *beyond]

    def to(self, name: str) -> tuple[str, list[str]]:
        """South by the point of local repair, north by the router behind it."""
        leaf = self.leaf[name]
        between = [self.next] if name == "north" else []
        return leaf.address, [self.plr, *between, leaf.side.ends.address]

    def path(self, leaves: list[tuple[str, list[str]]], group: int = 1, **said: Any) -> c.Message:
        return self.root.path(self.west, leaves, group, **{"asks": ASKS, **said})

    def signal(self, *paths: c.Message) -> None:
        for path in paths:
            self.signalled[tree_key(path)] = path
            self.root.signal(self.west, path)

    def tear(self, path: c.Message) -> None:
        self.signalled.pop(tree_key(path), None)
        self.root.tear(self.west, path)

    def up(self, *paths: c.Message, flags: dict[str, int] | None = None) -> None:
        """Signal sub-groups, and wait until leaves are reserved, and protected as `flags` say.

        Without `flags` all leaves but south are to be.
        """
        self.signal(*paths)
        wanted = {leaf for path in paths for leaf in c.leaves_of(path)}
        self.bench.until(lambda: wanted <= set(self.root.reserved()))
        south = self.leaf["south"].address
        expected = flags or {leaf: AVAILABLE for leaf in wanted if leaf != south}
        self.bench.until(lambda: {leaf: self.flags().get(leaf) for leaf in expected} == expected, 5.0, 0.02)

    def flags(self) -> dict[str, int]:
        """What the point of local repair says of each leaf in its recorded route, as of the last Resv."""
        found = {}
        for leaf, item in self.root.reserved().items():
            hop = (item.record or (None,))[0]
            assert isinstance(hop, c.Ipv4Hop) and self.own(hop.address), leaf
            found[leaf] = hop.flags
        return found

    def reserved_now(self) -> set[str]:
        """The leaves that are reserved, as all Resvs and ResvTears say in their order."""
        standing: dict[c.TreeFilter, set[str]] = {}
        for item in self.west.inbox:
            if item.message.kind == c.Type.RESV:
                # RFC 4875, 7.2.1: what a Resv does not name any more is removed.
                named: dict[c.TreeFilter, set[str]] = {f: set() for f in item.message.all(c.TreeFilter)}
                for found in c.reserved_leaves(item.message):
                    named[found.filter].add(found.leaf)
                standing.update(named)
            elif item.message.kind == c.Type.RESV_TEAR:
                leaves = c.leaves_of(item.message)
                for sender in item.message.all(c.TreeFilter):
                    standing[sender] = standing.get(sender, set()) - set(leaves) if leaves else set()
        return {leaf for leaves in standing.values() for leaf in leaves}

    def lives(self, paths: Iterable[c.Message], seconds: int) -> None:
        """Time passes, and the root refreshes these Paths each second."""
        for _ in range(seconds):
            self.signal(*paths)
            self.bench.run(1.0, 0.02)

    @property
    def behind(self) -> list[str]:
        """The leaves behind the link that fails."""
        return [self.end.router_id, BEYOND, FURTHER]

    @property
    def around(self) -> dict[str, list[list[int]]]:
        """Where packets of a tree with south come to after the failure, with both labels."""
        return {"east2": [[self.tunnel, LABELS["east"]]], "south": [[LABELS["south"]]]}

    @property
    def id(self) -> str:
        """The router identifier of the point of local repair."""
        return str(self.bench.routers["plr"].loopback)

    def assert_nothing_stays(self) -> None:
        """Once the root has torn down all that it has signalled, nothing of the tree is anywhere."""
        self.bench.assert_sound()
        for path in list(self.signalled.values()):
            self.tear(path)
        self.bench.run(0.05)
        assert not self.end.around
        # A bypass tunnel that no tree needs any more goes after ten seconds.
        self.bench.run(12.0, 0.5)
        # A router that has failed stands still with what it had.
        assert [left for left in self.bench.leftovers() if left.split()[0] != self.failing] == []

    @property
    def tunnel(self) -> int:
        """The label of the bypass tunnel at east."""
        (label,) = self.end.egress_labels.values()
        return label

    def label_of(self, lsp_id: int) -> int:
        """The label of an LSP of the tree at the point of local repair, as of the last Resvs."""
        found = [item for _, message in self.root.resvs for item in c.reserved_leaves(message)]
        (label,) = {item.label for item in found if item.filter.lsp_id == lsp_id}
        return label or 0

    def sends(self) -> dict[str, list[list[int]]]:
        """One packet of the tree: the labels of its copies by the port that they came to."""
        for side in self.bench.sides.values():
            side.labelled.clear()
        self.west.send_labelled([c.LabelEntry(self.label_of(1), 20)], datagram(self.root))
        self.bench.run(0.01)
        return {name: found for name, side in self.bench.sides.items() if (found := stacks(side))}

    def fail(self) -> None:
        self.bench.net.fail(self.failing)

    def repaired(self) -> list[str]:
        """Leaves that the root was told of as locally repaired (25/3), each as often as it was named."""
        return sorted(
            leaf for code, value, leaves in self.root.told() for leaf in leaves if (code, value) == (25, 3)
        )

    def own(self, address: str) -> bool:
        """Is it an address of the point of local repair?"""
        links = [link for ends, link in self.bench.links.items() if "plr" in ends]
        router = self.bench.routers["plr"]
        return address in {str(router.loopback), *(str(link.address(router)) for link in links)}


class TreeMerge(Tree):
    """A merge point of a tree: the root, west, repairs by its other port what it sent by the first.

    ```text
    west  ---- dut ---- east, south, north      the tree
    west2 ----/                                 a bypass tunnel of west to dut
    ```
    """

    def __init__(self, **dut_has: Any) -> None:
        super().__init__(**dut_has)
        self.plr = TunnelHead(self.root.router_id, [self.west2])
        self.bench.pumps.append(self.plr.pump)
        tunnel = protected_path(self.west2, self.dut, [self.west2.ends.peer], asks=c.Asked.SE_STYLE)
        self.tunnel = self.plr.signal(self.west2, tunnel)
        self.bench.until(lambda: self.plr.label(self.tunnel) is not None)
        # Paths that go through the bypass again and again.
        self.goes_around: dict[Key, c.Message] = {}

    @property
    def bypass(self) -> int:
        return self.plr.label(self.tunnel) or 0

    @property
    def leaves(self) -> set[str]:
        """East, south, and one beyond east."""
        return {self.leaf["east"].address, self.leaf["south"].address, BEYOND}

    def by(self, name: str, *beyond: str) -> tuple[str, list[str]]:
        """A leaf with its route as it is around: from the merge point on (RFC 4090, 6.4.4)."""
        leaf, route = self.to(name, *beyond)
        return leaf, [self.dut, *route[1:]]

    def send_around(self, message: c.Message, to: str | None = None) -> None:
        """A message out of the bypass, for the first leaf that it names if nobody else."""
        send_around(self.west2, self.bypass, message, to or (c.leaves_of(message) or [self.dut])[0])

    def repair(self, *paths: c.Message) -> None:
        """Send these Paths through the bypass, and wait until all of their leaves are reserved there."""
        before = len(self.west2.inbox)
        for path in paths:
            self.goes_around[tree_key(path)] = path
            self.send_around(path)
        wanted = {(tree_key(path)[1].filter(), leaf) for path in paths for leaf in c.leaves_of(path)}
        self.bench.until(lambda: wanted <= {(item.filter, item.leaf) for item in self.answers(before)})

    def answers(self, since: int = 0) -> list[c.Reserved]:
        """What Resvs to the repairing router's port said, in their order; without so many messages."""
        found = [item.message for item in self.west2.inbox[since:] if item.message.kind == c.Type.RESV]
        return [item for message in found for item in c.reserved_leaves(message)]

    def around_label(self) -> int:
        """The one label of what is repaired."""
        (label,) = {item.label for item in self.answers()}
        assert label is not None
        return label

    def end_repair(self, *paths: c.Message) -> None:
        """PathTears through the bypass."""
        for path in paths:
            self.goes_around.pop(tree_key(path), None)
            self.send_around(tree_tear(path), c.leaves_of(path)[0])
        self.bench.run(0.05)

    def lives(self, seconds: int, along: Iterable[c.Message] = ()) -> None:
        """Time passes, and each second Paths go around, and others along the link."""
        for _ in range(seconds):
            for path in along:
                self.root.signal(self.west, path)
            for path in self.goes_around.values():
                self.send_around(path)
            self.bench.run(1.0, 0.02)

    def copies_around(self, label: int | None = None) -> dict[str, list[int]]:
        """Where a packet comes out that the repairing router sends through the bypass, with which labels."""
        for leaf in self.leaf.values():
            leaf.side.labelled.clear()
        stack = [c.LabelEntry(self.bypass), c.LabelEntry(label or self.label(self.west))]
        self.west2.send_labelled(stack, datagram(self.root))
        self.bench.run(0.01)
        came = {name: stacks(leaf.side) for name, leaf in self.leaf.items()}
        assert all(len(found) == 1 for items in came.values() for found in items)
        return {name: [found[0] for found in items] for name, items in came.items() if items}
