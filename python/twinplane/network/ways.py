"""Which way packets take, as the tables of routers are at a moment: table ``ways`` of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..frames import Columns

if TYPE_CHECKING:
    from .network import Network

KEYS = ("kind", "name", "begin_ps", "end_ps", "nodes", "labels", "fate")

FLOWS_MAX = 40
"""The ways of so many flows are looked at."""
PAIRS_MAX = 60
"""The ways from all routers to all others, and to networks that they tell by BGP, if there are not more."""


@dataclass(frozen=True)
class Way:
    """Where a packet goes: the nodes, the labels that it leaves each of them with, and what becomes of it."""

    nodes: tuple[str, ...]
    labels: tuple[str, ...]
    """One for each link, the outermost label first; empty where it goes without."""
    fate: str
    """``arrives``, or where and why it does not."""


@dataclass
class _Watched:
    """A packet that is asked for again and again."""

    kind: str
    """``flow``, or ``route`` from one router to another."""
    name: str
    node: str
    packet: dict[str, Any]
    origin: str | None = None
    """The router that tells others the destination, if no node has it: packets that come there arrive."""
    seen: list[tuple[int, Way]] = field(default_factory=list)
    """Since when it goes which way."""


class Ways:
    """The ways of flows, and of a small network those between all routers, whenever one is another."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._watched: list[_Watched] | None = None
        self._state: object = None
        self._last_ps = 0

    @property
    def looked(self) -> bool:
        """Has anybody looked yet?"""
        return self._watched is not None

    def look(self, now_ps: int) -> None:
        """Ask for each packet, unless nothing has been written to any table since the last time."""
        writes, actions = self._network.columns("writes"), self._network.columns("actions")
        over = sum(until is not None and until <= now_ps for until in actions["until_ps"])
        state = (sum(writes["count"]), len(actions["until_ps"]), over)
        self._last_ps = now_ps
        if state == self._state:
            return
        self._state = state
        if self._watched is None:
            self._watched = self._chosen()
        for one in self._watched:
            way = asked(self._network, one.node, one.packet, one.origin)
            if not one.seen or one.seen[-1][1] != way:
                one.seen.append((now_ps, way))

    def columns(self) -> Columns:
        """A row for each stretch of time in which a packet's way was the same, packet by packet."""
        found: Columns = {key: [] for key in KEYS}
        for one in self._watched or ():
            ends = [*(at for at, _ in one.seen[1:]), self._last_ps]
            for (begin, way), end in zip(one.seen, ends, strict=True):
                values = (one.kind, one.name, begin, end, list(way.nodes), list(way.labels), way.fate)
                for column, value in zip(KEYS, values, strict=True):
                    found[column].append(value)
        return found

    def _chosen(self) -> list[_Watched]:
        """Flows first, those over an LSP left out, whose route is known; then pairs of routers."""
        network = self._network
        kinds = {node.name: node.kind for node in network.nodes}
        table = network.columns("flows")
        places = {name: place for place, name in enumerate(table["name"])}
        found: list[_Watched] = []
        for spec in network.described()["flows"]:
            source, sink = spec["from"], spec["to"]
            place = places.get(spec["name"])
            if place is None or kinds.get(source) not in ("router", "host") or sink not in kinds:
                continue
            if spec.get("over"):
                continue
            if len(found) == FLOWS_MAX:
                break
            packet = {"to": sink, "protocol": "udp", "dscp": spec["dscp"]}
            packet |= {key: table[key][place] for key in ("src_port", "dst_port")}
            found.append(_Watched("flow", spec["name"], source, packet))
        routes = self._routes([name for name, kind in kinds.items() if kind == "router"])
        return found + (routes if len(routes) <= PAIRS_MAX else [])

    def _routes(self, routers: list[str]) -> list[_Watched]:
        """From all routers to all others, and to the networks that they tell by BGP."""
        if len(routers) > PAIRS_MAX:
            return []
        described = self._network.described()["nodes"]
        told = [
            (router, ip_network(prefix, strict=False))
            for router in routers
            for prefix in (described[router].get("bgp") or {}).get("networks") or ()
        ]
        found = []
        for a in routers:
            found += [_Watched("route", f"{a} to {b}", a, {"to": b}) for b in routers if b != a]
            for b, prefix in told:
                if b != a:
                    first = {"to": str(prefix[min(1, prefix.num_addresses - 1)])}
                    found.append(_Watched("route", f"{a} to {prefix}", a, first, b))
        return found


def asked(network: Network, node: str, packet: dict[str, Any], origin: str | None = None) -> Way:
    """The way of a packet from a node, as all tables are now; it has arrived where `origin` drops it."""
    try:
        rows = network.engine.path(network.node(node), packet).columns()
    except TwinplaneError as error:
        return Way((node,), (), f"is not known: {error}")
    nodes, labels = [node], list[str]()
    after: str | None = None
    last = 0
    keys = ("hop", "node", "to", "leaves")
    for hop, own, to, leaves in zip(*(rows[key] for key in keys), strict=True):
        if hop != last and nodes[-1] != own:
            nodes.append(own)
        if hop != last and nodes.count(own) > 1:
            return Way(tuple(nodes), tuple(labels), "goes round in a circle")
        last, after = hop, to
        if to is not None:  # the last entry of a hop says where the packet goes, and with which labels
            links = len(nodes) - 1  # up to here; a host at the begin has no entry, and sends without a label
            labels = [*labels[:links], *[""] * (links - len(labels)), leaves or ""]
    if after is not None and after != nodes[-1]:
        nodes.append(after)
    fate, action = "arrives", rows["action"][-1] if rows["action"] else "drop: nothing is known of it"
    if action.startswith("drop") and nodes[-1] != origin:
        fate = f"is lost at {nodes[-1]}{action.removeprefix('drop')}"
    return Way(tuple(nodes), tuple(labels[: len(nodes) - 1]), fate)
