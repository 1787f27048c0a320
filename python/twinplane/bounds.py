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
| any other count | exact |

A delay below the 99th percentile back to back is refused: one in a hundred packets would show that much with
nothing between the ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calibration import Calibration, Spread
from .metrics import flat, like
from .units import format_time

MEAN, LEAST, MOST, TIME = "mean of delays", "delay", "greatest delay", "time"
"""Kinds of figures that are not exact."""


def own_share(calibration: Calibration, lateness: Spread | None) -> dict[str, float]:
    """What the tester may have added, by kind of figure."""
    own, then = calibration.floor.delay, calibration.floor.lateness
    now = lateness or then
    return {
        MEAN: own.mean_s + max(0.0, now.mean_s - then.mean_s),
        LEAST: own.p999_s,
        MOST: max(own.p999_s, own.p999_s - then.p999_s + now.max_s),
        TIME: max(own.p999_s, now.p999_s),
    }


def bounds_of(
    metrics: Mapping[str, Any],
    kinds: Mapping[str, str],
    calibration: Calibration,
    lateness: Spread | None = None,
) -> tuple[dict[str, Any], dict[str, float], dict[str, str]]:
    """Metrics without those below the floor, the bounds of the others, and why some are missing."""
    share = own_share(calibration, lateness)
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
