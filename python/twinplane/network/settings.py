"""Options of a whole network, as a file says them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import TwinplaneError, suggest
from ..model.network_file import is_name
from ..units import Quantity

CLOCKS = ("virtual", "wall")
"""Which clock runs a network."""


def whole(
    seed: int,
    convention: str,
    phases: Sequence[Quantity],
    series_bin: Quantity,
    loss_bin: Quantity,
    queue_bin: Quantity | None,
    routes: str | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What a user said of the whole, which the core checks."""
    said: dict[str, Any] = {
        "name": "network",
        "seed": seed,
        "measuring": {
            "phases": list(phases)
            if isinstance(phases, Iterable) and not isinstance(phases, str)
            else phases,
            "convention": convention,
            "series_bin": series_bin,
            "loss_bin": loss_bin,
        },
    }
    optional = {"queue_bin": queue_bin, "routes": routes}
    return said | {key: value for key, value in optional.items() if value is not None}


def check_name(name: object) -> None:
    """Refuse a name of a node that a network file could not have, in the words of one."""
    if not isinstance(name, str) or not is_name(name):
        raise TwinplaneError(
            f"nodes: {name!r} is not a name: it has up to 32 letters, digits, '-', '_' and '.',"
            " and begins with a letter or a digit"
        )


def check_clock(clock: str, real: dict[str, Any]) -> None:
    """Refuse an unknown clock, and in virtual time what only real time has."""
    if clock not in CLOCKS:
        raise TwinplaneError(f"clock={clock!r}: unknown{suggest(str(clock), CLOCKS)}")
    if clock == "virtual" and (
        real["local"] is not None or real["incarnation"] or real["epoch_ns"] is not None or real["busy"]
    ):
        raise TwinplaneError("local, incarnation, epoch_ns and busy are for real time: clock='wall'")
