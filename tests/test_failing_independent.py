"""Everything fails in turn on real topologies, and networkx says independently who must lose what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pytest
import twinplane as tp
from support import campaign
from test_graphml import TOPOLOGIES
from twinplane.failing import Case, Outcome, Trial, cases_of
from twinplane.failing.traffic import PROBE_BYTES, Probes
from twinplane.network import processors
from twinplane.units import rate_bps, span_ps

NAMES = ("Abilene", "Aconet", "Dfn", "Garr199905", "Geant2001", "Geant2012", "Kdl", "RedBestel")
NAMES += ("Renater2008", "SwitchL3", "Uninett2011", "UsCarrier")
CASES = 12
"""Of each topology in continuous integration; ``TWINPLANE_CAMPAIGN=1000`` takes all."""
LARGE = {"Kdl": 3}
"""Fewer where a case takes a second. UsCarrier, which is large, too, has as many as the others."""
WATCH_S = 5.0
MESSAGE_BYTES = 2000
"""More than a signalling message or an ARP packet has."""


def graph_of(path: Path) -> nx.MultiGraph:
    """The largest part of a file as networkx reads it: nodes and edges by their places, as ours are."""
    read = nx.read_graphml(path, force_multigraph=True)
    largest = max(nx.connected_components(nx.MultiGraph(read)), key=len)
    place = {key: number for number, key in enumerate(key for key in read.nodes if key in largest)}
    graph = nx.MultiGraph()
    graph.add_nodes_from(place.values())
    # The order of edges is that of the file.
    number = 0
    for a, b in edges_in_order(path):
        if a in place and b in place and a != b:
            graph.add_edge(place[a], place[b], key=number)
            number += 1
    assert number == sum(1 for a, b in read.edges() if a != b and a in place)
    return graph


def edges_in_order(path: Path) -> list[tuple[str, str]]:
    import re

    return re.findall(r'<edge[^>]*?source="([^"]*)"[^>]*?target="([^"]*)"', path.read_text())


@dataclass
class Told:
    """What must become of a flow in a case: who says nothing of a flow says that it loses nothing."""

    reason: str | None
    low: float
    """Seconds of its packets that are lost at least."""
    high: float


class Prediction:
    """From graph, delays and the routes that LSPs were given; nothing that ran is looked at."""

    def __init__(self, net: tp.Network, graph: nx.MultiGraph) -> None:
        self.graph = graph
        said = [net.draft.element("links", link.index) for link in net.links]
        self.delay = [span_ps(one["delay"]) / 1e12 for one in said]
        self.rate = [rate_bps(one["rate"]) for one in said]
        assert {(min(a, b), max(a, b), k) for a, b, k in graph.edges(keys=True)} == {
            (min(x.a.index, x.b.index), max(x.a.index, x.b.index), x.index) for x in net.links
        }
        self.flows = {}
        for flow in net.flows:
            spec = net.draft.element("flows", flow.index)
            lsp = next(one for one in net.lsps if one.name == spec["over"]).spec
            ends = net.node(spec["from"]).index, net.node(spec["to"]).index
            routes = [[hop["link"] for hop in lsp[key]] for key in ("route", "fallback")]
            spacing = PROBE_BYTES * 8 / rate_bps(spec["rate"])
            self.flows[flow.name] = (*ends, routes[0], routes[1], spacing)
        self.cut: dict[str, nx.MultiGraph] = {}

    def span(self, links: list[int], size: int) -> float:
        """Seconds over links for so many bytes."""
        return sum(self.delay[link] + 8 * size / self.rate[link] for link in links)

    def of(self, case: Case) -> dict[str, Told]:
        left = self.graph.copy()
        left.remove_edges_from([(*net_ends(self.graph, link), link) for link in case.links])
        left.remove_nodes_from(case.nodes)
        alive = {key for _, _, key in left.edges(keys=True)}
        component = {
            node: number for number, part in enumerate(nx.connected_components(left)) for node in part
        }
        found = {}
        for name, (source, sink, way, fallback, _) in self.flows.items():
            if alive.issuperset(way):
                continue
            dead = [place for place, link in enumerate(way) if link not in alive]
            # What is on its way to the far end of the last dead link when it fails is lost.
            flying = [self.span(way[: dead[-1] + 1], 0), self.span(way[: dead[-1] + 1], 200)]
            if source in case.nodes or sink in case.nodes:
                found[name] = Told("end failed", WATCH_S, WATCH_S + flying[1])
            elif component[source] != component[sink]:
                found[name] = Told("no route", WATCH_S, WATCH_S + flying[1])
            elif not fallback or set(fallback) == set(way):
                found[name] = Told("no fallback", WATCH_S, WATCH_S + flying[1])
            elif not alive.issuperset(fallback):
                found[name] = Told("fallback hit", WATCH_S, WATCH_S + flying[1])
            else:
                # The router before the first dead link tells the head end, whose Path goes along the
                # fallback, and the Resv comes back. Where neighbours have not met yet, ARP goes first.
                before = way[: dead[0]]
                least = self.span(before, 0) + 2 * self.span(fallback, 0)
                most = self.span(before, MESSAGE_BYTES) + 4 * self.span(fallback, MESSAGE_BYTES)
                found[name] = Told(None, flying[0] + least, flying[1] + most)
        return found

    def check(self, case: Case, one: Outcome) -> int:
        """Hold a case against what must be; how many flows were compared."""
        told = self.of(case)
        hurt = {flow.flow: flow for flow in one.hurt}
        for name, must in told.items():
            spacing = self.flows[name][4]
            got = hurt.pop(name, None)
            lost = 0 if got is None else got.lost
            assert must.low / spacing - 2 <= lost <= must.high / spacing + 2, (case, name, must, spacing, got)
            if got is not None:
                assert got.reason == must.reason and got.recovered is (must.reason is None), (case, must, got)
            else:
                assert must.low < 2 * spacing
        assert not hurt, (case, "these should not have lost anything", hurt)
        return len(told)


def net_ends(graph: nx.MultiGraph, link: int) -> tuple[int, int]:
    if "ends" not in graph.graph:
        graph.graph["ends"] = {key: (a, b) for a, b, key in graph.edges(keys=True)}
    return graph.graph["ends"][link]


@pytest.mark.parametrize("name", NAMES)
def test_who_must_lose_what(name: str) -> None:
    path = TOPOLOGIES / f"{name}.graphml"
    if not path.exists():
        pytest.skip("the topologies are not there")
    net = tp.Network.from_graphml(path, component="largest")
    trial = Trial(net, Probes(), watch=f"{WATCH_S} s")
    prediction = Prediction(net, graph_of(path))
    cases = cases_of(net)
    step = max(1, len(cases) // campaign.scaled(LARGE.get(name, CASES)))
    cases = cases[::step]
    found = trial.run(cases, jobs=processors.count())
    compared = sum(prediction.check(case, found[case.name]) for case in cases)
    assert compared > 0
    print(f"{name}: {len(cases)} cases, {compared} flows hurt: as they must be")
