"""The validation page as Markdown, and the cells of its tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from .verdict import (
    ATTEMPTS,
    FAMILY,
    LATE_S,
    LOSSES_APART,
    LOSSES_WITHIN,
    RATE_WITHIN,
    STALLED,
    STATISTICAL,
    Compared,
    Row,
)

TITLES = ["row", "seed", "quantity", "judged", "measured", "expected", "from", "to", ""]
JUDGED = {
    "interval": "interval",
    "chi-square": "goodness of fit",
    "bound": "bound",
    "exact": "exact",
}
"""How a row is judged, by its kind."""
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
    "attempts",
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

This page shows how far queues, meters and schedulers agree with theory and with the disciplines of the
kernel. It is written by `twinplane validate --kernel --page docs/models/validation.md`; run that command to
see the figures of your machine. Whole networks in virtual time (source, router, queue, wire, sink) are
compared with closed forms. [Queues](queues.md) explains what each discipline does, and [Classifiers and
conditioners](conditioners.md) explains the meters.

*How to read it.* The column *judged* says how a row is judged.

- *interval*: statistical. *From* and *to* enclose the mean of {n} independent repetitions, by Student's t.
  The expected figure has to lie between them.
- *goodness of fit*: statistical. The measured figure is Pearson's chi-square over cells of equal
  probability. The expected figure is its degrees of freedom. Chance exceeds *to* as rarely as it misses an
  interval.
- *bound*: not statistical. *From* and *to* are a tolerance around the expected figure. Below each table
  stands where the tolerance comes from, and whether it is derived.
- *exact*: measured and expected have to be equal.

If every theory is right, the {statistical} statistical rows all hold together with a probability of at
least {family:.0%} (Bonferroni over rows and seeds). This says nothing about the other rows.
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
    figures = [number(row.measured), number(row.expected)]
    return [row.row, str(row.seed), row.quantity, JUDGED[row.kind], *figures, *ends, holds]


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
        str(one.attempts),
        one.word,
    ]


def verdict(rows: Sequence[Row], beside: Sequence[Compared]) -> str:
    """In a sentence."""
    bad = sum(not row.holds for row in rows) + sum(not one.holds for one in beside)
    total = len(rows) + len(beside)
    if bad:
        return f"verdict  {bad} OF {total} ROWS DO NOT HOLD"
    statistical = sum(row.kind in STATISTICAL for row in rows)
    kinds = [(sum(row.kind == kind for row in rows), words) for kind, words in OTHERS.items()]
    parts = [f"{statistical} statistical ones at {FAMILY:.0%} for their family, all seeds together"]
    parts += [f"{count} {words}" for count, words in kinds]
    parts += [f"{len(beside)} beside the kernel's disciplines"] if beside else []
    return f"verdict  all {total} rows hold: {', '.join(parts)}"


OTHERS = {"exact": "exactly", "bound": "within a stated bound"}


def table(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    every = [titles, ["---"] * len(titles), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def wrapped(text: str, rest: str = "") -> str:
    """A paragraph in lines; all but the first begin with `rest`."""
    return textwrap.fill(text, 116, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def markdown(rows: Sequence[Row], beside: Sequence[Compared], seeds: Sequence[int]) -> str:
    """The page."""
    counts = sorted({row.n for row in rows if row.kind == "interval"})
    statistical = sum(row.kind in STATISTICAL for row in rows)
    parts = [
        INTRODUCTION.format(n=" or ".join(map(str, counts)) or "no", statistical=statistical, family=FAMILY),
        wrapped(
            verdict(rows, beside).removeprefix("verdict  ").capitalize()
            + f" (seeds {', '.join(map(str, seeds))})."
        ),
    ]
    for group, heading in HEADINGS.items():
        own = [row for row in rows if row.group == group]
        if not own:
            continue
        parts.append(f"\n## {heading}\n")
        parts.append(table(TITLES, (cells(row) for row in own)))
        parts.append("\nWhere expected figures and bounds are from:\n")
        parts += [wrapped(f"- {said}.", "  ") for said in sources(own)]
    if beside:
        parts.append(KERNEL)
        parts.append(table(KERNEL_TITLES, (kernel_cells(one) for one in beside)))
    return "\n".join(parts) + "\n"


def sources(rows: Iterable[Row]) -> list[str]:
    """Where figures of a table are from, each once: by kind of row and quantity."""
    found = (
        f"{row.row.partition(',')[0]}, {row.quantity.partition(' of ')[0]} ({JUDGED[row.kind]}): {row.source}"
        for row in rows
    )
    return list(dict.fromkeys(found))


KERNEL = f"""
## Beside the kernel's disciplines

Each row sends the same packets (Poisson arrivals beyond the rate, 100 to 1,500 bytes, for two seconds)
through a qdisc of the kernel on a veth, and through our discipline at the times at which they really went
into the kernel's. A row holds if rates are within {RATE_WITHIN:.0%} and losses within {LOSSES_WITHIN:.0%}
or {LOSSES_APART} packets, whichever is more, in one of at most {ATTEMPTS} attempts. The figures are those
of the last attempt.

*Same fate* means that both sent the packet, or both dropped it. Which packet is lost depends on
microseconds, and the kernel's departures are as late as its timer and the machine's other work make them.
These rows are neither statistical nor exact. If other work keeps the kernel from its timer for tens of
milliseconds, the kernel sends less than the rate, and the attempt says nothing about the discipline. An
attempt counts as disturbed if one packet in a hundred went in more than {LATE_S * 1e3:.0f} ms late, or if the
kernel sent nothing for more than {STALLED:.1%} of the time though packets waited. A row whose last attempt
was disturbed and did not hold says so. So run these rows on an idle machine.
"""
