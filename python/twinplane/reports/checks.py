"""What was checked of packets that arrived, on the page and on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..charts.table import Table
from .page import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from ..network import Network
    from ..results.folder import Results

TITLES = {
    "received": "received",
    "misdelivered": "misdelivered",
    "damaged": "damaged",
    "ttl_wrong": "wrong TTL",
    "tc_changed": "other TC",
    "label_unchecked": "label unchecked",
    "ttl_unchecked": "TTL unchecked",
}
ROWS_MAX = 50
"""Of more flows those are shown with which most is wrong."""
BAD = ("misdelivered", "damaged", "ttl_wrong", "tc_changed")
POINTS = [
    "Every packet that a sink of the tester gets is compared with what was sent: the LSP that its label is"
    " of, TTL and TC in the label, destination, length and content. A misdelivered packet came with the label"
    " of another LSP, or where nobody expects it: it is lost, too.",
    "Unchecked is what can't be known: the label where none was left or it is explicit null, and the TTL"
    " there and where the number of routers is not known.",
]


def of_network(network: Network) -> list[Section]:
    """The section of a network at hand; none without flows over LSPs, if nothing is wrong."""
    return sections(_told(network.checks(), network))


def _told(table: pl.DataFrame, network: Network) -> list[dict[str, Any]]:
    """A row for each flow, and for each demand with which something is wrong."""
    import polars as pl

    if network.draft.demands is not None:
        flows = [flow.index for flow in network.flows]
        table = table.filter(pl.col("flow").is_in(flows) | pl.any_horizontal(pl.col(key) > 0 for key in BAD))
    return table.to_dicts()


def of_results(found: Results) -> list[Section]:
    """The section of a results folder, all points together."""
    return sections(rows_of(found))


def rows_of(found: Results) -> list[dict[str, Any]]:
    """A row for each flow, all points together."""
    if "checks" not in found.tables():
        return []
    rows: dict[str, dict[str, Any]] = {}
    for row in found.table("checks").to_dicts():
        all_points = rows.setdefault(str(row["name"]), {"name": row["name"]})
        for key in TITLES:
            if row[key] is not None:
                all_points[key] = all_points.get(key, 0) + row[key]
    return list(rows.values())


def is_bad(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Is a packet not what was sent?"""
    return any(row.get(key) for row in rows for key in BAD)


def sections(rows: list[dict[str, Any]]) -> list[Section]:
    """A table of flows; none if no flow takes an LSP and nothing is wrong."""
    if not is_bad(rows) and all(row.get("label_unchecked") is None for row in rows):
        return []
    worst = sorted(rows, key=lambda row: -sum(row.get(key) or 0 for key in BAD))[:ROWS_MAX]
    table = Table("Checks", *cells(worst), 1)
    if len(rows) > ROWS_MAX:
        table.note = f"The {ROWS_MAX} worst of {len(rows):,} flows; table checks has all"
    return [Section("Whether packets are those that were sent", POINTS, tables=[table])]


def cells(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Titles, and a line for each flow."""
    lines = [["-" if row.get(key) is None else f"{row[key]:,}" for key in TITLES] for row in rows]
    named = [[str(row["name"]), *line] for row, line in zip(rows, lines, strict=True)]
    return ["flow", *TITLES.values()], named
