"""How nodes and links of a network are found: by name, by their ends, or by themselves."""

from __future__ import annotations

from ..errors import TwinplaneError, suggest
from ..model.description import Description
from .handles import Link
from .nodes import Node


class Finding:
    """The part of `Network` that finds."""

    nodes: list[Node]
    links: list[Link]
    description: Description

    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself."""
        lead = f"{what} " if what else ""
        if isinstance(which, Node):
            if which.network is not self:
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
