"""What routers told of ports, neighbours and sessions that they lost and got back: ``control_events``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frames import Columns

if TYPE_CHECKING:
    from .network import Network

KEYS = ("time_ps", "node", "event", "about")
LOST = {
    "port-down": "port",
    "neighbor-down": "neighbor",
    "ospf-adjacency-lost": "ospf",
    "ospf-virtual-adjacency-lost": "ospf-virtual",
    "bfd-down": "bfd",
    "ldp-session-down": "ldp",
    "bgp-session-down": "bgp",
}
BACK = {
    "port-up": "port",
    "neighbor-up": "neighbor",
    "ospf-adjacent": "ospf",
    "ospf-virtual-adjacent": "ospf-virtual",
    "bfd-up": "bfd",
    "ldp-session-up": "ldp",
    "bgp-session-up": "bgp",
}
"""What tells that something was lost, or is back: of each word, what it tells of."""


def control_events(network: Network) -> Columns:
    """A row for each, in order of time; what came up for the first time is left out.

    `about` is the node at the other end.
    """
    events = network.columns("events")
    found: Columns = {key: [] for key in KEYS}
    lost: set[tuple[str, str, str]] = set()
    for at, node, told in zip(events["time_ps"], events["node"], events["event"], strict=True):
        name = str(told["event"])
        if name not in LOST and name not in BACK:
            continue
        other = told.get("neighbor", told.get("router_id", told.get("address")))
        is_known = "neighbor" in told or told.get("port") is None
        about = network.tables.node_at(other) or (str(other) if is_known else None)
        if about is None:
            about = _beyond(network, node, int(told["port"]))
        key = (LOST.get(name) or BACK[name], node, about)
        if name in BACK and key not in lost:
            continue
        lost.add(key)
        for column, value in zip(KEYS, (at, node, name, about), strict=True):
            found[column].append(value)
    return found


def _beyond(network: Network, node: str, port: int) -> str:
    """The node at the other end of a port's link; the number of the port if it has none."""
    own = [link for link in network.links if node in (link.a.name, link.b.name)]
    if port >= len(own):
        return f"port {port}"
    return own[port].other(network.node(node)).name
