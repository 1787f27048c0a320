"""The figures of `diffserv`: of each flow the published ones, and more that the paper could not give."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...frames import Columns, readable
from ...measure.statistics import bounded_quantile
from ...network import Network
from ...network.drawing import topology
from ..base import Outcome
from ..labs.gathering import at_links, columns_of
from .parameters import FLOWS, DiffservParameters

QUANTILES = (("p50_s", 0.5), ("p90_s", 0.9), ("p99_s", 0.99), ("p999_s", 0.999))


def summarise(network: Network, p: DiffservParameters) -> Outcome:
    """One scenario."""
    packets = network.columns("packets")
    conditioners = columns_of(network, "conditioners")
    names = [flow.name for flow in network.flows]
    by_flow = delays_of(packets, names)
    policed = dropped_by_rule(conditioners)
    flows = {
        flow: {
            **figures(by_flow[flow]),
            "policed": policed.get(flow, 0),
        }
        for flow in FLOWS
        if flow in by_flow
    }
    ports = network.columns("ports")
    metrics: dict[str, Any] = {
        p.scenario: flows,
        "totals": {p.scenario: totals(flows)},
    }
    if not network.outside.gathered:  # else what routers in other processes received is not known here
        metrics["packet_hops"] = sum(ports["received_frames"])
    if network.clock == "virtual":
        metrics["digest"] = network.digest()
    tables = {
        "packets": _packets(packets, names, p),
        "queues": at_links(network, "queues"),
        "queue_series": _since(at_links(network, "queue_series"), p.begin_s),
        "conditioners": at_links(network, "conditioners"),
        "ports": readable(ports),
    }
    if p.uses_lsps:
        tables["lsp_log"] = readable(network.columns("lsp_log"))
    labelled = {name: labelled_with(p.scenario, columns) for name, columns in tables.items()}
    return Outcome(metrics, labelled, topology(network))


def joined(outcomes: Mapping[str, Outcome]) -> Outcome:
    """All scenarios: metrics side by side, tables under one another."""
    metrics: dict[str, Any] = {"totals": {}}
    tables: dict[str, Columns] = {}
    for outcome in outcomes.values():
        given = dict(outcome.metrics)
        metrics["totals"] |= given.pop("totals")
        if "packet_hops" in given:
            metrics["packet_hops"] = metrics.get("packet_hops", 0) + given.pop("packet_hops")
        given.pop("digest", None)
        metrics |= given
        for name, columns in outcome.tables.items():
            _append(tables, name, columns)
    digests = [str(outcome.metrics["digest"]) for outcome in outcomes.values() if "digest" in outcome.metrics]
    if digests:
        metrics["digest"] = digests[0] if len(digests) == 1 else _digest(digests)
    last = list(outcomes.values())[-1]
    return Outcome(metrics, tables, last.topology)


def _append(tables: dict[str, Columns], name: str, columns: Columns) -> None:
    if name not in tables:
        tables[name] = {key: list(values) for key, values in columns.items()}
        return
    for key, values in columns.items():
        tables[name][key] += values


def _digest(digests: Sequence[str]) -> str:
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[: len(digests[0])]


def delays_of(packets: Columns, names: Sequence[str]) -> dict[str, list[int | None]]:
    """Of each flow the delay of every packet in the order of departure, in ps; None: it did not arrive."""
    found: dict[str, list[int | None]] = {name: [] for name in names}
    for flow, delay in zip(packets["flow"], packets["delay_ps"], strict=True):
        found[names[flow] if isinstance(flow, int) else flow].append(delay)
    return found


def figures(delays: Sequence[int | None]) -> dict[str, Any]:
    """The published figures of a flow, quantiles, and the variation between one packet and the next."""
    arrived = sorted(delay for delay in delays if delay is not None)
    seconds = [delay / 1e12 for delay in arrived]
    steps = [abs(b - a) / 1e12 for a, b in pairwise(delays) if a is not None and b is not None]
    return {
        "mean_s": math.fsum(seconds) / len(seconds) if seconds else None,
        "max_s": seconds[-1] if seconds else None,
        "min_s": seconds[0] if seconds else None,
        "delay_range_s": (arrived[-1] - arrived[0]) / 1e12 if arrived else None,
        "dropped": len(delays) - len(arrived),
        "sent": len(delays),
        **{key: bounded_quantile(seconds, share) for key, share in QUANTILES},
        # RFC 3393, 4: of consecutive packets that both arrived.
        "ipdv_mean_s": math.fsum(steps) / len(steps) if steps else None,
        "jitter_rfc3550_s": interarrival_jitter([delay for delay in delays if delay is not None]),
    }


def interarrival_jitter(arrived: Sequence[int]) -> float | None:
    """RFC 3550, 6.4.1: an estimate that each packet moves by a sixteenth; its mean over the run."""
    jitter, found = 0.0, []
    for a, b in pairwise(arrived):
        jitter += (abs(b - a) / 1e12 - jitter) / 16
        found.append(jitter)
    return math.fsum(found) / len(found) if found else None


def totals(flows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What all flows of a scenario sent and lost."""
    return {key: sum(flow[key] for flow in flows.values()) for key in ("sent", "dropped", "policed")}


def dropped_by_rule(conditioners: Columns) -> dict[str, int]:
    """Packets that a policer dropped; its rules are called as the flows."""
    found: dict[str, int] = {}
    for rule, packets, action in zip(
        *(conditioners[key] for key in ("rule", "packets", "action")), strict=True
    ):
        if action == "drop":
            found[rule] = found.get(rule, 0) + packets
    return found


def _packets(packets: Columns, names: Sequence[str], p: DiffservParameters) -> Columns:
    begin_ps = round(p.begin_s * 1e12)
    return {
        "flow": [names[flow] if isinstance(flow, int) else flow for flow in packets["flow"]],
        "sequence": list(packets["sequence"]),
        "departure_s": [(value - begin_ps) / 1e12 for value in packets["departure_ps"]],
        "delay_s": [None if value is None else value / 1e12 for value in packets["delay_ps"]],
    }


def _since(columns: Columns, zero_s: float) -> Columns:
    kept = [place for place, value in enumerate(columns["start_s"]) if value >= 0]  # a lab is up before
    found = {key: [values[place] for place in kept] for key, values in columns.items()}
    return {**found, "start_s": [round(value - zero_s, 12) for value in found["start_s"]]}


def labelled_with(scenario: str, columns: Columns) -> Columns:
    """A table with the scenario in every row."""
    count = len(next(iter(columns.values()), []))
    return {"scenario": [scenario] * count, **columns}
