"""What a measuring process has to know about a lab: which interfaces are its own."""

from __future__ import annotations

from typing import Any

from ..errors import TwinplaneError
from .lab import Lab


def tester_placement(lab: Lab) -> dict[str, Any]:
    """The placement of the nodes of kind `tester`, for `twinplane._core.Network(description, placement)`."""
    testers = [member.name for member in lab.plan.of_kind("tester")]
    if not testers:
        raise TwinplaneError(f"lab '{lab.name}' has no node of kind tester: nothing in it can measure")
    return lab.plan.placement(testers, None, lab.state.epoch_ns)
