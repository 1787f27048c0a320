"""RSVP objects of RFC 2961 (reliable delivery) and RFC 2747 (authentication)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .errors import CodecError, exactly, get, need, u32
from .objects import Obj, register

DIGEST_LENGTH = 16


@dataclass(frozen=True)
class _Identified(Obj):
    """Flags, epoch and identifier (RFC 2961, 4.2).

    ```text
    +-------------+-------------+-------------+-------------+
    |    Flags    |                   Epoch                 |
    +-------------+-------------+-------------+-------------+
    |                   Message_Identifier                  |
    +-------------+-------------+-------------+-------------+
    ```
    """

    epoch: int
    identifier: int
    flags: int = 0

    def body(self) -> bytes:
        return bytes([self.flags]) + self.epoch.to_bytes(3, "big") + u32(self.identifier)

    @classmethod
    def parse(cls, body: bytes) -> _Identified:
        exactly(body, 8, cls.__name__)
        return cls(get(body, 1, 3), get(body, 4, 4), body[0])


@register
@dataclass(frozen=True)
class MessageId(_Identified):
    """MESSAGE_ID (RFC 2961, 4.2)."""

    CLASS = 23
    C_TYPE = 1
    ACK_DESIRED: ClassVar[int] = 0x01

    @property
    def ack_desired(self) -> bool:
        """Whether the sender wants an acknowledgement."""
        return bool(self.flags & self.ACK_DESIRED)


@register
@dataclass(frozen=True)
class MessageIdAck(_Identified):
    """MESSAGE_ID_ACK (RFC 2961, 4.3)."""

    CLASS = 24
    C_TYPE = 1


@register
@dataclass(frozen=True)
class MessageIdNack(_Identified):
    """MESSAGE_ID_NACK (RFC 2961, 4.3)."""

    CLASS = 24
    C_TYPE = 2


@register
@dataclass(frozen=True)
class MessageIdList(Obj):
    """MESSAGE_ID LIST (RFC 2961, 5.1): one epoch, many identifiers."""

    epoch: int
    identifiers: tuple[int, ...]
    flags: int = 0

    CLASS = 25
    C_TYPE = 1

    def body(self) -> bytes:
        head = bytes([self.flags]) + self.epoch.to_bytes(3, "big")
        return head + b"".join(u32(identifier) for identifier in self.identifiers)

    @classmethod
    def parse(cls, body: bytes) -> MessageIdList:
        need(body, 4, "MESSAGE_ID LIST")
        listed = tuple(get(body, offset, 4) for offset in range(4, len(body), 4))
        return cls(get(body, 1, 3), listed, body[0])


@register
@dataclass(frozen=True)
class Integrity(Obj):
    """INTEGRITY with a 16-byte keyed digest (RFC 2747, 2).

    ```text
    +-------------+-------------+-------------+-------------+
    |    Flags    | 0 (Reserved)|                           |
    +-------------+-------------+                           +
    |                    Key Identifier                     |
    +-------------+-------------+-------------+-------------+
    |                    Sequence Number                    |
    |                                                       |
    +-------------+-------------+-------------+-------------+
    |                  Keyed Message Digest                 |
    ```
    """

    key_id: int
    sequence: int
    digest: bytes = bytes(DIGEST_LENGTH)
    flags: int = 0

    CLASS = 4
    C_TYPE = 1
    # RFC 2747, 2: the handshake flag is bit 7, the highest.
    HANDSHAKE: ClassVar[int] = 0x80

    def body(self) -> bytes:
        head = bytes([self.flags, 0]) + self.key_id.to_bytes(6, "big")
        return head + self.sequence.to_bytes(8, "big") + self.digest

    @classmethod
    def parse(cls, body: bytes) -> Integrity:
        need(body, 20, "INTEGRITY")
        return cls(get(body, 2, 6), get(body, 8, 8), body[16:], body[0])


@register
@dataclass(frozen=True)
class Challenge(Obj):
    """CHALLENGE (RFC 2747, 4.3): reserved, the key identifier, a cookie."""

    key_id: int
    cookie: bytes

    CLASS = 64
    C_TYPE = 1

    def body(self) -> bytes:
        return b"\x00\x00" + self.key_id.to_bytes(6, "big") + self.cookie

    @classmethod
    def parse(cls, body: bytes) -> Challenge:
        need(body, 12, "CHALLENGE")
        if get(body, 0, 2):
            raise CodecError("CHALLENGE", 0, "reserved bits are set")
        return cls(get(body, 2, 6), body[8:])
