"""Options of a whole network, as a file says them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import TwinplaneError, suggest
from ..units import Quantity

CLOCKS = ("virtual", "wall")
"""Which clock runs a network."""


def whole(
    seed: int,
    convention: str,
    phases: Sequence[Quantity],
    series_bin: Quantity,
    queue_bin: Quantity | None,
) -> dict[str, Any]:
    """What a user said of the whole, which the core checks."""
    said: dict[str, Any] = {
        "name": "network",
        "seed": seed,
        "measuring": {"phases": list(phases), "convention": convention, "series_bin": series_bin},
    }
    return said if queue_bin is None else {**said, "queue_bin": queue_bin}


def check_clock(clock: str, real: dict[str, Any]) -> None:
    """Refuse an unknown clock, and in virtual time what only real time has."""
    if clock not in CLOCKS:
        raise TwinplaneError(f"clock={clock!r}: unknown{suggest(clock, CLOCKS)}")
    if clock == "virtual" and (
        real["local"] is not None or real["incarnation"] or real["epoch_ns"] is not None or real["busy"]
    ):
        raise TwinplaneError("local, incarnation, epoch_ns and busy are for real time: clock='wall'")
