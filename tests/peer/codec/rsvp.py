"""RSVP messages: the common header, bundles, flow descriptors and the keyed digest."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TypeVar

from .errors import CodecError, get, need, u16
from .intserv import Flowspec
from .ip import internet_checksum
from .objects import FilterSpec, Obj, decode_objects
from .reliable import DIGEST_LENGTH, Integrity
from .te import Label, RecordRoute

# RFC 2961, 2: the sender is capable of refresh reduction.
FLAG_REFRESH_REDUCTION = 0x01

HEADER = 8


class Type(IntEnum):
    """Message types (RFC 2205, 3.1.1; RFC 2961; RFC 3097; RFC 3209, 5)."""

    PATH = 1
    RESV = 2
    PATH_ERR = 3
    RESV_ERR = 4
    PATH_TEAR = 5
    RESV_TEAR = 6
    RESV_CONF = 7
    BUNDLE = 12
    ACK = 13
    SREFRESH = 15
    HELLO = 20
    INTEGRITY_CHALLENGE = 25
    INTEGRITY_RESPONSE = 26


O = TypeVar("O", bound=Obj)  # noqa: E741


@dataclass
class Message:
    """An RSVP message (RFC 2205, 3.1.1); a Bundle keeps its sub-messages in `parts`.

    ```text
           0             1              2             3
    +-------------+-------------+-------------+-------------+
    | Vers | Flags|  Msg Type   |       RSVP Checksum       |
    +-------------+-------------+-------------+-------------+
    |  Send_TTL   | (Reserved)  |        RSVP Length        |
    +-------------+-------------+-------------+-------------+
    ```
    """

    kind: int
    objects: list[Obj] = field(default_factory=list)
    ttl: int = 64
    flags: int = 0
    parts: list[Message] = field(default_factory=list)

    def get(self, kind: type[O]) -> O | None:
        """The first object of this type, if there is one."""
        for item in self.objects:
            if isinstance(item, kind):
                return item
        return None

    def need(self, kind: type[O]) -> O:
        """The first object of this type."""
        found = self.get(kind)
        if found is None:
            raise CodecError("rsvp", HEADER, f"message {self.kind} lacks {kind.__name__}")
        return found

    def all(self, kind: type[O]) -> list[O]:
        """Every object of this type, in order."""
        return [item for item in self.objects if isinstance(item, kind)]

    def swapped(self, *new: Obj) -> Message:
        """A copy where each of `new` stands in place of the object of its type."""
        objects = list(self.objects)
        for item in new:
            for index, old in enumerate(objects):
                if type(old) is type(item):
                    objects[index] = item
                    break
            else:
                raise CodecError("rsvp", HEADER, f"no {type(item).__name__} to replace")
        return replace(self, objects=objects)

    def without(self, *kinds: type[Obj]) -> Message:
        """A copy that lacks these types."""
        return replace(self, objects=[o for o in self.objects if not isinstance(o, kinds)])

    def adding(self, *new: Obj) -> Message:
        """A copy with these objects behind the others."""
        return replace(self, objects=[*self.objects, *new])

    def encode(self, checksum: bool = True) -> bytes:
        """The bytes; without `checksum` the field is zero, which means none was sent."""
        body = b"".join(item.encode() for item in self.objects)
        body += b"".join(part.encode(checksum) for part in self.parts)
        head = bytes([0x10 | self.flags, self.kind, 0, 0, self.ttl, 0]) + u16(HEADER + len(body))
        return with_checksum(head + body) if checksum else head + body

    @classmethod
    def decode(cls, data: bytes) -> Message:
        """Check version, length and checksum, then read what the message holds."""
        need(data, HEADER, "rsvp")
        if data[0] >> 4 != 1:
            raise CodecError("rsvp", 0, f"version {data[0] >> 4}")
        length = get(data, 6, 2)
        # RFC 2205, 3.1.1: the length counts the common header and the objects.
        if length < HEADER or length % 4 or length > len(data):
            raise CodecError("rsvp", 6, f"length {length} in {len(data)} bytes")
        data = data[:length]
        if get(data, 2, 2) and internet_checksum(data):
            raise CodecError("rsvp", 2, "checksum is wrong")
        message = cls(kind=data[1], ttl=data[4], flags=data[0] & 0x0F)
        if message.kind == Type.BUNDLE:
            message._read_parts(data)
        else:
            message.objects = decode_objects(data[HEADER:], HEADER)
        return message

    def _read_parts(self, data: bytes) -> None:
        """RFC 2961, 3: an optional INTEGRITY, then whole messages, but no bundle in a bundle."""
        offset = HEADER
        # An object starts with the high byte of its length, a message with version 1.
        if len(data) >= offset + 4 and data[offset] >> 4 == 0:
            length = get(data, offset, 2)
            self.objects = decode_objects(data[offset : offset + max(length, 4)], offset)
            offset += length
        while offset < len(data):
            part = Message.decode(data[offset:])
            if part.kind == Type.BUNDLE:
                raise CodecError("rsvp", offset, "a bundle in a bundle")
            self.parts.append(part)
            offset += get(data, offset + 6, 2)
        if not self.parts:
            raise CodecError("rsvp", HEADER, "an empty bundle")


def with_checksum(data: bytes) -> bytes:
    """The same message with a right checksum."""
    plain = data[:2] + b"\x00\x00" + data[4:]
    # RFC 2205, 3.1.1: zero means that no checksum was sent.
    return plain[:2] + u16(internet_checksum(plain) or 0xFFFF) + plain[4:]


def _digest_offset(data: bytes) -> int | None:
    """Where the keyed digest of an encoded message starts."""
    offset = HEADER
    while offset + 4 <= len(data):
        length = get(data, offset, 2)
        if data[offset + 2] == Integrity.CLASS and length == 20 + DIGEST_LENGTH:
            return offset + 20
        if length < 4 or data[offset] >> 4:
            return None
        offset += length
    return None


def _digest(data: bytes, key: bytes, offset: int) -> bytes:
    """RFC 2747, 4.1: HMAC-MD5 over the message with checksum and digest zero."""
    plain = data[:2] + b"\x00\x00" + data[4:offset]
    plain += bytes(DIGEST_LENGTH) + data[offset + DIGEST_LENGTH :]
    return hmac.new(key, plain, hashlib.md5).digest()


def sign(data: bytes, key: bytes) -> bytes:
    """An encoded message with its INTEGRITY object's digest filled in, then its checksum."""
    offset = _digest_offset(data)
    if offset is None:
        raise CodecError("rsvp", HEADER, "no INTEGRITY object to sign")
    digest = _digest(data, key, offset)
    return with_checksum(data[:offset] + digest + data[offset + DIGEST_LENGTH :])


def verify_digest(data: bytes, key: bytes) -> bool:
    """Whether an encoded message has an INTEGRITY object whose digest fits `key`."""
    offset = _digest_offset(data)
    if offset is None or len(data) < offset + DIGEST_LENGTH:
        return False
    found = data[offset : offset + DIGEST_LENGTH]
    return hmac.compare_digest(found, _digest(data, key, offset))


@dataclass(frozen=True)
class FlowDescriptor:
    """One sender's part of a reservation (RFC 3209, 3.2)."""

    filter: FilterSpec
    flowspec: Flowspec | None = None
    label: Label | None = None
    record: RecordRoute | None = None


def flow_descriptors(message: Message) -> list[FlowDescriptor]:
    """Split the tail of a Resv (or of its tear, error and confirmation) by sender.

    A FLOWSPEC holds for every following sender until the next one: in SE style there is one for
    all, in FF style a descriptor may leave out what the last one said (RFC 2205, 3.1.4).
    """
    found: list[FlowDescriptor] = []
    flowspec: Flowspec | None = None
    for item in message.objects:
        if isinstance(item, Flowspec):
            flowspec = item
        elif isinstance(item, FilterSpec):
            found.append(FlowDescriptor(item, flowspec))
        elif found and isinstance(item, Label):
            found[-1] = replace(found[-1], label=item)
        elif found and isinstance(item, RecordRoute):
            found[-1] = replace(found[-1], record=item)
    return found
