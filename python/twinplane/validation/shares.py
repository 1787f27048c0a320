"""Shares of a saturated link: CBQ, HTB and DRR by weight, and rates that are not exceeded."""

from __future__ import annotations

from typing import Any

from .bed import RATE_BPS, Stream, queues, run
from .verdict import Measured

CLASSES = (("gold", "EF", 5, 300), ("silver", "AF21", 2, 1500), ("bronze", "BE", 1, 700))
"""Name, behaviour, weight, size of packets."""
TOTAL = sum(weight for _, _, weight, _ in CLASSES)
SECONDS = 4.0
MTU_FRAME = 1514


def _filters() -> list[dict[str, str]]:
    return [{"phb": behaviour, "class": name} for name, behaviour, _, _ in CLASSES[:-1]]


def _streams() -> list[Stream]:
    """Each flow alone would fill the link."""
    return [Stream(name, 1.1 * RATE_BPS, size, behaviour) for name, behaviour, _, size in CLASSES]


def _leaf() -> Any:
    return queues.Pfifo(limit=100)


def _measured(discipline: str, tree: Any, seed: int, slack_bytes: float, source: str) -> list[Measured]:
    seen = run(seed, tree, _streams(), SECONDS, warm=0)
    sent = {name: seen.queues[f"root/{name}"]["sent_bytes"] for name, *_ in CLASSES}
    total = sum(sent.values())
    return [
        Measured(
            f"{discipline}, weight {weight} of {TOTAL}",
            "share of bytes",
            (sent[name] / total,),
            weight / TOTAL,
            kind="bound",
            tolerance=slack_bytes / total,
            source=source,
        )
        for name, _, weight, _ in CLASSES
    ]


def drr(seed: int) -> list[Measured]:
    """Quanta by weight: no class is ahead of another by more than a turn and a packet."""
    quantum = MTU_FRAME
    tree = queues.Drr(
        classes={
            name: queues.DrrClass(quantum=weight * quantum, queue=_leaf()) for name, _, weight, _ in CLASSES
        },
        filters=_filters(),
        default="bronze",
    )
    slack = (TOTAL + 3) * quantum
    return _measured(
        "DRR", tree, seed, slack, "Shreedhar and Varghese 1995, theorem 2, derived: a turn and a packet"
    )


def htb(seed: int) -> list[Measured]:
    """Guaranteed rates by weight that add up to the link's, which has to be shared to the byte."""
    rate = 0.9 * RATE_BPS
    tree = queues.Htb(
        classes={
            "all": queues.HtbClass(rate=rate, ceil=rate),
            **{
                name: queues.HtbClass(parent="all", rate=rate * weight / TOTAL, ceil=rate, queue=_leaf())
                for name, _, weight, _ in CLASSES
            },
        },
        filters=_filters(),
        default="bronze",
    )
    seen = run(seed, tree, _streams(), SECONDS, warm=0)
    paths = {row.rsplit("/", 1)[-1]: row for row in seen.queues}
    sent = {name: seen.queues[paths[name]]["sent_bytes"] for name, *_ in CLASSES}
    total = sum(sent.values())
    return [
        Measured(
            f"HTB, weight {weight} of {TOTAL}",
            "share of bytes",
            (sent[name] / total,),
            weight / TOTAL,
            kind="bound",
            tolerance=0.01 * weight / TOTAL,
            source="assured rates; 1 %, not derived: bursts at the start and quanta of what is borrowed",
        )
        for name, _, weight, _ in CLASSES
    ] + [
        Measured(
            "HTB, all classes together",
            "rate (bit/s)",
            (total * 8 / SECONDS,),
            rate,
            kind="bound",
            tolerance=0.002 * rate,
            source="ceiling of the parent; 0.2 %, not derived: its burst at the start",
        )
    ]


def cbq(seed: int) -> list[Measured]:
    """Bounded classes get their rates; classes that borrow all they send get shares by weight."""
    rates = {name: 0.8 * RATE_BPS * weight / TOTAL for name, _, weight, _ in CLASSES}
    bounded = queues.Cbq(
        bandwidth=RATE_BPS,
        avpkt=1000,
        classes={
            name: queues.CbqClass(
                rate=rates[name], bounded=True, avpkt=size, maxburst=MAXBURST, queue=_leaf()
            )
            for name, _, _, size in CLASSES
        },
        filters=_filters(),
        default="bronze",
    )
    alone = [run(seed, bounded, [stream], SECONDS, warm=0) for stream in _streams()]
    seen = run(seed, bounded, _streams(), SECONDS, warm=0)
    return (
        [
            Measured(
                f"CBQ, bounded class of weight {weight} of {TOTAL}, alone",
                "rate (bit/s)",
                (by_itself.queues[f"root/{name}"]["sent_bytes"] * 8 / SECONDS,),
                rates[name],
                kind="bound",
                tolerance=(MAXBURST + 1) * size * 8 / SECONDS,
                source=f"rate of the class; derived: maxburst and a packet at the start, {size} bytes each",
            )
            for (name, _, weight, size), by_itself in zip(CLASSES, alone, strict=True)
        ]
        + [
            Measured(
                f"CBQ, bounded class of weight {weight} of {TOTAL}, beside the others",
                "rate (bit/s)",
                (seen.queues[f"root/{name}"]["sent_bytes"] * 8 / SECONDS,),
                rates[name],
                kind="bound",
                tolerance=0.02 * rates[name],
                source=BESIDE,
            )
            for name, _, weight, _ in CLASSES
        ]
        + _measured("CBQ, borrowing", _lending(), seed, 0.01 * RATE_BPS / 8 * SECONDS, LENT)
    )


MAXBURST = 20
BESIDE = (
    "rate of the class; 2 %, not derived: the estimator averages idle times, which vary when packets wait"
    " behind longer ones of other classes. A class of short packets then gets less (1.6 % here, whatever"
    " maxburst is; but 0.1 to 0.3 % more when packets of all classes are as long), the others up to 1.2 %"
    " more"
)
LENT = (
    "rounds of allot by weight (Floyd and Jacobson 1995, 3.3); 1 % of the link, not derived: turns do not end"
    " with the run"
)


def _lending() -> Any:
    """Classes with next to no rate of their own, that may borrow the whole link."""
    return queues.Cbq(
        bandwidth=RATE_BPS,
        avpkt=1000,
        classes={
            name: queues.CbqClass(rate=RATE_BPS / 1000, weight=weight * RATE_BPS / 8, queue=_leaf())
            for name, _, weight, _ in CLASSES
        },
        filters=_filters(),
        default="bronze",
    )
