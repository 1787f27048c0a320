"""Pages that list the rules of RFCs, and the tests of each rule that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


CASES = ROOT / "crates/control/cases"
"""Folders of small conversations with one speaker: `case PROTOCOL/NAME`."""


class Named:
    """Names of tests, as `place::test`; a place is a path with `{}` for the file.

    Cases are named as `case PROTOCOL/NAME`.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places
        self.name = re.compile(rf"`({'|'.join(places)})/([a-z0-9_/]+)(?:::([a-z0-9_]+))?`")

    def found(self, text: str) -> list[tuple[str, str, str]]:
        """Place, file and test (empty for all of a file) of every name in a text."""
        return [*self.name.findall(text), *(("case", name, "") for name in cases(text))]

    def missing(self, text: str) -> list[str]:
        """Names of tests that are nowhere."""
        found = self.found(text)
        return [f"{place}/{file}::{name}" for place, file, name in found if not self._is(place, file, name)]

    def _is(self, place: str, file: str, name: str) -> bool:
        if place == "case":
            return (CASES / file / "expected").is_file()
        path = ROOT / self.places[place].format(file)
        code = path.read_text() if path.is_file() else ""
        return bool(code) and (
            not name or re.search(rf"^\s*(?:fn|def) {name}\(", code, re.MULTILINE) is not None
        )


def cases(text: str) -> list[str]:
    """The cases that a text names."""
    return re.findall(r"`case ([a-z0-9_/-]+)`", text)


def rows(part: str) -> list[list[str]]:
    """The cells of the rows of a table."""
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines][2:]


def sections(text: str) -> dict[str, list[list[str]]]:
    """The rows of the table of each RFC: section, rule, what is done, tests."""
    parts = text.split("\n## RFC ")[1:]
    return {part[:4]: rows(part.split("\n## ")[0]) for part in parts}


def not_delivered(text: str) -> list[list[str]]:
    """What the page does not claim: RFC, section, what it is, and why."""
    return rows(text.partition("\n## Not delivered\n")[2])


def is_must(rule: str) -> bool:
    """Does a rule say MUST (RFC 2119)?"""
    return re.search(r"\b(MUST|SHALL|REQUIRED)\b", rule) is not None


def is_should(rule: str) -> bool:
    """Does it say SHOULD, too, or nothing in the words of RFC 2119, as older RFCs do?"""
    return re.search(r"\b(SHOULD|RECOMMENDED)\b", rule) is not None or not (
        is_must(rule) or re.search(r"\bMAY\b", rule)
    )


def assert_tested_or_reasoned(found: Mapping[str, list[list[str]]]) -> None:
    """A rule has a test; one that is no MUST may have a reason instead. What is left out is not delivered."""
    for rfc, all_rows in found.items():
        for row in all_rows:
            assert len(row) == 4, (rfc, row)
            section, rule, done, tests = row
            assert tests or done.startswith("not kept"), (rfc, section, "neither a test nor a reason")
            assert tests or not is_must(rule), (rfc, section, "a MUST without a test")


def without_test(found: Mapping[str, list[list[str]]]) -> tuple[int, int]:
    """How many rules that say SHOULD have a reason instead of a test, and how many there are."""
    rules = [row for all_rows in found.values() for row in all_rows if is_should(row[1])]
    return sum(not row[3] for row in rules), len(rules)
