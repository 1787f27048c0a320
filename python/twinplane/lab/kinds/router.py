"""A router of ours: a process with a control socket, and an Open vSwitch if that is its forwarding plane."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import openvswitch
from .kind import Kind

if TYPE_CHECKING:
    from ..plan import Interface, Member, Plan
    from ..starting import Starting
    from ..state import State


PROCESS = "router"
"""What its own process is called among those of the node."""


class Router(Kind):
    """Its process opens the interfaces, and does all that a kernel would."""

    runs = True
    answers = True

    def check(self, plan: Plan, member: Member) -> None:
        """A forwarding plane that is not its own process has to be here."""
        if member.plane is not None:
            openvswitch.check(plan, member)

    def offload(self, member: Member, links: list[tuple[Interface, Interface]]) -> None:
        """A switch takes frames as they are on a wire."""
        if member.plane is not None:
            openvswitch.finished(member, links)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """A switch connects to the process by the loopback."""
        lines = super().lines(plan, member, ends)
        return lines if member.plane is None else ["link set dev lo up", *lines]

    def start(self, starting: Starting, plan: Plan, member: Member, described: dict[str, Any]) -> None:
        """Start the process, and its switch."""
        starting.router(member.name, placement(plan, member, starting.state), described)
        if member.plane is not None:
            bridge = openvswitch.Bridge(
                ports=[end.name for end in member.interfaces],
                controllers=[f"tcp:127.0.0.1:{member.plane}"],
                protocols=["OpenFlow13"],
            )
            openvswitch.keep(starting.state, member.name, bridge)
            openvswitch.begin(starting, member.name)

    def restart(self, starting: Starting, name: str, only: str | None = None) -> None:
        """Start it with the description that it had; it knows that it has another life. Or `only` a part."""
        has_switch = openvswitch.has(starting.state, name)
        if has_switch and only == openvswitch.DAEMON:
            return openvswitch.begin_daemon(starting, name)
        if only != PROCESS:
            super().restart(starting, name, only)
        if has_switch and only is None:
            starting.state.node(name).daemons.clear()
            openvswitch.begin(starting, name)
        config = json.loads(starting.state.config(name).read_text())
        placed = {**config["placement"], "incarnation": starting.state.node(name).incarnation}
        for port in placed["ports"]:
            if str(port["netns"]).startswith("/proc/self/fd/"):
                port["netns"] = None
        starting.router(name, placed, config["description"])
        return None

    def environment(self, one: State, name: str) -> dict[str, str]:
        """The tools of Open vSwitch find the one that is its forwarding plane."""
        return openvswitch.environment(one, name) if openvswitch.has(one, name) else {}


def placement(plan: Plan, member: Member, made: State) -> dict[str, Any]:
    """Where a router's interfaces are."""
    found = plan.placement([member.name], None, made.epoch_ns)
    if member.plane is not None:
        # Its switch has them.
        found["ports"] = []
    return {**found, "incarnation": made.nodes[member.name].incarnation}
