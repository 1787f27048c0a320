"""Parameters of `diffserv`: what the paper says, and everything that it leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..parameters import Parameters

SCENARIOS = ("best-effort", "diffserv", "mpls", "diffserv-mpls")
"""The four ways to share the bottleneck, in the order of the paper."""

FLOWS = ("EF", "AF11", "AF12", "DE")
"""The four flows, named after the behaviours that they ask for."""

CLASSES = ("EF", "AF1", "DE")
"""The classes that they go to."""

UDP_AND_IP, ETHERNET, FCS = 28, 14, 4
"""Bytes of headers (RFC 768, RFC 791, IEEE 802.3) and of the frame check sequence."""


class DiffservParameters(Parameters):
    """The published testbed; every number of it can be changed."""

    scenario: Literal["all", "best-effort", "diffserv", "mpls", "diffserv-mpls"] = Field(
        "all", description="all four, or one of them"
    )
    duration_s: float = Field(30.0, gt=0, le=3600, description="for how long the flows send")
    ef_kbps: float = Field(760.0, ge=0, le=50_000, description="rate of flow EF")
    af11_kbps: float = Field(846.0, ge=0, le=50_000, description="rate of flow AF11")
    af12_kbps: float = Field(160.0, ge=0, le=50_000, description="rate of flow AF12")
    de_kbps: float = Field(1240.0, ge=0, le=50_000, description="rate of flow DE")
    offered: float = Field(
        1.0, gt=0, le=10, description="share of those rates that the generator really sends"
    )
    packet_bytes: int = Field(1000, ge=64, le=1472, description="size of a packet")
    size_counts: Literal["payload", "ip"] = Field(
        "payload", description="what sizes and rates of flows count: the UDP payload, or the IP packet"
    )
    arrivals: Literal["poisson", "constant"] = Field("poisson", description="departures of a flow")
    accounting: Literal["ip", "link", "frame", "wire"] = Field(
        "link",
        description="bytes that queues and policers count: the IP packet, with Ethernet header (as Linux),"
        " with frame check sequence too, or with preamble and gap",
    )
    link_mbps: float = Field(100.0, ge=10, le=1000, description="rate of every link")
    propagation_us: float = Field(0.5, ge=0, le=1e6, description="propagation over every link")
    total_mbps: float = Field(2.8, gt=0, le=100, description="what every router's output is limited to")
    queue_packets: int = Field(
        100, ge=1, le=100_000, description="packets that wait in the single class (best-effort, mpls)"
    )
    maxburst: int = Field(10, ge=1, le=1000, description="packets that an idle class may send at once")
    ef_rate_mbps: float = Field(0.8, gt=0, le=100, description="of the total, what EF is given")
    af1_rate_mbps: float = Field(
        1.0, gt=0, le=100, description="of the total, what AF1 is given (the text says 2.0, its GRED 1.0)"
    )
    de_rate_mbps: float = Field(1.0, gt=0, le=100, description="of the total, what DE is given")
    borrowing: Literal["all", "none", "all-but-ef", "de-only"] = Field(
        "all", description="classes that may borrow what others leave"
    )
    priorities: Literal["descending", "equal"] = Field(
        "descending", description="are EF, AF1 and DE asked in this order, or in turn"
    )
    red_probability: Literal["tc", "exact"] = Field(
        "tc",
        description="greatest probabilities of RED and GRED: as tc of that time rounds them, to a power"
        " of two"
        " over max less min, or as they are written",
    )
    af11_probability: float = Field(
        0.02, gt=0, le=1, description="greatest probability that GRED drops AF11 early"
    )
    af12_probability: float = Field(0.04, gt=0, le=1, description="the same for AF12")
    out_of_profile: Literal["by-class", "drop", "remark", "pass"] = Field(
        "by-class",
        description="what Gaia does: AF11 becomes AF12 and the others are dropped, all are dropped,"
        " all become worse (AF11 AF12, AF12 and EF default), or all pass",
    )
    peak_mtu_bytes: int = Field(
        1514, ge=64, le=100_000, description="bucket of AF11's peak rate, which the paper does not give"
    )
    profile: str = Field("ideal", description="device profile of the routers: a name or a TOML file")
    begin_s: float = Field(1.0, gt=0, le=1000, description="for signalling, before the flows send")
    drain_s: float = Field(2.0, gt=0, le=1000, description="for queues to drain, afterwards")
    series_bin_ms: float = Field(100.0, gt=0, le=1e5, description="bin of backlogs over time")

    @model_validator(mode="after")
    def _runs(self) -> DiffservParameters:
        if not any(self.rate_kbps(flow) for flow in FLOWS):
            raise ValueError("ef_kbps, af11_kbps, af12_kbps and de_kbps are all 0: no flow sends anything")
        if self.total_mbps > self.link_mbps:
            raise ValueError(
                f"total_mbps={self.total_mbps:g}: it is a part of the link's {self.link_mbps:g} Mbit/s"
            )
        if self.af12_probability < self.af11_probability:
            raise ValueError(
                f"af12_probability={self.af12_probability:g}: AF12 is dropped before AF11"
                f" ({self.af11_probability:g})"
            )
        if self.ip_bytes > 1500:
            raise ValueError(
                f"packet_bytes={self.packet_bytes}: an IP packet on Ethernet has at most 1500 bytes"
            )
        if self.series_bin_ms / 1000 > self.duration_s:
            raise ValueError(
                f"series_bin_ms={self.series_bin_ms:g}: it is longer than duration_s ({self.duration_s:g})"
            )
        return self

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Those that are run."""
        return SCENARIOS if self.scenario == "all" else (self.scenario,)

    @property
    def ip_bytes(self) -> int:
        """Of a packet."""
        return self.packet_bytes + (UDP_AND_IP if self.size_counts == "payload" else 0)

    @property
    def frame_bytes(self) -> int:
        """With Ethernet header and frame check sequence."""
        return self.ip_bytes + ETHERNET + FCS

    @property
    def counted_bytes(self) -> int:
        """What queues count for an unlabelled packet."""
        return {
            "ip": self.ip_bytes,
            "link": self.ip_bytes + ETHERNET,
            "frame": self.frame_bytes,
            "wire": self.frame_bytes + 20,
        }[self.accounting]

    def rate_kbps(self, flow: str) -> float:
        """As the paper gives it."""
        return {"EF": self.ef_kbps, "AF11": self.af11_kbps, "AF12": self.af12_kbps, "DE": self.de_kbps}[flow]

    def packets_per_s(self, flow: str) -> float:
        """What a flow offers on average."""
        return self.rate_kbps(flow) * 1000 * self.offered / (8 * self.packet_bytes)

    @property
    def end_s(self) -> float:
        """When the flows have sent everything."""
        return self.begin_s + self.duration_s

    @property
    def uses_lsps(self) -> bool:
        """Does the scenario take MPLS?"""
        return self.scenario in ("mpls", "diffserv-mpls")

    @property
    def uses_classes(self) -> bool:
        """Does the scenario tell classes apart?"""
        return self.scenario in ("diffserv", "diffserv-mpls")
