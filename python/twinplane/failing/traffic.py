"""The flows that are watched: who they are, and probes where a network has none."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import units
from ..network.demands import called
from .cases import NothingToTryError
from .graph import Graph

if TYPE_CHECKING:
    from ..network import Network
    from ..network.handles import Link
    from ..network.nodes import Node

PAIRS_MAX = 1000
"""More pairs of nodes than this are not probed all: each node is the beginning and the end of one probe."""
RATES = (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)
"""Packets per second of a probe, of which the highest is taken that stays within the limits that follow."""
HOPS_MAX = 1_000_000
"""Packet-hops per second of all probes together: about a second of one processor, and cases are short."""
SHARE_MAX = 0.2
"""Share of a link's rate that probes take, were all that have it on a way or a fallback on it at once."""
PROBE_BYTES = 64
WIRE_BYTES = PROBE_BYTES + 4 + 20
"""With a label, preamble and gap."""


@dataclass(frozen=True)
class Watched:
    """A flow as far as failures matter to it; nodes and LSPs are places in the description."""

    index: int
    name: str
    phb: str
    """Its class: the name that its demand has, else the per-hop behaviour that its code point asks for."""
    source: int
    sink: int
    lsps: int | None
    """The group of LSPs that it goes over; None if routers decide."""


@dataclass(frozen=True)
class Probes:
    """What is sent through a network without flows."""

    count: int | None = None
    """How many pairs of nodes; None: all, or of more than `PAIRS_MAX` each node to one other and from one."""
    rate: int | None = None
    """Packets per second of each; None: as many as the work for one second allows."""
    protected: bool = True
    """Of routers without LSPs: over an LSP with a fallback each, and not as the routers' routes lead."""
    start: str | None = None
    """When they begin; None: with the network."""
    traced: bool = False
    """Do packets note the links that they cross?"""


BEST_EFFORT = "best effort"
"""What a flow gets that asks for no class."""


def phb_name(dscp: str | int) -> str:
    """The name of a class by its code point."""
    value = units.dscp(dscp)
    if value == 0:
        return BEST_EFFORT
    return next((name for name, known in units.DSCP.items() if known == value), f"DSCP {value}")


def watched(network: Network) -> list[Watched]:
    """All flows of a network that runs, those of its demands behind the others, as tables number them."""
    groups = {lsp.name: lsp.index for lsp in network.lsps}
    places = {node.name: node.index for node in network.nodes}
    found = []
    for flow in network.flows:
        said = network.draft.element("flows", flow.index)
        source, sink = (network.node(said[key]).index for key in ("from", "to"))
        over = said.get("over")
        phb = phb_name(said.get("dscp") or 0)
        found.append(
            Watched(flow.index, flow.name, phb, source, sink, None if over is None else groups[over])
        )
    if network.draft.demands is not None:
        table = network.columns("demands")
        # Demands that name no class have one code point.
        behaviours = network.columns("demand_classes")["phb"]
        only = BEST_EFFORT if behaviours[:1] == ["default"] else behaviours[0]
        for index, label, a, b in zip(*(table[key] for key in ("flow", "class", "from", "to")), strict=True):
            source, sink = places[a], places[b]
            found.append(Watched(index, f"{called(label)} {a}-{b}", label or only, source, sink, None))
    return found


def add_probes(network: Network, asked: Probes) -> str:
    """Give a network without flows probes; what was done, in a sentence."""
    network.require_unstarted("a probe")
    if network.lsps and asked.count is None:
        for lsp in network.lsps:
            spec = lsp.spec
            network.flow(
                spec["from"], spec["to"], lsp, rate=_bps(asked, 100), size=PROBE_BYTES, name=lsp.name
            )
        return f"{_count(len(network.flows))} over the LSPs, {_rate(asked, 100)} each"
    hosts = [node for node in network.nodes if node.kind == "host"]
    routers = [node for node in network.nodes if node.kind == "router"]
    ends = hosts if len(hosts) > 1 else routers
    if len(ends) < 2:
        raise NothingToTryError("it has no flows, and fewer than two hosts or routers to send probes between")
    graph = Graph(network)
    protected = asked.protected and not network.lsps and ends is routers
    ways: list[tuple[Any, Any, list[int], Sequence[int]]] = []
    for a, b in _pairs(ends, asked.count, network.seed):
        if (way := graph.way(a.index, b.index)) is not None:
            beside = graph.way(a.index, b.index, way) if protected else None
            ways.append((a, b, way, _other(beside or (), way)))
    if not ways:
        raise NothingToTryError("it has no flows, and no way between any two nodes that probes could take")
    each = _each(network, [(way, fallback) for _, _, way, fallback in ways])
    for a, b, way, fallback in ways:
        name = f"{a.name}-{b.name}"
        over = None
        if protected:
            over = a.lsp(name, to=b, route=_links(network, way), fallback=_links(network, fallback))
        rate, start = _bps(asked, each), asked.start or 0
        network.flow(a, b, over, rate=rate, size=PROBE_BYTES, start=start, name=name, trace=asked.traced)
    how = (
        "over an LSP each, by the shortest way, with the fallback that shares least with it"
        if protected
        else "as routers route them"
    )
    return f"{_count(len(ways))} between {ends[0].kind}s, {_rate(asked, each)} each, {how}"


def _each(network: Network, ways: Sequence[tuple[Sequence[int], Sequence[int]]]) -> int:
    """Packets per second of each probe: so many that neither links nor this machine are busy with them."""
    hops = sum(len(way) for way, _ in ways)
    over = Counter(link for way, fallback in ways for link in {*way, *fallback})
    least = HOPS_MAX / hops
    for link, probes in over.items():
        rate = network.draft.element("links", link)["rate"]
        if rate != "none":
            least = min(least, SHARE_MAX * units.rate_bps(rate) / (probes * WIRE_BYTES * 8))
    return next((rate for rate in RATES if rate <= least), RATES[-1])


def _links(network: Network, way: Sequence[int]) -> list[Link]:
    return [network.links[place] for place in way]


def _other(fallback: Sequence[int], way: Sequence[int]) -> Sequence[int]:
    """A fallback that is not the way itself again."""
    return () if set(fallback) == set(way) else fallback


def _count(number: int) -> str:
    return "1 probe" if number == 1 else f"{number} probes"


def _rate(asked: Probes, each: int) -> str:
    return f"{asked.rate or each} packets per second"


def _bps(asked: Probes, each: int) -> int:
    return (asked.rate or each) * PROBE_BYTES * 8


def _pairs(ends: Sequence[Node], count: int | None, seed: int) -> list[tuple[Any, Any]]:
    """Ordered pairs; where not all are meant, rounds in each of which every node begins and ends one."""
    possible = len(ends) * (len(ends) - 1)
    wanted = (possible if possible <= PAIRS_MAX else len(ends)) if count is None else min(count, possible)
    if wanted == possible:
        return [(a, b) for a in ends for b in ends if a is not b]
    order = list(ends)
    random.Random(f"probes {seed}").shuffle(order)
    steps = list(range(1, len(order)))
    random.Random(f"rounds {seed}").shuffle(steps)
    found = [(a, order[(place + step) % len(order)]) for step in steps for place, a in enumerate(order)]
    return found[:wanted]
