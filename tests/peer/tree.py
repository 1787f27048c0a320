"""Naive ends of point-to-multipoint LSPs (RFC 4875): who signals leaves, and who is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import codec as c
from .bench import MBIT
from .codec.ip import PROTOCOL_RSVP
from .neighbour import ALERTED, Labelled, Neighbour

Route = Sequence[str] | None
Key = tuple[c.TreeSession, c.TreeSender]


def tree_key(message: c.Message) -> Key:
    """Session, sender and sub-group: what path state is known by (RFC 4875, 10)."""
    return message.need(c.TreeSession), message.need(c.TreeSender)


def send(side: Neighbour, message: c.Message, to: str) -> None:
    """Send a message; one that goes downstream has the address of a leaf (RFC 2205, 3.1.3)."""
    options = c.ROUTER_ALERT if message.kind in ALERTED else b""
    sender = message.get(c.TreeSender)
    source = (
        sender.address if message.kind in (c.Type.PATH, c.Type.PATH_TEAR) and sender else side.ends.address
    )
    side.send_bytes(
        c.Ipv4(source, to, PROTOCOL_RSVP, b"", message.ttl, options=options), side.encode(message)
    )


@dataclass
class Root:
    """Signals sub-groups of one LSP by the ports of a naive router, and reads what comes back."""

    router_id: str
    sides: list[Neighbour]
    session: c.TreeSession = field(init=False)
    lsp_id: int = 1
    resvs: list[tuple[Neighbour, c.Message]] = field(default_factory=list)
    errors: list[c.Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = c.TreeSession(0x01020304, 7, self.router_id)
        for side in self.sides:
            side.handlers.append(self.handle)

    def handle(self, side: Neighbour, message: c.Message) -> None:
        """Keep what a root may get."""
        if message.kind == c.Type.RESV:
            self.resvs.append((side, message))
        elif message.kind == c.Type.PATH_ERR:
            self.errors.append(message)

    def path(
        self,
        side: Neighbour,
        leaves: Sequence[tuple[str, Route]],
        group: int = 1,
        *,
        bandwidth: float = 10 * MBIT,
        record: bool = True,
        extra: Sequence[c.Obj] = (),
        refresh_ms: int = 30_000,
        asks: int = c.Asked.SE_STYLE | c.Asked.LABELS,
    ) -> c.Message:
        """A Path with these leaves: the route of the first is the ERO, those of others are SEROs (5.1)."""
        objects: list[c.Obj] = [self.session, c.RsvpHop(side.ends.address, 0x77), c.TimeValues(refresh_ms)]
        first = leaves[0][1]
        if first is not None:
            objects.append(c.ExplicitRoute.strict(*first))
        objects += [c.LabelRequest(), c.SessionAttribute(7, 7, asks, "tree"), *extra]
        objects += [self.sender(group), c.SenderTspec(c.Traffic.of_bits(bandwidth))]
        if record:
            objects.append(c.RecordRoute((c.Ipv4Hop(side.ends.address),)))
        for place, (leaf, route) in enumerate(leaves):
            objects.append(c.SubLsp(leaf))
            if place and route is not None:
                objects.append(c.SecondaryRoute(c.ExplicitRoute.strict(*route).hops))
        return c.Message(c.Type.PATH, objects, ttl=63)

    def sender(self, group: int) -> c.TreeSender:
        return c.TreeSender(self.router_id, self.lsp_id, self.router_id, group)

    def signal(self, side: Neighbour, path: c.Message) -> None:
        send(side, path, c.leaves_of(path)[0])

    def tear(self, side: Neighbour, path: c.Message) -> None:
        """End a sub-group (RFC 4875, 7.2.2)."""
        kept = (c.TreeSession, c.RsvpHop, c.TreeSender, c.SenderTspec)
        objects = [item for item in path.objects if isinstance(item, kept)]
        send(side, c.Message(c.Type.PATH_TEAR, objects, path.ttl), c.leaves_of(path)[0])

    def reserved(self, side: Neighbour | None = None) -> dict[str, c.Reserved]:
        """What the last Resv said of each leaf."""
        found = [message for port, message in self.resvs if side in (None, port)]
        return {item.leaf: item for message in found for item in c.reserved_leaves(message)}

    def labels(self) -> set[int | None]:
        """All labels that any Resv gave."""
        return {item.label for _, message in self.resvs for item in c.reserved_leaves(message)}

    def told(self) -> list[tuple[int, int, list[str]]]:
        """Code, value and leaves of each PathErr."""
        specs = [(message.need(c.ErrorSpec), c.leaves_of(message)) for message in self.errors]
        return [(spec.code, spec.value, leaves) for spec, leaves in specs]


@dataclass
class Leaf:
    """A neighbour below a branch node: it answers each Path for all leaves that it names.

    Leaves other than itself are beyond it. `asks_confirmation` has it ask for a ResvConf.
    """

    side: Neighbour
    label: int
    answers: bool = True
    asks_confirmation: bool = False
    paths: dict[Key, c.Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.side.handlers.append(self.handle)

    @property
    def address(self) -> str:
        return self.side.ends.router_id

    def handle(self, side: Neighbour, message: c.Message) -> None:
        """Take Paths and PathTears."""
        if message.kind == c.Type.PATH:
            key = tree_key(message)
            self.paths[key] = message
            if self.answers:
                self.reserve(key)
        elif message.kind == c.Type.PATH_TEAR:
            self.paths.pop(tree_key(message), None)

    def reserve(self, *keys: Key) -> None:
        """One Resv for these Paths of an LSP, with all leaves that each of them names (RFC 4875, 6.1)."""
        path = self.paths[keys[0]]
        hop = path.need(c.RsvpHop)
        asked = [c.ResvConfirm(self.side.ends.address)] if self.asks_confirmation else []
        objects: list[c.Obj] = [
            keys[0][0],
            c.RsvpHop(self.side.ends.address, hop.handle),
            path.need(c.TimeValues),
            *asked,
            c.Style(c.Style.SE),
            c.Flowspec(path.need(c.SenderTspec).traffic),
        ]
        for key in keys:
            objects += [key[1].filter(), c.Label(self.label), *self._recorded(self.paths[key])]
        send(self.side, c.Message(c.Type.RESV, objects), self.side.ends.peer)

    def _recorded(self, path: c.Message) -> list[c.Obj]:
        """The leaves of a Path: the first behind an RRO, others before an SRRO each (RFC 4875, 6.3.1)."""
        recorded = path.get(c.RecordRoute) is not None
        here = c.Ipv4Hop(self.side.ends.address)
        objects: list[c.Obj] = []
        for place, leaf in enumerate(c.leaves_of(path)):
            beyond = () if leaf == self.address else (c.Ipv4Hop(leaf),)
            if recorded and not place:
                objects.append(c.RecordRoute((here, *beyond)))
            objects.append(c.SubLsp(leaf))
            if recorded and place:
                objects.append(c.SecondaryRecord((here, *beyond)))
        return objects

    def refuse(self, key: Key, code: int, value: int, *leaves: str) -> None:
        """A PathErr for some leaves (RFC 4875, 11.1)."""
        path = self.paths[key]
        spec = c.ErrorSpec(self.side.ends.address, code, value)
        listed = [c.SubLsp(leaf) for leaf in leaves]
        objects = [key[0], spec, key[1], path.need(c.SenderTspec), *listed]
        send(self.side, c.Message(c.Type.PATH_ERR, objects), self.side.ends.peer)

    def leaves(self) -> set[str]:
        """All leaves that Paths name here."""
        return {leaf for path in self.paths.values() for leaf in c.leaves_of(path)}

    def came(self) -> list[Labelled]:
        """Labelled packets, since they were last forgotten."""
        return self.side.labelled
