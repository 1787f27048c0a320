"""What the study says of part `te`, what arithmetic says, and whether a run agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...results.points import Point
from ..scores import Comparison, Kind
from .compared import published
from .parameters import TagSwitchingParameters
from .predicted import Prediction
from .shown import parameters_of
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
from .te_shown import headline


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """What the study says in words, then what arithmetic says."""
    found = []
    for point in points:
        p = parameters_of(point)
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
    p = parameters_of(points[0])
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
    p, m = parameters_of(point), point.metrics
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
