"""Parameters of `network`: which file, and for how long."""

from __future__ import annotations

from pydantic import Field

from ..parameters import Parameters


class NetworkParameters(Parameters):
    """All else is in the file."""

    file: str = Field(description="the file that describes the network")
    duration_s: float = Field(10.0, gt=0, le=86_400, description="for how long flows send (--duration)")
    drain_s: float = Field(
        1.0, ge=0, le=3600, description="for how long what is on its way then may still arrive"
    )
    series_bin_ms: float = Field(
        50.0, ge=0.1, le=60_000, description="width of the bins in which backlogs are kept"
    )

    @property
    def end_s(self) -> float:
        """When the run is over."""
        return self.duration_s + self.drain_s
