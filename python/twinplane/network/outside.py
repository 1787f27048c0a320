"""What a network is attached to: hosts, somebody else's routers, interfaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..model.description import Description, interface_address, ipv4
from ..model.description import router_id as _router_id
from .attachments import Attachment, Interface, of_hosts
from .nodes import External, Host, Node

if TYPE_CHECKING:
    from .. import _core
    from .handles import Link
    from .network import Network


class Outside(ABC):
    """The part of `Network` that leads out of it."""

    clock: str
    nodes: list[Node]
    links: list[Link]
    description: Description
    _real: dict[str, Any]
    _core: _core.Network | None
    _attachments: list[Attachment]
    _host_interfaces: dict[int, Interface]

    @property
    @abstractmethod
    def _network(self) -> Network:
        """The network itself."""

    @abstractmethod
    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""

    @abstractmethod
    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself."""

    @abstractmethod
    def _register(self, node: Node, fields: dict[str, Any]) -> None: ...

    def host(
        self,
        name: str,
        address: str | None = None,
        gateway: str | None = None,
        *,
        interface: str | None = None,
        netns: str | None = None,
        driver: str = "packet",
        offload: bool = True,
    ) -> Host:
        """An IP host, to be linked to a router; `address` has a prefix length, as in ``"10.1.0.2/24"``.

        The router's port has the address `gateway`: the first of the prefix that is not the host's, unless it
        is given. In real time a real host is beyond `interface`, if that is given; otherwise, and in virtual
        time, the host is simulated.

        A host with several links has no `address` here: each link says its own, as ``link(...,
        addresses=...)``.
        """
        own = None if address is None else interface_address(address, name)
        fields: dict[str, Any] = {} if own is None else {"address": own}
        if gateway is not None:
            fields["gateway"] = ipv4(gateway, f"{name}: gateway")
        beyond = None if interface is None else Interface(interface, netns, driver, offload)
        host = Host(self._network, name, len(self.nodes), None if own is None else own.partition("/")[0])
        self._register(host, fields)
        if beyond is not None:
            self._host_interfaces[host.index] = beyond
        return host

    def external(self, name: str, router_id: str | None = None) -> External:
        """Somebody else's router, in real time; `attach` says by which interfaces it is reached."""
        external = External(self._network, name, len(self.nodes))
        self._register(external, _router_id(name, router_id))
        return external

    def attach(
        self,
        node: Node | str,
        link: Link,
        interface: str,
        netns: str | None = None,
        *,
        driver: str = "packet",
        offload: bool = False,
    ) -> None:
        """In real time, let a node here reach the far end of a link by an interface."""
        found = self.node(node)
        self.require_unstarted(f"interface {interface}")
        if found not in (link.a, link.b):
            raise TwinplaneError(f"interface {interface}: {found.name} is not an end of {link}")
        if self.clock != "wall":
            raise TwinplaneError(f"interface {interface}: a network in virtual time has none: clock='wall'")
        self._attachments.append(Attachment(found, link, Interface(interface, netns, driver, offload)))

    @property
    def placement(self) -> dict[str, Any] | None:
        """What is in this process, and its interfaces, as the core takes it; None in virtual time."""
        if self.clock != "wall":
            return None
        ports = [*self._attachments, *of_hosts(self.links, self._host_interfaces)]
        here = self._real["local"]
        ports = [port for port in ports if here is None or port.node.name in here]
        return {**self._real, "ports": [port.spec() for port in ports]}

    def go_live(self, placement: Mapping[str, Any]) -> None:
        """Run by the clock on the wall, where a placement says (that of a lab's tester, for example).

        A network that was described for virtual time becomes its own twin: nothing else about it changes.
        """
        self.require_unstarted("a placement")
        self.clock = "wall"
        self._real |= {key: value for key, value in placement.items() if key in self._real}
        for port in placement.get("ports", []):
            beyond = Interface(port["interface"], port["netns"], port["driver"], port["offload"])
            self._attachments.append(Attachment(self.node(port["node"]), self.links[port["link"]], beyond))

    def close(self) -> None:
        """Give interfaces back; nothing can be asked of the network any more.

        A socket that is left open goes on taking copies of every frame of its interface.
        """
        self._core = None

    def log_signals(self, limit: int = 1_000_000) -> None:
        """Keep the last `limit` signalling messages of every router for table ``signals``."""
        self.require_unstarted("a log of signalling messages")
        for spec in self.description.nodes:
            if spec["kind"] in ("router", "edge"):
                spec["log_signals"] = int(limit)
