"""ICMP errors and their extensions (RFC 792, RFC 4884, RFC 4950)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import CodecError, get, need, u16
from .ip import internet_checksum
from .link import LabelEntry, decode_stack, encode_stack

DESTINATION_UNREACHABLE = 3
TIME_EXCEEDED = 11

# RFC 4884, 4: with extensions the quoted datagram takes at least 128 bytes.
QUOTE_MINIMUM = 128
# RFC 4950, 3: label stack object, incoming stack.
CLASS_MPLS_STACK = 1
TYPE_INCOMING_STACK = 1


@dataclass(frozen=True)
class IcmpExtensions:
    """The extension structure: (class, type, body) in order of arrival (RFC 4884, 7)."""

    objects: tuple[tuple[int, int, bytes], ...]

    @property
    def label_stack(self) -> list[LabelEntry] | None:
        """The stack that the packet arrived with, if the sender told it (RFC 4950, 3)."""
        for class_num, c_type, body in self.objects:
            if (class_num, c_type) == (CLASS_MPLS_STACK, TYPE_INCOMING_STACK):
                entries, rest = decode_stack(body)
                if rest:
                    raise CodecError("icmp extension", 4, "bytes below the bottom of the stack")
                return entries
        return None

    @classmethod
    def for_stack(cls, entries: list[LabelEntry]) -> IcmpExtensions:
        """Extensions that tell this label stack."""
        return cls(((CLASS_MPLS_STACK, TYPE_INCOMING_STACK, encode_stack(entries)),))

    def encode(self) -> bytes:
        """Version 2, checksum over the whole structure, then the objects."""
        body = b"".join(
            u16(4 + len(payload)) + bytes([class_num, c_type]) + payload
            for class_num, c_type, payload in self.objects
        )
        checksum = internet_checksum(b"\x20\x00\x00\x00" + body)
        return b"\x20\x00" + u16(checksum) + body

    @classmethod
    def decode(cls, data: bytes) -> IcmpExtensions:
        """Read header and objects; a checksum of zero means that there is none."""
        need(data, 4, "icmp extension")
        if data[0] >> 4 != 2:
            raise CodecError("icmp extension", 0, f"version {data[0] >> 4}")
        if get(data, 2, 2) and internet_checksum(data):
            raise CodecError("icmp extension", 2, "checksum is wrong")
        objects = []
        offset = 4
        while offset < len(data):
            need(data, offset + 4, "icmp extension")
            length = get(data, offset, 2)
            if length < 4 or offset + length > len(data):
                raise CodecError("icmp extension", offset, f"object length {length}")
            objects.append((data[offset + 2], data[offset + 3], data[offset + 4 : offset + length]))
            offset += length
        return cls(tuple(objects))


@dataclass(frozen=True)
class Icmp:
    """An ICMP message; `quote` and `extensions` are for the errors that quote a datagram."""

    kind: int
    code: int
    quote: bytes = b""
    extensions: IcmpExtensions | None = None
    rest: bytes = field(default=b"\x00\x00\x00\x00")

    def encode(self) -> bytes:
        """The message with its checksum."""
        rest, quote, tail = self.rest, self.quote, b""
        if self.extensions is not None:
            quote = quote.ljust(max(QUOTE_MINIMUM, -(-len(quote) // 4) * 4), b"\x00")
            # RFC 4884, 4.1 and 4.2: the second byte of the rest, in 32-bit words.
            rest = bytes([0, len(quote) // 4, 0, 0])
            tail = self.extensions.encode()
        plain = bytes([self.kind, self.code, 0, 0]) + rest + quote + tail
        return plain[:2] + u16(internet_checksum(plain)) + plain[4:]

    @classmethod
    def decode(cls, data: bytes) -> Icmp:
        """Read a message; for the errors, split the quote from the extensions."""
        need(data, 8, "icmp")
        if internet_checksum(data):
            raise CodecError("icmp", 2, "checksum is wrong")
        kind, code, rest = data[0], data[1], data[4:8]
        quote, extensions = data[8:], None
        if kind in (DESTINATION_UNREACHABLE, TIME_EXCEEDED) and rest[1]:
            length = rest[1] * 4
            need(data, 8 + length, "icmp")
            quote = data[8 : 8 + length]
            if len(data) > 8 + length:
                if length < QUOTE_MINIMUM:
                    raise CodecError("icmp", 5, f"extensions after a quote of {length} bytes")
                extensions = IcmpExtensions.decode(data[8 + length :])
        return cls(kind, code, quote, extensions, rest)
