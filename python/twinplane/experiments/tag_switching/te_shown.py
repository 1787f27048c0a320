"""Table, figure and comparisons of part `te`: which way packets go, and what a move costs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve, Mark, thinned
from ...charts.table import Table
from ...results.points import Point
from ...units import format_time
from ..base import Column
from ..scores import Comparison, Kind
from .compared import published
from .parameters import TagSwitchingParameters
from .predicted import Prediction
from .te_paper import (
    DIRECT,
    EXPLICIT,
    OTHERS_BPS,
    delay_s,
    link_bytes,
    overtaken,
    packet_s,
    phases,
    signalled,
)

if TYPE_CHECKING:
    from ...results.folder import Results

WORDS = {
    "filter": "to the network of the filter",
    "rest": "to another network there",
    "answers": "back from the network of the filter",
}
"""Flows."""
LINK_WORDS = {DIRECT: "Italy - Austria", EXPLICIT: "Switzerland - Austria"}


def _parameters(point: Point) -> TagSwitchingParameters:
    return TagSwitchingParameters.model_validate(point.parameters)


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
    p, m = _parameters(points[-1]), points[-1].metrics
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
        return Column("predicted", lambda point: delay_s(_parameters(point), way, True), time)

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
        p = _parameters(point)
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


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """What the study says in words, then what arithmetic says."""
    found = []
    for point in points:
        p = _parameters(point)
        lead = f"{headline(p)}: " if len(points) > 1 else ""
        found += [*_published(lead, p, point), *_ours(lead, p, point)]
    return found


def _published(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    hops = published()["te"]["hops"]
    said = [
        (
            "hops of the LSP that are those of the study, in its order",
            "hops",
            float(len(hops)),
            "hops",
            float(len(hops)),
            "the study names each",
            "",
        ),
        (
            "packets to the network of the filter by Switzerland, while the LSP leads there",
            "share",
            None,
            "filter_explicit_share",
            1.0,
            "the LSP takes what the filter names",
            "traffic to Austria goes through Switzerland instead of the direct link",
        ),
        (
            "entries for that network that the filter overrides",
            "entries",
            None,
            "overridden",
            2.0,
            "a label of LDP, and below it a route of OSPF",
            "overriding the route",
        ),
        (
            "packets to other networks in Austria by Switzerland",
            "share",
            None,
            "rest_share",
            0.0,
            "the filter does not name them",
            "a filter on the destination",
        ),
        (
            "answers by Switzerland",
            "share",
            None,
            "answers_share",
            0.0,
            "they go by their route",
            "a unidirectional tunnel",
        ),
    ]
    return [
        Comparison(
            f"{lead}{what}",
            unit,
            Kind.OUTSIDE,
            figure,
            point.metrics.get(key),
            value,
            value,
            why,
            value,
            claim,
        )
        for what, unit, figure, key, value, why, claim in said
    ]


def expected(p: TagSwitchingParameters) -> dict[str, tuple[str, str, Prediction]]:
    """What arithmetic says of each metric: what it is, its unit, and between which values it agrees."""

    def exactly(value: float, why: str) -> Prediction:
        return Prediction(value, value, value, why)

    def delay(way: str, is_tunnel: bool) -> Prediction:
        value = delay_s(p, way, is_tunnel)
        unit = "cell" if p.medium == "atm" else "frame"
        return Prediction(value, value * 0.999, value * 1.001, f"propagation, and each {unit} stored")

    before = "make before break: the old LSP takes packets until the new one has its labels"
    return {
        "filter_lost": ("packets to the network of the filter that are lost", "packets", exactly(0, before)),
        "rest_lost": ("packets to other networks that are lost", "packets", exactly(0, "nobody moves them")),
        "answers_lost": ("answers that are lost", "packets", exactly(0, "nobody moves them")),
        "filter_direct_share": (
            "packets to the network of the filter by Switzerland, while nothing leads there",
            "share",
            exactly(0, "by their label before and behind, by the moved LSP between"),
        ),
        "routed_delay_s": ("their delay before there is an LSP", "s", delay(DIRECT, False)),
        "explicit_delay_s": ("their delay by Switzerland", "s", delay(EXPLICIT, True)),
        "moved_delay_s": ("their delay when the LSP is moved to the direct link", "s", delay(DIRECT, True)),
        "rest_delay_s": ("delay of packets to other networks, all the time", "s", delay(DIRECT, False)),
        "filter_late": ("packets that later ones overtake", "packets", overtaken(p)),
        "setup_s": ("from the command until packets take the LSP", "s", signalled(p, EXPLICIT)),
        f"move_{DIRECT}_s": (
            "the same, of a move to the direct link, the longest",
            "s",
            signalled(p, DIRECT),
        ),
        **(
            {
                f"move_{EXPLICIT}_s": (
                    "the same, of a move to Switzerland, the longest",
                    "s",
                    signalled(p, EXPLICIT),
                )
            }
            if p.moves > 1
            else {}
        ),
    }


def _carried(p: TagSwitchingParameters, point: Point) -> Prediction | None:
    """Bytes from Switzerland to Austria: of packets that took as long as by that way, and of protocols."""
    count = point.metrics.get("by_switzerland")
    if count is None:
        return None
    value = float(count * link_bytes(p))
    most = value + OTHERS_BPS * p.duration_s / 8
    return Prediction(value, value, most, "packets that took so long, and what routers say")


def _ours(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    rows = list(expected(p).items())
    if (carried := _carried(p, point)) is not None:
        rows.append(
            ("switzerland_bytes", ("sent from Switzerland to Austria, by its port", "bytes", carried))
        )
    return [
        Comparison(
            f"{lead}{what}",
            unit,
            Kind.OURS,
            None,
            point.metrics.get(key),
            said.low,
            said.high,
            said.why,
            said.value,
        )
        for key, (what, unit, said) in rows
    ]


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What a reader needs to judge that."""
    p = _parameters(points[0])
    gain = delay_s(p, EXPLICIT, True) - delay_s(p, DIRECT, True)
    found = [
        f"Both flows to Austria have {p.packets_per_s} packets a second of {p.packet} bytes, and take"
        f" {2 * p.packets_per_s * packet_s(p):.0%} of the direct link together, half of that when one is led"
        " away. The study does not say what it sent, so there is no figure of its own but the hops.",
        f"Switzerland is {gain * 1e3:.3g} ms farther: a move to the direct link lets"
        f" {int(gain * p.packets_per_s)} packets that left later overtake others, which is not a loss; a move"
        " to Switzerland lets none. Each move comes at another phase between two packets"
        f" ({1e3 / p.packets_per_s:g} ms).",
        "While the LSP is set up, moved or torn down, packets of the filter go by what was in force before:"
        " the label of LDP, or the old LSP. Nothing waits, so that nothing can be lost but where labels are"
        " taken back too early.",
    ]
    if p.medium == "atm":
        merged = " It is not merged with those of LDP, so its cells do not wait for the last of their packet."
        found.append(
            "On ATM the LSP is a VC of its own through the switches, whose labels RSVP-TE asks for (RFC 3209,"
            f" 4.2.2).{merged if p.merges else ''}"
        )
    return found


def fault(point: Point) -> str | None:
    """What arithmetic does not allow, and packets that go another way than the filter says."""
    p, m = _parameters(point), point.metrics
    if m["changes"] != len(phases(p)) - 1:
        return f"the LSP changed {m['changes']} times in place of {len(phases(p)) - 1}"
    for row in comparisons([point]):
        if not row.holds:
            found = "nothing" if row.measured is None else f"{row.measured:.6g}"
            return f"{row.what}: {found}, where {row.low:.6g} to {row.high:.6g} {row.unit} are expected"
    return None


def bounds(_: Mapping[str, Any]) -> list[str]:
    """What delays can tell."""
    return [
        "A packet went by Switzerland if it took as long as that; counters of links say the same.",
        "Packets that leave within 1 ms of a change are in no phase, but are counted if they are lost.",
    ]
