"""A finished point of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Point:
    """Parameters and metrics of one finished point; of a run in real time, how far each may be off."""

    parameters: Mapping[str, Any]
    metrics: Mapping[str, Any]
    bounds: Mapping[str, float] = field(default_factory=dict)
    """By metric, in its unit; what is missing is exact."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """By metric that is not given: why."""
    twin: Mapping[str, Any] = field(default_factory=dict)
    """Metrics of the run in virtual time beside this one."""
    intervals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of repeated runs, by metric: `n`, `mean`, `sd`, and `low` to `high`, the 95 % interval of the mean."""

    def half(self, metric: str) -> float | None:
        """Of repeated runs: half of the interval of a metric."""
        known = self.intervals.get(metric) or {}
        return None if known.get("low") is None else float(known["high"] - known["low"]) / 2
