"""The referee notices what is wrong: else its silence about the router would mean nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import codec as c
from . import referee

pytestmark = pytest.mark.needs("tshark")

HELLO = c.Message(c.Type.HELLO, [c.HelloRequest(1, 0)], ttl=1).encode()


def frame(payload: bytes) -> referee.Frame:
    """An RSVP message on the wire."""
    packet = c.Ipv4("10.0.0.1", "10.0.0.2", 46, payload, ttl=1).encode()
    data = c.Ethernet(b"\x02" * 6, b"\x04" * 6, 0x0800, packet).encode()
    return referee.Frame("scenario", "west", 1.5, data)


def patched(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


BROKEN = {
    "checksum of the message": frame(patched(HELLO, 2, b"\x12\x34")).data,
    "checksum of the IP header": patched(frame(HELLO).data, 24, b"\x12\x34"),
    "cut object": frame(HELLO[:-4]).data,
}


def complaints(path: Path, *frames: referee.Frame) -> list[str]:
    path.write_bytes(referee.pcapng(list(frames)))
    assert referee.counted(path, "frame") == len(frames)
    return referee.complaints(path)


def test_nothing_against_a_good_one(tmp_path: Path) -> None:
    assert complaints(tmp_path / "good.pcapng", frame(HELLO)) == []


@pytest.mark.parametrize("what", BROKEN)
def test_bad_ones_are_named(tmp_path: Path, what: str) -> None:
    bad = referee.Frame("scenario", "east", 2.0, BROKEN[what])
    found = complaints(tmp_path / "bad.pcapng", frame(HELLO), bad)
    assert len(found) == 1 and found[0].startswith("scenario east"), found
