"""Tables of the core as data frames: node indices become names, picoseconds become seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

Columns = dict[str, list[Any]]
"""A table as the core gives it: columns of equal length by name."""


def rows(columns: Mapping[str, Sequence[Any]]) -> int:
    """How many rows a table has."""
    return len(next(iter(columns.values()), ()))


FIRST = (
    *("time_ps", "node", "flow", "lsps", "lsp", "stream", "phase", "link", "name", "prefix", "label", "port"),
    *(
        "index",
        "from",
        "to",
        "start_ps",
        "direction",
        "type",
        "count",
        "sent",
        "received",
        "lost",
        "duplicated",
    ),
    *("reordered", "packets", "role", "state", "in_label", "out_label", "out", "push", "gateway", "address"),
    *("neighbor", "where", "rule", "colour", "action", "path", "discipline", "given_packets", "given_bytes"),
    *("sent_packets", "sent_bytes", "dropped_packets", "dropped_bytes", "drops", "marked", "overlimits"),
    *("backlog_packets", "backlog_bytes", "backlog_packets_max", "backlog_bytes_max"),
    *("mean_packets", "mean_wait_s", "sequence", "departure_ps", "arrival_ps", "delay_ps"),
)
"""Which columns come first, in this order; the others follow as they come."""


def ordered(columns: Columns) -> Columns:
    """A table with the columns that identify a row first."""
    keys = [key for key in FIRST if key in columns]
    return {key: columns[key] for key in (*keys, *(key for key in columns if key not in keys))}


def readable(columns: Mapping[str, Sequence[Any]], names: Sequence[str]) -> Columns:
    """A table with node names for indices and times in seconds."""
    found: Columns = {}
    for key, values in columns.items():
        if key == "node":
            found[key] = [
                names[value] if isinstance(value, int) and 0 <= value < len(names) else value
                for value in values
            ]
        elif key.endswith("_ps"):
            found[f"{key[:-3]}_s"] = [None if value is None else value / 1e12 for value in values]
        else:
            found[key] = list(values)
    return found


PAIRS = {"drops": ("reason", "packets"), "extra": ("name", "value")}
"""Columns of counts or figures by name: in a data frame each cell is a list of structs with these fields."""


def frame(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """A data frame of a table; values that have no column type of their own become text.

    A column of `PAIRS` is made long by ``.explode("drops").unnest("drops")``.
    """
    import polars as pl

    made: dict[str, pl.Series] = {}
    for key, values in columns.items():
        if key in PAIRS and all(value is None or isinstance(value, dict) for value in values):
            made[key] = _pairs(key, values)
            continue
        plain = [_plain(value) for value in values]
        try:
            made[key] = pl.Series(key, plain, strict=False)
        except (TypeError, pl.exceptions.PolarsError):
            made[key] = pl.Series(key, [None if value is None else str(value) for value in plain])
    return pl.DataFrame(made)


def _pairs(key: str, values: Sequence[Mapping[str, Any] | None]) -> pl.Series:
    import polars as pl

    name, value = PAIRS[key]
    kind = pl.Struct({name: pl.String, value: pl.Int64 if key == "drops" else pl.Float64})
    cells = [
        None if cell is None else [{name: one, value: figure} for one, figure in cell.items()]
        for cell in values
    ]
    return pl.Series(key, cells, dtype=pl.List(kind), strict=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        inner = ", ".join(f"{key}={_plain(item)}" for key, item in value.items())
        return inner
    if isinstance(value, list) and not all(isinstance(item, int | float | str) for item in value):
        return ", ".join(str(_plain(item)) for item in value)
    return value
