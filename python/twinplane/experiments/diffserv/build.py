"""The published testbed: four routers in a row, and one host with an interface at each end."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneWarning
from ...network import Network
from .classes import output, policers
from .parameters import FLOWS, DiffservParameters

if TYPE_CHECKING:
    from ...network.handles import Flow, Link
    from ...network.nodes import Node, Router

ROUTERS = ("gaia", "zeus", "poseidon", "cronus")
"""The backbone is Gaia, Zeus and Poseidon; Cronus leads back to the host."""

HOST = "aphrodite"
SENDS, RECEIVES = "192.168.1.5", "192.168.1.65"
LENGTH = 26
"""Each interface is in a subnet of its own; the paper gives no length; this is the shortest to part them."""
NEAR, FAR = "192.168.1.1", "192.168.1.126"
"""The routers' addresses beside the host."""
BEYOND = f"192.168.1.64/{LENGTH}"

DSCP: dict[str, str | int] = {"EF": "EF", "AF11": "AF11", "AF12": "AF12", "DE": 0}


def build(p: DiffservParameters, seed: int) -> Network:
    """Nodes, links, queues, LSPs and the four flows of one scenario."""
    network = topology(p, seed)
    lsps(network, p)
    flows(network, p)
    return network


def topology(p: DiffservParameters, seed: int) -> Network:
    """Nodes and links with their queues; Gaia polices what comes from the host.

    Every output warns of the same classes: what they say is in the network's `warnings`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinplaneWarning)
        return _topology(p, seed)


def _topology(p: DiffservParameters, seed: int) -> Network:
    network = Network(seed, queue_bin=f"{p.series_bin_ms} ms")
    host = network.host(HOST)
    options: dict[str, Any] = {"diffserv": {}} if p.scenario == "diffserv-mpls" else {}
    routers = [network.router(name, p.profile, **options) for name in ROUTERS]
    tree = output(p)
    ingress = {ROUTERS[0]: policers(p)} if p.uses_classes else None
    shared: dict[str, Any] = {"rate": f"{p.link_mbps} Mbit/s", "delay": f"{p.propagation_us} us"}
    network.link(
        host,
        routers[0],
        addresses=(f"{SENDS}/{LENGTH}", f"{NEAR}/{LENGTH}"),
        queue={ROUTERS[0]: tree},
        ingress=ingress,
        **shared,
    )
    for here, there in pairwise(routers):
        network.link(here, there, queue=tree, **shared)
    network.link(
        routers[-1],
        host,
        addresses=(f"{FAR}/{LENGTH}", f"{RECEIVES}/{LENGTH}"),
        queue={ROUTERS[-1]: tree},
        **shared,
    )
    network.positions.update({name: (float(place), 0.6) for place, name in enumerate(ROUTERS)})
    network.positions[HOST] = (1.5, -0.6)
    return network


def lsps(network: Network, p: DiffservParameters) -> None:
    """From Gaia to Poseidon: one for everything, or an E-LSP for EF and DE and an L-LSP for AF1."""
    if not p.uses_lsps:
        return
    gaia, zeus, poseidon = (_router(network, name) for name in ROUTERS[:3])
    route = [zeus, poseidon]
    if p.scenario == "mpls":
        gaia.lsp("all", poseidon, route, carries=BEYOND)
        return
    # RFC 3270, 3: TC identifies the PHB, by a map that is signalled.
    # RFC 3270, 4: the label identifies the scheduling class, TC the drop precedence.
    shared: dict[str, Any] = {"route": route, "carries": BEYOND}
    ef_de = {"kind": "e-lsp", "map": {"0": "default", "5": "EF"}}
    af1 = {"kind": "l-lsp", "class": "AF1"}
    gaia.lsp("ef-de", poseidon, diffserv=ef_de, classes=["EF", "default"], **shared)
    gaia.lsp("af1", poseidon, diffserv=af1, classes=["AF11", "AF12"], **shared)


def flows(network: Network, p: DiffservParameters) -> list[Flow]:
    """The same realisation in every scenario: each flow draws from a random stream that its name gives."""
    first, last = edges(network)
    host = network.node(HOST)
    found = []
    for flow in FLOWS:
        packets = p.packets_per_s(flow)
        if packets:
            found.append(
                network.flow(
                    host,
                    host,
                    rate=packets * 8 * p.ip_bytes,
                    rate_counts="ip",
                    size=p.frame_bytes,
                    arrivals=p.arrivals,
                    dscp=DSCP[flow],
                    start=p.begin_s,
                    stop=p.end_s,
                    name=flow,
                    from_link=first,
                    to_link=last,
                    log=True,
                )
            )
    return found


def edges(network: Network) -> tuple[Link, Link]:
    """The links by which the host sends, and by which it receives."""
    return network.links[0], network.links[-1]


def _router(network: Network, name: str) -> Router:
    found: Node = network.node(name)
    assert found.kind == "router"
    return found  # type: ignore[return-value]
