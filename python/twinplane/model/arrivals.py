"""When the packets of a flow are due, and how long they are: `arrivals` and `size` of `Network.flow`.

What they say is in the form in which a file says it; the core reads and checks it. What is random is drawn
from streams that have the flow's name: adding a flow does not disturb the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import core
from ..errors import TwinplaneError
from ..units import Quantity

FRAME_MIN, FRAME_USUAL = 64, 9018
"""Bytes of an Ethernet frame with its frame check sequence."""
FCS = 4
ETHERNET = 1
"""Link type of Ethernet in captures."""


@dataclass(frozen=True)
class Period:
    """How long a source is on or off: ``exponential``, ``pareto`` (with `shape` above 1) or ``constant``.

    `mean` is a time; the tail of a Pareto distribution falls as the length to minus `shape`.
    """

    mean: Quantity
    kind: str = "exponential"
    shape: float = 1.5

    def described(self) -> dict[str, Any]:
        """As a file says it."""
        return dict(vars(self))


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

    def described(self) -> dict[str, Any]:
        """As a file says it."""
        on, off = (
            half if isinstance(half, Period) else Period(half, self.kind, self.shape)
            for half in (self.on, self.off)
        )
        return {"kind": "on-off", "on": on, "off": off, "rate_is_mean": self.rate_is_mean}


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

    def described(self) -> dict[str, Any]:
        """As a file says it."""
        return {"kind": "trace", **vars(self)}


@dataclass(frozen=True)
class Uniform:
    """Frame sizes from `min` to `max` bytes (with frame check sequence), each equally often."""

    min: Quantity
    max: Quantity

    def described(self) -> dict[str, Any]:
        """As a file says it."""
        return {"kind": "uniform", **vars(self)}


@dataclass(frozen=True)
class Empirical:
    """Some frame sizes in bytes (with frame check sequence), each as often as its weight says."""

    sizes: Sequence[Quantity]
    weights: Sequence[float] = ()

    def described(self) -> dict[str, Any]:
        """As a file says it."""
        return {"kind": "empirical", **vars(self)}


@dataclass(frozen=True)
class Exponential:
    """Exponential frame sizes in bytes; what is shorter than `min` or longer than `max` becomes that.

    `mean` is that without these bounds, and lies between them.
    """

    mean: Quantity
    min: Quantity = FRAME_MIN
    max: Quantity = FRAME_USUAL

    def described(self) -> dict[str, Any]:
        """As a file says it."""
        return {"kind": "exponential", **vars(self)}


@dataclass(frozen=True)
class Imix(Empirical):
    """The usual mix of the Internet: 7 frames of 64 bytes, 4 of 594 and 1 of 1518 (simple IMIX; RFC 6985)."""

    sizes: Sequence[Quantity] = (64, 594, 1518)
    weights: Sequence[float] = (7, 4, 1)


Arrivals = str | OnOff | Trace
Sizes = Quantity | Uniform | Empirical | Exponential
