"""Trees of `protection`: over the link that fails, with leaves beyond it and one before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...network import Network
from ...network.nodes import HeadEnd
from .parameters import ProtectionParameters

BEFORE = "e"
"""The leaf that is not beyond the link."""

SENDER, AT_BEFORE = "s", "he"
"""Hosts: the one that sends, and the one at the leaf before the link."""


def beyond(p: ProtectionParameters) -> list[str]:
    """Leaves beyond the link, all behind d: so a bypass around router c can take them, too."""
    return [f"l{place}" for place in range(p.leaves)] if p.trees else []


def routers(p: ProtectionParameters) -> list[str]:
    """Routers that are there for trees only."""
    return [*beyond(p), BEFORE] if p.trees else []


def links(p: ProtectionParameters) -> list[tuple[str, str, int]]:
    """Their links, and the cost of each."""
    return [*(("d", leaf, 1) for leaf in beyond(p)), ("b", BEFORE, 1)] if p.trees else []


def measured(p: ProtectionParameters) -> list[str]:
    """Trees that carry a flow, each to a group of its own: the first and the last."""
    return ["first tree", "last tree"][: p.trees]


def group(name: str) -> str:
    """The group of a tree that carries a flow."""
    return "239.1.1.1" if name.startswith("first") else "239.1.1.2"


def others(p: ProtectionParameters) -> Iterator[list[str]]:
    """Names of all other trees, in parts that are signalled at once."""
    names = [f"tree{place}" for place in range(2, p.trees)]
    for first in range(0, len(names), p.trees_at_once):
        yield names[first : first + p.trees_at_once]


def add_measured(net: Network, p: ProtectionParameters, **flow: Any) -> None:
    """Hosts, and the trees with a flow to all of their leaves."""
    if not p.trees:
        return
    nodes = {node.name: node for node in net.nodes}
    for name in ("a", *routers(p)):
        net.draft.change_node(nodes[name], {"igmp": True})
    groups = [group(name) for name in measured(p)]
    at = {SENDER: "a", AT_BEFORE: BEFORE, **{f"h{leaf}": leaf for leaf in beyond(p)}}
    for place, (host, router) in enumerate(at.items()):
        joins = [] if host == SENDER else groups
        net.link(net.host(host, f"10.{place + 1}.0.2/24", join=joins), nodes[router], rate="10 Gbit/s")
    first, *rest = [host for host in at if host != SENDER]
    for name in measured(p):
        add(net, p, name, group=group(name))
        net.flow(SENDER, first, receivers=rest, group=group(name), name=f"over-{name}", **flow)


def add(net: Network, p: ProtectionParameters, name: str, **said: Any) -> None:
    """A tree along the row, with the leaf before the link."""
    root = next(node for node in net.nodes if node.name == "a")
    assert isinstance(root, HeadEnd)
    routes = {BEFORE: ["b", BEFORE], **{leaf: ["b", "c", "d", leaf] for leaf in beyond(p)}}
    root.p2mp(
        name,
        list(routes),
        routes=routes,
        protection=p.asked(node=p.fails == "node"),
        retry_first="100 ms",
        retry_max="500 ms",
        **said,
    )
