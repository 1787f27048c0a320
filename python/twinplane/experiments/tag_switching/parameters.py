"""Parameters of `tag-switching`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..parameters import Parameters

STM1_CELLS = 353_207
"""Cells per second between a router and its switch: 149.76 Mbit/s of an STM-1 are left for them."""
SETTLED_S = 60.0
"""By then routers with tags have them all, where packets wait for that."""
WARM = 0.25
"""Of the time in which data is sent, throughput leaves out so much: slow start is in it."""
DIVERTED, CUT = "italy-austria", "france-spain"
"""The links that fail: one of the triangle, which has another way, and the only one to a country."""


COUNTRIES, NETWORKS_MAX = 6, 4096
"""How many countries there are, and how many networks of 24 bits in 172.16.0.0/12."""
PLANES = ("core", "outside", "answers")
"""Flows of part `recovery`: between edge routers, from outside to outside, and back from there."""
LINK_OF = {"failure": DIVERTED, "repair": CUT}
"""After which link's failure, or repair, packets come back that were interrupted by the failure."""


class TagSwitchingParameters(Parameters):
    """Parts of the published study, each on the network of six countries."""

    part: Literal["recovery", "rtt", "tcp", "duplex", "udp", "load", "vcs", "te"] = Field(
        "recovery",
        description="which part of the study: recovery after a failure, round-trip times, TCP one way or both"
        " ways, UDP, an LSP against its route; or what it asks for: packets between all countries at once,"
        " how many VCs tags take",
    )
    link: Literal["both", "italy-austria", "france-spain"] = Field(
        "both",
        description="the link that fails: one with another way, the only one of a country, or each in turn",
    )
    detection: Literal["hello", "interface"] = Field(
        "hello", description="routers learn of a failure since Hellos stay away, or their interfaces go down"
    )
    runs: int = Field(8, ge=1, le=1000, description="runs for each link, with timers in other phases")
    number: int = Field(0, ge=0, le=999, description="number of the first of them")
    hello_s: int = Field(10, ge=1, le=300, description="of OSPF: from a Hello to the next")
    dead_s: int = Field(
        40, ge=2, le=1200, description="of OSPF: a neighbour that is silent for so long is gone"
    )
    spf_s: float = Field(5.0, ge=0, le=60, description="of OSPF: from a change to the computation of paths")
    tdp_hello_s: int = Field(5, ge=1, le=60, description="of TDP: from a Hello to the next")
    advertise_s: int = Field(
        30, ge=0, le=600, description="of BGP: from what another AS is told to what it is told next, at most"
    )
    hold_s: int = Field(
        240, ge=3, le=3600, description="of BGP: a neighbour that is silent for so long is gone"
    )
    down_s: float = Field(60.0, gt=0, le=100_000, description="from the failure to the repair")
    rate_mbps: float = Field(
        1.82, gt=0, le=10_000, description="on Ethernet: of links of the core; 4750 cells/s carry 1.82 Mbit/s"
    )
    delay_ms: float = Field(
        5.0, ge=0, le=1000, description="parts recovery, load and te: propagation of a link of the core"
    )
    packets_per_s: int = Field(50, ge=1, le=1000, description="parts recovery and te: of each flow")
    path: Literal["switzerland", "france"] = Field(
        "switzerland",
        description="parts rtt, tcp, duplex and udp: from a host in Italy to one in this country",
    )
    tags: Literal["both", "with", "without"] = Field(
        "both", description="routers with tags, routers with static routes, or each in turn"
    )
    medium: Literal["ethernet", "atm"] = Field(
        "ethernet", description="what links of the core are; part vcs counts channels of ATM in any case"
    )
    cells_per_s: float = Field(
        4750.0,
        ge=10,
        le=STM1_CELLS,
        description="on ATM: of links of the core; the study has 4750, and 4515 towards France; at most those"
        " of an STM-1, by which edge routers are joined",
    )
    tag_vcs: Literal["ldp", "circuit"] = Field(
        "ldp",
        description="on ATM: what sets up the VCs of packets with tags: LDP on demand, each a label, or"
        " configuration, one circuit in their place",
    )
    vc_merge: Literal["none", "merge"] = Field(
        "none",
        description="on ATM, of VCs that LDP sets up: do switches have cells of several VCs to one prefix"
        " leave by one",
    )
    tag_encapsulation: Literal["vc-mux", "shim", "llc-snap"] = Field(
        "vc-mux",
        description="on ATM: what stands in front of a packet with tags: nothing in the study, a shim in"
        " RFC 3035; llc-snap by a circuit only",
    )
    plain_encapsulation: Literal["vc-mux", "shim", "llc-snap"] = Field(
        "llc-snap", description="on ATM: what stands in front of a packet without tags"
    )
    packet: int = Field(
        1500, ge=88, le=1500, description="bytes of IP in full packets; the study has an MTU of 1500"
    )
    rtt_ms: float = Field(
        12.0, ge=0.01, le=2000, description="parts rtt, tcp, duplex and udp: propagation there and back"
    )
    duration_s: float = Field(30.0, ge=1, le=3600, description="for how long data is sent")
    buffer_kb: float = Field(64.0, gt=0, le=1e6, description="send and receive buffer of a socket, in kB")
    message: int = Field(16_000, ge=1, le=1_000_000, description="bytes that a program writes at a time")
    flows: int = Field(1, ge=1, le=1000, description="connections that send at once")
    both_ways: Literal["one", "two"] = Field(
        "one",
        description="part duplex: by how many connections both directions go: one, or two that send one way"
        " each, as those of two programs do",
    )
    udp_mbps: float = Field(1.5, gt=0, le=90, description="part udp: rate of IP packets")
    profile: str = Field("solaris-2.5.1", description="host profile of both hosts")
    packet_us: float = Field(
        0.0,
        ge=0,
        le=100_000,
        description="parts rtt, tcp, duplex and udp: time of an edge router's processor for a packet that it"
        " receives; 0: it forwards by hardware",
    )
    message_us: float = Field(
        0.0,
        ge=0,
        le=1_000_000,
        description="the same for a message of OSPF or LDP that it handles",
    )
    load: float = Field(
        0.8,
        gt=0,
        le=1.1,
        description="part load: packets between all countries, as a share of what the busiest link carries"
        " without tags",
    )
    network: Literal["countries", "generated"] = Field(
        "countries", description="part vcs: the six countries, or a generated network"
    )
    edges: int = Field(100, ge=5, le=1000, description="part vcs, of a generated network: edge routers")
    graph: int = Field(4, ge=0, description="part vcs, of a generated network: its number")
    routing: Literal["hierarchical", "flat"] = Field(
        "hierarchical",
        description="part vcs: networks outside are known by BGP, whose next hops have tags, or by OSPF, and"
        " each has tags of its own",
    )
    outside: int = Field(3, ge=1, le=100, description="part vcs: networks outside behind each edge router")

    moves: int = Field(
        2, ge=1, le=100, description="part te: how often the LSP is moved to the other way while packets flow"
    )

    @model_validator(mode="after")
    def _as_it_can_be(self) -> TagSwitchingParameters:
        if self.has_label_vcs and self.tag_encapsulation == "llc-snap":
            raise ValueError(
                "tag_encapsulation=llc-snap: VCs that LDP sets up have vc-mux or shim (RFC 3035, 9);"
                " tag_vcs=circuit has a circuit in their place"
            )
        networks = self.outside * (self.edges if self.network == "generated" else COUNTRIES)
        if self.part == "vcs" and networks > NETWORKS_MAX:
            raise ValueError(
                f"outside={self.outside}: {networks:,} networks behind all edge routers are more than the"
                f" {NETWORKS_MAX:,} that there are addresses for: fewer of these, or fewer edges"
            )
        if self.vc_merge == "merge" and not self.has_label_vcs and self.medium == "atm":
            raise ValueError("vc_merge=merge: switches merge VCs that LDP sets up, which takes tag_vcs=ldp")
        if self.part in ("load", "te") and self.medium == "atm" and self.tag_vcs == "circuit":
            raise ValueError(f"tag_vcs=circuit: part={self.part} has VCs that are labels: tag_vcs=ldp")
        if self.part == "te" and self.tags == "without":
            raise ValueError("tags=without: part=te has an LSP, which takes tags: with, or both")
        if self.part != "recovery":
            return self
        if self.medium == "atm" and self.tag_vcs == "circuit":
            raise ValueError(
                "tag_vcs=circuit: part=recovery is about tags that are set up again, which takes tag_vcs=ldp"
            )
        if self.dead_s <= self.hello_s:
            raise ValueError(
                f"dead_s={self.dead_s}: a neighbour is gone after more than a Hello, hello_s={self.hello_s}"
            )
        least = self.dead_s + self.spf_s if self.detection == "hello" else self.spf_s
        if self.down_s <= least + 5:
            raise ValueError(
                f"down_s={self.down_s:g}: more than {least + 5:g}, so that routers have seen the failure"
                " before the repair"
            )
        return self

    @property
    def has_label_vcs(self) -> bool:
        """Are VCs of packets with tags labels, which LDP gives?"""
        return self.part == "vcs" or (self.medium == "atm" and self.tag_vcs == "ldp")

    @property
    def has_processor(self) -> bool:
        """Do packets or messages take time of edge routers' processors?"""
        return self.packet_us > 0 or self.message_us > 0

    @property
    def merges(self) -> bool:
        """Do switches merge them?"""
        return self.has_label_vcs and self.vc_merge == "merge"

    @property
    def settings(self) -> tuple[str, ...]:
        """With tags, without, or one after the other."""
        return ("with", "without") if self.tags == "both" else (self.tags,)

    @property
    def fail_after_s(self) -> float:
        """When everything has settled: the failure is a part of a Hello later.

        Routers restart in the beginning. Their neighbours outside notice when they say something, which is a
        third of the hold time later at most (RFC 4271, 10), connect again, and hear more after `advertise_s`.
        As long again the next word would have to wait.
        """
        return 20.0 + self.hold_s / 3 + 2 * self.dead_s + 2 * self.advertise_s

    @property
    def links(self) -> tuple[str, ...]:
        """The links that fail, one at a time."""
        return (DIVERTED, CUT) if self.link == "both" else (self.link,)
