"""What LSPs went through, from the log of their transitions."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import frames
from .frames import Columns

if TYPE_CHECKING:
    import polars as pl

    from .handles import Lsp
    from .network import Network


def up_now(log: Columns, group: int, before_ps: int | None = None) -> set[int]:
    """Which LSPs of a group are up, at the end of the log or before a time."""
    up: set[int] = set()
    for at, lsps, index, is_up in zip(log["time_ps"], log["lsps"], log["index"], log["up"], strict=True):
        if lsps != group or (before_ps is not None and at >= before_ps):
            continue
        (up.add if is_up else up.discard)(index)
    return up


def re_established(log: Columns, group: int, from_ps: int) -> dict[int, float | None]:
    """Seconds from each LSP's first loss at or after a time to its return; None for those that stay away."""
    down: dict[int, int] = {}
    back: dict[int, float] = {}
    for at, lsps, index, is_up in zip(log["time_ps"], log["lsps"], log["index"], log["up"], strict=True):
        if lsps != group or at < from_ps:
            continue
        if not is_up:
            down.setdefault(index, at)
        elif index in down and index not in back:
            back[index] = (at - down[index]) / 1e12
    return {index: back.get(index) for index in sorted(down)}


def up_series(
    log: Columns, groups: Sequence[int], bin_ps: int, until_ps: int
) -> tuple[list[float], list[int]]:
    """How many LSPs of some groups are up at the end of every bin."""
    changes = sorted(
        (at, 1 if is_up else -1)
        for at, lsps, is_up in zip(log["time_ps"], log["lsps"], log["up"], strict=True)
        if lsps in groups
    )
    times = [at for at, _ in changes]
    totals = [0]
    for _, change in changes:
        totals.append(totals[-1] + change)
    ends = range(bin_ps, until_ps + 1, bin_ps)
    return [end / 1e12 for end in ends], [totals[bisect.bisect_right(times, end)] for end in ends]


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all values does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    rank = max(1, -(-int(share * len(ordered) * 1_000_000) // 1_000_000))
    return ordered[min(rank, len(ordered)) - 1]


CODES = {
    1: "admission control failure",
    2: "policy control failure",
    3: "no Path information for this Resv",
    4: "no sender information for this Resv",
    5: "conflicting reservation style",
    6: "unknown reservation style",
    7: "conflicting destination ports",
    8: "conflicting sender ports",
    12: "service preempted",
    13: "unknown object class",
    14: "unknown object type",
    21: "traffic control error",
    22: "traffic control system error",
    23: "RSVP system error",
    24: "routing problem",
    25: "notification",
}
"""Error codes: RFC 2205, appendix B; RFC 3209, 7.3."""

VALUES = {
    (1, 1): "delay bound cannot be met",
    (1, 2): "requested bandwidth unavailable",
    (1, 3): "MTU in the flowspec larger than that of the interface",
    (2, 5): "flow was preempted",
    (24, 1): "bad EXPLICIT_ROUTE object",
    (24, 2): "bad strict node",
    (24, 3): "bad loose node",
    (24, 4): "bad initial subobject",
    (24, 5): "no route available toward destination",
    (24, 6): "unacceptable label value",
    (24, 7): "RRO indicated routing loops",
    (24, 8): "MPLS being negotiated, but a non-RSVP-capable router is in the path",
    (24, 9): "MPLS label allocation failure",
    (24, 10): "unsupported L3PID",
    (25, 1): "RRO too large for MTU",
    (25, 2): "RRO notification",
    (25, 3): "tunnel locally repaired",
}
"""Error values of some codes, from the same sections; that of preemption from RFC 2750."""


def error_words(code: int | None, value: int | None) -> str:
    """What an error code and its value mean; nothing for one that is not known."""
    if code not in CODES or value is None:
        return ""
    # RFC 2205, appendix B: of code 1 the low 12 bits are the value.
    detail = VALUES.get((code, value & 0xFFF if code == 1 else value))
    return f"{CODES[code]}, {detail}" if detail else CODES[code]


WORDS = {"lsp-up": "up", "lsp-down": "down", "lsp-error": "error", "lsp-rerouted": "re-routed"}


def history(network: Network, lsp: Lsp) -> pl.DataFrame:
    """Transitions of a group in order of time; those of the tester's edges carry no reason."""
    rows: list[tuple[float, int, str, str]] = []
    events = network.columns("events")
    for at, group, index, event in zip(
        events["time_ps"], events["lsps"], events["index"], events["event"], strict=True
    ):
        if group == lsp.index:
            rows.append((at / 1e12, index, WORDS.get(event["event"], event["event"]), _why(event)))
    log = network.columns("lsp_log")
    for at, group, index, is_up in zip(log["time_ps"], log["lsps"], log["index"], log["up"], strict=True):
        if group == lsp.index:
            rows.append((at / 1e12, index, "up" if is_up else "down", ""))
    rows.sort(key=lambda row: (row[0], row[1]))
    columns: Columns = {
        key: [row[place] for row in rows] for place, key in enumerate(("time_s", "index", "event", "why"))
    }
    return frames.frame(columns)


def _why(event: dict[str, Any]) -> str:
    """The reason that an event carries, in words."""
    if event.get("reason"):
        return str(event["reason"])
    if event["event"] == "lsp-error":
        # RFC 2205, appendix B: code and value say what is wrong.
        said = f"error {event.get('code')}, value {event.get('value')} at {event.get('node')}"
        words = error_words(event.get("code"), event.get("value"))
        return f"{said}: {words}" if words else said
    if event["event"] == "lsp-up":
        route = [str(hop) for hop in event.get("route") or []]
        return f"label {event.get('label')}" + (f" by {' '.join(route)}" if route else "")
    if event["event"] == "lsp-rerouted":
        return f"LSP {event.get('from_lsp')} gave way to {event.get('to_lsp')}"
    return ""
