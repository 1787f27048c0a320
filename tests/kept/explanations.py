"""The two committed lists: names that changed (`renames.toml`), results changed on purpose (`mends.toml`)."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .canonical import CONVERSIONS
from .seen import FACTS, Seen

HERE = Path(__file__).parent
RENAMES, MENDS = HERE / "renames.toml", HERE / "mends.toml"


class ExplanationError(Exception):
    """A list is written wrongly: one sentence."""


def matches(pattern: str, name: str) -> bool:
    """Does a pattern mean a table, be it one of a part of a program (``part/table``) or not?"""
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name.rpartition("/")[2], pattern)


@dataclass
class Rename:
    """A name of today and the one that it had; the second half of a conversion where its type changed too."""

    kind: str
    old: str
    new: str
    table: str = "*"
    """Pattern for tables, by their old names."""
    column: str = "*"
    """Of keys and words: pattern for columns, by their old names."""
    convert: str | None = None
    uses: int = 0

    def __str__(self) -> str:
        where = f" of table {self.table}" if self.table != "*" else ""
        return f"{self.kind} {self.old} -> {self.new}{where}"


@dataclass
class Mend:
    """A difference that is intended."""

    program: str
    table: str
    column: str
    why: str
    uses: int = 0

    def explains(self, program: str, table: str, column: str) -> bool:
        """Is this difference meant?"""
        fits = fnmatch.fnmatchcase(program, self.program) and matches(self.table, table)
        return fits and fnmatch.fnmatchcase(column, self.column)

    def __str__(self) -> str:
        return f"{self.program}: {self.table}: {self.column}"


@dataclass
class Explanations:
    """Both lists, and how often each entry was needed."""

    renames: list[Rename] = field(default_factory=list)
    mends: list[Mend] = field(default_factory=list)

    def _of(self, kind: str) -> list[Rename]:
        return [item for item in self.renames if item.kind == kind]

    def back(self, seen: Seen) -> int:
        """Give what was seen the names and types of the golden; returns how many names were changed."""
        before = sum(item.uses for item in self.renames)
        seen.tables = {self._table(name): columns for name, columns in seen.tables.items()}
        seen.tables = {name: self._columns(name, columns) for name, columns in seen.tables.items()}
        seen.facts = {name: values[0] for name, values in self._columns(FACTS, _as_table(seen.facts)).items()}
        return sum(item.uses for item in self.renames) - before

    def _table(self, name: str) -> str:
        part, slash, last = name.rpartition("/")
        for item in self._of("table"):
            if last == item.new:
                item.uses += 1
                return f"{part}{slash}{item.old}"
        return name

    def _columns(self, table: str, columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for name, values in columns.items():
            old = name
            for item in self._of("column"):
                if name == item.new and matches(item.table, table):
                    item.uses += 1
                    old = item.old
                    if item.convert is not None:
                        values = [CONVERSIONS[item.convert](value) for value in values]
                    break
            if old in found:
                raise ExplanationError(f"renames.toml: table {table}: two columns become {old}")
            found[old] = self._values(table, old, values)
        return found

    def _values(self, table: str, column: str, values: list[Any]) -> list[Any]:
        keys = self._within("key", table, column)
        words = self._within("word", table, column)
        if not keys and not words:
            return values
        return [_replaced(value, keys, words) for value in values]

    def _within(self, kind: str, table: str, column: str) -> dict[str, Rename]:
        return {
            item.new: item
            for item in self._of(kind)
            if matches(item.table, table) and fnmatch.fnmatchcase(column, item.column)
        }

    def mend(self, program: str, table: str, column: str) -> Mend | None:
        """The mend that explains a difference."""
        found = next((item for item in self.mends if item.explains(program, table, column)), None)
        if found is not None:
            found.uses += 1
        return found

    def needless(self) -> list[str]:
        """Entries that explained nothing."""
        unused = [str(item) for item in self.renames if item.uses == 0]
        return unused + [str(item) for item in self.mends if item.uses == 0]


def _as_table(facts: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in facts.items()}


def _replaced(value: Any, keys: Mapping[str, Rename], words: Mapping[str, Rename]) -> Any:
    def name(text: str, among: Mapping[str, Rename]) -> str:
        if text not in among:
            return text
        among[text].uses += 1
        return among[text].old

    if isinstance(value, str):
        return name(value, words)
    if isinstance(value, Mapping):
        return {name(key, keys): _replaced(item, keys, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, keys, words) for item in value]
    return value


KINDS: dict[str, frozenset[str]] = {
    "table": frozenset(("old", "new")),
    "column": frozenset(("old", "new", "table", "as")),
    "key": frozenset(("old", "new", "table", "column")),
    "word": frozenset(("old", "new", "table", "column")),
}
"""Kinds of renames and what an entry may have."""


def load(renames: Path = RENAMES, mends: Path = MENDS) -> Explanations:
    """Both lists as they are committed."""
    found = Explanations()
    for kind, entries in tomllib.loads(renames.read_text()).items():
        if kind not in KINDS:
            raise ExplanationError(f"{renames.name}: [[{kind}]]: one of {', '.join(KINDS)}")
        for entry in entries:
            _check(renames, kind, entry, KINDS[kind], ("old", "new"))
            if entry.get("as") is not None and entry["as"] not in CONVERSIONS:
                raise ExplanationError(
                    f"{renames.name}: as = {entry['as']!r}: one of {', '.join(CONVERSIONS)}"
                )
            found.renames.append(Rename(kind, convert=entry.pop("as", None), **entry))
    for kind, entries in tomllib.loads(mends.read_text()).items():
        if kind != "mend":
            raise ExplanationError(f"{mends.name}: [[{kind}]]: every entry is a [[mend]]")
        for entry in entries:
            needed = ("program", "table", "column", "why")
            _check(mends, kind, entry, frozenset(needed), needed)
            found.mends.append(Mend(**entry))
    return found


def _check(
    path: Path, kind: str, entry: Mapping[str, Any], known: frozenset[str], needed: tuple[str, ...]
) -> None:
    for key in needed:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise ExplanationError(f"{path.name}: [[{kind}]] {dict(entry)}: '{key}' is missing")
    for key in entry:
        if key not in known:
            raise ExplanationError(
                f"{path.name}: [[{kind}]]: unknown '{key}' (one of {', '.join(sorted(known))})"
            )
