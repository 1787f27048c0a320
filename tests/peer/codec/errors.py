"""The one error that every decoder here raises, and the small readers that raise it."""

from __future__ import annotations

import ipaddress


class CodecError(ValueError):
    """Bytes that do not follow the format: which layer, at which offset, and why."""

    def __init__(self, layer: str, offset: int, reason: str) -> None:
        super().__init__(f"{layer} at {offset}: {reason}")
        self.layer = layer
        self.offset = offset
        self.reason = reason


def need(data: bytes, length: int, layer: str) -> None:
    """Refuse `data` that is shorter than `length`."""
    if len(data) < length:
        raise CodecError(layer, len(data), f"{length} bytes needed, {len(data)} there")


def exactly(data: bytes, length: int, layer: str) -> None:
    """Refuse `data` that is not `length` bytes long."""
    if len(data) != length:
        raise CodecError(layer, len(data), f"{length} bytes expected, {len(data)} there")


def pack_ip4(address: str) -> bytes:
    """Dotted decimal to four bytes."""
    return ipaddress.IPv4Address(address).packed


def unpack_ip4(data: bytes) -> str:
    """Four bytes to dotted decimal."""
    return str(ipaddress.IPv4Address(data))


def u16(value: int) -> bytes:
    """Two bytes, network order."""
    return value.to_bytes(2, "big")


def u32(value: int) -> bytes:
    """Four bytes, network order."""
    return value.to_bytes(4, "big")


def get(data: bytes, start: int, length: int) -> int:
    """The unsigned number at `start`, network order."""
    return int.from_bytes(data[start : start + length], "big")
