"""Calibration: what the tester's own ports do before anything stands between them.

The tester sends to itself over two ports joined back to back, with the sources, the pacing, the sockets and
the sinks of the run that follows. What it measures then is its own: the noise floor of delay, the error of
its pacing, and the highest rate without loss (RFC 2544, 26.1, with shorter trials, and one that confirms).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..errors import TwinplaneError
from ..files import read_json, write_json
from ..units import format_rate, format_time
from .statistics import quantile

TRIAL_S = 0.25
CONFIRM_S = 1.0
FLOOR_S = 1.0
"""Lengths of a trial of the search, of the one that confirms it, and of the one at the run's own rate."""
THROUGH_S = 3.0
"""Length of the trial that confirms a rate through a system under test."""
THROUGH_STEP = 0.8
"""There, this share of a rate that is not confirmed is tried next."""
PACE_S = 2e-3
"""A rate through a system under test leaves room if 99 % of departures are no later than this."""
RESOLUTION = 0.03
"""The search ends when it is known to this share."""
CONFIRM_STEP = 0.95
"""If the trial that confirms loses a packet, this share of its rate is tried next."""
CONFIRM_MAX = 30
LEAST_PACKETS_PER_S = 100.0
SHARES = ("min", "mean", "p50", "p90", "p99", "p999", "max")


@dataclass(frozen=True)
class Spread:
    """A distribution of times, in seconds."""

    min_s: float = 0.0
    mean_s: float = 0.0
    p50_s: float = 0.0
    p90_s: float = 0.0
    p99_s: float = 0.0
    p999_s: float = 0.0
    max_s: float = 0.0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Spread:
        """From a mapping; what is missing is zero."""
        return cls(**{f"{name}_s": float(values.get(f"{name}_s") or 0.0) for name in SHARES})

    @classmethod
    def of_values(cls, values: Sequence[float]) -> Spread:
        """From the times themselves, of which there is one at least."""
        shares = {"p50_s": 0.5, "p90_s": 0.9, "p99_s": 0.99, "p999_s": 0.999}
        found: dict[str, Any] = {name: quantile(values, share) for name, share in shares.items()}
        mean = math.fsum(values) / len(values)
        return cls.of({**found, "min_s": min(values), "mean_s": mean, "max_s": max(values)})


@dataclass(frozen=True)
class Trial:
    """One burst at one rate, back to back or through a system under test."""

    rate_bps: float
    size: int
    seconds: float
    sent: int
    received: int
    lost: int
    delay: Spread = field(default_factory=Spread)
    lateness: Spread = field(default_factory=Spread)
    """How long after it was due each departure was handed to the interface."""
    histogram: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Back-to-back delays: `upper_s`, the upper ends of bins, and `count`."""

    @property
    def loss_free(self) -> bool:
        """Did everything arrive, and was anything sent?"""
        return self.sent > 0 and self.lost == 0

    def brief(self) -> dict[str, Any]:
        """What the list of a search's trials keeps of it."""
        return {"rate_bps": self.rate_bps, "seconds": self.seconds, "sent": self.sent, "lost": self.lost}


class Bench(Protocol):
    """Something that trials can be run on."""

    def trial(self, rate_bps: float, size: int, seconds: float) -> Trial:
        """Send frames of a size at a rate for a time."""

    def describe(self) -> dict[str, Any]:
        """What it is: ``kind`` (ports, process), interfaces, driver."""


@dataclass(frozen=True)
class Search:
    """The highest rate that lost nothing, and how it was found."""

    size: int
    rate_bps: float | None
    """None if even the lowest rate lost something."""
    most_bps: float
    """The search went no higher."""
    trials: Sequence[Mapping[str, Any]]

    @property
    def packets_per_s(self) -> float | None:
        """The rate in frames a second."""
        return None if self.rate_bps is None else self.rate_bps / (8 * self.size)

    def as_dict(self) -> dict[str, Any]:
        """For the results."""
        return {**asdict(self), "packets_per_s": self.packets_per_s, "resolution": RESOLUTION}


@dataclass(frozen=True)
class Calibration:
    """What a run's tester does by itself at the run's rate and size."""

    bench: Mapping[str, Any]
    floor: Trial
    search: Search
    wall_s: float = 0.0

    @property
    def floor_s(self) -> float:
        """Delays below this cannot be told from the tester's own: the 99th percentile back to back."""
        return self.floor.delay.p99_s

    def as_dict(self) -> dict[str, Any]:
        """For the results."""
        return {
            "bench": dict(self.bench),
            "floor": asdict(self.floor),
            "floor_s": self.floor_s,
            "loss_free": self.search.as_dict(),
            "wall_s": round(self.wall_s, 3),
        }

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Calibration:
        """From the results."""
        floor = dict(values["floor"])
        floor |= {key: Spread.of(floor[key]) for key in ("delay", "lateness")}
        search = {key: values["loss_free"][key] for key in ("size", "rate_bps", "most_bps", "trials")}
        return cls(values["bench"], Trial(**floor), Search(**search), values["wall_s"])


def is_loss_free(trial: Trial) -> bool:
    """What a search looks for: nothing was lost."""
    return trial.loss_free


def keeps_pace(trial: Trial) -> bool:
    """Nothing was lost, and departures were not late: tester and system have time to spare at this rate."""
    return trial.loss_free and trial.lateness.p99_s <= PACE_S


def search(
    bench: Bench,
    size: int,
    most_bps: float,
    good: Callable[[Trial], bool] = is_loss_free,
    confirm_s: float = CONFIRM_S,
    step: float = CONFIRM_STEP,
) -> Search:
    """The highest loss-free rate: halve what is unknown, then confirm with a longer trial, or step down."""
    trials: list[Mapping[str, Any]] = []
    least = LEAST_PACKETS_PER_S * 8 * size

    def run(rate: float, seconds: float) -> Trial:
        done = bench.trial(rate, size, seconds)
        trials.append(done.brief())
        return done

    low, high = 0.0, most_bps
    if good(run(most_bps, TRIAL_S)):
        low = most_bps
    while high - low > RESOLUTION * high and high > least:
        middle = (low + high) / 2
        if good(run(middle, TRIAL_S)):
            low = middle
        else:
            high = middle
    found: float | None = low
    for _ in range(CONFIRM_MAX):
        if not found or found < least:
            found = None
            break
        if good(run(found, confirm_s)):
            break
        found *= step
    else:
        found = None
    return Search(size, found, most_bps, trials)


def floor(
    bench: Bench, found: Search, rate_bps: float | None = None, since: float | None = None
) -> Calibration:
    """The noise floor at the run's rate, or at the loss-free one, and with it the whole calibration."""
    begin = time.monotonic() if since is None else since
    rate = rate_bps if rate_bps is not None else found.rate_bps
    if rate is None:
        raise TwinplaneError(nothing_passes(bench.describe(), found.size))
    done = bench.trial(rate, found.size, FLOOR_S)
    return Calibration(bench.describe(), done, found, time.monotonic() - begin)


def nothing_passes(bench: Mapping[str, Any], size: int) -> str:
    """Why there is nothing to run with."""
    lost = f"even {LEAST_PACKETS_PER_S:g} frames of {size} bytes a second are lost back to back"
    return f"calibration: {lost} ({name_of(bench)}): are the two ports joined to each other, and up?"


KEPT = 1
"""Version of the layout of a file of calibrations."""


def write(path: Path, found: Sequence[Calibration]) -> None:
    """Keep calibrations, one for each size of frame."""
    write_json(path, {"calibrations": KEPT, "sizes": [one.as_dict() for one in found]})


def read(path: Path, size: int) -> Calibration:
    """The calibration for a size of frame that a file holds."""
    found = read_json(path, "calibration")
    try:
        if found["calibrations"] != KEPT:
            raise TwinplaneError(f"{path}: calibrations of another version: calibrate again")
        known = {one["floor"]["size"]: one for one in found["sizes"]}
        if size not in known:
            sizes = ", ".join(map(str, known))
            raise TwinplaneError(
                f"{path}: calibrated for {sizes} B, not for {size} B: calibrate with --size {size}"
            )
        return Calibration.of(known[size])
    except (KeyError, TypeError):
        raise TwinplaneError(f"{path}: it is no file of `twinplane calibrate --out`") from None


def name_of(bench: Mapping[str, Any]) -> str:
    """A bench in a few words."""
    if bench.get("kind") == "process":
        return "the engine in this process, no interface"
    ports = bench.get("interfaces") or []
    pair = "its own veth pair" if bench.get("own") else " and ".join(map(str, ports))
    return f"{pair}, driver {bench.get('driver')}"


def check_rate(found: Search, rate_bps: float, where: str) -> None:
    """Refuse a rate above the loss-free one, saying which would do."""
    free, size = found.rate_bps, found.size
    if free is None:
        raise TwinplaneError(f"{where}: no rate is free of loss back to back for frames of {size} bytes")
    if rate_bps > free * (1 + 1e-9):
        raise TwinplaneError(
            f"{where}: {format_rate(rate_bps)} of {size} B frames is more than these ports pass back to back"
            f" without loss ({format_rate(free)}): set rate_mbps={round_down(free)} or less, or --rate auto"
        )


def round_down(rate_bps: float) -> str:
    """A rate in Mbit/s with three digits, never more than it is."""
    mbps = rate_bps / 1e6
    step = 10.0 ** (len(str(int(mbps))) - 3) if mbps >= 1 else 0.001
    return f"{int(mbps / step) * step:.6g}"


def sentences(calibration: Calibration) -> list[str]:
    """What was found, for terminal and page."""
    c = calibration
    free = c.search.rate_bps
    rate = "none" if free is None else f"{format_rate(free)} ({c.search.packets_per_s:,.0f} frames/s)"
    cut = " (as far as was asked for)" if free is not None and free >= c.search.most_bps else ""
    return [
        f"Calibrated back to back on {name_of(c.bench)}, {c.floor.size}-byte frames at"
        f" {format_rate(c.floor.rate_bps)} for {c.floor.seconds:g} s:"
        f" {c.floor.sent:,} sent, {c.floor.lost:,} lost.",
        f"Delay of the tester itself: mean {format_time(c.floor.delay.mean_s)}, median"
        f" {format_time(c.floor.delay.p50_s)}, 99 % below {format_time(c.floor.delay.p99_s)}, at most"
        f" {format_time(c.floor.delay.max_s)}. Noise floor: {format_time(c.floor_s)}.",
        f"Departures left {format_time(c.floor.lateness.p50_s)} (median) to"
        f" {format_time(c.floor.lateness.p99_s)} (99 %) after they were due, at most"
        f" {format_time(c.floor.lateness.max_s)}.",
        f"Highest rate without loss: {rate}{cut}, from {len(c.search.trials)} trials.",
    ]
