"""What a program shows beside what is written down of it, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import goldens
from .explanations import Explanations
from .goldens import COLUMNS, ROWS, Items
from .seen import FACTS, Seen


@dataclass(frozen=True)
class Difference:
    """An item that is not what is written down."""

    program: str
    table: str
    column: str
    before: Any
    now: Any

    def __str__(self) -> str:
        where = (
            f"{self.program}: {self.column}"
            if self.table == FACTS
            else (f"{self.program}: table {self.table}, {_of_column(self.column)}")
        )
        if self.before is None:
            return f"{where}: new ({self.now})"
        if self.now is None:
            return f"{where}: missing (was {self.before})"
        return f"{where}: {self.before} -> {self.now}"


def _of_column(column: str) -> str:
    return {ROWS: "number of rows", COLUMNS: "columns"}.get(column, f"column {column}")


@dataclass
class Verdict:
    """What the check of one program found."""

    program: str
    equal: int = 0
    renamed: int = 0
    mended: list[Difference] = field(default_factory=list)
    differs: list[Difference] = field(default_factory=list)
    changed: Items = field(default_factory=dict)
    """Every item that a mend explains, as it is now."""
    trouble: str | None = None
    """Why the program could not run."""

    @property
    def good(self) -> bool:
        """Is every difference explained?"""
        return not self.differs and self.trouble is None

    def accept(self) -> None:
        """Take what mends explain for what it should be."""
        meant = {(table, column) for table, columns in self.changed.items() for column in columns}
        self.mended += [item for item in self.differs if (item.table, item.column) in meant]
        self.differs = [item for item in self.differs if (item.table, item.column) not in meant]


def verdict(program: str, seen: Seen, explanations: Explanations) -> Verdict:
    """Compare with the golden, and where a mend explains a difference with what was accepted of it."""
    found = Verdict(program, renamed=explanations.back(seen))
    now = goldens.items(seen)
    golden, accepted = goldens.load(goldens.GOLDEN, program), goldens.load(goldens.MENDED, program)
    if not golden:
        found.trouble = "nothing is written down of it: python -m tests.kept record"
        return found
    for table, column in _places(golden, now, accepted):
        before, value = golden.get(table, {}).get(column), now.get(table, {}).get(column)
        known = golden.get(table, {}).keys() | now.get(table, {}).keys()
        if before == value and (column in golden.get(table, {})) == (column in now.get(table, {})):
            if column in known:
                found.equal += 1
            if column in accepted.get(table, {}):
                found.differs.append(Difference(program, table, column, "mended/ has another value", value))
            continue
        difference = Difference(program, table, column, before, value)
        if explanations.mend(program, table, column) is None:
            found.differs.append(difference)
            continue
        found.changed.setdefault(table, {})[column] = value
        if column in accepted.get(table, {}) and accepted[table][column] == value:
            found.mended.append(difference)
        else:
            was = accepted.get(table, {}).get(column, "not accepted yet: python -m tests.kept accept")
            found.differs.append(Difference(program, table, column, was, value))
    return found


def _places(*sources: Items) -> Iterator[tuple[str, str]]:
    """Every table and column of any source."""
    tables = sorted({table for source in sources for table in source})
    for table in tables:
        for column in sorted({column for source in sources for column in source.get(table, {})}):
            yield table, column
