"""Per-hop behaviours by name (RFC 2474, 2597, 3246, 5865, 8622)."""

from __future__ import annotations

from .. import units

NAMES: dict[int, str] = {code: name for name, code in reversed(units.DSCP.items()) if code} | {0: "default"}
"""PHBs by their recommended code points, which is how they are numbered."""


def name_of(code: int) -> str:
    """The usual name of a PHB, or ``DSCP n``."""
    return NAMES.get(code, f"DSCP {code}")
