"""What is published of the parts with tags and without, what arithmetic says, and whether a run agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...results.points import Point
from ..scores import Comparison, Kind, rounding
from . import duplex, load, processor_paper
from .compared import published
from .links import CELL_BYTES, HEADERS, MTU, cells_of
from .parameters import TagSwitchingParameters
from .predicted import link_mbps, tag_vcs
from .shown import FIGURES, WORDS, headline, parameters_of, predicted, text_of, titled

CELLS_PER_S = 4750
"""Of the study's link."""


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """What is published of this part, then what arithmetic says of these links."""
    found = []
    for point in points:
        p = parameters_of(point)
        lead = f"{headline(p)}: " if len(points) > 1 else ""
        for setting in p.settings:
            found += _published(lead, p, point, setting)
            found += duplex.comparisons(lead, p, point, setting)
            for key in FIGURES[p.part]:
                expected = predicted(p, setting, key)
                unit = {"rtt_s": "s", "delay_s": "s", "lost": "share"}.get(key, "Mbit/s")
                found.append(
                    Comparison(
                        f"{lead}{titled(setting)}: {WORDS[key]}",
                        unit,
                        Kind.OURS,
                        None,
                        point.metrics.get(f"{setting}_{key}"),
                        expected.low,
                        expected.high,
                        expected.why,
                        expected.value,
                    )
                )
        found += processor_paper.comparisons(lead, p, point) if p.part != "load" else []
        found += [*_vcs(lead, p, point), *_same_rtt(lead, p, point), *_same_delay(lead, p, point)]
    return [*found, *duplex.best(points)]


def _vcs(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    """VCs that tags have set up for the two hosts: in each direction one on each link."""
    if "with" not in p.settings or not p.has_label_vcs or p.part == "load":
        return []
    expected = tag_vcs(p)
    measured = point.metrics.get("with_tag_vcs")
    return [
        Comparison(
            f"{lead}VCs of tags between the hosts' networks",
            "VCs",
            Kind.OURS,
            None,
            measured,
            expected,
            expected,
            "one on each link of the path, each way",
            expected,
        )
    ]


def fault(point: Point) -> str | None:
    """Bytes that did not arrive as they were sent, and figures that arithmetic does not allow."""
    p = parameters_of(point)
    checked = [row for setting in p.settings for row in duplex.comparisons("", p, point, setting)]
    checked += processor_paper.comparisons("", p, point) if p.part != "load" else []
    for row in checked:
        if row.kind == Kind.OURS and not row.holds:
            found = "nothing" if row.measured is None else f"{row.measured:.4g}"
            return f"{row.what}: {found}, where arithmetic allows {row.low:.4g} to {row.high:.4g} {row.unit}"
    for setting in p.settings:
        where = "with tags" if setting == "with" else "without tags"
        if wrong := point.metrics.get(f"{setting}_wrong"):
            return f"{where}: {wrong} bytes did not arrive as they were sent"
        if undone := point.metrics.get(f"{setting}_undone"):
            return f"{where}: {undone} connections were not closed by both ends"
        if said := _astray(p, point, setting):
            return f"{where}: {said}"
        for key in FIGURES[p.part]:
            expected = predicted(p, setting, key)
            value = point.metrics.get(f"{setting}_{key}")
            if value is None or not expected.low <= value <= expected.high:
                found = "nothing" if value is None else text_of(key, value)
                allowed = f"{text_of(key, expected.low)} to {text_of(key, expected.high)}"
                return f"{where}: {WORDS[key]} {found}, where arithmetic allows {allowed}"
    return None


def _astray(p: TagSwitchingParameters, point: Point, setting: str) -> str | None:
    """Are there other VCs than arithmetic says, or did packets not go by them?"""
    if setting != "with" or not p.has_label_vcs or p.part == "load":
        return None
    found, expected = point.metrics.get("with_tag_vcs"), tag_vcs(p)
    if found != expected:
        return f"{found} VCs between the hosts' networks, where arithmetic says {expected}"
    cells, least = point.metrics["with_tag_cells"], point.metrics["with_least_cells"]
    if cells < least:
        return f"{cells:,} cells went by VCs of tags, where what arrived takes {least:,} at least"
    return None


def _published(lead: str, p: TagSwitchingParameters, point: Point, setting: str) -> list[Comparison]:
    """Published throughputs are of buffers that do not limit: they are compared where ours do not.

    Lengths of packets other than that of the study's MTU are worked back from these figures: that they come
    out shows nothing.
    """
    if p.part != "tcp":
        return []
    expected = predicted(p, setting, "mbps")
    if expected.why.startswith("buffer"):
        return []
    rows = [
        row
        for row in published()["throughput"]
        if (row["part"], row["path"], row["tags"]) == (p.part, p.path, setting)
    ]
    return [
        Comparison(
            f"{lead}{titled(setting)}, published{'' if p.medium == 'atm' else ' on ATM'}",
            "Mbit/s",
            Kind.FITTED if p.medium == "atm" and p.packet != MTU else Kind.OUTSIDE,
            row["mbps"],
            point.metrics.get(f"{setting}_mbps"),
            *rounding(row["mbps"], row["digits"]),
            "rounding of the figure",
            expected.value,
        )
        for row in rows
    ]


def _same_rtt(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    """Published in words: the same with and without tags."""
    if p.part != "rtt" or p.tags != "both":
        return []
    with_tags, without = (point.metrics.get(f"{setting}_rtt_s") for setting in ("with", "without"))
    if with_tags is None or without is None:
        return []
    difference = with_tags - without
    expected = predicted(p, "with", "rtt_s").value - predicted(p, "without", "rtt_s").value
    return [
        Comparison(
            f"{lead}difference in round-trip time that tags make",
            "s",
            Kind.OUTSIDE,
            None,
            difference,
            -0.0005,
            0.0005,
            "ping prints milliseconds",
            expected,
            "the same with and without tags",
        )
    ]


def _same_delay(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    """A loaded network with tags against an equivalent one without."""
    if p.part != "load" or p.tags != "both":
        return []
    with_tags, without = (point.metrics.get(f"{setting}_delay_s") for setting in ("with", "without"))
    if with_tags is None or without is None:
        return []
    expected = load.difference(p)
    return [
        Comparison(
            f"{lead}difference in mean delay that tags make",
            "s",
            Kind.OURS,
            None,
            with_tags - without,
            expected.low,
            expected.high,
            expected.why,
            expected.value,
        )
    ]


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What the links here are, and what they are not."""
    p = parameters_of(points[0])
    said = _on_atm(p) if p.medium == "atm" else _on_ethernet(p)
    if p.part == "load":
        said.append(
            "Waits are predicted as if packets came to each link by chance and by themselves (M/D/1), which"
            " is too much: those that come by one link come one after the other. VCs of tags have one class"
            " here, unspecified bit rate: classes of service on them are not modelled."
        )
    else:
        said += processor_paper.arithmetic(p, points[0])
    if p.part == "duplex":
        said += duplex.arithmetic(p, points)
    return said


def _on_ethernet(p: TagSwitchingParameters) -> list[str]:
    with_tags, without = link_mbps(p, True), link_mbps(p, False)
    cells = -(-(MTU + 8) // CELL_BYTES)
    return [
        "The study's links are ATM, of 4750 cells/s; these are Ethernet of the rate given. A packet of"
        f" {MTU} bytes takes {cells} cells with either encapsulation, so that cells carry"
        f" {CELLS_PER_S / cells * MTU * 8 / 1e6:.3f} Mbit/s of IP;"
        f" {CELLS_PER_S / cells * 1538 * 8 / 1e6:.3f} Mbit/s is the rate of Ethernet that passes as many.",
        f"On Ethernet a tag makes packets longer: links carry {with_tags:.3f} Mbit/s of data with tags and"
        f" {without:.3f} without. The published gain of tags is not to be had here.",
    ]


def _on_atm(p: TagSwitchingParameters) -> list[str]:
    kinds = (("with tags", p.tag_encapsulation), ("without", p.plain_encapsulation))
    cells = "; ".join(
        f"{name} ({kind}) a packet of {p.packet} bytes takes {cells_of(p.packet, kind)} cells, an"
        f" acknowledgement {cells_of(HEADERS, kind)}"
        for name, kind in kinds
    )
    with_tags, without = link_mbps(p, True), link_mbps(p, False)
    return [
        f"On links of {p.cells_per_s:g} cells/s, {cells}: they carry {with_tags:.3f} Mbit/s of data with tags"
        f" and {without:.3f} without. A cell less for each packet, which the published 1.75 and 1.69 need, is"
        " to be had at one size in six: 1500 is none of them, 1284 is one.",
        _set_up(p),
    ]


def _set_up(p: TagSwitchingParameters) -> str:
    """What set up the VCs."""
    if p.has_label_vcs:
        merge = ", which merge them" if p.merges else ", without merge"
        return (
            "With tags, VCs are labels: edge routers asked for them, and LDP gave them on demand (RFC 3035)"
            f" at switches{merge}. Without, a permanent circuit by configuration joins the edge routers."
        )
    return (
        "With tags, a circuit by configuration is in the place of the VC that LDP sets up (tag_vcs=circuit):"
        " the same cells by the same switches. Without tags another one joins the edge routers."
    )


def bounds(parameters: Mapping[str, Any]) -> list[str]:
    """What links make of packets."""
    if parameters["medium"] == "atm":
        return ["Every cell counts; what sets up the VCs of tags is said above."]
    return ["Links are those of Ethernet: there are no cells, and a tag takes 4 bytes of every packet."]
