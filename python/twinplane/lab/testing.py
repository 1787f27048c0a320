"""What a measuring process has to know about a lab: which interfaces are its own, and what network it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..network import lowering
from .lab import Lab
from .plan import plan

if TYPE_CHECKING:
    from ..network import Network


MEASURING = ("edge", "station")
"""Kinds of nodes that are in the measuring process."""


def tester_placement(lab: Lab) -> dict[str, Any]:
    """The placement of testers and stations, for `twinplane._core.Network(description, placement)`."""
    testers = [member.name for member in lab.plan.of_kind(*MEASURING)]
    if not testers:
        raise TwinplaneError(f"lab '{lab.name}' has no tester and no station: nothing in it can measure")
    return lab.plan.placement(testers, None, lab.state.epoch_ns)


def network_of(file: str | Path) -> Network:
    """The network that a network file describes, each time afresh: its testers are edges to be programmed."""
    return lowering.lower(Path(file)).network


def drivers_of(file: str | Path) -> str:
    """How the testers of a lab open their interfaces."""
    made = plan(lowering.lower(Path(file)))
    testers = made.of_kind(*MEASURING)
    if not testers:
        raise TwinplaneError(f"{file}: it has no tester and no station: nothing in it can measure")
    found = {end.driver for member in testers for end in member.interfaces}
    if len(found) > 1:
        raise TwinplaneError(f"{file}: its testers have different drivers: one of {', '.join(sorted(found))}")
    return found.pop()
