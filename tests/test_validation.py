"""Theory against model: rows that hold, rows that must not, and the page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from twinplane.errors import TwinplaneError
from twinplane.validation import (
    Compared,
    Measured,
    checks,
    coverage,
    coverage_page,
    early,
    judge,
    kernel,
    page,
    theory,
    validate,
    verdict,
)
from twinplane.validation.bed import queues
from twinplane.validation.theory import Service
from typer.testing import CliRunner


@pytest.mark.parametrize("group", ["queueing", "priority", "meters", "shares", "little"])
def test_every_row_of_a_group_holds(group: str) -> None:
    """Those of RED are looked at with their page, below."""
    rows = validate([1], [group])
    assert rows and [row for row in rows if not row.holds] == []
    for row in rows:
        if row.kind == "interval":  # an interval that holds anything shows nothing
            assert row.high - row.low < 0.2 * row.expected, row


def test_a_wrong_theory_is_noticed() -> None:
    values = (1.0, 1.1, 0.9, 1.05, 0.95)
    right, wrong = Measured("r", "q", values, 1.01), Measured("w", "q", values, 1.5)
    assert [row.holds for row in judge([(1, right), (1, wrong)])] == [True, False]
    bound = Measured("b", "q", (2.0,), 1.0, "bound", 0.5)
    assert not judge([(1, bound)])[0].holds
    assert judge([(1, Measured("e", "q", (2.0,), 2.0, "exact"))])[0].holds
    fits, misses = (judge([(1, Measured("c", "q", (x,), 19, "chi-square"))])[0] for x in (36.0, 36.4))
    assert fits.holds and not misses.holds and fits.high == pytest.approx(36.19, abs=0.01)


def test_a_wrong_formula_of_red_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if the probability were not spread by the count: gaps would be geometric, and their mean 1/p.
    monkeypatch.setattr(theory, "red_spacing", lambda p: 1 / p)
    rows = judge([(1, one) for one in early.still(1, early.stills()[0])])
    assert not rows[0].holds
    monkeypatch.undo()
    monkeypatch.setattr(early, "GREATEST", 0.25)
    rows = judge([(1, one) for one in early.still(1, early.Still("x", *(early_case()[1:])))])
    assert not rows[0].holds and not rows[1].holds


def early_case() -> tuple[object, ...]:
    """RED with the greatest probability of 0.2, whatever the module says meanwhile."""
    root = queues.Red(**{**early._early(), "probability": 0.2})
    return ("x", root, early.OFFERED[1][0], "BE", "BE")


def test_closed_forms_agree_with_each_other() -> None:
    exponential = Service(1.0, 2.0)
    assert theory.mg1_wait(0.8, exponential) == pytest.approx(4.0)
    assert theory.cobham_waits([(0.8, exponential)]) == pytest.approx([4.0])
    assert theory.mm1k_loss(1, 4) == pytest.approx(0.2)
    assert theory.mm1k_loss(0.5, 2) == pytest.approx(1 / 7)
    # One place: a packet is lost if it comes while another is served (Erlang's B, whatever the service time).
    assert theory.md1k_loss(0.7, 1) == pytest.approx(0.7 / 1.7)
    assert theory.md1k_loss(0.7, 60) == pytest.approx(0, abs=1e-9)
    weights = theory.clipped_exponential(1000, 64, 60_000)
    assert sum(share for share, _ in weights) == pytest.approx(1)
    assert theory.mean_size(weights) == pytest.approx(1000, rel=0.003)
    assert [theory.red_spacing(p) for p in (1.0, 0.25, 0.4)] == pytest.approx([1, 2.5, 1.8])


def test_red_is_computed_again_from_what_became_of_packets() -> None:
    assert theory.red_weight(30_000, 1000, 40) == 1 / 16
    # Each packet takes twice as long as the next takes to come; the average is half of what waits, and so on.
    fates = [False] * 6 + [True, False]
    met = theory.red_replay(fates, 1.0, 2.0, 1000, (1500, 4000, 0.5), 2)
    waits = [0, 0, 0, 1, 1, 2, 2, 2]  # when each comes: the first goes to the link at once
    average, count, wanted = 0.0, 0, []
    for place, (waiting, gone) in enumerate(zip(waits, fates, strict=True)):
        average += (1000 * waiting - average) / 2 if place else 0
        base = max(0.0, 0.5 * (average - 1500) / 2500)
        wanted.append(min(1.0, base / (1 - count * base)))
        count = 0 if gone or average < 1500 else count + 1
    assert met.probabilities == pytest.approx(wanted) and met.most == 3 and met.gaps == []


def test_the_page_and_the_command(tmp_path: Path) -> None:
    from twinplane.cli.app import app

    target = tmp_path / "page.md"
    words = ["validate", "--seeds", "1,2", "--only", "red", "--page", str(target), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert len(found["rows"]) == 2 * 21 and all(row["holds"] for row in found["rows"])
    for row in found["rows"]:
        if row["kind"] == "interval":
            assert row["high"] - row["low"] < 0.2 * row["expected"], row
    text = target.read_text()
    assert "## RED" in text and "| RED, average of 65 MB | 1 | share dropped | interval |" in text
    said = " ".join(text.split())
    assert "the 28 statistical rows all hold together with a probability of at least 99%" in said
    assert "28 statistical ones at 99% for their family, all seeds together, 14 exactly" in said
    assert page.verdict([], []).startswith("verdict  all 0 rows hold")


def test_mistakes_give_one_sentence() -> None:
    from twinplane.cli.app import app

    with pytest.raises(TwinplaneError, match=r"only=rde: there is no such group: .*\(did you mean 'red'\?\)"):
        checks(["rde"])
    for words, said in (
        (["--seeds", "x"], "whole numbers"),
        (["--seeds", "1,1"], "each once"),
        (["--page", "/nowhere/at/all/page.md"], "there is no folder"),
    ):
        done = CliRunner().invoke(app, ["validate", *words])
        assert isinstance(done.exception, TwinplaneError) and said in str(done.exception)


# -- beside the kernel --------------------------------------------------------------------------------


@pytest.mark.needs("root", "ip", "tc")
@pytest.mark.parametrize("case", kernel.CASES, ids=lambda case: case.name)
def test_a_discipline_of_the_kernel_does_what_ours_does(case: kernel.Case) -> None:
    """Within what the page claims, and so often tried as the page says."""
    seen = kernel.compare(case, 1)
    if not seen.holds and seen.disturbed:
        pytest.skip(f"the machine was too busy to compare: {seen}")
    assert seen.holds, seen
    assert seen.packets > 3000 and seen.kernel_lost > 300  # a row of few losses would show little


@pytest.mark.needs("root", "ip", "tc")
def test_a_discipline_that_differs_from_the_kernels_is_noticed() -> None:
    slow = kernel.RATE_BPS - kernel.RATE_BPS // 20
    case = replace(kernel.CASES[0], ours=lambda: queues.Tbf(rate=slow, burst=5000, limit=60_000))
    # A machine that stalls in between allows more: then another time shows it.
    seen = [kernel.compare(case, 1, attempts=1)]
    while seen[-1].holds and len(seen) < 4:
        seen.append(kernel.compare(case, 1, attempts=1))
    assert not seen[-1].holds, seen


def test_what_holds_beside_the_kernel() -> None:
    """The bounds that the page names, from both sides."""
    same = Compared("x", 3000, 1000, 1000, 0.9, 8e6, 8e6, 0, 0)
    assert same.holds and replace(same, ours_bps=8.079e6).holds and replace(same, ours_lost=950).holds
    for wrong in ({"ours_bps": 8.081e6}, {"ours_bps": 7.919e6}, {"ours_lost": 949}, {"ours_lost": 1051}):
        assert not replace(same, **wrong).holds, wrong
    few = replace(same, kernel_lost=10, ours_lost=13)
    assert few.holds and not replace(few, ours_lost=14).holds
    words = [
        replace(same, **facts).word
        for facts in ({"late_s": 1}, {"ours_lost": 1}, {"ours_lost": 1, "stalled": 1})
    ]
    assert words == ["holds", "DOES NOT HOLD", "MACHINE TOO BUSY"]
    assert kernel._stalled([0.5 + 0.001 * n for n in range(1500)]) == 0
    assert kernel._stalled([0.5 + 0.01 * n for n in range(150)]) == pytest.approx(0.697, abs=0.001)


def test_the_page_claims_what_is_accepted() -> None:
    kept = (Path(__file__).parents[1] / "docs/models/validation.md").read_text()
    assert page.KERNEL.strip() in kept and "| " + " | ".join(page.KERNEL_TITLES) + " |" in kept
    assert (verdict.RATE_WITHIN, verdict.LOSSES_WITHIN, verdict.LOSSES_APART) == (0.01, 0.05, 3)
    words = " ".join(page.KERNEL.split())
    assert (
        "within 1% and losses within 5% or 3 packets, whichever is more, in one of at most 5 attempts"
        in words
    )


def test_intervals_cover_the_truth() -> None:
    cases = [coverage.Case("ten Poisson LSPs", load, 2.0) for load in (0.3, 0.8)]
    rows = list(coverage.measure([*cases, coverage.Case("sawtooth", 0.8, 2.0)], 80))
    assert [row.given for row in rows] == [80, 80, 80]
    for row in rows:  # 95 % of 80 is 76; four standard deviations are 8
        assert row.holds >= 68, row
        assert row.width < 0.2, row
    assert [row.exact for row in rows] == [True, True, False]


def test_the_page_on_intervals_counts_what_is_outside() -> None:
    def row(given: int, holds: int) -> coverage.Covered:
        return coverage.Covered(coverage.Case("Poisson", 0.5), 100, given, holds, 0.1, 1e-3, True)

    rows = [row(100, 95), row(100, 80), row(60, 50)]
    said = coverage_page.verdict(rows)
    assert said.startswith(
        "verdict  1 of 3 rows cover the truth in 88.5% to 100.0% of the runs, as far as 100 seeds"
    )
    assert said.endswith("; of the 2 others 1 gave an interval in every run")
    text = coverage_page.markdown(rows)
    assert "| Poisson | 0.5 | 20 s | 60.0% | 83.3% | 10.0% | 0.001 | theory | outside |" in text
