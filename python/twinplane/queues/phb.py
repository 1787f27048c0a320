"""Per-hop behaviours by name (RFC 2474, 2597, 3246, 5865, 8622), and code points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import units
from ..errors import TwinplaneError, suggest

NAMES: dict[int, str] = {code: name for name, code in reversed(units.DSCP.items()) if code} | {0: "default"}
"""Behaviours by their recommended code points, which is how they are numbered."""

GROUPS: dict[str, tuple[int, ...]] = {
    f"AF{group}": tuple(8 * group + 2 * drop for drop in range(1, 4)) for group in range(1, 5)
}
"""Behaviours that share a queue: the classes of assured forwarding (RFC 2597, 2)."""


def name_of(code: int) -> str:
    """The usual name of a behaviour, or ``DSCP n``."""
    return NAMES.get(code, f"DSCP {code}")


def behaviour(value: Any) -> int:
    """A behaviour, by name (``"EF"``) or by the number of its code point."""
    found = units.code_point(value)
    if found is None:
        hint = suggest(str(value).upper(), units.DSCP) if isinstance(value, str) else ""
        raise ValueError(f"{value!r} is no per-hop behaviour: {units.DSCP_FORMS}{hint}")
    return found


def behaviours(value: Any) -> tuple[int, ...]:
    """One or several behaviours, in order of their code points; ``"AF1"`` is all of its class."""
    items: Iterable[Any] = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    found: set[int] = set()
    for item in items:
        group = GROUPS.get(item.strip().upper()) if isinstance(item, str) else None
        found.update(group or [behaviour(item)])
    if not found:
        raise ValueError("no behaviour is named, so that it takes nothing")
    return tuple(sorted(found))


def names(codes: Iterable[int]) -> list[str]:
    """Names of behaviours."""
    return [name_of(code) for code in codes]


def code_points(value: Any) -> tuple[int, ...]:
    """One or several DSCPs, by name or number, in order."""
    items = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    try:
        found = sorted({units.dscp(_word(item)) for item in items})
    except TwinplaneError as error:
        raise ValueError(str(error).removeprefix("dscp ")) from None
    if not found:
        raise ValueError("no code point is named, so that it takes nothing")
    return tuple(found)


def _word(item: Any) -> str | int:
    if isinstance(item, bool) or not isinstance(item, (str, int)):
        raise ValueError(f"{item!r} is no code point: a name such as EF, or 0 to 63")
    return item
