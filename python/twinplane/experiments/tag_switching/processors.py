"""Processors of edge routers, whose load the study gives over 5 s: what packets and messages take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from ...frames import Columns
from ...network import Network
from .countries import PATHS, edge
from .parameters import SETTLED_S, TagSwitchingParameters

SPAN_S = 5.0
"""Over so long load is a mean, as routers of the study show it."""
ENDS = ("near", "far")
"""The edge router in Italy, and that of the other country."""


def profile(p: TagSwitchingParameters) -> dict[str, Any]:
    """What is said of an edge router whose processor takes time."""
    if not p.has_processor:
        return {}
    message = {"other": {"us": p.message_us}}
    return {
        "profile": {
            "name": "edge",
            "forwarding": {"packet_us": p.packet_us},
            "control": {"costs": {"ospf": message, "ldp": message}},
        }
    }


@dataclass
class Looks:
    """What counters of edge routers said, and when."""

    at_s: list[float] = field(default_factory=list)
    counted: list[Mapping[str, tuple[int, float]]] = field(default_factory=list)
    """By router: packets received until then, and seconds that messages took."""


_LOOKS: WeakKeyDictionary[Network, Looks] = WeakKeyDictionary()


def pauses(network: Network, p: TagSwitchingParameters) -> Iterator[float]:
    """Every 5 s while data is sent."""
    looks = _LOOKS[network] = Looks()
    for place in range(int(p.duration_s / SPAN_S) + 1):
        yield SETTLED_S + place * SPAN_S
        looks.at_s.append(SETTLED_S + place * SPAN_S)
        looks.counted.append(_counted(network))


def _counted(network: Network) -> dict[str, tuple[int, float]]:
    balance, busy = network.columns("balance"), network.columns("processors")
    busy_s = dict(zip(busy["node"], busy["busy_s"], strict=True))
    return {
        node: (received, busy_s[node])
        for node, received in zip(balance["node"], balance["received"], strict=True)
    }


def series(network: Network, p: TagSwitchingParameters) -> Columns:
    """Packets and load of both edge routers, 5 s at a time."""
    looks = _LOOKS.get(network, Looks())
    found: dict[str, list[Any]] = {"end": [], "router": [], "begin_s": [], "packets_s": [], "load": []}
    path = PATHS[p.path]
    for end, country in zip(ENDS, (path[0], path[-1]), strict=True):
        node = edge(country)
        for place in range(len(looks.at_s) - 1):
            (packets, busy), (packets_then, busy_then) = (
                looks.counted[at][node] for at in (place, place + 1)
            )
            received = packets_then - packets
            found["end"].append(end)
            found["router"].append(node)
            found["begin_s"].append(looks.at_s[place] - SETTLED_S)
            found["packets_s"].append(received / SPAN_S)
            found["load"].append((received * p.packet_us / 1e6 + busy_then - busy) / SPAN_S)
    return found


def peaks(table: Columns) -> dict[str, float]:
    """The greatest values of each router."""
    found = {}
    for end in ENDS:
        for key in ("packets_s", "load"):
            own = [value for name, value in zip(table["end"], table[key], strict=True) if name == end]
            if own:
                found[f"{end}_{key}"] = max(own)
    return found
