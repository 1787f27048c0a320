"""What is compared with the kernel's TCP: transfers over two routers, and how near both should come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MSS = 1024
"""Bytes of data in a segment: our congestion window begins with two of 1,024 bytes."""
INITIAL_SEGMENTS = 2
LEAST_TIMEOUT_S = 1.0
"""Our least retransmission timeout (RFC 6298, 2.4); the kernel's is set to it."""
DEFER_S = 0.04
"""How long acknowledgements wait at most where they are deferred: the kernel's least delay."""
WIDEST = 65_535
"""The widest window that needs no scaling (RFC 7323, 2)."""
LOSSLESS_WITHIN, LOSSY_WITHIN = 0.03, 0.15
"""By which share of the kernel's completion time and throughput ours may be off."""

Kind = Literal["window", "short", "link", "loss", "beyond"]
"""What limits a transfer. What is beyond the claim is measured and explained, and has no bound."""


@dataclass(frozen=True)
class Setting:
    """A transfer from one host to another."""

    name: str
    kind: Kind
    bytes: int
    congestion: str
    window: int
    """Bytes that the receiver lets be in flight: its receive buffer."""
    rate_mbps: float = 10
    delay_ms: float = 20
    """Of the link between the routers, in one direction: half of the round-trip time."""
    sack: bool = False
    """Are selective acknowledgements offered and taken?"""
    share: float = 0.0
    """Share of the packets that the link loses on the way to the receiver."""
    places: int = 200
    """Packets that the queue in front of the link holds."""
    deferred: bool = False
    """Do acknowledgements wait for a second segment? Else each segment is acknowledged."""

    @property
    def scaled(self) -> bool:
        """Does the window need scaling?"""
        return self.window > WIDEST

    @property
    def within(self) -> float | None:
        """The bound; absent where nothing is claimed."""
        if self.kind == "beyond":
            return None
        return LOSSY_WITHIN if self.kind == "loss" else LOSSLESS_WITHIN

    @property
    def round_trip_s(self) -> float:
        """Without queues and without the time that packets take on the link."""
        return self.delay_ms / 500

    def network_file(self, name: str) -> str:
        """The network, for virtual time and for a lab."""
        queue = f"queue: {{r1: {{discipline: pfifo, limit: {self.places}}}}}"
        link = f"rate: {self.rate_mbps:g} Mbit/s, delay: {self.delay_ms:g} ms, mtu: 1500, {queue}"
        return f"""\
name: {name}
nodes:
  left:  {{kind: host, address: 10.1.0.2/24}}
  right: {{kind: host, address: 10.2.0.2/24}}
  r1:    {{kind: router, offload: false}}
  r2:    {{kind: router, offload: false}}
links:
  - [left, r1, {{mtu: 1500}}]
  - [r1, r2, {{{link}}}]
  - [r2, right, {{mtu: 1500}}]
"""


def segments(count: int) -> int:
    """Bytes of so many full segments."""
    return count * MSS


SETTINGS = (
    Setting("window of 8 segments", "window", 400_000, "reno", segments(8)),
    Setting("window of 16 segments", "window", 600_000, "cubic", segments(16), delay_ms=30),
    Setting("window of 32 segments", "window", 1_200_000, "reno", segments(32), delay_ms=40, sack=True),
    Setting(
        "window of 128 segments, scaled",
        "window",
        *(3_000_000, "cubic", segments(128)),
        rate_mbps=20,
        delay_ms=60,
        sack=True,
    ),
    Setting("10 segments", "short", segments(10), "reno", WIDEST, delay_ms=30),
    Setting("100 segments", "short", segments(100), "cubic", WIDEST, delay_ms=30),
    Setting("a link of 5 Mbit/s", "link", 2_000_000, "reno", WIDEST, rate_mbps=5),
    Setting("3 of 1,000 lost, Reno", "loss", 4_000_000, "reno", segments(32), share=0.003),
    Setting("3 of 1,000 lost, CUBIC", "loss", 4_000_000, "cubic", segments(32), share=0.003),
    Setting("queue of 25, Reno", "loss", 8_000_000, "reno", WIDEST, rate_mbps=5, places=25),
    Setting("deferred acknowledgements", "beyond", segments(100), "reno", WIDEST, delay_ms=30, deferred=True),
    Setting("queue of 25, CUBIC", "beyond", 8_000_000, "cubic", WIDEST, rate_mbps=5, places=25),
    Setting("1 of 100 lost, Reno", "beyond", 2_000_000, "reno", segments(32), share=0.01),
)
"""Ten with a bound, and behind them some without."""
