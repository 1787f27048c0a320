"""What a profile foretells of a row in closed form, beside what its switch does in a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf

from . import profile as profiles
from .profile import Profile
from .rows import Row, published

MESSAGE = {"packet_in": 18, "packet_out": 24}
"""Bytes of a message beside the packet."""
KEYS = {"packet-in": "packet_in", "packet-in-action": "packet_in", "packet-out": "packet_out"}
"""The value of a profile that a test of packets is about."""
WIRE_S_PER_BYTE = 8e-9
WIRE_BYTES = 4
"""The frame check sequence: a frame is there with its last bit."""
LINK_S = 1e-7
GREETING = 8
"""Messages at most with which a test begins, beside entries."""
USUAL = 0.15
"""A delay of a row that is kept back is predicted within this share."""
NEAR = 1.3
"""Packets that come up to so many times less often than the socket rests may find it in use nevertheless."""
CAPACITY = 0.05
"""So much more or less a full socket passes: rows of the study differ by that."""


@dataclass(frozen=True)
class Foretold:
    """A delay in seconds, and a share of packets received."""

    delay_s: float
    share: float
    because: str


@dataclass(frozen=True)
class Interval:
    """Between which ends a delay and a share are predicted."""

    delay_s: tuple[float, float]
    share: tuple[float, float] | None
    because: str


def _wire(size: int, links: int = 2) -> float:
    return links * ((size + WIRE_BYTES) * WIRE_S_PER_BYTE + LINK_S)


def foretold(row: Row, profile: str, duration_s: float, lead_s: float) -> Foretold:
    """Delay and share in closed form."""
    said = profiles.read(profile)
    if row.part == "control":
        return Foretold(said["echo"], 1.0, "nothing waits")
    if row.part == "data":
        return Foretold(_pipeline(said, row) + _wire(row.size), 1.0, "nothing waits")
    if row.part.startswith("flow"):
        seen = _seen(write_s(profile, row.flows, row.part == "flow-mod"), row.interval_s, lead_s)
        return Foretold(seen + _pipeline(said, row) + _wire(row.size), 1.0, "writing, and whole intervals")
    return _of_packets(said, row, duration_s)


def _pipeline(said: Profile, row: Row) -> float:
    return said["pipeline"] + said["pipeline_per_byte"] * row.size


def _seen(takes: float, gap: float, lead_s: float) -> float:
    """From additions, `lead_s` after a packet of a stream, to the first one that finds them done."""
    return max(ceil((takes + lead_s) / gap), 1) * gap - lead_s


def _of_packets(said: Profile, row: Row, duration_s: float) -> Foretold:
    key, gap = KEYS[row.part], row.interval_s
    length = row.size + MESSAGE[key]
    usual = said[key] + said[f"{key}_per_byte"] * length
    stalls = said["socket_stall"] > 0 and gap <= said["socket_linger"]
    takes = max(usual, said["socket_stall"]) if stalls else usual
    every = said["packet_in_every"] if key == "packet_in" else 0.0
    if every and gap < every:
        share = gap / every + (said["packet_in_burst"] - 1) * gap / duration_s
        return Foretold(usual + _wire(row.size), min(share, 1.0), "packets beyond a rate are dropped")
    if gap >= takes:
        return Foretold(takes + _wire(row.size), 1.0, "no packet waits for another")
    share, own = gap / takes, (takes + gap) / 2
    if key == "packet_in":
        most = said["packet_in_queue"] * takes or inf
        grown = min(own + duration_s * (1 - share) / 2, most)
        return Foretold(grown, share, "the queue grows until it is full, or the test ends")
    lasts = min(duration_s, said["reset_bytes"] / length / (1 / gap - 1 / takes) or inf)
    grown = own + lasts * (1 - share) / 2
    return Foretold(grown, share, "the queue grows until the test ends, or the connection is reset")


def write_s(profile: str, flows: int, is_change: bool = False) -> float:
    """Until so many entries are written, one after the other; of those that are there, none is moved."""
    said = profiles.read(profile)
    each = said["remote_call"] + said["entry_write"]
    moved = 0 if is_change else flows * (flows - 1) / 2
    return float(flows * each + said["entry_write_per_entry"] * moved)


def prepare_s(profile: str, row: Row) -> float:
    """How long the switch is busy at most before a test begins."""
    said = profiles.read(profile)
    entries = write_s(profile, row.flows) if row.part == "flow-mod" else write_s(profile, 1)
    return GREETING * (said["message"] + said["remote_call"]) + said["echo"] + entries


def interval(row: Row, profile: str, duration_s: float, lead_s: float) -> Interval:
    """Between which ends a row is predicted of which nothing is given."""
    said, at = profiles.read(profile), foretold(row, profile, duration_s, lead_s)
    if row.part.startswith("flow"):
        return _of_entries(row, profile)
    key, gap = KEYS.get(row.part, row.part), row.interval_s
    low, high = at.delay_s, at.delay_s
    because = at.because
    if key not in MESSAGE or at.share == 1.0:
        length = row.size + MESSAGE.get(key, 0)
        if key in MESSAGE and 1 - CAPACITY <= gap / max(said["socket_linger"], WIRE_S_PER_BYTE) <= NEAR:
            low = said[key] + said[f"{key}_per_byte"] * length
            high = max(said["socket_stall"], low)
            because = "with the stall or without: packets come about as often as the socket rests"
        return Interval((low * (1 - USUAL), high * (1 + USUAL)), (1 - CAPACITY, 1.0), because)
    if key == "packet_in" and said["packet_in_every"]:
        share = (at.share * (1 - USUAL), at.share * (1 + USUAL))
        return Interval((low * (1 - USUAL), high * (1 + USUAL)), share, because)
    ends = []
    for takes in (said["socket_stall"] * (1 - CAPACITY), said["socket_stall"] * (1 + CAPACITY)):
        for reset in (*profiles.read(profile).between.get("reset_bytes", ()), 0.0):
            other = replace(said, values={**said.values, "socket_stall": takes, "reset_bytes": reset})
            ends.append(_of_packets(other, row, duration_s))
    if key == "packet_out":
        because = "from a reset with the least bytes that fit to none: no limit fits all that is said"
    delays, shares = [one.delay_s for one in ends], [one.share for one in ends]
    return Interval(
        (min(delays) * (1 - USUAL), max(delays) * (1 + USUAL)), (min(shares), max(shares)), because
    )


def _of_entries(row: Row, profile: str) -> Interval:
    """Writing, and up to an interval of the stream; of rows that are kept back a straight line, too."""
    takes = write_s(profile, row.flows, row.part == "flow-mod")
    ends, because = [takes, takes + row.interval_s], "writing, and up to an interval of the stream"
    if row.held:
        flows, micros = published()["flow_maximum"][row.device][-1]
        ends.append(micros / 1e6 / flows * row.flows)
        because = (
            f"from {micros / 1e6 / flows:g} s for each entry, as is published of {flows} (flow maximum), to"
            " the growth of flow_add"
        )
    return Interval((min(ends) * (1 - USUAL), max(ends) * (1 + USUAL)), None, because)
