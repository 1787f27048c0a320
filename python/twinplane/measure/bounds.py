"""How far a figure of a run in real time may be off, and which figures are not given.

The tester adds to every delay: a packet leaves a little after it was due, and is stamped a little after it
arrived. Back to back there is nothing else, so what calibration measures is that share. It is not subtracted
(the machine is busier during the run); it is the bound.

| figure | bound |
| --- | --- |
| a mean of delays | the mean back to back, and what departures were later in the run than then |
| one delay: least, greatest | the 99.9th percentile back to back, or the run's latest departure if more |
| a time of signalling | the 99.9th percentile back to back |
| a count at a time | the transitions within that time on either side |
| a count that queues decide | what chance does to it, see `by_chance` |
| any other count | exact |

Where an experiment sends probes along its idle path (a lab does), what they took beyond virtual time holds
the routers' processes too, each hop of which costs some tens of microseconds. Then the mean and the 99.9th
percentile are those of the probes, if they are more.

A delay below the 99th percentile back to back is refused: one in a hundred packets would show that much with
nothing between the ports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..units import format_time
from .calibration import Calibration, Spread
from .metrics import flat, like

MEAN, LEAST, MOST, TIME = "mean of delays", "delay", "greatest delay", "time"
"""Kinds of figures that are not exact."""


def own_share(
    calibration: Calibration, lateness: Spread | None, path: Spread | None = None
) -> dict[str, float]:
    """What the tester, and an idle path if it was probed, may have added, by kind of figure."""
    own, then = calibration.floor.delay, calibration.floor.lateness
    now, idle = lateness or then, path or own
    one = max(own.p999_s, idle.p999_s)
    return {
        MEAN: max(own.mean_s, idle.mean_s) + max(0.0, now.mean_s - then.mean_s),
        LEAST: one,
        MOST: max(one, one - then.p999_s + now.max_s),
        TIME: max(own.p999_s, now.p999_s),
    }


CHANCE_Z = 2.576
"""Of a normal variable 99 % lie within so many standard deviations."""


def by_chance(count: int, of: int) -> float:
    """How far the losses of a flow may be apart in two runs that draw them anew, at 99 %.

    A packet that comes microseconds later may find room in a full queue, and every decision of RED depends on
    those before; which packets are lost is then another draw, though the packets are the same. As if every
    packet were lost independently with the share that was seen (with one more of either fate, so that none
    seen is not none possible): the difference of two such counts has twice the variance of one. Queues that
    are kept full share their losses out more evenly than that, so that the bound is wide rather than narrow.
    A whole number, since counts are.
    """
    share = (count + 1) / (of + 2)
    return float(math.floor(CHANCE_Z * math.sqrt(2 * of * share * (1 - share))))


def bounds_of(
    metrics: Mapping[str, Any],
    kinds: Mapping[str, str],
    calibration: Calibration,
    lateness: Spread | None = None,
    path: Spread | None = None,
) -> tuple[dict[str, Any], dict[str, float], dict[str, str]]:
    """Metrics without those below the floor, the bounds of the others, and why some are missing."""
    share = own_share(calibration, lateness, path)
    given, bounds, refused = flat(metrics), {}, {}
    for key, kind in kinds.items():
        value = given.get(key)
        if value is None:
            continue
        if kind in (MEAN, LEAST, MOST) and value < calibration.floor_s:
            given[key] = None
            refused[key] = (
                f"below floor ({format_time(calibration.floor_s, 3)}): {format_time(value, 3)} cannot be told"
                " from what the tester's ports add by themselves (99 % of it, back to back)"
            )
        else:
            bounds[key] = share[kind]
    return like(metrics, given), bounds, refused
