"""What BIRD says of its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ... import daemons
from ..neighbors import of_ospf, seen

NEIGHBOR = re.compile(
    r"^(?P<id>[\d.]+)\s+\d+\s+(?P<state>[\w-]+)/\S+\s+\S+\s+(?P<interface>\S+)\s+[\d.]+\s*$"
)
"""A line of `show ospf neighbors`: router id, priority, state, dead time, interface, address."""


def neighbors(birdc: list[str]) -> list[dict[str, Any]]:
    """Neighbours of OSPF, and sessions of BGP and BFD."""
    protocols = daemons.ask([*birdc, "show", "protocols", "all"]).stdout
    found = list(_bgp(protocols))
    for name in re.findall(r"^(\S+)\s+OSPF\s", protocols, re.MULTILINE):
        found += _ospf(daemons.ask([*birdc, "show", "ospf", "neighbors", name]).stdout)
    if re.search(r"^\S+\s+BFD\s", protocols, re.MULTILINE):
        found += _bfd(daemons.ask([*birdc, "show", "bfd", "sessions"]).stdout)
    return found


def _ospf(said: str) -> Iterator[dict[str, Any]]:
    for line in said.splitlines():
        if found := NEIGHBOR.match(line):
            yield of_ospf(found["id"], found["interface"], found["state"])


def _bgp(said: str) -> Iterator[dict[str, Any]]:
    for block in re.split(r"\n(?=\S)", said):
        state = re.search(r"^\s+BGP state:\s+(\S+)", block, re.MULTILINE)
        peer = re.search(r"^\s+Neighbor address:\s+(\S+)", block, re.MULTILINE)
        if state is not None and peer is not None:
            yield seen("BGP", peer[1], None, state[1].lower(), state[1] == "Established")


def _bfd(said: str) -> Iterator[dict[str, Any]]:
    for line in said.splitlines():
        words = line.split()
        if len(words) >= 5 and re.fullmatch(r"[\d.:a-fA-F]+", words[0]):
            yield seen("BFD", words[0], None, words[2].lower(), words[2] == "Up")
