"""What is written down of a program: one JSON file each, a line for every column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .canonical import DIGITS, digest, plain
from .seen import FACTS, Seen

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
"""What the base revision shows."""
MENDED = HERE / "mended"
"""What the tree shows where a mend explains that it is something else; only these items."""

ROWS, COLUMNS = "(rows)", "(columns)"
"""Entries of a table beside those of its columns."""

Items = dict[str, dict[str, Any]]
"""By table, then by column: a hash, a count of rows, or (of facts) a short value."""


def items(seen: Seen) -> Items:
    """What is to be written down."""
    found: Items = {FACTS: {name: _fact(value) for name, value in seen.facts.items()}}
    for table, columns in seen.tables.items():
        found[table] = of_table(columns)
    return found


def of_table(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """The entries of a table: of an empty one its columns by name, else a hash for each."""
    rows = len(next(iter(columns.values()), []))
    if rows == 0:
        return {ROWS: 0, COLUMNS: " ".join(sorted(columns))}
    return {ROWS: rows, **{name: digest(values) for name, values in columns.items()}}


def _fact(value: Any) -> Any:
    """A short value as it is, so that a difference can be read; of a long one its hash."""
    made = plain(value)
    if isinstance(made, bool | int | float) or made is None:
        return made
    short = isinstance(made, str) and len(made) <= 4 * DIGITS and "\n" not in made
    return made if short else digest([value])


def load(folder: Path, program: str) -> Items:
    """The file of a program; empty if there is none."""
    path = folder / f"{program}.json"
    found: Items = json.loads(path.read_text()) if path.exists() else {}
    return found


def save(folder: Path, program: str, found: Items) -> None:
    """Write the file of a program; nothing to say is no file."""
    path = folder / f"{program}.json"
    if not found:
        path.unlink(missing_ok=True)
        return
    folder.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=True) + "\n")
