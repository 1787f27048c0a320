"""Grouped metrics: runs are laid beside each other by flat names, and results keep their groups."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twinplane.measure.metrics import flat, inside, like
from twinplane.measure.statistics import combine, residuals, together

NAMES = st.text("abc-_", min_size=1, max_size=4)
GROUPED = st.recursive(
    st.integers() | st.none() | st.text(max_size=3),
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, GROUPED, max_size=4))
def test_flat_and_back(metrics: dict[str, object]) -> None:
    assert like(metrics, flat(metrics)) == metrics


def test_inside() -> None:
    assert inside({"a.b.c": 1, "a.d": 2, "ab.c": 3}, "a") == {"b.c": 1, "d": 2}


def test_repeats_keep_their_groups() -> None:
    runs = [{"x": {"EF": {"mean_s": value}}, "digest": str(value)} for value in (1.0, 3.0)]
    means, intervals = combine(runs)
    assert means == {"x": {"EF": {"mean_s": 2.0}}, "digest": "1.0"}
    assert set(intervals) == {"x.EF.mean_s"} and intervals["x.EF.mean_s"]["n"] == 2


def test_refused_groups_are_missing_and_residuals_are_flat() -> None:
    metrics = {"x": {"EF": {"mean_s": 1.5, "max_s": 2.0}}}
    run = {
        "parameters": {},
        "bounds": {"x.EF.max_s": 0.1},
        "refused": {"x.EF.mean_s": "below"},
        "calibration": {},
    }
    run["twin"] = {"metrics": {"x": {"EF": {"mean_s": 1.0, "max_s": 1.95}}}}
    found = together([run], {"metrics": metrics})
    assert found["metrics"] == {"x": {"EF": {"mean_s": None, "max_s": 2.0}}}
    assert set(found["twin"]["residuals"]) == {"x.EF.max_s"}
    assert found["twin"]["residuals"]["x.EF.max_s"]["within"]
    assert residuals({"a": {"b": 1}}, {"a": {"b": 2}}, {})["a.b"]["residual"] == 1
