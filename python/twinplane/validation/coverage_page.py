"""The page on coverage as Markdown, and the cells of its table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .coverage import Covered
from .page import number, wrapped

TITLES = [
    "source",
    "load",
    "time",
    "interval given",
    "truth inside",
    "half width",
    "expected mean",
    "from",
    "",
]
PROMISED, OFF, CHANCE = 0.95, 0.02, 3
"""A coverage is as promised if it is off by no more than this, or than so many standard deviations."""
INTRODUCTION = """# Validation of intervals

This page shows how often the 95 % interval of a flow's mean delay, which `Flow.stats()` and the table
`delays` give, holds the mean that is to be expected. [How tests are made](measurement.md) explains the
method. The page is written by `twinplane validate --coverage {seeds} --page docs/models/intervals.md`.

Each row is one queue without limit on a link of 100 Mbit/s, with packets of 1,000 bytes, and {seeds} seeds.
*Ten Poisson LSPs* share the queue, one stream each. *On-off* is a source at twice the rate of the link, in
bursts of 20 packets on average. *Sawtooth* is a rate that doubles within 40 ms and is halved, again and
again, as that of a TCP connection. *Load* is the share of the time in which the link is busy. *Half width*
is that of the mean interval, as a share of the expected mean. That one is Pollaczek and Khinchine's where
arrivals are Poisson (*theory*), and else the mean of all seeds (*seeds*).

*Interval given* is below 100 % where some of the runs were too short for the correlation that their delays
show. The figures that are left in such a row are those of runs in which the queue happened to be calm. They
cover less than 95 %: from a run alone one can't see what did not happen in it. Run longer where
`no_interval` says so, or where half the interval is more than a third of the mean.
"""


def cells(row: Covered) -> list[str]:
    """Of a row."""
    return [
        row.case.source,
        f"{row.case.load:g}",
        f"{row.case.seconds:g} s",
        f"{row.given / row.seeds:.1%}",
        f"{row.holds / row.given:.1%}" if row.given else "",
        f"{row.width:.1%}",
        number(row.expected_s),
        "theory" if row.exact else "seeds",
        "" if within(row) else "outside",
    ]


def tolerance(count: int) -> float:
    """By how much the coverage of so many intervals may be off."""
    return max(OFF, CHANCE * math.sqrt(PROMISED * (1 - PROMISED) / max(count, 1)))


def within(row: Covered) -> bool:
    """Is the coverage what is promised? Without an interval it is not."""
    return row.given > 0 and abs(row.holds / row.given - PROMISED) <= tolerance(row.given)


def verdict(rows: Sequence[Covered]) -> str:
    """In a sentence."""
    outside = [row for row in rows if not within(row)]
    inside, off = f"{len(rows) - len(outside)} of {len(rows)} rows", tolerance(rows[0].seeds)
    ends = f"{PROMISED - off:.1%} to {min(1.0, PROMISED + off):.1%}"
    words = f"{inside} cover the truth in {ends} of the runs, as far as {rows[0].seeds} seeds tell"
    if not outside:
        return f"verdict  {words}"
    whole = sum(row.given == row.seeds for row in outside)
    return f"verdict  {words}; of the {len(outside)} others {whole} gave an interval in every run"


def markdown(rows: Sequence[Covered]) -> str:
    """The page."""
    lines = [" | ".join(TITLES), " | ".join(["---"] * len(TITLES)), *(" | ".join(cells(row)) for row in rows)]
    said = wrapped(verdict(rows).removeprefix("verdict  ").capitalize() + ".")
    table = "\n".join(f"| {line} |" for line in lines)
    return f"{INTRODUCTION.format(seeds=f'{rows[0].seeds}')}\n{said}\n\n{table}\n"
