"""The page that lists rules of RFC 4090 names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/protection-rfcs.md"
NAMED = Named(
    {
        "lsp": "crates/control/src/rsvp/tests/{}.rs",
        "unit": "crates/control/src/rsvp/{}.rs",
        "wire": "crates/wire/src/rsvp/tests/{}.rs",
        "packets": "crates/forwarding/tests/{}.rs",
        "net": "tests/test_{}.py",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 30
    assert NAMED.missing(text) == []


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == ("4090",)
    assert_tested_or_left_out(found)
