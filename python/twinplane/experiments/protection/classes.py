"""Figures and tables of `protection` on a topology from a file: what each class of traffic lost, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...failing.failures import counted
from ...frames import Columns
from ...measure.statistics import quantile
from ...network import Network
from ...network.drawing import topology
from ...results.points import Point
from ...units import format_time
from ..base import Column, Outcome
from .everywhere import CLASSES, PROTECTED, Gap, Tried, longest_s
from .parameters import ProtectionParameters

METHODS = ("loss", "time", "timestamp")
"""Packets lost over the rate (PLBM); from the event to the first packet that is not lost (TBLM); from the
last packet before the gap to the first one behind it (TBM)."""


def outcome(network: Network, p: ProtectionParameters, tried: Sequence[Tried]) -> Outcome:
    """All cases together, and each by itself."""
    bound = longest_s(network, p)
    metrics: dict[str, Any] = {
        "routers": len(network.nodes),
        "links": len(network.links),
        "flows": len(network.flows),
        "cases": len(tried),
        "bound_s": bound,
        # From end to end it is no router before a failure that acts.
        "diverted": None if p.end_to_end else sum(one.diverted for one in tried),
        "unprotected": sum(gap.joined and gap.lacks is not None for gap in _all(tried)),
        "surprising": sum(surprises(gap, p, bound) for gap in _all(tried)),
    }
    for kind in CLASSES:
        gaps = [gap for gap in _all(tried) if gap.kind == kind]
        lasting = [gap.loss_s for gap in gaps if gap.joined]
        metrics |= {
            f"{kind}_lost": sum(gap.lost for gap in gaps if gap.joined),
            f"{kind}_hurt": len(lasting),
            f"{kind}_cut_off": sum(not gap.joined for gap in gaps),
            f"{kind}_p50_s": quantile(lasting, 0.5),
            f"{kind}_max_s": max(lasting, default=None),
        }
    covered = [gap.loss_s for gap in _all(tried) if gap.kind == PROTECTED and gap.joined and not gap.lacks]
    metrics["covered_max_s"] = max(covered, default=None) if p.protected else None
    return Outcome(metrics, {"cases": _cases(tried), "gaps": _gaps(tried)}, _drawn(network, tried))


def _all(tried: Sequence[Tried]) -> Iterator[Gap]:
    return (gap for one in tried for gap in one.gaps)


def surprises(gap: Gap, p: ProtectionParameters, bound_s: float) -> bool:
    """Was a flow that asks for protection interrupted for longer than until the failure was seen?

    Where a way is left from its source to its sink there is one for a bypass tunnel, too: routers before and
    behind the failure are joined. So there is no excuse, and `lacks` only says what went wrong. From end to
    end there need not be a second path, though each failure leaves a way.
    """
    excused = p.end_to_end and gap.lacks is not None
    return p.protected and gap.kind == PROTECTED and gap.joined and gap.loss_s > bound_s and not excused


def _cases(tried: Sequence[Tried]) -> Columns:
    """A row for each case and class; packets of flows that were left a way."""
    rows = []
    for one in tried:
        for kind in CLASSES:
            gaps = [gap for gap in one.gaps if gap.kind == kind]
            lasting = [gap.loss_s for gap in gaps if gap.joined]
            why = sorted({gap.lacks for gap in gaps if gap.joined and gap.lacks is not None})
            rows.append(
                {
                    "case": one.case.name,
                    "kind": one.case.kind,
                    "class": kind,
                    "interrupted": len(lasting),
                    "cut_off": len(gaps) - len(lasting),
                    "lost": sum(gap.lost for gap in gaps if gap.joined),
                    "gap_max_s": max(lasting, default=None),
                    "not_protected": sum(gap.joined and gap.lacks is not None for gap in gaps),
                    "why": "; ".join(why),
                }
            )
    return {key: [row[key] for row in rows] for key in rows[0]} if rows else {}


def _gaps(tried: Sequence[Tried]) -> Columns:
    """A row for each case and each flow that it interrupted."""
    rows = [(one.case.name, gap) for one in tried for gap in one.gaps]
    return {
        "case": [case for case, _ in rows],
        "class": [gap.kind for _, gap in rows],
        "flow": [gap.flow for _, gap in rows],
        "packets": [gap.lost for _, gap in rows],
        **{f"{method}_s": [getattr(gap, f"{method}_s") for _, gap in rows] for method in METHODS},
        "way_left": [gap.joined for _, gap in rows],
        "lacks": [gap.lacks for _, gap in rows],
    }


def _lost(one: Tried, kind: str) -> int:
    """Packets of a class that a failure cost where it left a way."""
    return sum(gap.lost for gap in one.gaps if gap.kind == kind and gap.joined)


def _drawn(network: Network, tried: Sequence[Tried]) -> dict[str, Any]:
    """The map: the wider a link, the more its failure costs the protected class."""
    found = topology(network)
    costs = {one.case.key: _lost(one, PROTECTED) for one in tried}
    most = max(costs.values(), default=0)
    for one in tried:
        said = ", ".join(f"{kind} loses {counted(_lost(one, kind), 'packet')}" for kind in CLASSES)
        if why := sorted({gap.lacks for gap in one.gaps if gap.joined and gap.lacks is not None}):
            said += f"; not protected: {'; '.join(why)}"
        if one.case.kind == "link":
            weight = costs[one.case.key] / most if most else 0.0
            found["links"][one.case.links[0]].update(weight=weight, said=f"when it fails, {said}")
        elif one.case.nodes:
            found["nodes"][one.case.nodes[0]]["said"] = f"when it fails, {said}"
    found["weights"] = (
        f"The wider a link is drawn, the more packets of class {PROTECTED} are lost when it fails"
        f" ({most:,} at most); pointing at a link or a router tells what each class loses."
    )
    return found


def answer(points: Sequence[Point]) -> str:
    """The longest gap of each class, and how often the protected one had no backup."""
    said = []
    for point in points:
        m = point.metrics
        parts = [
            f"{kind} is interrupted for {format_time(m[f'{kind}_max_s'])} at most"
            if m[f"{kind}_max_s"] is not None
            else f"{kind} is never interrupted"
            for kind in CLASSES
        ]
        lacking = ""
        if m["unprotected"]:
            lacking = f"{m['unprotected']:,.0f} times {PROTECTED} had no backup"
            if m["covered_max_s"] is not None:
                lacking += f" (with one it is interrupted for {format_time(m['covered_max_s'])} at most)"
        said.append(", ".join([*parts, *([lacking] if lacking else [])]))
    text = "; ".join(said)
    return f"Where a way is left, {text}."


def fault(point: Point) -> str | None:
    """Gaps that no bypass tunnel explains, or none at all."""
    m = point.metrics
    if m["surprising"]:
        return (
            f"{m['surprising']:,.0f} gaps of LSPs that ask for protection are longer than until a failure is"
            " seen, though there was another way"
        )
    if not any(m[f"{kind}_{what}"] for kind in CLASSES for what in ("hurt", "cut_off")):
        return "no failure interrupted a flow: draw more pairs"
    return None


def backup(point: Point) -> str:
    """What protects the LSPs of a point."""
    return str(point.parameters["method"]) if point.parameters["protected"] else "none"


def backups(points: Sequence[Point]) -> list[Column]:
    """A column that says it, if points differ by that."""
    return [Column("backup", backup)] if len({backup(point) for point in points}) > 1 else []


def columns(points: Sequence[Point]) -> list[Column]:
    """A line for each point: the two classes side by side."""

    def metric(title: str, key: str, form: Any = None) -> Column:
        return Column(
            title, lambda point: point.metrics.get(key), form or (lambda value: f"{value:,.0f}"), key
        )

    found = [*backups(points), metric("cases", "cases"), metric("led around", "diverted")]
    for kind in CLASSES:
        found += [
            metric(f"{kind} gaps", f"{kind}_hurt"),
            metric("longest", f"{kind}_max_s", format_time),
            metric("lost", f"{kind}_lost"),
        ]
    found += [metric("cut off", f"{PROTECTED}_cut_off"), metric("no backup", "unprotected")]
    if any(point.metrics["unprotected"] for point in points):
        found.append(metric("longest with one", "covered_max_s", format_time))
    return [*found, metric("unexpected", "surprising")]
