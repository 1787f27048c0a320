"""The figures of a run of `lsp-mesh`."""

from __future__ import annotations

from typing import Any

from ...frames import Columns, readable
from ...measure.statistics import quantile
from ...network import Network
from ...network.drawing import topology
from ...network.placing import signals
from ..base import Outcome
from .parameters import MeshParameters


def summarise(network: Network, p: MeshParameters, wall_s: float) -> Outcome:
    """LSPs up, probes back, and packets that left their route."""
    routes = network.columns("routes")
    streams = network.columns("streams")
    lsps = network.columns("lsps")
    times = setup_times(network.columns("events"))
    count = len(network.lsps)
    nodes = len(network.nodes)
    metrics: dict[str, Any] = {
        "nodes": nodes,
        "links": len(network.links),
        "pairs": nodes * (nodes - 1),
        "lsps": count,
        "up": sum(state == "up" for state in lsps["state"]),
        "probes_sent": sum(streams["sent"]),
        "probes_received": sum(streams["received"]),
        "probes_lost": sum(value or 0 for value in streams["lost"]),
        "lsps_probed": sum(bool(value) for value in streams["received"]),
        "hops_checked": sum(
            hops * traced for hops, traced in zip(routes["hops"], routes["traced"], strict=True) if hops
        ),
        "wrong_hops": sum(routes["wrong"]),
        "route_hops_mean": sum(routes["hops"]) / len(routes["hops"]) if routes["hops"] else None,
        "route_hops_max": max(routes["hops"], default=None),
        **{
            f"setup_p{name}_s": quantile(times, share)
            for name, share in (("50", 0.5), ("90", 0.9), ("99", 0.99))
        },
        "setup_max_s": max(times, default=None),
        "packet_hops": sum(network.columns("ports")["received_frames"]),
        "run_s": round(wall_s, 3),
    }
    if network.clock == "virtual":
        metrics["digest"] = network.digest()
    tables: dict[str, Columns] = {
        "messages": network.columns("messages"),
        "ports": network.columns("ports"),
        "series": network.columns("series"),
        "routes": _routes(network, routes),
        "setup": {"setup_s": sorted(times)},
    }
    kept = signals(network)
    if kept is not None:
        tables["signals"] = kept
    return Outcome(
        metrics,
        {name: readable(columns) for name, columns in tables.items()},
        topology(network),
    )


def setup_times(events: Columns) -> list[float]:
    """Seconds from the start, when every LSP is signalled, to each LSP's first time up."""
    seen: dict[tuple[int, int], float] = {}
    for at, group, index, event in zip(
        events["time_ps"], events["lsps"], events["index"], events["event"], strict=True
    ):
        if group is not None and event["event"] == "lsp-up":
            seen.setdefault((group, index), at / 1e12)
    return list(seen.values())


def _routes(network: Network, routes: Columns) -> Columns:
    """What was checked of every LSP, by name."""
    names = [network.lsps[group].name for group in routes["lsps"]]
    return {"lsp": names, **{key: routes[key] for key in ("hops", "traced", "wrong")}}
