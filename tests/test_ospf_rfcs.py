"""The page that lists rules of OSPF's RFCs names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/ospf-rfcs.md"
NAMED = Named(
    {
        "net": "crates/control/src/ospf/tests/{}.rs",
        "wire": "crates/wire/src/ospf/{}.rs",
        "node": "crates/node/tests/ospf/{}.rs",
        "tester": "crates/tester/tests/{}.rs",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 30
    assert NAMED.missing(text) == []
    assert NAMED.missing("`net/spf::no_such_test` `node/nowhere`") == [
        "net/spf::no_such_test",
        "node/nowhere::",
    ]


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == ("2328", "3101", "3630", "5250", "5709", "6987", "8405")
    assert_tested_or_left_out(found)
