"""A table as it stands on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Table:
    """A table with its caption; `left` columns are texts.

    `keys` are the styles of the curves that rows belong to, `lines` the columns that may have several lines.
    A `note` says what is left out. `whole` is then the table as a file: its name and its text, as CSV.
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    keys: Sequence[int | None] = ()
    lines: Sequence[int] = ()
    total: Sequence[str] = ()
    """A last row that sums up; it stays where it is in whatever order the others are."""
    note: str = ""
    whole: tuple[str, str] | None = None

    @property
    def sortable(self) -> bool:
        """Can it be read in another order?"""
        return len(self.rows) > 1 and len(self.titles) > 2 and not self.lines
