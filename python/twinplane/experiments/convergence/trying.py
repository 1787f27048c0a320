"""What a case does in its own process: something fails, and both planes are watched to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...failing.cases import Case
from ...failing.watching import World, fail, fall_silent, loss_times

EXPIRED = "ttl-expired"
"""The reason of packets whose time to live was over: they went round."""


def measure(world: World, names: Sequence[str], case: Case, silent: bool) -> dict[str, Any]:
    """Let it happen, and tell what came of it: times in ps after the failure."""
    core, begin = world.core, world.core.now_ps()
    loops = _loops(world)
    if silent:
        fall_silent(world, case)
    else:
        fail(world, case)
    core.run_until(begin + world.watch_ps)
    now = world.look()
    times = loss_times(world, begin)
    after = _loops(world)
    flows = []
    for flow in world.flows:
        place = flow.index
        lost = sum(now.lost[place].values())
        looped = after.get(place, 0) - loops.get(place, 0)
        if lost or looped:
            expired = now.lost[place].get(EXPIRED, 0)
            row = [place, now.sent[place], lost, *times.get(place, (None, None)), expired, looped]
            flows.append(row)
    return {
        "case": case.name,
        "key": case.key,
        "kind": case.kind,
        "flows": flows,
        "routers": _routers(world, names, case, begin),
        "digest": core.digest(),
    }


def _loops(world: World) -> dict[int, int]:
    """Packets by flow that came to a router twice and arrived."""
    table = world.core.table("loops")
    return dict(zip(table.column("flow"), table.column("looped"), strict=True))


def _routers(world: World, names: Sequence[str], case: Case, begin: int) -> list[list[Any]]:
    """Of each router that is left: its place, when it noticed by itself, when it computed paths last, and
    when its last new route came.
    """
    noticed: dict[str, int] = {}
    events = world.core.table("events")
    keys = (events.column(key) for key in ("time_ps", "node", "event"))
    for at, node, event in zip(*keys, strict=True):
        if at >= begin and event["event"] == "ospf-adjacency-lost":
            noticed.setdefault(node, at - begin)
    found = []
    table = world.core.table("ospf")
    places = {name: place for place, name in enumerate(names)}
    keys = (table.column(key) for key in ("node", "computed_ps", "changed_ps"))
    for node, computed, changed in zip(*keys, strict=True):
        if places[node] in case.nodes:
            continue
        since = [None if at is None or at < begin else at - begin for at in (computed, changed)]
        found.append([places[node], noticed.get(node), *since])
    return found
