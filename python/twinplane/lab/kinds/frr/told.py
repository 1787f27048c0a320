"""What FRR's daemons say of their neighbours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ... import daemons
from ..neighbors import of_ospf, seen


def neighbors(alive: list[str], vtysh: list[str]) -> list[dict[str, Any]]:
    """Neighbours by protocol; of daemons that do not run there are none."""
    asked = {daemon: QUESTIONS[daemon][0] for daemon in QUESTIONS if daemon in alive}
    if not asked:
        return []
    said: list[Any] | None
    try:
        said = answers(vtysh, [one for questions in asked.values() for one in questions])
    except ValueError:  # vtysh ends at the first question that a daemon does not answer
        said = None
    found: list[dict[str, Any]] = []
    for daemon, questions in asked.items():
        try:
            own = [answers(vtysh, [one])[0] if said is None else said.pop(0) for one in questions]
        except ValueError:
            continue
        found += QUESTIONS[daemon][1](*own)
    return found


def answers(vtysh: list[str], questions: list[str]) -> list[Any]:
    """What daemons answer to questions that end in `json`; ValueError if that is not one document for each.

    All are asked by one vtysh: whenever it starts it builds all commands that it knows, which takes it longer
    than any question.
    """
    return documents(
        daemons.ask([*vtysh, *(word for one in questions for word in ("-c", one))]).stdout, len(questions)
    )


def documents(text: str, count: int) -> list[Any]:
    """JSON documents that stand behind each other; ValueError if these are not so many."""
    found, place = [], 0
    decoder = json.JSONDecoder()
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        document, place = decoder.raw_decode(text, place)
        found.append(document)
    if len(found) != count:
        raise ValueError(f"{len(found)} answers to {count} questions")
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
