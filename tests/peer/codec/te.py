"""RSVP objects of RFC 3209, with the unnumbered hops of RFC 3477."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from .errors import CodecError, exactly, get, need, pack_ip4, u16, u32, unpack_ip4
from .objects import Obj, register


@register
@dataclass(frozen=True)
class Label(Obj):
    """LABEL (RFC 3209, 4.1): a generic label, right-aligned in four bytes."""

    label: int

    CLASS = 16
    C_TYPE = 1

    def body(self) -> bytes:
        return u32(self.label)

    @classmethod
    def parse(cls, body: bytes) -> Label:
        exactly(body, 4, "LABEL")
        return cls(get(body, 0, 4))


@register
@dataclass(frozen=True)
class LabelRequest(Obj):
    """LABEL_REQUEST without a label range (RFC 3209, 4.2.1)."""

    l3pid: int = 0x0800

    CLASS = 19
    C_TYPE = 1

    def body(self) -> bytes:
        return b"\x00\x00" + u16(self.l3pid)

    @classmethod
    def parse(cls, body: bytes) -> LabelRequest:
        exactly(body, 4, "LABEL_REQUEST")
        return cls(get(body, 2, 2))


@dataclass(frozen=True)
class Ipv4Hop:
    """IPv4 prefix (RFC 3209, 4.3.3.2 and 4.4.1.1); `loose` in an ERO, `flags` in an RRO."""

    address: str
    prefix: int = 32
    loose: bool = False
    flags: int = 0


@dataclass(frozen=True)
class Ipv6Hop:
    """IPv6 prefix (RFC 3209, 4.3.3.3 and 4.4.1.2)."""

    address: str
    prefix: int = 128
    loose: bool = False
    flags: int = 0


@dataclass(frozen=True)
class AsHop:
    """Autonomous system number (RFC 3209, 4.3.3.4); only in an ERO."""

    number: int
    loose: bool = False


@dataclass(frozen=True)
class UnnumberedHop:
    """Unnumbered interface (RFC 3477, 4 and 5)."""

    router_id: str
    interface_id: int
    loose: bool = False
    flags: int = 0


@dataclass(frozen=True)
class LabelHop:
    """Recorded label (RFC 3209, 4.4.1.3), or a label in an ERO (RFC 3473, 5.1)."""

    label: int
    c_type: int = 1
    loose: bool = False
    flags: int = 0


@dataclass(frozen=True)
class OtherHop:
    """A subobject of another type, which goes on, or comes back in a PathErr (RFC 3209, 4.3.6)."""

    kind: int
    content: bytes
    loose: bool = False


Hop = Ipv4Hop | Ipv6Hop | AsHop | UnnumberedHop | LabelHop | OtherHop


def _encode_hop(hop: Hop, recorded: bool) -> bytes:
    """One subobject; the L bit is the top bit of the type, and only an ERO has one."""
    top = 0x80 if hop.loose and not recorded else 0
    if isinstance(hop, AsHop):
        return bytes([top | 32, 4]) + u16(hop.number)
    if isinstance(hop, OtherHop):
        return bytes([top | hop.kind, 2 + len(hop.content)]) + hop.content
    tail = hop.flags if recorded else 0
    if isinstance(hop, Ipv4Hop):
        return bytes([top | 1, 8]) + pack_ip4(hop.address) + bytes([hop.prefix, tail])
    if isinstance(hop, Ipv6Hop):
        packed = ipaddress.IPv6Address(hop.address).packed
        return bytes([top | 2, 20]) + packed + bytes([hop.prefix, tail])
    if isinstance(hop, UnnumberedHop):
        return bytes([top | 4, 12, tail, 0]) + pack_ip4(hop.router_id) + u32(hop.interface_id)
    return bytes([top | 3, 8, tail, hop.c_type]) + u32(hop.label)


def _decode_hop(data: bytes, recorded: bool, layer: str, offset: int) -> Hop:
    """Read one subobject, which `data` holds exactly."""
    loose = bool(data[0] & 0x80) and not recorded
    kind = data[0] if recorded else data[0] & 0x7F
    expected = {1: 8, 2: 20, 3: 8, 4: 12, 32: 4}.get(kind)
    if expected is None and not recorded:
        return OtherHop(kind, data[2:], loose)
    if expected is None or (kind == 32 and recorded):
        raise CodecError(layer, offset, f"subobject of type {kind}")
    if len(data) != expected:
        raise CodecError(layer, offset, f"subobject of type {kind} with {len(data)} bytes")
    if kind == 32:
        return AsHop(get(data, 2, 2), loose)
    if kind == 1:
        return Ipv4Hop(unpack_ip4(data[2:6]), data[6], loose, data[7] if recorded else 0)
    if kind == 2:
        address = str(ipaddress.IPv6Address(data[2:18]))
        return Ipv6Hop(address, data[18], loose, data[19] if recorded else 0)
    flags = data[2] if recorded else 0
    if kind == 4:
        return UnnumberedHop(unpack_ip4(data[4:8]), get(data, 8, 4), loose, flags)
    return LabelHop(get(data, 4, 4), data[3], loose, flags)


def _decode_hops(body: bytes, recorded: bool, layer: str) -> tuple[Hop, ...]:
    hops: list[Hop] = []
    offset = 0
    while offset < len(body):
        need(body, offset + 2, layer)
        length = body[offset + 1]
        # RFC 3209, 4.3.3: the length is a multiple of 4, and never 0.
        if length < 4 or length % 4 or offset + length > len(body):
            raise CodecError(layer, offset, f"subobject length {length}")
        hops.append(_decode_hop(body[offset : offset + length], recorded, layer, offset))
        offset += length
    return tuple(hops)


@register
@dataclass(frozen=True)
class ExplicitRoute(Obj):
    """EXPLICIT_ROUTE (RFC 3209, 4.3)."""

    hops: tuple[Hop, ...]

    CLASS = 20
    C_TYPE = 1

    def body(self) -> bytes:
        return b"".join(_encode_hop(hop, recorded=False) for hop in self.hops)

    @classmethod
    def parse(cls, body: bytes) -> ExplicitRoute:
        return cls(_decode_hops(body, False, "EXPLICIT_ROUTE"))

    @classmethod
    def strict(cls, *addresses: str) -> ExplicitRoute:
        """Strict hosts, in this order."""
        return cls(tuple(Ipv4Hop(address) for address in addresses))


@register
@dataclass(frozen=True)
class RecordRoute(Obj):
    """RECORD_ROUTE (RFC 3209, 4.4): the newest entry is first."""

    hops: tuple[Hop, ...] = ()

    CLASS = 21
    C_TYPE = 1

    def body(self) -> bytes:
        return b"".join(_encode_hop(hop, recorded=True) for hop in self.hops)

    @classmethod
    def parse(cls, body: bytes) -> RecordRoute:
        return cls(_decode_hops(body, True, "RECORD_ROUTE"))


def _pad_name(name: bytes) -> bytes:
    """RFC 3209, 4.7.1: the name is padded with nulls to four bytes, and takes at least eight."""
    return name.ljust(max(8, -(-len(name) // 4) * 4), b"\x00")


@register
@dataclass(frozen=True)
class SessionAttribute(Obj):
    """SESSION_ATTRIBUTE without resource affinities (RFC 3209, 4.7.1)."""

    setup_priority: int = 7
    holding_priority: int = 7
    flags: int = 0
    name: str = ""

    CLASS = 207
    C_TYPE = 7

    LOCAL_PROTECTION = 0x01
    LABEL_RECORDING = 0x02
    SE_STYLE = 0x04

    def body(self) -> bytes:
        name = self.name.encode()
        head = bytes([self.setup_priority, self.holding_priority, self.flags, len(name)])
        return head + _pad_name(name)

    @classmethod
    def parse(cls, body: bytes) -> SessionAttribute:
        need(body, 4, "SESSION_ATTRIBUTE")
        need(body, 4 + body[3], "SESSION_ATTRIBUTE")
        return cls(body[0], body[1], body[2], body[4 : 4 + body[3]].decode(errors="replace"))


@register
@dataclass(frozen=True)
class SessionAttributeRa(Obj):
    """SESSION_ATTRIBUTE with resource affinities (RFC 3209, 4.7.2)."""

    exclude_any: int = 0
    include_any: int = 0
    include_all: int = 0
    setup_priority: int = 7
    holding_priority: int = 7
    flags: int = 0
    name: str = ""

    CLASS = 207
    C_TYPE = 1

    def body(self) -> bytes:
        name = self.name.encode()
        masks = u32(self.exclude_any) + u32(self.include_any) + u32(self.include_all)
        head = bytes([self.setup_priority, self.holding_priority, self.flags, len(name)])
        return masks + head + _pad_name(name)

    @classmethod
    def parse(cls, body: bytes) -> SessionAttributeRa:
        need(body, 16, "SESSION_ATTRIBUTE")
        need(body, 16 + body[15], "SESSION_ATTRIBUTE")
        masks = (get(body, 0, 4), get(body, 4, 4), get(body, 8, 4))
        name = body[16 : 16 + body[15]].decode(errors="replace")
        return cls(*masks, body[12], body[13], body[14], name)


@dataclass(frozen=True)
class _Hello(Obj):
    """Instances of sender and neighbour (RFC 3209, 5.2)."""

    source_instance: int
    destination_instance: int

    CLASS = 22

    def body(self) -> bytes:
        return u32(self.source_instance) + u32(self.destination_instance)

    @classmethod
    def parse(cls, body: bytes) -> _Hello:
        exactly(body, 8, "HELLO")
        return cls(get(body, 0, 4), get(body, 4, 4))


@register
@dataclass(frozen=True)
class HelloRequest(_Hello):
    """HELLO REQUEST (RFC 3209, 5.2)."""

    C_TYPE = 1


@register
@dataclass(frozen=True)
class HelloAck(_Hello):
    """HELLO ACK (RFC 3209, 5.2)."""

    C_TYPE = 2
