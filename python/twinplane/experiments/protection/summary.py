"""Gaps of `protection`, by the three methods of RFC 6414, 3.6, side by side."""

from __future__ import annotations

import polars as pl

from ...network import Network
from ..base import Outcome
from .build import times
from .classes import METHODS
from .parameters import DOWN_S, ProtectionParameters


def gaps(network: Network, p: ProtectionParameters, seed: int) -> pl.DataFrame:
    """A row for each interruption while something is down: its failure, its flow, and its gap in seconds."""
    period = 1 / p.packets_per_s
    rows = []
    outages = network.table("outages").to_dicts()
    for at in times(p, seed):
        for row in outages:
            if not at - period <= row["first_s"] <= at + DOWN_S:
                continue
            rows.append(
                {
                    "flow": row["flow"],
                    "failed_s": at,
                    "packets": row["packets"],
                    "loss_s": row["packets"] * period,
                    "time_s": max(row["last_s"] + period - at, 0.0),
                    "timestamp_s": row["last_s"] - row["first_s"] + 2 * period,
                }
            )
    kinds = {"flow": pl.UInt32, "packets": pl.UInt64}
    floats = dict.fromkeys(("failed_s", "loss_s", "time_s", "timestamp_s"), pl.Float64)
    return pl.DataFrame(rows, schema={**kinds, **floats})


def summarise(network: Network, p: ProtectionParameters) -> Outcome:
    """Quantiles and maximum of each method, and all gaps as a table."""
    found = gaps(network, p, network.seed)
    metrics: dict[str, float | int | str | None] = {}
    for method in METHODS:
        values: list[float] = sorted(found[f"{method}_s"].to_list())
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            metrics[f"{method}_{name}_s"] = values[int(share * (len(values) - 1))] if values else 0.0
        metrics[f"{method}_max_s"] = max(values, default=0.0)
    flows = min(p.lsps, 2)
    interrupted = found.select("flow", "failed_s").unique().height
    metrics["missing"] = flows * p.failures - interrupted
    metrics["bypasses"] = len(network.table("bypasses"))
    metrics["detours"] = len(network.table("detours"))
    metrics["diverted"] = _diverted(network, p)
    tables = {"gaps": found.to_dict(as_series=False), "bypasses": network.columns("bypasses")}
    return Outcome(metrics, tables)


def _diverted(network: Network, p: ProtectionParameters) -> int:
    """How many failures some router has led LSPs around while they lasted."""
    events = network.table("events")
    moments = events.filter(pl.col("event").str.contains("lsps-diverted"))["time_s"].to_list()
    failed = times(p, network.seed)
    return sum(any(at <= moment <= at + DOWN_S for moment in moments) for at in failed)
