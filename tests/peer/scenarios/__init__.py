"""Exchanges with a router, each of which it must complete, refuse or survive.

Every scenario is a function of a `Bench`: two ports, the addresses at both, and the words to
send, wait and check with. `SCENARIOS` holds them all by name.
"""

from . import (
    data,
    head_end,
    hello,
    integrity,
    malformed,
    reliable,
    reservations,
    routes,
    setup,
    sharing,
    transit,
)
from .registry import SCENARIOS, Scenario

__all__ = [
    "SCENARIOS",
    "Scenario",
    "data",
    "head_end",
    "hello",
    "integrity",
    "malformed",
    "reliable",
    "reservations",
    "routes",
    "setup",
    "sharing",
    "transit",
]
