"""What was measured of a case beside what its timers say: figures of RFC 6412, and a verdict for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...failing.cases import Case
from ...failing.traffic import Watched
from ...failing.watching import World
from .timers import Expected, Prediction, Timers

TTL = 64
"""Of probes: a packet that goes round is lost after so many links at the latest."""
WELL, NOTHING = "as predicted", "nothing to see"


@dataclass(frozen=True)
class Route:
    """What a case did to the packets to one destination, from one source."""

    flow: str
    prefix: str
    """The router that they go to."""
    lost: int
    first_s: float | None
    """When the first of them was lost, after the failure."""
    last_s: float | None
    connectivity_s: float
    """Route Loss of Connectivity Period (RFC 6412, 3.6.5): packets lost by packets sent in a second."""
    expired: int
    looped: int
    back: bool | None
    """Did packets arrive again? None where no way was left."""


@dataclass(frozen=True)
class Tried:
    """A case with all that is known of it; times in seconds after the failure."""

    case: Case
    routes: list[Route]
    routers: list[tuple[str, float | None, float | None]]
    """Routers that are left: when each noticed the failure by itself, and when its last new route came."""
    predicted: Prediction
    detected_s: float | None
    control_s: float | None
    full_s: float | None
    """Full Convergence Time (RFC 6412, 3.6.1), of destinations with a way left; None: no packet was lost."""
    first_s: float | None
    """First Route Convergence Time (RFC 6412, 3.6.2), the same."""
    verdict: str

    @property
    def lost(self) -> int:
        """Packets, those to destinations without a way included."""
        return sum(one.lost for one in self.routes)

    @property
    def expired(self) -> int:
        """Packets that went round until their time to live was over."""
        return sum(one.expired for one in self.routes)

    @property
    def looped(self) -> int:
        """Packets that came to a router twice and arrived."""
        return sum(one.looped for one in self.routes)

    @property
    def cut_off(self) -> int:
        """Probes without a way left."""
        return sum(one.back is None for one in self.routes)


@dataclass(frozen=True)
class Ground:
    """What all cases have in common."""

    names: Sequence[str]
    gaps_s: Sequence[float]
    """Of each flow, from a packet to the next."""
    way_s: float
    """What a packet may be under way, at most."""
    hop_s: float
    """What it may take over a link, at most."""


def judge(
    world: World,
    ground: Ground,
    timers: Timers,
    case: Case,
    predicted: Prediction,
    found: Mapping[str, Any],
) -> Tried:
    """Put what a case told beside the prediction."""
    parts = world.parts(case)
    watched_s = world.watch_ps / 1e12
    routes = []
    for place, sent, lost, first, last, expired, looped in found["flows"]:
        flow: Watched = world.flows[place]
        joined = parts.joined(flow.source, flow.sink)
        gap = ground.gaps_s[place]
        back = None if not joined else last is None or last / 1e12 < watched_s - 3 * gap - ground.way_s
        period = lost * watched_s / sent if sent else 0.0
        name, prefix = flow.name, ground.names[flow.sink]
        routes.append(Route(name, prefix, lost, _s(first), _s(last), period, expired, looped, back))
    waits = [
        flow
        for flow in (world.flows[row[0]] for row in found["flows"] if row[2])
        if parts.joined(flow.source, flow.sink) and not timers.diverts(case, flow.sink)
    ]
    if not waits and predicted.data.low is not None:
        predicted = replace(predicted, data=Expected(predicted.at_once, predicted.data.high))
    left = [one.last_s for one in routes if one.back and one.last_s is not None]
    routers = [
        (ground.names[place], _s(noticed), _s(changed)) for place, noticed, _, changed in found["routers"]
    ]
    noticed = max((at for _, at, _ in routers if at is not None), default=None)
    control = max((at for _, _, at in routers if at is not None), default=None)
    full, first = max(left, default=None), min(left, default=None)
    expired = any(one.expired for one in routes)
    # A packet that goes round is lost later than the routes that send it round.
    late = TTL * ground.hop_s if expired else ground.way_s
    gap = max(ground.gaps_s, default=0.0)
    parts_of = [
        _beside("detection", noticed, predicted.detected),
        _beside("control plane", control, predicted.control),
        _beside("forwarding", full, predicted.data, gap, gap + late) if full is not None else None,
        "probes stay away though a way is left" if any(one.back is False for one in routes) else None,
    ]
    wrong = [one for one in parts_of if one]
    verdict = "; ".join(wrong) if wrong else WELL if control is not None or full is not None else NOTHING
    return Tried(case, routes, routers, predicted, noticed, control, full, first, verdict)


def _s(at: int | None) -> float | None:
    return None if at is None else at / 1e12


SLACK_S = 1e-4
"""What nobody predicts: turns of the queue of a control processor, and the packets of the flooding itself."""


def _beside(
    what: str, measured: float | None, expected: Expected, early: float = 0.0, late: float = 0.0
) -> str | None:
    """What a time is beside its prediction, if it is not what was expected."""
    if measured is None or expected.low is None or expected.high is None:
        return None if measured is None and expected.low is None else f"{what}: not both seen and expected"
    if measured < expected.low / 1e12 - early - SLACK_S:
        return f"{what} earlier"
    return f"{what} later" if measured > expected.high / 1e12 + late + SLACK_S else None
