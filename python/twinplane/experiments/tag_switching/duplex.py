"""Part `duplex`: what acknowledgements alone cost each way, on paper and in the run, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ...charts.table import Table
from ...results.points import Point
from ..scores import Comparison, Kind, rounding
from .compared import published
from .links import ENCAPSULATIONS, HEADERS, AtmLinks, EthernetLinks, Links, cells_of
from .parameters import TagSwitchingParameters
from .predicted import duplex, is_lossy, link_mbps, links_of, tcp

if TYPE_CHECKING:
    from ...results.folder import Results

SHARES = (0.5, 1.0)
"""Acknowledgements without data for each segment: deferred ones come for every second."""
NEAR_BEST = 0.99
"""A buffer gives the best throughput if it comes so near to it: more is chance."""
CHANCE = 0.01
"""Directions that differ by less than this share of the link are alike."""


@dataclass(frozen=True)
class Cost:
    """What acknowledgements take of a link, each way."""

    mbps: float
    """Data beside them."""
    lost_kbps: float
    """Of both directions together."""


def cost(way: Links, packet: int, share: float) -> Cost:
    """Of so many for each segment."""
    mbps = way.data_mbps(packet, share)
    return Cost(mbps, 2e3 * (way.data_mbps(packet) - mbps))


def kinds(p: TagSwitchingParameters) -> dict[str, Links]:
    """The links of this run: with each encapsulation, or with tags and without."""
    if p.medium == "atm":
        return {name: AtmLinks(p.cells_per_s, 1, name) for name in ENCAPSULATIONS}
    return {
        name: EthernetLinks(p.rate_mbps * 1e6, 1, tagged)
        for name, tagged in (("with tags", True), ("without", False))
    }


def is_by_link(p: TagSwitchingParameters, setting: str) -> bool:
    """Is the link the limit of one way alone, and does it lose nothing? Else other things cost more."""
    tagged = setting == "with"
    return not tcp(p, tagged).why.startswith("buffer") and not is_lossy(p, tagged)


def lost_kbps(p: TagSwitchingParameters, point: Point, setting: str) -> float | None:
    """Of twice what one way alone gets: what both together do not."""
    ways = [point.metrics.get(f"{setting}_{key}") for key in ("mbps", "back_mbps")]
    known = [one for one in ways if one is not None]
    return 1e3 * (2 * link_mbps(p, setting == "with") - sum(known)) if len(known) == len(ways) else None


def acks_kbps(p: TagSwitchingParameters, point: Point, setting: str) -> float | None:
    """What acknowledgements without data took, as data that would have gone in their place."""
    each, way = point.metrics.get(f"{setting}_acks_each"), links_of(p, setting == "with")
    ways = [point.metrics.get(f"{setting}_{key}") for key in ("mbps", "back_mbps")]
    if each is None or None in ways:
        return None
    sent = sum(one for one in ways if one is not None)
    return float(1e3 * sent * each * way.packet_s(HEADERS) / way.packet_s(p.packet))


def comparisons(lead: str, p: TagSwitchingParameters, point: Point, setting: str) -> list[Comparison]:
    """Where the link is the limit: published losses, and of what those of the run consist."""
    if p.part != "duplex" or not is_by_link(p, setting):
        return []
    title = f"{lead}{'with tags' if setting == 'with' else 'without'}"
    tagged, said = setting == "with", published()["duplex"]
    whole, way = 2e3 * link_mbps(p, tagged), links_of(p, tagged)
    lost, acks = lost_kbps(p, point, setting), acks_kbps(p, point, setting)
    half, full = (cost(way, p.packet, share).lost_kbps for share in SHARES)
    expected = duplex(p, tagged)
    likely = whole - 2e3 * expected.value
    two = p.both_ways == "two"
    found = [
        Comparison(
            f"{title}: both ways at once lose of twice one way alone",
            "kbit/s",
            Kind.OUTSIDE,
            said["lost_kbps"],
            lost,
            *rounding(said["lost_kbps"], said["lost_digits"]),
            "said to be about that",
            likely,
        ),
        Comparison(
            f"{title}: of that acknowledgements without data",
            "kbit/s",
            Kind.OURS,
            None,
            acks,
            0.0,
            1.02 * (full if two else half) + 1,
            "one for each segment at most" if two else "one for every second segment at most",
            half if two else likely,
        ),
        Comparison(
            f"{title}: of that all else",
            "kbit/s",
            Kind.OURS,
            None,
            None if lost is None or acks is None else lost - acks,
            whole - 2e3 * expected.high - (acks or 0.0) - 1,
            whole - 2e3 * expected.low,
            "acknowledgements that wait behind data while a link is idle" if two else "windows, and chance",
            0.0,
        ),
    ]
    if p.path == said["less_on"]:
        fore, back = (point.metrics.get(f"{setting}_{key}") for key in ("mbps", "back_mbps"))
        found.append(
            Comparison(
                f"{title}: Italy - Switzerland more than back",
                "kbit/s",
                Kind.OUTSIDE,
                None,
                None if fore is None or back is None else 1e3 * (fore - back),
                CHANCE * whole / 2,
                inf,
                "a hundredth of the link is chance",
                0.0,
                "the two directions were unequal: Italy to Switzerland suffered less",
            )
        )
    return found


def best(points: Sequence[Point]) -> list[Comparison]:
    """Of points that differ in nothing but the buffer: the least one that comes near the best."""
    own = [point for point in points if point.parameters["part"] == "duplex"]
    others = {
        tuple((key, str(value)) for key, value in point.parameters.items() if key != "buffer_kb")
        for point in own
    }
    said = published()["duplex"]["best_buffer_kb"]
    buffers = [point.parameters["buffer_kb"] for point in own]
    if len(others) != 1 or len(own) < 3 or not min(buffers) < said < max(buffers):
        return []
    found = []
    for setting in ("with", "without"):
        sums = [
            (point.parameters["buffer_kb"], sum(value for value in ways if value is not None))
            for point in own
            if None not in (ways := [point.metrics.get(f"{setting}_{key}") for key in ("mbps", "back_mbps")])
        ]
        if len(sums) < 3:
            continue
        most = max(total for _, total in sums)
        found.append(
            Comparison(
                f"{'with tags' if setting == 'with' else 'without'}: both ways are best from a buffer of",
                "kB",
                Kind.OUTSIDE,
                said,
                min(buffer for buffer, total in sums if total >= NEAR_BEST * most),
                said * 0.75,
                said * 1.5,
                "said to be around that",
            )
        )
    return found


def arithmetic(p: TagSwitchingParameters, points: Sequence[Point]) -> list[str]:
    """What acknowledgements cost at most, and what of the published loss they leave."""
    point = points[0]
    said = published()["duplex"]["lost_kbps"]
    costs = {name: [cost(way, p.packet, share) for share in SHARES] for name, way in kinds(p).items()}
    most = max(two.lost_kbps for _, two in costs.values())
    words = "; ".join(
        f"{name} {deferred.lost_kbps:.0f}, or {each.lost_kbps:.0f} with one for each"
        for name, (deferred, each) in costs.items()
    )
    found = [
        "Acknowledgements alone, one without data for every second segment, cost both directions together, in"
        f" kbit/s: {words}. The study lost about {said}: at least {said - most:.0f} of that they do not"
        " explain.",
    ]
    for setting in p.settings if len(points) == 1 else ():
        if not is_by_link(p, setting):
            continue
        lost, acks = lost_kbps(p, point, setting), acks_kbps(p, point, setting)
        each = point.metrics.get(f"{setting}_acks_each")
        if lost is None or acks is None or each is None:
            continue
        title = "with tags" if setting == "with" else "without tags"
        found.append(
            f"In this run both directions lost {lost:.0f} kbit/s {title}; acknowledgements without data,"
            f" {each:.2f} for each segment, took {acks:.0f} of that."
        )
    if p.both_ways == "one":
        found.append(
            "Here both directions share a connection, and most acknowledgements go with data. Two programs"
            " that send one way each have two connections: both_ways=two."
        )
    else:
        found.append(
            "Acknowledgements of one connection wait behind data of the other one, so that windows come late"
            " and links are idle at times: that may cost more than what the acknowledgements take, on a long"
            " path and with small windows above all."
        )
    found.append("Both ends and both links are alike here: that directions differ remains unexplained.")
    return found


def tables(found: Results) -> list[Table]:
    """Of the first point: acknowledgements on paper, for each encapsulation."""
    own = [point for point in found.points if point.parameters.get("part") == "duplex"]
    if not own or "processors" not in found.tables():
        return []
    p = TagSwitchingParameters.model_validate(own[0].parameters)
    rows = []
    for name, way in kinds(p).items():
        cells = [str(cells_of(size, name)) for size in (p.packet, HEADERS)] if p.medium == "atm" else []
        alone = way.data_mbps(p.packet)
        costs = [cost(way, p.packet, share) for share in SHARES]
        rows.append(
            [
                name,
                *cells,
                f"{alone:.3f}",
                *(text for one in costs for text in (f"{one.mbps:.3f}", f"{one.lost_kbps:.0f}")),
            ]
        )
    titles = (
        "in front of packets" if p.medium == "atm" else "links",
        *(("cells of a full packet", "of an acknowledgement") if p.medium == "atm" else ()),
        "one way alone (Mbit/s)",
        "each way, with one for two segments",
        "both lose (kbit/s)",
        "each way, with one for each segment",
        "both lose (kbit/s)",
    )
    return [Table("What acknowledgements alone cost, by arithmetic", titles, rows, 1)]
