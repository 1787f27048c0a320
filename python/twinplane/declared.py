"""What the core declares of its tables and state machines: names, types, units and meanings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from . import core
from .errors import TwinplaneError, suggest

if TYPE_CHECKING:
    import polars as pl

OF_A_ROUTER = ("router", "device", "either", "process")
"""Scopes of tables that can be asked of one router."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    """In data frames."""
    exact_name: str
    """In the lists of `Network.columns` and at the control socket, where times are picoseconds (``_ps``)."""
    type: str
    """What its cells are, in words: ``u64``, ``str``, ``list of u32`` …"""
    time: bool
    """Is it a time or a span? Then it is picoseconds under `exact_name` and seconds under `name`."""
    unit: str
    """In what its numbers count; empty for names, addresses and the like."""
    meaning: str
    """What a cell says, and why one may be absent."""
    nullable: bool
    """May a cell be absent?"""


@dataclass(frozen=True)
class Table:
    """A table that networks and routers have."""

    name: str
    scope: str
    """Of what it is asked: ``router``, ``device`` (or host), ``either`` (or all), ``network`` or ``process``.

    A process is a router that runs as a process of its own.
    """
    meaning: str
    """What a row is."""
    key: tuple[str, ...]
    """Columns that tell a row from all others; empty where rows are told apart by their order alone."""
    columns: tuple[Column, ...]
    place: int
    """Among all tables."""

    def column(self, name: str) -> Column | None:
        """A column by either of its names."""
        return next((one for one in self.columns if name in (one.name, one.exact_name)), None)

    def schema(self) -> dict[str, pl.DataType]:
        """Names and types of the data frame, whether or not it has rows."""
        import polars as pl

        return dict(pl.DataFrame(core.load().empty_table(self.place)).schema)


@dataclass(frozen=True)
class Word:
    """A state, or an event."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Chart:
    """A state machine of a protocol: the table that runs, as data."""

    protocol: str
    title: str
    """What goes through these states."""
    about: str
    states: tuple[Word, ...]
    events: tuple[Word, ...]
    begins: tuple[str, ...]
    """The states in which it can begin."""
    steps: tuple[tuple[str, str, str], ...]
    """State before, event, state after. What is not here does not happen."""


@cache
def charts() -> tuple[Chart, ...]:
    """Every state machine that protocols declare, in the order of the documentation."""
    return tuple(
        Chart(
            protocol=found["protocol"],
            title=found["title"],
            about=found["about"],
            states=tuple(Word(**one) for one in found["states"]),
            events=tuple(Word(**one) for one in found["events"]),
            begins=tuple(found["begins"]),
            steps=tuple((before, event, after) for before, event, after in found["steps"]),
        )
        for found in json.loads(core.load().charts())
    )


@cache
def tables() -> tuple[Table, ...]:
    """Every table, in the order of the documentation."""
    return tuple(
        Table(
            name=found["table"]["name"],
            scope=found["scope"],
            meaning=found["table"]["meaning"],
            key=tuple(found["table"]["key"]),
            columns=tuple(Column(**column) for column in found["table"]["columns"]),
            place=place,
        )
        for place, found in enumerate(json.loads(core.load().tables()))
    )


def find(name: str, of_router: bool = False) -> Table | None:
    """The declaration of a table, of one router or of the whole network, if there is one of that name."""
    named = [table for table in tables() if table.name == name]
    wanted = [table for table in named if of_router or table.scope in ("either", "network")]
    return next(iter(wanted or named), None)


def of_router(name: str) -> Table:
    """The declaration of a table that a router has; a name that is none is an error."""
    found = find(name, True)
    if found is None:
        known = sorted({table.name for table in tables()})
        hint = suggest(name, known) or f" (one of {', '.join(known)})"
        raise TwinplaneError(f"'{name}': there is no table of that name{hint}")
    return found


def metadata(name: str, columns: Mapping[str, Any]) -> dict[str, str]:
    """Unit and meaning of the columns of a table that are declared, for a Parquet file: JSON by column."""
    table = find(name)
    known = {} if table is None else {key: table.column(key) for key in columns}
    text = {key: {"unit": one.unit, "meaning": one.meaning} for key, one in known.items() if one is not None}
    return {"twinplane.table": name, "twinplane.columns": json.dumps(text, ensure_ascii=False)}
