"""Writes pcapng files (draft-ietf-opsawg-pcapng), one interface for each end of a link."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import BinaryIO

ETHERNET = 1
SHB, IDB, ISB, EPB = 0x0A0D0D0A, 1, 5, 6
INBOUND = 1


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def option(code: int, value: bytes) -> bytes:
    """An option of a block."""
    return struct.pack("<HH", code, len(value)) + _padded(value)


def block(kind: int, body: bytes, options: Sequence[bytes] = ()) -> bytes:
    """A block: its length stands at both ends."""
    content = body + (b"".join(options) + struct.pack("<HH", 0, 0) if options else b"")
    length = len(content) + 12
    return struct.pack("<II", kind, length) + content + struct.pack("<I", length)


def header(application: str) -> bytes:
    """The beginning of a section of unknown length."""
    return block(SHB, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1), [option(4, application.encode())])


def interface(name: str) -> bytes:
    """An Ethernet interface with times in nanoseconds."""
    return block(IDB, struct.pack("<HHI", ETHERNET, 0, 0), [option(2, name.encode()), option(9, b"\x09")])


def packet(place: int, time_ns: int, data: bytes | memoryview, length: int, comment: str = "") -> bytes:
    """A frame that came in at the interface with that number."""
    body = struct.pack("<IIIII", place, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), length)
    options = [option(2, struct.pack("<I", INBOUND))]
    if comment:
        options.append(option(1, comment.encode()))
    return block(EPB, body + _padded(bytes(data)), options)


def statistics(place: int, time_ns: int, received: int, dropped: int) -> bytes:
    """How many frames an interface gave, and how many were lost before they were written."""
    body = struct.pack("<III", place, time_ns >> 32, time_ns & 0xFFFFFFFF)
    return block(ISB, body, [option(4, struct.pack("<Q", received)), option(5, struct.pack("<Q", dropped))])


class Writer:
    """A file with frames of some interfaces."""

    def __init__(self, file: BinaryIO, names: Sequence[str], application: str) -> None:
        self.file = file
        self.counts = [0] * len(names)
        file.write(header(application) + b"".join(interface(name) for name in names))

    def write(
        self, place: int, time_ns: int, data: bytes | memoryview, length: int, comment: str = ""
    ) -> None:
        """Add a frame."""
        self.counts[place] += 1
        self.file.write(packet(place, time_ns, data, length, comment))

    def finish(self, time_ns: int, dropped: Sequence[int]) -> None:
        """Add what was counted."""
        for place, lost in enumerate(dropped):
            self.file.write(statistics(place, time_ns, self.counts[place] + lost, lost))
        self.file.flush()
