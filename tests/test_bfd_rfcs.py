"""The page that lists rules of BFD's RFCs names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/bfd-rfcs.md"
NAMED = Named(
    {
        "bfd": "crates/control/src/bfd/tests/{}.rs",
        "liveness": "crates/control/src/services/liveness/{}.rs",
        "wire": "crates/wire/src/bfd/{}.rs",
        "node": "crates/node/tests/bfd/{}.rs",
        "tester": "crates/tester/tests/{}.rs",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 30
    assert NAMED.missing(text) == []


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == ("5880", "5881", "5882", "5883", "5884", "7726")
    assert_tested_or_left_out(found)
