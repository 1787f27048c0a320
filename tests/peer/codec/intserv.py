"""RSVP objects that carry Integrated Services parameters (RFC 2210, RFC 2215)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .errors import CodecError, exactly, get, need, u16, u32
from .objects import Obj, register


@dataclass(frozen=True)
class Traffic:
    """Token bucket of RFC 2215, 3.6: rates and sizes in bytes; floats are 32-bit on the wire."""

    rate: float
    bucket: float = 1000.0
    peak: float = float("inf")
    minimum_unit: int = 0
    maximum_packet: int = 1500

    @classmethod
    def of_bits(cls, bits_per_second: float) -> Traffic:
        """A bucket of this rate in bit/s, which is its peak as well."""
        return cls(rate=bits_per_second / 8, peak=bits_per_second / 8)

    def encode(self) -> bytes:
        """Parameter 127, flags 0, length 5, then the five words (RFC 2210, 3.1)."""
        head = bytes([127, 0]) + u16(5)
        numbers = struct.pack(">fff", self.rate, self.bucket, self.peak)
        return head + numbers + u32(self.minimum_unit) + u32(self.maximum_packet)

    @classmethod
    def decode(cls, data: bytes) -> Traffic:
        """Read parameter 127."""
        exactly(data, 24, "token bucket")
        if data[0] != 127 or get(data, 2, 2) != 5:
            raise CodecError("token bucket", 0, f"parameter {data[0]} of {get(data, 2, 2)} words")
        rate, bucket, peak = struct.unpack(">fff", data[4:16])
        return cls(rate, bucket, peak, get(data, 16, 4), get(data, 20, 4))


def _service(number: int, flags: int, body: bytes) -> bytes:
    """Message header and one service header round `body` (RFC 2210, 3)."""
    words = len(body) // 4
    return u16(0) + u16(words + 1) + bytes([number, flags]) + u16(words) + body


def _open_service(data: bytes, layer: str) -> tuple[int, bytes]:
    """Service number and body behind the two headers."""
    need(data, 8, layer)
    if data[0] >> 4 != 0:
        raise CodecError(layer, 0, f"Integrated Services version {data[0] >> 4}")
    if get(data, 2, 2) * 4 + 4 != len(data) or get(data, 6, 2) * 4 + 8 != len(data):
        raise CodecError(layer, 2, "lengths do not agree")
    return data[4], data[8:]


@register
@dataclass(frozen=True)
class SenderTspec(Obj):
    """SENDER_TSPEC (RFC 2210, 3.1): service 1 round a token bucket."""

    traffic: Traffic

    CLASS = 12
    C_TYPE = 2

    def body(self) -> bytes:
        return _service(1, 0, self.traffic.encode())

    @classmethod
    def parse(cls, body: bytes) -> SenderTspec:
        service, rest = _open_service(body, "SENDER_TSPEC")
        if service != 1:
            raise CodecError("SENDER_TSPEC", 4, f"service {service}")
        return cls(Traffic.decode(rest))


@register
@dataclass(frozen=True)
class Flowspec(Obj):
    """FLOWSPEC (RFC 2210, 3.2): controlled load (5), or guaranteed (2) with rate and slack."""

    traffic: Traffic
    service: int = 5
    guaranteed_rate: float = 0.0
    slack_us: int = 0

    CLASS = 9
    C_TYPE = 2

    def body(self) -> bytes:
        inner = self.traffic.encode()
        if self.service == 2:
            inner += bytes([130, 0]) + u16(2) + struct.pack(">f", self.guaranteed_rate)
            inner += u32(self.slack_us)
        return _service(self.service, 0, inner)

    @classmethod
    def parse(cls, body: bytes) -> Flowspec:
        service, rest = _open_service(body, "FLOWSPEC")
        if service == 5:
            return cls(Traffic.decode(rest))
        if service != 2 or len(rest) != 36:
            raise CodecError("FLOWSPEC", 4, f"service {service} with {len(rest)} bytes")
        if rest[24] != 130 or get(rest, 26, 2) != 2:
            raise CodecError("FLOWSPEC", 32, f"parameter {rest[24]}")
        (rate,) = struct.unpack(">f", rest[28:32])
        return cls(Traffic.decode(rest[:24]), 2, rate, get(rest, 32, 4))


@register
@dataclass(frozen=True)
class Adspec(Obj):
    """ADSPEC (RFC 2210, 3.3): the general parameters, other services as they came."""

    hops: int = 1
    bandwidth: float = 0.0
    latency_us: int = 0
    mtu: int = 1500
    breaks: bool = False
    services: bytes = bytes([5, 0, 0, 0])

    CLASS = 13
    C_TYPE = 2

    def body(self) -> bytes:
        flags = 0x80 if self.breaks else 0
        out = bytes([1, flags]) + u16(8)
        values = (u32(self.hops), struct.pack(">f", self.bandwidth), u32(self.latency_us))
        for parameter, value in zip((4, 6, 8, 10), (*values, u32(self.mtu)), strict=True):
            out += bytes([parameter, 0]) + u16(1) + value
        out += self.services
        return u16(0) + u16(len(out) // 4) + out

    @classmethod
    def parse(cls, body: bytes) -> Adspec:
        need(body, 40, "ADSPEC")
        if body[0] >> 4 != 0 or get(body, 2, 2) * 4 + 4 != len(body):
            raise CodecError("ADSPEC", 0, "header does not agree with the length")
        if body[4] != 1 or get(body, 6, 2) != 8:
            raise CodecError("ADSPEC", 4, "no default general parameters in front")
        for offset, parameter in ((8, 4), (16, 6), (24, 8), (32, 10)):
            if body[offset] != parameter or get(body, offset + 2, 2) != 1:
                raise CodecError("ADSPEC", offset, f"parameter {body[offset]}")
        (bandwidth,) = struct.unpack(">f", body[20:24])
        return cls(
            hops=get(body, 12, 4),
            bandwidth=bandwidth,
            latency_us=get(body, 28, 4),
            mtu=get(body, 36, 4),
            breaks=bool(body[5] & 0x80),
            services=body[40:],
        )
