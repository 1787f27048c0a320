"""Whether LSPs came up at all; if none did, how far signalling got."""

from __future__ import annotations

from ...errors import TwinplaneError
from ...network import Network
from ...units import format_time
from .build import edges_of
from .parameters import FlapParameters


def check_answered(network: Network, p: FlapParameters) -> None:
    """A run in which no LSP is up when traffic begins measures nothing."""
    if not any(lsp.up_count for lsp in network.lsps):
        raise TwinplaneError(unanswered(network, p, p.begin_s))


def unanswered(network: Network, p: FlapParameters, waited_s: float) -> str:
    """What was tried, for how long, and how far it came."""
    table = network.columns("messages")

    def count(node: str, direction: str, kind: str) -> int:
        rows = zip(table["node"], table["direction"], table["type"], table["count"], strict=True)
        return sum(number for n, d, k, number in rows if (n, d, str(k).lower()) == (node, direction, kind))

    first, last = edges_of(network)
    sent, back = count(first.name, "tx", "path"), count(first.name, "rx", "resv")
    errors, through = count(first.name, "rx", "patherr"), count(last.name, "rx", "path")
    neighbors = network.columns("neighbors", first)
    lead = f"lsp-flap: {format_time(waited_s)} after the first LSP was signalled"
    foreign = any(node.kind == "external" for node in network.nodes)
    # What waits for an answer to ARP counts as sent.
    if (foreign or sent == 0) and not any(neighbors.get("mac", [])):
        return f"{lead} nobody has answered ARP at the tester's ingress port: is the neighbor there, and up?"
    if through == 0:
        more = f" ({errors} PathErr came back)" if errors else ""
        return (
            f"{lead} none is up: {sent} Path were sent, none has arrived at the tester's egress port{more}:"
            " does the system under test signal RSVP-TE on both interfaces, and has it a route to the egress?"
        )
    if back == 0:
        return (
            f"{lead} none is up: {sent} Path were sent, {through} arrived at the egress port, no Resv came"
            " back to the ingress port: is RSVP-TE on at the system's egress interface?"
        )
    return f"{lead} none of {p.stable + p.n} is up, though {back} Resv came back"
