"""A router of ours: a process with a control socket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .kind import Kind

if TYPE_CHECKING:
    from ..plan import Member, Plan
    from ..starting import Starting
    from ..state import State


class Router(Kind):
    """Its process opens the interfaces, and does all that a kernel would."""

    runs = True
    answers = True

    def start(self, starting: Starting, plan: Plan, member: Member, described: dict[str, Any]) -> None:
        """Start the process."""
        starting.router(member.name, placement(plan, member, starting.state), described)

    def restart(self, starting: Starting, name: str) -> None:
        """Start it with the description that it had; it knows that it has another life."""
        config = json.loads(starting.state.config(name).read_text())
        placed = {**config["placement"], "incarnation": starting.state.node(name).incarnation}
        for port in placed["ports"]:
            if str(port["netns"]).startswith("/proc/self/fd/"):
                port["netns"] = None
        starting.router(name, placed, config["description"])


def placement(plan: Plan, member: Member, made: State) -> dict[str, Any]:
    """Where a router's interfaces are."""
    found = plan.placement([member.name], None, made.epoch_ns)
    return {**found, "incarnation": made.nodes[member.name].incarnation}
