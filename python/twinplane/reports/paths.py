"""Paths on the map: the reader picks an LSP, a flow or a route, and sees its path before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

from ..charts.table import Table
from ..units import format_time
from .harm import cuts
from .page import Picker, Section
from .seen import Span, Way
from .story import Story
from .topology import NAMES_MAX, Place, node_drawing, places

PATHS_MAX = 200
"""So many paths can be picked: those that changed first."""
SPANS_MAX = 30
"""So many stretches of time of each."""
ROWS_MAX = 300
DOWN_MAX = 12
"""So many links and nodes that are down are marked at a time."""

TITLES = {"LSP": "LSP", "flow": "flow", "route": "route from"}


@dataclass(frozen=True)
class Stretch:
    """A stretch of time with one path; a single node, or none, is a path that leads nowhere."""

    begin: float
    end: float
    nodes: tuple[str, ...]
    labels: tuple[str, ...]
    text: str

    @property
    def when(self) -> str:
        """Its time in words."""
        if self.begin == self.end:
            return f"at {format_time(self.begin, 7)}"
        return f"from {format_time(self.begin, 7)} to {format_time(self.end, 7)}"


@dataclass
class Path:
    """What can be picked: an LSP, a flow, or the route from a router to a destination."""

    kind: str
    name: str
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def ways(self) -> int:
        """How many different ways there are."""
        return len({one.nodes for one in self.stretches if len(one.nodes) > 1})

    @property
    def title(self) -> str:
        """Its name, with what it is."""
        return f"{TITLES[self.kind]} {self.name}"


def section(topology: Mapping[str, Any], story: Story) -> list[Section]:
    """A section if there is a path of which the nodes are known."""
    everything = [*_lsps(story), *_looked_at(story)]
    known = [path for path in everything if path.ways]
    if not known:
        return []
    # Those that went several ways tell most; the order is otherwise that of the network.
    shown = sorted(known, key=lambda path: path.ways < 2)[:PATHS_MAX]
    points = _left_out(everything, known, shown, story)
    picker = _picker(topology, story, shown)
    return [Section("Paths on the map", picker=picker, folded=[_table(shown)], points=points)]


def _left_out(
    all_of: Sequence[Path], known: Sequence[Path], shown: Sequence[Path], story: Story
) -> list[str]:
    said = []
    if story.ways and all(way.begin == way.end for way in story.ways):
        said.append(
            "Ways of flows and routes are those at the end: nobody looked before. Network.sample(every)"
            " before a run in virtual time does it, and twinplane run by itself."
        )
    elif any(path.kind != "LSP" for path in shown):
        said.append(
            "Ways of flows and routes are what the tables of routers said when they were looked at: what came"
            " and went in between is not shown, and when a way changed is known only as closely."
        )
    flows, looked = (
        sum(not flow.is_demand for flow in story.flows),
        {w.name for w in story.ways if w.kind == "flow"},
    )
    if looked and len(looked) < flows:
        said.append(f"The ways of {len(looked):,} of {flows:,} flows were looked at.")
    if len(shown) < len(known):
        said.append(
            f"{len(known) - len(shown):,} more paths are not in the list; those that changed are first."
        )
    nowhere = len(all_of) - len(known)
    if nowhere:
        said.append(f"{nowhere:,} more never led anywhere, or nobody knows where, and are not in the list.")
    return said


def _lsps(story: Story) -> list[Path]:
    return [Path("LSP", name, [_of_lsp(span) for span in spans]) for name, spans in story.lsps.items()]


def _of_lsp(span: Span) -> Stretch:
    state = {"waiting": "not up yet"}.get(span.state, span.state)
    text = f"{state}{f', {span.why}' if span.why and span.state == 'down' else ''}"
    if span.route and span.state == "up":
        text = " - ".join(span.route)
    elif span.state == "up":
        text = "up on a route that is not known"
    return Stretch(span.begin, span.end, (span.route or ()) if span.state == "up" else (), (), text)


def _looked_at(story: Story) -> list[Path]:
    found: dict[tuple[str, str], Path] = {}
    for way in story.ways:
        path = found.setdefault((way.kind, way.name), Path(way.kind, way.name))
        path.stretches.append(Stretch(way.begin, way.end, way.nodes, way.labels, _words(way)))
    return list(found.values())


def _words(way: Way) -> str:
    """Nodes with the labels between them, and what becomes of packets."""
    text = way.nodes[0]
    for place, node in enumerate(way.nodes[1:]):
        label = way.labels[place] if place < len(way.labels) else ""
        text += f" -({label})- {node}" if label else f" - {node}"
    return text if way.fate == "arrives" else f"{text}, {way.fate}"


def _picker(topology: Mapping[str, Any], story: Story, paths: Sequence[Path]) -> Picker:
    at, width, height = places(topology["nodes"])
    numbers = {node["name"]: place for place, node in enumerate(topology["nodes"])}
    names = topology.get("link_names") or [f"{link['a']}-{link['b']}" for link in topology["links"]]
    ends = {str(name): (link["a"], link["b"]) for name, link in zip(names, topology["links"], strict=True)}
    away = cuts(story)
    known = list(dict.fromkeys(name for name, _, _ in away if name in ends or name in numbers))
    order = {name: place for place, name in enumerate(known)}

    @cache
    def down(at: float) -> list[int]:
        """What is down at a time."""
        found = [order[name] for name, begin, end in away if begin <= at < end and name in order]
        return list(dict.fromkeys(found))[:DOWN_MAX]

    failed = min((action.at for action in story.failures), default=None)
    data = {
        "at": [[round(value, 1) for value in at[node["name"]]] for node in topology["nodes"]],
        "away": [[numbers[node] for node in ends.get(name, (name,))] for name in known],
        "names": known,
        "paths": [
            {
                "name": path.title,
                "first": _first(path, failed),
                "spans": [
                    [
                        one.when,
                        [numbers.get(node, -1) for node in one.nodes],
                        list(one.labels) if any(one.labels) else [],
                        one.text,
                        down(one.begin),
                    ]
                    for one in path.stretches[:SPANS_MAX]
                ],
            }
            for path in paths
        ],
    }
    text = f"A map of {len(numbers):,} nodes. With scripts a path can be picked here; the table has them all."
    return Picker(_map(topology, at, width, height, text), text, data)


def _first(path: Path, failed: float | None) -> int:
    """Which stretch is shown first: the first way that was taken after a failure, else the last one."""
    shown = path.stretches[:SPANS_MAX]
    leading = [place for place, one in enumerate(shown) if len(one.nodes) > 1]
    after = [place for place in leading if failed is not None and shown[place].begin >= failed]
    return (after or leading[-1:] or [len(shown) - 1])[0]


def _map(topology: Mapping[str, Any], at: Mapping[str, Place], width: float, height: float, text: str) -> str:
    """Nodes and links, small enough for thousands, and an empty layer for what is picked."""
    nodes, links = topology["nodes"], topology["links"]
    lines = "".join("M{:.0f} {:.0f}L{:.0f} {:.0f}".format(*at[link["a"]], *at[link["b"]]) for link in links)
    thin = 1.5 if len(nodes) <= NAMES_MAX else 0.7
    drawn = [
        f'<svg class="drawing" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(text)}"'
        ' xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="16">',
        f'<path d="{lines}" fill="none" stroke="#888" stroke-width="{thin}"/>',
        '<g class="chosen"></g>',
        *(node_drawing(node, at, len(nodes)) for node in nodes),
        "</svg>",
    ]
    return "".join(drawn)


def _table(paths: Sequence[Path]) -> Table:
    rows = [[path.title, one.when, one.text] for path in paths for one in path.stretches[:SPANS_MAX]]
    more = f"The first {ROWS_MAX} of {len(rows):,}" if len(rows) > ROWS_MAX else ""
    caption = "The paths of the list as a table"
    return Table(caption, ["path", "when", "way"], rows[:ROWS_MAX], 3, note=more)
