"""What FRR's daemons say of their neighbours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ... import daemons
from ..neighbors import of_ospf, seen


def neighbors(alive: list[str], vtysh: list[str]) -> list[dict[str, Any]]:
    """Neighbours by protocol; of daemons that do not run there are none."""
    found: list[dict[str, Any]] = []
    for daemon, (questions, read) in QUESTIONS.items():
        if daemon in alive:
            try:
                said = [json.loads(daemons.ask([*vtysh, "-c", one]).stdout) for one in questions]
            except ValueError:
                continue
            found += read(*said)
    return found


def _ospf(said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for neighbor, rows in said.get("neighbors", {}).items():
        for row in rows:
            # FRR 8 says "Full/DR" in one key, later ones in another.
            state = str(row.get("nbrState") or row.get("state") or "").partition("/")[0]
            interface = str(row.get("ifaceName", "")).partition(":")[0]
            yield of_ospf(neighbor, interface, state)


def _ldp(discovered: dict[str, Any], sessions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    rows = sessions.get("neighbors", sessions)
    known = rows.values() if isinstance(rows, dict) else rows
    states = {str(row.get("neighborId")): str(row.get("state", "")).lower() for row in known}
    for row in discovered.get("adjacencies", []):
        state = states.get(str(row.get("neighborId")), "no session")
        # A neighbour further away is met by no interface.
        interface = None if row.get("type") == "targeted" else str(row.get("interface"))
        yield seen("LDP", str(row.get("neighborId")), interface, state, state == "operational")


def _bgp(said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    # A peer is there once for each family, with one session for all of them.
    families = [family.get("peers", {}) for family in said.values() if isinstance(family, dict)]
    for peer, row in {peer: row for peers in families for peer, row in peers.items()}.items():
        state = str(row.get("state", ""))
        yield seen("BGP", peer, None, state.lower(), state == "Established")


def _bfd(said: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in said:
        state = str(row.get("status", ""))
        yield seen("BFD", str(row.get("peer")), None, state, state == "up")


QUESTIONS: dict[str, Any] = {
    "ospfd": (["show ip ospf neighbor json"], _ospf),
    "ldpd": (["show mpls ldp discovery json", "show mpls ldp neighbor json"], _ldp),
    "bgpd": (["show bgp summary json"], _bgp),
    "bfdd": (["show bfd peers json"], _bfd),
}
