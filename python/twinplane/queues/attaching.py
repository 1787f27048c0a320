"""Queues and conditioners at the ends of links, and what the core takes of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError, TwinplaneWarning, suggest
from ..handles import Link
from ..nodes import Node
from .base import Ports, words
from .conditioners import Conditioner
from .tree import Tree, conditioner, tree

if TYPE_CHECKING:
    from ..network import Network

Placed = dict[tuple[int, str], Tree | Conditioner]
"""By link and key of the description (``a_queue``, ``b_ingress``)."""


def attach(network: Network, link: Link, queue: Any, ingress: Any) -> None:
    """Put what a user gives for a link at its ends, and warn of rates that do not add up."""
    what = f"link {link.a.name} - {link.b.name}"
    for side, given in by_end(network, link, queue, f"{what}: queue").items():
        node = (link.a, link.b)[side]
        made = tree(given, f"{what}: queue at {node.name}")
        network.placed[link.index, f"{'ab'[side]}_queue"] = made
        warn(network, f"{what}: queue at {node.name}", made, link)
    for side, given in by_end(network, link, ingress, f"{what}: ingress").items():
        node = (link.a, link.b)[side]
        network.placed[link.index, f"{'ab'[side]}_ingress"] = conditioner(
            given, f"{what}: ingress at {node.name}"
        )


def by_end(network: Network, link: Link, given: Any, what: str) -> dict[int, Any]:
    """One value for both ends, or a mapping from nodes to values."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or {"discipline", "root", "rules"} & set(map(str, given)):
        return {side: given for side, node in enumerate((link.a, link.b)) if queues_at(node)}
    found: dict[int, Any] = {}
    for key, value in given.items():
        name = key.name if isinstance(key, Node) else str(key)
        names = (link.a.name, link.b.name)
        if name not in names:
            raise TwinplaneError(
                f"{what}: '{name}' is not an end of this link, {names[0]} and {names[1]} are"
                f"{suggest(name, names)}"
            )
        if value is not None:
            found[names.index(name)] = value
    return found


def queues_at(node: Node) -> bool:
    """Is the port of the node ours?"""
    return node.kind not in ("external", "peer")


def warn(network: Network, what: str, made: Tree, link: Link) -> None:
    """Say once what does not add up; it is kept in `Network.warnings`."""
    rate = network.description.links[link.index]["rate_bps"]
    for place, _, text in made.excesses(rate or None):
        said = "".join(f": {word}" for word in words(place))
        note(network, f"{what}{said}: {text}")


def note(network: Network, text: str) -> None:
    """Keep a warning and say it."""
    if text not in network.warnings:
        network.warnings.append(text)
        warnings.warn(text, TwinplaneWarning, stacklevel=4)


def lowered(network: Network) -> list[dict[str, Any]]:
    """The links as the core takes them, with the queues at their ends."""
    found = [dict(link) for link in network.description.links]
    for (index, key), made in network.placed.items():
        link = network.links[index]
        node = link.a if key.startswith("a") else link.b
        what = f"link {link.a.name} - {link.b.name}: {key[2:]} at {node.name}"
        found[index][key] = made.lowered(ports_of(network, node, what))
    return found


def ports_of(network: Network, node: Node, what: str) -> Ports:
    """From a neighbour (by name or itself) or a link to the ports of `node` that lead there."""
    links = [link for link in network.links if node in (link.a, link.b)]

    def ports(given: Any) -> list[int]:
        if isinstance(given, Link):
            found = [place for place, link in enumerate(links) if link is given]
            if not found:
                raise TwinplaneError(f"{what}: inputs: {given} does not lead to {node.name}")
            return found
        name = given.name if isinstance(given, Node) else str(given)
        neighbours = [link.other(node).name for link in links]
        found = [place for place, other in enumerate(neighbours) if other == name]
        if not found:
            hint = suggest(name, neighbours) or f" (one of {', '.join(neighbours)})"
            raise TwinplaneError(f"{what}: inputs: {node.name} has no neighbour '{name}'{hint}")
        return found

    return ports


CORE_PLACE = re.compile(r"\broot((?:/[A-Za-z0-9_.:-]+)*): ")
"""How the core names a place in a tree."""


def in_words(text: str) -> str:
    """An error of the core with ``root/gold: `` in the words that a user knows: ``class 'gold': ``."""

    def said(match: re.Match[str]) -> str:
        return "".join(f"class '{name}': " for name in match[1].split("/")[1:] if name != "queue")

    return CORE_PLACE.sub(said, text)
