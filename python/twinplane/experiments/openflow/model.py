"""What a profile foretells of a row in closed form, beside what its switch does in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...profiles import switches
from ...units import seconds, span_ps
from .rows import Row

MESSAGE = {"packet-in": 18, "packet-out": 24}
"""Bytes of a message beside the packet."""
WIRE_S_PER_BYTE = 8e-9
WIRE_BYTES = 4
"""The frame check sequence: a frame is there with its last bit."""


CAPACITY = 0.05
"""So much more or less a full socket passes: rows of the study differ by that."""


@dataclass(frozen=True)
class Foretold:
    """A delay and a share of packets received."""

    delay_s: float
    low_s: float
    high_s: float
    share: float
    because: str


@cache
def _profile(name: str) -> Mapping[str, Any]:
    found = dict(switches.resolve(name))
    return {key: seconds(span_ps(value)) if _is_time(value) else value for key, value in found.items()}


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and value[:1].isdigit() and value.endswith("s")


def _wire(size: int, links: int) -> float:
    return links * ((size + WIRE_BYTES) * WIRE_S_PER_BYTE + 1e-7)


def foretold(row: Row, profile: str, duration_s: float) -> Foretold | None:
    """Delay and share of a test of packets; nothing of tests of entries."""
    said, gap = _profile(profile), row.interval_s
    if row.part == "control":
        return _certain(said["echo"])
    if row.part == "data":
        own = said["pipeline"] + said["pipeline_per_byte"] * row.size
        return _certain(own + _wire(row.size, 2))
    key = {"packet-in": "packet_in", "packet-in-action": "packet_in", "packet-out": "packet_out"}[row.part]
    length = row.size + MESSAGE["packet-out" if key == "packet_out" else "packet-in"]
    usual = said[key] + said[f"{key}_per_byte"] * length
    stall, linger = said["socket_stall"], said["socket_linger"]
    takes = max(usual, stall) if stall and gap <= linger else usual
    every = said["packet_in_every"] if key == "packet_in" else 0.0
    wire = _wire(row.size, 2)
    if every and gap < every:
        return Foretold(
            usual + wire, usual * 0.85, usual * 1.15, gap / every, "packets beyond a rate are dropped"
        )
    if gap >= takes:
        low, high = usual * 0.85, max(usual, stall if stall and gap <= linger * 1.3 else usual) * 1.15
        return Foretold(takes + wire, low, high + wire, 1.0, "no packet waits for another")
    most = said["packet_in_queue"] if key == "packet_in" else 0
    limit = said["reset_bytes"] if key == "packet_out" else 0

    def delay(takes: float) -> float:
        """Half of what the queue grows to: until it is full, the connection is reset, or the test ends."""
        if takes <= gap:
            return float(usual)
        lasts = duration_s
        if limit:
            lasts = min(lasts, limit / length / (1 / gap - 1 / takes))
        grown = lasts * (1 - gap / takes) / 2
        return float(min(grown, most * takes) if most else grown)

    ends = [delay(takes * (1 + side * CAPACITY)) for side in (-1, 1)]
    because = "the queue grows until it is full" if most else "the queue grows until the end, or the reset"
    return Foretold(delay(takes), min(ends) * 0.85, max(ends) * 1.15, gap / takes, because)


def _certain(value: float) -> Foretold:
    return Foretold(value, value * 0.85, value * 1.15, 1.0, "nothing waits")


def write_s(profile: str, flows: int, is_change: bool = False) -> float:
    """Until so many entries are written, one after the other; of those that are there, none is moved."""
    said = _profile(profile)
    each = said["remote_call"] + said["entry_write"]
    moved = 0 if is_change else flows * (flows - 1) / 2
    return float(flows * each + said["entry_write_per_entry"] * moved)


def add_interval(profile: str, row: Row) -> tuple[float, float]:
    """Between which times the first packet leaves by the last entry: writing, and an interval of the stream.

    Of the appliance's flow maximum a straight line through its last given row is the other end.
    """
    least, gap = write_s(profile, row.flows, row.part == "flow-mod"), row.interval_s
    low, high = least, least + gap
    if row.held:
        low = min(low, 0.08 * row.flows)
        high = max(high, 0.08 * row.flows)
    return low * 0.85, high * 1.15
