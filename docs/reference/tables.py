"""The page of tables, from what the core declares of them.

python docs/reference/tables.py           write it
python docs/reference/tables.py --check   fail if the page says something else
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from twinplane.declared import Table, tables
from written import write_or_check

PAGE = Path(__file__).with_name("tables.md")
SCOPES = {
    "router": "one router (`Network.table(NAME, node)`, `twinplane node show NAME`)",
    "device": "one router or host (`Network.table(NAME, node)`, `twinplane node show NAME`)",
    "either": "the whole network, or one router or host",
    "network": "the whole network (`Network.table(NAME)`); a router process has its own part of it",
    "packet": "a packet on its way (`Router.path(TO)`, `twinplane node show path TO`)",
    "process": "a router that runs as a process of its own (`twinplane node show NAME`)",
}
LEAD = """# Tables

On this page you look up what a table of a network or a router holds: type, unit and meaning of each
column. `Network.table(NAME)` gives a data frame with exactly these columns and types, whether or not it
has rows. A router of a lab gives the same at its control socket; there, a time that ends in `_s` here is
a whole number of picoseconds and ends in `_ps`. Parquet files of results have unit and meaning of these
columns in their metadata (`twinplane.columns`). `twinplane tables NAME` prints an entry of this page. The
page is made from the same declarations as the tables themselves.
"""


def anchor(table: Table, all_: tuple[Table, ...]) -> str:
    """A heading that no other table has."""
    twins = [one for one in all_ if one.name == table.name]
    if len(twins) == 1:
        return f"`{table.name}`"
    return f"`{table.name}` of {'a router' if table.scope == 'router' else 'the network'}"


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 116, break_long_words=False, break_on_hyphens=False)


def section(table: Table, all_: tuple[Table, ...]) -> str:
    """One table."""
    key = ", ".join(f"`{name}`" for name in table.key)
    asked = f"Asked of {SCOPES[table.scope]}."
    asked += f" A row is identified by {key}." if key else " Rows are in order of time."
    lines = [f"## {anchor(table, all_)}", "", wrapped(table.meaning), "", wrapped(asked)]
    lines += ["", "| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
    for column in table.columns:
        absent = " or null" if column.nullable else ""
        lines.append(f"| `{column.name}` | {column.type}{absent} | {column.unit} | {column.meaning} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """See the module."""
    every = tables()
    text = "\n".join([LEAD, *(section(one, every) for one in every)])
    return write_or_check(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
