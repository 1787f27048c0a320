"""What happened in a run, on the terminal: what was done, and what routing protocols made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reports import happened
from ..reports.story import whole_of_results
from ..units import format_time
from .tables import print_table

if TYPE_CHECKING:
    from ..results.folder import Results

LINES_MAX = 14
"""So many lines are printed, from the first failure on if there is one."""


def print_story(found: Results) -> None:
    """The lines of the first point, if its routers have sessions."""
    if "sessions" not in found.tables():
        return
    story = whole_of_results(found)
    lines = happened.lines(story)
    begin = min((action.at for action in story.failures), default=0.0)
    after = [line for line in lines if line.at >= begin]
    rows = [[format_time(line.at, 7), line.text] for line in after[:LINES_MAX]]
    if not rows:
        return
    print_table(["at", "what happened"], rows, left=2, title="what happened")
    more = min(len(lines), happened.LINES_MAX) - len(rows)
    if more > 0:
        print(f"{more} more lines are in the report")
