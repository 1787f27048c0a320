"""The page that lists rules of BGP's RFCs names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/bgp-rfcs.md"
NAMED = Named(
    {
        "speaker": "crates/control/src/bgp/tests/{}.rs",
        "services": "crates/control/src/services/{}.rs",
        "wire": "crates/wire/src/bgp/{}.rs",
        "network": "tests/{}.py",
        "node": "crates/node/tests/{}/mod.rs",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 60
    assert NAMED.missing(text) == []
    assert NAMED.missing("`speaker/peers::no_such_test` `wire/nowhere`") == [
        "speaker/peers::no_such_test",
        "wire/nowhere::",
    ]


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == ("4271", "7606", "4724", "4760", "8277", "4798", "7911")
    assert_tested_or_left_out(found)
