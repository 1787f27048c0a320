"""What a reader needs to judge the figures: what differs from the paper and why, and what can be computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...results.points import Point
from .parameters import ETHERNET, FCS, FLOWS, UDP_AND_IP, DiffservParameters
from .published import as_published, closed_form, nominal, proportional, published

FAR = 1.3
"""By what factor a figure has to differ from a published one for a sentence about it."""


def critique(point: Point) -> list[str]:
    """Sentences with the numbers of a point."""
    p = DiffservParameters.model_validate(point.parameters)
    return [*differences(p, point.metrics), *arithmetic(p)]


def differences(p: DiffservParameters, m: Mapping[str, Any]) -> list[str]:
    """What differs from the paper, and the likely reason."""
    if not as_published(p):
        return []
    found = []
    told = published()
    if "best-effort" in m:
        ours, theirs = m["totals"]["best-effort"]["dropped"], _dropped(told["best-effort"])
        text = f"Best effort drops {ours:.0f} packets here and {theirs} there."
        drains = (m["best-effort"].get("EF") or {}).get("max_s")
        if (
            ours > FAR * theirs
            and drains is not None
            and abs(drains - told["best-effort"]["EF"]["max_s"]) < 0.01
        ):
            text += (
                " The greatest delay agrees, so a full queue drains as fast there: fewer losses then mean"
                " that fewer packets were sent. A generator 4 or 5 % short of its rates (--set offered=0.955)"
                " gives the published delays and about the published losses."
            )
        found.append(text)
    if "diffserv" in m and set(m["diffserv"]) == set(FLOWS):
        found += _of_classes(p, m["diffserv"], told["diffserv"])
    if {"best-effort", "diffserv"} <= set(m):
        totals = {scenario: m["totals"][scenario]["dropped"] for scenario in ("best-effort", "diffserv")}
        if totals["diffserv"] < totals["best-effort"]:
            found.append(
                f"The same packets lose {totals['best-effort']:.0f} of them without classes and"
                f" {totals['diffserv']:.0f} with them, whose queues are longer. There it is the other way"
                f" round ({_dropped(told['best-effort'])} and {_dropped(told['diffserv'])}): the two"
                f" published tables were hardly made with the same packets."
            )
    return found


def _of_classes(p: DiffservParameters, ours: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    found = []
    af, de = ours["AF11"]["mean_s"], ours["DE"]["mean_s"]
    if af is not None and af < told["AF11"]["mean_s"] / FAR**2:
        found.append(
            f"AF11 waits {af:.3f} s on average here and {told['AF11']['mean_s']} s there: a class of"
            f" {p.af1_rate_mbps:g} Mbit/s has room for it as its packets are counted here. The published"
            f" delay needs a class of about the load: the 1.0 Mbit/s of its GRED, and packets counted with"
            f" their headers."
        )
    if de is not None and not told["DE"]["mean_s"] / FAR <= de <= told["DE"]["mean_s"] * FAR:
        found.append(
            f"DE waits {de:.3f} s on average here and {told['DE']['mean_s']} s there: RED's average settles"
            f" where its drops balance the excess, so that the drop probability in force (red_probability)"
            f" and the bytes that count (accounting) decide."
        )
    return found


def _dropped(flows: Mapping[str, Mapping[str, Any]]) -> int:
    return int(sum(flow["dropped"] for flow in flows.values()))


def arithmetic(p: DiffservParameters) -> list[str]:
    """What can be known beforehand, with the numbers of these parameters."""
    told = published()["best-effort"]
    load = sum(p.rate_kbps(flow) for flow in FLOWS)
    with_headers = load * (1000 + UDP_AND_IP) / 1e6
    classes = p.ef_rate_mbps + p.af1_rate_mbps + p.de_rate_mbps
    ef = p.packets_per_s("EF") * 8 * p.counted_bytes / 1e6
    af = (p.packets_per_s("AF11") + p.packets_per_s("AF12")) * 8 * p.counted_bytes / 1e6
    gap_s = 8 * p.counted_bytes / 1.2e6
    early = 1 - math.exp(-p.packets_per_s("AF11") * gap_s)
    one_s = 8 * p.counted_bytes / (p.total_mbps * 1e6)
    _, worst = proportional(told, nominal(DiffservParameters.model_validate({})))
    return [
        f"The four rates are {load / 1000:.3f} Mbit/s, and the paper says about 3.1: with UDP and IP headers"
        f" around 1000 bytes of payload it is {with_headers:.2f}. That is why packets carry 1000 bytes here"
        " (--set size_counts=ip for IP packets of 1000 bytes).",
        f"Best effort as a fluid through {p.queue_packets} packets at {p.total_mbps:g} Mbit/s, by what a"
        f" packet counts for: {'; '.join(_readings(p))}. Published: {told['EF']['max_s']:.3f} s,"
        f" {told['EF']['mean_s']:.3f} s, {_dropped(told)} dropped. No accounting gives all three.",
        "A queue that does not look at flows loses of each in proportion to its packets. The published losses"
        f" of best effort do not: the farthest flow is {abs(worst):.0f} standard deviations off, far beyond"
        f" chance.",
        f"The classes are given {p.ef_rate_mbps:g} + {p.af1_rate_mbps:g} + {p.de_rate_mbps:g} = {classes:g}"
        f" Mbit/s of {p.total_mbps:g}. For AF1 the text says 2.0 and its GRED 1.0, with which the sum is 2.8."
        f" AF offers {af:.3f} Mbit/s as counted here.",
        f"EF offers {ef:.3f} Mbit/s as counted here, {ef / p.ef_rate_mbps:.0%} of its class: without"
        f" borrowing, its 10 kB overflow whenever it sends more than its average for a while.",
        f"AF11's peak rate of 1.2 Mbit/s is one packet in {gap_s * 1e3:.1f} ms. Of Poisson departures"
        f" {early:.0%} come sooner than that: had they been dropped, AF would have lost a thousand packets.",
        f"A packet takes {one_s * 1e3:.1f} ms at {p.total_mbps:g} Mbit/s, more than the published least delay"
        f" of 1 ms: an idle class of CBQ sends at the speed of the link. The rest of that millisecond is"
        f" routers and host, which cost nothing here unless a profile says so, and the resolution of the"
        f" figure.",
    ]


def _readings(p: DiffservParameters) -> list[str]:
    ip = p.packet_bytes
    counts = (
        ("an IP packet of that size", ip),
        ("the same with Ethernet header", ip + ETHERNET),
        ("the IP packet around such a payload", ip + UDP_AND_IP),
        ("that with Ethernet header", ip + UDP_AND_IP + ETHERNET),
        ("and frame check sequence", ip + UDP_AND_IP + ETHERNET + FCS),
    )
    found = []
    for name, counted in counts:
        fluid = closed_form(p, counted)
        found.append(
            f"{counted} bytes ({name}): greatest {fluid['max_s']:.3f} s, mean {fluid['mean_s']:.3f} s,"
            f" {fluid['total']:.0f} dropped"
        )
    return found
