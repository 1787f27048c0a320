"""The figures of a run of `lsp-flap`."""

from __future__ import annotations

import math
from typing import Any

from ...frames import Columns, readable
from ...measure.statistics import quantile
from ...network import Network
from ...network.drawing import topology
from ...network.history import re_established, up_now, up_series
from ...network.nodes import Node
from ...network.placing import signals
from .. import checks
from ..base import Outcome
from .build import FLAPPING, PHASES, STABLE, TRAFFIC, edges_of
from .parameters import FlapParameters

BIN_PS = 10**10
PRIOR, DURING, END, GRACE = 1, 2, 3, 4
PATH_TEAR = ("pathtear", "5")
"""Message type 5 (RFC 2205, 3.1.1), as a name or as a number."""


def summarise(network: Network, p: FlapParameters) -> Outcome:
    """Metrics as the paper defines them, and more that it could not measure."""
    zero_s = network.outside.zero_s + p.begin_s
    zero_ps = round(zero_s * 1e12)
    streams = of_traffic(network, "streams")
    log = network.columns("lsp_log")
    messages = network.columns("messages")
    ports = network.columns("ports")
    processors = network.columns("processors")
    metrics: dict[str, Any] = {
        **control_plane(log, messages, network, p, zero_ps),
        **forwarding_plane(streams),
        **checks.counts(network),
        **queues(processors, network),
        "packet_hops": sum(ports["received_frames"]),
    }
    if network.clock == "virtual":
        metrics["digest"] = network.digest()
    times, up = up_series(log, (STABLE, FLAPPING), BIN_PS, round(network.now * 1e12))
    tables: dict[str, Columns] = {
        "streams": _named_phases(streams),
        "series": _of_run(network.columns("series"), network),
        "messages": messages,
        "lsp_log": log,
        "lsps_up": {"time_s": times, "up": up},
        "re_established": _returns(log, p, zero_ps),
        "checks": of_traffic(network, "checks"),
        "ports": ports,
        "processors": processors,
    }
    kept = signals(network)
    if kept is not None:
        tables["signals"] = kept
    readable_tables = {name: _since(readable(columns), zero_s) for name, columns in tables.items()}
    return Outcome(metrics, readable_tables, topology(network))


def of_traffic(network: Network, name: str) -> Columns:
    """The rows of a table that are of the procedure's own flow: trials of rates have others."""
    found = network.columns(name)
    own = next(flow.index for flow in network.flows if flow.name == TRAFFIC)
    kept = [place for place, flow in enumerate(found["flow"]) if flow == own]
    return {key: [values[place] for place in kept] for key, values in found.items()}


def _of_run(columns: Columns, network: Network) -> Columns:
    """Bins that begin with the run: trials of rates come before."""
    zero_ps = network.outside.zero_s * 1e12
    kept = [place for place, start in enumerate(columns["start_ps"]) if start >= zero_ps]
    return {key: [values[place] for place in kept] for key, values in columns.items()}


def control_plane(
    log: Columns, messages: Columns, network: Network, p: FlapParameters, zero_ps: int
) -> dict[str, Any]:
    """K from the PathTears that the egress received, and from what was really up."""
    first_ps = zero_ps + round(p.first_event_s * 1e12)
    second_ps = zero_ps + round(p.second_event_s * 1e12)
    end_ps = zero_ps + round(p.end_s * 1e12)
    egress = edges_of(network)[1]
    tears = sum(
        count
        for start, node, direction, kind, count in zip(
            messages["start_ps"],
            messages["node"],
            messages["direction"],
            messages["type"],
            messages["count"],
            strict=True,
        )
        if node in (egress.name, egress.index)
        and direction == "rx"
        and start >= zero_ps
        and _word(kind) in PATH_TEAR
    )
    up_start = len(up_now(log, FLAPPING, first_ps)) + len(up_now(log, STABLE, first_ps))
    up_end = len(up_now(log, FLAPPING)) + len(up_now(log, STABLE))
    up_with_traffic = len(up_now(log, FLAPPING, end_ps)) + len(up_now(log, STABLE, end_ps))
    times = re_established(log, FLAPPING, first_ps)
    back = [time for time in times.values() if time is not None]
    return {
        # Of what was torn down at the first event, no more can be torn down again than there is.
        "k": max(0, min(p.n, tears - p.n)),
        "k_up": len(up_now(log, FLAPPING, second_ps)),
        "p": tears,
        "failed": p.n + p.stable - up_end,
        "down_at_end_of_traffic": p.n + p.stable - up_with_traffic,
        "up_before": up_start,
        "re_established": len(back),
        **{
            f"re_establish_p{name}_s": quantile(back, share)
            for name, share in (("50", 0.5), ("90", 0.9), ("99", 0.99))
        },
        "re_establish_max_s": max(back, default=None),
    }


def _returns(log: Columns, p: FlapParameters, zero_ps: int) -> Columns:
    """How long each LSP that an event tore down was away; None for those that did not come back."""
    found: Columns = {"event": [], "index": [], "re_establish_s": []}
    for number, event_s in enumerate((p.first_event_s, p.second_event_s), 1):
        times = re_established(log, FLAPPING, zero_ps + round(event_s * 1e12))
        found["event"] += [number] * len(times)
        found["index"] += times.keys()
        found["re_establish_s"] += times.values()
    return found


def _node(network: Network, which: str | int) -> Node:
    return network.nodes[which] if isinstance(which, int) else network.node(which)


def _word(kind: Any) -> str:
    return str(kind).replace("_", "").replace("-", "").replace(" ", "").lower()


def forwarding_plane(streams: Columns) -> dict[str, Any]:
    """Loss and delay by phase: delays are means over streams of each stream's mean."""
    phases = streams["phase"]

    def total(column: str, wanted: tuple[int, ...]) -> int:
        return sum(
            value for value, phase in zip(streams[column], phases, strict=True) if phase in wanted and value
        )

    everything = tuple(range(len(PHASES)))
    during = (DURING, END, GRACE)
    return {
        "sent": total("sent", everything),
        "received": total("received", everything),
        "lost_prior": total("lost", (PRIOR,)),
        "lost_during": total("lost", during),
        "duplicated": total("duplicated", everything),
        "reordered": total("reordered", everything),
        "delay_prior_s": mean_of_means(streams, (PRIOR,)),
        "delay_during_s": mean_of_means(streams, (DURING, END)),
        "delay_end_s": mean_of_means(streams, (END,)),
        "delay_min_s": _extreme(streams, "delay_min_s", min),
        "delay_max_s": _extreme(streams, "delay_max_s", max),
    }


def mean_of_means(streams: Columns, wanted: tuple[int, ...]) -> float | None:
    """The average over streams of each stream's mean delay in some phases."""
    sums: dict[int, list[float]] = {}
    for stream, phase, received, mean in zip(
        streams["stream"], streams["phase"], streams["received"], streams["delay_mean_s"], strict=True
    ):
        if phase in wanted and received and mean is not None:
            entry = sums.setdefault(stream, [0.0, 0.0])
            entry[0] += mean * received
            entry[1] += received
    means = [weighted / count for weighted, count in sums.values()]
    return math.fsum(means) / len(means) if means else None


def _extreme(streams: Columns, column: str, pick: Any) -> float | None:
    found = [
        value
        for value, received in zip(streams.get(column, []), streams["received"], strict=False)
        if received and value is not None
    ]
    return float(pick(found)) if found else None


def queues(processors: Columns, network: Network) -> dict[str, Any]:
    """The most messages that waited for any control processor."""
    peaks = [
        peak
        for node, peak in zip(processors.get("node", []), processors.get("queue_peak", []), strict=True)
        if _node(network, node).kind == "router"
    ]
    return {"queue_peak": max(peaks, default=None)}


def _named_phases(streams: Columns) -> Columns:
    named = dict(streams)
    named["phase"] = [PHASES[phase] if phase < len(PHASES) else phase for phase in streams["phase"]]
    return named


def _since(columns: Columns, zero_s: float) -> Columns:
    """Times counted from t = 0 of the procedure."""
    return {
        key: [None if value is None else round(value - zero_s, 12) for value in values]
        if key in ("time_s", "start_s")
        else values
        for key, values in columns.items()
    }
