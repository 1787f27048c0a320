"""Parameters of `openflow`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from ..parameters import Parameters

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
]


class OpenFlowParameters(Parameters):
    """The tests of the published study, on one switch."""

    sut: str = Field(
        "twinplane",
        description="the switch: twinplane, which takes no time in virtual time; profile:NAME, one that was"
        " measured; ovs, an Open vSwitch of its own in real time (root)",
    )
    part: Part = Field("all", description="which test, or all of them")
    conditions: Literal["netfpga", "ezappliance"] = Field(
        "netfpga", description="whose rates and sizes; a profile has its own"
    )
    quick: bool = Field(False, description="three sizes and few numbers of entries, for a first look")
    durations: Literal["counts", "text"] = Field(
        "counts", description="as long as published counts show (15 and 30 s), or as the text says (60 s)"
    )
    confirm: bool = Field(False, description="beyond the study: every entry has to pass a probe of its own")
    fill: bool = Field(False, description="in the data path: packets between stamped ones are sent, too")
    real_s: float = Field(
        0.0, ge=0, le=3600, description="of ovs: how long a test of packets sends; 0 is as in virtual time"
    )
    only: str = Field("", description="one row alone, by its name, such as packet-in-100-500")

    @property
    def profile(self) -> str | None:
        """The name or file of the profile, if the switch has one."""
        kind, _, name = self.sut.partition(":")
        return name if kind == "profile" else None

    @property
    def is_real(self) -> bool:
        """Is it a switch of somebody else's, in real time?"""
        return self.sut == "ovs"

    @property
    def device(self) -> str:
        """Whose published rows are run."""
        if self.profile is None:
            return self.conditions
        return "ezappliance" if "ez" in Path(self.profile).stem else "netfpga"
