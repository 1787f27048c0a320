"""The rows of `lsp-flap`: every published figure that runs have something to say about, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from ...results.points import Point
from ..scores import Comparison, Kind, farthest, rounding
from .parameters import FlapParameters
from .published import closed_form, delay_rows, is_line_rate, published

MATRIX = ("scenario", "family", "size", "n")
"""Parameters that differ between points of the published matrix. All others are its circumstances."""

PROCEDURE = ("m", "rate_mbps", "first_event_s", "first_period_s", "second_period_s")
"""Parameters that the paper gives: with others a run says nothing about its figures."""

FITTED_PROFILE = "juniper-m10"
ROUNDED = "rounding of the figure"


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """The rows of all points, for each set of circumstances by itself."""
    groups: dict[tuple[tuple[str, Any], ...], list[Point]] = {}
    for point in points:
        if as_published(point.parameters):
            circumstances = ((key, value) for key, value in point.parameters.items() if key not in MATRIX)
            groups.setdefault(tuple(circumstances), []).append(point)
    differing = _differing(list(groups))
    found = []
    for group, own in groups.items():
        lead = "".join(f"{key}={value}, " for key, value in group if key in differing)
        found += [*_delays(lead, own), *_k(lead, own), *_counts(lead, own), *_unchanged(lead, own)]
    return found


def as_published(parameters: Mapping[str, Any]) -> bool:
    """Is this a point of the published matrix, or one between its points?"""
    fields = FlapParameters.model_fields
    if any(parameters.get(key, fields[key].default) != fields[key].default for key in PROCEDURE):
        return False
    source = published()["source"]
    low, high = source["n_1_3" if parameters["family"] in (1, 3) else "n_2_4"]
    return bool(parameters["size"] in source["sizes"] and low <= parameters["n"] <= high)


def fitted_here(parameters: Mapping[str, Any]) -> bool:
    """Is the model the one that was fitted: its profile, and everything else as it is without --set?"""
    fields = FlapParameters.model_fields
    others = set(fields) - {*MATRIX, "profile"}
    same = all(parameters.get(key, fields[key].default) == fields[key].default for key in others)
    return same and parameters["profile"] == FITTED_PROFILE


def _differing(groups: Sequence[tuple[tuple[str, Any], ...]]) -> set[str]:
    return {key for key, _ in set().union(*groups) if len({dict(group).get(key) for group in groups}) > 1}


def _kind(row: Mapping[str, Any], points: Sequence[Point]) -> tuple[Kind, str]:
    """The kind of a published figure, and why. Of another model than the fitted one it is a prediction."""
    kinds = {"fitted": Kind.FITTED, "inside": Kind.INSIDE, "outside": Kind.OUTSIDE}
    if row["kind"] == "contradictory":
        return Kind.CONTRADICTORY, published()["contradiction"][row["reason"]]
    if not fitted_here(points[0].parameters):
        return Kind.OUTSIDE, ""
    return kinds[row["kind"]], row.get("reason", "")


def _families(row: Mapping[str, Any]) -> str:
    first, *others = map(str, row["families"])
    return f"families {first}{''.join(f', {other}' for other in others)}" if others else f"family {first}"


def _named(row: Mapping[str, Any]) -> str:
    return f"{'one router' if row['scenario'] == 'single' else 'ring'}, {_families(row)}"


def _of(row: Mapping[str, Any], points: Sequence[Point]) -> list[Point]:
    """The points that a row is about."""
    return [
        point
        for point in points
        if point.parameters["family"] in row["families"]
        and row.get("scenario", point.parameters["scenario"]) == point.parameters["scenario"]
    ]


def _runs(points: Sequence[Point]) -> str:
    return "1 run" if len(points) == 1 else f"{len(points)} runs"


def _delays(lead: str, points: Sequence[Point]) -> list[Comparison]:
    found = []
    for row in published()["delay"]:
        own = [point for point in points if row in delay_rows(point.parameters)]
        if not own:
            continue
        mean, phases = float(row["mean_s"]), [row["phase"]] if "phase" in row else ["prior", "during"]
        p = FlapParameters.model_validate(own[0].parameters)
        kind, reason = _kind(row, own)
        measured = [point.metrics.get(f"delay_{phase}_s") for point in own for phase in phases]
        found.append(
            Comparison(
                f"{lead}{_named(row)}, {row['size']} bytes: mean delay {' and '.join(phases)}",
                "s",
                kind,
                mean,
                farthest(measured, mean),
                *rounding(mean, float(row["digits"])),
                ROUNDED,
                None if is_line_rate(p) else closed_form(p),
                f"the farthest off of {_runs(own)}",
                reason,
            )
        )
    return found


def _k(lead: str, points: Sequence[Point]) -> list[Comparison]:
    """Thresholds by the runs that contradict them, and the greatest K."""
    found = []
    for row in published()["threshold"]:
        own = _of(row, points)
        if not own:
            continue
        n, (kind, reason) = row["n"], _kind(row, own)
        against = sum(
            (point.metrics.get("k") != point.parameters["n"])
            if point.parameters["n"] <= n
            else not (point.metrics.get("k", inf) < point.parameters["n"])
            for point in own
        )
        what = f"{lead}{_named(row)}: runs against K = N up to N = {n} and K < N above it"
        tested = f"of {_runs(own)}, N = {_span(own)}"
        found.append(Comparison(what, "runs", kind, 0, against, 0, 0, "exact", claim=tested, reason=reason))
    for row in published()["k_most"]:
        own = _of(row, points)
        if not own:
            continue
        kind, reason = _kind(row, own)
        what = f"{lead}{_families(row)}: the greatest K"
        most = max(point.metrics["k"] for point in own)
        claim = f"no more than that in {_runs(own)}, N = {_span(own)}"
        found.append(
            Comparison(
                what, "LSPs", kind, row["k"], most, -inf, row["k"], "exact", claim=claim, reason=reason
            )
        )
    return found


def _span(points: Sequence[Point]) -> str:
    values = sorted({point.parameters["n"] for point in points})
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def _counts(lead: str, points: Sequence[Point]) -> list[Comparison]:
    found = []
    for row in published()["count"]:
        values = [_count(row["metric"], point.metrics) for point in points]
        measured = max(values) if "most in a run" in row["what"] else sum(values)
        kind, reason = _kind(row, points)
        found.append(
            Comparison(
                lead + row["what"],
                "",
                kind,
                row["value"],
                measured,
                row["value"],
                row["value"],
                "exact",
                claim=f"in {_runs(points)}",
                reason=reason,
            )
        )
    return found


def _count(metric: str, metrics: Mapping[str, Any]) -> float:
    if metric == "lost":
        return float(metrics.get("lost_prior", 0) + metrics.get("lost_during", 0))
    return float(metrics.get(metric, 0))


def _unchanged(lead: str, points: Sequence[Point]) -> list[Comparison]:
    """By how much delay changes from prior to during, and with N: below line rate, and at line rate."""
    found = []
    for row in published()["unchanged"]:
        for full in (False, True):
            if full and row["over"] == "phase":
                continue  # of line rate the paper gives prior and during as figures
            own = [point for point in points if _is_full(point) == full]
            changes = _over_phases(own) if row["over"] == "phase" else _over_n(own)
            if not changes:
                continue
            kind, reason = _kind({**row, "kind": "outside"} if full else row, own)
            digits = max(float(known["digits"]) for point in own for known in delay_rows(point.parameters))
            over = "from prior to during" if row["over"] == "phase" else "with N"
            where = "at line rate" if full else "below line rate"
            found.append(
                Comparison(
                    f"{lead}{where}: greatest change of mean delay {over}",
                    "s",
                    kind,
                    None,
                    max(changes),
                    0.0,
                    digits,
                    "figures printed alike differ by no more",
                    claim=f"no change, in {_runs(own)}",
                    reason=reason,
                )
            )
    return found


def _is_full(point: Point) -> bool:
    return is_line_rate(FlapParameters.model_validate(point.parameters))


def _over_phases(points: Sequence[Point]) -> list[float]:
    pairs = [(point.metrics.get("delay_prior_s"), point.metrics.get("delay_during_s")) for point in points]
    return [abs(during - prior) for prior, during in pairs if prior is not None and during is not None]


def _over_n(points: Sequence[Point]) -> list[float]:
    """Of all points that differ in N alone: greatest less least, where there are several."""
    series: dict[tuple[Any, ...], list[float]] = {}
    for point in points:
        for phase in ("prior", "during"):
            value = point.metrics.get(f"delay_{phase}_s")
            if value is not None:
                key = (phase, *(point.parameters[name] for name in ("scenario", "family", "size")))
                series.setdefault(key, []).append(value)
    return [max(values) - min(values) for values in series.values() if len(values) > 1]
