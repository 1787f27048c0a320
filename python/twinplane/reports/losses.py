"""Lost packets on the page and on the terminal: how many of each flow, where and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..charts.table import Table
from ..network.demands import names_of
from .page import Section

if TYPE_CHECKING:
    import polars as pl

    from ..network import Network
    from ..results.folder import Results

ROWS_MAX = 40
"""Of more places and reasons those that lost most are shown."""
TITLES = ("flow", "PHB", "where", "why", "packets")


def of_network(network: Network) -> list[Section]:
    """The section of a network at hand; none if nothing was lost."""
    table = network.losses()
    if not table.height:
        return []
    names = names_of(network)
    return sections(table.with_columns(flow=table["flow"].replace_strict(names)))


def of_results(found: Results) -> list[Section]:
    """The section of the first point of a results folder that lost something."""
    return sections(first(found))


def first(found: Results) -> pl.DataFrame | None:
    """What the first point lost that lost anything; None if the folder has no such table."""
    import polars as pl

    if "losses" not in found.tables():
        return None
    table = found.table("losses")
    return table.filter(pl.col("point") == table["point"].min()) if table.height else table


def sections(table: pl.DataFrame | None) -> list[Section]:
    """A table of flows, places and reasons, those that lost most first."""
    if table is None or not table.height:
        return []
    rows = summed(table)
    shown = Table("Lost packets", list(TITLES), rows[:ROWS_MAX], 4)
    more = [f"{len(rows) - ROWS_MAX} more rows are in table losses."] if len(rows) > ROWS_MAX else []
    return [Section("Where packets were lost, and why", more, tables=[shown])]


def summed(table: pl.DataFrame) -> list[list[str]]:
    """Packets by flow, PHB, place and reason, all times together, those that lost most first."""
    import polars as pl

    by = ["flow", "phb", "place", "node", "to", "reason"]
    total = table.group_by(by, maintain_order=True).agg(pl.col("packets").sum())
    rows = sorted(total.to_dicts(), key=lambda row: -int(row["packets"]))
    return [
        [str(row["flow"]), str(row["phb"]), where(row), str(row["reason"]), f"{row['packets']:,}"]
        for row in rows
    ]


def where(row: Mapping[str, Any]) -> str:
    """The place of a row in words."""
    words = {
        "source": "source at {node}",
        "device": "in {node}",
        "port": "port of {node}",
        "link": "link {node} - {to}",
        "between": "between {node} and {to}",
    }
    return words[row["place"]].format(**row)
