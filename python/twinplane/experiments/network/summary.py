"""What the flows of a network experienced, and what its queues did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import warn
from ...frames import Columns, readable, rows
from ...model.places import of_flow, of_lsp
from ...network import Network
from ...network.demands import called, names_of
from ...network.drawing import topology
from ...network.history import up_over_time
from ...network.lsp_spans import lsp_spans
from ...network.placing import signals
from ...network.sessions import session_spans
from ...network.told import control_events
from ...network.trees import root_of
from ...units import dscp, format_time
from ..base import Outcome
from ..labs.gathering import at_links
from . import tcp
from .parameters import NetworkParameters

COUNTS = {"sent": "sent", "received": "received", "dropped": "lost"}
RARE = ("duplicated", "reordered")
WRONG = ("misdelivered", "damaged", "ttl_wrong")
"""Columns of table `checks` that are figures of a flow where they are not zero."""
DELAYS = {
    "mean_s": "delay_mean_s",
    "max_s": "delay_max_s",
    "min_s": "delay_min_s",
    "ipdv_mean_s": "ipdv_mean_s",
    "p50_s": "delay_p50_s",
    "p90_s": "delay_p90_s",
    "p99_s": "delay_p99_s",
    "p999_s": "delay_p999_s",
}
"""Figures of a flow, and what `Flow.stats` calls them."""


def summarise(network: Network, p: NetworkParameters) -> Outcome:
    """Figures of every flow; tables of queues, conditioners, signalling and delays."""
    checks = network.columns("checks")
    flows = {flow.name: figures(network, flow.index, checks) for flow in network.flows} | demanded(network)
    ports = network.columns("ports")
    here = network.placement is None or network.placement["local"] is None
    metrics: dict[str, Any] = {"flows": flows}
    if network.tcp_flows:
        metrics["tcp"] = tcp.figures(network)
    if here:
        metrics["packet_hops"] = sum(ports["received_frames"])
    if here and network.lsps:
        metrics["lsps"] = sum(lsp.count for lsp in network.lsps)
        metrics["lsps_up"] = sum(lsp.up_count for lsp in network.lsps)
    if network.clock == "virtual":
        metrics["digest"] = network.digest()
    # Where packets were lost, demands are called by their classes.
    names, labels = names_of(network, pairs=True), names_of(network)
    tables = {
        **{name: at_links(network, name) for name in ("queues", "conditioners")},
        "queue_series": _within(at_links(network, "queue_series"), p.end_s),
        "ports": readable(ports),
        **{name: readable(network.columns(name)) for name in ("series", "messages")},
        **{
            name: _named(readable(network.columns(name)), labels if name == "losses" else names)
            for name in (
                *("streams", "flow_series", "delays", "losses", "loss_times", "outages", "loss_periods"),
                "flow_accounts",
            )
        },
        "checks": readable(checks),
    }
    if network.draft.demands is not None or len(network.flows) > FOLLOWED_MAX:
        tables["class_series"] = readable(network.columns("class_series"))
    if network.draft.demands is not None:
        tables |= {name: readable(network.columns(name)) for name in ("demand_classes", "demands")}
    if here and (up := up_over_time(network.tables)) is not None:
        tables["lsps_up"] = up
        tables["lsp_spans"] = readable(lsp_spans(network))
    if here and rows(told := control_events(network)):
        tables["control_events"] = readable(told)
    if here and rows(spans := session_spans(network)):
        tables["sessions"] = readable(spans)
    if network.sampling.every_ps is not None:
        network.sampling.look()
        looked = {"ways": network.sampling.ways.columns(), "database_sizes": network.sampling.sizes}
        tables |= {name: readable(columns) for name, columns in looked.items() if rows(columns)}
    if network.tcp_flows:
        tables["tcp_flows"] = readable(network.columns("tcp_flows"))
        tables["tcp_series"] = tcp.series(network)
    if any(flow.logged for flow in network.flows):
        tables["packets"] = _named(readable(network.columns("packets")), names)
    if (kept := signals(network)) is not None:
        tables["signals"] = readable(kept)
    _warn(network, p, flows, tables["queues"])
    drawn = topology(network)
    drawn["flows"] = [
        {"name": flow["name"], "dscp": dscp(flow["dscp"])} for flow in network.described()["flows"]
    ]
    drawn["trees"] = trees(network)
    drawn["queues_s"] = network.outside.gathered_s if network.outside.gathered else network.now
    return Outcome(metrics, tables, drawn)


FOLLOWED_MAX = 64
"""The core follows so many flows one by one; of more, and of demands, classes are kept over time."""


def figures(network: Network, flow: int, checks: Columns) -> dict[str, Any]:
    """Counts and delays of a flow; `checks` is that table."""
    rows = network.flows[flow].stats().to_dicts()
    found: dict[str, Any] = {key: sum(row[name] for row in rows) for key, name in COUNTS.items()}
    found |= {key: (rows[0][name] if len(rows) == 1 else None) for key, name in DELAYS.items()}
    found |= {key: count for key in RARE if (count := sum(row[key] for row in rows))}
    places = [place for place, number in enumerate(checks["flow"]) if number == flow]
    return found | {key: checks[key][place] for place in places for key in WRONG if checks[key][place]}


def trees(network: Network) -> list[dict[str, Any]]:
    """The trees as they are configured, by node and link."""
    return [
        {"node": node, "link": link, "root": root_of(said)}
        for (link, node, key), said in network.draft.at_ends().items()
        if key == "queue"
    ]


def demanded(network: Network) -> dict[str, Any]:
    """The same of each class of demands, all pairs of nodes together."""
    if network.draft.demands is None:
        return {}
    table = network.columns("demand_classes")
    found: dict[str, Any] = {}
    for place, label in enumerate(table["class"]):
        row = {key: table[name][place] for key, name in COUNTS.items()}
        row |= {key: table[name][place] if name in table else None for key, name in DELAYS.items()}
        found[called(label)] = row | ({"reordered": n} if (n := table["reordered"][place]) else {})
    return found


def _named(columns: Columns, names: Mapping[int, str]) -> Columns:
    """With names in the place of numbers of flows."""
    return {**columns, "flow": [names[number] for number in columns.get("flow", [])]}


def _within(columns: Columns, end_s: float) -> Columns:
    """Without what was before: a lab is up longer than the run."""
    kept = [place for place, at in enumerate(columns.get("start_s", [])) if 0 <= at < end_s]
    return {key: [values[place] for place in kept] for key, values in columns.items()}


def _warn(network: Network, p: NetworkParameters, flows: dict[str, Any], queues: Columns) -> None:
    """What a user should know before the figures are believed."""
    places = {flow.name: index for index, flow in enumerate(network.flows)}
    for name, found in flows.items():
        if not (found["sent"] and found["received"]):
            words = "nothing of it arrived" if found["sent"] else "it sent nothing"
            if name in places:
                warn(str(network.explain(of_flow(places[name], name, words))))
            else:
                warn(f"{name}: {words}")
    roots = [place for place, path in enumerate(queues.get("path", [])) if path == "root"]
    left = sum(queues["backlog_packets"][place] for place in roots)
    if left:
        waited = format_time(p.drain_s)
        warn(
            f"{left} packets still wait in queues {waited} after the flows ended: they count as dropped"
            " (--set drain_s=... gives them more time)"
        )
    if network.outside.gathered or not network.lsps:
        return
    for lsp in network.lsps:
        if lsp.spec["signal"] and not lsp.up:
            warn(str(network.explain(of_lsp(lsp.index, lsp.name, "it is not up at the end"))))
