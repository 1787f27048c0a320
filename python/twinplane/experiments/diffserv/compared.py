"""The rows of `diffserv`: every published figure once, what is said in words, and which are alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...results.points import Point
from ..scores import ABOVE_ZERO, Comparison, Kind, rounding
from .build import ROUTERS
from .parameters import FLOWS, DiffservParameters
from .published import (
    CERTAIN_Z,
    FIGURES,
    as_published,
    closed_form,
    digits_s,
    figure,
    fitted,
    fitted_scenarios,
    nominal,
    proportional,
    published,
)

LIKE = {"mpls": "best-effort", "diffserv-mpls": "diffserv"}
"""What is expected of scenarios with labels: to be like those without."""

SAME_RATIO, SAME_LOSS = 1.25, 0.02
"""Scenarios are alike if mean delays are 80 to 125 % of each other, the customary margin of equivalence, or
differ by no more than a packet's time at each output, and losses differ by at most 2 % of what was sent."""

MPLS_LABEL_BYTES = 4
"""RFC 3032, 2.1."""

ONE_QUEUE = ("best-effort", "mpls")
"""Scenarios in which no queue looks at flows."""


def comparisons(point: Point, lead: str = "") -> list[Comparison]:
    """The rows of a point; `lead` stands before what each is about."""
    p = DiffservParameters.model_validate(point.parameters)
    found: list[Comparison] = []
    if as_published(p):
        for scenario in published():
            if scenario in point.metrics:
                found += _figures(p, point, scenario, lead)
        found += _words(p, point.metrics, lead)
    return [*found, *_alike(p, point.metrics, lead)]


def _figures(p: DiffservParameters, point: Point, scenario: str, lead: str) -> list[Comparison]:
    told, closed = published()[scenario], {}
    if scenario in ONE_QUEUE:
        label = MPLS_LABEL_BYTES if scenario == "mpls" else 0
        closed = closed_form(p, p.counted_bytes + label)
    found = []
    for flow in told:
        if flow not in point.metrics[scenario]:
            continue
        for key, word in FIGURES:
            kind, reason = _kind(p, scenario, flow, key)
            value = told[flow][key]
            low, high = rounding(value, digits_s() if key.endswith("_s") else 0.0)
            spread, source = _further(point, f"{scenario}.{flow}.{key}")
            found.append(
                Comparison(
                    f"{lead}{scenario}: {flow} {word}",
                    "s" if key.endswith("_s") else "packets",
                    kind,
                    value,
                    figure(point.metrics, scenario, flow, key),
                    low - spread,
                    high + spread,
                    f"rounding{source}" if key.endswith("_s") else source.removeprefix(" and ") or "exact",
                    closed.get(f"{flow}.{key}", closed.get(key)),
                    reason=reason,
                )
            )
    return found


def _kind(p: DiffservParameters, scenario: str, flow: str, key: str) -> tuple[Kind, str]:
    told = published()[scenario]
    if key == "dropped" and scenario in ONE_QUEUE:
        even, worst = proportional(told, nominal(p))
        if not even:
            return Kind.CONTRADICTORY, (
                "The paper says that losses are proportional to rates, as they are in a queue that does not"
                f" look at flows. The published ones are not: the farthest flow is {abs(worst):.0f} standard"
                " deviations off."
            )
    if not _as_chosen(p):
        return Kind.OUTSIDE, ""
    if (reason := fitted(scenario, flow, key)) is not None:
        return Kind.FITTED, reason
    return (Kind.INSIDE if scenario in fitted_scenarios() else Kind.OUTSIDE), ""


def _as_chosen(p: DiffservParameters) -> bool:
    """Is everything that the paper leaves open as it is without --set?"""
    free = set(DiffservParameters.model_fields) - {"scenario", "begin_s", "drain_s", "series_bin_ms"}
    return all(getattr(p, field) == DiffservParameters.model_fields[field].default for field in free)


def _further(point: Point, metric: str) -> tuple[float, str]:
    """Half of the 95 % interval for a single further run, which the published one is, from repeated runs.

    The interval of the mean of n runs is t s / sqrt(n) wide to each side, that of a further run
    t s sqrt(1 + 1/n).
    """
    half, known = point.half(metric), point.intervals.get(metric) or {}
    if half is None:
        return 0.0, ""
    return half * math.sqrt(known["n"] + 1), f" and 95 % of single runs, by {known['n']} seeds"


def _words(p: DiffservParameters, m: Mapping[str, Any], lead: str) -> list[Comparison]:
    """What the paper says in words, beyond its figures."""
    found = []
    if "best-effort" in m:
        worst = proportional(m["best-effort"])[1]
        found.append(
            Comparison(
                f"{lead}best-effort: losses of a flow beyond its share, standard deviations",
                "",
                Kind.OUTSIDE,
                None,
                worst,
                -CERTAIN_Z,
                CERTAIN_Z,
                "99 % of chance, four flows together",
                0.0,
                "losses are proportional to rates",
            )
        )
    if "diffserv" in m and set(m["diffserv"]) == set(FLOWS):
        kind = Kind.INSIDE if _as_chosen(p) else Kind.OUTSIDE
        for what, unit, of, claim, low, high in CLAIMS:
            ours = of(m["diffserv"])
            if ours is not None:
                found.append(
                    Comparison(
                        f"{lead}diffserv: {what}", unit, kind, None, ours, low, high, "the sign", claim=claim
                    )
                )
    return found


Flows = Mapping[str, Mapping[str, Any]]


def _apart(d: Flows, flow: str, key: str, least: bool) -> float | None:
    """How far a flow's figure is from the next of the others: from the least, or from the greatest."""
    others = [one[key] for name, one in d.items() if name != flow]
    if d[flow][key] is None or None in others:
        return None
    return float(d[flow][key] - (min(others) if least else max(others)))


LESS, MORE = (-math.inf, -ABOVE_ZERO), (ABOVE_ZERO, math.inf)
"""Below zero, and above."""

CLAIMS: tuple[tuple[str, str, Callable[[Flows], float | None], str, float, float], ...] = (
    (
        "EF mean less the least of the others",
        "s",
        lambda d: _apart(d, "EF", "mean_s", least=True),
        "EF is delayed least",
        *LESS,
    ),
    (
        "DE mean less the greatest of the others",
        "s",
        lambda d: _apart(d, "DE", "mean_s", least=False),
        "DE is delayed most",
        *MORE,
    ),
    (
        "DE dropped less the most of the others",
        "packets",
        lambda d: _apart(d, "DE", "dropped", least=False),
        "DE is dropped most",
        *MORE,
    ),
)
"""What the paper says of DiffServ in words: the figure, its unit, the claim, and where it has to lie."""


def _alike(p: DiffservParameters, m: Mapping[str, Any], lead: str) -> list[Comparison]:
    found = []
    turn_s = len(ROUTERS) * 8 * p.counted_bytes / (p.total_mbps * 1e6)
    for scenario, other in LIKE.items():
        if scenario not in m or other not in m:
            continue
        for flow in m[scenario]:
            x, y = m[scenario][flow], m[other][flow]
            what = f"{lead}{scenario}: {flow}"
            if x["mean_s"] is not None and y["mean_s"] is not None:
                mean = y["mean_s"]
                low, high = min(mean / SAME_RATIO, mean - turn_s), max(mean * SAME_RATIO, mean + turn_s)
                share = f"{1 / SAME_RATIO:.0%} to {SAME_RATIO:.0%}, or within {turn_s * 1e3:.0f} ms"
                found.append(_like(f"{what} mean", "s", other, x["mean_s"], mean, low, high, share))
            near, share = SAME_LOSS * y["sent"], f"within {SAME_LOSS:.0%} of those sent"
            dropped = y["dropped"]
            ends = (dropped - near, dropped + near)
            found.append(_like(f"{what} dropped", "packets", other, x["dropped"], dropped, *ends, share))
    return found


def _like(
    what: str, unit: str, other: str, ours: float, expected: float, low: float, high: float, source: str
) -> Comparison:
    return Comparison(
        f"{what}, beside {other}", unit, Kind.OURS, None, ours, low, high, source, expected, "alike"
    )
