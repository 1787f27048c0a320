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


def ended(network: Network, head: Edge, tail: Edge, rate: float, hops: int | None = None) -> dict[str, Any]:
    """Tear everything down, and say what of the system's signalling the tester could not use.

    `hops` are the routers of the system on the way, if that is known.
    """
    found: dict[str, Any] = {}
    for place, edge in (("head", head), ("tail", tail)):
        found[f"discarded_{place}"] = dict(network.columns("rsvp", edge)["discarded"][0])
        found |= {f"{way}_{place}": counts for way, counts in errors(network, edge).items()}
    expired = sum(network.columns("rsvp", tail)["expired"])
    found["slowest_resv_s"] = slowest_resv(network, head)
    found["wrong_routes"] = wrong_routes(network, head, tail, hops)
    return {**found, "expired": expired, **tear_down(network, head, tail, rate)}


def slowest_resv(network: Network, head: Edge) -> float | None:
    """The longest time from the Path of an LSP to its first Resv; None if no messages were kept."""
    table = network.columns("signals")
    asked: dict[tuple[str, int], int] = {}
    took: dict[tuple[str, int], int] = {}
    seen: set[tuple[str, int]] = set()
    gone: set[tuple[str, int]] = set()
    keys = ("time_ps", "node", "direction", "type", "session", "lsp_id")
    for at, node, direction, kind, session, lsp in zip(*(table[key] for key in keys), strict=True):
        if node not in (head.name, head.index):
            continue
        kind = str(kind).lower()
        if (direction, kind) == ("tx", "pathtear"):
            gone.add((session, lsp))
        elif (direction, kind) == ("tx", "path"):
            if (session, lsp) in gone or (session, lsp) not in seen:
                asked[session, lsp] = at
                seen.add((session, lsp))
            gone.discard((session, lsp))
        elif (direction, kind) == ("rx", "resv") and (session, lsp) in asked:
            took[session, lsp] = max(took.get((session, lsp), 0), at - asked.pop((session, lsp)))
    return max(took.values()) / 1e12 if took else None


def wrong_routes(network: Network, head: Edge, tail: Edge, hops: int | None) -> int:
    """LSPs of this network whose recorded route does not lead from edge to edge (RFC 3209, 4.4.3).

    Every router puts its own address before those that are there, so the address that an edge wrote comes to
    the other one as the last. Routes that are empty are left alone: a router may drop what became too long.
    """
    own = _own(network)
    wrong = set()
    for edge, column, far in (
        (head, "recorded_downstream", tail),
        (tail, "recorded_upstream", head),
    ):
        table = network.columns("lsps", edge)
        ends = {link.address(far) for link in network.links if far in (link.a, link.b)}
        keys = zip(table["from"], table["tunnel"], table["lsp"], strict=True)
        for key, route in zip(keys, table[column], strict=True):
            if not route or key[1] not in own:
                continue
            right = route[-1] in ends and (hops is None or len(route) == hops + 1)
            wrong |= set() if right else {key}
    return len(wrong)


def errors(network: Network, edge: Edge) -> dict[str, dict[str, int]]:
    """Errors by their meaning: what an edge answered with (``refused``), and what it got (``told``)."""
    table = network.columns("rsvp_errors", edge)
    found: dict[str, dict[str, int]] = {"refused": {}, "told": {}}
    rows = zip(table["direction"], table["meaning"], table["count"], strict=True)
    for direction, meaning, count in rows:
        of = found["refused" if direction == "tx" else "told"]
        of[meaning] = of.get(meaning, 0) + count
    return found


def tear_down(network: Network, head: Edge, tail: Edge, rate: float) -> dict[str, Any]:
    """Send a PathTear for every LSP, `rate` a second, and wait until all have come out at the tail.

    What passes a PathTear on has removed its state (RFC 2205, 3.1.5), so an LSP that is gone at the tail is
    gone at the systems between. Counts LSPs that did not go, and those at the tail that this network has not
    signalled.
    """
    own = _own(network)
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


def _own(network: Network) -> range:
    """Tunnel ids of the LSPs of this network."""
    first = (network.outside.settings["tunnels_from"] or 0) + 1
    return range(first, first + sum(lsp.count for lsp in network.lsps))


def _at(
    network: Network, tail: Edge, own: range
) -> tuple[set[tuple[str, int, int]], set[tuple[str, int, int]]]:
    """LSPs at the tail: those of this network, and those of which it knows nothing."""
    table = network.columns("lsps", tail)
    keys = set(zip(table["from"], table["tunnel"], table["lsp"], strict=True))
    mine = {key for key in keys if key[1] in own}
    return mine, keys - mine
