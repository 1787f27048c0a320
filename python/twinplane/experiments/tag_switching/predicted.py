"""What arithmetic says of the parts `tcp`, `duplex`, `rtt` and `udp`, before they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ... import units
from ...profiles import hosts as profiles
from .countries import PATHS
from .links import BUFFER_PACKETS, HEADERS, MTU, TAG, Links, cells_of, encapsulation_of, links
from .parameters import TagSwitchingParameters


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


LEFT_OPEN = "how soon TCP goes on after losses is left open"


def window_of(p: TagSwitchingParameters) -> float:
    """Bytes that are in flight at most: whole segments, where there is one."""
    mss = p.packet - HEADERS
    window = p.buffer_kb * 1000
    if not _host(p).get("window_scaling", True):
        window = min(window, 65_535)
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
        return Prediction(by_link, by_link / 2, by_link * 1.01, why)
    if by_window > by_link:
        # Where windows hardly fill the link, it rests while they wait for acknowledgements.
        low = by_link * 0.99 if by_window > 2 * by_link else min(by_link * 0.99, together)
        return Prediction(by_link, low, by_link * 1.01, "rate of the link, less headers")
    if window < 2 * mss:
        # A full segment and a short one take turns, each of which waits for an acknowledgement.
        together /= 2
    # In windows of several segments acknowledgements come with every second one, and few of them are late.
    low = together if window < 5 * mss else by_window * 0.9
    return Prediction(by_window, low, by_window * 1.02, "buffer over round-trip time")


def duplex(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """Each way: as half duplex, beside no acknowledgement (all go with data) up to one for two segments."""
    half = tcp(p, tagged)
    if half.why.startswith("buffer"):
        return Prediction(
            half.value, half.low * 0.5, half.high, "buffer over a round trip that has queues in it"
        )
    why = "rate, less headers, less up to one acknowledgement for two"
    low = min(half.low, link_mbps(p, tagged, 0.5) * 0.97)
    if p.flows * p.buffer_kb * 1000 > BUFFER_PACKETS * (p.packet - HEADERS):
        # Windows that the buffer in front of the link does not hold lose packets in both directions.
        return Prediction(half.value, low / 2, half.high, f"{why}; {LEFT_OPEN}")
    return Prediction(half.value, low, half.high, why)


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
