"""What happened in a run: what was done to the network, what flows lost when, and what LSPs went through.

A story is made from the tables of a network at hand or from those of a results folder, and every part of
the page is made from a story: so both pages say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..frames import Columns, rows
from ..network.demands import name_of
from ..network.lsp_spans import lsp_spans
from ..network.sessions import session_spans
from ..network.told import control_events
from ..queues import phb
from ..units import dscp, span_ps
from .seen import Session, Size, Span, Way, sessions_of, sizes_of, ways_of

if TYPE_CHECKING:
    from ..network import Network
    from ..results.folder import Results

BEST_EFFORT = "best effort"
"""What class `default` is called where people read."""

Demand = tuple[str | None, str, str]
"""A demand: its class, from where, and to where."""


NOTHING = ("0 %", "0 s", "0e0", "none")
"""Values of actions that take a disturbance away: a share, a delay, a rate of bit errors, a limit."""


@dataclass(frozen=True)
class Action:
    """Something that was done to the network, as table `actions` has it; times in seconds."""

    at: float
    what: str
    link: str | None = None
    source: str | None = None
    """The node that sends in the direction that is disturbed; None if both are."""
    node: str | None = None
    lsp: str | None = None
    flow: str | None = None
    until: float | None = None
    value: str | None = None

    @property
    def harms(self) -> bool:
        """Does it take something away? What mends, starts or signals does not."""
        mends = self.what in ("heal", "signal", "start", "stop", "reroute", "reoptimise")
        return not mends and (self.value is None or self.value.partition(" by ")[0] not in NOTHING)

    @property
    def cuts(self) -> bool:
        """Is a link or a node away then?"""
        return self.what in ("fail", "restart")


@dataclass(frozen=True)
class Lost:
    """Packets of a flow that were lost within a stretch of time."""

    flow: int
    first: float
    last: float
    packets: int


@dataclass
class FlowSeen:
    """A flow, and what became of its packets: sent and duplicated are received, lost and in flight."""

    name: str
    group: str
    """Its class: that of a demand, if it has a name, else the PHB that it asks for."""
    sent: int = 0
    duplicated: int = 0
    received: int = 0
    lost: int = 0
    in_flight: int = 0
    unselected: int = 0
    """Copies that were left where an LSP ends whose packets come by another one, too."""
    unplaced: int = 0
    """Of those lost: what no table of this process explains."""
    reordered: int = 0
    count: int = 1
    """How many it stands for: demands of a class that lost nothing are one here."""
    is_demand: bool = False
    pair: str = ""
    """Between which nodes, of a demand."""

    @property
    def left_over(self) -> int:
        """Packets that are missing in this account: none."""
        kept = self.received + self.lost + self.unselected + self.in_flight
        return self.sent + self.duplicated - kept


@dataclass(frozen=True)
class Told:
    """Something that routers told: a time in seconds, what happened, and of what."""

    at: float
    what: str
    about: str


EVENTS = {
    "port-down": "port down",
    "neighbor-down": "neighbour lost",
    "neighbor-up": "neighbour back",
    "port-up": "port up",
    "ospf-adjacency-lost": "adjacency lost",
    "ospf-adjacent": "adjacency back",
    "ospf-virtual-adjacency-lost": "virtual adjacency lost",
    "ospf-virtual-adjacent": "virtual adjacency back",
    "bfd-down": "BFD session lost",
    "bfd-up": "BFD session back",
    "ldp-session-down": "LDP session lost",
    "ldp-session-up": "LDP session back",
    "bgp-session-down": "BGP session lost",
    "bgp-session-up": "BGP session back",
}
"""Events of routers as people call them."""


@dataclass
class Story:
    """All of it; times in seconds."""

    end: float
    flows: list[FlowSeen] = field(default_factory=list)
    losses: list[Lost] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    arrivals: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Packets of each flow that is followed that arrived: start of the bin in picoseconds, and how many."""
    delays: dict[int, tuple[list[float], list[int]]] = field(default_factory=dict)
    """Histogram of the delays of each flow: upper bounds in seconds, and packets."""

    stop: float = float("inf")
    """When the last flow stops, if all do."""
    told: list[Told] = field(default_factory=list)
    """What routers told of ports, neighbours and sessions."""
    sessions: list[Session] = field(default_factory=list)
    """Sessions of routing protocols, those that never came up among them."""
    ways: list[Way] = field(default_factory=list)
    """Ways that were looked at while the network ran."""
    sizes: list[Size] = field(default_factory=list)
    """How large databases were then."""
    periods: list[Lost] | None = None
    """Packets that a flow sent one after the other and that were all lost, the longest after each thing that
    was done; None where that is not known."""
    by_class: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Packets of each class that arrived, as `arrivals` has them; empty if all flows are followed."""
    is_followed: bool = True
    """Are all flows that something arrived of among `arrivals`?"""

    @property
    def groups(self) -> list[str]:
        """Classes, in the order of their flows."""
        return list(dict.fromkeys(flow.group for flow in self.flows))

    @property
    def flow_count(self) -> int:
        """How many flows and demands there are."""
        return sum(flow.count for flow in self.flows)

    @property
    def lsps(self) -> dict[str, list[Span]]:
        """Spans by LSP, in order of time."""
        found: dict[str, list[Span]] = {}
        for span in self.spans:
            found.setdefault(span.lsp, []).append(span)
        return found

    @property
    def failures(self) -> list[Action]:
        """What was done that takes something away."""
        return [action for action in self.actions if action.harms]


def of_network(network: Network) -> Story:
    """The story of a network up to now."""
    described = network.described()["flows"]
    specs = [(flow.name, _code(described, place)) for place, flow in enumerate(network.flows)]

    def columns(name: str) -> Columns:
        if name == "control_events":
            return control_events(network)
        if name.startswith("demand") and network.draft.demands is None:
            return {}
        if name == "sessions":
            return session_spans(network)
        if name == "ways":
            return network.sampling.ways.columns()
        if name == "database_sizes":
            return network.sampling.sizes
        return lsp_spans(network) if name == "lsp_spans" else network.columns(name)

    numbers = {flow.index: place for place, flow in enumerate(network.flows)}
    story = made(network.now, specs, columns, numbers)
    stops = [span_ps(spec["stop"]) / 1e12 for spec in described if spec.get("stop") is not None]
    if stops and len(stops) == len(described) and network.draft.demands is None:
        story.stop = max(stops)
    return story


def _code(described: Sequence[Mapping[str, Any]], place: int) -> int:
    return dscp(described[place]["dscp"]) if place < len(described) else 0


def of_results(found: Results, point: int | None = None) -> Story | None:
    """The story of a point of a results folder, the first by default; None if too little was kept."""
    topology = found.summary.get("topology") or {}
    names = found.tables()
    if "flow_accounts" not in names or not (topology.get("flows") or "demands" in names):
        return None
    return whole_of_results(found, point)


def whole_of_results(found: Results, point: int | None = None) -> Story:
    """The same, with what there is: also of a network without flows."""
    topology = found.summary.get("topology") or {}
    names = found.tables()
    specs = [(str(one["name"]), int(one["dscp"])) for one in topology.get("flows", ())]
    places = {name: place for place, (name, _) in enumerate(specs)}

    def columns(name: str) -> Columns:
        if name not in names:
            return {}
        import polars as pl

        table = found.table(name)
        if table.height:
            table = table.filter(pl.col("point") == (table["point"].min() if point is None else point))
        columns: Columns = table.to_dict(as_series=False)
        for key in [key for key in columns if key.endswith("_s")]:
            columns[f"{key[:-2]}_ps"] = [
                round(value * 1e12) if isinstance(value, int | float) else value for value in columns[key]
            ]
        if "flow" in columns:
            columns["flow"] = [places.get(value, value) for value in columns["flow"]]
        return columns

    demands = columns("demands")
    if rows(demands):
        keys = (demands[key] for key in ("class", "from", "to"))
        places |= {name_of(*one): flow for flow, *one in zip(demands["flow"], *keys, strict=True)}
    story = made(float(topology.get("queues_s") or 0.0), specs, columns)
    # What a file's flows say of their ends holds only before this.
    story.stop = float(found.points[0].parameters.get("duration_s") or story.stop)
    return story


def made(
    end: float,
    specs: Sequence[tuple[str, int]],
    columns: Callable[[str], Columns],
    numbers: Mapping[int, int] | None = None,
) -> Story:
    """The story of flows with these names and code points, from tables with times in picoseconds.

    `numbers` are the places of flows by their numbers in tables; without them they are the same.
    """
    flows = [FlowSeen(name, group_of(code)) for name, code in specs]
    story = Story(end, flows)
    places = dict(enumerate(range(len(specs)))) if numbers is None else dict(numbers)
    _account(flows, places, columns("flow_accounts"), demands_of(columns))
    for flow, reordered in _pairs(columns("streams"), "flow", "reordered"):
        flows[places[flow]].reordered += int(reordered or 0)
    story.losses = _losses(columns("loss_times"), places)
    periods = columns("outages")
    story.periods = _losses(periods, places) if periods else None
    story.actions = _actions(columns("actions"))
    spans = columns("lsp_spans")
    if rows(spans):
        story.spans = [
            Span(name, begin / 1e12, end_ps / 1e12, state, tuple(route) if route else None, why)
            for name, begin, end_ps, state, route, why in zip(
                *(spans[key] for key in ("name", "begin_ps", "end_ps", "state", "route", "why")), strict=True
            )
        ]
    told = columns("control_events")
    if rows(told):
        keys = (told[key] for key in ("time_ps", "event", "node", "about"))
        story.told = [
            Told(at / 1e12, EVENTS[event], f"{node} to {about}")
            for at, event, node, about in zip(*keys, strict=True)
        ]
    story.sessions = sessions_of(columns("sessions"))
    story.ways, story.sizes = ways_of(columns("ways")), sizes_of(columns("database_sizes"))
    series = columns("flow_series")
    if rows(series):
        for flow, start, packets in zip(series["flow"], series["start_ps"], series["packets"], strict=True):
            story.arrivals.setdefault(places[flow], []).append((start, packets))
    # The core follows the first flows only.
    story.is_followed = not any(
        flow.received and place not in story.arrivals for place, flow in enumerate(flows)
    )
    if not story.is_followed:
        for (label, phb), *bins in class_bins(columns("class_series")):
            story.by_class.setdefault(group_named(label, phb), []).append((bins[0], bins[1]))
    delays = columns("delays")
    if rows(delays):
        for flow, upper, count in zip(delays["flow"], delays["upper_s"], delays["count"], strict=True):
            _merge(story.delays, places[flow], upper, count)
    ends = [one.last for one in story.losses] + [one.at for one in story.actions]
    ends += [one.spans[-1].end for one in story.sessions]
    story.end = max([end, *ends, *(one.end for one in story.spans)])
    return story


def group_of(code: int) -> str:
    """The class of a code point, as people call it."""
    return group_named(None, phb.name_of(code))


def group_named(label: str | None, behaviour: str) -> str:
    """The class of demands with this label, or of what asks for a PHB, as people call it."""
    return label or (BEST_EFFORT if behaviour == "default" else behaviour)


def demands_of(columns: Callable[[str], Columns]) -> dict[int, tuple[Demand, str, int]]:
    """Demands by their numbers: each, its class as people call it, and how many packets were overtaken."""
    pairs = columns("demands")
    if not rows(pairs):
        return {}
    groups = {
        label: group_named(label, name) for label, name in _pairs(columns("demand_classes"), "class", "phb")
    }
    keys = ("flow", "class", "from", "to", "reordered")
    return {
        flow: ((label, source, sink), groups[label], reordered)
        for flow, label, source, sink, reordered in zip(*(pairs[key] for key in keys), strict=True)
    }


def class_bins(table: Columns) -> Iterator[tuple[Any, ...]]:
    """Rows of table `class_series`: label and PHB, begin of the bin, packets, and delays in seconds."""
    if rows(table):
        keys = ("start_ps", "packets", "mean_s", "min_s", "max_s")
        labels = _pairs(table, "class", "phb")
        yield from zip(labels, *(table[key] for key in keys), strict=True)


def _pairs(table: Columns, first: str, second: str) -> Iterable[tuple[Any, Any]]:
    return zip(table.get(first, ()), table.get(second, ()), strict=True)


def _losses(table: Columns, places: Mapping[int, int]) -> list[Lost]:
    if not rows(table):
        return []
    keys = ("flow", "first_ps", "last_ps", "packets")
    return [
        Lost(places[flow], first / 1e12, last / 1e12, packets)
        for flow, first, last, packets in zip(*(table[key] for key in keys), strict=True)
        if flow in places
    ]


def _account(
    flows: list[FlowSeen],
    places: dict[int, int],
    accounts: Columns,
    demands: Mapping[int, tuple[Demand, str, int]],
) -> None:
    """What became of the packets of flows; demands that lost something come behind them, then the others.

    `places` gets the places of the former.
    """
    if not rows(accounts):
        return
    keys = ("flow", "sent", "duplicated", "received", "lost", "unselected", "in_flight", "unknown")
    others: dict[str, FlowSeen] = {}
    for number, sent, copies, received, lost, left, flying, unknown in zip(
        *(accounts[key] for key in keys), strict=True
    ):
        unplaced = max(0, unknown or 0)
        reordered = 0
        if (place := places.get(number)) is not None:
            seen = flows[place]
        else:
            pair, group, reordered = demands[number]
            if lost or unplaced:
                places[number] = len(flows)
                seen = FlowSeen(name_of(*pair), group, is_demand=True, pair=f"{pair[1]}-{pair[2]}")
                flows.append(seen)
            elif (known := others.get(group)) is not None:
                seen = known
                seen.count += 1
            else:
                seen = others[group] = FlowSeen(f"other demands of {group}", group, is_demand=True)
        seen.sent += sent or 0
        seen.duplicated += copies or 0
        seen.received += received or 0
        seen.lost += (lost or 0) + unplaced
        seen.unselected += left or 0
        seen.in_flight += flying or 0
        seen.unplaced += unplaced
        seen.reordered += reordered
    flows.extend(others.values())


def _actions(columns: Columns) -> list[Action]:
    found = []
    for place in range(rows(columns)):
        row = {key: values[place] for key, values in columns.items()}
        until = row.get("until_ps")
        found.append(
            Action(
                row["time_ps"] / 1e12,
                str(row["action"]),
                row.get("link"),
                row.get("from"),
                row.get("node"),
                row.get("lsp"),
                row.get("flow"),
                None if until is None else until / 1e12,
                row.get("value"),
            )
        )
    return found


def _merge(
    delays: dict[int, tuple[list[float], list[int]]], flow: int, upper: Sequence[float], count: Sequence[int]
) -> None:
    known = dict(zip(*delays.get(flow, ([], [])), strict=True))
    for bound, packets in zip(upper, count, strict=True):
        known[bound] = known.get(bound, 0) + packets
    delays[flow] = (sorted(known), [known[bound] for bound in sorted(known)])
