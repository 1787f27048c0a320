"""Parameters of `convergence`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..parameters import Parameters

TIMERS: dict[str, dict[str, Any]] = {
    "default": {
        "hello_interval": "10 s",
        "dead_interval": "40 s",
        "spf": {
            "initial": "50 ms",
            "short": "200 ms",
            "long": "5 s",
            "learn": "500 ms",
            "hold_down": "10 s",
        },
    },
    "tuned": {
        "hello_interval": "1 s",
        "dead_interval": "3 s",
        "spf": {
            "initial": "10 ms",
            "short": "50 ms",
            "long": "500 ms",
            "learn": "200 ms",
            "hold_down": "2 s",
        },
    },
}
"""Settings of OSPF by name: those of RFC 2328, C.3 and RFC 8405, 6, and shorter ones."""


class ConvergenceParameters(Parameters):
    """Each link and each node of a topology fails in turn, while probes cross the network."""

    topology: str = Field("ring", description="'ring', or a GraphML file such as one of the Topology Zoo")
    routers: int = Field(8, ge=3, le=200, description="routers of the ring")
    delay_ms: float = Field(1.0, ge=0, le=1000, description="propagation of a link of the ring")
    rate_mbps: float = Field(
        1000.0, gt=0, le=1e6, description="rate of links of the ring, and of those whose file gives none"
    )
    component: str = Field(
        "", description="part of a graph that is not connected: 'largest', or a node of it; empty: all"
    )
    profile: str = Field("ideal", description="device profile of the routers: a name or a TOML file")
    timers: Literal["default", "tuned"] = Field(
        "default", description="of OSPF: those of RFC 2328 and RFC 8405, or shorter ones"
    )
    detection: Literal["interface", "hello"] = Field(
        "interface",
        description="neighbours learn of a failure by their interfaces, or only since Hellos stay away",
    )
    interface_down_ms: float = Field(
        0.0, ge=0, le=60_000, description="until a router notices that an interface is down"
    )
    bfd: bool = Field(False, description="detect silent failures by BFD (RFC 5880)")
    bfd_interval_ms: float = Field(
        50.0, ge=1, le=10_000, description="of BFD: from a packet to the next, at both ends"
    )
    bfd_multiplier: int = Field(
        3, ge=1, le=255, description="of BFD: a neighbour is gone after so many packets that are missing"
    )
    only: Literal["links", "nodes", "all"] = Field("all", description="what fails")
    cases: int = Field(0, ge=0, le=100_000, description="so many of them, drawn with the seed; 0: all")
    probes: int = Field(
        0, ge=0, le=100_000, description="pairs of routers; 0: all, or each router in two where that is much"
    )
    packets_per_s: int = Field(
        0, ge=0, le=100_000, description="of each probe; 0: as many as the work for a second allows"
    )
    watch_s: float = Field(
        0.0, ge=0, le=1000, description="how long each case is watched; 0: as long as its timers may take"
    )

    @property
    def pace(self) -> dict[str, Any] | None:
        """How closely BFD watches neighbours; None without it."""
        if not self.bfd:
            return None
        return {"interval": f"{self.bfd_interval_ms} ms", "multiplier": self.bfd_multiplier}
