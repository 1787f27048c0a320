"""Tables and figure of part `te`: which way packets go, and what a move costs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve, Mark, thinned
from ...charts.table import Table
from ...results.points import Point
from ...units import format_time
from ..base import Column
from .compared import published
from .parameters import TagSwitchingParameters
from .shown import parameters_of
from .te_paper import DIRECT, EXPLICIT, delay_s

if TYPE_CHECKING:
    from ...results.folder import Results

WORDS = {
    "filter": "to the network of the filter",
    "rest": "to another network there",
    "answers": "back from the network of the filter",
}
"""Flows."""
LINK_WORDS = {DIRECT: "Italy - Austria", EXPLICIT: "Switzerland - Austria"}


def headline(p: TagSwitchingParameters) -> str:
    """What is sent, over which links, and how often the LSP is moved."""
    links = (
        f"ATM of {p.cells_per_s:g} cells/s" if p.medium == "atm" else f"Ethernet of {p.rate_mbps:g} Mbit/s"
    )
    times = "once" if p.moves == 1 else f"{p.moves} times"
    return (
        f"an LSP of RSVP-TE against the route Italy - Austria, {links}, {p.packets_per_s} packets of"
        f" {p.packet} bytes a second for each network, moved {times}"
    )


def answer(points: Sequence[Point]) -> str:
    """The last point in a sentence."""
    p, m = parameters_of(points[-1]), points[-1].metrics
    if m.get("filter_explicit_share") is None:
        return "The LSP did not come up, or was not moved as often as it was told to."
    lost = sum(m[f"{flow}_lost"] for flow in WORDS)
    return (
        f"While the LSP leads through Switzerland {m['filter_explicit_share']:.0%} of the packets to"
        f" {published()['te']['filter']} go by it, and {m['rest_share']:.0%} of the others;"
        f" {_moves(p.moves)} cost {lost} packets."
    )


def _moves(count: int) -> str:
    return (
        "setting it up, a move and tearing it down"
        if count == 1
        else (f"setting it up, {count} moves and tearing it down")
    )


def columns(points: Sequence[Point]) -> list[Column]:
    """A line for each point: shares by Switzerland, delays and losses."""

    def metric(title: str, key: str, text: Any = str) -> Column:
        return Column(title, lambda point: point.metrics.get(key), text, key)

    def share(value: float) -> str:
        return f"{value:.1%}"

    def time(value: float) -> str:
        return format_time(value, 4)

    def said(way: str) -> Column:
        return Column("predicted", lambda point: delay_s(parameters_of(point), way, True), time)

    return [
        Column("part", lambda point: point.parameters["part"]),
        Column("links", lambda point: "ATM" if point.parameters["medium"] == "atm" else "Ethernet"),
        Column("moves", lambda point: point.parameters["moves"]),
        metric("filter by Switzerland", "filter_explicit_share", share),
        metric("the rest", "rest_share", share),
        metric("delay by Switzerland", "explicit_delay_s", time),
        said(EXPLICIT),
        metric("moved to the direct link", "moved_delay_s", time),
        said(DIRECT),
        Column("lost", lambda point: _lost(point)),
        metric("overtaken", "filter_late"),
    ]


def _lost(point: Point) -> int | None:
    known = [point.metrics.get(f"{flow}_lost") for flow in WORDS]
    return None if None in known else sum(one for one in known if one is not None)


def plots(found: Results) -> list[Chart]:
    """Delays of packets over time, and what both links carry, for each point."""
    if "te_packets" not in found.tables():
        return []
    packets, links, stages = (
        list(found.table(name).iter_rows(named=True)) for name in ("te_packets", "te_links", "te_phases")
    )
    charts = []
    for place, point in enumerate(found.points):
        p = parameters_of(point)
        curves: list[Curve] = []
        for style, flow in enumerate(("filter", "rest")):
            own = [row for row in packets if row["point"] == place and row["flow"] == flow]
            delays = [None if row["delay_s"] is None else row["delay_s"] * 1e3 for row in own]
            x, y = thinned([row["departure_s"] for row in own], delays, 1200)
            curves.append(Curve(WORDS[flow], x, y, 0, "points", style))
        begins = [row for row in stages if row["point"] == place and row["flow"] == "filter"]
        line_x = [row[end] for row in begins for end in ("begin_s", "end_s")]
        line_y = [row["predicted_s"] * 1e3 for row in begins for _ in range(2)]
        curves.append(Curve("predicted, network of the filter", line_x, line_y, 0, "line", 2))
        for style, way in enumerate(LINK_WORDS):
            mine = [row for row in links if row["point"] == place and row["way"] == way]
            curves.append(
                Curve(
                    LINK_WORDS[way],
                    [row["begin_s"] for row in mine],
                    [row["mbps"] for row in mine],
                    1,
                    "steps",
                    3 + style,
                )
            )
        medium = "ATM" if p.medium == "atm" else "Ethernet"
        lead = f"{medium}: delays" if len(found.points) > 1 else "Delays"
        marks = [Mark(row["begin_s"], row["what"]) for row in begins[1:]] if len(begins) <= 6 else []
        charts.append(
            Chart(
                f"te-{place}" if len(found.points) > 1 else "te",
                f"{lead}, and what links carry",
                f"One-way delays of packets over time, and Mbit/s of two links. {answer([point])}",
                "seconds since packets began",
                ["delay (ms)", "Mbit/s on the link"],
                curves,
                marks,
                zero=(0, 1),
            )
        )
    return charts


def tables(found: Results) -> list[Table]:
    """Every phase of each flow."""
    if "te_phases" not in found.tables():
        return []
    rows: list[dict[str, Any]] = list(found.table("te_phases").iter_rows(named=True))
    several = len(found.points) > 1

    def time(value: float | None) -> str:
        return "-" if value is None else format_time(value, 4)

    cells = [
        [
            *([found.points[row["point"]].parameters["medium"]] if several else []),
            row["what"],
            WORDS[row["flow"]],
            row["decided_by"],
            row["hops"] or "-",
            f"{row['sent']:,}",
            f"{row['lost']:,}",
            f"{row['by_switzerland']:,}",
            time(row["predicted_s"]),
            time(row["delay_min_s"]),
            time(row["delay_max_s"]),
        ]
        for row in sorted(rows, key=lambda row: (row["point"], row["phase"]))
    ]
    titles = (
        *(["links"] if several else []),
        "phase",
        "packets",
        "decided at the edge by (> what it overrides)",
        "hops of the LSP",
        "sent",
        "lost",
        "by Switzerland",
        "predicted",
        "least delay",
        "greatest",
    )
    return [Table("What became of packets, phase by phase", titles, cells, 5 if several else 4)]
