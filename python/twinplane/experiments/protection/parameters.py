"""Parameters of `protection`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..parameters import Parameters

CYCLE_S = 10.0
"""From one failure to the next, at most a second more or less: down for two seconds, then time to go back."""

DOWN_S = 2.0

SETTLED_S = 25.0
"""Routers know of all links by then."""

BATCH = 2000
"""LSPs that are signalled at once, and the time that they get."""

BATCH_S = 2.0


class ProtectionParameters(Parameters):
    """A link, or the router behind it, fails again and again, while packets go over protected LSPs.

    With a topology of its own each link and each router fails once.
    """

    topology: str = Field(
        "ladder",
        description="'ladder': one link, or the router behind it, fails; or a GraphML file: all fail in turn",
    )
    component: str = Field(
        "", description="part of a file that is not connected: 'largest', or a node of it; empty: all"
    )
    pairs: int = Field(20, ge=1, le=100_000, description="of a file: pairs of routers, drawn with the seed")
    only: Literal["links", "nodes", "all"] = Field("all", description="of a file: what fails")
    cases: int = Field(
        0, ge=0, le=100_000, description="of a file: so many failures, drawn with the seed; 0: all"
    )
    watch_s: float = Field(3.0, ge=0.1, le=600, description="of a file: so long each failure is watched")
    lsps: int = Field(10, ge=1, le=100_000, description="LSPs that leave by the link")
    fails: Literal["link", "node"] = Field(
        "link", description="what fails: the link, or the router behind it"
    )
    protected: bool = Field(True, description="LSPs ask for protection, and routers make bypass tunnels")
    method: Literal["facility", "one-to-one"] = Field(
        "facility", description="of protection: bypass tunnels for all LSPs, or a detour for each"
    )
    detection: Literal["link-down", "bfd"] = Field(
        "link-down", description="a router sees that its port is down, or only that nobody answers"
    )
    detection_ms: float = Field(
        10.0, ge=0, le=1000, description="of link-down: until a router notices that a port is down"
    )
    bfd_interval_ms: float = Field(10.0, ge=1, le=1000, description="of BFD: from a packet to the next")
    bfd_multiplier: int = Field(3, ge=1, le=255, description="of BFD: so many packets may be missing")
    failures: int = Field(20, ge=1, le=10_000, description="so many failures, each at a time of its own")
    packets_per_s: int = Field(10_000, ge=100, le=1_000_000, description="of each of the two flows")

    @property
    def asked(self) -> dict[str, bool | str]:
        """What protected LSPs ask of the way around."""
        return {} if self.method == "facility" else {"method": self.method}

    @property
    def everywhere(self) -> bool:
        """Is it about each link and each router of a file?"""
        return self.topology != "ladder"

    @property
    def begin_s(self) -> float:
        """When all LSPs are up, with room to spare."""
        return SETTLED_S + 5.0 + BATCH_S * (self.lsps // BATCH + 1)

    @property
    def end_s(self) -> float:
        """When traffic has stopped and arrived."""
        return self.begin_s + 1 + CYCLE_S * self.failures + 0.5
