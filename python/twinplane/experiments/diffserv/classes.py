"""The queues of the four routers, and what polices at Gaia, as the paper configures them."""

from __future__ import annotations

import math
from typing import Any

from ... import queues as q
from .parameters import FLOWS, DiffservParameters

BORROWERS = {
    "all": ("EF", "AF1", "DE"),
    "none": (),
    "all-but-ef": ("AF1", "DE"),
    "de-only": ("DE",),
}
"""Which classes are not bounded."""

PRIORITIES = {"descending": (1, 2, 3), "equal": (8, 8, 8)}
"""Of EF, AF1 and DE."""

WORSE = {"EF": "remark default", "AF11": "remark AF12", "AF12": "remark default", "DE": "pass"}
"""What is out of profile, a step down; there is nothing below the default behaviour."""


def output(p: DiffservParameters) -> q.Tree:
    """What every router has in front of every link."""
    root = by_class(p) if p.uses_classes else single(p)
    return q.Tree(accounting=q.Accounting(layer=p.accounting), root=root)


def cbq(
    p: DiffservParameters, classes: dict[str, q.CbqClass], filters: tuple[Any, ...], default: str
) -> q.Cbq:
    """On the link's rate, with the paper's avpkt and allot; below it one bounded class of 2.8 Mbit/s."""
    total = q.CbqClass(
        rate=f"{p.total_mbps} Mbit/s",
        bounded=True,
        maxburst=p.maxburst,
        queue=None if classes else q.Pfifo(limit=p.queue_packets),
    )
    return q.Cbq(
        bandwidth=f"{p.link_mbps} Mbit/s",
        avpkt="1000 B",
        allot="1514 B",
        classes={"total": total, **classes},
        filters=filters,
        default=default,
    )


def single(p: DiffservParameters) -> q.Cbq:
    """Scenarios 1 and 3: everything waits in one queue."""
    return cbq(p, {}, (), "total")


def by_class(p: DiffservParameters) -> q.Cbq:
    """Scenarios 2 and 4: EF, AF1 and DE share it."""
    queues: dict[str, tuple[float, q.Bfifo | q.Gred | q.Red]] = {
        "EF": (p.ef_rate_mbps, ef()),
        "AF1": (p.af1_rate_mbps, af1(p)),
        "DE": (p.de_rate_mbps, de(p)),
    }
    classes = {
        name: q.CbqClass(
            parent="total",
            rate=f"{rate} Mbit/s",
            prio=prio,
            bounded=name not in BORROWERS[p.borrowing],
            maxburst=p.maxburst,
            queue=queue,
        )
        for (name, (rate, queue)), prio in zip(queues.items(), PRIORITIES[p.priorities], strict=True)
    }
    filters = ({"phb": "EF", "class": "EF"}, {"phb": ["AF11", "AF12"], "class": "AF1"})
    return cbq(p, classes, filters, "DE")


def ef() -> q.Bfifo:
    """As published."""
    return q.Bfifo(limit="10 kB")


def af1(p: DiffservParameters) -> q.Gred:
    """As published; probabilities of dropping are not, only that AF12's is higher."""
    return q.Gred(
        bandwidth="1.0 Mbit/s",
        limit="120 kB",
        min="30 kB",
        max="100 kB",
        avpkt="1000 B",
        burst="35 kB",
        queues={
            "AF11": q.GredQueue(probability=probability(p, p.af11_probability, 30_000, 100_000)),
            "AF12": q.GredQueue(probability=probability(p, p.af12_probability, 30_000, 100_000)),
        },
    )


def de(p: DiffservParameters) -> q.Red:
    """As published."""
    return q.Red(
        bandwidth="1.0 Mbit/s",
        limit="120 kB",
        min="10 kB",
        max="100 kB",
        avpkt="1000 B",
        burst="11 kB",
        probability=probability(p, 0.3, 10_000, 100_000),
    )


def probability(p: DiffservParameters, given: float, low: int, high: int) -> float:
    """The greatest probability that is in force.

    What tc hands to the kernel of that time is the logarithm to base 2 of the slope, rounded: the slope is
    the greatest power of two below ``given / (max - min)``, so that 0.3 over 90 kB becomes 0.17.
    """
    if p.red_probability == "exact":
        return given
    slope = given / (high - low)
    return float((high - low) * 2.0 ** (math.ceil(math.log2(slope)) - 1))


def policers(p: DiffservParameters) -> q.Conditioner:
    """What Gaia does to what comes from Aphrodite: rates, bursts and peak rate as published."""
    meters = {
        "EF": q.TokenBucket(rate="1.1 Mbit/s", burst="10 kB"),
        "AF11": q.TokenBucket(rate="0.9 Mbit/s", burst="10 kB", peakrate="1.2 Mbit/s", mtu=p.peak_mtu_bytes),
        "AF12": q.TokenBucket(rate="0.9 Mbit/s", burst="5 kB"),
        "DE": q.TokenBucket(rate="1.5 Mbit/s", burst="15 kB"),
    }
    rules = tuple(
        q.Rule(name=flow, phb="default" if flow == "DE" else flow, meter=meters[flow], red=action(p, flow))
        for flow in FLOWS
    )
    return q.Conditioner(accounting=q.Accounting(layer=p.accounting), rules=rules)


def action(p: DiffservParameters, flow: str) -> str:
    """What becomes of a flow's packets that are out of profile."""
    if p.out_of_profile == "by-class":
        # RFC 2597, 6: a higher drop precedence; RFC 3247, 2.2: EF in excess is discarded.
        return "remark AF12" if flow == "AF11" else "drop"
    return WORSE[flow] if p.out_of_profile == "remark" else p.out_of_profile
