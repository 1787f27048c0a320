"""A host: the kernel's own stack."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from .. import netns
from .kind import Kind

if TYPE_CHECKING:
    from ..plan import Interface, Member, Plan


class Host(Kind):
    """It says nothing that it was not asked for."""

    speaks = True

    def prepare(self, namespace: str) -> None:
        """No IPv6 but where a link has it."""
        netns.plain_host(namespace)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """Its addresses, and its default routes."""
        lines = addressed(plan, member, ends)
        if member.gateway is not None:
            lines.append(f"route add default via {member.gateway}")
        if member.gateway6 is not None:
            lines.append(f"route add default via {member.gateway6}")
        return lines


def addressed(plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
    """The commands of ip that give a kernel's interfaces their addresses, and bring them up."""
    lines = ["link set dev lo up"]
    for end in ends:
        far = next(one for one in plan.links[end.link] if one is not end)
        if not far.offload:
            with netns.inside(str(member.namespace)):
                netns.finish_frames(end.name)
        if end.ipv6 is not None:
            with netns.inside(str(member.namespace)):
                netns.speak_ipv6(end.name, slaac=end.slaac)
            if end.slaac:
                # The kernel makes the address that is planned of this and of the prefix that a router says.
                lines.append(f"token set {_token(end.ipv6)} dev {end.name}")
            else:
                # Its addresses are known to be nobody else's (RFC 4862, 5.4): they can be used at once.
                lines.append(f"addr add {end.ipv6} dev {end.name} nodad")
        lines += [f"addr add {end.address} brd + dev {end.name}", f"link set dev {end.name} up"]
    return lines


def _token(address: str) -> str:
    """The last 64 bits of an IPv6 address, as an address."""
    return str(ipaddress.IPv6Address(int(ipaddress.IPv6Interface(address).ip) & (2**64 - 1)))
