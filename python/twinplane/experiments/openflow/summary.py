"""What a run of a row found, and all rows of a point together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...network import Network
from ..base import Outcome
from .build import row_of
from .parameters import OpenFlowParameters

KEYS = ("sent", "received", "late", "delay_mean_s", "delay_median_s", "delay_sd_s", "resets", "errors")
"""What is told of each row; `state` says how its test ended."""


def summarise(network: Network, parameters: OpenFlowParameters) -> Outcome:
    """The figures of the tester, and each round of additions or changes."""
    found = network.table("openflow_tests").row(0, named=True)
    row = row_of(parameters)
    line = {
        "row": row.name,
        "part": row.part,
        "rate_mbps": row.rate,
        "size": row.size,
        "flows": row.flows,
        "interval_s": row.interval_s,
        "state": found["state"],
        **{key: found[key] for key in KEYS},
    }
    rounds = network.table("openflow_rounds")
    confirmed = [value for value in rounds["confirmed"].to_list() if value is not None]
    line["rounds"] = len(rounds)
    line["confirmed_min"] = min(confirmed, default=None)
    tables: dict[str, Any] = {"openflow_rows": {key: [value] for key, value in line.items()}}
    tables["openflow_rounds"] = {"row": [row.name] * len(rounds), **rounds.to_dict(as_series=False)}
    return Outcome(line, tables)


def joined(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Metrics of a row begin with its name; tables stand under one another."""
    metrics: dict[str, Any] = {"rows": len(outcomes), "resets": 0, "errors": 0, "unfinished": 0}
    tables: dict[str, dict[str, list[Any]]] = {}
    topology: dict[str, Any] = {}
    for name, outcome in outcomes.items():
        line = outcome.metrics
        for key in ("sent", "received", "delay_mean_s", "delay_median_s", "delay_sd_s", "resets", "rounds"):
            metrics[f"{name}_{key}"] = line[key]
        metrics["resets"] += line["resets"]
        metrics["errors"] += line["errors"]
        metrics["unfinished"] += line["state"] not in ("done", "reset")
        topology = topology or outcome.topology
        for table, columns in outcome.tables.items():
            own = tables.setdefault(table, {key: [] for key in columns})
            for key, values in columns.items():
                own[key] += values
    return Outcome(metrics, dict(tables), topology)
