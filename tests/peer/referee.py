"""tshark as referee: frames into a pcapng file, and what it has to say against them."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

# pcapng: block types, option codes, link type.
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
COMMENT, RESOLUTION = 1, 9
ETHERNET = 1

# tshark 4.0 reads the cookie of CHALLENGE (RFC 2747, 2.2) as one of 64 bits, whatever its length.
MISREAD = "rsvp.msg == 25 || rsvp.msg == 26"
ERROR = 0x800000


@dataclass(frozen=True)
class Frame:
    """A frame and where it was seen."""

    scenario: str
    side: str
    seconds: float
    data: bytes


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


END = struct.pack("<HH", 0, 0)


def pcapng(frames: list[Frame]) -> bytes:
    """A capture with the name of its scenario as comment on every packet."""
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    interface = struct.pack("<HHI", ETHERNET, 0, 0) + _option(RESOLUTION, b"\x09") + END
    blocks = [_block(SECTION, section), _block(INTERFACE, interface)]
    for frame in frames:
        time, size = round(frame.seconds * 1e9), len(frame.data)
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, size, size)
        comment = _option(COMMENT, f"{frame.scenario} {frame.side}".encode()) + END
        blocks.append(_block(PACKET, head + frame.data + bytes(-size % 4) + comment))
    return b"".join(blocks)


def _tshark(path: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-n", "-r", str(path)]
    for checked in ("ip", "udp"):
        command += ["-o", f"{checked}.check_checksum:TRUE"]
    found = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return found.stdout.splitlines()


def _fields(path: Path, wanted: str, *fields: str) -> list[str]:
    shown = [part for field in fields for part in ("-e", field)]
    return _tshark(path, "-Y", wanted, "-T", "fields", *shown)


def _wrong_checksums(path: Path) -> list[str]:
    """Numbers of RSVP messages with a wrong checksum, of which tshark speaks only in its text."""
    number, found = "", []
    for line in _tshark(path, "-Y", "rsvp", "-O", "rsvp"):
        if line.startswith("Frame "):
            number = line.split()[1].rstrip(":")
        elif "Checksum: " in line and "[incorrect" in line:
            found.append(number)
    return found


def complaints(path: Path) -> list[str]:
    """Packets that tshark calls malformed, or whose checksum or contents it calls wrong."""
    bad = f"(_ws.malformed || _ws.expert.severity >= {ERROR:#x}) && !({MISREAD})"
    numbers = _wrong_checksums(path)
    if numbers:
        bad = f"({bad}) || frame.number in {{{', '.join(numbers)}}}"
    return _fields(path, bad, "frame.comment", "frame.time_epoch", "_ws.col.Info", "_ws.expert.message")


def counted(path: Path, wanted: str) -> int:
    """How many packets tshark finds by a filter."""
    return len(_fields(path, wanted, "frame.number"))


def overview(path: Path) -> tuple[int, set[str], set[int]]:
    """How many packets there are, their protocols, and the types of all RSVP messages: read once."""
    lines = [line.split("\t") for line in _fields(path, "frame", "frame.protocols", "rsvp.msg")]
    protocols = {name for names, _ in lines for name in names.split(":")}
    return len(lines), protocols, {int(kind) for _, kinds in lines for kind in kinds.split(",") if kind}


def object_classes(path: Path) -> set[int]:
    """Classes of the objects of all RSVP messages."""
    return {int(number) for line in _fields(path, "rsvp", "rsvp.object") for number in line.split(",")}
