"""What LSPs went through, from the log of their transitions."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import core, frames
from ..frames import Columns

if TYPE_CHECKING:
    import polars as pl

    from .handles import Lsp
    from .tables import Tables


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


def error_words(code: int | None, value: int | None) -> str:
    """What an error code of RSVP and its value mean; of a code that is not known its number.

    Of RFC 2205 (appendix B), RFC 2750, RFC 3209 (7.3) and RFC 3270 (5.5).
    """
    if code is None or value is None:
        return ""
    words = core.load().error_words(code, value)
    return f"error {code}, value {value}" if words is None else str(words).replace(": ", ", ", 1)


UP_BIN_PS = 10**10
"""Width of the bins of `up_over_time`."""


def up_over_time(tables: Tables) -> Columns | None:
    """How many LSPs are up over time, from the events of routers and the log of edges; None if none was."""
    events, log = tables.columns("events"), tables.columns("lsp_log")
    merged: Columns = {key: list(log[key]) for key in ("time_ps", "lsps", "index", "up")}
    for at, group, index, event in zip(
        events["time_ps"], events["lsps"], events["index"], events["event"], strict=True
    ):
        if group is not None and event["event"] in ("lsp-up", "lsp-down"):
            for key, value in (
                ("time_ps", at),
                ("lsps", group),
                ("index", index),
                ("up", event["event"] == "lsp-up"),
            ):
                merged[key].append(value)
    if not merged["time_ps"]:
        return None
    end_ps = max(UP_BIN_PS, round(tables.now * 1e12))
    times, up = up_series(merged, range(len(tables.lsps)), UP_BIN_PS, end_ps)
    return {"time_s": times, "up": up}


WORDS = {
    "lsp-up": "up",
    "lsp-down": "down",
    "lsp-error": "error",
    "lsp-no-path": "no path",
    "lsp-rerouted": "re-routed",
    "lsp-standby-up": "standby up",
    "lsp-standby-down": "standby down",
    "lsp-standby-no-path": "no path for standby",
}


def history(tables: Tables, lsp: Lsp) -> pl.DataFrame:
    """Transitions of a group in order of time; those of the tester's edges carry no reason."""
    rows: list[tuple[float, int, str, str]] = []
    events = tables.part("events", lsp.index)
    for at, group, index, event in zip(
        events["time_ps"], events["lsps"], events["index"], events["event"], strict=True
    ):
        if group == lsp.index:
            rows.append((at / 1e12, index, WORDS.get(event["event"], event["event"]), _why(event, tables)))
    log = tables.columns("lsp_log")
    for at, group, index, is_up in zip(log["time_ps"], log["lsps"], log["index"], log["up"], strict=True):
        if group == lsp.index:
            rows.append((at / 1e12, index, "up" if is_up else "down", ""))
    rows.sort(key=lambda row: (row[0], row[1]))
    columns: Columns = {
        key: [row[place] for row in rows] for place, key in enumerate(("time_s", "index", "event", "why"))
    }
    return frames.frame(columns)


def _why(event: dict[str, Any], tables: Tables) -> str:
    """The reason that an event carries, in words."""
    if event.get("reason"):
        return str(event["reason"])
    if event["event"] == "lsp-error":
        # RFC 2205, appendix B: code and value say what is wrong.
        code, value = event.get("code"), event.get("value")
        said, words = f"error {code}, value {value}", error_words(code, value)
        where = f"{said} at {tables.named(event.get('node'))}"
        return where if words in ("", said) else f"{where}: {words}"
    if event["event"] == "lsp-up":
        route = [str(hop) for hop in event.get("route") or []]
        return f"label {event.get('label')}" + (f" by {' '.join(route)}" if route else "")
    if event["event"] == "lsp-standby-up":
        return f"LSP {event.get('lsp_id')} stands by"
    if event["event"] == "lsp-rerouted":
        return f"LSP {event.get('from_lsp')} gave way to {event.get('to_lsp')}"
    return ""
