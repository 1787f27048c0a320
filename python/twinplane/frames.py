"""Tables as data frames, by the schema that the core declares of them (`twinplane.declared`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import declared

if TYPE_CHECKING:
    import polars as pl

Columns = dict[str, list[Any]]
"""A table as the core gives it exactly: columns of equal length by name, times in picoseconds (``_ps``)."""


def rows(columns: Mapping[str, Sequence[Any]]) -> int:
    """How many rows a table has."""
    return len(next(iter(columns.values()), ()))


def readable(columns: Mapping[str, Sequence[Any]]) -> Columns:
    """A table with times in seconds (``_s``) in place of picoseconds (``_ps``)."""
    found: Columns = {}
    for key, values in columns.items():
        if key.endswith("_ps"):
            found[f"{key[:-3]}_s"] = [None if value is None else value / 1e12 for value in values]
        else:
            found[key] = list(values)
    return found


PAIRS = {"drops": ("reason", "packets"), "extra": ("name", "value")}
"""Columns of counts or figures by name: in a data frame each cell is a list of structs with these fields."""


def typed(columns: Mapping[str, Sequence[Any]], table: declared.Table) -> pl.DataFrame:
    """The data frame of a table that came as lists, as from a control socket, with the declared schema."""
    return frame({one.exact_name: columns.get(one.exact_name, []) for one in table.columns}, table)


def frame(columns: Mapping[str, Sequence[Any]], table: declared.Table | None = None) -> pl.DataFrame:
    """A data frame of columns; those that `table` declares have its types, even if they are empty.

    A column that an experiment made, or gave other values than the declared ones, has the type of its values.
    A column of `PAIRS` is made long by ``.explode("drops").unnest("drops")``.
    """
    import polars as pl

    schema = {} if table is None else table.schema()
    made = [_series(key, values, schema) for key, values in readable(columns).items()]
    return pl.DataFrame(made)


def _series(name: str, values: Sequence[Any], schema: Mapping[str, pl.DataType]) -> pl.Series:
    import polars as pl

    kind = schema.get(name)
    if kind is not None:
        cells = [_cell(value, kind) for value in values]
        try:
            return pl.Series(name, cells, dtype=kind)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            pass
    if name in PAIRS:
        key, value = PAIRS[name]
        kind = pl.List(pl.Struct({key: pl.String, value: pl.UInt64 if name == "drops" else pl.Float64}))
        return pl.Series(name, [_cell(cell, kind) for cell in values], dtype=kind)
    return pl.Series(name, values, strict=False)


def _cell(value: Any, kind: pl.DataType) -> Any:
    """A cell as a data frame takes it: a mapping becomes pairs, or JSON where the column is text."""
    import polars as pl

    if isinstance(value, Mapping) and isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct):
        key, item = (field.name for field in kind.inner.fields)
        return [{key: name, item: figure} for name, figure in value.items()]
    if isinstance(value, Mapping) and kind == pl.String:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return value
