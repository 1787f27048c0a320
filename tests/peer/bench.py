"""A router under test between two naive peers, and the words that scenarios are written in.

```text
west (ingress) ---- router under test ---- east (egress)
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from . import codec as c
from .codec.ip import PROTOCOL_UDP
from .lsr import Lsr
from .neighbour import ALERTED, Ends, Labelled, Neighbour, Received
from .port import Port
from .state import Key, key_of

MBIT = 1e6


@dataclass(frozen=True)
class Options:
    """How the router under test has to be set up before a scenario can run."""

    key: bytes | None = None
    key_id: int = 1
    refresh_reduction: bool = False
    hello_interval_s: float | None = None


@dataclass
class HeadEnd:
    """An LSP that the router under test itself originates."""

    up: Callable[[], bool]
    tear: Callable[[], None]


@dataclass
class Bench:
    """Two ports of one router; `originate` asks it for an LSP to one of the two sides."""

    west_port: Port
    east_port: Port
    west_ends: Ends
    east_ends: Ends
    options: Options = field(default_factory=Options)
    originate: Callable[[str, float], HeadEnd] | None = None
    leftovers: Callable[[], list[str]] = list
    reservable: float = 1000 * MBIT
    failures: list[str] = field(default_factory=list)
    # What else must look at its ports as time passes: routers beyond the two sides.
    beyond: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.west = Neighbour(self.west_port, self.west_ends)
        self.east = Neighbour(self.east_port, self.east_ends)
        for side in (self.west, self.east):
            side.key, side.key_id = self.options.key, self.options.key_id
            side.refresh_reduction = self.options.refresh_reduction
        self.ingress = Lsr(self.west_ends.router_id, [self.west])
        self.egress = Lsr(self.east_ends.router_id, [self.east])

    @property
    def dut(self) -> str:
        """The router identifier of the router under test."""
        return self.west_ends.peer_router_id

    # Time.

    def run(self, seconds: float, step: float | None = None) -> None:
        """Let time pass; both peers look at their ports every `step` seconds."""
        step = step or (0.002 if seconds <= 1 else 0.02)
        end = self.west_port.now() + seconds
        while True:
            self.ingress.pump()
            self.egress.pump()
            for pump in self.beyond:
                pump()
            left = end - self.west_port.now()
            if left <= 1e-9:
                return
            self.west_port.run(min(step, left))

    def until(self, what: Callable[[], object], seconds: float = 1.0) -> bool:
        """Let time pass until something holds, at most this long."""
        end = self.west_port.now() + seconds
        step = 0.002 if seconds <= 2 else 0.02
        while not what():
            if self.west_port.now() >= end - 1e-9:
                return False
            self.run(step, step)
        return True

    # Verdicts.

    def check(self, holds: object, text: str) -> bool:
        """Note a failure unless something holds."""
        if not holds:
            self.failures.append(text)
        return bool(holds)

    def equal(self, found: object, expected: object, what: str) -> bool:
        """Note a failure unless both are the same."""
        return self.check(found == expected, f"{what}: found {found}, expected {expected}")

    def invariants(self) -> None:
        """What holds for every message that the router ever sent."""
        for name, side in (("west", self.west), ("east", self.east)):
            for text in side.undecodable + side.unauthentic:
                self.failures.append(f"{name} got what it cannot accept: {text}")
            for item in side.inbox:
                if not item.bundled:
                    self._envelope(name, side, item)

    def _envelope(self, name: str, side: Neighbour, item: Received) -> None:
        message, packet = item.message, item.packet
        what = f"{name}, message {message.kind} at {item.time:.6f} s"
        # RFC 2205, 3.1.1: Send_TTL is the IP TTL that the message is sent with.
        self.equal(packet.ttl, message.ttl, f"{what}: IP TTL against Send_TTL")
        # RFC 2205, 3.1.3 and 3.3.
        if message.kind in ALERTED:
            self.check(packet.router_alert, f"{what}: no Router Alert")
        if message.kind in (c.Type.PATH, c.Type.PATH_TEAR):
            session, template = key_of(message)
            self.equal(packet.destination, session.destination, f"{what}: destination")
            self.equal(packet.source, template.address, f"{what}: source")
            self.equal(message.need(c.RsvpHop).address, side.ends.peer, f"{what}: RSVP_HOP")
        elif message.kind in (c.Type.RESV, c.Type.RESV_TEAR, c.Type.RESV_ERR, c.Type.PATH_ERR):
            # RFC 2205, 3.1.4, 3.1.6, 3.1.7 and 3.1.8: hop by hop.
            self.equal(packet.destination, side.ends.address, f"{what}: destination")
            if message.kind != c.Type.PATH_ERR:
                self.equal(message.need(c.RsvpHop).address, side.ends.peer, f"{what}: RSVP_HOP")

    # What came.

    @staticmethod
    def came(side: Neighbour, kind: int, key: Key | None = None) -> list[c.Message]:
        """Messages of one type at one side, for one LSP if a key is given."""
        return [item.message for item in Bench.arrivals(side, kind, key)]

    @staticmethod
    def arrivals(side: Neighbour, kind: int, key: Key | None = None) -> list[Received]:
        """The same with time and envelope."""
        found = []
        for item in side.inbox:
            message = item.message
            if message.kind != kind:
                continue
            if key is not None and not _about(message, key):
                continue
            found.append(item)
        return found

    def errors(self, side: Neighbour, kind: int, key: Key | None = None) -> list[tuple[int, int]]:
        """Code and value of every error of one type that came to one side."""
        return [
            (spec.code, spec.value)
            for message in self.came(side, kind, key)
            for spec in message.all(c.ErrorSpec)
        ]

    def forget(self) -> None:
        """Empty both inboxes, once their contents hold what always holds."""
        self.invariants()
        for side in (self.west, self.east):
            for listed in (side.inbox, side.labelled, side.packets):
                listed.clear()
            side.undecodable.clear()
            side.unauthentic.clear()

    # Messages.

    def path(
        self,
        tunnel: int = 1,
        lsp: int = 1,
        bandwidth: float = 100 * MBIT,
        *,
        to: str | None = None,
        route: Iterable[c.Ipv4Hop] | None = (),
        setup: int = 7,
        hold: int = 7,
        flags: int = c.SessionAttribute.SE_STYLE,
        name: str = "naive",
        record: bool = False,
        refresh_ms: int = 30_000,
        l3pid: int = 0x0800,
    ) -> c.Message:
        """A Path from west to east; an empty `route` means every hop strict, `None` no ERO."""
        hops = tuple(route) if route is not None else ()
        if route is not None and not hops:
            hops = (c.Ipv4Hop(self.west_ends.peer),)
            if to in (None, self.east_ends.router_id):
                hops += (c.Ipv4Hop(self.east_ends.address),)
        objects: list[c.Obj] = [
            c.Session(to or self.east_ends.router_id, tunnel, self.west_ends.router_id),
            c.RsvpHop(self.west_ends.address, 0x77),
            c.TimeValues(refresh_ms),
        ]
        if hops:
            objects.append(c.ExplicitRoute(hops))
        objects += [
            c.LabelRequest(l3pid),
            c.SessionAttribute(setup, hold, flags, name),
            c.SenderTemplate(self.west_ends.router_id, lsp),
            c.SenderTspec(c.Traffic.of_bits(bandwidth)),
        ]
        if record:
            objects.append(c.RecordRoute((c.Ipv4Hop(self.west_ends.address),)))
        return c.Message(c.Type.PATH, objects, ttl=63)

    def set_up(self, path: c.Message, what: str = "LSP") -> Key:
        """Signal a Path from the west and wait for its label."""
        key = self.ingress.signal(self.west, path)
        self.until(lambda: self.ingress.label(key) is not None or self._refused(key))
        self.check(self.ingress.label(key) is not None, f"{what}: no label; {self._refused(key)}")
        return key

    def refused(self, path: c.Message) -> list[tuple[int, int]]:
        """Signal a Path that should fail; PathErr at west and ResvErr at east, code and value."""
        key = self.ingress.signal(self.west, path)
        self.until(lambda: self._refused(key), 0.5)
        return self._refused(key)

    def _refused(self, key: Key) -> list[tuple[int, int]]:
        west = self.errors(self.west, c.Type.PATH_ERR, key)
        return west + self.errors(self.east, c.Type.RESV_ERR, key)

    def tear_down(self, key: Key) -> None:
        """PathTear from the west, and time for it to get through."""
        self.ingress.tear(key)
        self.run(0.02)

    def warm_up(self) -> None:
        """Give both sides of each link the chance of an integrity handshake (RFC 2747, 4.3)."""
        self.west.send_hello()
        self.east.send_hello()
        self.run(0.1)
        self.forget()

    def fall_silent(self) -> None:
        """Refresh nothing, answer nothing but Hellos, for longer than any state lives (RFC 2205, 3.7).

        The peers look at their ports often enough for Hellos, of which routers here send one each second.
        """
        for lsr in (self.ingress, self.egress):
            lsr.paths.clear()
            lsr.resvs.clear()
            lsr.answers = lsr.refreshes = False
        self.run(200.0, 0.5)

    # Labelled packets.

    def datagram(self, ttl: int = 64, size: int = 40, tos: int = 0) -> c.Ipv4:
        """A packet from behind the west to behind the east."""
        source, destination = self.west_ends.router_id, self.east_ends.router_id
        udp = c.Udp(5000, 5001, bytes(size)).encode(source, destination)
        return c.Ipv4(source, destination, PROTOCOL_UDP, udp, ttl, tos)

    def push(self, label: int, ttl: int = 64, traffic_class: int = 0) -> None:
        """Send one labelled packet into the router from the west, and let it get through."""
        entry = c.LabelEntry(label, ttl, traffic_class)
        self.west.send_labelled([entry], self.datagram().encode())
        self.run(0.005)

    def forwards(self, key: Key) -> Labelled | None:
        """Whether a packet with the LSP's label comes out in the east, as it came out."""
        label = self.ingress.label(key)
        if label is None:
            return None
        return self.passes(label)

    def passes(self, label: int) -> Labelled | None:
        """Whether a packet with this label comes out in the east, as it came out."""
        before = len(self.east.labelled)
        self.push(label)
        return self.east.labelled[before] if len(self.east.labelled) > before else None

    def still_works(self, tunnel: int = 999) -> None:
        """Set up and tear down one more LSP, whatever happened before (RFC 2205, 3.9)."""
        key = self.set_up(self.path(tunnel, bandwidth=1 * MBIT), "the LSP afterwards")
        if self.ingress.label(key) is not None:
            self.check(self.forwards(key), "the LSP afterwards does not forward")
        self.tear_down(key)


def _about(message: c.Message, key: Key) -> bool:
    """Whether a message is about this session and this sender."""
    if message.get(c.Session) != key[0]:
        return False
    template = message.get(c.SenderTemplate)
    if template is not None:
        return template == key[1]
    filters = [(f.address, f.lsp_id) for f in message.all(c.FilterSpec)]
    return not filters or (key[1].address, key[1].lsp_id) in filters
