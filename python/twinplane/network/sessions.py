"""What state each session of a routing protocol was in over time: table ``sessions`` of a run.

Routers tell when an adjacency of OSPF, or a session of LDP, BGP or BFD, comes up and ends. Their tables say
what there is now: so also a session that never came up has a row, and the reason for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..frames import Columns

if TYPE_CHECKING:
    from .network import Network

PROTOCOLS = ("OSPF", "BFD", "LDP", "BGP")
"""In the order in which they usually come up and notice a failure."""

KEYS = ("protocol", "node", "neighbor", "over", "begin_ps", "end_ps", "state", "why")

UP = {
    "ospf-adjacent": "OSPF",
    "ospf-virtual-adjacent": "OSPF",
    "bfd-up": "BFD",
    "ldp-session-up": "LDP",
    "bgp-session-up": "BGP",
}
DOWN = {
    "ospf-adjacency-lost": "OSPF",
    "ospf-virtual-adjacency-lost": "OSPF",
    "bfd-down": "BFD",
    "ldp-session-down": "LDP",
    "bgp-session-down": "BGP",
}
"""Events that begin and end a session, and its protocol."""

AWAY = "was away"
"""Why sessions of a node ended that failed or restarted."""

Key = tuple[str, str, str, str]
"""One end of a session: protocol, node, neighbour, and what tells it from others between the same two."""


@dataclass
class _Span:
    """A stretch of time in which an end did not change; it lasts to the next one."""

    begin_ps: int
    state: str
    why: str | None = None


@dataclass
class _End:
    """One end of a session: what was told of it, and what the tables say now."""

    spans: list[_Span] = field(default_factory=lambda: [_Span(0, "waiting")])

    def change(self, at: int, state: str, why: str | None = None) -> None:
        """Another state from a time on; the same state again changes nothing."""
        if self.spans[-1].state != state:
            self.spans.append(_Span(at, state, why))

    def settle(self, is_up: bool, since: int | None, why: str | None) -> None:
        """Agree with the tables, which know what no event tells, and add the reason why it is not up."""
        last = self.spans[-1]
        if is_up != (last.state == "up") and since is not None and since > last.begin_ps:
            self.change(since, "up" if is_up else "down", why)
        elif not is_up and last.state != "up":
            last.why = last.why or why


def session_spans(network: Network) -> Columns:
    """A row for each stretch of time in which an end of a session did not change, end by end.

    `state` is ``waiting`` before it was up for the first time, then ``up`` or ``down``. `over` tells sessions
    between the same two nodes apart: a link, an LSP or a family of addresses; it is empty where there is only
    one. `why` says why it went down, or why it never came up, where that is known.
    """
    found: dict[Key, _End] = {}
    names = _Names(network)
    for at, node, told in _told(network):
        if told is None:  # a node that fails or restarts forgets its sessions, and tells nobody
            for key, end in found.items():
                if key[1] == node and end.spans[-1].state == "up":
                    end.change(at, "down", f"{node} {AWAY}")
            continue
        name = str(told["event"])
        key = names.key(UP.get(name) or DOWN[name], node, told)
        end = found.setdefault(key, _End())
        end.change(at, "up" if name in UP else "down", None if name in UP else _why(told))
    for key, is_up, since, why in _now(network, names):
        found.setdefault(key, _End()).settle(is_up, since, why)
    columns: Columns = {key: [] for key in KEYS}
    end_ps = network.engine.now_ps
    order = sorted(found, key=lambda key: (PROTOCOLS.index(key[0]), *key[1:]))
    for key in order:
        spans = found[key].spans
        ends = [*(span.begin_ps for span in spans[1:]), end_ps]
        for span, end_of in zip(spans, ends, strict=True):
            if end_of <= span.begin_ps and span is not spans[-1]:
                continue
            values = (*key, span.begin_ps, end_of, span.state, span.why)
            for column, value in zip(KEYS, values, strict=True):
                columns[column].append(value)
    return columns


def _told(network: Network) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
    """What routers told of sessions, and when nodes were away, in order of time."""
    found: list[tuple[int, int, str, dict[str, Any] | None]] = []
    for name in (*DOWN, *UP):  # by name, since events of LSPs may be a million
        events = network.tables.events(None, None, None, name)
        keys = (events[key] for key in ("time_ps", "node", "event"))
        found += [(at, 1, node, told) for at, node, told in zip(*keys, strict=True)]
    actions = network.columns("actions")
    done = (actions[key] for key in ("time_ps", "action", "node", "value"))
    for at, action, node, value in zip(*done, strict=True):
        # With a value it is one protocol that restarts alone, which its neighbours may not even notice.
        if node is not None and action in ("fail", "restart") and value is None:
            found.append((at, 0, node, None))
    for at, _, node, told in sorted(found, key=lambda one: one[:2]):
        yield at, node, told


def _why(told: dict[str, Any]) -> str | None:
    """Why a session ended. Of an adjacency only the state is told that the neighbour fell back to."""
    if told.get("why"):
        return str(told["why"])
    state = told.get("state")
    return None if state in (None, "down") else f"the neighbour is in state {state}"


class _Names:
    """Names of nodes and links in the place of addresses and ports."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.links: dict[str, list[str]] = {node.name: [] for node in network.nodes}
        """The far ends of a node's links, by port."""
        self.parallel: dict[tuple[str, int], str] = {}
        """Ports of which others lead to the same node, and what their links are called."""
        ports: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for link in network.links:
            for own, far in ((link.a.name, link.b.name), (link.b.name, link.a.name)):
                ports.setdefault((own, far), []).append((len(self.links[own]), f"link {link.index}"))
                self.links[own].append(far)
        for (own, _), several in ports.items():
            if len(several) > 1:
                self.parallel |= {(own, port): name for port, name in several}
        self._known: dict[object, str] = {}

    def named(self, address: object) -> str:
        """The node that has an address."""
        if address not in self._known:
            self._known[address] = self.network.tables.named(address)
        return self._known[address]

    def key(self, protocol: str, node: str, told: dict[str, Any]) -> Key:
        """The end of a session that an event or a row of a table is about."""
        address = told.get("router_id") or told.get("address") or told.get("neighbor")
        port = told.get("port")
        over = self.parallel.get((node, port), "") if port is not None else ""
        if protocol == "OSPF" and "area" in told:
            over = f"virtual link through {told['area']}"
        elif protocol == "BFD" and told.get("lsp"):
            over = f"LSP {told['lsp']}"
        elif protocol == "BFD" and port is None:
            over = "several hops"
        elif protocol == "BGP" and ":" in str(address):
            over = "IPv6"
        return protocol, node, self.named(address), over


Now = tuple[Key, bool, int | None, str | None]
"""An end as a table has it: is it up, since when it is as it is, and why it is not up."""


def _now(network: Network, names: _Names) -> Iterator[Now]:
    """Sessions as the tables have them now."""
    yield from _ospf_now(network, names)
    for row in _rows(network, "bfd_sessions"):
        if row["state"] != "up" and not row["clients"]:
            continue  # nobody wants it any more
        key = names.key("BFD", row["node"], {**row, "address": row["neighbor"]})
        why = row["diagnostic"] if row["ups"] else f"state {row['state']}: nothing is heard of the neighbour"
        yield key, row["state"] == "up", row["since_ps"], why
    yield from _ldp_now(network, names)
    for row in _rows(network, "bgp_neighbors"):
        key = names.key("BGP", row["node"], {"address": row["address"]})
        is_up = row["state"] == "established"
        yield key, is_up, row["since_ps"], row["last_end"] or f"state {row['state']}"


def _ospf_now(network: Network, names: _Names) -> Iterator[Now]:
    heard = set()
    for row in _rows(network, "ospf_neighbors"):
        if row["state"] == "two-way":
            continue  # two routers of a broadcast link that are not designated stay so (RFC 2328, 10.4)
        key = names.key("OSPF", row["node"], {"router_id": row["router_id"], "port": row["port"]})
        heard.add((row["node"], row["port"]))
        yield key, row["state"] == "full", row["since_ps"], f"state {row['state']}"
    interfaces = _rows(network, "ospf_interfaces")
    spoken = {(row["node"], row["towards"]) for row in interfaces}
    for row in interfaces:
        far = row["towards"]
        # Both ends speak OSPF, and one hears nothing that it takes from the other.
        if far is None or row["passive"] or (far, row["node"]) not in spoken:
            continue
        if (row["node"], row["port"]) not in heard and not row["neighbors"]:
            why = row["refused_why"] or ("the port is down" if row["state"] == "down" else None)
            key = ("OSPF", row["node"], far, names.parallel.get((row["node"], row["port"]), ""))
            yield key, False, None, why or "nothing is heard of the neighbour"
    for row in _rows(network, "ospf_virtual_links"):
        key = names.key("OSPF", row["node"], {"router_id": row["router_id"], "area": row["area"]})
        why = row["refused_why"] or f"state {row['neighbor']}"
        yield key, row["neighbor"] == "full", row["since_ps"], why


def _ldp_now(network: Network, names: _Names) -> Iterator[Now]:
    known = set()
    for row in _rows(network, "ldp_sessions"):
        key = names.key("LDP", row["node"], {"router_id": row["router_id"] or row["remote"]})
        known.add(key)
        yield key, row["state"] == "operational", row["since_ps"], f"state {row['state']}"
    for row in _rows(network, "ldp_neighbors"):
        key = names.key("LDP", row["node"], {"router_id": row["router_id"]})
        if key not in known:
            yield key, False, None, "the neighbour is heard, and there is no session"


def _rows(network: Network, name: str) -> list[dict[str, Any]]:
    columns = network.columns(name)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def speaks(network: Network) -> bool:
    """Does a router of the network speak a protocol that has sessions?"""
    nodes = network.described()["nodes"].values()
    return any(node.get(protocol.lower()) for node in nodes for protocol in PROTOCOLS)
