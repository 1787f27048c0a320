"""Parts of a recovery: a failure is noticed, neighbours are back, routes are new, tags can be told again.

Each is predicted from timers alone, and read from what the two switches at the link tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...network import Network
from .countries import COUNTRIES, LINKS, switch
from .parameters import CUT, DIVERTED, TagSwitchingParameters
from .timers import Interval, adjacent, lost, session_back

STAGES = {
    "noticed": "a switch has noticed the failure",
    "met": "both switches are neighbours again",
    "routed": "both have new routes over the link that has no other way",
    "routed_moved": "both have new routes over the link that has another way",
    "session": "tags can be told over the link that has no other way",
    "session_moved": "tags can be told over the link that has another way",
}
"""What a part is, in words."""
LINK_OF = {"routed": CUT, "routed_moved": DIVERTED, "session": CUT, "session_moved": DIVERTED}


def expected(p: TagSwitchingParameters, stage: str) -> Interval | None:
    """Between which times it is over, after failure or repair; nothing if no such link fails."""
    if stage in LINK_OF:
        link = LINK_OF[stage]
        predict = adjacent if stage.startswith("routed") else session_back
        return predict(p.model_copy(update={"link": link})) if link in p.links else None
    if stage == "noticed":
        routes = lost(p)
        return Interval(routes.low_s - p.spf_s, routes.high_s - p.spf_s, routes.why.partition(";")[0])
    if p.detection == "interface":
        return Interval(p.hello_s, p.hello_s, "the second Hello")
    return Interval(0.0, p.hello_s, "the first Hello of each end, the later one")


def measured(network: Network, p: TagSwitchingParameters, failed_s: float) -> dict[str, float | None]:
    """When each was over in a run."""
    ends = {switch(country) for country in LINKS[p.link]}
    repaired_s = failed_s + p.down_s
    events = network.columns("events")
    told = [
        (at / 1e12, node, event["event"])
        for at, node, event in zip(events["time_ps"], events["node"], events["event"], strict=True)
        if node in ends
    ]

    def after(begin: float, names: Sequence[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for at, node, name in told:
            if at >= begin and name in names:
                found.setdefault(node, at - begin)
        return found

    def both(found: dict[str, float]) -> float | None:
        return max(found.values()) if len(found) == len(ends) else None

    table = network.columns("ospf")
    changed = [
        at / 1e12 - repaired_s
        for node, at in zip(table["node"], table["changed_ps"], strict=True)
        if node in ends and at is not None
    ]
    routed = max(changed, default=None)
    session = _session_s(network, p, repaired_s)
    is_cut = p.link == CUT
    return {
        "noticed": min(after(failed_s, ("ospf-adjacency-lost",)).values(), default=None),
        "met": both(after(repaired_s, ("ospf-adjacent",))),
        "routed": routed if is_cut else None,
        "routed_moved": None if is_cut else routed,
        "session": session if is_cut else None,
        "session_moved": None if is_cut else session,
    }


def _session_s(network: Network, p: TagSwitchingParameters, repaired_s: float) -> float | None:
    """Since when tags are told over the link at both of its ends; nothing if there is no session."""
    countries = LINKS[p.link]
    ids = {f"192.168.{COUNTRIES[country]}0.1" for country in countries}
    rows = network.table("ldp_sessions" if p.medium == "atm" else "tdp_sessions").to_dicts()
    since = [
        row["since_s"] - repaired_s
        for row in rows
        if row["node"] in map(switch, countries) and row["router_id"] in ids and row["state"] == "operational"
    ]
    return max(since) if len(since) == len(countries) else None


def metrics(rows: dict[str, list[Any]]) -> dict[str, float | None]:
    """The least and the greatest time of each over all runs."""
    found: dict[str, float | None] = {}
    for stage in STAGES:
        known = [at for at in rows[stage] if at is not None]
        found[f"{stage}_min_s"] = min(known, default=None)
        found[f"{stage}_max_s"] = max(known, default=None)
    return found


def odd(p: TagSwitchingParameters, found: dict[str, float | None]) -> int:
    """How many of them are otherwise than timers say."""
    count = 0
    for stage in STAGES:
        timers = expected(p, stage)
        ends = [found[f"{stage}_{end}_s"] for end in ("min", "max")]
        count += timers is not None and any(at is None or at not in timers for at in ends)
    return count
