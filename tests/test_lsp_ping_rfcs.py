"""The page that lists rules of LSP ping's RFC names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/lsp-ping-rfcs.md"
NAMED = Named(
    {
        "ping": "crates/control/src/lsp_ping/tests/{}.rs",
        "wire": "crates/wire/src/lsp_ping/{}.rs",
        "tester": "crates/tester/tests/{}.rs",
        "python": "tests/{}.py",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 30
    assert NAMED.missing(text) == []


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == ("8029",)
    assert_tested_or_left_out(found)
