"""The published figures of `diffserv`, closed forms, and what losses of one queue should be like."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ...measure.metrics import flat
from .parameters import FLOWS, DiffservParameters

FIGURES = (
    ("mean_s", "mean"),
    ("max_s", "max"),
    ("min_s", "min"),
    ("delay_range_s", "delay range"),
    ("dropped", "dropped"),
)
"""The rows of the published tables."""

CERTAIN_Z = 3.02
"""Of a normal distribution: 99 % for the family of four flows lie within (0.25 % each)."""


def published() -> dict[str, dict[str, dict[str, float]]]:
    """Scenario, flow, figure."""
    return {key: value for key, value in _file().items() if key not in ("source", "fitted")}


@cache
def _file() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(
        files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    )
    return found


def digits_s() -> float:
    """Unit of the last digit of the published times."""
    return float(_file()["source"]["digits"])


def fitted(scenario: str, flow: str, key: str) -> str | None:
    """What was chosen with a published figure in view; None if nothing was."""
    for entry in _file()["fitted"]:
        if entry["scenario"] == scenario and flow in entry["flows"] and key in entry["figures"]:
            return str(entry["reason"])
    return None


def fitted_scenarios() -> set[str]:
    """The scenarios that something was fitted to."""
    return {entry["scenario"] for entry in _file()["fitted"]}


def figure(metrics: Mapping[str, Any], scenario: str, flow: str, key: str) -> Any:
    """A figure of a flow, if it was measured."""
    return flat(metrics).get(f"{scenario}.{flow}.{key}")


def as_published(p: DiffservParameters) -> bool:
    """Are traffic and duration those of the paper, so that its figures can be laid beside ours?"""
    fields = ("duration_s", "ef_kbps", "af11_kbps", "af12_kbps", "de_kbps", "packet_bytes", "total_mbps")
    return all(getattr(p, field) == DiffservParameters.model_fields[field].default for field in fields)


def nominal(p: DiffservParameters) -> dict[str, int]:
    """How many packets of each flow the published rates are."""
    return {flow: round(p.rate_kbps(flow) * 1000 * p.duration_s / (8 * p.packet_bytes)) for flow in FLOWS}


def proportional(
    flows: Mapping[str, Mapping[str, Any]], sent: Mapping[str, int] | None = None
) -> tuple[bool, float]:
    """Are losses of flows in one queue shared as their packets are, and by how much is the farthest off?

    A queue that does not look at flows drops whoever comes: given all losses, each is of a flow with the
    probability that its share of the packets gives. The deviation is in standard deviations of that.
    """
    counts = sent or {flow: values["sent"] for flow, values in flows.items()}
    lost, whole = sum(values["dropped"] for values in flows.values()), sum(counts.values())
    worst = 0.0
    for flow, values in flows.items():
        share = counts[flow] / whole if whole else 0.0
        # Those dropped are drawn without replacement from those sent.
        spread = math.sqrt(lost * share * (1 - share) * (1 - lost / whole)) if whole else 0.0
        off = (values["dropped"] - lost * share) / spread if spread else 0.0
        worst = off if abs(off) > abs(worst) else worst
    return abs(worst) <= CERTAIN_Z, worst


def closed_form(p: DiffservParameters, counted_bytes: int | None = None) -> dict[str, float]:
    """Best effort as a fluid: a queue fills at the excess of the load, stays full and loses the excess."""
    served = p.total_mbps * 1e6 / (8 * (counted_bytes or p.counted_bytes))
    offered = {flow: p.packets_per_s(flow) for flow in FLOWS}
    load = sum(offered.values())
    excess = load - served
    filled_s = min(p.queue_packets / excess, p.duration_s) if excess > 0 else 0.0
    lost = max(0.0, excess * (p.duration_s - filled_s))
    depth = excess * filled_s
    mean = depth * (p.duration_s - filled_s / 2) / p.duration_s / served
    found = {"total": lost, "max_s": p.queue_packets / served, "mean_s": mean}
    return {**found, **{f"{flow}.dropped": lost * rate / load for flow, rate in offered.items()}}
