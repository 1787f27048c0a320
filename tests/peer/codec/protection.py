"""RSVP objects and flags of RFC 4090 (fast reroute), over IPv4 and IPv6."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from typing import ClassVar

from .errors import CodecError, exactly, pack_ip4, unpack_ip4
from .objects import Obj, register


class Asked:
    """Flags of SESSION_ATTRIBUTE that ask for protection (RFC 4090, 4.3)."""

    LOCAL = 0x01
    LABELS = 0x02
    SE_STYLE = 0x04
    BANDWIDTH = 0x08
    NODE = 0x10


class Recorded:
    """Flags of an address in RECORD_ROUTE (RFC 4090, 4.4), and of a label (RFC 3209, 4.4.1.3)."""

    AVAILABLE = 0x01
    IN_USE = 0x02
    BANDWIDTH = 0x04
    NODE = 0x08
    GLOBAL_LABEL = 0x01


@register
@dataclass(frozen=True)
class FastReroute(Obj):
    """FAST_REROUTE (RFC 4090, 4.1); the bandwidth is in bytes per second.

    ```text
    +-------------+-------------+-------------+-------------+
    | Setup Prio  | Hold Prio   | Hop-limit   |    Flags    |
    +-------------+-------------+-------------+-------------+
    |                  Bandwidth                            |
    |                  Include-any                          |
    |                  Exclude-any                          |
    |                  Include-all                          |
    +-------------+-------------+-------------+-------------+
    ```
    """

    setup_priority: int = 7
    holding_priority: int = 7
    hop_limit: int = 16
    flags: int = 0
    bandwidth: float = 0.0
    include_any: int = 0
    exclude_any: int = 0
    include_all: int = 0

    CLASS = 205
    C_TYPE = 1
    ONE_TO_ONE: ClassVar[int] = 0x01
    FACILITY: ClassVar[int] = 0x02
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("!BBBBfIII")

    def body(self) -> bytes:
        return self.LAYOUT.pack(
            self.setup_priority,
            self.holding_priority,
            self.hop_limit,
            self.flags,
            self.bandwidth,
            self.include_any,
            self.exclude_any,
            self.include_all,
        )

    @classmethod
    def parse(cls, body: bytes) -> FastReroute:
        exactly(body, cls.LAYOUT.size, "FAST_REROUTE")
        return cls(*cls.LAYOUT.unpack(body))


@register
@dataclass(frozen=True)
class LegacyFastReroute(Obj):
    """FAST_REROUTE as older routers have it: no flags, no Include-all (RFC 4090, 4.1)."""

    setup_priority: int = 7
    holding_priority: int = 7
    hop_limit: int = 16
    bandwidth: float = 0.0
    include_any: int = 0
    exclude_any: int = 0

    CLASS = 205
    C_TYPE = 7
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("!BBBxfII")

    def body(self) -> bytes:
        return self.LAYOUT.pack(
            self.setup_priority,
            self.holding_priority,
            self.hop_limit,
            self.bandwidth,
            self.include_any,
            self.exclude_any,
        )

    @classmethod
    def parse(cls, body: bytes) -> LegacyFastReroute:
        exactly(body, cls.LAYOUT.size, "FAST_REROUTE")
        return cls(*cls.LAYOUT.unpack(body))


Pair = tuple[str, str]
"""Where a detour begins, and the node that it avoids: PLR_ID and Avoid_Node_ID."""


@register
@dataclass(frozen=True)
class Detour(Obj):
    """DETOUR for IPv4 (RFC 4090, 4.2.1)."""

    pairs: tuple[Pair, ...]

    CLASS = 63
    C_TYPE = 7

    def body(self) -> bytes:
        return b"".join(pack_ip4(plr) + pack_ip4(avoided) for plr, avoided in self.pairs)

    @classmethod
    def parse(cls, body: bytes) -> Detour:
        if not body or len(body) % 8:
            raise CodecError("DETOUR", len(body), "no whole number of pairs")
        found = struct.iter_unpack("!4s4s", body)
        return cls(tuple((unpack_ip4(plr), unpack_ip4(avoided)) for plr, avoided in found))


@register
@dataclass(frozen=True)
class Detour6(Obj):
    """DETOUR for IPv6 (RFC 4090, 4.2.2)."""

    pairs: tuple[Pair, ...]

    CLASS = 63
    C_TYPE = 8

    def body(self) -> bytes:
        return b"".join(ipaddress.IPv6Address(one).packed for pair in self.pairs for one in pair)

    @classmethod
    def parse(cls, body: bytes) -> Detour6:
        if not body or len(body) % 32:
            raise CodecError("DETOUR", len(body), "no whole number of pairs")
        found = struct.iter_unpack("!16s16s", body)
        pairs = [tuple(str(ipaddress.IPv6Address(one)) for one in pair) for pair in found]
        return cls(tuple((plr, avoided) for plr, avoided in pairs))
