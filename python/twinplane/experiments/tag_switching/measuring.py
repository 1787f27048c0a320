"""What a run tells: when packets arrive again, in the core and from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...frames import Columns
from ...network import Network
from ...network.drawing import topology
from ..base import Outcome
from . import stages
from .build import failure_s, seed_of
from .parameters import LINK_OF, PLANES, TagSwitchingParameters
from .timers import predict

EVENTS = ("failure", "repair")
WELL, NEVER, NONE = "as predicted", "not back", "nothing to see"


def end_s(p: TagSwitchingParameters) -> float:
    """A run ends when everything has long been back."""
    back = 2 * p.hello_s + p.spf_s + p.tdp_hello_s + 2 * p.advertise_s + 30
    return p.fail_after_s + p.down_s + back + _under_way_s(p)


def _under_way_s(p: TagSwitchingParameters) -> float:
    """A packet that left so long ago has arrived or is lost: no way has more than eight links."""
    return 1 + 8 * p.delay_ms / 1e3


def runs(p: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
    """A network for each link, and each run."""
    return {
        f"{link}-{run}": p.model_copy(update={"link": link, "number": p.number + run, "runs": 1})
        for link in p.links
        for run in range(p.runs)
    }


def summarise(network: Network, p: TagSwitchingParameters) -> Outcome:
    """The rows of a run."""
    failed = failure_s(p, seed_of(network, p))
    # What left later may still be on its way.
    settled = network.now - _under_way_s(p)
    moments = {"failure": (failed, failed + p.down_s), "repair": (failed + p.down_s, settled)}
    flows = {flow.name: flow for flow in network.flows}
    rows: list[dict[str, Any]] = []
    for plane in PLANES:
        packets = network.columns("packets")
        place = flows[plane].index
        sent = [
            (departure / 1e12, arrival)
            for flow, departure, arrival in zip(
                packets["flow"], packets["departure_ps"], packets["arrival_ps"], strict=True
            )
            if flow == place
        ]
        for event in EVENTS:
            begin, end = moments[event]
            rows.append(_row(p, event, plane, sent, begin, end))
    keys = list(rows[0])
    parts = {"link": p.link, "run": p.number, **stages.measured(network, p, failed)}
    tables: dict[str, Columns] = {
        "recoveries": {key: [row[key] for row in rows] for key in keys},
        "stages": {key: [value] for key, value in parts.items()},
    }
    return Outcome({}, tables, topology(network))


def _row(
    p: TagSwitchingParameters,
    event: str,
    plane: str,
    sent: list[tuple[float, int | None]],
    begin: float,
    end: float,
) -> dict[str, Any]:
    """When the last packet was lost that left between two times, if others arrived behind it."""
    lost = [departure for departure, arrival in sent if begin <= departure < end and arrival is None]
    arrived = [departure for departure, arrival in sent if begin <= departure < end and arrival is not None]
    gap = 1 / p.packets_per_s
    is_back = bool(arrived) and (not lost or lost[-1] < arrived[-1])
    back_s = lost[-1] + gap - begin if lost and is_back else None
    expected = predict(p, event, plane)
    if expected is None:
        # Nothing is interrupted, or there is no way.
        surprising = back_s is not None
        verdict = "interrupted, and not predicted" if surprising else NONE
    elif not lost and not expected.is_sure:
        verdict = NONE
    elif back_s is None:
        verdict = NEVER if lost else "not interrupted"
    elif back_s in expected:
        verdict = WELL
    else:
        verdict = "earlier than timers say" if back_s < expected.low_s else "later than timers say"
    return {
        "link": p.link,
        "run": p.number,
        "event": event,
        "plane": plane,
        "low_s": None if expected is None else expected.low_s,
        "high_s": None if expected is None else expected.high_s,
        "back_s": back_s,
        "lost": len(lost),
        "verdict": verdict,
    }


def joined(p: TagSwitchingParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
    """All runs: their rows under one another, and the least and the greatest time of each kind."""
    first = next(iter(outcomes.values()))
    tables: dict[str, dict[str, list[Any]]] = {
        name: {
            key: [value for one in outcomes.values() for value in one.tables[name][key]] for key in columns
        }
        for name, columns in first.tables.items()
    }
    table = tables["recoveries"]
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    parts = stages.metrics(tables["stages"])
    metrics: dict[str, Any] = {
        "runs": len(outcomes),
        "surprising": sum(row["verdict"] not in (WELL, NONE) for row in rows),
        "odd_stages": stages.odd(p, parts),
        **parts,
    }
    for plane in PLANES:
        for event in EVENTS:
            known = [
                row["back_s"]
                for row in rows
                if (row["link"], row["plane"], row["event"]) == (LINK_OF[event], plane, event)
                and row["back_s"] is not None
            ]
            metrics[f"{plane}_{event}_min_s"] = min(known, default=None)
            metrics[f"{plane}_{event}_max_s"] = max(known, default=None)
    return Outcome(metrics, dict(tables), first.topology)
