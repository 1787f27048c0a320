"""Pages that list the rules of RFCs, and the tests of each rule that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Named:
    """Names of tests, as `place::test`; a place is a path with `{}` for the file."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places
        self.name = re.compile(rf"`({'|'.join(places)})/([a-z0-9_/]+)(?:::([a-z0-9_]+))?`")

    def found(self, text: str) -> list[tuple[str, str, str]]:
        """Place, file and test (empty for all of a file) of every name in a text."""
        return self.name.findall(text)

    def missing(self, text: str) -> list[str]:
        """Names of tests that are nowhere."""
        found = self.found(text)
        return [f"{place}/{file}::{name}" for place, file, name in found if not self._is(place, file, name)]

    def _is(self, place: str, file: str, name: str) -> bool:
        path = ROOT / self.places[place].format(file)
        code = path.read_text() if path.is_file() else ""
        return bool(code) and (
            not name or re.search(rf"^\s*(?:fn|def) {name}\(", code, re.MULTILINE) is not None
        )


def sections(text: str) -> dict[str, list[list[str]]]:
    """The rows of the table of each RFC: section, rule, what is done, tests."""
    found = {}
    for part in text.split("\n## RFC ")[1:]:
        lines = [line for line in part.split("\n## ")[0].splitlines() if line.startswith("| ")]
        cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
        found[part[:4]] = cells[2:]
    return found


def assert_tested_or_left_out(found: Mapping[str, list[list[str]]]) -> None:
    """A rule without a test says that it is left out, or why it is not kept."""
    for rfc, rows in found.items():
        for row in rows:
            assert len(row) == 4, (rfc, row)
            section, _, done, tests = row
            assert tests or done.startswith(("left out", "not kept")), (rfc, section)
