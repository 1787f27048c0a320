"""Part `te`: an LSP of RSVP-TE takes packets by a filter, against their route, and is moved meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

from ...frames import Columns
from ...network import Network
from ...network.drawing import topology
from ...network.handles import Lsp
from ...network.nodes import Host, Router
from ..base import Outcome
from . import cells
from .compared import published
from .countries import CORE, COUNTRIES, edge, host, switch
from .load import NEAR_S
from .parameters import SETTLED_S, TagSwitchingParameters
from .te_paper import DIRECT, EXPLICIT, delay_s, phases, ways
from .throughput import address

HERE, THERE = "italy", "austria"
OTHER = "austria-other"
"""A host in Austria that the filter does not name."""
FLOWS = ("filter", "rest", "answers")
"""To the network of the filter, to another one behind the same router, and back from the former."""
DRAINED_S = 5.0
BINS = 60
"""So often the counters of links are read while packets flow."""
GUARD_S = 0.001
"""A packet that leaves its host so shortly before or behind a change may go either way."""
LINKS = {DIRECT: ("italy-switch", "austria-switch"), EXPLICIT: ("switzerland-switch", "austria-switch")}
"""On each way a link that the other one has not, in the direction of the packets."""


@dataclass
class Seen:
    """What was asked while a network ran."""

    changes_s: list[float] = field(default_factory=list)
    """When commands were given."""
    deciding: list[dict[str, str]] = field(default_factory=list)
    """Of each phase, by flow: what decides on its packets at their first router, and what would without."""
    hops: list[list[str]] = field(default_factory=list)
    """Of each phase: router identifiers along the LSP, behind its head."""
    carried: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    """Times, and bytes that links had sent until then."""


_SEEN: WeakKeyDictionary[Network, Seen] = WeakKeyDictionary()


def build(p: TagSwitchingParameters, seed: int) -> Network:
    """The six countries, and an LSP that is not signalled yet."""
    net = Network(seed)
    said: dict[str, Any] = {"ospf": {"area": 0, "te": True}, "ldp": True}
    if p.medium == "atm":
        said["ldp"] = cells.routing()["ldp"]
    for country, digit in COUNTRIES.items():
        of_switch = {"router_id": f"192.168.{digit}0.1", **said}
        net.router(edge(country), router_id=f"192.168.{digit}1.1", **said)
        if p.medium == "atm":
            cells.lsr(net, p, country, **of_switch)
            cells.label_link(net, p, edge(country), switch(country), **cells.NEAR)
        else:
            net.router(switch(country), **of_switch)
            net.link(edge(country), switch(country), rate="100 Mbit/s", delay=f"{NEAR_S} s")
    for a, b in CORE:
        delay = f"{p.delay_ms} ms"
        if p.medium == "atm":
            cells.label_link(net, p, switch(a), switch(b), **cells.core(p), delay=delay)
        else:
            net.link(switch(a), switch(b), rate=f"{p.rate_mbps} Mbit/s", delay=delay)
    for name, at, own in (
        (host(HERE), HERE, address(HERE)),
        (host(THERE), THERE, address(THERE)),
        (OTHER, THERE, address(THERE).replace("3.2/", "4.2/")),
    ):
        net.host(name, address=own)
        net.link(name, edge(at), rate="100 Mbit/s", delay=f"{NEAR_S} s")
    _flows(net, p)
    head = net.node(edge(HERE))
    assert isinstance(head, Router)
    head.lsp(
        "tunnel",
        to=edge(THERE),
        route=ways()[EXPLICIT],
        filters=[{"dst": published()["te"]["filter"]}],
        signal=False,
    )
    return net


def _flows(net: Network, p: TagSwitchingParameters) -> None:
    """Packets of different flows come to the direct link in turn."""
    gap_s = 1 / p.packets_per_s
    ends = ((host(HERE), host(THERE), 0.0), (host(HERE), OTHER, gap_s / 2), (host(THERE), host(HERE), 0.0))
    for name, (sender, receiver, later_s) in zip(FLOWS, ends, strict=True):
        net.flow(
            sender,
            receiver,
            name=name,
            rate=f"{p.packets_per_s * p.packet * 8} bit/s",
            rate_counts="ip",
            size=p.packet + 18,
            start=f"{SETTLED_S + later_s:.9f} s",
            stop=f"{SETTLED_S + p.duration_s:.9f} s",
            log=True,
        )


def end_s(p: TagSwitchingParameters) -> float:
    """All packets have arrived by then, or are lost."""
    return SETTLED_S + p.duration_s + DRAINED_S


def changes(p: TagSwitchingParameters, seed: int) -> list[float]:
    """When the LSP is signalled, moved, and torn down: anywhere between two packets."""
    count = len(phases(p))
    drawn = random.Random(f"moves {seed}")
    return [
        SETTLED_S + p.duration_s * place / count + drawn.uniform(0, 1 / p.packets_per_s)
        for place in range(1, count)
    ]


def pauses(network: Network, p: TagSwitchingParameters) -> Iterator[float]:
    """Changes, and times at which counters are read."""
    seen = _SEEN[network] = Seen(changes(p, network.seed))
    (lsp,) = network.lsps
    taken = [phase.way for phase in phases(p)]
    looks = [SETTLED_S + p.duration_s * place / BINS for place in range(BINS + 1)]
    stop_s = looks[-1]
    for at_s in sorted({*looks, *seen.changes_s}):
        yield at_s
        if at_s in looks:
            seen.carried.append((at_s, _carried(network)))
        if at_s in seen.changes_s or at_s == stop_s:
            seen.deciding.append(_deciding(network))
            seen.hops.append(_hops(network))
        if at_s in seen.changes_s:
            place = seen.changes_s.index(at_s) + 1
            _change(lsp, place, taken)


def _change(lsp: Lsp, place: int, taken: Sequence[str]) -> None:
    """Begin a phase."""
    if place == 1:
        lsp.signal()
    elif place == len(taken) - 1:
        lsp.teardown()
    else:
        lsp.reoptimise(ways()[taken[place]])


def _carried(network: Network) -> dict[str, int]:
    """Bytes that each link which only one way has sent."""
    table = network.columns("ports")
    sent = dict(zip(zip(table["from"], table["to"], strict=True), table["sent_bytes"], strict=True))
    return {way: sent[ends] for way, ends in LINKS.items()}


def _deciding(network: Network) -> dict[str, str]:
    """What decides on packets of a flow, by whom, and what it overrides; answers begin at the other edge."""
    found = {}
    for name, sender, receiver in (
        ("filter", host(HERE), host(THERE)),
        ("rest", host(HERE), OTHER),
        ("answers", host(THERE), host(HERE)),
    ):
        at = network.node(sender)
        assert isinstance(at, Host)
        row = at.path(receiver).row(0, named=True)
        over = "".join(f" > {one.partition(':')[0]}" for one in row["overrides"] or ())
        found[name] = f"{row['table']} ({row['owner']}){over}"
    return found


def _hops(network: Network) -> list[str]:
    """Router identifiers along the LSP that is up, as its Resv recorded them; none if it is down."""
    rows = network.table("lsps", network.node(edge(HERE))).to_dicts()
    route: list[str] = next((row["recorded_downstream"] for row in rows if row["state"] == "up"), [])
    loopbacks = {node.name: node.loopback for node in network.nodes}
    return [loopbacks[network.engine.node_at(hop) or ""] for hop in route]


def summarise(network: Network, p: TagSwitchingParameters) -> Outcome:
    """Which way packets went in each phase, how long they took, and how many were lost."""
    seen = _SEEN.get(network, Seen())
    begun = _begun(network)
    rows = _rows(network, p, begun, seen)
    packets = _packets(network)
    tables: dict[str, Columns] = {
        "te_phases": {key: [row[key] for row in rows] for key in rows[0]},
        "te_packets": packets,
        "te_links": _links(seen),
    }
    metrics: dict[str, Any] = {"changes": len(begun) - 1}
    if len(begun) == len(seen.hops) == len(phases(p)):
        metrics |= _metrics(network, p, rows, seen) | _times(p, begun, seen)
        metrics["by_switzerland"] = sum(
            delay is not None and delay > _between_s(p) for delay in packets["delay_s"]
        )
    return Outcome(metrics, tables, topology(network))


def _between_s(p: TagSwitchingParameters) -> float:
    """A packet that took longer went by Switzerland."""
    return (delay_s(p, DIRECT, False) + delay_s(p, EXPLICIT, True)) / 2


def _begun(network: Network) -> list[float]:
    """Since when packets go as each phase has it: the LSP is up, or was moved, or is down."""
    table = network.columns("events")
    names = ("lsp-up", "lsp-rerouted", "lsp-down")
    told = zip(table["time_ps"], table["event"], strict=True)
    return [SETTLED_S, *(at / 1e12 for at, event in told if event["event"] in names)]


def _rows(
    network: Network, p: TagSwitchingParameters, begun: Sequence[float], seen: Seen
) -> list[dict[str, Any]]:
    """Of each phase and flow."""
    bounds = [*begun, SETTLED_S + p.duration_s]
    between_s = _between_s(p)
    found = []
    for name, flow in zip(FLOWS, network.flows, strict=True):
        packets = network.columns("packets")
        own = [
            (left / 1e12, None if come is None else (come - left) / 1e12)
            for place, left, come in zip(
                packets["flow"], packets["departure_ps"], packets["arrival_ps"], strict=True
            )
            if place == flow.index
        ]
        for number, (phase, (begin, end)) in enumerate(zip(phases(p), pairwise(bounds), strict=False)):
            inside = [delay for left, delay in own if begin + GUARD_S <= left < end - GUARD_S]
            known = [delay for delay in inside if delay is not None]
            is_moved = name == "filter" and phase.is_tunnel
            found.append(
                {
                    "phase": number,
                    "what": phase.what,
                    "flow": name,
                    "decided_by": seen.deciding[number][name] if number < len(seen.deciding) else "",
                    "hops": " ".join(seen.hops[number]) if is_moved and number < len(seen.hops) else "",
                    "begin_s": begin - SETTLED_S,
                    "end_s": end - SETTLED_S,
                    "sent": len(inside),
                    "lost": len(inside) - len(known),
                    "by_switzerland": sum(delay > between_s for delay in known),
                    "delay_min_s": min(known, default=None),
                    "delay_mean_s": sum(known) / len(known) if known else None,
                    "delay_max_s": max(known, default=None),
                    "predicted_s": delay_s(p, phase.way if name == "filter" else DIRECT, is_moved),
                }
            )
    return found


def _metrics(
    network: Network, p: TagSwitchingParameters, rows: Sequence[dict[str, Any]], seen: Seen
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, flow in zip(FLOWS, network.flows, strict=True):
        stats = flow.stats().row(0, named=True)
        found |= {f"{name}_sent": stats["sent"], f"{name}_lost": stats["sent"] - stats["received"]}
        found[f"{name}_late"] = stats["reordered"]
    for key, some in {
        "filter_explicit": [row for row in rows if row["flow"] == "filter" and _way(p, row) == EXPLICIT],
        "filter_direct": [row for row in rows if row["flow"] == "filter" and _way(p, row) == DIRECT],
        "rest": [row for row in rows if row["flow"] == "rest"],
        "answers": [row for row in rows if row["flow"] == "answers"],
    }.items():
        sent = sum(row["sent"] for row in some)
        found[f"{key}_share"] = sum(row["by_switzerland"] for row in some) / sent if sent else None
    for key, phase in {"routed": 0, "explicit": 1, "moved": 2}.items():
        own = next(row for row in rows if row["phase"] == phase and row["flow"] == "filter")
        found[f"{key}_delay_s"] = own["delay_min_s"]
    rest = [row["delay_min_s"] for row in rows if row["flow"] == "rest"]
    found["rest_delay_s"] = min((delay for delay in rest if delay is not None), default=None)
    (_, first), (_, last) = seen.carried[0], seen.carried[-1]
    found["switzerland_bytes"] = last[EXPLICIT] - first[EXPLICIT]
    hops = seen.hops[1]
    found["hops"] = sum(own == said for own, said in zip(hops, published()["te"]["hops"], strict=False))
    found["hops_all"] = len(hops)
    found["overridden"] = seen.deciding[1]["filter"].count(" > ")
    return found


def _way(p: TagSwitchingParameters, row: dict[str, Any]) -> str:
    number: int = row["phase"]
    return phases(p)[number].way


def _times(p: TagSwitchingParameters, begun: Sequence[float], seen: Seen) -> dict[str, float]:
    """From commands until the edge router sends packets by the LSP, or by the other way."""
    took = [at - said for at, said in zip(begun[1:], seen.changes_s, strict=True)]
    ways_of = [phase.way for phase in phases(p)][1:-1]
    moved = list(zip(ways_of[1:], took[1:-1], strict=True))
    found = {"setup_s": took[0]}
    for way in (DIRECT, EXPLICIT):
        own = [time for to, time in moved if to == way]
        if own:
            found[f"move_{way}_s"] = max(own)
    return found


def _packets(network: Network) -> dict[str, list[Any]]:
    table = network.columns("packets")
    names = dict(zip((flow.index for flow in network.flows), FLOWS, strict=True))
    return {
        "flow": [names[place] for place in table["flow"]],
        "departure_s": [at / 1e12 - SETTLED_S for at in table["departure_ps"]],
        "delay_s": [
            None if come is None else (come - left) / 1e12
            for left, come in zip(table["departure_ps"], table["arrival_ps"], strict=True)
        ],
    }


def _links(seen: Seen) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"way": [], "begin_s": [], "end_s": [], "mbps": []}
    for way in LINKS:
        for (begin, before), (end, behind) in pairwise(seen.carried):
            found["way"].append(way)
            found["begin_s"].append(begin - SETTLED_S)
            found["end_s"].append(end - SETTLED_S)
            found["mbps"].append((behind[way] - before[way]) * 8 / (end - begin) / 1e6)
    return found
