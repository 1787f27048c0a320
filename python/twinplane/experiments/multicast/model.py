"""Throughput in closed form: the link from PC2 to PC3 or the core's processor, whichever is slower."""

from __future__ import annotations

from dataclasses import dataclass

from ... import profiles
from .parameters import CORE_LINKS, RATE, MulticastParameters, fragments, wire_bytes

PROBE_BYTES = 84
"""The shortest frame, with preamble and gap."""

COPY_US = (2.77, 14.8)
"""Between these times for a copy all that the study says of 8192-byte packets and of processors holds; see
docs/models/multicast.md."""
CORE_US = 65_536 / 93.3 / 6
"""Time of the core for a fragment and its three copies, from the group of four: 93.3 Mbit/s."""


@dataclass(frozen=True)
class Times:
    """What the processor of a router takes, in microseconds."""

    packet: float
    lookup: float
    copy: float

    def core(self, copies: int) -> float:
        """For a packet at the core."""
        return self.packet + self.lookup + copies * self.copy

    def ingress(self, labelled: bool) -> float:
        """For a packet at PC2: one look-up for IP, two for a label."""
        return self.packet + (2 if labelled else 1) * self.lookup + self.copy

    @property
    def probes(self) -> float:
        """For all probes that the core sends and takes in a period."""
        return CORE_LINKS * (2 * self.packet + self.lookup)


def of_profile(name: str) -> Times:
    """The times of a device profile."""
    forwarding = profiles.resolve(name)["forwarding"]
    return Times(*(float(forwarding[key]) for key in ("packet_us", "lookup_us", "copy_us")))


def bounds() -> list[Times]:
    """The ends of what the published rows leave."""
    return [Times(CORE_US - 1.0 - 3 * copy, 1.0, copy) for copy in COPY_US]


def throughput(p: MulticastParameters, times: Times) -> float:
    """What each receiver gets of UDP payload, in Mbit/s."""
    labelled = p.forwarding != "ip"
    period_us = p.probe_period_ms * 1e3
    bits = p.size * 8
    link = RATE / 1e6 - (PROBE_BYTES * 8 / period_us if p.probing else 0.0)
    by_link = bits / (wire_bytes(p.size, 1 if labelled else 0) * 8) * link
    work = max(times.core(p.receivers), times.ingress(labelled)) * len(fragments(p.size))
    free = 1.0 - (times.probes / period_us if p.probing else 0.0)
    return min(by_link, bits / work * free if work > 0 else by_link)


def interval(p: MulticastParameters) -> tuple[float, float]:
    """Between which figures the throughput lies, if nothing is known but the published rows."""
    found = [throughput(p, times) for times in bounds()]
    return min(found), max(found)
