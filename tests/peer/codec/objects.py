"""RSVP objects of RFC 2205 (appendix A), and the table of all object types.

```text
       0             1              2             3
+-------------+-------------+-------------+-------------+
|       Length (bytes)      |  Class-Num  |   C-Type    |
+-------------+-------------+-------------+-------------+
|                                                       |
//                  (Object contents)                   //
|                                                       |
+-------------+-------------+-------------+-------------+
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from .errors import CodecError, exactly, get, need, pack_ip4, u16, u32, unpack_ip4


class Obj:
    """An RSVP object: `CLASS` and `C_TYPE` name it, `body` and `parse` are its contents."""

    CLASS: ClassVar[int]
    C_TYPE: ClassVar[int]

    @property
    def number(self) -> tuple[int, int]:
        """Class number and C-Type."""
        return self.CLASS, self.C_TYPE

    def body(self) -> bytes:
        """What follows the object header."""
        raise NotImplementedError

    @classmethod
    def parse(cls, body: bytes) -> Obj:
        """Read what follows the object header."""
        raise NotImplementedError

    def encode(self) -> bytes:
        """Header and contents."""
        body = self.body()
        return u16(4 + len(body)) + bytes(self.number) + body


_TYPES: dict[tuple[int, int], type[Obj]] = {}

T = TypeVar("T", bound=type[Obj])


def register(kind: T) -> T:
    """Enter a type of object into the table that `decode_objects` reads."""
    _TYPES[(kind.CLASS, kind.C_TYPE)] = kind
    return kind


@dataclass(frozen=True)
class Unknown(Obj):
    """An object whose class or C-Type this peer has no name for; contents as they came."""

    class_num: int
    c_type: int
    payload: bytes = b""

    @property
    def number(self) -> tuple[int, int]:
        return self.class_num, self.c_type

    def body(self) -> bytes:
        return self.payload


def decode_objects(data: bytes, start: int = 0) -> list[Obj]:
    """Read objects up to the end of `data`; `start` is where `data` sits in its message."""
    objects: list[Obj] = []
    offset = 0
    while offset < len(data):
        need(data, offset + 4, "rsvp object")
        length = get(data, offset, 2)
        # RFC 2205, 3.1.2: a multiple of 4, and at least 4.
        if length < 4 or length % 4:
            raise CodecError("rsvp object", start + offset, f"length {length}")
        if offset + length > len(data):
            raise CodecError("rsvp object", start + offset, f"{length} bytes overrun the message")
        class_num, c_type = data[offset + 2], data[offset + 3]
        body = data[offset + 4 : offset + length]
        kind = _TYPES.get((class_num, c_type))
        objects.append(kind.parse(body) if kind else Unknown(class_num, c_type, body))
        offset += length
    return objects


@register
@dataclass(frozen=True)
class Session(Obj):
    """LSP_TUNNEL_IPv4 session (RFC 3209, 4.6.1.1)."""

    destination: str
    tunnel_id: int
    extended_tunnel_id: str = "0.0.0.0"

    CLASS = 1
    C_TYPE = 7

    def body(self) -> bytes:
        head = pack_ip4(self.destination) + b"\x00\x00" + u16(self.tunnel_id)
        return head + pack_ip4(self.extended_tunnel_id)

    @classmethod
    def parse(cls, body: bytes) -> Session:
        exactly(body, 12, "SESSION")
        return cls(unpack_ip4(body[0:4]), get(body, 6, 2), unpack_ip4(body[8:12]))


@register
@dataclass(frozen=True)
class RsvpHop(Obj):
    """IPv4 RSVP_HOP (RFC 2205, A.2): the interface's address and its logical handle."""

    address: str
    handle: int = 0

    CLASS = 3
    C_TYPE = 1

    def body(self) -> bytes:
        return pack_ip4(self.address) + u32(self.handle)

    @classmethod
    def parse(cls, body: bytes) -> RsvpHop:
        exactly(body, 8, "RSVP_HOP")
        return cls(unpack_ip4(body[0:4]), get(body, 4, 4))


@register
@dataclass(frozen=True)
class TimeValues(Obj):
    """TIME_VALUES (RFC 2205, A.4): the refresh period R."""

    refresh_ms: int = 30_000

    CLASS = 5
    C_TYPE = 1

    def body(self) -> bytes:
        return u32(self.refresh_ms)

    @classmethod
    def parse(cls, body: bytes) -> TimeValues:
        exactly(body, 4, "TIME_VALUES")
        return cls(get(body, 0, 4))


@register
@dataclass(frozen=True)
class ErrorSpec(Obj):
    """IPv4 ERROR_SPEC (RFC 2205, A.5); flags: 1 InPlace, 2 NotGuilty."""

    node: str
    code: int
    value: int = 0
    flags: int = 0

    CLASS = 6
    C_TYPE = 1

    def body(self) -> bytes:
        return pack_ip4(self.node) + bytes([self.flags, self.code]) + u16(self.value)

    @classmethod
    def parse(cls, body: bytes) -> ErrorSpec:
        exactly(body, 8, "ERROR_SPEC")
        return cls(unpack_ip4(body[0:4]), body[5], get(body, 6, 2), body[4])


@register
@dataclass(frozen=True)
class Scope(Obj):
    """IPv4 SCOPE list (RFC 2205, A.6)."""

    senders: tuple[str, ...] = ()

    CLASS = 7
    C_TYPE = 1

    def body(self) -> bytes:
        return b"".join(pack_ip4(sender) for sender in self.senders)

    @classmethod
    def parse(cls, body: bytes) -> Scope:
        return cls(tuple(unpack_ip4(body[i : i + 4]) for i in range(0, len(body), 4)))


@register
@dataclass(frozen=True)
class Style(Obj):
    """STYLE (RFC 2205, A.7): the option vector's low five bits name the style."""

    vector: int
    flags: int = 0

    CLASS = 8
    C_TYPE = 1
    FF: ClassVar[int] = 0b01010
    WF: ClassVar[int] = 0b10001
    SE: ClassVar[int] = 0b10010

    def body(self) -> bytes:
        return bytes([self.flags]) + self.vector.to_bytes(3, "big")

    @classmethod
    def parse(cls, body: bytes) -> Style:
        exactly(body, 4, "STYLE")
        return cls(get(body, 1, 3), body[0])


@dataclass(frozen=True)
class _LspSender(Obj):
    """LSP_TUNNEL_IPv4 sender (RFC 3209, 4.6.2.1)."""

    address: str
    lsp_id: int

    def body(self) -> bytes:
        return pack_ip4(self.address) + b"\x00\x00" + u16(self.lsp_id)

    @classmethod
    def parse(cls, body: bytes) -> _LspSender:
        exactly(body, 8, cls.__name__)
        return cls(unpack_ip4(body[0:4]), get(body, 6, 2))


@register
@dataclass(frozen=True)
class SenderTemplate(_LspSender):
    """SENDER_TEMPLATE (RFC 3209, 4.6.2.1)."""

    CLASS = 11
    C_TYPE = 7


@register
@dataclass(frozen=True)
class FilterSpec(_LspSender):
    """FILTER_SPEC (RFC 3209, 4.6.3.1)."""

    CLASS = 10
    C_TYPE = 7


@register
@dataclass(frozen=True)
class ResvConfirm(Obj):
    """IPv4 RESV_CONFIRM (RFC 2205, A.14): who wants the confirmation."""

    receiver: str

    CLASS = 15
    C_TYPE = 1

    def body(self) -> bytes:
        return pack_ip4(self.receiver)

    @classmethod
    def parse(cls, body: bytes) -> ResvConfirm:
        exactly(body, 4, "RESV_CONFIRM")
        return cls(unpack_ip4(body))
