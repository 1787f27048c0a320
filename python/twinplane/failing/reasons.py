"""Why a flow does not come back: from the graph, its LSPs, and where its packets were lost last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..network.history import error_words
from .cases import Case
from .failures import counted
from .graph import Graph, Parts
from .traffic import Watched
from .watching import ADMISSION, CONGESTED

if TYPE_CHECKING:
    from ..network import Network


class Why(StrEnum):
    """Kinds of reasons."""

    END = "end failed"
    """The node where the flow begins or ends has failed."""
    NO_ROUTE = "no route"
    """The network has fallen apart: no way is left between its ends."""
    NO_FALLBACK = "no fallback"
    """Its LSP has one route, which leads over what failed."""
    FALLBACK_HIT = "fallback hit"
    """Every route of its LSP leads over what failed."""
    NO_BANDWIDTH = "no bandwidth"
    """A router on a route that is left refuses the reservation."""
    STATIC_ROUTE = "static route"
    """A router goes on to send it over what failed, since nothing tells it another way."""
    CONGESTION = "congestion"
    """Queues overflow on the way that it takes now."""
    OTHER = "other"
    """None of these: the text says what is known."""


def too_small(queued: int) -> str:
    """What is said of packets that queues dropped."""
    return f"the way that remained is too small: {counted(queued, 'packet')} lost in queues"


class Reasons:
    """Finds the reasons of the cases of a network."""

    def __init__(self, network: Network, graph: Graph) -> None:
        self._graph = graph
        self._names = network.names
        self._tables = network.tables
        self._groups = [lsp.name for lsp in network.lsps]
        self._routes = [self._ways(network, lsp.index) for lsp in network.lsps]

    def _ways(self, network: Network, group: int) -> list[list[list[int]]]:
        """Of each route of a group the links that each of its hops can be."""
        said = network.draft.element("lsps", group)
        found = []
        for route in (said["route"], said["fallback"]):
            here, way = network.node(said["from"]).index, []
            for hop in route:
                if isinstance(hop, Mapping):
                    links = [int(hop["link"])]
                    a, b = self._graph.ends[links[0]]
                    here = b if here == a else a
                else:
                    there = network.node(str(hop).partition(":")[0]).index
                    links = self._graph.between(here, there)
                    here = there
                way.append(links)
            if way:
                found.append(way)
        if said["shortest"] and (shortest := self._graph.way(*self.ends_of(network, group))):
            found.append([[link] for link in shortest])
        return found

    @staticmethod
    def ends_of(network: Network, group: int) -> tuple[int, int]:
        """Where a group of LSPs begins and ends."""
        said = network.draft.element("lsps", group)
        return network.node(said["from"]).index, network.node(said["to"]).index

    def of(
        self,
        case: Case,
        dead: Collection[int],
        parts: Parts,
        flow: Watched,
        found: Mapping[str, Any],
        last: Sequence[Any] | None,
        queued: int,
    ) -> tuple[Why, str]:
        """Why a flow was not back, and that in words; `dead` are the links that are down in the case.

        `queued` are its packets that queues dropped.
        """
        for end in (flow.source, flow.sink):
            if end in case.nodes:
                return Why.END, f"{self._names[end]} itself has failed"
        if not parts.joined(flow.source, flow.sink):
            ends = f"{self._names[flow.source]} and {self._names[flow.sink]}"
            return Why.NO_ROUTE, f"no way is left between {ends}"
        if flow.lsps is not None and any(group == flow.lsps for group, _ in found["down"]):
            return self._of_lsp(set(dead), flow.lsps, found)
        if last is None:
            return Why.OTHER, "nothing says where its packets were lost"
        if last[2] in CONGESTED:
            where = f"{self._where(last[0])} ({last[2]})"
            said = f"{too_small(queued)}, last" if queued else "its packets are dropped"
            return Why.CONGESTION, f"{said} {where}"
        return self._of_place(dead, found, *last)

    def _of_lsp(self, dead: set[int], group: int, found: Mapping[str, Any]) -> tuple[Why, str]:
        name = self._groups[group]
        errors = [one[2:] for one in found["errors"] if one[0] == group]
        for code, _, address in errors:
            if code == ADMISSION:
                return Why.NO_BANDWIDTH, f"LSP {name}: no bandwidth at {self._node(address)}"
        routes = self._routes[group]
        hit = [any(dead.issuperset(links) for links in route) for route in routes]
        if not routes:
            where = f" ({self._node(errors[-1][2])} has none)" if errors else ""
            return (
                Why.STATIC_ROUTE,
                f"LSP {name} follows the routers' routes, which lead over what failed{where}",
            )
        if all(hit):
            if len(routes) == 1:
                return Why.NO_FALLBACK, f"LSP {name} has no fallback"
            return Why.FALLBACK_HIT, f"the fallback of LSP {name} leads over what failed, too"
        if errors:
            code, value, address = errors[-1]
            return Why.OTHER, f"LSP {name}: {error_words(code, value)} at {self._node(address)}"
        return Why.OTHER, f"LSP {name} is down and tells no error"

    def _of_place(
        self,
        dead: Collection[int],
        found: Mapping[str, Any],
        node: str | None,
        place: str,
        reason: str,
        labelled: bool,
    ) -> tuple[Why, str]:
        where = self._where(node)
        near = node in {self._names[end] for link in dead for end in self._graph.ends[link]}
        down = [self._groups[group] for group, _ in found["down"]]
        if not labelled and near and reason in ("port-down", "link-down", "no-adjacency"):
            return Why.STATIC_ROUTE, f"{node} routes it over what failed"
        if down and reason == "no-route":
            return Why.OTHER, f"LSP {down[0]} is down, and {node} has no route without it"
        return Why.OTHER, f"its packets are lost {where} ({reason})"

    def _where(self, node: str | None) -> str:
        return f"at {node}" if node else "on its way"

    def _node(self, address: Any) -> str:
        return self._tables.named(address)
