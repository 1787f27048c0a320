"""Tables of who was hurt: each class, each flow, each failure, and LSPs; the most hurt first."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from ..charts import Chart
from ..charts.table import Table
from ..units import format_time
from .harm import Effect, Outage, by_class, effects, lsps_hurt, outages, ranked
from .headline import done, exact
from .page import Section
from .story import FlowSeen, Story

ROWS_MAX = 50
"""Of a longer table the most hurt stand on the page."""
WHOLE_MAX = 20_000
"""So many rows at most are put into the page as a file."""


def sections(story: Story, close_up: Chart | None = None) -> list[Section]:
    """Whom failures hurt: classes and flows; then what each failure did, and LSPs that went down.

    `close_up` is a figure of the first failure.
    """
    if not story.flows:
        return []
    flows = outages(story)
    tables = [_classes(story, flows), _flows(story, flows)]
    failed = effects(story)
    if failed:
        tables.append(_failures(failed, story))
    title = "Who lost what, and for how long" if failed or story.losses else "What was sent and what arrived"
    points = [account(story), *_notes(story, bool(failed))]
    return [Section(title, charts=[close_up] if close_up else [], tables=tables, points=points)]


def _classes(story: Story, flows: Sequence[Outage]) -> Table:
    rows = by_class(story, flows)
    columns = _columns(story, rows, of_class=True)
    cells = [[cell(one) for _, cell in columns] for one in rows]
    summed = [cell(_together(story, flows)) for _, cell in columns] if len(rows) > 1 else []
    return Table("Classes, most hurt first", [title for title, _ in columns], cells, total=summed)


def total(story: Story) -> FlowSeen:
    """All flows together."""
    found = FlowSeen("all classes", "all classes")
    for flow in story.flows:
        for key in ("sent", "duplicated", "received", "lost", "in_flight", "unplaced", "reordered"):
            setattr(found, key, getattr(found, key) + getattr(flow, key))
    return found


def _together(story: Story, flows: Sequence[Outage]) -> Outage:
    found = Outage(total(story), len(flows), sum(one.hurt for one in flows))
    firsts = [one.first for one in flows if one.first is not None]
    lasts = [one.last for one in flows if one.last is not None]
    found.first, found.last = min(firsts, default=None), max(lasts, default=None)
    found.duration = max((one.duration for one in flows), default=0.0)
    found.ends_lost = any(one.ends_lost for one in flows)
    return found


Cell = tuple[str, Callable[[Outage], str]]


def _columns(story: Story, rows: Sequence[Outage], *, of_class: bool) -> list[Cell]:
    """Columns; those of what never happened are left out."""
    hurt = any(one.first is not None for one in rows)
    found: list[Cell] = [("class" if of_class else "flow", lambda one: one.flow.name)]
    if of_class:
        found += [("flows", lambda one: f"{one.flows:,}"), ("of them hurt", lambda one: f"{one.hurt:,}")]
    else:
        found.append(("class", lambda one: one.flow.group))
    found += [
        ("sent", lambda one: f"{one.flow.sent:,}"),
        ("received", lambda one: f"{one.flow.received:,}"),
        ("lost", lambda one: f"{one.flow.lost:,}"),
        ("of sent", lambda one: _share(one.flow)),
    ]
    if hurt:
        found += [
            ("longest outage" if of_class else "outage", lambda one: _duration(one)),
            ("first lost at", lambda one: _time(one.first, story)),
            ("last lost at", lambda one: _time(one.last, story)),
        ]
    rare: dict[str, Callable[[FlowSeen], int]] = {
        "reordered": lambda flow: flow.reordered,
        "duplicated": lambda flow: flow.duplicated,
        "in flight": lambda flow: flow.in_flight,
        "lost, nobody knows where": lambda flow: flow.unplaced,
    }
    for title, value in rare.items():
        if any(value(flow) for flow in story.flows):
            found.append((title, lambda one, value=value: f"{value(one.flow):,}"))  # type: ignore[misc]
    if any(one.ends_lost and one.first is not None for one in rows):
        found.append(("at the end", lambda one: _ending(one, of_class)))
    return found


def _share(flow: FlowSeen) -> str:
    return f"{flow.lost / flow.sent:.3%}" if flow.sent else "-"


def _duration(one: Outage) -> str:
    if one.first is None:
        return "-"
    return format_time(one.duration, 3) if one.duration else "one moment"


def _ending(one: Outage, of_class: bool) -> str:
    if not one.ends_lost or one.first is None:
        return "arrives" if one.flow.received else "-"
    return "a flow is still lost" if of_class and one.flows > 1 else "still lost"


def _time(value: float | None, story: Story) -> str:
    """A time, with so many digits that it differs from that of the failure."""
    if value is None:
        return "-"
    near = [action.at for action in story.failures if action.at < value]
    return exact(value, max(near)) if near else format_time(value, 6)


def _flows(story: Story, flows: Sequence[Outage]) -> Table:
    columns = _columns(story, flows, of_class=False)
    cells = [[cell(one) for _, cell in columns] for one in ranked(flows)]
    return cut(
        Table("Flows, most hurt first", [title for title, _ in columns], cells, 2),
        "most hurt of {count} flows",
        ("flows.csv", _csv(story, flows)),
    )


def cut(table: Table, what: str, whole: tuple[str, list[list[Any]]] | None = None) -> Table:
    """A table with at most `ROWS_MAX` rows, which says what is left out and has the whole as a file."""
    count = len(table.rows)
    if count <= ROWS_MAX:
        return table
    table.rows = table.rows[:ROWS_MAX]
    table.note = f"The {ROWS_MAX} {what.format(count=f'{count:,}')}"
    if whole and len(whole[1]) <= WHOLE_MAX:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(whole[1])
        table.whole = (whole[0], base64.b64encode(text.getvalue().encode()).decode())
        table.note += "; all are in"
    return table


CSV_TITLES = (
    *("flow", "class", "sent", "duplicated", "received", "lost", "in_flight", "lost_unplaced", "reordered"),
    *("first_lost_s", "last_lost_s", "outage_s", "still_lost"),
)


def _csv(story: Story, flows: Sequence[Outage]) -> list[list[Any]]:
    if len(flows) <= ROWS_MAX or len(flows) > WHOLE_MAX:
        return []
    rows: list[list[Any]] = [list(CSV_TITLES)]
    for one in ranked(flows):
        flow = one.flow
        counts = (flow.sent, flow.duplicated, flow.received, flow.lost, flow.in_flight, flow.unplaced)
        times = (one.first, one.last, one.duration)
        still = int(one.ends_lost and one.first is not None)
        rows.append([flow.name, flow.group, *counts, flow.reordered, *times, still])
    return rows


def _failures(found: Sequence[Effect], story: Story) -> Table:
    """A row for each moment at which something was taken away, in order of time."""
    lsps = bool(story.lsps)
    titles = ["at", "what", "packets lost", "flows hurt", *(("LSPs down", "all back at") if lsps else ())]
    rows = []
    for one in found:
        what = ", ".join(done(action) for action in one.failure.actions[:4])
        if len(one.failure.actions) > 4:
            what += f" and {len(one.failure.actions) - 4} more"
        row = [format_time(one.failure.at, 6), what, f"{one.lost:,}", f"{len(one.flows):,}"]
        if lsps:
            backs = [lsp.back for lsp in one.lsps]
            known = [back for back in backs if back is not None]
            back = "never" if len(known) < len(backs) else exact(max(known), one.failure.at) if known else "-"
            row += [f"{len(backs):,}", back]
        rows.append(row)
    return cut(Table("What each failure did until the next one", titles, rows, 2), "first of {count}")


def account(story: Story) -> str:
    """Sent and duplicated beside received, lost and in flight, all flows together."""
    seen = total(story)
    copies = f" and {seen.duplicated:,} copies made on the way" if seen.duplicated else ""
    were = "was" if seen.in_flight == 1 else "were"
    flight = f", {seen.in_flight:,} {were} still on the way at the end" if seen.in_flight else ""
    sentence = f"Of {seen.sent:,} packets sent{copies}, {seen.received:,} arrived, {seen.lost:,} were lost"
    rest = seen.left_over
    end = "nothing is left over" if rest == 0 else f"{rest:,} packets are not accounted for"
    return f"{sentence}{flight}: {end}."


def _notes(story: Story, failed: bool) -> list[str]:
    if not story.losses:
        return []
    after = " after each failure, added up" if failed else ""
    found = [f"An outage is the time from the first packet lost to the last one{after}."]
    if any(flow.reordered for flow in story.flows):
        found.append("Reordered packets arrived after one that was sent later.")
    return found


def lsp_section(story: Story) -> list[Section]:
    """LSPs that went down and whether they came back, the longest away first; none if none did."""
    failed = story.failures
    begin = failed[0].at if failed else 0.0
    found = lsps_hurt(story, begin)
    if not found:
        return []
    ends = {name: spans[-1] for name, spans in story.lsps.items()}
    first = {name: _first_route(story, name, begin) for name in ends}
    rows = [
        [
            one.name,
            _route(first[one.name]),
            _route(ends[one.name].route) if ends[one.name].state == "up" else "-",
            exact(one.down, begin),
            "never" if one.back is None else exact(one.back, one.down),
            format_time(one.away, 3),
        ]
        for one in found
    ]
    titles = ["LSP", "route before", "route at the end", "down at", "up for good at", "down for"]
    table = cut(Table("LSPs that went down, longest away first", titles, rows, 3), "longest away of {count}")
    return [Section("LSPs that went down", tables=[table])]


def _first_route(story: Story, name: str, begin: float) -> tuple[str, ...] | None:
    before = [one.route for one in story.lsps[name] if one.state == "up" and one.begin <= begin]
    return before[-1] if before else None


def _route(route: tuple[str, ...] | None) -> str:
    return " - ".join(route) if route else "not known"
