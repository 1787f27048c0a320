"""One question to a router of a lab."""

from __future__ import annotations

from typing import Any

from .control import PATIENCE_S, Control
from .state import State


def ask(lab: State, node: str, request: str, argument: Any = None, *, wait_s: float = 0.0) -> Any:
    """Ask a router at its control socket; what it refuses is an error."""
    with Control(lab.socket(node), node, PATIENCE_S) as control:
        return control.ask(request, argument, wait_s=wait_s)
