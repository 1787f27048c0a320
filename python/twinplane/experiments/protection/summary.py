"""Figures and tables of `protection`: gaps, who was led around, and what trees lost elsewhere."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

import polars as pl

from ...frames import Columns
from ...measure.statistics import quantile
from ...network import Network
from ..base import Outcome
from .build import times
from .classes import METHODS
from .gaps import KINDS, flows, gaps, received
from .parameters import AWAY_S, DOWN_S, ProtectionParameters


def summarise(network: Network, p: ProtectionParameters) -> Outcome:
    """Quantiles and maximum of each method, and all gaps as a table."""
    rows = received(network, p)
    found = gaps(network, p, rows)
    metrics: dict[str, Any] = {"predicted_s": p.predicted_s}
    for kind in KINDS:
        if flows(p)[kind]:
            metrics |= _lengths(found.filter(pl.col("kind") == kind), "" if kind == "LSPs" else "tree_")
    led = _led_around(network, p)
    beyond = rows.filter(~pl.col("is_before")).height
    metrics |= {
        "gaps": found.height,
        "missing": beyond - found.height,
        "late": _late(found, p),
        "bypasses": len(network.table("bypasses")),
        "detours": len(network.table("detours")),
        "diverted": sum(count >= p.lsps + p.trees for count in led),
        "diverted_lsps": min(led),
    }
    tables: dict[str, Columns] = {
        "gaps": found.to_dict(as_series=False),
        "bypasses": network.columns("bypasses"),
    }
    if p.doubled:
        metrics["duplicated"] = int(rows.filter(pl.col("kind") == "LSPs")["duplicated"].sum())
    if p.trees:
        before = rows.filter("is_before")
        metrics["tree_before_lost"] = int((before["sent"] - before["received"]).sum())
        metrics["tree_duplicated"] = int(rows.filter(pl.col("kind") == "trees")["duplicated"].sum())
    return Outcome(metrics, tables)


def _lengths(found: pl.DataFrame, before: str) -> dict[str, float | None]:
    """Median, 99th percentile and maximum by each method; absent where a method can't tell."""
    metrics: dict[str, float | None] = {}
    for method in METHODS:
        values: list[float] = found[f"{method}_s"].drop_nulls().to_list()
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            metrics[f"{before}{method}_{name}_s"] = quantile(values, share)
        metrics[f"{before}{method}_max_s"] = max(values, default=None)
    return metrics


def _late(found: pl.DataFrame, p: ProtectionParameters) -> int:
    """Gaps that are longer than predicted by more than the packet that losses can't tell."""
    if p.predicted_s is None:
        return 0
    return found.filter(pl.col("loss_s") > p.predicted_s + 1.001 / p.packets_per_s).height


def _led_around(network: Network, p: ProtectionParameters) -> list[int]:
    """How many LSPs and trees were led around each failure: by a router, or moved by their head or tail end.

    With 1:1 and 1+1 they are moved again a second later (wait to restore): by then that was once.
    """
    events = network.table("events")
    words, within_s = ("lsps-diverted", DOWN_S)
    if p.end_to_end:
        words, within_s = ("lsp-selected" if p.doubled else "lsp-up|lsp-rerouted", AWAY_S)
    found = events.filter(pl.col("event").str.contains(f'"event":"({words})"')).sort("time_s")
    moments = found["time_s"].to_list()
    counts = [1 if p.end_to_end else json.loads(event)["lsps"] for event in found["event"]]
    return [
        sum(counts[bisect_left(moments, at) : bisect_left(moments, at + within_s)])
        for at in times(p, network.seed)
    ]
