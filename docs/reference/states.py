"""The page of state machines, from the tables that run.

python docs/reference/states.py           write it
python docs/reference/states.py --check   fail if the page says something else
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from twinplane.declared import Chart, charts
from written import write_or_check

PAGE = Path(__file__).with_name("states.md")
LEAD = """# States

On this page you look up which states a protocol keeps something in, what can happen to it there, and
where that leads. The page is made from the tables by which the program itself goes from state to state
(`CHARTS` in `crates/control/src/lib.rs`), so it cannot differ from what runs. A field without an entry is a
step that there is not: if it happened all the same, the state would stay. What happened so to RSVP-TE, table
`rsvp_faults` counts.
"""


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 116, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)


def steps(chart: Chart) -> list[str]:
    """Events by states."""
    names = [state.name for state in chart.states if any(step[0] == state.name for step in chart.steps)]
    lines = [f"| event | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    leads = {(before, event): after for before, event, after in chart.steps}
    for event in chart.events:
        cells = (leads.get((name, event.name), "") for name in names)
        said = ("stays" if cell == name else cell for name, cell in zip(names, cells, strict=True))
        lines.append(f"| {event.name} | {' | '.join(said)} |")
    return lines


def drawing(chart: Chart) -> list[str]:
    """The machine as a diagram; steps that keep the state are left out."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for before, event, after in chart.steps:
        if before != after:
            arrows.setdefault((before, after), []).append(event)
    lines = ["```mermaid", "stateDiagram-v2", *(f"    [*] --> {state}" for state in chart.begins)]
    lines += [f"    {before} --> {after}: {', '.join(events)}" for (before, after), events in arrows.items()]
    return [*lines, "```"]


def section(chart: Chart) -> str:
    """One machine."""
    lines = [f"## {chart.title}", "", wrapped(chart.about), ""]
    lines += ["States:", "", *(wrapped(f"- *{one.name}*: {one.meaning}", "  ") for one in chart.states), ""]
    lines += ["Events:", "", *(wrapped(f"- *{one.name}*: {one.meaning}", "  ") for one in chart.events), ""]
    return "\n".join([*lines, *steps(chart), "", *drawing(chart)]) + "\n"


def main() -> int:
    """See the module."""
    text = "\n".join([LEAD, *(section(chart) for chart in charts())])
    return write_or_check(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
