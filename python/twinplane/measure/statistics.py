"""Mean, standard deviation and confidence interval of repeated runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .metrics import flat, like

CONFIDENCE = 0.95


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of all values does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    rank = max(1, -(-int(share * len(ordered) * 1_000_000) // 1_000_000))
    return ordered[min(rank, len(ordered)) - 1]


def bounded_quantile(values: Sequence[float], share: float) -> float | None:
    """The same where order statistics bound it on both sides with 95 % confidence: 99.9 % of 3,688 values."""
    return quantile(values, share) if share ** len(values) <= (1 - CONFIDENCE) / 2 else None


def student(t: float, freedom: int) -> float:
    """Probability that Student's t lies within -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = 1.0, 1.0
    if freedom % 2:
        if freedom == 1:
            return 2 * angle / math.pi
        for k in range(3, freedom - 1, 2):
            term *= cosine**2 * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + sine * cosine * total)
    for k in range(2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return sine * total


def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t that encloses a share of the distribution, by bisection."""
    low, high = 0.0, 1.0
    while student(high, freedom) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student(middle, freedom) < confidence else (low, middle)
    return high


def chi_square(value: float, freedom: int) -> float:
    """Probability that chi-square of so many degrees of freedom is at most `value`.

    The incomplete gamma function by its series (Abramowitz and Stegun, 6.5.29).
    """
    half, x = freedom / 2, value / 2
    if x <= 0:
        return 0.0
    term = total = 1 / half
    place = half
    while term > total * 1e-16:
        place += 1
        term *= x / place
        total += term
    return min(1.0, total * math.exp(half * math.log(x) - x - math.lgamma(half)))


def chi_square_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The value that chi-square exceeds with the rest of the probability, by bisection."""
    low, high = 0.0, float(freedom)
    while chi_square(high, freedom) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square(middle, freedom) < confidence else (low, middle)
    return high


def interval(values: Sequence[float]) -> dict[str, Any]:
    """Mean, sample standard deviation and the 95 % confidence interval of the mean."""
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return {"n": count, "mean": mean, "sd": None, "low": None, "high": None}
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = t_quantile(count - 1) * sd / math.sqrt(count)
    return {"n": count, "mean": mean, "sd": sd, "low": mean - half, "high": mean + half}


def spread_of_difference(x: Mapping[str, Any], y: Mapping[str, Any]) -> float | None:
    """Half of the 95 % interval of a difference of two means, from `interval`s of repeated runs.

    Welch's approximation where both were repeated. A single run has the deviation of the runs it is beside.
    None if neither was repeated.
    """
    known = [one for one in (x, y) if one.get("sd") is not None]
    if not known:
        return None
    if len(known) == 1:
        (one,) = known
        return float(t_quantile(one["n"] - 1) * one["sd"] * math.sqrt(1 + 1 / one["n"]))
    parts = [one["sd"] ** 2 / one["n"] for one in known]
    if not sum(parts):
        return 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (one["n"] - 1) for part, one in zip(parts, known, strict=True))
    return t_quantile(max(1, math.floor(freedom))) * math.sqrt(sum(parts))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def combine(repeats: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metrics of repeated runs as their means, and an interval for each that is a number."""
    if len(repeats) == 1:
        return dict(repeats[0]), {}
    means: dict[str, Any] = {}
    intervals: dict[str, Any] = {}
    every = [flat(repeat) for repeat in repeats]
    for key, first in every[0].items():
        values = [repeat.get(key) for repeat in every]
        numbers = [value for value in values if _is_number(value)]
        if numbers and len(numbers) + values.count(None) == len(values):
            intervals[key] = interval([float(value) for value in numbers if value is not None])
            mean = intervals[key]["mean"]
            same = all(value == numbers[0] for value in values)
            means[key] = first if same else mean
        else:
            means[key] = first
    return like(repeats[0], means), intervals


def together(
    runs: Sequence[Mapping[str, Any]], entry: Mapping[str, Any], modelled: bool = False
) -> dict[str, Any]:
    """What real time adds to a point: of its repetitions the widest bounds, every refusal, the twins' means.

    A metric that is refused in one repetition is missing from the point. See `residuals` for `modelled`.
    """
    refused = {key: reason for run in runs for key, reason in run["refused"].items()}
    bounds = {
        key: max(run["bounds"].get(key, 0.0) for run in runs)
        for key in dict.fromkeys(key for run in runs for key in run["bounds"])
        if key not in refused
    }
    given = {key: value for key, value in flat(entry["metrics"]).items() if key not in refused}
    found: dict[str, Any] = {
        "parameters": runs[0]["parameters"],
        "metrics": like(entry["metrics"], given),
        "bounds": bounds,
        "refused": refused,
        "calibration": runs[0]["calibration"],
    }
    twins = [run["twin"]["metrics"] for run in runs if run.get("twin")]
    if twins:
        found["twin"] = {**runs[0]["twin"], "metrics": combine(twins)[0]}
        found["twin"]["residuals"] = residuals(found["twin"]["metrics"], found["metrics"], bounds, modelled)
    return found


def residuals(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    bounds: Mapping[str, float],
    modelled: bool = False,
) -> dict[str, dict[str, float | bool | None]]:
    """Second less first by metric, with the bound and whether the residual lies within it.

    With `modelled` the same model made both runs: where nothing differs, nothing could differ, so that it is
    not said to lie within a bound (None).
    """
    found = {}
    one, two = flat(first), flat(second)
    for key in dict.fromkeys([*one, *two]):
        x, y = one.get(key), two.get(key)
        if x is None or y is None or not (_is_number(x) and _is_number(y)):
            continue
        bound = bounds.get(key)
        found[key] = {
            "residual": y - x,
            "relative": (y - x) / x if x else None,
            "bound": bound,
            "within": None if modelled and x == y else abs(y - x) <= (bound or 0.0),
        }
    return found
