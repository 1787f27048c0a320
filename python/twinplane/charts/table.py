"""A table as it stands on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Table:
    """A table with its caption; `left` columns are texts.

    `keys` are the styles of the curves that rows belong to, `lines` the columns that may have several lines.
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    keys: Sequence[int | None] = ()
    lines: Sequence[int] = ()
