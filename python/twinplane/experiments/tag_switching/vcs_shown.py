"""Table, figure and comparisons of part `vcs`: what is counted on paper and in the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...charts import Chart, Curve
from ...results.points import Point
from ..base import Column
from ..scores import Comparison, Kind
from .parameters import TagSwitchingParameters
from .vc_count import channels, cloud


@dataclass(frozen=True)
class Expected:
    """What is counted on paper."""

    vcs: int
    """On all links, each direction by itself."""
    link_vcs: int
    """In the direction of a link that has most."""
    to_edges: int
    """From edge routers to the addresses of others."""
    to_outside: int
    """From edge routers to networks behind others."""
    sessions: int
    """Ends of sessions of BGP."""


@cache
def expected(p: TagSwitchingParameters) -> Expected:
    """Sums over shortest paths."""
    drawn = cloud(p)
    found = channels(drawn.edges, drawn.links, drawn.owners(p.routing), p.merges)
    pairs = len(drawn.edges) * (len(drawn.edges) - 1)
    is_flat = p.routing == "flat"
    return Expected(
        found.total(),
        max(found.values()),
        pairs,
        pairs * p.outside if is_flat else 0,
        0 if is_flat else pairs,
    )


def _parameters(point: Point) -> TagSwitchingParameters:
    return TagSwitchingParameters.model_validate(point.parameters)


def _where(p: TagSwitchingParameters) -> str:
    return "six countries" if p.network == "countries" else f"a generated network of {p.edges} edges"


def headline(p: TagSwitchingParameters) -> str:
    """Which network, and how its VCs are set up."""
    merge = "merged by switches" if p.merges else "not merged"
    return f"VCs of tags by LDP on ATM, {_where(p)}, {p.routing}, {merge}"


def columns(points: Sequence[Point]) -> list[Column]:
    """A line for each point."""

    def counted(title: str, key: str) -> list[Column]:
        return [
            Column(title, lambda point: point.metrics.get(key), lambda value: f"{value:,}", key),
            Column(
                "predicted",
                lambda point: getattr(expected(_parameters(point)), key),
                lambda value: f"{value:,}",
            ),
        ]

    return [
        Column("part", lambda point: point.parameters["part"]),
        Column("edges", lambda point: point.metrics.get("edges")),
        Column("routing", lambda point: point.parameters["routing"]),
        Column("merge", lambda point: point.parameters["vc_merge"]),
        *counted("VCs", "vcs"),
        *counted("most on a link", "link_vcs"),
    ]


def answer(points: Sequence[Point]) -> str:
    """How many VCs each network has."""
    said: dict[str, list[str]] = {}
    for point in points:
        p = _parameters(point)
        merge = "with merge" if p.merges else "without merge"
        words = f"{point.metrics.get('vcs', 0):,} VCs of tags {p.routing}, {merge}"
        said.setdefault(_where(p).capitalize(), []).append(words)
    return " ".join(f"{where}: {'; '.join(words)}." for where, words in said.items())


def charts(points: Sequence[Point]) -> list[Chart]:
    """VCs of each point, on paper and counted."""
    if len(points) < 2:
        return []
    all_p = [_parameters(point) for point in points]
    several = len({_where(p) for p in all_p}) > 1
    ticks = [f"{_where(p) + ', ' if several else ''}{p.routing}, {p.vc_merge}" for p in all_p]
    at = [float(-place) for place in range(len(points))]
    measured = [float(point.metrics.get("vcs", 0)) for point in points]
    predicted = [float(expected(_parameters(point)).vcs) for point in points]
    curves = [
        Curve("predicted", predicted, [y + 0.1 for y in at], 0, "points", 0),
        Curve("measured", measured, [y - 0.1 for y in at], 0, "points", 1),
    ]
    alt = f"How many VCs tags take, on paper and in the network. {answer(points)}"
    return [Chart("vcs", "VCs of tags", alt, "VCs", [""], curves, ticks={0: ticks})]


ROWS = {
    "vcs": ("VCs of tags", "sums over shortest paths of the graph"),
    "link_vcs": ("VCs of tags in the direction of a link that has most", "the same, for each link"),
}


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """What the study says in words, then counts on paper."""
    found = []
    for point in points:
        p, paper = _parameters(point), expected(_parameters(point))
        lead = f"{headline(p).partition(', ')[2]}: " if len(points) > 1 else ""
        if p.routing == "flat":
            claim = "every prefix of every egress gets its own VC from every ingress"
            told = [("to_outside", "VCs from an edge router to networks behind others", claim)]
        else:
            claim = "all destinations behind one edge share one VC"
            told = [
                ("to_edges", "VCs from an edge router to another one", claim),
                ("to_outside", "VCs to networks behind others, besides", claim),
            ]
        for key, what, claim in told:
            value = getattr(paper, key)
            source = "edges x other edges" + (" x networks" if p.routing == "flat" else "")
            found.append(
                Comparison(
                    f"{lead}{what}",
                    "VCs",
                    Kind.OUTSIDE,
                    None,
                    point.metrics.get(key),
                    value,
                    value,
                    source if value else "none has a label",
                    value,
                    claim,
                )
            )
        for key, (what, source) in ROWS.items():
            value = getattr(paper, key)
            measured = point.metrics.get(key)
            row = Comparison(f"{lead}{what}", "VCs", Kind.OURS, None, measured, value, value, source, value)
            found.append(row)
    return found


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What both ways to route, and merge, are worth on paper."""
    p = _parameters(points[0])
    of = {
        (routing, merge): expected(p.model_copy(update={"routing": routing, "vc_merge": merge})).vcs
        for routing in ("flat", "hierarchical")
        for merge in ("none", "merge")
    }
    flat, merged = of["flat", "none"], of["flat", "merge"]
    shared, both = of["hierarchical", "none"], of["hierarchical", "merge"]
    return [
        f"On paper this network takes {flat:,} VCs flat, {merged:,} with merge; {shared:,} hierarchical,"
        f" {both:,} with both: BGP divides by {flat / shared:.1f}, merge by {flat / merged:.1f}, both by"
        f" {flat / both:.1f}.",
        "VCs are counted on each link and in each direction, those of edge routers' own links among them:"
        " there merge saves nothing, as an edge router has a label for each destination either way.",
        "LDP on demand set them up (RFC 3035). Loopback addresses of switches have labels, too, and in flat"
        " routing networks of links: the study does not say whether its switches' had.",
    ]


def fault(point: Point) -> str | None:
    """Counts that are not those on paper."""
    paper = expected(_parameters(point))
    if unanswered := point.metrics["unanswered"]:
        return f"{unanswered:,} requests of labels have no answer yet"
    for key in ("vcs", "link_vcs", "to_edges", "to_outside", "sessions"):
        found, value = point.metrics.get(key, 0), getattr(paper, key)
        if found != value:
            return f"{key}: {found:,}, where {value:,} are counted on paper"
    return None


def check(p: TagSwitchingParameters) -> None:
    """The count on paper has to be possible."""
    expected(p)


def bounds(_: Mapping[str, Any]) -> list[str]:
    """Counts are exact."""
    return ["VCs are counted one by one, at the end of the run."]
