"""RSVP objects of RFC 4875 (point-to-multipoint LSPs), and the lists of leaves in messages.

Class numbers of SERO and SRRO are those that tshark names (RFC 4875, 19.5 and 19.6, leave them to RFC 4873).
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from typing import ClassVar

from .errors import exactly, pack_ip4, unpack_ip4
from .objects import Obj, register
from .rsvp import Message
from .te import ExplicitRoute, Hop, Label, RecordRoute


@register
@dataclass(frozen=True)
class TreeSession(Obj):
    """P2MP_LSP_TUNNEL_IPv4 session (RFC 4875, 19.1.1): an identifier in the place of a destination."""

    p2mp_id: int
    tunnel_id: int
    extended_tunnel_id: str = "0.0.0.0"

    CLASS = 1
    C_TYPE = 13
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("!IHH4s")

    def body(self) -> bytes:
        return self.LAYOUT.pack(self.p2mp_id, 0, self.tunnel_id, pack_ip4(self.extended_tunnel_id))

    @classmethod
    def parse(cls, body: bytes) -> TreeSession:
        exactly(body, cls.LAYOUT.size, "SESSION")
        p2mp_id, _, tunnel_id, extended = cls.LAYOUT.unpack(body)
        return cls(p2mp_id, tunnel_id, unpack_ip4(extended))


@dataclass(frozen=True)
class _TreeSender(Obj):
    """Sender, LSP and sub-group (RFC 4875, 19.2.1)."""

    address: str
    lsp_id: int
    originator: str
    sub_group: int

    LAYOUT: ClassVar[struct.Struct] = struct.Struct("!4sHH4sHH")

    def body(self) -> bytes:
        sender, originator = pack_ip4(self.address), pack_ip4(self.originator)
        return self.LAYOUT.pack(sender, 0, self.lsp_id, originator, 0, self.sub_group)

    @classmethod
    def parse(cls, body: bytes) -> _TreeSender:
        exactly(body, cls.LAYOUT.size, cls.__name__)
        sender, _, lsp_id, originator, _, sub_group = cls.LAYOUT.unpack(body)
        return cls(unpack_ip4(sender), lsp_id, unpack_ip4(originator), sub_group)

    @property
    def group(self) -> tuple[str, int]:
        """Who named the sub-group, and how."""
        return self.originator, self.sub_group


@register
@dataclass(frozen=True)
class TreeSender(_TreeSender):
    """P2MP_LSP_TUNNEL_IPv4 SENDER_TEMPLATE (RFC 4875, 19.2.1)."""

    CLASS = 11
    C_TYPE = 12

    def filter(self) -> TreeFilter:
        """The FILTER_SPEC that means it."""
        return TreeFilter(self.address, self.lsp_id, self.originator, self.sub_group)


@register
@dataclass(frozen=True)
class TreeFilter(_TreeSender):
    """P2MP LSP_IPv4 FILTER_SPEC (RFC 4875, 19.4.1)."""

    CLASS = 10
    C_TYPE = 12


@register
@dataclass(frozen=True)
class SubLsp(Obj):
    """S2L_SUB_LSP over IPv4 (RFC 4875, 19.3.1): one leaf."""

    leaf: str

    CLASS = 50
    C_TYPE = 1

    def body(self) -> bytes:
        return pack_ip4(self.leaf)

    @classmethod
    def parse(cls, body: bytes) -> SubLsp:
        exactly(body, 4, "S2L_SUB_LSP")
        return cls(unpack_ip4(body))


@register
@dataclass(frozen=True)
class SubLsp6(Obj):
    """S2L_SUB_LSP over IPv6 (RFC 4875, 19.3.2)."""

    leaf: str

    CLASS = 50
    C_TYPE = 2

    def body(self) -> bytes:
        return ipaddress.IPv6Address(self.leaf).packed

    @classmethod
    def parse(cls, body: bytes) -> SubLsp6:
        exactly(body, 16, "S2L_SUB_LSP")
        return cls(str(ipaddress.IPv6Address(body)))


@register
@dataclass(frozen=True)
class SecondaryRoute(Obj):
    """P2MP SECONDARY_EXPLICIT_ROUTE, the SERO (RFC 4875, 19.5): contents as in EXPLICIT_ROUTE."""

    hops: tuple[Hop, ...]

    CLASS = 200
    C_TYPE = 2

    def body(self) -> bytes:
        return ExplicitRoute(self.hops).body()

    @classmethod
    def parse(cls, body: bytes) -> SecondaryRoute:
        return cls(ExplicitRoute.parse(body).hops)


@register
@dataclass(frozen=True)
class SecondaryRecord(Obj):
    """P2MP SECONDARY_RECORD_ROUTE, the SRRO (RFC 4875, 19.6): contents as in RECORD_ROUTE."""

    hops: tuple[Hop, ...]

    CLASS = 201
    C_TYPE = 2

    def body(self) -> bytes:
        return RecordRoute(self.hops).body()

    @classmethod
    def parse(cls, body: bytes) -> SecondaryRecord:
        return cls(RecordRoute.parse(body).hops)


Routed = tuple[str, tuple[Hop, ...] | None]
"""A leaf, and the explicit route that a Path gives it, if any."""


def routed_leaves(path: Message) -> list[Routed]:
    """The leaves of a Path: the first has the ERO, the others what follows them (RFC 4875, 5.1)."""
    first = path.get(ExplicitRoute)
    found: list[Routed] = []
    for item in path.objects:
        if isinstance(item, SubLsp):
            found.append((item.leaf, first.hops if first and not found else None))
        elif isinstance(item, SecondaryRoute) and len(found) > 1:
            found[-1] = (found[-1][0], item.hops)
    return found


@dataclass(frozen=True)
class Reserved:
    """A leaf of a Resv: sender, label and recorded route (RFC 4875, 6.1 and 6.3.1)."""

    leaf: str
    filter: TreeFilter
    label: int | None
    record: tuple[Hop, ...] | None


def reserved_leaves(resv: Message) -> list[Reserved]:
    """The leaves of a Resv: the first behind a FILTER_SPEC has the RRO, the others an SRRO."""
    found: list[Reserved] = []
    sender: TreeFilter | None = None
    label: int | None = None
    record: tuple[Hop, ...] | None = None
    for item in resv.objects:
        if isinstance(item, TreeFilter):
            sender, label, record = item, None, None
        elif isinstance(item, Label):
            label = item.label
        elif isinstance(item, RecordRoute):
            record = item.hops
        elif isinstance(item, SubLsp) and sender is not None:
            found.append(Reserved(item.leaf, sender, label, record))
            record = None
        elif isinstance(item, SecondaryRecord) and found:
            last = found[-1]
            found[-1] = Reserved(last.leaf, last.filter, last.label, item.hops)
    return found


def leaves_of(message: Message) -> list[str]:
    """The leaves that a message names, in order."""
    return [item.leaf for item in message.all(SubLsp)]
