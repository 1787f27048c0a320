"""When the packets of a flow are due, and how long they are: `arrivals` and `size` of `Network.flow`.

What is random is drawn from streams that have the flow's name: adding a flow does not disturb the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import core, units
from ..errors import TwinplaneError, suggest
from ..units import Quantity

FRAME_MIN, FRAME_USUAL, FRAME_MAX = 64, 9018, 65_553
"""Bytes of an Ethernet frame with its frame check sequence."""
FCS = 4
ETHERNET = 1
"""Link type of Ethernet in captures."""

WORDS = ("constant", "poisson")
PERIODS = ("exponential", "pareto", "constant")
RATE_COUNTS = ("frame", "ip")


def _frame(size: Any, what: str) -> int:
    found = units.size_bytes(size, what)
    if not FRAME_MIN <= found <= FRAME_MAX:
        raise TwinplaneError(f"{what}={found}: an Ethernet frame has {FRAME_MIN} to {FRAME_MAX} bytes")
    return found


@dataclass(frozen=True)
class Period:
    """How long a source is on or off: ``exponential``, ``pareto`` (with `shape` above 1) or ``constant``.

    `mean` is a time; the tail of a Pareto distribution falls as the length to minus `shape`.
    """

    mean: Quantity
    kind: str = "exponential"
    shape: float = 1.5

    def lowered(self, what: str) -> dict[str, Any]:
        """As the core takes it."""
        if self.kind not in PERIODS:
            raise TwinplaneError(f"{what}: kind={self.kind!r}: one of {', '.join(PERIODS)}{_near(self.kind)}")
        mean = units.span_ps(self.mean, what)
        if mean == 0:
            raise TwinplaneError(f"{what}: it is not above zero")
        if self.kind == "pareto" and not 1 < self.shape < math.inf:
            raise TwinplaneError(f"{what}: shape={self.shape}: above 1, or there is no mean")
        return {"kind": self.kind, "mean_ps": mean, "shape": float(self.shape)}


def _near(kind: str) -> str:
    return suggest(kind, PERIODS)


@dataclass(frozen=True)
class OnOff:
    """A source that is on and off in turn, at constant rate while it is on.

    `on` and `off` are times (means of the distribution `kind`, with `shape` if that is ``pareto``) or a
    `Period` each. The rate of the flow is that while it is on; with `rate_is_mean` it is the mean over both.
    """

    on: Quantity | Period
    off: Quantity | Period
    kind: str = "exponential"
    shape: float = 1.5
    rate_is_mean: bool = False

    def lowered(self, what: str) -> dict[str, Any]:
        """As the core takes it."""
        found: dict[str, Any] = {"kind": "on-off", "rate_is_mean": self.rate_is_mean}
        for key, given in (("on", self.on), ("off", self.off)):
            period = given if isinstance(given, Period) else Period(given, self.kind, self.shape)
            found[key] = period.lowered(f"{what}: {key}")
        return found


@dataclass(frozen=True)
class Trace:
    """Packets one by one: `gaps` in seconds from the one before (of the first: from the flow's start).

    `sizes` are frames in bytes with frame check sequence; without them the flow's size is that of every
    packet. With `repeat` it begins again after the last, otherwise the flow ends there.
    """

    gaps: Sequence[Quantity]
    sizes: Sequence[int] = ()
    repeat: bool = False

    @classmethod
    def from_pcap(cls, path: str | Path, *, repeat: bool = False, limit: int | None = None) -> Trace:
        """Gaps and sizes of the frames of a capture (pcap or pcapng, Ethernet), of the first `limit` at most.

        The first packet is due at the flow's start. Frames are as long as on the wire with the 4 bytes of the
        frame check sequence, which captures leave out, but 64 bytes at least and 9,018 at most: what a host
        hands to its interface in one piece, to be cut up there, is longer than any frame that is sent. A
        frame that is older than the one before comes at the same time.
        """
        times: list[int] = []
        sizes: list[int] = []
        with core.translated():
            for place, (at, link_type, length, _) in enumerate(core.load().CaptureFile(str(path))):
                if place == limit:
                    break
                if link_type != ETHERNET:
                    raise TwinplaneError(f"{path}: frame {place + 1} is not Ethernet (link type {link_type})")
                times.append(max(at, times[-1]) if times else at)
                sizes.append(min(max(length + FCS, FRAME_MIN), FRAME_USUAL))
        if not times:
            raise TwinplaneError(f"{path}: no frame is in it")
        gaps = [0, *(b - a for a, b in itertools.pairwise(times))]
        return cls(tuple(f"{gap} ns" for gap in gaps), tuple(sizes), repeat)

    def lowered(self, what: str) -> dict[str, Any]:
        """As the core takes it."""
        gaps = [units.span_ps(gap, f"{what}: gaps") for gap in self.gaps]
        sizes = [_frame(size, f"{what}: sizes") for size in self.sizes]
        if not gaps:
            raise TwinplaneError(f"{what}: gaps: there are none")
        if sizes and len(sizes) != len(gaps):
            raise TwinplaneError(
                f"{what}: {len(gaps)} gaps and {len(sizes)} sizes: as many of both, or no sizes"
            )
        if self.repeat and not any(gaps):
            raise TwinplaneError(f"{what}: repeat: with gaps of zero only it would never end")
        return {"kind": "trace", "gaps_ps": gaps, "sizes": sizes, "repeat": self.repeat}


@dataclass(frozen=True)
class Uniform:
    """Frame sizes from `min` to `max` bytes (with frame check sequence), each equally often."""

    min: Quantity
    max: Quantity

    def lowered(self, what: str) -> dict[str, Any]:
        """As the core takes it."""
        low, high = _frame(self.min, f"{what}: min"), _frame(self.max, f"{what}: max")
        if low > high:
            raise TwinplaneError(f"{what}: min={low} is above max={high}")
        return {"kind": "uniform", "min": low, "max": high}


@dataclass(frozen=True)
class Empirical:
    """Some frame sizes in bytes (with frame check sequence), each as often as its weight says."""

    sizes: Sequence[Quantity]
    weights: Sequence[float] = ()

    def lowered(self, what: str) -> dict[str, Any]:
        """As the core takes it."""
        sizes = [_frame(size, f"{what}: sizes") for size in self.sizes]
        weights = [float(weight) for weight in self.weights]
        if not sizes:
            raise TwinplaneError(f"{what}: sizes: there are none")
        if weights and len(weights) != len(sizes):
            raise TwinplaneError(f"{what}: {len(sizes)} sizes and {len(weights)} weights: as many of both")
        if weights and not (all(0 <= weight < math.inf for weight in weights) and sum(weights) > 0):
            raise TwinplaneError(f"{what}: weights: none is negative, and one at least is above zero")
        return {"kind": "empirical", "sizes": sizes, "weights": weights}


@dataclass(frozen=True)
class Exponential:
    """Exponential frame sizes in bytes; what is shorter than `min` or longer than `max` becomes that.

    `mean` is that without these bounds, and lies between them.
    """

    mean: Quantity
    min: Quantity = FRAME_MIN
    max: Quantity = FRAME_USUAL

    def lowered(self, what: str) -> dict[str, Any]:
        """As the core takes it."""
        bounds = Uniform(self.min, self.max).lowered(what)
        mean = units.size_bytes(self.mean, f"{what}: mean")
        if mean == 0:
            raise TwinplaneError(f"{what}: mean: it is not above zero")
        low, high = bounds["min"], bounds["max"]
        if not low <= mean <= high:
            most = "most frames would be as long as a bound"
            raise TwinplaneError(f"{what}: mean={mean} is not between min={low} and max={high}: {most}")
        return {**bounds, "kind": "exponential", "mean": float(mean)}


@dataclass(frozen=True)
class Imix(Empirical):
    """The usual mix of the Internet: 7 frames of 64 bytes, 4 of 594 and 1 of 1518 (simple IMIX; RFC 6985)."""

    sizes: Sequence[Quantity] = (64, 594, 1518)
    weights: Sequence[float] = (7, 4, 1)


Arrivals = str | OnOff | Trace
Sizes = Quantity | Uniform | Empirical | Exponential


def arrivals_spec(given: Arrivals, what: str) -> str | dict[str, Any]:
    """When packets are due, as the core takes it."""
    if isinstance(given, (OnOff, Trace)):
        return given.lowered(f"{what}: arrivals")
    if given not in WORDS:
        words = "constant or poisson, or an OnOff or a Trace of twinplane.traffic"
        raise TwinplaneError(f"{what}: arrivals={given!r}: {words}{suggest(str(given), WORDS)}")
    return given


def size_spec(given: Sizes, what: str) -> int | dict[str, Any]:
    """How long frames are, as the core takes it."""
    if isinstance(given, (Uniform, Empirical, Exponential)):
        return given.lowered(f"{what}: size")
    return _frame(given, f"{what}: size")


def udp_port(given: int, what: str) -> int:
    """A port that packets may come from or go to."""
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 65535:
        raise TwinplaneError(f"{what}={given!r}: a UDP port is 1 to 65535")
    return given
