"""Options of a whole network, checked when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import units
from ..errors import TwinplaneError, suggest
from ..units import Quantity

CLOCKS = ("virtual", "wall")
"""Which clock runs a network."""

CONVENTIONS = ("first-to-first", "first-to-last", "last-to-last", "last-to-first")
"""From which bit at the source to which bit at the sink a delay is measured (RFC 1242)."""


@dataclass
class Settings:
    """What the core takes of a whole network."""

    seed: int
    convention: str
    phases_ps: list[int]
    series_bin_ps: int
    queue_bin_ps: int | None


def settings(
    seed: int,
    convention: str,
    phases: Sequence[Quantity],
    series_bin: Quantity,
    queue_bin: Quantity | None,
) -> Settings:
    """What a user said, in the core's units."""
    if convention not in CONVENTIONS:
        raise TwinplaneError(f"convention={convention!r}: one of {', '.join(CONVENTIONS)}")
    width = None if queue_bin is None else units.span_ps(queue_bin, "queue_bin")
    if width == 0:
        raise TwinplaneError("queue_bin: it is not above zero")
    return Settings(
        seed,
        convention,
        [units.span_ps(phase, "phase") for phase in phases],
        units.span_ps(series_bin, "series_bin"),
        width,
    )


def check_clock(clock: str, real: dict[str, Any]) -> None:
    """Refuse an unknown clock, and in virtual time what only real time has."""
    if clock not in CLOCKS:
        raise TwinplaneError(f"clock={clock!r}: unknown{suggest(clock, CLOCKS)}")
    if clock == "virtual" and (
        real["local"] is not None or real["incarnation"] or real["epoch_ns"] is not None or real["busy"]
    ):
        raise TwinplaneError("local, incarnation, epoch_ns and busy are for real time: clock='wall'")
