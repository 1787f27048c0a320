"""Labs: a topology file becomes namespaces, links, hosts and a process for each router.

Names are loaded when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .capturing import Capture
    from .lab import Lab, LabNode
    from .networks import of_network
    from .plan import Plan
    from .testing import network_of, tester_placement

__all__ = ["Capture", "Lab", "LabNode", "Plan", "network_of", "of_network", "tester_placement"]

_HOMES = {
    "Capture": "capturing",
    "Lab": "lab",
    "LabNode": "lab",
    "Plan": "plan",
    "network_of": "testing",
    "of_network": "networks",
    "tester_placement": "testing",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
