"""Lost packets on the terminal: how many of each flow, where and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reports.losses import TITLES, first, summed
from .tables import print_table

if TYPE_CHECKING:
    from ..results.folder import Results

ROWS_MAX = 12
"""Of more places and reasons those that lost most are printed."""


def print_losses(found: Results) -> None:
    """What the first point lost that lost anything, those places first that lost most."""
    table = first(found)
    if table is None or not table.height:
        return
    rows = summed(table)
    titles = [title[:1].upper() + title[1:] for title in TITLES]
    print_table(titles, rows[:ROWS_MAX], left=4, title="lost packets", narrow=True)
    if len(rows) > ROWS_MAX:
        print(f"{len(rows) - ROWS_MAX} more places and reasons are in the report")
