"""What happened in a run: what was done to the network, what flows lost when, and what LSPs went through.

A story is made from the tables of a network at hand or from those of a results folder, and every part of
the page is made from a story: so both pages say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..frames import Columns, rows
from ..network.lsp_spans import TORN, lsp_spans
from ..network.told import control_events
from ..queues import phb
from ..units import dscp, span_ps

if TYPE_CHECKING:
    from ..network import Network
    from ..results.folder import Results

BEST_EFFORT = "best effort"
"""What class `default` is called where people read."""

TABLES = ("loss_times", "lsp_spans", "flow_accounts", "flow_series", "delays", "actions", "streams")
"""The tables that a story is made from."""


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
        return self.what not in ("heal", "signal", "start", "stop", "reroute", "reoptimise") and (
            self.value is None or not self.value.startswith(("0 %", "0 s", "none"))
        )

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
    """Its class: the PHB that it asks for."""
    sent: int = 0
    duplicated: int = 0
    received: int = 0
    lost: int = 0
    in_flight: int = 0
    unplaced: int = 0
    """Of those lost: what no table of this process explains."""
    reordered: int = 0

    @property
    def left_over(self) -> int:
        """Packets that are missing in this account: none."""
        return self.sent + self.duplicated - self.received - self.lost - self.in_flight


@dataclass(frozen=True)
class Span:
    """A stretch of time in which an LSP did not change."""

    lsp: str
    begin: float
    end: float
    state: str
    route: tuple[str, ...] | None = None
    why: str | None = None

    @property
    def torn(self) -> bool:
        """Is it down because somebody tore it down?"""
        return self.state == "down" and self.why == TORN


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
    """Packets of each flow that arrived: start of the bin in picoseconds, and how many. Empty unless
    all flows are followed."""
    delays: dict[int, tuple[list[float], list[int]]] = field(default_factory=dict)
    """Histogram of the delays of each flow: upper bounds in seconds, and packets."""

    stop: float = float("inf")
    """When the last flow stops, if all do."""
    told: list[Told] = field(default_factory=list)
    """What routers told of ports and neighbours."""

    @property
    def groups(self) -> list[str]:
        """Classes, in the order of their flows."""
        return list(dict.fromkeys(flow.group for flow in self.flows))

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
        table = lsp_spans(network) if name == "lsp_spans" else network.columns(name)
        if network.draft.demands is None or name not in ("flow_accounts", "loss_times"):
            return table
        # Demands are shown by class.
        kept = [place for place, flow in enumerate(table["flow"]) if flow < len(specs)]
        return {key: [values[place] for place in kept] for key, values in table.items()}

    story = made(network.now, specs, columns)
    stops = [span_ps(spec["stop"]) / 1e12 for spec in described if spec.get("stop") is not None]
    if stops and len(stops) == len(described):
        story.stop = max(stops)
    return story


def _code(described: Sequence[Mapping[str, Any]], place: int) -> int:
    return dscp(described[place]["dscp"]) if place < len(described) else 0


def of_results(found: Results, point: int | None = None) -> Story | None:
    """The story of a point of a results folder, the first by default; None if too little was kept."""
    topology = found.summary.get("topology") or {}
    names = found.tables()
    if "flow_accounts" not in names or not topology.get("flows"):
        return None
    specs = [(str(one["name"]), int(one["dscp"])) for one in topology["flows"]]
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
        columns["flow"] = [places.get(value, value) for value in columns.get("flow", [])]
        return columns

    story = made(float(topology.get("queues_s") or 0.0), specs, columns)
    # What a file's flows say of their ends holds only before this.
    story.stop = float(found.points[0].parameters.get("duration_s") or story.stop)
    return story


def made(end: float, specs: Sequence[tuple[str, int]], columns: Callable[[str], Columns]) -> Story:
    """The story of flows with these names and code points, from tables with times in picoseconds."""
    flows = [FlowSeen(name, group_of(code)) for name, code in specs]
    story = Story(end, flows)
    _account(flows, columns("flow_accounts"), columns("streams"))
    losses = columns("loss_times")
    if rows(losses):
        story.losses = [
            Lost(flow, first / 1e12, last / 1e12, packets)
            for flow, first, last, packets in zip(
                *(losses[key] for key in ("flow", "first_ps", "last_ps", "packets")), strict=True
            )
        ]
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
    series = columns("flow_series")
    if rows(series):
        for flow, start, packets in zip(series["flow"], series["start_ps"], series["packets"], strict=True):
            story.arrivals.setdefault(flow, []).append((start, packets))
    # The core follows the first flows only.
    if any(flow.received and place not in story.arrivals for place, flow in enumerate(flows)):
        story.arrivals = {}
    delays = columns("delays")
    if rows(delays):
        for flow, upper, count in zip(delays["flow"], delays["upper_s"], delays["count"], strict=True):
            _merge(story.delays, flow, upper, count)
    ends = [one.last for one in story.losses] + [one.at for one in story.actions]
    story.end = max([end, *ends, *(one.end for one in story.spans)])
    return story


def group_of(code: int) -> str:
    """The class of a code point, as people call it."""
    name = phb.name_of(code)
    return BEST_EFFORT if name == "default" else name


def _account(flows: list[FlowSeen], accounts: Columns, streams: Columns) -> None:
    for place, flow in enumerate(accounts.get("flow", [])):
        seen = flows[flow]
        for key in ("sent", "duplicated", "received", "lost", "in_flight"):
            setattr(seen, key, int(accounts[key][place] or 0))
        seen.unplaced = max(0, int(accounts["unknown"][place] or 0))
        seen.lost += seen.unplaced
    for flow, reordered in zip(streams.get("flow", []), streams.get("reordered", []), strict=True):
        flows[flow].reordered += int(reordered or 0)


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
