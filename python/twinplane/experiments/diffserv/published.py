"""Published, predicted and measured side by side: what holds, what differs, and what to think of it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ...measure.metrics import flat
from ...results.points import Point
from ..base import Comparison
from .build import ROUTERS
from .parameters import FLOWS, DiffservParameters

FIGURES = (
    ("mean_s", "mean"),
    ("max_s", "max"),
    ("min_s", "min"),
    ("jitter_s", "jitter"),
    ("dropped", "dropped"),
)
"""The rows of the published tables."""

LIKE = {"mpls": "best-effort", "diffserv-mpls": "diffserv"}
"""What is predicted of the scenarios whose tables are not given: to be like these."""

SAME_RATIO, SAME_LOSS = 1.25, 0.02
"""Scenarios are alike if mean delays are 80 to 125 % of each other, the customary margin of equivalence, or
differ by no more than a packet's time at each output, and losses differ by at most 2 % of what was sent."""

CERTAIN_Z = 3.02
"""Of a normal distribution: 99 % for the family of four flows lie within (0.25 % each)."""


@cache
def published() -> dict[str, dict[str, dict[str, float]]]:
    """Scenario, flow, figure."""
    found = tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key != "source"}


def figure(metrics: Mapping[str, Any], scenario: str, flow: str, key: str) -> Any:
    """A figure of a flow, if it was measured."""
    return flat(metrics).get(f"{scenario}.{flow}.{key}")


def as_published(p: DiffservParameters) -> bool:
    """Are traffic and duration those of the paper, so that its figures can be laid beside ours?"""
    fields = ("duration_s", "ef_kbps", "af11_kbps", "af12_kbps", "de_kbps", "packet_bytes", "total_mbps")
    return all(getattr(p, field) == DiffservParameters.model_fields[field].default for field in fields)


def comparisons(point: Point, lead: str = "") -> list[Comparison]:
    """Every published figure, what the paper says in words, and what is predicted of scenarios 3 and 4."""
    p = DiffservParameters.model_validate(point.parameters)
    m = point.metrics
    found: list[Comparison] = []
    if as_published(p):
        for scenario, flows in published().items():
            if scenario in m:
                closed = closed_form(p) if scenario == "best-effort" else {}
                found += [
                    Comparison(
                        f"{lead}{scenario}: {flow} {word}",
                        "s" if key.endswith("_s") else "",
                        flows[flow][key],
                        closed.get(f"{flow}.{key}", closed.get(key)),
                        figure(m, scenario, flow, key),
                    )
                    for flow in flows
                    for key, word in FIGURES
                    if flow in m[scenario]
                ]
                found.append(_total(p, m, scenario, lead))
    return [*found, *_claims(p, m, lead), *_alike(p, m, lead)]


def _total(p: DiffservParameters, m: Mapping[str, Any], scenario: str, lead: str) -> Comparison:
    told = sum(flow["dropped"] for flow in published()[scenario].values())
    predicted = None if scenario != "best-effort" else closed_form(p)["total"]
    return Comparison(f"{lead}{scenario}: all dropped", "", told, predicted, m["totals"][scenario]["dropped"])


def _claims(p: DiffservParameters, m: Mapping[str, Any], lead: str) -> list[Comparison]:
    found = []
    told = published() if as_published(p) else None
    if "best-effort" in m:
        holds, worst = proportional(m["best-effort"])
        found.append(
            Comparison(
                f"{lead}best-effort: losses of a flow beyond its share, standard deviations",
                "",
                None if told is None else proportional(told["best-effort"], nominal(p))[1],
                0.0,
                worst,
                "losses are proportional to rates",
                holds,
            )
        )
    if "diffserv" in m and set(m["diffserv"]) == set(FLOWS):
        found += [
            Comparison(
                f"{lead}diffserv: {what}",
                unit,
                None if told is None else of(told["diffserv"]),
                None,
                ours,
                claim,
                holds,
            )
            for what, unit, of, claim, judge in CLAIMS
            if (ours := of(m["diffserv"])) is not None
            for holds in (judge(ours),)
        ]
    return found


Flows = Mapping[str, Mapping[str, Any]]


def _apart(d: Flows, flow: str, key: str, least: bool) -> float | None:
    """How far a flow's figure is from the next of the others: from the least, or from the greatest."""
    others = [one[key] for name, one in d.items() if name != flow]
    if d[flow][key] is None or None in others:
        return None
    return float(d[flow][key] - (min(others) if least else max(others)))


CLAIMS: tuple[tuple[str, str, Callable[[Flows], float | None], str, Callable[[float], bool]], ...] = (
    (
        "EF mean less the least of the others",
        "s",
        lambda d: _apart(d, "EF", "mean_s", least=True),
        "EF is delayed least",
        lambda ours: ours < 0,
    ),
    (
        "AF11 and AF12 dropped",
        "",
        lambda d: d["AF11"]["dropped"] + d["AF12"]["dropped"],
        "no AF packet is lost",
        lambda ours: ours == 0,
    ),
    (
        "DE mean less the greatest of the others",
        "s",
        lambda d: _apart(d, "DE", "mean_s", least=False),
        "DE is delayed most",
        lambda ours: ours > 0,
    ),
    (
        "DE dropped less the most of the others",
        "",
        lambda d: _apart(d, "DE", "dropped", least=False),
        "DE is dropped most",
        lambda ours: ours > 0,
    ),
)
"""What the paper says of DiffServ in words: the figure, its unit, what is claimed, and what that needs."""


def nominal(p: DiffservParameters) -> dict[str, int]:
    """How many packets of each flow the published rates are."""
    return {flow: round(p.rate_kbps(flow) * 1000 * p.duration_s / (8 * p.packet_bytes)) for flow in FLOWS}


def proportional(
    flows: Mapping[str, Mapping[str, Any]], sent: Mapping[str, int] | None = None
) -> tuple[bool, float]:
    """Are losses of flows in one queue shared as their packets are, and by how much is the farthest off?

    A queue that does not look at flows drops whoever comes: given all losses, each is of a flow with the
    probability that its share of the packets gives. The deviation is in standard deviations of that.
    """
    counts = sent or {flow: values["sent"] for flow, values in flows.items()}
    lost, whole = sum(values["dropped"] for values in flows.values()), sum(counts.values())
    worst = 0.0
    for flow, values in flows.items():
        share = counts[flow] / whole if whole else 0.0
        # Those dropped are drawn without replacement from those sent.
        spread = math.sqrt(lost * share * (1 - share) * (1 - lost / whole)) if whole else 0.0
        off = (values["dropped"] - lost * share) / spread if spread else 0.0
        worst = off if abs(off) > abs(worst) else worst
    return abs(worst) <= CERTAIN_Z, worst


def _alike(p: DiffservParameters, m: Mapping[str, Any], lead: str) -> list[Comparison]:
    found = []
    turn_s = len(ROUTERS) * 8 * p.counted_bytes / (p.total_mbps * 1e6)
    for scenario, other in LIKE.items():
        if scenario not in m or other not in m:
            continue
        for flow in m[scenario]:
            x, y = m[scenario][flow], m[other][flow]
            if x["mean_s"] is not None and y["mean_s"] is not None:
                ratio = x["mean_s"] / y["mean_s"]
                near = 1 / SAME_RATIO <= ratio <= SAME_RATIO or abs(x["mean_s"] - y["mean_s"]) <= turn_s
                share = f"{1 / SAME_RATIO:.0%} to {SAME_RATIO:.0%}"
                claim = f"as in {other}: {share}, or within {turn_s * 1e3:.0f} ms"
                what = f"{lead}{scenario}: {flow} mean"
                found.append(Comparison(what, "s", None, y["mean_s"], x["mean_s"], claim, near))
            near = abs(x["dropped"] - y["dropped"]) <= SAME_LOSS * y["sent"]
            claim = f"as in {other}: within {SAME_LOSS:.0%} of those sent"
            what = f"{lead}{scenario}: {flow} dropped"
            found.append(Comparison(what, "", None, y["dropped"], x["dropped"], claim, near))
    return found


def closed_form(p: DiffservParameters, counted_bytes: int | None = None) -> dict[str, float]:
    """Best effort as a fluid: a queue fills at the excess of the load, stays full and loses the excess."""
    served = p.total_mbps * 1e6 / (8 * (counted_bytes or p.counted_bytes))
    offered = {flow: p.packets_per_s(flow) for flow in FLOWS}
    load = sum(offered.values())
    excess = load - served
    filled_s = min(p.queue_packets / excess, p.duration_s) if excess > 0 else 0.0
    lost = max(0.0, excess * (p.duration_s - filled_s))
    depth = excess * filled_s
    mean = depth * (p.duration_s - filled_s / 2) / p.duration_s / served
    found = {"total": lost, "max_s": p.queue_packets / served, "mean_s": mean}
    return {**found, **{f"{flow}.dropped": lost * rate / load for flow, rate in offered.items()}}
