"""Queues and conditioners at the ends of links, and what the core takes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import TwinplaneError, suggest
from ..model.places import about
from ..queues import Conditioner, Tree
from ..queues.tree import conditioner, tree
from .draft import Draft
from .handles import Link, Node

Ports = Callable[[str], list[int]]
"""From a neighbour's name, or an interface of either, to the numbers of a node's ports that lead there."""

Placed = dict[tuple[int, str], Tree | Conditioner]
"""By link and key of the description (``a_queue``, ``b_ingress``)."""


def attach(draft: Draft, link: Link, queue: Any, ingress: Any) -> None:
    """Put what a user gives for a link at its ends."""
    what = f"link {link.a.name} - {link.b.name}"
    for side, given in by_end(draft, link, queue, f"{what}: queue").items():
        node = (link.a, link.b)[side]
        draft.placed[link.index, f"{'ab'[side]}_queue"] = tree(given, f"{what}: queue at {node.name}")
    for side, given in by_end(draft, link, ingress, f"{what}: ingress").items():
        node = (link.a, link.b)[side]
        draft.placed[link.index, f"{'ab'[side]}_ingress"] = conditioner(
            given, f"{what}: ingress at {node.name}"
        )


def is_description(given: Mapping[Any, Any]) -> bool:
    """Is it a tree or a conditioner, and not something that says at which ends?"""
    return bool({"discipline", "root", "rules"} & set(map(str, given)))


def by_end(draft: Draft, link: Link, given: Any, what: str) -> dict[int, Any]:
    """One value for both ends, or a mapping from nodes to values."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or is_description(given):
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
            side = names.index(name)
            if not queues_at((link.a, link.b)[side]):
                raise TwinplaneError(
                    f"{what}: {name} is of kind {(link.a, link.b)[side].kind}: its port is not ours"
                )
            found[side] = value
    return found


def queues_at(node: Node) -> bool:
    """Is the port of the node ours?"""
    return node.kind not in ("external", "peer")


def by_link(draft: Draft) -> dict[int, dict[str, Any]]:
    """What stands at the ends of links, by link, as a link says it."""
    found: dict[int, dict[str, Any]] = {}
    for (index, key), made in draft.placed.items():
        link = draft.links[index]
        node = link.a if key.startswith("a") else link.b
        here = found.setdefault(index, {}).setdefault(key[2:], {})
        try:
            here[node.name] = with_ports(made.described(), ports_of(draft, node))
        except TwinplaneError as error:
            lead = f"link {link.a.name} - {link.b.name}: {key[2:]} at {node.name}: "
            raise about(("links", index, key[2:], node.name), lead, str(error)) from None
    return found


def with_ports(described: Any, ports: Ports) -> Any:
    """The same with numbers of ports in the place of neighbours, wherever a match has `inputs`."""
    if isinstance(described, list):
        return [with_ports(one, ports) for one in described]
    if not isinstance(described, dict):
        return described
    inputs = described.get("inputs")
    found = {key: with_ports(one, ports) for key, one in described.items()}
    if isinstance(inputs, list):  # a class may be called so, too
        found["inputs"] = sorted(
            {port for one in inputs for port in ([one] if isinstance(one, int) else ports(one))}
        )
    return found


def root_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The discipline of a tree: what it says but its accounting and its conditioner."""
    return {key: value for key, value in tree.items() if key not in ("accounting", "conditioner")}


def ports_of(draft: Draft, node: Node) -> Ports:
    """From a neighbour or an interface of either (``p:e1``) to the ports of `node` towards it."""
    links = [link for link in draft.links if node in (link.a, link.b)]

    def ports(name: str) -> list[int]:
        neighbours = [link.other(node).name for link in links]
        found = [place for place, other in enumerate(neighbours) if other == name]
        if found:
            return found
        if ":" in name:
            ends = [interfaces(draft)[link.index] for link in links]
            found = [place for place, pair in enumerate(ends) if name in pair]
            if found:
                return found
            known = [end for pair in ends for end in pair]
            raise TwinplaneError(f"inputs: no link of {node.name} has an end '{name}'{suggest(name, known)}")
        hint = suggest(name, neighbours) or f" (one of {', '.join(neighbours)})"
        raise TwinplaneError(f"inputs: {node.name} has no neighbour '{name}'{hint}")

    return ports


def interfaces(draft: Draft) -> list[tuple[str, str]]:
    """Both ends of every link, as ``NODE:INTERFACE``."""
    return [(ends[0], ends[1]) for ends in map(draft.core.ends, range(len(draft.links)))]
