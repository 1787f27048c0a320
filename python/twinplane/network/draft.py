"""A network under construction: what has been described so far, and how parts of it are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError, suggest
from ..model.description import Description
from .handles import Flow, Link, Lsp, Node

if TYPE_CHECKING:
    from ..queues import Conditioner, Tree
    from .handles import Hop


class Draft:
    """Nodes, links, LSPs and flows, with the description that the core takes of them."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.links: list[Link] = []
        self.lsps: list[Lsp] = []
        self.flows: list[Flow] = []
        self.description = Description()
        self.placed: dict[tuple[int, str], Tree | Conditioner] = {}
        """Queues and conditioners by link and end, as ``a_queue`` and so on."""
        self.positions: dict[str, tuple[float, float]] = {}
        """Where nodes are drawn, by name; without an entry a place is found for the node."""
        self.asides: list[str] = []
        """What is surprising about the way in which the network was described: a sentence each."""
        self.explain: Callable[[TwinplaneError], TwinplaneError] = lambda error: error
        """Says of an error where in a file its place is, if the network comes from one."""
        self.interface_names: list[tuple[str, str]] | None = None
        """What the ends of links are called, if that was said [default: e0, e1 and so on at each node]."""

    def add_node(self, node: Node, fields: dict[str, Any]) -> None:
        """Add a node whose name no other has."""
        if any(other.name == node.name for other in self.nodes):
            raise TwinplaneError(f"there already is a node named '{node.name}'")
        self.nodes.append(node)
        self.description.nodes.append({"name": node.name, "kind": node.kind, **fields})

    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself."""
        lead = f"{what} " if what else ""
        if isinstance(which, Node):
            if self.nodes[which.index : which.index + 1] != [which]:
                raise TwinplaneError(f"{lead}{which.name}: it belongs to another network")
            return which
        for node in self.nodes:
            if node.name == which:
                return node
        hint = suggest(str(which), [node.name for node in self.nodes])
        raise TwinplaneError(f"{lead}{which!r}, no node has that name{hint}")

    def between(self, a: Node, b: Node) -> list[Link]:
        """Every link between two nodes."""
        return [self.links[index] for index in self.description.between(a.index, b.index)]

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

    def route(
        self,
        head: Node,
        hops: Sequence[Hop],
        what: str,
        *,
        tail: Node | None = None,
        loose: bool = False,
    ) -> list[Any]:
        """An explicit route as the core takes it; strict routes are checked against the links."""
        found: list[Any] = []
        here = head
        for hop in hops:
            if isinstance(hop, Link):
                if here not in (hop.a, hop.b):
                    raise TwinplaneError(f"{what}: route: {hop} does not begin at {here.name}")
                here = hop.other(here)
                found.append({"link": hop.index})
                continue
            node = self.node(hop, f"{what}: route says")
            if not loose and not self.between(here, node):
                raise TwinplaneError(f"{what}: route: there is no link between {here.name} and {node.name}")
            here = node
            found.append(node.index)
        if tail is not None and here is not tail and not loose:
            raise TwinplaneError(f"{what}: route ends at {here.name}, the LSP ends at {tail.name}")
        return found
