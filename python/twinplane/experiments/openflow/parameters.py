"""Parameters of `openflow`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..parameters import Parameters
from . import profile

QUICK_REAL_S = 2.0

Part = Literal[
    "all",
    "packet-in",
    "packet-in-action",
    "packet-out",
    "control",
    "data",
    "flow-add",
    "flow-mod",
    "flow-maximum",
    "flow-expiry",
    "statistics",
]
BEYOND = ("flow-expiry", "statistics")
"""Tests that the study does not have: they are done when they are asked for."""


class OpenFlowParameters(Parameters):
    """The tests of the published study, on one switch."""

    sut: str = Field(
        "twinplane",
        description="the switch: twinplane, which takes no time in virtual time; profile:NAME, one that was"
        " measured; in real time (root) twinplane-live, ours, and ovs, an Open vSwitch of its own;"
        " tcp:ADDRESS[:PORT], one that listens there, and ptcp:[PORT][:ADDRESS], one that connects there",
    )
    part: Part = Field(
        "all",
        description="which test, or all of the study's; beyond it, flow-expiry (when entries go that were to"
        " go after a second) and statistics (how late counters are)",
    )
    conditions: Literal["auto", "netfpga", "ezappliance"] = Field(
        "auto",
        description="whose rates and sizes: auto is those of the switch that a profile is of, and else"
        " those of the card (netfpga)",
    )
    version: Literal["1.0", "1.3"] = Field(
        "1.0", description="the version of OpenFlow: that of the study, or 1.3"
    )
    quick: bool = Field(False, description="three sizes and few numbers of entries, for a first look")
    durations: Literal["counts", "text"] = Field(
        "counts", description="as long as published counts show (15 and 30 s), or as the text says (60 s)"
    )
    confirm: bool = Field(False, description="beyond the study: every entry has to pass a probe of its own")
    fill: bool = Field(False, description="in the data path: packets between stamped ones are sent, too")
    real_s: float = Field(
        0.0,
        ge=0,
        le=3600,
        description="in real time: how long a test of packets sends; 0 is as in the study, 2 s with quick",
    )
    ingress_port: str = Field(
        "", description="of tcp: and ptcp: the tester's interface to the switch's port from_port"
    )
    egress_port: str = Field("", description="the same to its port to_port")
    ingress_netns: str = Field("", description="the network namespace of ingress_port, if it is another")
    egress_netns: str = Field("", description="the network namespace of egress_port, if it is another")
    from_port: int = Field(
        1, ge=1, le=65_279, description="of tcp: and ptcp: the number of the switch's port that packets go to"
    )
    to_port: int = Field(2, ge=1, le=65_279, description="the same of the port that they come back from")
    only: str = Field("", description="one row alone, by its name, such as packet-in-100-500")

    @property
    def profile(self) -> str | None:
        """The name or file of the profile, if the switch has one."""
        kind, _, name = self.sut.partition(":")
        return name if kind == "profile" else None

    @property
    def is_outside(self) -> bool:
        """Is it a switch of somebody else's, beyond interfaces?"""
        return self.sut.partition(":")[0] in ("tcp", "ptcp")

    @property
    def is_real(self) -> bool:
        """Is it measured in real time?"""
        return self.is_outside or self.sut in ("ovs", "twinplane-live")

    @property
    def sends_s(self) -> float:
        """In real time: how long a test of packets sends, in seconds; 0 is as long as in the study."""
        return QUICK_REAL_S if self.quick and not self.real_s else self.real_s

    @property
    def measured(self) -> str | None:
        """The switch of the study that the profile is of, if it is of one."""
        return None if self.profile is None else profile.read(self.profile).device

    @property
    def device(self) -> str:
        """Whose rows are run."""
        return self.conditions if self.conditions != "auto" else self.measured or profile.DEVICES[0]

    @property
    def is_judged(self) -> bool:
        """Are published figures about this switch? Those of another say nothing of it."""
        return self.measured == self.device
