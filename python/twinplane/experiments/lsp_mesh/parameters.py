"""Parameters of `lsp-mesh`."""

from __future__ import annotations

from pydantic import Field

from ..parameters import Parameters


class MeshParameters(Parameters):
    """A full mesh of explicitly routed LSPs on a topology from a file."""

    topology: str = Field(description="a GraphML file of the Topology Zoo")
    component: str = Field(
        "", description="part of a graph that is not connected: 'largest', or a node of it; empty: all"
    )
    profile: str = Field("ideal", description="device profile of the routers: a name or a TOML file")
    pairs_max: int = Field(
        100_000, ge=1, le=1_000_000, description="where there are more pairs, so many drawn with the seed"
    )
    probes: int = Field(3, ge=1, le=1000, description="packets sent over each LSP")
    probe_interval_ms: float = Field(10.0, gt=0, le=1e5, description="from one packet of an LSP to the next")
    size: int = Field(
        128,
        ge=68,
        le=9000,
        description="bytes of a packet, with Ethernet header and frame check sequence, before its label",
        json_schema_extra={"reason": "a measured packet has at least 68 bytes"},
    )
    setup_s: float = Field(5.0, gt=0, le=1000, description="from the first Path to the first packet")
    settle_s: float = Field(1.0, gt=0, le=1000, description="from the last packet to the last look")
    default_rate_mbps: float = Field(1000.0, gt=0, le=1e6, description="rate of links whose file gives none")
    refresh_reduction: bool = Field(False, description="use RFC 2961 between all nodes")
