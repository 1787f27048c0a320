"""The page that lists rules of OSPF's RFCs names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_rsvp_rfcs import sections

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/ospf-rfcs.md"
PLACES = {
    "net": "crates/control/src/ospf/tests/{}.rs",
    "wire": "crates/wire/src/ospf/{}.rs",
    "node": "crates/node/tests/ospf/{}.rs",
    "tester": "crates/tester/tests/{}.rs",
}
NAME = re.compile(rf"`({'|'.join(PLACES)})/([a-z0-9_/]+)(?:::([a-z0-9_]+))?`")


def missing(text: str) -> list[str]:
    """Names of tests that are nowhere."""
    found = []
    for place, file, name in NAME.findall(text):
        path = ROOT / PLACES[place].format(file)
        code = path.read_text() if path.is_file() else ""
        if not code or (name and not re.search(rf"^\s*fn {name}\(", code, re.MULTILINE)):
            found.append(f"{place}/{file}::{name}")
    return found


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAME.findall(text)) > 30
    assert missing(text) == []
    assert missing("`net/spf::no_such_test` `node/nowhere`") == ["net/spf::no_such_test", "node/nowhere::"]


def test_every_rule_is_tested_or_left_out() -> None:
    """A rule without a test says that it is left out, or why it is not kept."""
    found = sections(PAGE.read_text())
    assert tuple(found) == ("2328", "5709", "8405")
    for rfc, rows in found.items():
        for row in rows:
            assert len(row) == 4, (rfc, row)
            section, _, done, tests = row
            assert tests or done.startswith(("left out", "not kept")), (rfc, section)
