"""How long it took to set up again each LSP that was torn down, as a distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..charts import Chart, Curve
from ..charts.table import Table
from ..measure.statistics import quantile
from ..units import format_time
from .page import Section

if TYPE_CHECKING:
    import polars as pl

SHARES = ((0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (1.0, "all of those"))


def returns(parts: Mapping[str, pl.DataFrame]) -> Section:
    """Curves and quantiles of `re_establish_s` by point and event; those that stayed away have none."""
    import polars as pl

    curves: list[Curve] = []
    rows: list[list[str]] = []
    words: list[str] = []
    for name, table in parts.items():
        for event in table["event"].unique().sort().to_list():
            times = table.filter(pl.col("event") == event)["re_establish_s"]
            back = sorted(times.drop_nulls().to_list())
            label = f"{name}{', ' if name else ''}event {event}"
            shares = [(place + 1) / times.len() for place in range(len(back))]
            curves.append(Curve(label, [0.0, *back], [0.0, *shares], 0, "steps", len(curves)))
            rows.append(_row(label, times.len(), back))
            longest = f", the last after {format_time(back[-1])}" if back else ""
            words.append(f"{label}: {len(back)} of {times.len()} came back{longest}")
    chart = Chart(
        "re-established",
        "Time until LSPs are up again after they were torn down",
        f"Share of the LSPs that are up again over the time since each was torn down. {'; '.join(words)}.",
        "time since the LSP was torn down (s)",
        ["share of LSPs up again"],
        curves,
    )
    titles = ["event", "torn down", "up again", "shortest", *(title for _, title in SHARES)]
    caption = "From the PathTear to the next Resv of each LSP; quantiles of those that came back"
    return Section("Time to re-establish each LSP", charts=[chart], tables=[Table(caption, titles, rows)])


def _row(label: str, count: int, back: list[Any]) -> list[str]:
    quantiles = (quantile(back, share) for share, _ in SHARES)
    return [
        label,
        str(count),
        str(len(back)),
        format_time(back[0] if back else None),
        *map(format_time, quantiles),
    ]
