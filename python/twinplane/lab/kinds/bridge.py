"""A shared segment: the kernel's bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kind import Kind

if TYPE_CHECKING:
    from ..plan import Interface, Member, Plan

BRIDGE = "bridge0"
"""The kernel's bridge in the namespace of a node of that kind."""
PS_PER_TICK = 10**10
"""The unit of times of the kernel's bridges, as ip hands them on, is 10 ms."""


class Bridge(Kind):
    """It has no address to answer for."""

    speaks = True
    segment = True

    def offload(self, member: Member, links: list[tuple[Interface, Interface]]) -> None:
        """It passes unfinished frames on where all its members take such."""
        far = [next(end for end in links[own.link] if end is not own) for own in member.interfaces]
        for own in member.interfaces:
            own.offload = all(end.offload for end in far)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """As the bridge of a description is: without spanning tree, and groups are flooded."""
        ageing = "" if member.ageing_ps is None else f" ageing_time {round(member.ageing_ps / PS_PER_TICK)}"
        made = f"link add {BRIDGE} type bridge stp_state 0 mcast_snooping 0{ageing}"
        ports = [f"link set dev {end.name} master {BRIDGE} up" for end in ends]
        return [made, *ports, f"link set dev {BRIDGE} up"]
