"""The page that lays TCP beside the kernel's, as Markdown, and the cells of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..page import table, wrapped
from .beside import ATTEMPTS, Course, Pair
from .settings import LOSSLESS_WITHIN, LOSSY_WITHIN

TITLES = [
    "setting",
    "completion, kernel",
    "ours",
    "throughput",
    "in round trips",
    "sent again, kernel",
    "ours",
    "round trip, kernel",
    "ours",
    "attempts",
    "",
]
PARTS = 12
"""Of the time of a transfer, in the table of what was in flight."""
IN_FLIGHT_TITLES = ["setting", "", *(str(part) for part in range(1, PARTS + 1))]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"


def cells(pair: Pair) -> list[str]:
    """Of a setting."""
    ours, kernel = pair.ours, pair.kernel
    return [
        pair.setting.name,
        f"{kernel.completion_s:.3f} s",
        f"{ours.completion_s:.3f} s ({_share(pair.completion)})",
        _share(pair.throughput),
        _share(pair.in_round_trips),
        str(kernel.retransmitted),
        str(ours.retransmitted),
        f"{kernel.round_trip_s * 1e3:.1f} ms",
        f"{ours.round_trip_s * 1e3:.1f} ms",
        str(pair.attempts),
        word(pair),
    ]


def as_dict(pair: Pair) -> dict[str, Any]:
    """Of a setting, for JSON."""
    courses = {
        name: {
            "completion_s": course.completion_s,
            "retransmitted": course.retransmitted,
            "round_trip_s": course.round_trip_s,
            "in_flight": course.in_flight,
        }
        for name, course in (("kernel", pair.kernel), ("ours", pair.ours))
    }
    apart = {
        "completion": pair.completion,
        "in_round_trips": pair.in_round_trips,
        "throughput": pair.throughput,
        "within": pair.setting.within,
    }
    return {"setting": pair.setting.name, **courses, **apart, "attempts": pair.attempts, "holds": pair.holds}


def word(pair: Pair) -> str:
    """The verdict on a setting."""
    if pair.setting.within is None:
        return "no bound"
    if pair.holds:
        return "holds"
    return "MACHINE TOO BUSY" if pair.disturbed else "DOES NOT HOLD"


def in_flight_cells(pair: Pair) -> list[list[str]]:
    """What was in flight by the kernel, and below it by ours: the most in each part of the kernel's time."""

    def line(course: Course) -> list[str]:
        most = course.most(PARTS, pair.kernel.completion_s)
        return ["" if count is None else f"{count:.0f}" for count in most]

    return [[pair.setting.name, "kernel", *line(pair.kernel)], ["", "ours", *line(pair.ours)]]


def verdict(pairs: Sequence[Pair]) -> str:
    """In a sentence."""
    bound = [pair for pair in pairs if pair.setting.within is not None]
    bad = sum(not pair.holds for pair in bound)
    if bad:
        return f"verdict  {bad} OF {len(bound)} SETTINGS DO NOT HOLD"
    lossy = sum(pair.setting.kind == "loss" for pair in bound)
    return (
        f"verdict  all {len(bound)} settings with a bound hold: {len(bound) - lossy} without loss within"
        f" {LOSSLESS_WITHIN:.0%}, {lossy} with loss within {LOSSY_WITHIN:.0%}"
    )


def markdown(pairs: Sequence[Pair], figure: str) -> str:
    """The page; `figure` is the file with the picture, as the page names it."""
    lines = [line for pair in pairs for line in in_flight_cells(pair)]
    said = verdict(pairs).removeprefix("verdict  ").capitalize()
    parts = [
        INTRODUCTION,
        wrapped(f"{said}."),
        "",
        table(TITLES, map(cells, pairs)),
        IN_FLIGHT,
        table(IN_FLIGHT_TITLES, lines),
        f"{FIGURE}\n![Segments in flight over time, the kernel's and ours]({figure})",
        DIFFERENCES,
    ]
    return "\n".join(parts)


INTRODUCTION = f"""# TCP beside the kernel's

This page shows how near [TCP in virtual time](tcp.md) comes to the TCP of a Linux kernel, setting by
setting. It is written by `twinplane validate --tcp --page docs/models/tcp-kernel.md`, which needs root.

Each setting is one transfer from host `left` through two routers to host `right`. A network file describes
it. The same file is run in virtual time, where both hosts have our TCP, and is brought up as a lab, where
both hosts are namespaces with the kernel's TCP. There each router is a process of Twinplane that keeps
rate, delay and queue of the link by the clock.

*What is set alike.* The congestion control, segments of 1,024 bytes, a congestion window that begins with
two segments, the window of the receiver, selective acknowledgements offered or not, no timestamps, a least
retransmission timeout of 1 s, each segment acknowledged at once (one setting aside). The kernel's ways of
recovering that ours does not have are off: RACK, tail loss probes, F-RTO, notification of congestion. Its
hosts leave no segmentation to the interface (TSO, GSO), and none is put together again (GRO).

*How to read it.* Completion is the time from the first SYN to the last byte read. Throughput is that of the
second and the third quarter of the bytes, as the sender sees them acknowledged; a short transfer has none.
In brackets and in the column *throughput* stands by how much ours is above the kernel's. A setting holds if
both are within {LOSSLESS_WITHIN:.0%}, or within {LOSSY_WITHIN:.0%} where packets are lost, in one of at
most {ATTEMPTS} attempts. Rows with *no bound* show where the two differ by more, and why is said below.
Where the window limits, the column *in round trips* compares completion over the mean round-trip time: what
is left of the difference when the lab's delays are taken out. A lab whose round trips are longer by
{LOSSLESS_WITHIN:.0%} is on a machine that is too busy.
"""

IN_FLIGHT = f"""
## What was in flight

The most segments in flight in each of {PARTS} equal parts of the kernel's completion time. Ours are counted
exactly. The kernel is asked every 5 ms: a part of a short transfer may lack a figure, and a peak may be
missed.
"""

FIGURE = """
Over time, where packets are lost:
"""

DIFFERENCES = """
## Differences, and why

- *Without loss* ours is faster by as much as its round trips are shorter. A lab's routers are processes,
  which wake a fraction of a millisecond late at each link; virtual time has no such delay. Counted in round
  trips the two agree to a few thousandths.
- *Single losses* are mended alike: one segment sent again after three duplicate acknowledgements. Meanwhile
  the kernel reduces what is in flight step by step; ours sends nothing until half of the window has been
  acknowledged (RFC 5681, 3.2). The first loss does not make the kernel slower: its congestion window had
  grown to twice the window of the receiver, and half of that still fills this one. Ours halves what is in
  flight (RFC 5681, 3.1, equation 4). Which packets are lost is drawn by their number on the link from the
  same stream, but the lab's link has carried some before.
- *Several losses in a window*, as from a queue that overflows in slow start or where 1 of 100 packets is
  lost: the kernel mends one in each round trip by partial acknowledgements (RFC 6582, 3.2). Ours does not
  know these. It waits for the timeout, a second at least, and sends again all that was in flight, what had
  arrived included.
- *The end of a long transfer*: as soon as the program has closed the connection, our TCP sends short
  segments, too, whenever the window grows by a few bytes. A queue that counts packets overflows by them. In
  the settings with a queue of 25 packets this is the second of their timeouts; with CUBIC there is a third,
  where two packets were lost at once.
- *CUBIC of the kernel* leaves slow start when it sees the round-trip time grow (HyStart), in some runs and
  not in others: over the queue of 25 packets it sent 9 to 54 segments again. Ours does not do that.
- *Deferred acknowledgements*: ours widens the window by a segment for each acknowledgement (RFC 5681, 3.1),
  which is by half in a round trip if each second segment is acknowledged. The kernel adds as many segments
  as were acknowledged, and its receiver does not defer the first acknowledgements of a connection. So our
  slow start takes longer.
"""
