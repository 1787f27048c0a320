"""What links of the core do to packets: times and rates in closed form, on Ethernet and on ATM."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .parameters import STM1_CELLS, TagSwitchingParameters

NEAR = 100e6
"""Bits per second of links of Ethernet beside the core."""
WIRE, TAG, LEAST = 38, 4, 84
"""Bytes beside an IP packet on Ethernet (header, check sequence, preamble, gap), of a tag, and of the
shortest frame with preamble and gap."""
HEADERS, MTU = 40, 1500
"""Bytes of IP and TCP, and of the longest packet."""
BUFFER_PACKETS = 100
"""Packets of that length that wait at most in front of the link between two switches."""
CELL_BYTES, CELL_BITS, TRAILER = 48, 424, 8
"""What a cell holds, what it takes, and what AAL5 has behind a packet, in bytes but for the second."""
ENCAPSULATIONS = {"vc-mux": 0, "shim": 4, "llc-snap": 8}
"""Bytes in front of a packet."""


def cells_of(ip: int, encapsulation: str) -> int:
    """How many cells an IP packet takes."""
    return -(-(ip + ENCAPSULATIONS[encapsulation] + TRAILER) // CELL_BYTES)


class Links(ABC):
    """The links of a path."""

    @abstractmethod
    def packet_s(self, ip: int) -> float:
        """How long the slowest link is busy with an IP packet of so many bytes."""

    @abstractmethod
    def one_way_s(self, ip: int) -> float:
        """From host to host, but for propagation."""

    def data_mbps(self, packet: int, acks: float = 0.0) -> float:
        """Data in segments of such packets, beside so many acknowledgements for each."""
        return (packet - HEADERS) * 8 / (self.packet_s(packet) + acks * self.packet_s(HEADERS)) / 1e6

    def ip_mbps(self, packet: int) -> float:
        """IP in packets of this length."""
        return packet * 8 / self.packet_s(packet) / 1e6


def _frame(ip: int, tagged: bool) -> int:
    """Bytes from the first to the last of the frame of an IP packet: without preamble and gap."""
    return max(ip + 18 + (TAG if tagged else 0), 64)


def frame_s(ip: int) -> float:
    """How long an IP packet takes on a link of Ethernet beside the core."""
    return _frame(ip, False) * 8 / NEAR


@dataclass(frozen=True)
class EthernetLinks(Links):
    """Links of Ethernet: switches store and forward frames."""

    rate: float
    hops: int
    tagged: bool

    def packet_s(self, ip: int) -> float:
        """With what lies between two frames."""
        return max(ip + WIRE + (TAG if self.tagged else 0), LEAST) * 8 / self.rate

    def one_way_s(self, ip: int) -> float:
        """The last switch takes the tag off: all links of the core have it, and none behind them."""
        core = _frame(ip, self.tagged) * 8 / self.rate * self.hops
        return core + 4 * frame_s(ip)


@dataclass(frozen=True)
class AtmLinks(Links):
    """Links of ATM: switches store and forward cells.

    Edge routers send them at the rate of the core (circuits), or faster, so that they wait at the first
    switch (labels): the last one leaves that at the same time.
    """

    cells_per_s: float
    hops: int
    encapsulation: str
    merges: bool = False
    """Do switches keep cells until the last one of their packet has come (VC merge)?"""

    def packet_s(self, ip: int) -> float:
        """Its cells."""
        return cells_of(ip, self.encapsulation) / self.cells_per_s

    def one_way_s(self, ip: int) -> float:
        """The last cell leaves behind the others, and crosses each link after them; with VC merge each link
        takes all of them again.
        """
        cells = cells_of(ip, self.encapsulation)
        ends = 2 * frame_s(ip)
        if self.merges:
            return self.hops * cells / self.cells_per_s + 2 * cells / STM1_CELLS + ends
        return (cells - 1 + self.hops) / self.cells_per_s + 2 / STM1_CELLS + ends


def encapsulation_of(p: TagSwitchingParameters, tagged: bool) -> str:
    """What stands in front of packets on ATM."""
    return p.tag_encapsulation if tagged else p.plain_encapsulation


def links(p: TagSwitchingParameters, hops: int, tagged: bool) -> Links:
    """The links of a path with so many between switches, with tags or without."""
    if p.medium == "atm":
        return AtmLinks(p.cells_per_s, hops, encapsulation_of(p, tagged), tagged and p.merges)
    return EthernetLinks(p.rate_mbps * 1e6, hops, tagged)
