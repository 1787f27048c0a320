"""Names that users wrote in earlier versions, and what they are called now (`docs/reference/renamed.md`)."""

from __future__ import annotations

from collections.abc import Collection

FIELDS = {"exp_map": "tc_map", "exp": "tc"}
"""Fields of Python calls and network files: the earlier name, and the name now."""


def field(given: str, known: Collection[str]) -> str | None:
    """A sentence that names the new field, if `given` is the earlier name of one of the `known` fields."""
    new = FIELDS.get(given)
    return f"'{given}' is now called '{new}'" if new in known else None
