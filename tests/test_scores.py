"""Published figures beside ours: each is a row once, with a kind and a verdict, and is counted."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from math import inf, sqrt
from pathlib import Path
from typing import Any

import pytest
from twinplane.experiments import load, scores
from twinplane.experiments.base import Experiment
from twinplane.experiments.diffserv import compared as diffserv
from twinplane.experiments.diffserv.parameters import FLOWS, SCENARIOS, DiffservParameters
from twinplane.experiments.lsp_flap import compared as flap
from twinplane.experiments.lsp_flap.parameters import FlapParameters
from twinplane.experiments.scores import Comparison, Kind
from twinplane.measure.statistics import interval, t_quantile
from twinplane.results.points import Point
from twinplane.validation import published as page

ROOT = Path(__file__).resolve().parents[1]
FLAP: Experiment[Any] = load("lsp-flap")
CALM = {
    "lost_prior": 0,
    "lost_during": 0,
    "failed": 0,
    "down_at_end_of_traffic": 0,
    "delay_prior_s": 2.06e-4,
    "delay_during_s": 2.06e-4,
}


def figures_of(name: str) -> dict[str, Any]:
    path = ROOT / "python/twinplane/experiments" / name / "published.toml"
    return tomllib.loads(path.read_text())


def flapped(**changed: Any) -> Point:
    """A point of the published matrix where nothing is wrong, but for what is changed."""
    metrics = {key: changed.pop(key) for key in list(changed) if key in {*CALM, "k"}}
    p = FlapParameters(**changed)
    return Point(p.model_dump(), {**CALM, "k": p.n, **metrics})


def campaign() -> list[Point]:
    return [flapped(**p.model_dump()) for p in FLAP.campaign({})]


def quarters() -> Point:
    """A point of all four scenarios that gives what is published."""
    told = figures_of("diffserv")
    metrics = {
        scenario: {flow: {**told[scenario][flow], "sent": 3000} for flow in FLOWS} for scenario in SCENARIOS
    }
    return Point(DiffservParameters().model_dump(mode="json"), metrics)


def test_every_published_figure_is_a_row_once() -> None:
    rows = flap.comparisons(campaign())
    told = figures_of("lsp_flap")
    figures = sum(len(told[key]) for key in ("delay", "threshold", "k_most", "count"))
    assert figures == 13 + 4 + 2 + 3 == len([row for row in rows if row.published is not None])
    assert len([row for row in rows if row.published is None]) == 3  # words: unchanged, with N twice
    assert set(Counter(row.what for row in rows).values()) == {1}
    rows = diffserv.comparisons(quarters())
    published = [row for row in rows if row.published is not None]
    assert len(published) == len(SCENARIOS) * len(FLOWS) * 5
    assert set(Counter(row.what for row in rows).values()) == {1}
    assert all(row.holds for row in published)


def test_what_was_fitted_is_said_and_is_not_counted_as_predicted() -> None:
    kinds = {row.what: row.kind for row in flap.comparisons(campaign())}
    assert {what for what, kind in kinds.items() if kind is Kind.FITTED} == {
        "ring, families 1, 2, 64 bytes: mean delay prior and during",
        "ring, families 1, 2, 3, 4, 1500 bytes: mean delay prior and during",
        "one router, families 1, 2, 64 bytes: mean delay prior and during",
        "ring, families 1, 3: runs against K = N up to N = 300 and K < N above it",
        "ring, families 2, 4: runs against K = N up to N = 250 and K < N above it",
        "packets lost",
        "LSPs not up at the end, grace_s included",
    }
    assert sum(kind is Kind.CONTRADICTORY for kind in kinds.values()) == 4
    others = flap.comparisons([flapped(profile="ideal", size=1500), flapped(ring_delay_us=50, size=1500)])
    assert {row.kind for row in others} == {Kind.OUTSIDE}
    rows = diffserv.comparisons(quarters())
    assert Counter(row.kind for row in rows if row.published is not None) == {
        Kind.FITTED: 12,
        Kind.INSIDE: 8,
        Kind.OUTSIDE: 52,
        Kind.CONTRADICTORY: 8,
    }
    changed = Point({**quarters().parameters, "offered": 0.955}, quarters().metrics)
    assert Kind.FITTED not in {row.kind for row in diffserv.comparisons(changed)}
    assert all(row.reason for row in rows if row.kind in (Kind.FITTED, Kind.CONTRADICTORY))


def test_a_delay_agrees_within_its_rounding_and_no_more() -> None:
    for off, holds in ((0.0, True), (0.49e-6, True), (0.51e-6, False), (-0.51e-6, False)):
        point = flapped(size=1500, delay_during_s=2.06e-4 + off)
        row = next(row for row in flap.comparisons([point]) if "1500 bytes" in row.what)
        assert row.holds is holds and row.measured == pytest.approx(2.06e-4 + off)
    coarse = flapped(size=1500, scenario="single", delay_prior_s=3.4e-5, delay_during_s=3.4e-5)
    assert next(row for row in flap.comparisons([coarse]) if "1500 bytes" in row.what).holds  # 0.03 ms
    fine = flapped(size=1500, scenario="single", family=3, delay_prior_s=3.4e-5, delay_during_s=3.4e-5)
    assert not next(row for row in flap.comparisons([fine]) if "1500 bytes" in row.what).holds  # 0.031 ms


def test_thresholds_count_the_runs_against_them() -> None:
    for last, against in ((250, 0), (200, 1), (300, 1), (500, 5)):
        points = [
            flapped(**{**p.model_dump(), "k": p.n if p.n <= last else p.n - 1})
            for p in FLAP.campaign({"family": ["2"], "scenario": ["ring"], "size": ["512"]})
        ]
        (row,) = (row for row in flap.comparisons(points) if "runs against" in row.what)
        assert (row.published, row.measured, row.holds) == (0, against, not against)
    most = next(row for row in flap.comparisons([flapped(n=900, k=539)]) if "greatest K" in row.what)
    assert (most.published, most.measured, most.low, most.holds) == (350, 539, -inf, False)


def test_runs_that_are_not_the_papers_have_no_rows() -> None:
    for changed in ({"rate_mbps": 10.0}, {"m": 7}, {"first_event_s": 1.0}, {"n": 20}, {"size": 300}):
        assert flap.comparisons([flapped(**changed)]) == [], changed
    assert scores.headline([]) == "Nothing is published for these runs"


def test_delay_that_changes_with_n_or_while_lsps_flap_is_missed() -> None:
    points = [flapped(size=1500, n=100), flapped(size=1500, n=200, delay_during_s=2.2e-4)]
    rows = {row.what: row for row in flap.comparisons(points) if row.published is None}
    assert [row.holds for row in rows.values()] == [False, False]
    assert all(row.measured == pytest.approx(1.4e-5) and row.high == 1e-6 for row in rows.values())


def test_of_repeated_runs_a_figure_agrees_where_a_further_run_would_lie() -> None:
    point = quarters()
    values = [0.014, 0.016, 0.019, 0.015]
    known = interval(values)
    repeated = Point(point.parameters, point.metrics, intervals={"diffserv.EF.mean_s": known})
    row = next(row for row in diffserv.comparisons(repeated) if row.what == "diffserv: EF mean")
    wide = t_quantile(3) * known["sd"] * sqrt(1 + 1 / 4)
    assert (row.low, row.high) == pytest.approx((0.015 - 0.0005 - wide, 0.015 + 0.0005 + wide))
    assert "4 seeds" in row.source


def test_published_losses_that_no_queue_would_share_so_are_contradictory() -> None:
    rows = [row for row in diffserv.comparisons(quarters()) if row.kind is Kind.CONTRADICTORY]
    assert {row.what.partition(":")[0] for row in rows} == {"best-effort", "mpls"}
    assert all(row.what.endswith("dropped") and "standard deviations off" in row.reason for row in rows)


def test_the_headline_counts_every_row() -> None:
    rows = [*flap.comparisons([flapped(size=512), flapped(size=512, n=400, k=400)])]
    said = scores.headline(rows)
    assert said == (
        "6 published figures (3 hold, 3 missed): 3 fitted (2 hold, 1 missed),"
        " 1 predicted inside the fit's range (1 missed),"
        " 2 predicted outside the fit's range (1 hold, 1 missed); 2 claims in words (2 hold)"
    )
    rows = diffserv.comparisons(quarters())
    counts = [int(count) for count in re.findall(r"(\d+) (?:hold|missed)", scores.headline(rows))]
    assert sum(counts) == len(rows) + 80  # figures by kind, and all of them


@pytest.mark.parametrize("measured", [None, 3.0, 4.0, 5.0])
def test_every_row_has_a_verdict(measured: float | None) -> None:
    row = Comparison("x", "packets", Kind.OUTSIDE, 4, measured, 4, 4, "exact")
    assert row.holds is (measured == 4)
    assert scores.cells(row)[-1] == ("holds" if measured == 4 else "MISSED")


PAGE = ROOT / "docs/models/published.md"


def cells_of(text: str) -> Mapping[str, list[str]]:
    """Rows of the tables of a page, by their first cell."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [cell.strip() for cell in row] for row in lines}


def test_the_page_has_every_row_and_its_headlines_count_them() -> None:
    """What was measured is from a run of an hour; figures, kinds and reasons are made again here."""
    text = PAGE.read_text()
    found = cells_of(text)
    seeds = re.search(r"--published (\d+)", text)
    assert seeds is not None
    made = [*flap.comparisons(campaign()), *diffserv.comparisons(quarters())]
    assert len(made) > 100
    for row in made:
        own, there = scores.cells(row), found[row.what]
        assert there[1] == own[1] and there[3] == own[3], row.what
        assert there[-1] in ("holds", "MISSED")
    titles = {scores.TITLES[0], "---"}
    assert set(found) - titles == {row.what for row in made}
    assert text.startswith(page.INTRODUCTION.format(seeds=seeds[1]))
    for heading in text.split("\n## ")[1:]:
        rows = [row for what, row in cells_of(heading).items() if what not in titles]
        held = sum(row[-1] == "holds" for row in rows)
        said = heading.partition("\n\n| ")[0]
        counts = Counter(re.findall(r"\d+ (hold|missed)", said))
        assert counts
        figures = [row for row in rows if row[3] != "-"]
        first = re.search(r"(\d+) published figures? \((\d+) hold, (\d+) missed\)", " ".join(said.split()))
        assert first is not None
        own = sum(row[-1] == "holds" for row in figures)
        assert [int(count) for count in first.groups()] == [len(figures), own, len(figures) - own]
        assert held <= len(rows)


def test_cheap_rows_of_the_page_are_made_again() -> None:
    """Delays below line rate hardly depend on the rest of a run: those of 512 bytes."""
    found = cells_of(PAGE.read_text())
    for scenario, what in (("ring", "ring, families 1, 2, 3, 4"), ("single", "one router, families 1, 2")):
        p = FlapParameters(scenario=scenario, size=512, rate_mbps=10, n=1, m=1)
        network = FLAP.build(p, 1)
        FLAP.run(network, p)
        delay = FLAP.summarise(network, p).metrics["delay_prior_s"]
        row = found[f"{what}, 512 bytes: mean delay prior and during"]
        number, unit = row[8].split(" ")
        scale = {"us": 1e-6, "ms": 1e-3}[unit]
        assert float(number) * scale == pytest.approx(delay, rel=2e-3)
        assert row[-1] == "MISSED"
