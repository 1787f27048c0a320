"""Tables of a whole network, wherever its nodes are: in this process, or in those of a lab."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...frames import Columns, readable

if TYPE_CHECKING:
    from ...lab import Lab
    from ...network import Network

TABLES = ("queues", "queue_series", "conditioners")
"""What only the nodes with the queues know."""


def gather(lab: Lab, network: Network) -> None:
    """Take these tables from the routers of a lab, and for how many seconds the routers ran.

    The network has what is in this process. The routers' clocks began with the lab, this one's with the run.
    """
    since_lab_ps = (time.monotonic_ns() - (lab.state.epoch_ns or 0)) * 1000
    ahead_ps = since_lab_ps - round(network.now * 1e12)
    routers = [name for name, node in lab.state.nodes.items() if node.kind == "router"]
    for name in TABLES:
        if name == "queue_series" and network.queue_bin_ps is None:
            continue
        whole: Columns = {key: list(values) for key, values in network.columns(name).items()}
        for router in routers:
            found = lab.node(router).columns(name)
            if "start_ps" in found:
                found["start_ps"] = [value - ahead_ps for value in found["start_ps"]]
            for key, values in found.items():
                whole.setdefault(key, []).extend(values)
        network.outside.gathered[name] = whole
    network.outside.gathered_s = since_lab_ps / 1e12


def columns_of(network: Network, name: str) -> Columns:
    """A table of all nodes, wherever they are."""
    gathered = network.outside.gathered
    return gathered[name] if name in gathered else network.columns(name)


def at_links(network: Network, name: str) -> Columns:
    """A table with a row for each end of a link, with the name of the neighbour there."""
    found = readable(columns_of(network, name))
    found["neighbor"] = [
        network.links[link].other(network.node(node)).name
        for link, node in zip(found.get("link", []), found.get("node", []), strict=True)
    ]
    return found
