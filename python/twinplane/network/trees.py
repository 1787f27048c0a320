"""Queues and conditioners at the ends of links, as descriptions say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import TwinplaneError, suggest
from ..queues import Conditioner, Tree
from ..queues.tree import conditioner, tree
from .handles import Link, Node


def at_ends(link: Link, queue: Any, ingress: Any) -> dict[str, Any]:
    """What a user gives for the ends of a link, as a link says it: by key, and by name of the node."""
    what = f"link {link.a.name} - {link.b.name}"
    makers: dict[str, tuple[Any, Callable[[Any, str], Tree | Conditioner]]] = {
        "queue": (queue, tree),
        "ingress": (ingress, conditioner),
    }
    return {
        key: {
            node.name: made(one, f"{what}: {key} at {node.name}").described()
            for node, one in by_end(link, given, f"{what}: {key}").items()
        }
        for key, (given, made) in makers.items()
        if given is not None
    }


def is_description(given: Mapping[Any, Any]) -> bool:
    """Is it a tree or a conditioner, and not something that says at which ends?"""
    return bool({"discipline", "root", "rules"} & set(map(str, given)))


def by_end(link: Link, given: Any, what: str) -> dict[Node, Any]:
    """One value for both ends, or a mapping from nodes to values."""
    ends = {node.name: node for node in (link.a, link.b)}
    if not isinstance(given, Mapping) or is_description(given):
        return {node: given for node in ends.values() if queues_at(node)}
    found: dict[Node, Any] = {}
    for key, value in given.items():
        name = key.name if isinstance(key, Node) else str(key)
        if name not in ends:
            raise TwinplaneError(
                f"{what}: '{name}' is not an end of this link, {link.a.name} and {link.b.name} are"
                f"{suggest(name, list(ends))}"
            )
        if value is not None:
            if not queues_at(ends[name]):
                raise TwinplaneError(f"{what}: {name} is of kind {ends[name].kind}: its port is not ours")
            found[ends[name]] = value
    return found


def each_end(link: Link, said: Any) -> dict[str, Any]:
    """What a link says of its queues or conditioners, by node: a file may say one thing for both ends."""
    if isinstance(said, Mapping) and not is_description(said):
        return dict(said)
    return {} if said is None else {node.name: said for node in (link.a, link.b) if queues_at(node)}


def queues_at(node: Node) -> bool:
    """Is the port of the node ours?"""
    return node.kind not in ("external", "peer")


def root_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The discipline of a tree: what it says but its accounting and its conditioner."""
    return {key: value for key, value in tree.items() if key not in ("accounting", "conditioner")}
