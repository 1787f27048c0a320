"""An Open vSwitch as a switch of the lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import netns, openvswitch
from ..apart import Problem
from .kind import Kind

if TYPE_CHECKING:
    from ..apart import View
    from ..plan import Interface, Member, Plan
    from ..starting import Starting
    from ..state import State

PROTOCOLS = {"both": ["OpenFlow10", "OpenFlow13"], "1.0": ["OpenFlow10"], "1.3": ["OpenFlow13"]}
"""Versions, in the words of Open vSwitch."""


class Ovs(Kind):
    """Its daemon opens the interfaces; the kernel of its namespace answers at management ports alone."""

    speaks = True
    runs = True
    segment = True

    def check(self, plan: Plan, member: Member) -> None:
        """The programs have to be here."""
        openvswitch.check(plan, member)

    def offload(self, member: Member, links: list[tuple[Interface, Interface]]) -> None:
        """It takes frames as they are on a wire."""
        openvswitch.finished(member, links)

    def prepare(self, namespace: str) -> None:
        """Only management ports get an address."""
        netns.plain_host(namespace)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """Ports are silent, management ports have addresses, and controllers may be at the loopback."""
        lines = ["link set dev lo up"]
        for end in ends:
            if is_managed(plan, end):
                far = next(one for one in plan.links[end.link] if one is not end)
                if not far.offload:
                    with netns.inside(str(member.namespace)):
                        netns.finish_frames(end.name)
                lines += [f"addr add {end.address} brd + dev {end.name}", f"link set dev {end.name} up"]
            else:
                lines.append(f"link set dev {end.name} arp off multicast off up")
        return lines

    def start(self, starting: Starting, plan: Plan, member: Member, described: dict[str, Any]) -> None:
        """Keep what later lives begin with, and begin."""
        said = plan.description["nodes"][member.name]
        place = list(plan.description["nodes"]).index(member.name)
        bridge = openvswitch.Bridge(
            ports=[end.name for end in member.interfaces if not is_managed(plan, end)],
            controllers=[str(one) for one in said.get("controllers", ())],
            protocols=PROTOCOLS[said.get("version", "both")],
            fail_mode=str(said.get("fail", "secure")),
            datapath_id=int(said.get("datapath_id") or place + 1),
            tls=said.get("tls"),
        )
        openvswitch.keep(starting.state, member.name, bridge)
        self.restart(starting, member.name)

    def restart(self, starting: Starting, name: str, only: str | None = None) -> None:
        """With an empty database; the daemon alone, `only`, finds its bridge there."""
        if only == openvswitch.DAEMON:
            openvswitch.begin_daemon(starting, name)
        else:
            super().restart(starting, name, only)
            starting.state.node(name).daemons.clear()
            openvswitch.begin(starting, name)

    def look(self, lab: View, name: str, entry: dict[str, Any]) -> list[Problem]:
        """Its daemons, and controllers that it does not reach."""
        return openvswitch.look(lab, name, entry)

    def environment(self, one: State, name: str) -> dict[str, str]:
        """Its tools find it."""
        return openvswitch.environment(one, name)


def is_managed(plan: Plan, end: Interface) -> bool:
    """Is an interface a management port: has its link addresses of its own?"""
    return plan.description["links"][end.link].get("addresses") is not None
