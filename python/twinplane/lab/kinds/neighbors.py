"""Neighbours as daemons of somebody else see them."""

from __future__ import annotations

from typing import Any


def seen(protocol: str, neighbor: str, interface: str | None, state: str, adjacent: bool) -> dict[str, Any]:
    """A neighbour; of a session that is of no interface that is None."""
    return {
        "protocol": protocol,
        "neighbor": neighbor,
        "interface": interface,
        "state": state,
        "adjacent": adjacent,
    }


def of_ospf(neighbor: str, interface: str, state: str) -> dict[str, Any]:
    """A neighbour of OSPF: routes lead by it, or by the designated router of its network."""
    return seen("OSPF", neighbor, interface, state.lower(), state in ("Full", "2-Way"))
