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
from .harm import COUNTS, Effect, Outage, by_class, effects, lsps_hurt, outages, ranked, together
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
    points = [account(story), *_notes(story, flows, bool(failed))]
    return [Section(title, charts=[close_up] if close_up else [], tables=tables, points=points)]


def _classes(story: Story, flows: Sequence[Outage]) -> Table:
    rows = by_class(story, flows)
    columns = _columns(story, rows, of_class=True)
    cells = [[cell(one) for _, cell in columns] for one in rows]
    summed = [cell(together("all classes", flows)) for _, cell in columns] if len(rows) > 1 else []
    return Table("Classes, most hurt first", [title for title, _ in columns], cells, total=summed)


def total(story: Story) -> FlowSeen:
    """All flows together."""
    found = FlowSeen("all classes", "all classes")
    for key in COUNTS:
        setattr(found, key, sum(getattr(flow, key) for flow in story.flows))
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
            *([("lost over", lambda one: _spread(one))] if any(one.scattered for one in rows) else []),
            ("first lost at", lambda one: _time(one.first, story)),
            ("last lost at", lambda one: _time(one.last, story)),
        ]
    rare: dict[str, Callable[[FlowSeen], int]] = {
        "reordered": lambda flow: flow.reordered,
        "duplicated": lambda flow: flow.duplicated,
        "unselected": lambda flow: flow.unselected,
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
    if one.duration:
        return format_time(one.duration, 3)
    return "one packet" if one.flow.lost == 1 else "single packets"


def _spread(one: Outage) -> str:
    return "-" if one.first is None else format_time(one.spread, 3)


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
    single = [one for one in flows if one.flow.pair or not one.flow.is_demand]
    columns = _columns(story, single, of_class=False)
    cells = [[cell(one) for _, cell in columns] for one in ranked(single)[: ROWS_MAX + 1]]
    demands = any(one.flow.is_demand for one in flows)
    what = "flows and demands" if demands else "flows"
    title = f"{what.capitalize()}, most hurt first"
    return cut(
        Table(title, [title for title, _ in columns], cells, 2),
        f"most hurt of {{count}} {what}",
        ("flows.csv", _csv(story, single)),
        story.flow_count,
    )


def cut(
    table: Table, what: str, whole: tuple[str, list[list[Any]]] | None = None, count: int | None = None
) -> Table:
    """A table with at most `ROWS_MAX` rows, which says what is left out and has the whole as a file.

    `count` is how many rows there would be, if some are left out already.
    """
    count = len(table.rows) if count is None else count
    if count <= len(table.rows) <= ROWS_MAX:
        return table
    table.rows = table.rows[:ROWS_MAX]
    table.note = f"The {len(table.rows)} {what.format(count=f'{count:,}')}"
    if whole and whole[1]:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(whole[1])
        table.whole = (whole[0], base64.b64encode(text.getvalue().encode()).decode())
        table.note += "; all are in"
    return table


CSV_TITLES = (
    *("flow", "class", "sent", "duplicated", "received", "lost", "in_flight", "lost_unplaced", "reordered"),
    *("first_lost_s", "last_lost_s", "outage_s", "lost_over_s", "still_lost"),
)


def _csv(story: Story, flows: Sequence[Outage]) -> list[list[Any]]:
    if not ROWS_MAX < len(flows) <= WHOLE_MAX:
        return []
    rows: list[list[Any]] = [list(CSV_TITLES)]
    for one in ranked(flows):
        flow = one.flow
        counts = (flow.sent, flow.duplicated, flow.received, flow.lost, flow.in_flight, flow.unplaced)
        times = (one.first, one.last, one.duration, one.spread)
        still = int(one.ends_lost and one.first is not None)
        rows.append([flow.name, flow.group, *counts, flow.reordered, *times, still])
    return rows


def _failures(found: Sequence[Effect], story: Story) -> Table:
    """A row for each moment at which something was taken away, in order of time."""
    lsps = bool(story.lsps)
    titles = ["at", "what", "packets lost", "flows hurt", *(("LSPs down", "all back at") if lsps else ())]
    # A lab counts what does not arrive: which failure that is of, it does not tell.
    unknown = not story.losses and any(flow.unplaced for flow in story.flows)
    rows = []
    for one in found:
        what = ", ".join(done(action) for action in one.failure.actions[:4])
        if len(one.failure.actions) > 4:
            what += f" and {len(one.failure.actions) - 4} more"
        counts = ["not known"] * 2 if unknown else [f"{one.lost:,}", f"{len(one.flows):,}"]
        row = [format_time(one.failure.at, 6), what, *counts]
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
    left = f", {seen.unselected:,} came by the LSP that was not selected (1+1)" if seen.unselected else ""
    came = f"{seen.received:,} arrived{left}, {seen.lost:,} were lost"
    sentence = f"Of {seen.sent:,} packets sent{copies}, {came}"
    rest = seen.left_over
    end = "nothing is left over" if rest == 0 else f"{rest:,} packets are not accounted for"
    return f"{sentence}{flight}: {end}."


def _notes(story: Story, flows: Sequence[Outage], failed: bool) -> list[str]:
    if not story.losses:
        return []
    after = ", the longest after each failure, added up" if failed else ""
    found = [
        "An outage is a time in which nothing of a flow arrives: from the first to the last of packets that"
        f" it sent one after the other and that were all lost{after}."
    ]
    if any(one.scattered for one in flows):
        found.append(
            "Where most packets were lost here and there, while others arrived, it also says over how long."
        )
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
