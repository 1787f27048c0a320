"""Two runs side by side: what a residual is held against, and what says nothing."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from twinplane.measure.comparison import Row, both_modelled, other_seeds, remarks, rows_of
from twinplane.measure.statistics import interval, residuals, spread_of_difference, t_quantile
from twinplane.reports.from_two import answer
from twinplane.results.folder import Results
from twinplane.results.points import Point


def run(seed: int = 1, repeat: int = 1, place: str | None = None, **parameters: Any) -> Results:
    real = None if place is None else {"place": place}
    manifest = {"seed": seed, "repeat": repeat, "real": real}
    return Results(Path("x"), manifest, {}, [Point({"n": 1, **parameters}, {})])


def point(value: float, values: list[float] | None = None, bound: float | None = None) -> Point:
    known = {} if values is None else {"d": interval(values)}
    return Point({}, {"d": value}, {} if bound is None else {"d": bound}, intervals=known)


def only(rows: list[Row]) -> Row:
    (row,) = rows
    return row


def test_spread_of_a_difference() -> None:
    x, y = interval([1.0, 2.0, 3.0]), interval([1.0, 2.0, 3.0, 2.0, 2.0])
    assert spread_of_difference({}, interval([1.0])) is None
    assert spread_of_difference(x, {}) == pytest.approx(t_quantile(2) * 1.0 * sqrt(1 + 1 / 3))
    a, b = 1 / 3, 0.5 / 5
    freedom = int((a + b) ** 2 / (a**2 / 2 + b**2 / 4))
    assert spread_of_difference(x, y) == pytest.approx(t_quantile(freedom) * sqrt(a + b))
    assert spread_of_difference(interval([1.0, 1.0]), interval([2.0, 2.0])) == 0.0


def test_other_seeds_are_judged_by_the_spread_of_repeats_or_not_at_all() -> None:
    alone = only(rows_of("", point(3.0), point(4.0), chance=True))
    assert (alone.within, alone.spread, alone.verdict) == (None, None, "other seed")
    assert "neither was repeated" in remarks([alone])[0]
    near = only(rows_of("", point(3.0, [2.0, 3.0, 4.0]), point(4.0), chance=True))
    assert near.within is True and near.spread == pytest.approx(t_quantile(2) * sqrt(4 / 3))
    far = only(rows_of("", point(3.0, [2.9, 3.0, 3.1]), point(4.0), chance=True))
    assert (far.within, far.verdict) == (False, "no")
    assert only(rows_of("", point(3.0), point(4.0))).verdict == "no"
    both = only(rows_of("", point(3.0, [2.9, 3.0, 3.1]), point(4.0, None, 2.0), chance=True))
    assert both.within is True and both.bound == 2.0


def test_what_is_equal_by_construction_is_no_agreement() -> None:
    row = only(rows_of("", point(3.0), point(3.0), modelled=True))
    assert (row.within, row.verdict) == (None, "modelled")
    assert answer([row], []) == "1 are modelled, and equal by construction."
    assert "equal by construction" in remarks([row])[0]
    odd = only(rows_of("", point(3.0), point(4.0), modelled=True))
    assert (odd.within, odd.verdict) == (False, "no")  # if ever it is not, it is said
    assert residuals({"k": 3}, {"k": 3}, {}, True)["k"]["within"] is None


def test_which_runs_one_model_makes() -> None:
    virtual, process, lab = run(), run(place="process"), run(place="lab")
    assert both_modelled(virtual, process) and both_modelled(process, process)
    assert not both_modelled(virtual, virtual) and not both_modelled(process, lab)
    assert not both_modelled(run(seed=2), process) and not both_modelled(run(n=2), process)
    assert other_seeds(run(), run(seed=2)) and other_seeds(run(), run(repeat=3))
    assert not other_seeds(run(), run(n=2))
