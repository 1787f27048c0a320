"""The page that lists rules of RFCs names tests that exist."""

from __future__ import annotations

from support.rules import ROOT, Named, assert_tested_or_left_out, sections

PAGE = ROOT / "docs/reference/rsvp-rfcs.md"
RFCS = ("2205", "2209", "2210", "3209", "2961", "2747")
NAMED = Named(
    {
        "lsp": "crates/control/src/rsvp/tests/{}.rs",
        "transport": "crates/control/src/rsvp/transport/tests/{}.rs",
        "unit": "crates/control/src/rsvp/{}.rs",
        "wire": "crates/wire/src/rsvp/tests/{}.rs",
        "peer": "tests/peer/scenarios/{}.py",
        "lab": "tests/lab/test_{}.py",
        "packets": "crates/forwarding/src/{}.rs",
    }
)


def test_every_test_that_is_named_exists() -> None:
    text = PAGE.read_text()
    assert len(NAMED.found(text)) > 150
    assert NAMED.missing(text) == []


def test_a_name_that_is_nowhere_is_noticed() -> None:
    text = "`lsp/setup::egress_labels` `lsp/setup::no_such_test` `peer/nowhere::at_all` `packets/none`"
    assert NAMED.missing(text) == ["lsp/setup::no_such_test", "peer/nowhere::at_all", "packets/none::"]


def test_every_rule_is_tested_or_left_out() -> None:
    found = sections(PAGE.read_text())
    assert tuple(found) == RFCS
    assert all(len(rows) >= 6 for rows in found.values())
    assert_tested_or_left_out(found)
