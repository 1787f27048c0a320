"""Somebody else's router beyond an interface that exists without the lab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.places import of_node
from .. import netns
from .kind import Kind

if TYPE_CHECKING:
    from ..plan import Interface, Member, Plan


class External(Kind):
    """Nothing is made of it."""

    outside = True

    def check(self, plan: Plan, member: Member) -> None:
        """Its interfaces have to be there, up, and wide enough."""
        for end in member.interfaces:
            _check(plan, end)


def _check(plan: Plan, end: Interface) -> None:
    try:
        found = netns.mtu(end.name)
    except OSError:
        raise plan.lowered.error(of_node(end.node, f"there is no interface '{end.name}' here")) from None
    need = end.interface_mtu
    if found < need:
        words = (
            f"'{end.name}' has an MTU of {found}, its link one of {need}:"
            f" say mtu: {found - end.longer} at the link, or `ip link set {end.name} mtu {need}`"
        )
        raise plan.lowered.error(of_node(end.node, words))
    if not netns.is_up(end.name):
        words = f"'{end.name}' is down: `ip link set {end.name} up`"
        raise plan.lowered.error(of_node(end.node, words))
