"""Interfaces that a network in real time is attached to, and what of it is in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError, suggest

if TYPE_CHECKING:
    from .handles import Link, Node

DRIVERS = ("packet", "xdp")
"""How frames get in and out: AF_PACKET or AF_XDP."""

NAMESPACES = Path("/run/netns")
"""Where iproute2 keeps the names of network namespaces."""


@dataclass(frozen=True)
class Interface:
    """An Ethernet interface of this machine."""

    name: str
    netns: str | None = None
    """Name or path of the network namespace that it is in; none: that of this process."""
    driver: str = "packet"
    offload: bool = False
    """Let frames through that the kernel has not cut into segments or summed up yet."""

    def __post_init__(self) -> None:
        """Refuse an unknown driver and a name that no interface can have."""
        if self.driver not in DRIVERS:
            hint = suggest(self.driver, DRIVERS)
            raise TwinplaneError(
                f"interface {self.name}: driver={self.driver!r}: one of {', '.join(DRIVERS)}{hint}"
            )
        if not 0 < len(self.name.encode()) < 16 or "/" in self.name or self.name.split() != [self.name]:
            raise TwinplaneError(f"interface {self.name!r}: a name has 1 to 15 bytes, without '/' and spaces")

    def spec(self) -> dict[str, Any]:
        """What the core takes."""
        netns = None if self.netns is None else str(NAMESPACES / self.netns)
        return {"interface": self.name, "netns": netns, "driver": self.driver, "offload": self.offload}


@dataclass(frozen=True)
class Attachment:
    """An interface in the place of the far end of a link."""

    node: Node
    link: Link
    interface: Interface

    def spec(self) -> dict[str, Any]:
        """What the core takes."""
        return {"node": self.node.name, "link": self.link.index, **self.interface.spec()}


def of_hosts(links: Sequence[Link], hosts: dict[int, Interface]) -> list[Attachment]:
    """The attachments of hosts (by index) that have an interface: at the router's end of their links."""
    found = []
    for link in links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if far.index in hosts:
                found.append(Attachment(near, link, hosts[far.index]))
    return found
