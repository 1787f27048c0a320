"""The end of a run around somebody else's system: everything is torn down, and seen to be gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...network import Network
    from ...network.nodes import Edge

PATIENCE_S = 5.0
"""So long after the last PathTear has been sent is the last LSP awaited to leave the egress."""
LOOK_S = 0.05
GAP_S = 0.02


def tear_down(network: Network, head: Edge, tail: Edge, rate: float) -> dict[str, Any]:
    """Send a PathTear for every LSP, `rate` a second, and wait until all have come out at the tail.

    What passes a PathTear on has removed its state (RFC 2205, 3.1.5), so an LSP that is gone at the tail is
    gone at the systems between. Counts LSPs that did not go, and those at the tail that this network has not
    signalled.
    """
    first = (network.outside.settings["tunnels_from"] or 0) + 1
    own = range(first, first + sum(lsp.count for lsp in network.lsps))
    begin = network.now
    for lsp in network.lsps:
        network.add_step(head, begin + GAP_S, "tear", lsp, rate)
    sent = begin + GAP_S + len(own) / rate
    standing, leftovers = _at(network, tail, own)
    network.run(until=sent)
    while standing and network.now < sent + PATIENCE_S:
        network.run(for_=LOOK_S)
        standing, others = _at(network, tail, own)
        leftovers |= others
    return {
        "standing": len(standing),
        "leftovers": len(leftovers),
        "tear_down_s": round(network.now - begin, 3),
    }


def _at(
    network: Network, tail: Edge, own: range
) -> tuple[set[tuple[str, int, int]], set[tuple[str, int, int]]]:
    """LSPs at the tail: those of this network, and those of which it knows nothing."""
    table = network.columns("lsps", tail)
    keys = set(zip(table["from"], table["tunnel"], table["lsp"], strict=True))
    mine = {key for key in keys if key[1] in own}
    return mine, keys - mine
