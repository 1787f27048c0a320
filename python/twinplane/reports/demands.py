"""Demands on the page: a row for each class, and the pairs of nodes that lost most or waited longest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..charts.table import Table
from ..units import format_rate, format_time
from .page import Section

if TYPE_CHECKING:
    import polars as pl

    from ..network import Network
    from ..results.folder import Results

ROWS_MAX = 20
"""Of more pairs those that lost most are shown, then those that waited longest."""


def of_network(network: Network) -> list[Section]:
    """The section of a network at hand; none without demands."""
    if network.draft.demands is None:
        return []
    return sections(network.table("demand_classes"), network.table("demands"))


def of_results(found: Results) -> list[Section]:
    """The same of the first point of a results folder; none if it has no such tables."""
    import polars as pl

    if "demands" not in found.tables():
        return []
    tables = [found.table(name) for name in ("demand_classes", "demands")]
    classes, pairs = (one.filter(pl.col("point") == one["point"].min()) for one in tables)
    return sections(classes, pairs)


def sections(classes: pl.DataFrame, pairs: pl.DataFrame) -> list[Section]:
    """Figures by class, then of the pairs that were hurt most."""
    titles = ["class", "demands", "rate", "sent", "received", "lost", "mean delay", "p99 delay", "max delay"]
    rows = [
        [
            row["class"] or "-",
            f"{row['demands']:,}",
            format_rate(row["rate_bps"]),
            *(f"{row[key]:,}" for key in ("sent", "received", "lost")),
            *(format_time(row[key]) for key in ("delay_mean_s", "delay_p99_s", "delay_max_s")),
        ]
        for row in classes.iter_rows(named=True)
    ]
    tables = [Table("Demands by class", titles, rows, 1)]
    order = pairs.sort(["lost", "delay_mean_s"], descending=True, nulls_last=True, maintain_order=True)
    worst = order.head(ROWS_MAX)
    titles = ["pair", "class", "rate", "sent", "received", "lost", "mean delay", "max delay"]
    rows = [
        [
            f"{row['from']} - {row['to']}",
            row["class"] or "-",
            format_rate(row["rate_bps"]),
            *(f"{row[key]:,}" for key in ("sent", "received", "lost")),
            *(format_time(row[key]) for key in ("delay_mean_s", "delay_max_s")),
        ]
        for row in worst.iter_rows(named=True)
    ]
    lossy = int((pairs["lost"] > 0).sum())
    said = [f"{lossy:,} of {pairs.height:,} demands lost packets, or have some on their way."]
    if pairs.height > ROWS_MAX:
        said.append(f"Shown are the {ROWS_MAX} that lost most, then waited longest; table demands has all.")
    tables.append(Table("Demands that lost most", titles, rows, 2))
    return [Section("Demands", said, tables=tables)]
