"""The validation page as Markdown, and the cells of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .verdict import FAMILY, Compared, Row

TITLES = ["row", "seed", "quantity", "measured", "expected", "from", "to", ""]
KERNEL_TITLES = [
    "discipline",
    "packets",
    "lost, kernel",
    "lost, ours",
    "same fate",
    "rate, kernel",
    "rate, ours",
    "departures apart, p50",
    "p99",
    "",
]
HEADINGS = {
    "queueing": "Single queues",
    "priority": "Strict priority",
    "meters": "Meters",
    "red": "RED",
    "shares": "Shares of a saturated link",
    "little": "Little's law and conservation",
}
INTRODUCTION = """# Validation of queues, meters and schedulers

Written by `twinplane validate --kernel --page docs/models/validation.md`; run it to see the figures of your
machine. Whole networks in virtual time (source, router, queue, wire, sink) are held against closed forms.
What each discipline does is on [its own page](queues.md); meters are on [theirs](conditioners.md).

*How to read it.* A row with repetitions has an interval around its mean, by Student's t over {n} independent
repetitions, so wide that all {intervals} intervals of the page together hold with {family:.0%} probability if
every theory does (Bonferroni). A row with a bound has one that follows from the discipline, and says why. An
exact row has none.
"""


def number(value: float) -> str:
    """A figure in four digits, a count in all of them."""
    if float(value).is_integer() and abs(value) < 1e7:
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) < 1e5 or abs(value) >= 1e7 else f"{value:.0f}"


def cells(row: Row) -> list[str]:
    """Of a row."""
    ends = ["", ""] if row.kind == "exact" else [number(row.low), number(row.high)]
    holds = "holds" if row.holds else "DOES NOT HOLD"
    return [row.row, str(row.seed), row.quantity, number(row.measured), number(row.expected), *ends, holds]


def kernel_cells(one: Compared) -> list[str]:
    """Of a comparison with the kernel."""
    return [
        one.case,
        str(one.packets),
        str(one.kernel_lost),
        str(one.ours_lost),
        f"{one.same_fate:.2%}",
        f"{one.kernel_bps / 1e6:.3f} Mbit/s",
        f"{one.ours_bps / 1e6:.3f} Mbit/s ({one.rate_residual:+.2%})",
        f"{one.p50_s * 1e6:.0f} us",
        f"{one.p99_s * 1e6:.0f} us",
        "holds" if one.holds else "DOES NOT HOLD",
    ]


def verdict(rows: Sequence[Row], beside: Sequence[Compared]) -> str:
    """In a sentence."""
    bad = sum(not row.holds for row in rows) + sum(not one.holds for one in beside)
    total = len(rows) + len(beside)
    family = f"at {FAMILY:.0%} for the family of all rows and seeds"
    return (
        f"verdict  all {total} rows hold, {family}"
        if not bad
        else f"verdict  {bad} OF {total} ROWS DO NOT HOLD"
    )


def table(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    every = [titles, ["---"] * len(titles), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def markdown(rows: Sequence[Row], beside: Sequence[Compared], seeds: Sequence[int]) -> str:
    """The page."""
    intervals = [row for row in rows if row.kind == "interval"]
    parts = [
        INTRODUCTION.format(n=intervals[0].n if intervals else 0, intervals=len(intervals), family=FAMILY),
        verdict(rows, beside).removeprefix("verdict  ").capitalize()
        + f" (seeds {', '.join(map(str, seeds))}).",
    ]
    for group, heading in HEADINGS.items():
        own = [row for row in rows if row.group == group]
        if not own:
            continue
        sources = list(dict.fromkeys(f"{row.quantity}: {row.source}" for row in own))
        parts.append(f"\n## {heading}\n")
        parts.append(table(TITLES, (cells(row) for row in own)))
        parts.append("\nWhere the expected figures are from: " + "; ".join(sources) + ".")
    if beside:
        parts.append(KERNEL)
        parts.append(table(KERNEL_TITLES, (kernel_cells(one) for one in beside)))
    return "\n".join(parts) + "\n"


KERNEL = """
## Beside the kernel's disciplines

The same packets (Poisson arrivals beyond the rate, 100 to 1,500 bytes, for two seconds) through a qdisc of
the kernel on a veth, and through ours at the times at which they really went in. A row holds if rates
are within 1 % and losses within 5 %. *Same fate*: both sent the packet, or both dropped it; which one is lost
hangs on microseconds, and the kernel's departures are as late as its timer and the machine's other work make
them.
"""
