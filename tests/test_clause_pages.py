"""The pages that list rules of RFCs, `docs/reference/*-rfcs.md`, name tests that exist."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from support.rules import (
    CASES,
    ROOT,
    Named,
    assert_tested_or_reasoned,
    cases,
    not_delivered,
    sections,
    without_test,
)


@dataclass(frozen=True)
class Page:
    """A page: its RFCs in their order, where its kinds of tests are, how many tests it names at least.

    And which share of the rules that say SHOULD has a reason instead of a test at most.
    """

    rfcs: tuple[str, ...]
    named: Named
    least: int
    reasons: float = 0.1

    @staticmethod
    def text(name: str) -> str:
        return (ROOT / f"docs/reference/{name}-rfcs.md").read_text()


PAGES = {
    "atm": Page(
        ("2684", "2225", "2390", "3035", "5036"),
        Named(
            {
                "switch": "crates/node/src/atm/tests/{}.rs",
                "lsr": "crates/node/src/atm/{}.rs",
                "vcs": "crates/control/src/services/label_vcs/{}.rs",
                "ldp": "crates/control/src/ldp/tests/{}.rs",
                "said": "crates/wire/src/ldp/{}.rs",
                "wire": "crates/wire/src/atm/{}.rs",
                "tester": "crates/tester/tests/{}.rs",
                "python": "tests/{}.py",
            }
        ),
        15,
    ),
    "bfd": Page(
        ("5880", "5881", "5882", "5883", "5884", "7726", "8562"),
        Named(
            {
                "bfd": "crates/control/src/bfd/tests/{}.rs",
                "liveness": "crates/control/src/services/liveness/{}.rs",
                "bgp": "crates/control/src/bgp/tests/{}.rs",
                "ldp": "crates/control/src/ldp/tests/{}.rs",
                "control": "crates/control/src/{}.rs",
                "ping": "crates/control/src/lsp_ping/tests/{}.rs",
                "wire": "crates/wire/src/bfd/{}.rs",
                "node": "crates/node/tests/bfd/{}.rs",
                "lab": "tests/lab/test_{}.py",
                "tester": "crates/tester/tests/{}.rs",
            }
        ),
        30,
    ),
    "bgp": Page(
        ("4271", "7606", "4724", "4760", "8277", "4798", "7911", "4456", "6793", "5492", "8212", "4360"),
        Named(
            {
                "speaker": "crates/control/src/bgp/tests/{}.rs",
                "services": "crates/control/src/services/{}.rs",
                "wire": "crates/wire/src/bgp/{}.rs",
                "tester": "crates/tester/tests/{}.rs",
                "tcp": "crates/wire/src/tcp/{}.rs",
                "network": "tests/{}.py",
                "node": "crates/node/tests/{}/mod.rs",
                "lab": "tests/lab/test_{}.py",
            }
        ),
        60,
    ),
    "ldp": Page(
        ("5036", "2385", "3478", "5443", "5561", "5918", "5919", "5082", "6720", "6388"),
        Named(
            {
                "ldp": "crates/control/src/ldp/tests/{}.rs",
                "labels": "crates/control/src/services/distribution/tests/{}.rs",
                "trees": "crates/control/src/ldp/tests/multipoint/{}.rs",
                "wire": "crates/wire/src/ldp/{}.rs",
                "tcp": "crates/wire/src/tcp/{}.rs",
                "node": "crates/node/tests/{}/mod.rs",
                "lab": "tests/lab/test_{}.py",
                "tester": "crates/tester/tests/{}.rs",
            }
        ),
        60,
    ),
    "lsp-ping": Page(
        ("8029", "6425"),
        Named(
            {
                "ping": "crates/control/src/lsp_ping/tests/{}.rs",
                "unit": "crates/node/src/router/{}.rs",
                "wire": "crates/wire/src/lsp_ping/{}.rs",
                "tester": "crates/tester/tests/{}.rs",
                "python": "tests/{}.py",
            }
        ),
        30,
    ),
    "mld": Page(
        ("3810",),
        Named(
            {
                "mld": "crates/control/src/mld/{}.rs",
                "groups": "crates/control/src/igmp/{}.rs",
                "wire": "crates/wire/src/mld/{}.rs",
                "host": "crates/node/src/{}.rs",
                "router": "crates/node/src/router/{}.rs",
                "tester": "crates/tester/tests/{}.rs",
            }
        ),
        20,
    ),
    "ospf": Page(
        ("2328", "3101", "3630", "5250", "5709", "6987", "8405"),
        Named(
            {
                "net": "crates/control/src/ospf/tests/{}.rs",
                "wire": "crates/wire/src/ospf/{}.rs",
                "node": "crates/node/tests/ospf/{}.rs",
                "lab": "tests/lab/test_{}.py",
                "tester": "crates/tester/tests/{}.rs",
            }
        ),
        30,
    ),
    "pim": Page(
        ("7761",),
        Named(
            {
                "pim": "crates/control/src/pim/{}.rs",
                "wire": "crates/wire/src/pim/{}.rs",
                "packets": "crates/forwarding/tests/{}.rs",
                "tester": "crates/tester/tests/{}.rs",
                "lab": "tests/lab/test_{}.py",
            }
        ),
        30,
    ),
    "protection": Page(
        ("4090",),
        Named(
            {
                "lsp": "crates/control/src/rsvp/tests/{}.rs",
                "unit": "crates/control/src/rsvp/{}.rs",
                "wire": "crates/wire/src/rsvp/tests/{}.rs",
                "packets": "crates/forwarding/tests/{}.rs",
                "path": "crates/tester/tests/{}.rs",
                "net": "tests/test_{}.py",
                "naive": "tests/peer/test_{}.py",
            }
        ),
        30,
    ),
    "rsvp": Page(
        ("2205", "2209", "2210", "3209", "2961", "2747", "4875"),
        Named(
            {
                "lsp": "crates/control/src/rsvp/tests/{}.rs",
                "transport": "crates/control/src/rsvp/transport/tests/{}.rs",
                "unit": "crates/control/src/rsvp/{}.rs",
                "wire": "crates/wire/src/rsvp/tests/{}.rs",
                "peer": "tests/peer/scenarios/{}.py",
                "naive": "tests/peer/test_{}.py",
                "lab": "tests/lab/test_{}.py",
                "packets": "crates/forwarding/src/{}.rs",
            }
        ),
        150,
        # RFC 2205 says in detail what hosts and routers with many interfaces and styles do.
        reasons=0.15,
    ),
}
OTHERWISE = {"igmp"}
"""Pages of another form, whose names nobody looks for yet."""


def test_every_page_is_known() -> None:
    found = {path.name.removesuffix("-rfcs.md") for path in (ROOT / "docs/reference").glob("*-rfcs.md")}
    assert found == {*PAGES, *OTHERWISE}


@pytest.mark.parametrize("name", PAGES)
def test_every_test_that_is_named_exists(name: str) -> None:
    text, page = Page.text(name), PAGES[name]
    assert len(page.named.found(text)) > page.least
    assert page.named.missing(text) == []


@pytest.mark.parametrize("name", PAGES)
def test_every_rule_is_tested_or_has_a_reason(name: str) -> None:
    found = sections(Page.text(name))
    assert tuple(found) == PAGES[name].rfcs
    assert_tested_or_reasoned(found)


@pytest.mark.parametrize("name", PAGES)
def test_few_rules_have_a_reason_instead_of_a_test(name: str) -> None:
    """Run with -s, it prints the shares."""
    reasons, rules = without_test(sections(Page.text(name)))
    print(f"{name}: {reasons} of {rules} rules that say SHOULD have a reason instead ({reasons / rules:.0%})")
    assert reasons <= PAGES[name].reasons * rules


@pytest.mark.parametrize("name", PAGES)
def test_what_is_not_delivered_has_a_reason(name: str) -> None:
    found = not_delivered(Page.text(name))
    assert found
    for row in found:
        assert len(row) == 4 and all(row), row
        assert row[0] in PAGES[name].rfcs, row


def test_every_case_is_named_by_a_page() -> None:
    """A case shows a rule, and each rule that it shows says so."""
    there = {f"{path.parent.parent.name}/{path.parent.name}" for path in CASES.glob("*/*/about.md")}
    assert len(there) > 40
    assert there == {name for page in PAGES for name in cases(Page.text(page))}


def test_a_must_without_a_test_is_noticed() -> None:
    rule = ["1", "it MUST be so", "not kept: nobody has asked for it", ""]
    with pytest.raises(AssertionError, match="a MUST without a test"):
        assert_tested_or_reasoned({"9999": [rule]})
    left_out = ["2", "it SHOULD be so", "left out", ""]
    with pytest.raises(AssertionError, match="neither a test nor a reason"):
        assert_tested_or_reasoned({"9999": [left_out]})


def test_every_rfc_of_rsvp_has_several_rules() -> None:
    assert all(len(rows) >= 6 for rows in sections(Page.text("rsvp")).values())


@pytest.mark.parametrize(
    ("page", "text", "missing"),
    [
        (
            "rsvp",
            "`lsp/setup::egress_labels` `lsp/setup::no_such_test` `peer/nowhere::at_all` `packets/none`",
            ["lsp/setup::no_such_test", "peer/nowhere::at_all", "packets/none::"],
        ),
        (
            "bgp",
            "`speaker/peers::no_such_test` `wire/nowhere`",
            ["speaker/peers::no_such_test", "wire/nowhere::"],
        ),
        (
            "ldp",
            "`labels/rules::no_such_test` `wire/nowhere`",
            ["labels/rules::no_such_test", "wire/nowhere::"],
        ),
        (
            "ospf",
            "`net/spf::no_such_test` `node/nowhere` `case ospf/nothing` `case ospf/refresh`",
            ["net/spf::no_such_test", "node/nowhere::", "case/ospf/nothing::"],
        ),
    ],
)
def test_a_name_that_is_nowhere_is_noticed(page: str, text: str, missing: list[str]) -> None:
    assert PAGES[page].named.missing(text) == missing
