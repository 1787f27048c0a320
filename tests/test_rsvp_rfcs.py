"""The page that lists rules of RFCs names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/rsvp-rfcs.md"
RFCS = ("2205", "2209", "2210", "3209", "2961", "2747")
PLACES = {
    "lsp": "crates/control/src/rsvp/tests/{}.rs",
    "transport": "crates/control/src/rsvp/transport/tests/{}.rs",
    "unit": "crates/control/src/rsvp/{}.rs",
    "wire": "crates/wire/src/rsvp/tests/{}.rs",
    "peer": "tests/peer/scenarios/{}.py",
    "lab": "tests/lab/test_{}.py",
    "packets": "crates/forwarding/src/{}.rs",
}
NAME = re.compile(rf"`({'|'.join(PLACES)})/([a-z0-9_/]+)(?:::([a-z0-9_]+))?`")


def missing(text: str) -> list[str]:
    """Names of tests that are nowhere."""
    found = []
    for place, file, name in NAME.findall(text):
        path = ROOT / PLACES[place].format(file)
        code = path.read_text() if path.is_file() else ""
        if not code or (name and not re.search(rf"^\s*(?:fn|def) {name}\(", code, re.MULTILINE)):
            found.append(f"{place}/{file}::{name}")
    return found


def sections(text: str) -> dict[str, list[list[str]]]:
    """The rows of the table of each RFC: section, rule, what is done, tests."""
    found = {}
    for part in text.split("\n## RFC ")[1:]:
        lines = [line for line in part.split("\n## ")[0].splitlines() if line.startswith("| ")]
        cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
        found[part[:4]] = cells[2:]
    return found


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAME.findall(text)) > 150
    assert missing(text) == []


def test_a_name_that_is_nowhere_is_noticed() -> None:
    text = "`lsp/setup::egress_labels` `lsp/setup::no_such_test` `peer/nowhere::at_all` `packets/none`"
    assert missing(text) == ["lsp/setup::no_such_test", "peer/nowhere::at_all", "packets/none::"]


def test_every_rule_is_tested_or_left_out() -> None:
    """A rule without a test says that it is left out, or why it is not kept."""
    found = sections(PAGE.read_text())
    assert tuple(found) == RFCS
    for rfc, rows in found.items():
        assert len(rows) >= 6, rfc
        for row in rows:
            assert len(row) == 4, (rfc, row)
            section, _, done, tests = row
            assert tests or done.startswith(("left out", "not kept")), (rfc, section)
