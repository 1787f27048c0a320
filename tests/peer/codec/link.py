"""Ethernet II, ARP and the MPLS label stack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .errors import CodecError, get, need, pack_ip4, u16, u32, unpack_ip4

TYPE_IPV4 = 0x0800
TYPE_ARP = 0x0806
TYPE_MPLS = 0x8847

BROADCAST = b"\xff" * 6

# A frame has at least 64 bytes with its check sequence, 60 without (IEEE 802.3, 4.2.3.3).
MINIMUM = 60

# Reserved labels (RFC 3032, 2.1).
LABEL_EXPLICIT_NULL = 0
LABEL_IMPLICIT_NULL = 3
LABEL_FIRST_UNRESERVED = 16
LABEL_MAX = 0xFFFFF


@dataclass(frozen=True)
class Ethernet:
    """An Ethernet II frame without its check sequence."""

    destination: bytes
    source: bytes
    ethertype: int
    payload: bytes

    def encode(self) -> bytes:
        """The frame, padded with zeros to the least length."""
        frame = self.destination + self.source + u16(self.ethertype) + self.payload
        return frame.ljust(MINIMUM, b"\x00")

    @classmethod
    def decode(cls, data: bytes) -> Ethernet:
        """Read a frame; what pads it stays in the payload."""
        need(data, 14, "ethernet")
        return cls(data[0:6], data[6:12], get(data, 12, 2), data[14:])


@dataclass(frozen=True)
class Arp:
    """Address resolution for IPv4 over Ethernet (RFC 826)."""

    operation: int
    sender_mac: bytes
    sender_ip: str
    target_mac: bytes
    target_ip: str

    REQUEST = 1
    REPLY = 2

    def encode(self) -> bytes:
        """The 28 bytes that follow the Ethernet header."""
        head = u16(1) + u16(TYPE_IPV4) + bytes([6, 4]) + u16(self.operation)
        sender = self.sender_mac + pack_ip4(self.sender_ip)
        return head + sender + self.target_mac + pack_ip4(self.target_ip)

    @classmethod
    def decode(cls, data: bytes) -> Arp:
        """Read a request or a reply, and refuse other hardware and protocols."""
        need(data, 28, "arp")
        if (get(data, 0, 2), get(data, 2, 2), data[4], data[5]) != (1, TYPE_IPV4, 6, 4):
            raise CodecError("arp", 0, "not IPv4 over Ethernet")
        return cls(
            get(data, 6, 2),
            data[8:14],
            unpack_ip4(data[14:18]),
            data[18:24],
            unpack_ip4(data[24:28]),
        )


@dataclass(frozen=True)
class LabelEntry:
    """One label stack entry (RFC 3032, 2.1; traffic class: RFC 5462).

    ```text
     0                   1                   2                   3
     0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    |                Label                  | TC  |S|       TTL     |
    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    ```
    """

    label: int
    ttl: int = 64
    traffic_class: int = 0
    bottom: bool = True

    def encode(self) -> bytes:
        """The four bytes."""
        word = self.label << 12 | self.traffic_class << 9 | int(self.bottom) << 8 | self.ttl
        return u32(word)

    @classmethod
    def decode(cls, data: bytes) -> LabelEntry:
        """Read the first four bytes."""
        need(data, 4, "mpls")
        word = get(data, 0, 4)
        return cls(word >> 12, word & 0xFF, word >> 9 & 7, bool(word >> 8 & 1))


def encode_stack(entries: Iterable[LabelEntry]) -> bytes:
    """Entries from the top; only the last one gets the bottom bit, whatever they say."""
    listed = list(entries)
    parts = []
    for index, entry in enumerate(listed):
        bottom = index == len(listed) - 1
        parts.append(LabelEntry(entry.label, entry.ttl, entry.traffic_class, bottom).encode())
    return b"".join(parts)


def decode_stack(data: bytes) -> tuple[list[LabelEntry], bytes]:
    """Entries from the top down to the bottom bit, and the bytes below them."""
    entries: list[LabelEntry] = []
    offset = 0
    while True:
        if len(data) < offset + 4:
            raise CodecError("mpls", offset, "the stack has no bottom")
        entry = LabelEntry.decode(data[offset:])
        entries.append(entry)
        offset += 4
        if entry.bottom:
            return entries, data[offset:]
