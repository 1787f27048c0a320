"""What of a network is in this process, and the interfaces by which the rest is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import TwinplaneError
from ..frames import Columns
from .attachments import Attachment, Interface, of_hosts
from .draft import Draft
from .handles import Link, Node


class Outside:
    """The clock of a network, and its interfaces in real time."""

    def __init__(self, clock: str, settings: dict[str, Any]) -> None:
        self.clock = clock
        self.settings = settings
        """What the core takes of a placement beside the ports, such as `local` and `busy`."""
        self.attachments: list[Attachment] = []
        self.host_interfaces: dict[int, Interface] = {}
        """By index of the host that is a real one, beyond the interface."""
        self.gathered: dict[str, Columns] = {}
        """Tables of nodes that are in other processes, as they were at the end of a run."""
        self.zero_s = 0.0
        """When a run began, on the network's clock: later than 0 if the network ran before it."""
        self.gathered_s = 0.0
        """For how many seconds these nodes had run."""

    def attach(
        self, node: Node, link: Link, name: str, netns: str | None, driver: str, offload: bool
    ) -> None:
        """Let a node here reach the far end of a link by an interface."""
        if node not in (link.a, link.b):
            raise TwinplaneError(f"interface {name}: {node.name} is not an end of {link}")
        if self.clock != "wall":
            raise TwinplaneError(f"interface {name}: a network in virtual time has none: clock='wall'")
        self.attachments.append(Attachment(node, link, Interface(name, netns, driver, offload)))

    def placement(self, draft: Draft) -> dict[str, Any] | None:
        """What is in this process, and its interfaces, as the core takes it; None in virtual time."""
        if self.clock != "wall":
            return None
        ports = [*self.attachments, *of_hosts(draft.links, self.host_interfaces)]
        here = self.settings["local"]
        ports = [port for port in ports if here is None or port.node.name in here]
        return {**self.settings, "ports": [port.spec() for port in ports]}

    def go_live(self, draft: Draft, placement: Mapping[str, Any]) -> None:
        """Run by the clock on the wall, where a placement says."""
        self.clock = "wall"
        self.settings |= {key: value for key, value in placement.items() if key in self.settings}
        for port in placement.get("ports", []):
            beyond = Interface(port["interface"], port["netns"], port["driver"], port["offload"])
            self.attachments.append(Attachment(draft.node(port["node"]), draft.links[port["link"]], beyond))
