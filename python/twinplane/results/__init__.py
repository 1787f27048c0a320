"""What a finished run leaves: its folder, its manifest, its points."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .folder import Results, load
    from .points import Point

__all__ = ["Point", "Results", "load"]

_HOMES = {"Point": "points", "Results": "folder", "load": "folder"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
