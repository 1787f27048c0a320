"""What arithmetic says of the parts `tcp`, `duplex`, `rtt` and `udp`, before they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ... import units
from ...profiles import hosts as profiles
from .countries import PATHS
from .links import BUFFER_PACKETS, HEADERS, MTU, TAG, Links, cells_of, encapsulation_of, links
from .parameters import WARM, TagSwitchingParameters


@dataclass(frozen=True)
class Prediction:
    """A figure in closed form, and between which values one that is measured agrees."""

    value: float
    low: float
    high: float
    why: str


def links_of(p: TagSwitchingParameters, tagged: bool) -> Links:
    """The links of the path, with tags or without."""
    return links(p, len(PATHS[p.path]) - 1, tagged)


def processors_s(p: TagSwitchingParameters) -> float:
    """There and back: two edge routers each way, whose processors take time for a packet."""
    return 4 * p.packet_us / 1e6


def smallest_rtt_s(p: TagSwitchingParameters, tagged: bool, data: int) -> float:
    """There and back: so many bytes of data, and an acknowledgement."""
    way = links_of(p, tagged)
    still = p.rtt_ms / 1e3 + processors_s(p) + 8e-6
    return still + way.one_way_s(HEADERS + data) + way.one_way_s(HEADERS)


def link_mbps(p: TagSwitchingParameters, tagged: bool, acks: float = 0.0) -> float:
    """What a link of the core carries of data, beside so many acknowledgements for each segment."""
    return links_of(p, tagged).data_mbps(p.packet, acks)


TOGETHER = 8
"""Segments that are acknowledged together at most, for the most part."""
LEFT_OPEN = "how soon TCP goes on after losses is left open"


def bytes_of(p: TagSwitchingParameters) -> float:
    """Bytes that a buffer, and a window without scaling, allow in flight."""
    window = p.buffer_kb * 1000
    return window if _host(p).get("window_scaling", True) else min(window, 65_535)


def window_of(p: TagSwitchingParameters) -> float:
    """Bytes that are in flight at most: whole segments, where there is one."""
    mss, window = p.packet - HEADERS, bytes_of(p)
    # Nagle's algorithm: no short segment goes while others are not acknowledged.
    return window // mss * mss if window > mss else window


def _host(p: TagSwitchingParameters) -> Mapping[str, Any]:
    found: Mapping[str, Any] = profiles.resolve(p.profile).get("tcp", {})
    return found


def is_lossy(p: TagSwitchingParameters, tagged: bool) -> bool:
    """Are windows larger than what is on its way, and waits in front of the core?"""
    mss = p.packet - HEADERS
    pipe = link_mbps(p, tagged) * 1e6 / 8 * smallest_rtt_s(p, tagged, mss)
    return p.flows * window_of(p) > held_packets(p, tagged) * mss + pipe


def tcp(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """The lesser of what a window in each round trip gives, and of what the link carries."""
    mss = p.packet - HEADERS
    window, host = window_of(p), _host(p)
    rtt = smallest_rtt_s(p, tagged, int(min(window, mss)))
    by_window, by_link = p.flows * window * 8 / rtt / 1e6, link_mbps(p, tagged)
    # At worst all of a window is acknowledged together, and late: then this is the time between two windows.
    segment = links_of(p, tagged).packet_s(p.packet)
    late = units.span_ps(host.get("ack_delay", "40 ms")) / 1e12
    slowest = rtt + max(0.0, window / mss - 1) * segment + late
    together = p.flows * window * 8 / slowest / 1e6
    if is_lossy(p, tagged):
        why = f"rate of the link, less headers; {LEFT_OPEN}"
        return Prediction(by_link, by_link / 4, by_link * 1.01, why)
    if by_window > by_link:
        # Within 1 %; in short runs a few segments more or less, which are acknowledged together, are more.
        around = max(0.01 * by_link, TOGETHER * mss * 8 / 1e6 / ((1 - WARM) * p.duration_s))
        # Where windows hardly fill the link, it rests while they wait for acknowledgements.
        low = by_link - around if by_window > 2 * by_link else min(by_link - around, together)
        return Prediction(by_link, low, by_link + around, "rate of the link, less headers")
    if window < 2 * mss:
        # A full segment and a short one take turns, each of which waits for an acknowledgement.
        together /= 2
    # In windows of several segments acknowledgements come with every second one, and few of them are late.
    low = together if window < 5 * mss else by_window * 0.9
    # Short segments go in small windows where nothing is on its way, and if programs write less than one.
    more = bytes_of(p) / window if p.message < mss or window < 5 * mss else 1.0
    # And a window may be acknowledged just before or behind the end.
    around = p.flows * window * 8 / 1e6 / ((1 - WARM) * p.duration_s)
    return Prediction(by_window, low, by_window * 1.02 * more + around, "buffer over round-trip time")


def duplex(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """Each way: as half duplex, beside no acknowledgement (all go with data) up to one for two segments."""
    half = tcp(p, tagged)
    if half.why.startswith("buffer"):
        why = "buffer over a round trip that has queues in it"
        # What is short of a segment goes when an acknowledgement comes late enough.
        high = max(half.high, half.value * 1.02 * bytes_of(p) / window_of(p))
        return Prediction(half.value, half.low * 0.5, high, why)
    why = "rate, less headers, less up to one acknowledgement for two"
    low = min(half.low, link_mbps(p, tagged, 0.5) * 0.97)
    value = half.value
    # A window may be acknowledged at once, behind data of the other direction: in short runs that is much.
    around = p.flows * window_of(p) * 8 / 1e6 / ((1 - WARM) * p.duration_s)
    high = half.high + around
    if p.both_ways == "two":
        value = link_mbps(p, tagged, 0.5)
        # At worst an acknowledgement waits behind a window of the other direction while a link is idle for as
        # long as there and back takes.
        window = p.flows * window_of(p) * 8 / 1e6
        low = min(low, 0.97 * window / (window / value + smallest_rtt_s(p, tagged, p.packet - HEADERS)))
        why = "rate, less headers and an acknowledgement for two, which wait behind data"
    if p.flows * p.buffer_kb * 1000 > BUFFER_PACKETS * (p.packet - HEADERS):
        # Windows that the buffer in front of the link does not hold lose packets in both directions.
        return Prediction(value, low / 4, high, f"{why}; {LEFT_OPEN}")
    return Prediction(value, max(0.0, low - around), high, why)


def rtt(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """A request and an answer of a byte each: the shortest frames there are."""
    value = p.rtt_ms / 1e3 + processors_s(p) + 2 * links_of(p, tagged).one_way_s(HEADERS + 1) + 8e-6
    unit = "cell" if p.medium == "atm" else "frame"
    return Prediction(value, value * 0.99, value * 1.01, f"propagation, and each {unit} stored and forwarded")


def held_packets(p: TagSwitchingParameters, tagged: bool) -> int:
    """Packets that wait in front of the core: as many as bytes, or cells, of the longest."""
    if p.medium == "atm":
        return BUFFER_PACKETS * cells_of(MTU, "llc-snap") // cells_of(p.packet, encapsulation_of(p, tagged))
    return BUFFER_PACKETS * (MTU + 18) // (p.packet + 18 + (TAG if tagged else 0))


def udp(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """Nothing is lost up to the rate of the link; beyond it what it does not carry and no buffer holds."""
    carried = links_of(p, tagged).ip_mbps(p.packet)
    sent = p.udp_mbps * p.duration_s * 1e6 / 8
    held = held_packets(p, tagged) * p.packet
    value = max(0.0, 1 - (carried * p.duration_s * 1e6 / 8 + held) / sent)
    return Prediction(
        value, max(0.0, value - 0.01), value + 0.01, "rate of the link, less headers, and its buffer"
    )


def tag_vcs(p: TagSwitchingParameters) -> int:
    """VCs that lead to the networks of the two hosts: one on each link of the path, each way."""
    return 2 * (len(PATHS[p.path]) + 1)


PREDICT = {"tcp": tcp, "duplex": duplex, "rtt": rtt, "udp": udp}
