"""Demands: many flows as one call, from a matrix of rates between nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import TwinplaneError, suggest
from ..model import demands as files
from ..units import Quantity
from . import memory
from .handles import Node
from .shown import Shown

if TYPE_CHECKING:
    import polars as pl

    from .draft import Draft
    from .engine import Engine
    from .handles import Owner
    from .network import Network

BY = {"class": "demand_classes", "pair": "demands"}
"""What figures of demands are summed up by, and the table that has them."""


class Demands(Shown):
    """Measured traffic by a matrix of rates: a flow for each pair of nodes and class."""

    _internal = frozenset({"owner", "classes"})

    def __init__(self, owner: Owner, classes: list[str]) -> None:
        self.owner = owner
        self.classes = classes
        """Names of classes; one that is empty if none was named."""

    def stats(self, by: str = "class") -> pl.DataFrame:
        """What was sent, received and lost, and how late: a row for each class.

        With ``by="pair"`` there is a row for each demand of each class. Columns of both: `class` (null if
        none was named), `rate_bps`, `sent`, `received`, `lost`, `reordered`, and in seconds `delay_mean_s`,
        `delay_min_s` and `delay_max_s`. A class has `demands`, their number, and quantiles of the delay of
        all its packets; a pair has `from`, `to` and `flow`, the number that its flow has in other tables.
        """
        if by not in BY:
            raise TwinplaneError(f"by={by!r}: unknown{suggest(str(by), BY)}: class or pair")
        return self.owner.table(BY[by])

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<demands of {', '.join(self.classes)}>" if any(self.classes) else "<demands>"


def called(label: str | None) -> str:
    """What the demands of a class are called where flows have names."""
    return f"demands {label}" if label else "demands"


def name_of(label: str | None, source: str, sink: str) -> str:
    """What a demand is called where each has a name."""
    return f"{label or 'demand'} {source}-{sink}"


def names_of(network: Network, *, pairs: bool = False) -> dict[int, str]:
    """What is shown for the number of a flow: its name, or that of a demand; without `pairs` of its class."""
    found = {flow.index: flow.name for flow in network.flows}
    if network.draft.demands is not None:
        table = network.columns("demands")
        if pairs:
            keys = (table[key] for key in ("class", "from", "to"))
            labels = [name_of(*one) for one in zip(*keys, strict=True)]
        else:
            labels = [called(label) for label in table["class"]]
        found |= dict(zip(table["flow"], labels, strict=True))
    return found


def set_demands(
    owner: Owner,
    draft: Draft,
    engine: Engine,
    matrix: object,
    said: Mapping[str, Any],
    unit: Quantity | None,
) -> Demands:
    """See `twinplane.Network.demands`."""
    engine.require_unstarted("a matrix of demands")
    if draft.demands is not None:
        raise TwinplaneError("demands: the network has some already: say all of them in one call")
    given = {key: value for key, value in said.items() if value is not None}
    found: files.Matrix | None = None
    if isinstance(matrix, str | Path):
        found = files.read(Path(matrix), None if unit is None else float(units.rate_bps(unit, "unit")))
        given |= {"file": str(matrix), "matrix": found.rows}
    elif matrix is not None:
        given["matrix"] = _rows(matrix, 1 if unit is None else units.rate_bps(unit, "unit"))
    try:
        with core.translated():
            draft.core.set_demands(given)
    except TwinplaneError as error:
        raise (found and found.explained(error)) or error from None
    draft.demands = Demands(owner, draft.core.demands() or [])
    draft.matrix = found
    memory.check(draft)
    return draft.demands


def _rows(matrix: object, unit_bps: float) -> list[list[Any]]:
    """Demands of a data frame, of a mapping from pairs to rates, or one by one."""
    columns = getattr(matrix, "columns", None)
    if columns is not None:
        return _of_frame(matrix, [str(name) for name in columns], unit_bps)
    if isinstance(matrix, Mapping):
        rows: Iterable[Any] = ((*_pair(pair), rate) for pair, rate in matrix.items())
    elif isinstance(matrix, Iterable):
        rows = matrix
    else:
        raise TwinplaneError(
            f"demands: {matrix!r}: a file, a data frame with columns from, to, rate, or a list of such rows"
        )
    found = []
    for place, row in enumerate(rows):
        cells = _cells(place, row) if isinstance(row, Mapping) else list(row)
        if isinstance(row, str) or not 3 <= len(cells) <= 4:
            raise TwinplaneError(f"demands: row {place + 1}: {row!r}: from, to, rate and perhaps class")
        rate = _rate(place, cells[2], unit_bps)
        if rate is not None:
            found.append([_name(cells[0]), _name(cells[1]), rate, *cells[3:]])
    return found


def _cells(place: int, row: Mapping[Any, Any]) -> list[Any]:
    """The cells of a row that names them, in their order."""
    named = {files.AGAIN.get(str(key).lower(), str(key).lower()): value for key, value in row.items()}
    wrong = next((key for key in named if key not in files.COLUMNS), None)
    missing = next((key for key in files.COLUMNS[:3] if key not in named), None)
    if wrong is not None or missing is not None or len(named) != len(row):
        why = f"'{wrong}' is none of them" if wrong is not None else f"'{missing}' is missing"
        raise TwinplaneError(f"demands: row {place + 1}: {row!r}: from, to, rate and perhaps class; {why}")
    return [named[key] for key in files.COLUMNS if key in named]


def _of_frame(frame: Any, names: list[str], unit_bps: float) -> list[list[Any]]:
    meant = {files.AGAIN.get(name.lower(), name.lower()): name for name in reversed(names)}
    missing = [name for name in files.COLUMNS[:3] if name not in meant]
    if missing:
        hint = suggest(missing[0], names)
        raise TwinplaneError(f"demands: the data frame has no column '{missing[0]}'{hint}")
    columns = [list(frame[meant[name]]) for name in files.COLUMNS if name in meant]
    columns[2] = [_rate(place, rate, unit_bps) for place, rate in enumerate(columns[2])]
    rows = zip(*columns, strict=True)
    return [[_name(row[0]), _name(row[1]), *row[2:]] for row in rows if row[2] is not None]


def _pair(pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, tuple) and len(pair) == 2:
        return pair
    raise TwinplaneError(f"demands: {pair!r}: a demand has two ends, as in {{('a', 'b'): '3 Mbit/s'}}")


def _name(end: Any) -> Any:
    return end.name if isinstance(end, Node) else end


def _rate(place: int, rate: Any, unit_bps: float) -> Any:
    """A rate; None of a pair that sends nothing, as measured matrices have many."""
    if isinstance(rate, str):
        return rate
    if isinstance(rate, bool):
        raise TwinplaneError(f"demands: row {place + 1}: rate: {rate!r} is no number")
    try:
        number = float(rate) * unit_bps
    except (TypeError, ValueError):
        raise TwinplaneError(f"demands: row {place + 1}: rate: {rate!r} is no number") from None
    if not (math.isfinite(number) and number >= 0):
        raise TwinplaneError(f"demands: row {place + 1}: rate: {rate!r}: it is not zero or more")
    return max(1, round(number)) if number else None
