"""`protection` on a topology from a file: each link and each router fails in turn.

Packets of two classes go over LSPs between pairs of routers; the LSPs of one class are protected.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import units
from ...failing import Probes, Trial, routes_ps
from ...failing.cases import Case, some_cases
from ...failing.watching import World, fail, fall_silent, loss_times
from ...network import Network, memory, processors
from ...network.forks import forked
from ..base import Tick
from .parameters import ProtectionParameters

CLASSES = {"gold": "EF", "bronze": "default"}
"""Classes of traffic with their behaviours. LSPs of the first ask for protection."""

PROTECTED = "gold"

SIZE = 512

SIGNALLED_PS = 10 * 10**12
"""LSPs and their backups have so long after routers know of all links."""

FLOWING_PS = 10**12
"""Packets flow for so long when something fails: all that is lost before shows by then."""


@dataclass(frozen=True)
class Gap:
    """What a failure did to a flow; times in seconds after it."""

    kind: str
    """Its class."""
    flow: str
    lost: int
    first_s: float
    last_s: float
    period_s: float
    joined: bool
    """Was there a way left?"""
    lacks: str | None
    """Why nothing protected it where it met the failure; absent if something did."""

    @property
    def loss_s(self) -> float:
        """Packets lost over the rate."""
        return self.lost * self.period_s

    @property
    def time_s(self) -> float:
        """From the failure to the first packet behind the last that was lost."""
        return self.last_s + self.period_s

    @property
    def timestamp_s(self) -> float:
        """From the last packet before the gap to the first one behind it."""
        return self.last_s - self.first_s + 2 * self.period_s


@dataclass(frozen=True)
class Tried:
    """A case, and the flows that it interrupted."""

    case: Case
    gaps: Sequence[Gap]
    diverted: int
    """LSPs that routers led around it."""


def build_everywhere(p: ProtectionParameters, seed: int) -> Network:
    """Routers of the file, and an LSP and a flow of each class for each pair."""
    net = Network.from_graphml(
        Path(p.topology), seed, component=p.component or None, default_rate="10 Gbit/s"
    )
    rsvp: dict[str, Any] = {
        "protection": "facility" if p.protected and not p.end_to_end else "declared",
        "refresh_reduction": True,
        "bfd": p.bfd,
    }
    routers = list(net.nodes)
    for router in routers:
        net.draft.change_node(router, {"rsvp": rsvp, **p.watches})
    # Longer than a case is watched, so that no port shows the failure.
    detection = f"{p.watch_s + 1} s" if p.silent else f"{p.detection_ms} ms"
    for link in net.links:
        net.draft.change_link(link, {"detection": detection})
    # Head ends find other paths by what OSPF knows.
    net.ospf(area=0, te=True, bfd=p.bfd)
    draw = random.Random(f"pairs {seed}")
    every = [(a, b) for a in routers for b in routers if a is not b]
    rate = f"{p.packets_per_s * SIZE * 8} bit/s"
    start = f"{routes_ps(net) + SIGNALLED_PS - FLOWING_PS} ps"
    for place, (a, b) in enumerate(draw.sample(every, min(p.pairs, len(every)))):
        for kind, dscp in CLASSES.items():
            protection = p.asked(node=p.only != "links" or not p.end_to_end) if kind == PROTECTED else None
            lsp = net.node(a).lsp(  # type: ignore[attr-defined]
                f"{kind} {a.name} to {b.name}",
                b,
                protection=protection,
                retry_first="100 ms",
                retry_max="500 ms",
                signal=False,
            )
            if not p.sending or place < p.sending:
                net.flow(a, b, over=lsp, name=lsp.name, rate=rate, size=SIZE, dscp=dscp, start=start)
    return net


def try_all(network: Network, p: ProtectionParameters, tick: Tick | None) -> list[Tried]:
    """Every case, in the order of the network."""
    warm_up = routes_ps(network) + SIGNALLED_PS
    trial = Trial(network, Probes(), f"{warm_up} ps", f"{p.watch_s} s", p.topology)
    cases = some_cases(network, p.only, p.cases)
    # A detour that is set up before routers know of all links stays as it is.
    network.run(until=f"{routes_ps(network)} ps")
    for lsp in network.lsps:
        lsp.signal()
    world = trial.warm()
    lacking, alone = lacking_of(network), alone_of(network, p) if p.end_to_end else {}

    def work(case: Case) -> bytes:
        return json.dumps(measure(world, case, p.silent)).encode()

    found: dict[str, Any] = {}
    for case, answer in forked(cases, work, memory.forks(network.draft, processors.count())):
        found[case.key] = json.loads(answer)
        if tick is not None:
            tick(len(found) / len(cases))
    return [judge(world, case, found[case.key], lacking, alone, 1 / p.packets_per_s) for case in cases]


Place = tuple[str, int, int]
"""An LSP by its name, a router that could repair it, and the link by which it leaves there."""


def lacking_of(network: Network) -> dict[Place, tuple[bool, str]]:
    """Where LSPs have no backup, or one around the link only: is it the latter, and why."""
    links: dict[str, list[int]] = {node.name: [] for node in network.nodes}
    for link in network.links:
        for end in (link.a, link.b):
            links[end.name].append(link.index)
    places = {node.name: node.index for node in network.nodes}
    found = {}
    for row in network.table("protected_lsps").to_dicts():
        if row["port"] is None or row["node_protection"]:
            continue
        around_link = row["state"] != "unprotected"
        kind = "bypass" if row["bypass"] is not None or not around_link else "detour"
        short = f"its {kind} leads around the link only" if around_link else f"it has no {kind}"
        why = row["lacks"] or short
        link = links[row["node"]][row["port"]]
        found[row["tunnel"], places[row["node"]], link] = (around_link, why)
    return found


def alone_of(network: Network, p: ProtectionParameters) -> dict[str, str]:
    """Protected LSPs without another one from end to end, by name: why there is none."""
    what = "link" if p.only == "links" else "router"
    why = f"no second path from end to end was found that has no {what} in common"
    rows = network.table("lsp_paths").to_dicts()
    standing_by = {(row["node"], row["to"], row["tunnel"]) for row in rows if row["state"] == "standby"}
    return {row["name"]: why for row in rows if (row["node"], row["to"], row["tunnel"]) not in standing_by}


def measure(world: World, case: Case, silent: bool) -> dict[str, Any]:
    """Let it happen, and tell what came of it: times in ps after the failure."""
    core, begin = world.core, world.core.now_ps()
    # Reading all events of the signalling before takes longer than a case.
    core.forget_before(begin)
    if silent and not case.nodes:
        fall_silent(world, case)
    else:
        fail(world, case)
    core.run_until(begin + world.watch_ps)
    now = world.look()
    flows = [
        [flow, sum(now.lost[flow].values()), first, last]
        for flow, (first, last) in loss_times(world, begin).items()
    ]
    events = core.table("events")
    told = zip(events.column("time_ps"), events.column("event"), strict=True)
    diverted = sum(event["lsps"] for at, event in told if at >= begin and event["event"] == "lsps-diverted")
    return {"flows": flows, "diverted": diverted, "digest": core.digest()}


def judge(
    world: World,
    case: Case,
    found: Mapping[str, Any],
    lacking: Mapping[Place, tuple[bool, str]],
    alone: Mapping[str, str],
    period_s: float,
) -> Tried:
    """The gaps of a case, with what was missing where flows met it."""
    parts, dead = world.parts(case), set(case.dead_links(world.graph.ends))
    here = dict(alone)
    here |= {
        name: why
        for (name, router, link), (around_link, why) in lacking.items()
        # A bypass around the link is enough where the router at its end is alive.
        if link in dead and router not in case.nodes and (case.nodes or not around_link)
    }
    gaps = []
    for place, lost, first, last in found["flows"]:
        flow = world.flows[place]
        kind = flow.name.split()[0]
        joined = parts.joined(flow.source, flow.sink)
        why = here.get(flow.name) if kind == PROTECTED else None
        gaps.append(Gap(kind, flow.name, lost, first / 1e12, last / 1e12, period_s, joined, why))
    return Tried(case, gaps, found["diverted"])


def longest_s(network: Network, p: ProtectionParameters) -> float:
    """The longest gap of a flow that is led around a failure, by packets lost. Nothing has failed yet.

    It lasts until the failure is seen; what was on the link is lost, too, and a packet on either side.
    """
    # From end to end the news goes back to the head end, while packets are on their way from there.
    ways = network.table("streams")["delay_max_s"].drop_nulls().to_list() if p.end_to_end else []
    back_s = 2 * max(ways, default=0.0)
    links = network.described()["links"]
    delays = [units.span_ps(link.get("delay") or 0, "delay") / 1e12 for link in links]
    return p.seen_s + 2 * max(delays, default=0.0) + back_s + 2 / p.packets_per_s
