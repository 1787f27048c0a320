"""What happened, as a tidy table: one column for each fact, and names in the place of addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..units import Quantity, span_ps

if TYPE_CHECKING:
    import polars as pl

    from .nodes import Node
    from .tables import Tables

TYPES = {
    "time_s": "Float64",
    "node": "String",
    "event": "String",
    "lsp": "String",
    "index": "UInt32",
    "lsp_id": "UInt16",
    "label": "UInt32",
    "route": "List(String)",
    "reason": "String",
    "at": "String",
    "code": "UInt8",
    "value": "UInt16",
    "from_lsp": "UInt16",
    "to_lsp": "UInt16",
    "neighbor": "String",
    "restarted": "Boolean",
    "port": "UInt16",
    "table": "String",
}
"""Columns that are always there, in their order. Facts of other events come behind, where there are any."""

NEIGHBORS = ("neighbor", "router_id", "from")
"""Names by which events give the node at the other end."""


def tidy(
    tables: Tables,
    window: tuple[Quantity | None, Quantity | None] = (None, None),
    event: str | None = None,
    node: Node | None = None,
) -> pl.DataFrame:
    """A row for each event, in order of time: from one time to before another, of one name, of one node."""
    import polars as pl

    since, until = (
        None if time is None else span_ps(time, f"events: {key}")
        for key, time in zip(("since", "until"), window, strict=True)
    )
    columns = tables.events(since, until, node, event)
    rows = []
    for place, told in enumerate(columns["event"]):
        row = {key: columns[key][place] for key in ("node", "index")}
        group = columns["lsps"][place]
        row["time_s"] = columns["time_ps"][place] / 1e12
        row["lsp"] = None if group is None else tables.lsps[group].name
        rows.append(row | _facts(told, tables.named))
    types = {key: _types()[kind] for key, kind in TYPES.items()}
    others = dict.fromkeys(key for row in rows for key in row if key not in types)
    made = {key: pl.Series(key, [row.get(key) for row in rows], dtype) for key, dtype in types.items()}
    return pl.DataFrame([*made.values(), *(pl.Series(key, [row.get(key) for row in rows]) for key in others)])


def _types() -> dict[str, Any]:
    import polars as pl

    whole: list[Any] = [pl.Float64, pl.String, pl.UInt8, pl.UInt16, pl.UInt32, pl.Boolean]
    return {str(one): one for one in whole} | {"List(String)": pl.List(pl.String)}


def _facts(told: Mapping[str, Any], name: Callable[[object], str]) -> dict[str, Any]:
    """What belongs to an event, by column; `name` is that of the node with an address."""
    found: dict[str, Any] = {}
    for key, value in told.items():
        if key == "tunnel":
            continue  # `lsp` and `index` say which LSP it is
        if key == "node":
            found["at"] = name(value)  # where an error was found
        elif key in NEIGHBORS:
            found["neighbor"] = name(value)
        elif key == "route":
            found[key] = [name(hop) for hop in value]
        else:
            found[key] = value
    return found
