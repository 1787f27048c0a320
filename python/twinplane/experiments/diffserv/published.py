"""Published, predicted and measured side by side: what holds, what differs, and what to think of it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ...metrics import flat
from ..base import Comparison, Point
from .build import ROUTERS
from .parameters import ETHERNET, FCS, FLOWS, UDP_AND_IP, DiffservParameters

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
    return [*found, *_claims(m, lead), *_alike(p, m, lead)]


def _total(p: DiffservParameters, m: Mapping[str, Any], scenario: str, lead: str) -> Comparison:
    told = sum(flow["dropped"] for flow in published()[scenario].values())
    predicted = None if scenario != "best-effort" else closed_form(p)["total"]
    return Comparison(f"{lead}{scenario}: all dropped", "", told, predicted, m["totals"][scenario]["dropped"])


def _claims(m: Mapping[str, Any], lead: str) -> list[Comparison]:
    found = []
    if "best-effort" in m:
        holds, worst = proportional(m["best-effort"])
        found.append(
            Comparison(
                f"{lead}best-effort: losses of a flow beyond its share, standard deviations",
                "",
                proportional(
                    published()["best-effort"],
                    {flow: m["best-effort"][flow]["sent"] for flow in m["best-effort"]},
                )[1]
                if set(m["best-effort"]) == set(FLOWS)
                else None,
                0.0,
                worst,
                "losses are proportional to rates",
                holds,
            )
        )
    if "diffserv" in m and set(m["diffserv"]) == set(FLOWS):
        d = m["diffserv"]
        means = {flow: d[flow]["mean_s"] or 0.0 for flow in FLOWS}
        told = published()["diffserv"]
        lost = d["AF11"]["dropped"] + d["AF12"]["dropped"]
        others = min(means[flow] for flow in FLOWS if flow != "EF")
        found += [
            Comparison(
                f"{lead}diffserv: EF mean less the least of the others",
                "s",
                told["EF"]["mean_s"] - told["AF11"]["mean_s"],
                None,
                means["EF"] - others,
                "EF is delayed least",
                means["EF"] < others,
            ),
            Comparison(
                f"{lead}diffserv: AF11 and AF12 dropped",
                "",
                0.0,
                None,
                lost,
                "no AF packet is lost",
                lost == 0,
            ),
            Comparison(
                f"{lead}diffserv: DE mean less the greatest of the others",
                "s",
                told["DE"]["mean_s"] - told["AF11"]["mean_s"],
                None,
                means["DE"] - max(means[flow] for flow in FLOWS if flow != "DE"),
                "DE is delayed most",
                all(means["DE"] > means[flow] for flow in FLOWS if flow != "DE"),
            ),
            Comparison(
                f"{lead}diffserv: DE dropped less the most of the others",
                "",
                told["DE"]["dropped"] - told["EF"]["dropped"],
                None,
                d["DE"]["dropped"] - max(d[flow]["dropped"] for flow in FLOWS if flow != "DE"),
                "DE is dropped most",
                all(d["DE"]["dropped"] > d[flow]["dropped"] for flow in FLOWS if flow != "DE"),
            ),
        ]
    return found


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
                claim = f"as in {other}: {1 / SAME_RATIO:.0%} to {SAME_RATIO:.0%}, or within"
                f" {turn_s * 1e3:.0f} ms"
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


def arithmetic(p: DiffservParameters) -> list[str]:
    """What a reader needs to judge the figures, with the numbers of these parameters."""
    load = sum(p.rate_kbps(flow) for flow in FLOWS)
    rows = []
    for name, counted in readings(p):
        changed = closed_form(p, counted)
        rows.append(
            f"{counted} bytes ({name}): greatest {changed['max_s']:.3f} s, mean {changed['mean_s']:.3f} s,"
            f" {changed['total']:.0f} dropped"
        )
    told = published()["best-effort"]
    classes = p.ef_rate_mbps + p.af1_rate_mbps + p.de_rate_mbps
    ef = p.packets_per_s("EF") * 8 * p.counted_bytes / 1e6
    af = (p.packets_per_s("AF11") + p.packets_per_s("AF12")) * 8 * p.counted_bytes / 1e6
    gap_s = 8 * p.counted_bytes / 1.2e6
    early = 1 - math.exp(-p.packets_per_s("AF11") * gap_s)
    one_s = 8 * p.counted_bytes / (p.total_mbps * 1e6)
    _, worst = proportional(told, {flow: round(p.rate_kbps(flow) * 30 / 8) for flow in FLOWS})
    return [
        f"The four rates are {load / 1000:.3f} Mbit/s; the paper says about 3.1: counting UDP and IP"
        f" headers around"
        f" 1000 bytes of payload it is {load * (1000 + UDP_AND_IP) / 1e6:.2f}, which is why packets carry"
        f" 1000"
        " bytes here (--set size_counts=ip for packets of 1000 bytes).",
        f"Best effort as a fluid through {p.queue_packets} packets at {p.total_mbps:g} Mbit/s, by what a"
        f" packet counts"
        f" for: {'; '.join(rows)}. Published: {told['EF']['max_s']:.3f} s, {told['EF']['mean_s']:.3f} s,"
        f" {sum(flow['dropped'] for flow in told.values())} dropped. No accounting gives all three.",
        f"A queue that does not look at flows loses of each in proportion to its packets. The published"
        f" losses of"
        f" best effort do not: the farthest flow is {abs(worst):.0f} standard deviations off, far beyond"
        f" chance.",
        f"The classes are given {p.ef_rate_mbps:g} + {p.af1_rate_mbps:g} + {p.de_rate_mbps:g} = {classes:g}"
        f" Mbit/s of {p.total_mbps:g}; the text says 2.0 for AF1, its GRED says 1.0, with which the sum"
        f" is 2.8."
        f" AF offers {af:.3f} Mbit/s as counted here.",
        f"EF offers {ef:.3f} Mbit/s as counted here, {ef / p.ef_rate_mbps:.0%} of its class: without"
        f" borrowing and"
        " without the burst that an idle class may send, its queue would overflow all the time.",
        f"AF11's peak rate of 1.2 Mbit/s is one packet in {gap_s * 1e3:.1f} ms: of Poisson departures"
        f" {early:.0%} come sooner than that, so what exceeds it cannot have been dropped if no AF packet"
        f" was lost.",
        f"A packet takes {one_s * 1e3:.1f} ms at {p.total_mbps:g} Mbit/s, more than the published least"
        f" delay of 1 ms:"
        " an idle class of CBQ sends at the speed of the link. What is left of the 1 ms are the routers"
        " themselves,"
        " which cost nothing here unless a profile says so, and the resolution of the figure.",
    ]


def readings(p: DiffservParameters) -> list[tuple[str, int]]:
    """What a packet may count for, and in which reading."""
    ip = p.packet_bytes
    return [
        ("IP packet of that size", ip),
        ("with Ethernet header", ip + ETHERNET),
        ("payload of that size, IP packet", ip + UDP_AND_IP),
        ("payload, with Ethernet header", ip + UDP_AND_IP + ETHERNET),
        ("payload, frame", ip + UDP_AND_IP + ETHERNET + FCS),
    ]


def differences(points: Sequence[Point]) -> list[str]:
    """What differs from the paper, and the likely reason, for the points that can be compared."""
    found: list[str] = []
    for point in points[:1]:
        p = DiffservParameters.model_validate(point.parameters)
        if not as_published(p) or not {"best-effort", "diffserv"} <= set(point.metrics):
            continue
        be, ds = point.metrics["best-effort"], point.metrics["diffserv"]
        told = published()
        ours, theirs = (
            point.metrics["totals"]["best-effort"]["dropped"],
            sum(f["dropped"] for f in told["best-effort"].values()),
        )
        found.append(
            f"Best effort drops {ours:.0f} packets here and {theirs} there."
            + (
                " The greatest delay agrees, so a full queue drains as fast; then fewer losses mean fewer"
                " packets"
                " sent: a generator that fell a few per cent short of its rates is the likely reason"
                " (--set offered=0.955)."
                if ours > 1.3 * theirs and abs(be["EF"]["max_s"] - 0.298) < 0.01
                else ""
            )
        )
        if ds["AF11"]["mean_s"] < 0.5 * told["diffserv"]["AF11"]["mean_s"]:
            found.append(
                f"AF11 waits {ds['AF11']['mean_s']:.3f} s on average here and 0.127 s there: at"
                f" {p.af1_rate_mbps:g} Mbit/s its class is half empty. Its queue there needs a class of"
                f" about the"
                " load: the 1.0 of its GRED (--set af1_rate_mbps=1)."
            )
        if ds["DE"]["dropped"] > 1.15 * told["diffserv"]["DE"]["dropped"]:
            found.append(
                f"DE loses {ds['DE']['dropped']:.0f} packets here and 769 there: it pays for the bytes of"
                f" headers"
                " that are counted for all flows, and for a generator that sends what it should."
            )
    return found
