"""Whether packets that arrived are those that were sent: counts of a run, and sentences of a bad verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..network import Network

WRONG = {
    "misdelivered": "came with the label of another LSP, or where nobody expects them",
    "damaged": "were changed on the way: destination, length or content",
    "ttl_wrong": "had another TTL than the routers on their way leave",
}
"""What no network should do to a packet."""
CHANGED = {"tc_changed": "had another TC (EXP) in their label than was sent"}
"""What a router may do that is told to."""


def counts(network: Network) -> dict[str, int]:
    """Packets of all flows, by what is wrong with them."""
    table = network.columns("checks")
    return {key: sum(table[key]) for key in (*WRONG, *CHANGED)}


def sentences(metrics: Mapping[str, Any], *, remarked: bool = False) -> list[str]:
    """What is wrong, a sentence each; with `remarked`, TC is to be what it was."""
    kinds = {**WRONG, **CHANGED} if remarked else WRONG
    return [f"{metrics[key]:,.0f} packets {words}" for key, words in kinds.items() if metrics.get(key)]
