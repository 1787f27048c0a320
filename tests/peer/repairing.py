"""What fast reroute asks of naive routers (RFC 4090): head ends, points of local repair and merge points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from . import codec as c
from .bench import MBIT
from .codec.ip import PROTOCOL_RSVP
from .lsr import Lsr
from .neighbour import ALERTED, Labelled, Neighbour, Received
from .state import Key, PathState, key_of

ASKS = c.Asked.LOCAL | c.Asked.LABELS | c.Asked.SE_STYLE


def protected_path(
    side: Neighbour,
    to: str,
    route: Iterable[str],
    *,
    asks: int = ASKS,
    fast: c.Obj | None = None,
    head: str | None = None,
    sender: str | None = None,
    bandwidth: float = 10 * MBIT,
    refresh_ms: int = 30_000,
    detour: c.Obj | None = None,
    record: bool = True,
) -> c.Message:
    """A Path of the one LSP of each test, as a head end with protection sends it (RFC 4090, 5)."""
    head = head or side.ends.router_id
    objects: list[c.Obj] = [
        c.Session(to, 1, head),
        c.RsvpHop(side.ends.address, 0x77),
        c.TimeValues(refresh_ms),
        c.ExplicitRoute.strict(*route),
        c.LabelRequest(),
        c.SessionAttribute(7, 7, asks, "protected"),
        *([fast] if fast else []),
        c.SenderTemplate(sender or head, 1),
        c.SenderTspec(c.Traffic.of_bits(bandwidth)),
        *([detour] if detour else []),
    ]
    if record:
        objects.append(c.RecordRoute((c.Ipv4Hop(side.ends.address),)))
    return c.Message(c.Type.PATH, objects, ttl=63)


def flags_of(record: c.RecordRoute | None) -> list[int]:
    """What each router of a recorded route says of its protection, the last one to record first."""
    hops = record.hops if record is not None else ()
    return [hop.flags for hop in hops if isinstance(hop, c.Ipv4Hop)]


@dataclass
class HeadEnd(Lsr):
    """An ingress that reads what its Resv says of protection, and repairs its own LSPs."""

    def reported(self, key: Key) -> list[int]:
        """The flags of each router on the way, as of the last Resv; the next router is the first."""
        state = self.resvs.get(key)
        return flags_of(state.descriptor.record) if state is not None else []

    def told(self, key: Key) -> list[tuple[int, int, str]]:
        """Errors about an LSP: code, value, and the node that reports."""
        specs = [message.need(c.ErrorSpec) for message in self.errors if key_of(message) == key]
        return [(spec.code, spec.value, spec.node) for spec in specs]

    def repair(self, side: Neighbour, label: int, path: c.Message) -> Key:
        """Send a Path through a bypass tunnel, again and again until it is given up (RFC 4090, 6.4.3)."""
        key = key_of(path)
        self.paths[key] = PathState(path, None, None)

        def refresh() -> None:
            if key in self.paths:
                send_through(side, label, path)
                self.timers.at(side.now + path.need(c.TimeValues).refresh_ms / 1000, refresh)

        refresh()
        return key

    def give_up(self, key: Key) -> None:
        """Refresh an LSP no more, and tell nobody."""
        del self.paths[key]
        self.resvs.pop(key, None)


@dataclass
class MergePoint(Lsr):
    """An egress where bypass tunnels and detours end, with one label for an LSP whichever way it comes.

    What comes out of a bypass tunnel is kept in `tunnelled`, with the label of the tunnel.
    """

    tunnelled: list[tuple[int, Received]] = field(default_factory=list)
    answers_repairs: bool = True

    def switch(self, neighbour: Neighbour, item: Labelled) -> None:
        """The end of a bypass tunnel: what is below its label is read as if it had come without."""
        top = item.stack[0]
        if top.bottom and top.label in self.egress_labels.values():
            packet = c.Ipv4.decode(item.payload)
            if packet.protocol == PROTOCOL_RSVP:
                message = c.Message.decode(packet.payload)
                self.tunnelled.append((top.label, Received(item.time, packet, message)))
                self._repair(neighbour, message)
                return
        super().switch(neighbour, item)

    def _repair(self, neighbour: Neighbour, message: c.Message) -> None:
        """RFC 4090, 6.4.3 and 7.2: answer a Path straight to the address in its RSVP_HOP."""
        if message.kind != c.Type.PATH or not self.answers_repairs:
            return
        session, sender = key_of(message)
        hop = message.need(c.RsvpHop)
        (key,) = [k for k in self.egress_labels if (k[0], k[1].lsp_id) == (session, sender.lsp_id)]
        label = self.egress_labels[key]
        self.paths[key].touch(neighbour.now)
        here = (c.Ipv4Hop(neighbour.ends.address), c.LabelHop(label, flags=self.label_flags))
        objects = [
            session,
            c.RsvpHop(neighbour.ends.address, hop.handle),
            c.TimeValues(self.refresh_ms),
            c.Style(c.Style.SE),
            c.Flowspec(message.need(c.SenderTspec).traffic),
            c.FilterSpec(sender.address, sender.lsp_id),
            c.Label(label),
            c.RecordRoute(here),
        ]
        send_to(neighbour, hop.address, c.Message(c.Type.RESV, objects))

    def repairs(self, kind: int) -> list[Received]:
        """Messages of a type that came out of bypass tunnels."""
        return [item for _, item in self.tunnelled if item.message.kind == kind]


def send_to(side: Neighbour, address: str, message: c.Message) -> None:
    """Send to a router that is no neighbour, by way of the one at this port."""
    packet = c.Ipv4(side.ends.address, address, PROTOCOL_RSVP, b"", message.ttl)
    side.send_bytes(packet, side.encode(message))


def send_through(side: Neighbour, label: int, message: c.Message) -> None:
    """Send a message through a bypass tunnel that begins at this port (RFC 4090, 6.4.3)."""
    packet = side.envelope(message)
    packet = replace(packet, payload=side.encode(message), tos=0xC0)
    assert message.kind not in ALERTED or packet.router_alert
    side.send_labelled([c.LabelEntry(label)], packet.encode())


def around(path: c.Message, side: Neighbour, route: Iterable[str]) -> c.Message:
    """The Path of an LSP, as a point of local repair sends it through a bypass tunnel (RFC 4090, 6.4.3)."""
    asked = path.need(c.SessionAttribute)
    cleared = asked.flags & ~(c.Asked.LOCAL | c.Asked.BANDWIDTH | c.Asked.NODE)
    sender = path.need(c.SenderTemplate)
    changed = path.without(c.FastReroute, c.LegacyFastReroute).swapped(
        c.RsvpHop(side.ends.address, 0x78),
        c.ExplicitRoute.strict(*route),
        replace(asked, flags=cleared),
        c.SenderTemplate(side.ends.address, sender.lsp_id),
    )
    return replace(changed, ttl=path.ttl)


def tear_of(path: c.Message) -> c.Message:
    """The PathTear that ends a Path (RFC 2205, 3.1.5)."""
    kept = (c.Session, c.RsvpHop, c.SenderTemplate, c.SenderTspec)
    return c.Message(c.Type.PATH_TEAR, [o for o in path.objects if isinstance(o, kept)], path.ttl)
