"""The figures and tables of a run of `convergence`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...failing.failures import counted
from ...frames import Columns
from ...measure.statistics import quantile
from ...network import Network
from ...network.drawing import topology
from ...results.points import Point
from ...units import format_time
from ..base import Outcome
from .judging import NOTHING, WELL, Tried
from .timers import Expected


def outcome(network: Network, tried: Sequence[Tried]) -> Outcome:
    """All cases together, and each by itself."""
    known = [one.full_s for one in tried if one.full_s is not None]
    control = [one.control_s for one in tried if one.control_s is not None]
    metrics: dict[str, Any] = {
        "routers": len(network.nodes),
        "links": len(network.links),
        "probes": len(network.flows),
        "cases": len(tried),
        "harmless": sum(not one.lost for one in tried),
        "surprising": sum(one.verdict not in (WELL, NOTHING) for one in tried),
        "full_p50_s": quantile(known, 0.5),
        "full_max_s": max(known, default=None),
        "control_p50_s": quantile(control, 0.5),
        "control_max_s": max(control, default=None),
        "lost": sum(one.lost for one in tried),
        "expired": sum(one.expired for one in tried),
        "looped": sum(one.looped for one in tried),
        "looping_cases": sum(bool(one.expired or one.looped) for one in tried),
    }
    tables = {"cases": cases(tried), "prefixes": prefixes(tried), "routers": routers(tried)}
    return Outcome(metrics, tables, drawn(network, tried))


def drawn(network: Network, tried: Sequence[Tried]) -> dict[str, Any]:
    """The map: the wider a link, the longer its failure takes; of nodes it is told."""
    found = topology(network)
    most = max((_taken(one) for one in tried if one.case.kind == "link"), default=0.0)
    for one in tried:
        said = f"when it fails, {format_time(_taken(one))} until all is as it stays"
        said += f", {one.lost:,} packets lost, {one.expired + one.looped:,} went round"
        if one.case.kind == "link":
            share = _taken(one) / most if most else 0.0
            found["links"][one.case.links[0]].update(weight=share, said=said)
        elif one.case.nodes:
            found["nodes"][one.case.nodes[0]]["said"] = said
    found["weights"] = (
        "The wider a link is drawn, the longer it takes until routes and packets have settled when it fails"
        f" ({format_time(most)} at most); pointing at a link or a node tells its figures."
    )
    return found


def _taken(one: Tried) -> float:
    """Until the last new route and the last lost packet."""
    return max(one.control_s or 0.0, one.full_s or 0.0)


def answer(points: Sequence[Point]) -> str:
    """The slowest case of each plane, micro-loops, and whether timers explain it."""
    said = []
    for point in points:
        m = point.metrics
        who = f"with {point.parameters['timers']} timers " if len(points) > 1 else ""
        loops = m["expired"] + m["looped"]
        went = f"{counted(round(loops), 'packet')} went round" if loops else "no packet went round"
        said.append(
            f"{who}packets are lost for {format_time(m['full_max_s'])} at most where a way is left,"
            f" the last route is new after {format_time(m['control_max_s'])}, and {went}"
        )
    wrong = sum(point.metrics["surprising"] for point in points)
    total = sum(point.metrics["cases"] for point in points)
    timers = (
        f"timers explain all {total:,.0f} cases"
        if not wrong
        else f"timers do not explain {wrong:,.0f} of {total:,.0f}"
    )
    text = "; ".join([*said, timers])
    return f"{text[0].upper()}{text[1:]}."


def cases(tried: Sequence[Tried]) -> Columns:
    """A row for each case: predicted and measured."""

    def times(key: str, expected: Sequence[Expected], measured: Sequence[float | None]) -> Columns:
        low, high = ([getattr(one, end) for one in expected] for end in ("low", "high"))
        return {
            f"{key}_low_s": [None if at is None else at / 1e12 for at in low],
            f"{key}_high_s": [None if at is None else at / 1e12 for at in high],
            f"{key}_s": list(measured),
        }

    return {
        "case": [one.case.name for one in tried],
        "kind": [one.case.kind for one in tried],
        **times("detected", [one.predicted.detected for one in tried], [one.detected_s for one in tried]),
        **times("control", [one.predicted.control for one in tried], [one.control_s for one in tried]),
        **times("full", [one.predicted.data for one in tried], [one.full_s for one in tried]),
        "first_route_s": [one.first_s for one in tried],
        "lost": [one.lost for one in tried],
        "cut_off": [one.cut_off for one in tried],
        "expired": [one.expired for one in tried],
        "looped": [one.looped for one in tried],
        "verdict": [one.verdict for one in tried],
    }


def prefixes(tried: Sequence[Tried]) -> Columns:
    """A row for each case and each probe that lost packets, or had some that went round."""
    rows = [(one.case.name, route) for one in tried for route in one.routes]
    keys = ("flow", "prefix", "lost", "first_s", "last_s", "connectivity_s", "expired", "looped", "back")
    return {
        "case": [case for case, _ in rows],
        **{key: [getattr(route, key) for _, route in rows] for key in keys},
    }


def routers(tried: Sequence[Tried]) -> Columns:
    """The control plane of the slowest case of each kind: a row for each router that is left."""
    slowest: dict[str, Tried] = {}
    for one in tried:
        if one.control_s is not None:
            known = slowest.get(one.case.kind)
            if known is None or one.control_s > (known.control_s or 0.0):
                slowest[one.case.kind] = one
    rows = [(one.case.name, one.case.kind, *row) for one in slowest.values() for row in one.routers]
    keys = ("case", "kind", "router", "noticed_s", "changed_s")
    return {key: [row[place] for row in rows] for place, key in enumerate(keys)}
