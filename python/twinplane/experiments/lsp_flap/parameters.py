"""Parameters of `lsp-flap`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..parameters import Parameters

LINK_MBPS = 1000.0
OVERHEAD_BYTES = 20
"""Preamble, start delimiter and gap between frames (IEEE 802.3, 3.2 and 4.4.2)."""


def line_rate_mbps(size: int) -> float:
    """The rate at which frames of a size fill a gigabit link, counted in frame bytes, in Mbit/s."""
    return LINK_MBPS * size / (size + OVERHEAD_BYTES)


class FlapParameters(Parameters):
    """The published procedure, every number of it changeable."""

    profile: str = Field("juniper-m10", description="device profile of the routers: a name or a TOML file")
    scenario: Literal["ring", "single"] = Field("ring", description="three routers in a ring, or one router")
    family: int = Field(
        1, ge=1, le=4, description="published test family: sets m and rate_mbps unless they are given"
    )
    size: int = Field(
        512,
        ge=64,
        le=9018,
        description="bytes of a frame, with Ethernet header and frame check sequence",
        json_schema_extra={"reason": "an Ethernet frame has at least 64 bytes"},
    )
    n: int = Field(100, ge=1, le=50_000, description="LSPs that flap")
    m: int | None = Field(
        None, ge=1, le=10_000, description="stable LSPs that carry traffic (none: by family)"
    )
    rate_mbps: float | None = Field(
        None,
        gt=0,
        le=1000,
        description="rate of all traffic in Mbit/s of frame bytes (none: by family, size)",
    )
    dscp: int = Field(0, ge=0, le=63, description="code point of the traffic; its label has the class in TC")
    routers: int = Field(3, ge=2, le=3, description="routers of the ring on the explicit route")
    ring_delay_us: float = Field(57.0, ge=0, le=1e6, description="propagation between ring routers, one way")
    access_delay_us: float = Field(0.0, ge=0, le=1e6, description="propagation between tester and router")
    convention: Literal["first-to-first", "first-to-last", "last-to-last", "last-to-first"] = Field(
        "first-to-first", description="from which bit to which bit delay is measured (RFC 1242)"
    )
    setup_rate: float = Field(100.0, gt=0, le=1e6, description="LSPs signalled per second before t = 0")
    settle_s: float = Field(2.0, ge=0, le=1000, description="from the last LSP signalled to t = 0")
    signalling_rate: float = Field(1000.0, gt=0, le=1e6, description="messages per second while flapping")
    setup_timeout_s: float = Field(5.5, gt=0, le=1000, description="how long the tester waits for a Resv")
    retry_s: float = Field(0.01, gt=0, le=1000, description="pause before the tester's first new attempt")
    retry_max_s: float = Field(0.01, gt=0, le=1000, description="the longest pause between attempts")
    first_event_s: float = Field(10.0, gt=0, le=1e5, description="time of the first flapping event")
    first_period_s: float = Field(5.0, gt=0, le=1e5, description="from the first event to the second")
    second_period_s: float = Field(
        2.0, gt=0, le=1e5, description="from the second event to the end of traffic"
    )
    grace_s: float = Field(30.0, ge=0, le=1e5, description="from the end of traffic to the last look")
    end_window_s: float = Field(0.1, gt=0, le=100, description="length of the last stretch of traffic")
    series_bin_ms: float = Field(10.0, gt=0, le=1e5, description="bin of the series over time")
    refresh_reduction: bool = Field(False, description="use RFC 2961 between all nodes")
    clock_ppm: float = Field(0.0, ge=-1000, le=1000, description="how fast the tester's clock runs")

    @model_validator(mode="after")
    def _fits_the_link(self) -> FlapParameters:
        if self.rate_mbps is not None and self.rate_mbps > line_rate_mbps(self.size) + 0.05:
            raise ValueError(
                f"rate_mbps={self.rate_mbps:g}: frames of {self.size} bytes fill a gigabit link at"
                f" {line_rate_mbps(self.size):.1f} Mbit/s"
            )
        if self.end_window_s >= self.second_period_s:
            raise ValueError(
                f"end_window_s={self.end_window_s:g}: it is a part of the second period"
                f" (below {self.second_period_s:g})"
            )
        if self.retry_max_s < self.retry_s:
            raise ValueError(f"retry_max_s={self.retry_max_s:g}: it is below retry_s ({self.retry_s:g})")
        return self

    @property
    def stable(self) -> int:
        """M: by family, as many as flap (2 and 4) or 100 (1 and 3)."""
        if self.m is not None:
            return self.m
        return self.n if self.family in (2, 4) else 100

    @property
    def rate(self) -> float:
        """Mbit/s of frame bytes: 500, or 900 and at most line rate (families 3 and 4)."""
        if self.rate_mbps is not None:
            return self.rate_mbps
        wanted = 500.0 if self.family in (1, 2) else 900.0
        # 64 bytes: 761.9, as published; rounded down so that the port is never asked for more than it has.
        return min(wanted, int(line_rate_mbps(self.size) * 10) / 10)

    @property
    def hops(self) -> int:
        """Routers on the way of an LSP."""
        return 1 if self.scenario == "single" else self.routers

    @property
    def begin_s(self) -> float:
        """When t = 0 is on the network's clock: the LSPs are signalled before."""
        return float(int((self.stable + self.n) / self.setup_rate + self.settle_s) + 1)

    @property
    def second_event_s(self) -> float:
        """Time of the second flapping event."""
        return self.first_event_s + self.first_period_s

    @property
    def end_s(self) -> float:
        """Time of the end of traffic."""
        return self.second_event_s + self.second_period_s
