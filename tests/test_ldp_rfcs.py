"""The page that lists rules of LDP's RFCs names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/ldp-rfcs.md"
NAMED = Named(
    {
        "ldp": "crates/control/src/ldp/tests/{}.rs",
        "labels": "crates/control/src/services/distribution/tests/{}.rs",
        "wire": "crates/wire/src/ldp/{}.rs",
        "tcp": "crates/wire/src/tcp/{}.rs",
        "node": "crates/node/tests/{}/mod.rs",
        "tester": "crates/tester/tests/{}.rs",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 60
    assert NAMED.missing(text) == []
    assert NAMED.missing("`labels/rules::no_such_test` `wire/nowhere`") == [
        "labels/rules::no_such_test",
        "wire/nowhere::",
    ]


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == ("5036", "2385", "3478", "5443", "5561", "5918", "5919", "6720")
    assert_tested_or_left_out(found)
