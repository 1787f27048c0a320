"""IPv4 with options, and UDP."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import CodecError, get, need, pack_ip4, u16, unpack_ip4

PROTOCOL_ICMP = 1
PROTOCOL_UDP = 17
PROTOCOL_RSVP = 46

# Router Alert: copied flag, class 0, number 20; four bytes; value 0 (RFC 2113, 2.1).
ROUTER_ALERT = bytes([0x94, 0x04, 0x00, 0x00])


def internet_checksum(data: bytes) -> int:
    """One's complement of the one's complement sum of 16-bit words (RFC 1071)."""
    if len(data) % 2:
        data += b"\x00"
    total = 0
    for index in range(0, len(data), 2):
        total += data[index] << 8 | data[index + 1]
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass(frozen=True)
class Ipv4:
    """An IPv4 packet (RFC 791, 3.1); `options` are padded to four bytes by `encode`."""

    source: str
    destination: str
    protocol: int
    payload: bytes
    ttl: int = 64
    tos: int = 0
    identification: int = 0
    dont_fragment: bool = False
    options: bytes = b""

    @property
    def router_alert(self) -> bool:
        """Whether the options hold Router Alert with value 0 (RFC 2113)."""
        rest = self.options
        while rest:
            kind = rest[0]
            if kind == 0:
                return False
            if kind == 1:
                rest = rest[1:]
                continue
            if len(rest) < 2 or rest[1] < 2 or rest[1] > len(rest):
                return False
            if rest[: rest[1]] == ROUTER_ALERT:
                return True
            rest = rest[rest[1] :]
        return False

    def encode(self) -> bytes:
        """Header with its checksum, then the payload."""
        options = self.options + b"\x00" * (-len(self.options) % 4)
        header_length = 20 + len(options)
        head = bytearray(header_length)
        head[0] = 0x40 | header_length // 4
        head[1] = self.tos
        head[2:4] = u16(header_length + len(self.payload))
        head[4:6] = u16(self.identification)
        head[6:8] = u16(0x4000 if self.dont_fragment else 0)
        head[8] = self.ttl
        head[9] = self.protocol
        head[12:16] = pack_ip4(self.source)
        head[16:20] = pack_ip4(self.destination)
        head[20:] = options
        head[10:12] = u16(internet_checksum(bytes(head)))
        return bytes(head) + self.payload

    @classmethod
    def decode(cls, data: bytes) -> Ipv4:
        """Check version, lengths and checksum; cut off what pads the frame. No fragments."""
        need(data, 20, "ipv4")
        if data[0] >> 4 != 4:
            raise CodecError("ipv4", 0, f"version {data[0] >> 4}")
        header_length = (data[0] & 0x0F) * 4
        total_length = get(data, 2, 2)
        if header_length < 20 or header_length > total_length:
            raise CodecError("ipv4", 0, f"header of {header_length} bytes in {total_length}")
        need(data, total_length, "ipv4")
        if internet_checksum(data[:header_length]) != 0:
            raise CodecError("ipv4", 10, "header checksum is wrong")
        fragment = get(data, 6, 2)
        if fragment & 0x3FFF:
            raise CodecError("ipv4", 6, "a fragment")
        return cls(
            source=unpack_ip4(data[12:16]),
            destination=unpack_ip4(data[16:20]),
            protocol=data[9],
            payload=data[header_length:total_length],
            ttl=data[8],
            tos=data[1],
            identification=get(data, 4, 2),
            dont_fragment=bool(fragment & 0x4000),
            options=data[20:header_length],
        )


@dataclass(frozen=True)
class Udp:
    """A UDP datagram (RFC 768)."""

    source_port: int
    destination_port: int
    payload: bytes

    @staticmethod
    def _pseudo(source: str, destination: str, length: int) -> bytes:
        ends = pack_ip4(source) + pack_ip4(destination)
        return ends + bytes([0, PROTOCOL_UDP]) + u16(length)

    def encode(self, source: str, destination: str) -> bytes:
        """The datagram, with the checksum over the pseudo-header of these two addresses."""
        length = 8 + len(self.payload)
        ports = u16(self.source_port) + u16(self.destination_port)
        plain = ports + u16(length) + b"\x00\x00" + self.payload
        checksum = internet_checksum(self._pseudo(source, destination, length) + plain)
        # A computed zero is sent as all ones (RFC 768).
        return plain[:6] + u16(checksum or 0xFFFF) + self.payload

    @classmethod
    def decode(cls, data: bytes, source: str, destination: str) -> Udp:
        """Read a datagram; a checksum of zero means that there is none."""
        need(data, 8, "udp")
        length = get(data, 4, 2)
        if length < 8 or length > len(data):
            raise CodecError("udp", 4, f"length {length} in {len(data)} bytes")
        data = data[:length]
        if get(data, 6, 2) and internet_checksum(cls._pseudo(source, destination, length) + data):
            raise CodecError("udp", 6, "checksum is wrong")
        return cls(get(data, 0, 2), get(data, 2, 2), data[8:])
