"""Just enough OSPF (RFC 2328, 3630) for a naive peer to stand in the databases of its neighbours.

A router that computes paths around a failure has to know where the naive peer is. So the peer is the slave of
each exchange of databases, gives what it is asked for, acknowledges what it gets, and learns nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from . import codec as c
from .codec.errors import get, pack_ip4
from .codec.ip import internet_checksum
from .codec.link import TYPE_IPV4
from .neighbour import Neighbour

PROTOCOL = 89
ALL_ROUTERS, ALL_ROUTERS_MAC = "224.0.0.5", bytes.fromhex("01005e000005")
HELLO, DESCRIPTION, REQUEST, UPDATE, ACKNOWLEDGEMENT = 1, 2, 3, 4, 5
# RFC 2328, A.2: external routes; RFC 5250: opaque advertisements, in descriptions only.
OPTIONS, OPAQUE = 0x02, 0x40
# RFC 2328, A.3.3: the master sends I, M and MS at first.
MASTER, MORE, INITIAL = 0x01, 0x02, 0x04
HEADER, LSA_HEADER = 24, 20
ROUTER_LSA, AREA_OPAQUE_LSA = 1, 10
FIRST_SEQUENCE = 0x80000001


@dataclass(frozen=True)
class TeLink:
    """One direction of a link between two routers, as its near end announces it; the rate is in bit/s."""

    router: str
    address: str
    neighbour: str
    neighbour_address: str
    metric: int = 1
    rate: float = 1e9


def fletcher(data: bytes, at: int) -> bytes:
    """The two check bytes that belong at `at`, where `data` has zeros (RFC 2328, 12.1.7; RFC 905, B)."""
    first = second = 0
    for byte in data:
        first = (first + byte) % 255
        second = (second + first) % 255
    x = ((len(data) - at - 1) * first - second) % 255
    y = (second - (len(data) - at) * first) % 255
    return bytes([x or 255, y or 255])


def advertisement(router: str, kind: int, identifier: bytes, body: bytes) -> bytes:
    """A link state advertisement with its header (RFC 2328, A.4.1)."""
    length = LSA_HEADER + len(body)
    fields = (OPTIONS, kind, identifier, pack_ip4(router), FIRST_SEQUENCE, 0, length)
    head = struct.pack("!BB4s4sIHH", *fields)
    # The age is no part of the checksum, which is the twelfth field from there.
    check = fletcher(head + body, 14)
    return bytes(2) + head[:14] + check + head[16:] + body


def router_advertisement(router: str, links: list[TeLink]) -> bytes:
    """A router with its own address and its links (RFC 2328, A.4.2)."""
    parts = [pack_ip4(router) + b"\xff" * 4 + struct.pack("!BBH", 3, 0, 0)]
    for link in links:
        parts.append(
            pack_ip4(link.neighbour) + pack_ip4(link.address) + struct.pack("!BBH", 1, 0, link.metric)
        )
        subnet = IPv4Network(f"{link.address}/30", strict=False)
        stub = subnet.network_address.packed + subnet.netmask.packed
        parts.append(stub + struct.pack("!BBH", 3, 0, link.metric))
    body = struct.pack("!BBH", 0, 0, len(parts)) + b"".join(parts)
    return advertisement(router, ROUTER_LSA, pack_ip4(router), body)


def _tlv(kind: int, value: bytes) -> bytes:
    """Type, length and value, padded to four bytes (RFC 3630, 2.3.2)."""
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def te_address(router: str) -> bytes:
    """The address that is always there (RFC 3630, 2.4.1)."""
    return advertisement(router, AREA_OPAQUE_LSA, b"\x01\x00\x00\x00", _tlv(1, pack_ip4(router)))


def te_link(link: TeLink, instance: int) -> bytes:
    """One link with its bandwidth (RFC 3630, 2.4.2)."""
    rate = struct.pack("!f", link.rate / 8)
    parts = [
        _tlv(1, b"\x01"),
        _tlv(2, pack_ip4(link.neighbour)),
        _tlv(3, pack_ip4(link.address)),
        _tlv(4, pack_ip4(link.neighbour_address)),
        _tlv(5, struct.pack("!I", link.metric)),
        _tlv(6, rate),
        _tlv(7, rate),
        _tlv(8, rate * 8),
    ]
    identifier = b"\x01" + instance.to_bytes(3, "big")
    return advertisement(link.router, AREA_OPAQUE_LSA, identifier, _tlv(2, b"".join(parts)))


def described(links: list[TeLink]) -> list[bytes]:
    """Everything that the routers at the near ends of these links say."""
    found = []
    for router in dict.fromkeys(link.router for link in links):
        own = [link for link in links if link.router == router]
        found += [router_advertisement(router, own), te_address(router)]
        found += [te_link(link, instance) for instance, link in enumerate(own, 1)]
    return found


@dataclass
class Adjacency:
    """The naive end of a point-to-point adjacency; put in front of `neighbour`'s port, it takes OSPF out."""

    neighbour: Neighbour
    said: list[bytes]
    last: tuple[int, bytes] | None = None
    complete: bool = False
    _receive: Callable[[], list[tuple[float, bytes]]] = field(init=False)

    def __post_init__(self) -> None:
        # Not by a wrapper of the port: the harness keeps what it received by itself.
        self._receive = self.neighbour.port.receive
        self.neighbour.port.receive = self.receive  # type: ignore[method-assign]

    def receive(self) -> list[tuple[float, bytes]]:
        """What arrived and is not OSPF; the rest is dealt with."""
        found = []
        for time, frame in self._receive():
            ethernet = c.Ethernet.decode(frame)
            packet = c.Ipv4.decode(ethernet.payload) if ethernet.ethertype == TYPE_IPV4 else None
            if packet is not None and packet.protocol == PROTOCOL:
                self.handle(packet.payload)
            else:
                found.append((time, frame))
        return found

    def handle(self, data: bytes) -> None:
        """Answer one packet (RFC 2328, A.3)."""
        length = get(data, 2, 2)
        assert data[0] == 2 and length <= len(data), data.hex()
        assert internet_checksum(data[:length]) == 0, f"checksum of {data.hex()}"
        sender, body = data[4:8], data[HEADER:length]
        # RFC 2328, 10.6: the greater router id is the master, which the naive peer never is.
        assert sender > pack_ip4(self.neighbour.ends.router_id), "the naive peer can't be master"
        kind = data[1]
        if kind == HELLO:
            self._hello(sender, body)
        elif kind == DESCRIPTION:
            self._describe(body)
        elif kind == REQUEST:
            self._give(body)
        elif kind == UPDATE:
            self._acknowledge(body)

    def _send(self, kind: int, body: bytes) -> None:
        own = pack_ip4(self.neighbour.ends.router_id)
        head = struct.pack("!BBH4s4sHH8s", 2, kind, HEADER + len(body), own, bytes(4), 0, 0, bytes(8))
        checksum = internet_checksum(head + body)
        data = head[:12] + checksum.to_bytes(2, "big") + head[14:] + body
        packet = c.Ipv4(self.neighbour.ends.address, ALL_ROUTERS, PROTOCOL, data, ttl=1, tos=0xC0)
        frame = c.Ethernet(ALL_ROUTERS_MAC, self.neighbour.ends.mac, TYPE_IPV4, packet.encode())
        self.neighbour.port.send(frame.encode())

    def _hello(self, sender: bytes, body: bytes) -> None:
        """Say the same intervals back, and that the other router was heard (RFC 2328, A.3.2)."""
        self._send(HELLO, body[:6] + bytes([OPTIONS, 1]) + body[8:12] + bytes(8) + sender)

    def _describe(self, body: bytes) -> None:
        """As a slave: repeat the number, and say all at once (RFC 2328, 10.8)."""
        flags, number = body[3], get(body, 4, 4)
        if self.last is None or self.last[0] != number:
            listed = b"".join(lsa[:LSA_HEADER] for lsa in self.said) if flags & INITIAL else b""
            head = body[:2] + bytes([OPTIONS | OPAQUE, 0]) + body[4:8]
            self.last = (number, head + listed)
        self._send(DESCRIPTION, self.last[1])
        self.complete = not flags & (INITIAL | MORE)

    def _give(self, body: bytes) -> None:
        """What is asked for (RFC 2328, 10.7)."""
        asked = {body[at + 3 : at + 12] for at in range(0, len(body), 12)}
        found = [lsa for lsa in self.said if lsa[3:12] in asked]
        assert len(found) == len(asked), "asked for what nobody has said"
        self._send(UPDATE, struct.pack("!I", len(found)) + b"".join(found))

    def _acknowledge(self, body: bytes) -> None:
        """Take what is flooded, and forget it (RFC 2328, 13.5)."""
        at, headers = 4, b""
        for _ in range(get(body, 0, 4)):
            headers += body[at : at + LSA_HEADER]
            at += get(body, at + 18, 2)
        self._send(ACKNOWLEDGEMENT, headers)
