"""What was checked of packets, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reports.checks import cells, is_bad, rows_of
from .tables import print_table

if TYPE_CHECKING:
    from ..results.folder import Results


def print_checks(found: Results) -> None:
    """A line for each flow, if a packet is not what was sent or somebody else's routers are under test."""
    rows = rows_of(found)
    real = found.manifest.get("real")
    outside = real is not None and real["place"] == "external"
    if is_bad(rows) or (outside and rows):
        titles, lines = cells(rows)
        print_table(titles, lines, left=1, title="packets checked", narrow=True)
