"""Twinplane routers among naive ones: one that repairs LSPs, and one where repaired LSPs come together."""

from __future__ import annotations

from typing import Any

import twinplane

from . import codec as c
from . import wide_bench
from .bench import Bench
from .codec.ip import PROTOCOL_UDP
from .lsr import Lsr
from .neighbour import Neighbour
from .repairing import HeadEnd, MergePoint, protected_path
from .state import Key
from .wide_bench import WideBench

AVAILABLE, IN_USE = c.Recorded.AVAILABLE, c.Recorded.IN_USE
# A head end, and routers on its LSP, all of them out of sight.
HEAD, AVOIDED, OTHER_AVOIDED = "192.0.2.1", "192.0.2.77", "192.0.2.78"


class Repair:
    r"""A point of local repair; `over` is what is between it and east on the LSP.

    ```text
    west ---- plr ---- east         the LSP; or  west ---- plr ---- next ---- east
                \      /            and a way around by another port of east
                  mid
    ```

    West and east are naive; east speaks just enough OSPF to be found.
    """

    def __init__(self, over: str | None = None, **plr_has: Any) -> None:
        between = {over: {}} if over else {}
        routers = {"plr": {"protection": "facility", **plr_has}, "mid": {}, **between}
        last = (over, "east") if over else ("plr", "east")
        links = [("west", "plr"), last, ("plr", "mid"), ("mid", "east2")]
        if over:
            links.append(("plr", over))
        self.bench: WideBench = wide_bench.build(
            twinplane, routers, links, {"east2": "east"}, area=0, te=True, hello_interval=1
        )
        self.west, self.east, self.east2 = (self.bench.sides[name] for name in ("west", "east", "east2"))
        self.head = HeadEnd(self.west.ends.router_id, [self.west])
        self.end = MergePoint(self.east.ends.router_id, [self.east, self.east2])
        self.bench.pumps += [self.head.pump, self.end.pump]
        self.bench.routed(self.bench.te_link("east", 10), self.bench.te_link("east2", 10))
        first = self.bench.links[("plr", over) if over else ("plr", "east")]
        self.first_hop = str(first.address(over or "east"))
        # The address by which the point of local repair records itself.
        self.plr = self.west.ends.peer
        self.failing = first

    @property
    def route(self) -> list[str]:
        hops = [self.plr, self.first_hop]
        return hops if self.first_hop == self.east.ends.address else [*hops, self.east.ends.address]

    def path(self, **said: Any) -> c.Message:
        return protected_path(self.west, self.east.ends.router_id, self.route, **said)

    def up(self, path: c.Message, flags: int = AVAILABLE) -> Key:
        """Signal an LSP, and wait until the point of local repair says that it is protected so."""
        key = self.head.signal(self.west, path)
        self.bench.until(lambda: self.head.label(key) is not None)
        self.bench.until(lambda: self.head.reported(key)[:1] == [flags], 5.0)
        return key

    def datagram(self) -> bytes:
        source, to = self.west.ends.router_id, self.east.ends.router_id
        return c.Ipv4(source, to, PROTOCOL_UDP, c.Udp(5000, 5001, bytes(40)).encode(source, to)).encode()

    def sends(self, key: Key) -> None:
        """One packet of the LSP."""
        for side in (self.east, self.east2):
            side.labelled.clear()
        self.west.send_labelled([c.LabelEntry(self.head.label(key) or 0)], self.datagram())
        self.bench.run(0.01)

    def came(self) -> list[tuple[str, list[int]]]:
        """By which port packets came to east, with their labels; without messages of RSVP."""
        sides = (("east", self.east), ("east2", self.east2))
        return [
            (name, [entry.label for entry in item.stack])
            for name, side in sides
            for item in side.labelled
            if c.Ipv4.decode(item.payload).protocol == PROTOCOL_UDP
        ]

    def fail(self) -> None:
        self.bench.net.fail(self.failing)

    def own(self, address: str) -> bool:
        """Is it an address of the point of local repair?"""
        links = [link for ends, link in self.bench.links.items() if "plr" in ends]
        router = self.bench.routers["plr"]
        return address in {str(router.loopback), *(str(link.address(router)) for link in links)}


class Merge:
    """A merge point; both ports in the west are of one naive router if they are the `same`.

    ```text
    west  ---- mp ---- east      west2 is a port of west, or another router; all but mp are naive
    west2 ----/
    ```
    """

    def __init__(self, same: bool, **mp_has: Any) -> None:
        links = [("west", "mp"), ("west2", "mp"), ("mp", "east")]
        self.bench: WideBench = wide_bench.build(
            twinplane, {"mp": mp_has}, links, {"west2": "west"} if same else None
        )
        self.west, self.west2, self.east = (self.bench.sides[name] for name in ("west", "west2", "east"))
        sides = [[self.west, self.west2]] if same else [[self.west], [self.west2]]
        self.heads = [HeadEnd(found[0].ends.router_id, found) for found in sides]
        self.end = Lsr(self.east.ends.router_id, [self.east])
        self.bench.pumps += [lsr.pump for lsr in [*self.heads, self.end]]
        self.mp = str(self.bench.routers["mp"].loopback)

    def path(self, side: Neighbour, **said: Any) -> c.Message:
        """A Path from this side to east, every hop strict."""
        return protected_path(
            side, self.east.ends.router_id, [side.ends.peer, self.east.ends.address], **said
        )

    def up(self, side: Neighbour, path: c.Message) -> Key:
        """Signal an LSP at one side, and wait for its label."""
        head = self.head_of(side)
        key = head.signal(side, path)
        self.bench.until(lambda: head.label(key) is not None)
        return key

    def head_of(self, side: Neighbour) -> HeadEnd:
        (head,) = [head for head in self.heads if side in head.neighbours]
        return head

    def passes(self, side: Neighbour, *labels: int) -> list[int]:
        """A packet with these labels from one side: the labels with which it came to east, once."""
        self.east.labelled.clear()
        source, to = HEAD, self.east.ends.router_id
        packet = c.Ipv4(source, to, PROTOCOL_UDP, c.Udp(5000, 5001, bytes(40)).encode(source, to))
        side.send_labelled([c.LabelEntry(label) for label in labels], packet.encode())
        self.bench.run(0.01)
        (came,) = self.east.labelled
        return [entry.label for entry in came.stack]

    def senders_in_the_east(self) -> set[c.SenderTemplate]:
        return {message.need(c.SenderTemplate) for message in Bench.came(self.east, c.Type.PATH)}
