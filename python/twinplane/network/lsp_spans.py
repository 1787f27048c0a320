"""What state each LSP was in over time, and on which route: table ``lsp_spans`` of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..frames import Columns

if TYPE_CHECKING:
    from .network import Network

TORN = "removed"
"""The reason that routers give for an LSP that was torn down because somebody said so."""

Key = tuple[int, int]
"""An LSP: its group, and its place there."""

KEYS = ("name", "begin_ps", "end_ps", "state", "route", "why")


def lsp_spans(network: Network) -> Columns:
    """A row for each stretch of time in which an LSP did not change, LSP by LSP.

    `state` is ``waiting`` before it was up for the first time, then ``up`` or ``down``. `route` lists the
    nodes that it passes while it is up, and is null where that is not known. `why` says why it went down.
    """
    tables = network.tables
    end_ps = round(network.now * 1e12)
    shown = tables.columns("lsps")
    keys = list(zip(shown["lsps"], shown["index"], strict=True))
    names = dict(zip(keys, shown["name"], strict=True))
    heads = dict(zip(keys, shown["from"], strict=True))
    found: dict[Key, list[dict[str, Any]]] = {
        key: [{"begin_ps": 0, "state": "waiting", "route": None, "why": None}] for key in keys
    }
    for at, key, told in _changes(network):
        if key not in found:
            continue
        state = "down" if told["event"] == "lsp-down" else "up"
        route = None
        if told.get("route"):
            hops = [tables.named(hop) for hop in told["route"]]
            route = [heads[key], *(hop for hop in hops if hop != heads[key])]
        found[key].append({"begin_ps": at, "state": state, "route": route, "why": told.get("reason")})
    _routes_now(network, found, heads, names)
    columns: Columns = {key: [] for key in KEYS}
    for key, spans in found.items():
        ends = [*(span["begin_ps"] for span in spans[1:]), end_ps]
        for span, end in zip(spans, ends, strict=True):
            if end <= span["begin_ps"] and not (span is spans[-1] and span["begin_ps"]):
                continue
            for column, value in {**span, "name": names[key], "end_ps": end}.items():
                columns[column].append(value)
    return columns


def _changes(network: Network) -> list[tuple[int, Key, dict[str, Any]]]:
    """When which LSP changed, in order of time; by routers and by edges of the tester."""
    events, log = network.columns("events"), network.columns("lsp_log")
    found = [
        (at, (group, index), event)
        for at, group, index, event in zip(
            events["time_ps"], events["lsps"], events["index"], events["event"], strict=True
        )
        if group is not None and event["event"] in ("lsp-up", "lsp-down", "lsp-rerouted")
    ]
    for at, group, index, is_up in zip(log["time_ps"], log["lsps"], log["index"], log["up"], strict=True):
        found.append((at, (group, index), {"event": "lsp-up" if is_up else "lsp-down"}))
    return sorted(found, key=lambda change: change[0])


def _routes_now(
    network: Network,
    found: Mapping[Key, Sequence[dict[str, Any]]],
    heads: Mapping[Key, str],
    names: Mapping[Key, str],
) -> None:
    """Routes of LSPs that changed to another without going down, as far as their head ends tell them now."""
    missing = [
        key for key, spans in found.items() if spans[-1]["state"] == "up" and spans[-1]["route"] is None
    ]
    told: dict[str, dict[str, Any]] = {}
    for key in missing:
        head = network.node(heads[key])
        if head.kind != "router":
            continue
        if head.name not in told:
            columns = network.columns("tunnels", head)
            told[head.name] = dict(zip(columns["name"], columns["route"], strict=True))
        lsp = network.lsps[key[0]]
        spec = lsp.spec
        routes = [route for name in ("route", "fallback") if (route := spec.get(name))]
        chosen = told[head.name].get(names[key])
        if chosen is not None and chosen < len(routes):
            found[key][-1]["route"] = nodes_of(network, spec, routes[chosen])


def nodes_of(network: Network, spec: Mapping[str, Any], hops: Sequence[Any]) -> list[str]:
    """The nodes of an explicit route of an LSP, its head end first."""
    here = network.node(spec["from"])
    names = [here.name]
    for hop in hops:
        here = network.links[hop["link"]].other(here) if isinstance(hop, dict) else network.node(hop)
        names.append(here.name)
    return names if names[-1] == spec["to"] else [*names, str(spec["to"])]
