"""Flows on the page: how late each was over time, and what was sent and arrived."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..charts import STYLES, Curve
from ..charts.table import Table
from ..queues import phb
from ..units import dscp, format_time
from .story import class_bins, group_named

if TYPE_CHECKING:
    from ..frames import Columns
    from ..network import Network

FLOWS_MAX = 12
"""Of more flows than this those of a per-hop behaviour are drawn as one."""
assert FLOWS_MAX <= STYLES

ROWS_MAX = 50
"""Of more flows than this those that lost most are in the table."""

GAP = 5
"""A line is broken where nothing arrives for so many times as long as is usual."""

RANGE = 30
"""From this ratio of the greatest to the least on, an axis is logarithmic."""


@dataclass
class Course:
    """The delay of a flow, or of several together, over time."""

    name: str
    style: int
    flows: list[int]
    start: list[float] = field(default_factory=list)
    """Start of bins in seconds."""
    packets: list[int] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def broken(self, values: Sequence[float], scale: float) -> tuple[list[float], list[float | None]]:
        """A line of some values, which ends where nothing arrives and begins again later."""
        steps = [after - before for before, after in zip(self.start, self.start[1:], strict=False)]
        usual = statistics.median(steps) if steps else 0.0
        x: list[float] = []
        y: list[float | None] = []
        for at, value in zip(self.start, values, strict=True):
            if x and at - x[-1] > GAP * usual:
                x.append((x[-1] + at) / 2)
                y.append(None)
            x.append(at)
            y.append(value * scale)
        return x, y


def courses(network: Network, groups: Sequence[str] = ()) -> list[Course]:
    """Those of all flows, or of many flows and of demands by class; `groups` are the classes, in order."""
    if network.draft.demands is not None or len(network.flows) > FOLLOWED_MAX:
        return of_classes(groups, network.columns("class_series"))
    specs = network.described()["flows"]
    if len(specs) != len(network.flows) or not specs:
        return []
    codes = [dscp(spec["dscp"]) for spec in specs]
    return courses_of(_names(network), codes, lambda: network.columns("flow_series"))


FOLLOWED_MAX = 64
"""The core follows so many flows one by one."""


def of_classes(groups: Sequence[str], table: Columns) -> list[Course]:
    """Those of classes, from table `class_series`."""
    found = {name: Course(name, style % STYLES, []) for style, name in enumerate(groups[:FLOWS_MAX])}
    for (label, behaviour), start_ps, packets, mean_s, min_s, max_s in class_bins(table):
        course = found.get(group_named(label, behaviour))
        if course is not None:
            course.start.append(start_ps / 1e12)
            course.packets.append(packets)
            course.mean.append(mean_s)
            course.low.append(min_s)
            course.high.append(max_s)
    return list(found.values())


def courses_of(names: Sequence[str], codes: Sequence[int], series: Callable[[], Columns]) -> list[Course]:
    """The same of flows with these names and code points, and their table `flow_series`."""
    found = [Course(name, style, [style]) for style, name in enumerate(names)]
    if len(found) > FLOWS_MAX:
        members: dict[int, list[int]] = {}
        for flow, code in enumerate(codes):
            members.setdefault(code, []).append(flow)
        found = [
            Course(f"{phb.name_of(code)} ({len(flows)} flow{'s'[: len(flows) > 1]})", style, flows)
            for style, (code, flows) in enumerate(sorted(members.items()))
        ]
    if len(found) > FLOWS_MAX:
        return []
    columns = series()
    bins: dict[int, dict[int, list[Any]]] = {}
    for flow, *values in zip(
        *(columns[key] for key in ("flow", "start_ps", "packets", "mean_s", "min_s", "max_s")), strict=True
    ):
        bins.setdefault(flow, {})[values[0]] = values[1:]
    # The core follows the first flows only: with more, nothing is known of the later ones.
    if len(names) > len(found) and any(not bins.get(flow) for flow in range(len(names))):
        return []
    for course in found:
        _fill(course, [bins.get(flow, {}) for flow in course.flows])
    return found


def _fill(course: Course, bins: Sequence[dict[int, list[Any]]]) -> None:
    for start in sorted(set().union(*bins)):
        rows = [one[start] for one in bins if start in one]
        packets = sum(row[0] for row in rows)
        course.start.append(start / 1e12)
        course.packets.append(packets)
        course.mean.append(sum(row[0] * row[1] for row in rows) / packets)
        course.low.append(min(row[2] for row in rows))
        course.high.append(max(row[3] for row in rows))


def _names(network: Network) -> list[str]:
    """Names of flows, each once."""
    found: list[str] = []
    seen: dict[str, int] = {}
    for flow in network.flows:
        again = seen[flow.name] = seen.get(flow.name, 0) + 1
        found.append(f"{flow.name} ({again})" if again > 1 else flow.name)
    return found


def scale_of(most_s: float) -> tuple[float, str]:
    """How many of a unit of time are in a second: one in which the greatest delay is no long figure."""
    return (1e6, "us") if most_s < 2e-3 else (1e3, "ms") if most_s < 2.0 else (1.0, "s")


def between(low_s: float, high_s: float, scale: float) -> str:
    """Two times in one unit, without it."""
    low, high = f"{low_s * scale:.4g}", f"{high_s * scale:.4g}"
    return low if low == high else f"{low} to {high}"


def delays(found: Sequence[Course], titles: list[str], curves: list[Curve], log: list[int]) -> str:
    """Panels of the mean and of the greatest delay, a line for each flow; and the words for them."""
    drawn = [course for course in found if course.start]
    silent = [course.name for course in found if not course.start]
    words = [f"nothing arrives of {', '.join(silent)}"] if silent else []
    if not drawn:
        return "no packet arrives"
    scale, unit = scale_of(max(max(course.high) for course in drawn))
    for title, key in (("mean delay", "mean"), ("greatest delay", "high")):
        values = [value for course in drawn for value in getattr(course, key)]
        panel = len(titles)
        if 0 < RANGE * min(values) < max(values):
            log.append(panel)
        for course in drawn:
            x, y = course.broken(getattr(course, key), scale)
            shape = "line" if len(x) > 2 else "both"
            curves.append(Curve(course.name, x, y, panel, shape, course.style))
        titles.append(f"{title} ({unit})")
    said = ", ".join(f"{course.name} {between(min(course.low), max(course.high), scale)}" for course in drawn)
    return "; ".join([f"delay of packets in {unit}: {said}", *words])


def table(network: Network, stats: Mapping[int, Any], found: Sequence[Course]) -> Table:
    """What some flows sent, and what of it arrived; with the line that each has in the figure.

    `stats` are those of the flows by index, all or the most hurt.
    """
    counts_of = ("phase", "sent", "received", "lost", "duplicated")
    titles = ["flow", *counts_of, "mean delay", "max delay", "mean IPDV"]
    styles = {flow: course.style for course in found for flow in course.flows}
    names = _names(network)
    rows: list[list[str]] = []
    keys: list[int | None] = []
    for flow, of_flow in sorted(stats.items()):
        for row in of_flow.iter_rows(named=True):
            counts = ["-" if row[key] is None else f"{row[key]:,}" for key in counts_of]
            times = [format_time(row[key]) for key in ("delay_mean_s", "delay_max_s", "ipdv_mean_s")]
            rows.append([names[flow], *counts, *times])
            keys.append(styles.get(flow))
    more = ""
    if len(stats) < len(network.flows):
        more = f"The {len(stats)} flows of {len(network.flows):,} that lost most; Flow.stats() has all"
    return Table("Packets and delays by flow", titles, rows, keys=keys if styles else (), note=more)
