"""Metrics that are grouped: ``{"diffserv": {"EF": {"mean_s": ...}}}`` as ``diffserv.EF.mean_s``, and back.

What lays runs beside each other (residuals, bounds, intervals) works with the flat names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(metrics: Mapping[str, Any], lead: str = "") -> dict[str, Any]:
    """Every metric by its dotted name."""
    found: dict[str, Any] = {}
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{lead}{key}.")
        else:
            found[f"{lead}{key}"] = value
    return found


def like(shape: Mapping[str, Any], values: Mapping[str, Any], lead: str = "") -> dict[str, Any]:
    """Flat values grouped as `shape` is; a value that is missing is None."""
    return {
        key: like(value, values, f"{lead}{key}.")
        if isinstance(value, Mapping)
        else values.get(f"{lead}{key}")
        for key, value in shape.items()
    }


def inside(values: Mapping[str, Any], lead: str) -> dict[str, Any]:
    """Those of flat values whose names begin with ``lead.``, by what follows."""
    return {key[len(lead) + 1 :]: value for key, value in values.items() if key.startswith(f"{lead}.")}
