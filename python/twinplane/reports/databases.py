"""How large the databases of routers were over time, as far as somebody looked."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from ..charts import Band, Chart, Curve
from ..charts.table import Table
from ..network.sampling import DATABASES, RIB_ROUTERS_MAX, RIB_ROWS_MAX
from ..units import format_time
from .course import marks
from .harm import cuts
from .page import Section
from .seen import Size
from .story import Story

UNITS = {"LSDB": "advertisements", "LDP": "labels", "BGP": "routes", "RIB": "routes", "ILM": "labels"}

NOT_LOOKED = (
    "How large they were before is not known: routers keep no record of it. Network.sample(every) before a"
    " run in virtual time keeps it; twinplane run does so by itself, but not by the clock on the wall."
)


def section(story: Story) -> list[Section]:
    """A section if a router has such a database."""
    if not story.sizes:
        if not story.sessions:
            return []
        return [Section("Databases over time", [NOT_LOOKED])]
    known = [name for name in DATABASES if any(one.database == name for one in story.sizes)]
    parts = {name: [one for one in story.sizes if one.database == name] for name in known}
    times = sorted({one.at for one in story.sizes})
    points = _points(parts)
    if len(times) < 2:
        return [Section("Databases at the end", [NOT_LOOKED], tables=[_table(parts)], points=points)]
    step = median(after - before for before, after in pairwise(times))
    text = f"Routers were looked at every {format_time(step, 3)}: what was shorter is not shown."
    return [
        Section(
            "Databases over time",
            [text],
            charts=[_chart(story, parts)],
            tables=[_table(parts)],
            points=points,
        )
    ]


def _chart(story: Story, parts: dict[str, list[Size]]) -> Chart:
    curves: list[Curve] = []
    for panel, sizes in enumerate(parts.values()):
        x = [one.at for one in sizes]
        curves.append(Curve("largest", x, [one.most for one in sizes], panel, "steps", 0))
        if any(one.least != one.most for one in sizes):
            curves.append(Curve("smallest", x, [one.least for one in sizes], panel, "steps", 1))
    said = "; ".join(f"{name}: {DATABASES[name]}" for name in parts)
    return Chart(
        "databases",
        "Databases over time",
        f"The largest and the smallest of all routers. {said}.",
        "time (s)",
        [f"{name} ({UNITS[name]})" for name in parts],
        curves,
        marks(story),
        bands=[Band(begin, end) for _, begin, end in cuts(story)],
        zero=range(len(parts)),
        x_range=(0.0, story.end) if story.end else None,
    )


def _table(parts: dict[str, list[Size]]) -> Table:
    rows = []
    for name, sizes in parts.items():
        last, peak = sizes[-1], max(sizes, key=lambda one: one.most)
        rows.append(
            [
                name,
                DATABASES[name],
                f"{last.routers:,}",
                f"{last.least:,}",
                f"{last.most:,}",
                f"{last.total:,}",
                f"{peak.most:,}",
                format_time(peak.at, 6),
            ]
        )
    titles = ["database", "what is counted", "routers", "smallest", "largest", "all", "most ever", "first at"]
    return Table("Databases at the end", titles, rows, 2)


def _points(parts: dict[str, list[Size]]) -> list[str]:
    last = max(sizes[-1].at for sizes in parts.values())
    if "RIB" in parts and parts["RIB"][-1].at < last:
        return [f"Routing tables were counted until all together had more than {RIB_ROWS_MAX:,} routes."]
    if "RIB" not in parts:
        return [
            f"Routing tables of up to {RIB_ROUTERS_MAX} routers are counted; of others table rib has the end."
        ]
    return []
