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
BACKOFF_S = 15.0
"""A router of LDP that was refused does not connect again before (RFC 5036, 2.5.3)."""
MESSAGE_CELLS = 4
"""A request of a label, or the answer, with its headers."""
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
        if event == "failure":
            return _rerouted(p)
        return _moved_channels(p) if p.medium == "atm" else _moved(p, plane)
    assert p.link == CUT
    if event == "failure":
        return None  # There is no other way: nothing arrives until the repair.
    return _core_back(p) if plane == "core" else _outside_back(p, plane == "answers")


def lost(p: TagSwitchingParameters) -> Interval:
    """After a failure: detection, then the delay of the computation."""
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


def _rerouted(p: TagSwitchingParameters) -> Interval:
    """The same, and the set-up of tags, where these are not there already."""
    routes, asked = lost(p), asked_s(p)
    why = f"{routes.why}; switches ask for other tags where the new routes lead" if asked else routes.why
    return Interval(routes.low_s + asked, routes.high_s + asked, why)


def asked_s(p: TagSwitchingParameters) -> float:
    """On ATM a switch asks for a label when its route is another one: a request and an answer over two links
    of the core. On Ethernet tags of all neighbours are known.
    """
    return 2 * 2 * _crossed_s(p) if p.medium == "atm" else 0.0


def _crossed_s(p: TagSwitchingParameters) -> float:
    """A message of LDP crosses a link of the core."""
    return p.delay_ms / 1e3 + MESSAGE_CELLS / p.cells_per_s


def _moved_channels(p: TagSwitchingParameters) -> Interval:
    """On ATM, after the repair, in both planes: a switch gives a label back when its route is another one,
    and asks for the next one then. Packets are lost until that is there, or longer, if there is no session.
    """
    routes = adjacent(p)
    return Interval(
        routes.low_s,
        max(routes.high_s, session_back(p).high_s) + asked_s(p),
        f"{routes.why}; then the switch asks the next hop of its new route for a tag, when there is a session"
        " of LDP: at a Hello, or at the first one after 15 s, if a switch connects before the other has heard"
        " one",
        is_sure=False,
    )


def _refused_s(p: TagSwitchingParameters) -> float:
    """Until a router of LDP connects that was refused, because the other one had heard no Hello yet: at the
    first Hello that it hears after a while.
    """
    return 2 * p.tdp_hello_s + BACKOFF_S


def _session_s(p: TagSwitchingParameters) -> float:
    """A connection, what both ends say first, that they agree: four times there and back, by two links."""
    return 4 * 2 * 2 * _crossed_s(p) if p.medium == "atm" else 0.0


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


def adjacent(p: TagSwitchingParameters) -> Interval:
    """Until both ends have heard each other, have told so, and paths were computed.

    The description of databases brings what each end said while they were apart. What it says next, that the
    other is its neighbour, comes within a second of that and is not taken (RFC 2328, 13, 5a: MinLSArrival);
    it is sent again. Meanwhile paths are computed once, without the link, unless that still waits.
    """
    if p.detection == "interface":
        # Both said at the repair that they have the link's network again: the next thing may have to wait.
        met, said = float(p.hello_s), max(p.hello_s, MIN_LS_INTERVAL_S)
        seen = "both say Hello at once, and name each other in the next"
    else:
        met, said = 0.0, 0.0
        seen = "the first Hello of each end, the later one"
    later = p.hello_s if p.detection == "hello" else 0
    if p.link == DIVERTED:
        # By the other way each has all along what the other says: nothing else comes right before.
        return Interval(said + p.spf_s, said + later + p.spf_s, f"{seen}; paths are computed")
    at = _computed(p, met, said)
    return Interval(at, at + later, f"{seen}; {WHY}")


WHY = "an advertisement that comes too soon is sent again after 5 s; then paths are computed"


def _computed(p: TagSwitchingParameters, met: float, said: float) -> float:
    """When paths are new if both ends met at a time, and said at another one that they are neighbours."""
    if said - met >= MIN_LS_ARRIVAL_S:
        return said + p.spf_s
    first, again = met + p.spf_s, said + RETRANSMIT_S
    return first if first > again else again + p.spf_s


def _core_back(p: TagSwitchingParameters) -> Interval:
    """Routes of OSPF are enough for packets between edge routers."""
    return adjacent(p)


def told(p: TagSwitchingParameters, is_answer: bool) -> Interval:
    """Until BGP has told outside, after the repair, that the networks beyond the link are back.

    The withdrawal was told when the failure was seen; the next word waits for the interval behind it. The
    country that was cut off withdraws all networks of others, the first of them at once and the rest an
    interval later: if that is said before routes are back, the next word waits for another one. Answers need
    what is told there.
    """
    routes, seen = adjacent(p), lost(p)
    is_second = is_answer and seen.high_s + p.advertise_s < p.down_s + routes.low_s
    free_low = seen.low_s - p.down_s + (2 if is_second else 1) * JITTER * p.advertise_s
    free_high = seen.high_s - p.down_s + (2 if is_answer else 1) * p.advertise_s
    why = "BGP tells outside when its interval since the withdrawal is over"
    if is_answer:
        why += ", or the next one, as networks of the others are withdrawn in two messages"
    return Interval(max(routes.low_s, free_low), max(routes.high_s, free_high), why)


def _outside_back(p: TagSwitchingParameters, is_answer: bool) -> Interval:
    """Behind the routes: a session of TDP, which needs them, and what BGP tells outside."""
    routes, session, known = adjacent(p), session_back(p), told(p, is_answer)
    tags = Interval(routes.low_s, session.high_s + asked_s(p), "")
    return Interval(
        max(tags.low_s, known.low_s),
        max(tags.high_s, known.high_s),
        f"{routes.why}; tags {session.why}; {known.why}",
    )


def session_back(p: TagSwitchingParameters) -> Interval:
    """Until there is a session for tags over the link again, after the repair.

    One end may connect before the other one has heard a Hello, or has forgotten it, as in `_moved`. Where the
    link is the only way a route comes first.
    """
    routes = adjacent(p) if p.link == CUT else Interval(0.0, 0.0, "")
    is_hello = p.detection == "hello"
    is_early = is_hello and (routes.low_s < p.tdp_hello_s or p.down_s <= TDP_HOLD_S)
    if p.medium == "atm":
        if is_early:
            why, later = "at a Hello of LDP, or at the first one after 15 s", _refused_s(p)
        else:
            # LDP connects when it has a route; what comes before the other end has one is sent again.
            why, later = "with the route, by LDP", RTO_S if p.link == CUT else 0.0
        return Interval(routes.low_s, routes.high_s + later + _session_s(p), why)
    is_waiting = is_hello or p.link == CUT
    later = (p.tdp_hello_s if is_waiting else 0) + (_sent_again_s(TIME_WAIT_S) if is_early else 0)
    return Interval(routes.low_s, routes.high_s + later, "at the next Hello of TDP")


def check(p: TagSwitchingParameters) -> None:
    """Refuse times with which sessions of BGP may end though there is a way again.

    The last message before the failure came up to a third of the hold time ago. The next one is lost, and is
    sent again at longer and longer intervals. It comes too late if the first of these times with a way is
    more than the other two thirds after that: then the session ends long after routes are back. What is lost
    later has less time until there is a way, and so no longer intervals.
    """
    away = max(lost(p).high_s if link == DIVERTED else p.down_s + adjacent(p).high_s for link in p.links)
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
