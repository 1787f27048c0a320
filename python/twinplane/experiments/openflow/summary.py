"""What a run of a row found, and all rows of a point together."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean, median, stdev
from typing import Any

from ...network import Network
from ..base import Outcome
from .build import row_of
from .parameters import OpenFlowParameters

KEYS = ("sent", "received", "late", "delay_mean_s", "delay_median_s", "delay_sd_s", "resets", "errors")
"""What is told of each row; `state` says how its test ended."""
OF_ROW = (
    "sent",
    "received",
    "delay_mean_s",
    "delay_median_s",
    "delay_sd_s",
    "resets",
    "rounds",
    "confirmed_min",
)
"""Of these the metrics of a row, whose name stands before them."""
BEYOND = ("behind", "passed_late_s")
"""The same of tests beyond the study, where they have them."""
TIMEOUT_S = 1.0
"""After so long entries of test flow-expiry are to go."""
LIMITS = ("rate-limited", "control-queue-full")
"""Why a switch drops a PACKET_IN."""


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
    if row.part == "statistics":
        line["behind"] = found["behind"]
    elif row.part == "flow-expiry":
        line |= _expired(rounds)
    line["rounds"] = len(rounds)
    line["confirmed_min"] = min(confirmed(rounds["confirmed"].to_list()), default=None)
    line["dropped"] = None if parameters.is_real else _dropped(network)
    tables: dict[str, Any] = {"openflow_rows": {key: [value] for key, value in line.items()}}
    tables["openflow_rounds"] = {"row": [row.name] * len(rounds), **rounds.to_dict(as_series=False)}
    return Outcome(line, tables)


def _expired(rounds: Any) -> dict[str, float | None]:
    """How late entries went that were to go after a second: as the switch said, and by packets at most."""
    said = [value - TIMEOUT_S for value in rounds["removed_s"].to_list() if value is not None]
    passed = [value - TIMEOUT_S for value in rounds["passed_s"].to_list() if value is not None]
    return {
        "delay_mean_s": mean(said) if said else None,
        "delay_median_s": median(said) if said else None,
        "delay_sd_s": stdev(said) if len(said) > 1 else None,
        "passed_late_s": max(passed, default=None),
    }


def confirmed(rounds: list[int | None]) -> list[int]:
    """Entries that passed a probe, of each round that had its time: the end may cut the last of several."""
    whole = rounds[:-1] if len(rounds) > 1 else rounds
    return [count for count in whole if count is not None]


def _dropped(network: Network) -> int:
    """PACKET_INs that a limit of the switch dropped."""
    drops = network.table("drops")
    return sum(
        count
        for node, reason, count in drops.select("node", "reason", "count").iter_rows()
        if node == "s1" and reason in LIMITS
    )


def joined(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Metrics of a row begin with its name; tables stand under one another."""
    metrics: dict[str, Any] = {"rows": len(outcomes), "resets": 0, "errors": 0, "unfinished": 0}
    tables: dict[str, dict[str, list[Any]]] = {}
    topology: dict[str, Any] = {}
    for name, outcome in outcomes.items():
        line = outcome.metrics
        for key in (*OF_ROW, *(key for key in BEYOND if key in line)):
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
