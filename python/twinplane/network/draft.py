"""A network under construction: what has been described so far, and how parts of it are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError, suggest
from . import memory
from .handles import Flow, Link, Lsp, Node, P2mp, TcpFlow

if TYPE_CHECKING:
    from .. import _core
    from ..model.demands import Matrix
    from .demands import Demands
    from .handles import Hop


class Draft:
    """Nodes, links, LSPs and flows: handles here, and in the core what is said of them, read and checked."""

    def __init__(self, described: _core.Draft) -> None:
        self.core = described
        self.nodes: list[Node] = []
        self.links: list[Link] = []
        self.lsps: list[Lsp] = []
        self.p2mp: list[P2mp] = []
        self.flows: list[Flow] = []
        self.tcp: list[TcpFlow] = []
        self.labels: dict[str, int] = {}
        """Names of flows, and of the names that were numbered the number to try next."""
        self.demands: Demands | None = None
        self.matrix: Matrix | None = None
        """The file of the demands, if they are of one."""
        self.by_name: dict[str, Node] = {}
        self.positions: dict[str, tuple[float, float]] = {}
        """Where nodes are drawn, by name; without an entry a place is found for the node."""
        self.any_name = False
        """May nodes have names that network files and labs refuse, such as those of other tools' files?"""
        self.asides: list[str] = []
        """What is surprising about the way in which the network was described: a sentence each."""
        self.said_at: dict[int, str] = {}
        """File and line of the Python program at which events were said, by their places."""
        self.looked_at = 0
        """How many parts there were when it was looked at last whether all of it fits into memory."""
        self.standing = 0
        """Bytes of memory that a network which runs has taken, as foretold; zero before."""
        self.explain: Callable[[TwinplaneError], TwinplaneError] = lambda error: error
        """Says of an error where in a file its place is, if the network comes from one."""

    def placed(self, error: TwinplaneError) -> TwinplaneError:
        """An error with its place in a file: the network's, or that of the program that said an event."""
        if error.path[:1] == ("events",) and (place := self.said_at.get(int(error.path[1]))) is not None:
            return error.told(f"{place}: {error}")
        return self.explain(error)

    def add_node(self, node: Node, said: Mapping[str, Any]) -> None:
        """Add a node whose name no other has."""
        with core.translated():
            self.core.add_node(node.name, {"kind": node.kind, **said})
        self.note(node)
        memory.check_growing(self)

    def note(self, node: Node) -> None:
        """Keep the handle of a node that the core knows."""
        self.nodes.append(node)
        self.by_name[node.name] = node

    def element(self, group: str, place: int) -> dict[str, Any]:
        """What was said of one of ``nodes``, ``links``, ``lsps``, ``p2mp``, ``flows``, and so on."""
        found: dict[str, Any] = self.core.element(group, place)
        return found

    def change_node(self, node: Node, said: Mapping[str, Any]) -> None:
        """Say more of a node."""
        with core.translated():
            self.core.set_node(node.index, {**self.element("nodes", node.index), **said})

    def extend_node(self, node: Node, key: str, element: Any) -> None:
        """Add an element to a list that is said of a node: costs no more than the element."""
        with core.translated():
            self.core.extend_node(node.index, key, element)

    def change_link(self, link: Link, said: Mapping[str, Any]) -> None:
        """Say more of a link."""
        with core.translated():
            self.core.set_link(link.index, {**self.element("links", link.index), **said})

    def change_flow(self, flow: Flow, said: Mapping[str, Any]) -> None:
        """Say more of a flow."""
        with core.translated():
            self.core.set_flow(flow.index, {**self.element("flows", flow.index), **said})

    def change_p2mp(self, tree: P2mp, said: Mapping[str, Any]) -> dict[str, Any]:
        """Say more of a point-to-multipoint LSP; what is said of it then."""
        whole = {**self.element("p2mp", tree.index), **said}
        with core.translated():
            self.core.set_p2mp(tree.index, whole)
        return whole

    def remove(self, part: Flow | Lsp | P2mp) -> None:
        """Forget a flow or LSPs: all else is described anew, and those behind it move up."""
        fresh = core.draft(self.core.whole())
        lsps: list[Any] = self.p2mp if isinstance(part, P2mp) else self.lsps
        own: list[Any] = self.flows if isinstance(part, Flow) else lsps
        with core.translated():
            for node in self.nodes:
                fresh.add_node(node.name, self.element("nodes", node.index))
            for link in self.links:
                fresh.add_link(self.element("links", link.index))
            for lsp in self.lsps:
                if lsp is not part:
                    fresh.add_lsp(self.element("lsps", lsp.index))
            for tree in self.p2mp:
                if tree is not part:
                    fresh.add_p2mp(self.element("p2mp", tree.index))
            for flow in self.flows:
                if flow is not part:
                    fresh.add_flow(self.element("flows", flow.index))
            for tcp in self.tcp:
                fresh.add_tcp(self.element("tcp", tcp.index))
            fresh.set_demands(self.core.described().get("demands"))
            for place in range(self.core.event_count):
                fresh.add_event(self.element("events", place))
        self.core = fresh
        own.remove(part)
        for place, other in enumerate(own):
            other.index = place
        self.labels = {flow.name: 2 for flow in self.flows}

    def keep_flows(self, count: int) -> None:
        """Forget all flows but the first."""
        del self.flows[count:]
        self.core.keep_flows(count)
        self.labels = {flow.name: 2 for flow in self.flows}

    def note_flow(self, flow: Flow) -> None:
        """Keep the handle of a flow that the core knows."""
        self.flows.append(flow)
        self.labels.setdefault(flow.name, 2)
        memory.check_growing(self)

    def unused_tcp(self, ends: str) -> str:
        """The name of a flow over TCP by its ends, with a number if there are several."""
        taken = {flow.name for flow in self.tcp}
        numbered = (f"{ends}-{number}" for number in range(2, len(taken) + 3))
        return next(label for label in (ends, *numbered) if label not in taken)

    def unused_label(self, ends: str) -> str:
        """The name of a flow by its ends: with the lowest number that is not taken, if there are several."""
        if ends not in self.labels:
            return ends
        while (label := f"{ends}-{self.labels[ends]}") in self.labels:
            self.labels[ends] += 1
        return label

    def described(self) -> dict[str, Any]:
        """All of it as a file could say it, defaults filled in."""
        found: dict[str, Any] = self.core.described()
        return found

    def at_ends(self) -> dict[tuple[int, str, str], Any]:
        """Trees and conditioners by link, node and ``queue`` or ``ingress``, with ports in place of names."""
        with core.translated():
            return {(link, node, key): said for link, node, key, said in self.core.placed()}

    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself."""
        lead = f"{what} " if what else ""
        if isinstance(which, Node):
            if self.nodes[which.index : which.index + 1] != [which]:
                raise TwinplaneError(f"{lead}{which.name}: it belongs to another network")
            return which
        found = self.by_name.get(which) if isinstance(which, str) else None
        if found is None:
            hint = suggest(str(which), list(self.by_name))
            raise TwinplaneError(f"{lead}{which!r}, no node has that name{hint}")
        return found

    def between(self, a: Node, b: Node) -> list[Link]:
        """Every link between two nodes."""
        return [self.links[index] for index in self.core.between(a.index, b.index)]

    def link_at(self, node: Node, which: Link | Node | str, what: str) -> Link:
        """A link of a node, by itself or by the neighbour at its other end."""
        if isinstance(which, Link):
            if node not in (which.a, which.b):
                raise TwinplaneError(f"{what}: {which} is no link of {node.name}")
            return which
        other = self.node(which, what)
        if not self.between(node, other):
            raise TwinplaneError(f"{what}: there is no link between {node.name} and {other.name}")
        return self.find_link(node, other)

    def find_link(self, a: Node | str | Link, b: Node | str | None) -> Link:
        """A link by itself or by its two ends."""
        if isinstance(a, Link):
            if self.links[a.index : a.index + 1] != [a]:
                raise TwinplaneError(f"{a.a.name}-{a.b.name}: it belongs to another network")
            return a
        if b is None:
            raise TwinplaneError("a link is named by its two ends, or given itself")
        x, y = self.node(a), self.node(b)
        found = self.between(x, y)
        if not found:
            raise TwinplaneError(f"there is no link between {x.name} and {y.name}")
        if len(found) > 1:
            raise TwinplaneError(
                f"there are {len(found)} links between {x.name} and {y.name}: give the link itself"
            )
        return found[0]

    def hops(self, route: Sequence[Hop]) -> list[Any]:
        """A route as the core reads it: names of nodes, and links by their places."""
        return [
            {"link": hop.index} if isinstance(hop, Link) else hop.name if isinstance(hop, Node) else hop
            for hop in route
        ]

    def end_of(self, node: Node, which: Link | Node | str, what: str) -> str:
        """What a description calls a link of a node: one of its ends, ``NODE:INTERFACE``."""
        link = self.link_at(node, which, what)
        return self.core.ends(link.index)[0 if link.a is node else 1]
