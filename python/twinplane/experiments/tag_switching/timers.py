"""What timers alone say: between which times packets arrive again after a failure, and after the repair."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import TwinplaneError
from .parameters import CUT, DIVERTED, TagSwitchingParameters

FLOODING_S = 0.2
"""What no timer says: flooding over six links, the description of databases, connections, and packets of a
flow that were under way."""
RETRANSMIT_S = 5.0
"""What was not acknowledged is sent again after that (RFC 2328, C.3)."""
MIN_LS_INTERVAL_S, MIN_LS_ARRIVAL_S = 5.0, 1.0
"""A router says something new of itself so often at most, and takes it of another so often (RFC 2328, B)."""
JITTER = 0.75
"""The least share of a time that BGP waits (RFC 4271, 10)."""
KEEPALIVE = 1 / 3
"""The share of its hold time after which a session of BGP says something at the latest (RFC 4271, 10)."""
RTO_S, RTO_MAX_S = 1.0, 60.0
"""What is not acknowledged TCP sends again after that, then after twice as long each time, but no longer than
the second of these (RFC 6298, 2.4, 2.5 and 5.5)."""
TDP_HOLD_S = 15.0
"""A switch has forgotten another one of which it has heard no Hello of TDP for so long."""
TIME_WAIT_S = 10.0
"""The end that closed a connection answers nothing from the same port for so long (docs/models/tcp.md)."""
HOPS_MAX = 6
"""So many links are between two edge routers at most: four of the core, and one beside it at each end."""


@dataclass(frozen=True)
class Interval:
    """From the earliest to the latest time after the event, in seconds, and how they come about."""

    low_s: float
    high_s: float
    why: str
    is_sure: bool = True
    """Are packets interrupted in any case, whatever the phases of timers are?"""

    def __contains__(self, at: float) -> bool:
        """Is a time among them, but for what no timer says?"""
        return self.low_s - FLOODING_S <= at <= self.high_s + FLOODING_S


def predict(p: TagSwitchingParameters, event: str, plane: str) -> Interval | None:
    """Of a part with one link: ``failure`` or ``repair``, ``core`` or ``outside``; None: nothing to see."""
    if p.link == DIVERTED:
        # Another way is there. Tags of all neighbours are known, sessions and routes of BGP stay: both planes
        # wait for the same. After the repair packets go on by the other way until the better one is there.
        return _lost(p) if event == "failure" else _moved(p, plane)
    assert p.link == CUT
    if event == "failure":
        return None  # There is no other way: nothing arrives until the repair.
    return _core_back(p) if plane == "core" else _outside_back(p)


def _lost(p: TagSwitchingParameters) -> Interval:
    """Detection, then the delay of the computation."""
    if p.detection == "interface":
        return Interval(
            p.spf_s, p.spf_s, "an interface goes down at once; paths are computed after their delay"
        )
    low = p.dead_s - p.hello_s + p.spf_s
    return Interval(
        low,
        p.dead_s + p.spf_s,
        "the dead interval from the last Hello on; paths are computed after their delay",
    )


def _moved(p: TagSwitchingParameters, plane: str) -> Interval | None:
    """After the repair packets may be interrupted that were not: while the route is back before the tag,
    switches without routes of BGP get them without tags (RFC 5443, 1).

    A tag is back at the next Hello of TDP, or at once if interfaces come up. Only a switch that has heard a
    Hello before the other one connects too soon: the other one closes the connection, and answers nothing
    from the same port for a while. The route is back no sooner than the delay of the computation.
    """
    tags = p.tdp_hello_s + _sent_again_s(TIME_WAIT_S)
    if plane == "core" or p.detection == "interface" or p.spf_s >= tags:
        return None
    return Interval(
        0.0,
        tags,
        "the route is back before the tag, at a Hello of TDP, or, if a switch connects before the other has"
        " heard a Hello, when TCP asks again after TIME-WAIT",
        is_sure=False,
    )


def _adjacent(p: TagSwitchingParameters) -> Interval:
    """Until both ends have heard each other, have told so, and paths were computed.

    The description of databases brings what each end said while they were apart. What it says next, that the
    other is its neighbour, comes within a second of that and is not taken (RFC 2328, 13, 5a: MinLSArrival);
    it is sent again. Meanwhile paths are computed once, without the link, unless that still waits.
    """
    if p.detection == "interface":
        # Both said at the repair that they have the link's network again: the next thing may have to wait.
        met, said = float(p.hello_s), max(p.hello_s, MIN_LS_INTERVAL_S)
        at = _computed(p, met, said)
        return Interval(at, at, f"both say Hello at once, and name each other in the next; {WHY}")
    at = _computed(p, 0, 0)
    return Interval(at, p.hello_s + at, f"the first Hello of each end, the later one; {WHY}")


WHY = "an advertisement that comes too soon is sent again after 5 s; then paths are computed"


def _computed(p: TagSwitchingParameters, met: float, said: float) -> float:
    """When paths are new if both ends met at a time, and said at another one that they are neighbours."""
    if said - met >= MIN_LS_ARRIVAL_S:
        return said + p.spf_s
    first, again = met + p.spf_s, said + RETRANSMIT_S
    return first if first > again else again + p.spf_s


def _core_back(p: TagSwitchingParameters) -> Interval:
    """Routes of OSPF are enough for packets between edge routers."""
    return _adjacent(p)


def _outside_back(p: TagSwitchingParameters) -> Interval:
    """Behind the routes: a session of TDP, which needs them, and what BGP tells outside."""
    routes = _adjacent(p)
    # A connection is tried at each Hello of either end. While one may not have heard the other, or has still
    # to forget it, that can be too soon, as in `_moved`.
    is_early = p.detection == "hello" and (routes.low_s < p.tdp_hello_s or p.down_s <= TDP_HOLD_S)
    connected = routes.high_s + p.tdp_hello_s + (_sent_again_s(TIME_WAIT_S) if is_early else 0)
    tags = Interval(routes.low_s, connected, "")
    # The withdrawal was told when the failure was seen; the next word waits for the interval behind it.
    seen = _lost(p)
    free_low = seen.low_s - p.down_s + JITTER * p.advertise_s
    free_high = seen.high_s - p.down_s + p.advertise_s
    told_low, told_high = max(routes.low_s, free_low), max(routes.high_s, free_high)
    return Interval(
        max(tags.low_s, told_low),
        max(tags.high_s, told_high),
        f"{routes.why}; tags at the next Hello of TDP; BGP tells outside when its interval since the"
        " withdrawal is over",
    )


def check(p: TagSwitchingParameters) -> None:
    """Refuse times with which sessions of BGP may end though there is a way again.

    The last message before the failure came up to a third of the hold time ago. The next one is lost, and is
    sent again at longer and longer intervals. It comes too late if the first of these times with a way is
    more than the other two thirds after that: then the session ends long after routes are back. What is lost
    later has less time until there is a way, and so no longer intervals.
    """
    away = max(_lost(p).high_s if link == DIVERTED else p.down_s + _adjacent(p).high_s for link in p.links)
    away += FLOODING_S
    # Three round-trip times, as after the first of them (RFC 6298, 2.2), may be more than the least interval.
    is_least = 3 * 2 * HOPS_MAX * p.delay_ms / 1e3 <= RTO_S
    again = _sent_again_s(away) if is_least else away + RTO_MAX_S
    least = (again + FLOODING_S) / (1 - KEEPALIVE)
    if p.hold_s <= least:
        raise TwinplaneError(
            f"tag-switching: hold_s={p.hold_s}: more than {least:.4g}, or a shorter down_s, so that sessions"
            f" of BGP outlast the failure: what they say meanwhile TCP sends again {again:.4g} s later, when"
            " there is a way again (RFC 6298, 5)"
        )


def _sent_again_s(after: float) -> float:
    """When TCP sends something again for the first time that is so much later, or more."""
    at, wait = 0.0, RTO_S
    while at < after:
        at, wait = at + wait, min(2 * wait, RTO_MAX_S)
    return at
