"""Traceroute: probes with growing TTL, and the ICMP answers with the label stacks that they quote."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

from .. import core, frames
from ..errors import TwinplaneError

if TYPE_CHECKING:
    import polars as pl

    from .handles import Lsp
    from .network import Network
    from .nodes import Node

HOPS_MAX = 64
TEST_NETWORKS = (IPv4Address("198.18.0.0"), IPv4Address("10.0.0.0"))
FIRST_TESTS = 1 << 17
ECHO_REPLY = 0


def destination(network: Network, lsp: Lsp, index: int = 0) -> str:
    """The address whose packets take an LSP: LSPs are counted in the order in which they were made."""
    number = sum(other.count for other in network.lsps[: lsp.index]) + index
    first, second = TEST_NETWORKS
    return str(first + number if number < FIRST_TESTS else second + number - FIRST_TESTS)


def _send(
    network: Network, node: Node, to: str, wait_s: float, ttls: range
) -> tuple[int, dict[int, tuple[Any, int]]]:
    """Send pings with these times to live, run for a while: when that began, and the answers by TTL."""
    running = network.running()
    before = len(network.columns("events")["time_ps"])
    begin_ps = running.now_ps()
    first = 1 + before % 30_000  # so that answers to earlier pings are not taken for ours
    with core.translated():
        for ttl in ttls:
            running.ping(node.index, to, ttl, first + ttl)
    network.run(for_=wait_s)
    events = network.columns("events")
    answers: dict[int, tuple[Any, int]] = {}
    for at, event in list(zip(events["time_ps"], events["event"], strict=True))[before:]:
        if event["event"] == "probe-reply" and event["sequence"] - first in ttls:
            answers.setdefault(event["sequence"] - first, (event, at))
    return begin_ps, answers


def ping(network: Network, node: Node, to: str, wait_s: float) -> float | None:
    """Seconds until an echo reply comes, if one does in time."""
    begin_ps, answers = _send(network, node, to, wait_s, range(64, 65))
    for event, at in answers.values():
        if event["kind"] == ECHO_REPLY:
            return (at - begin_ps) / 1e12
    return None


def traceroute(network: Network, node: Node, to: str, wait_s: float, hops: int) -> pl.DataFrame:
    """Send the probes, run the network for a while, and list who answered; the last one answers no error."""
    begin_ps, answers = _send(network, node, to, wait_s, range(1, hops + 1))
    names = _names(network)
    rows: list[dict[str, Any]] = []
    nothing: dict[str, Any] = {}
    last = max(answers, default=0)
    for ttl in range(1, last + 1):
        event, at = answers.get(ttl, (nothing, None))
        rows.append(
            {
                "hop": ttl,
                "node": names.get(str(event.get("from"))),
                "address": event.get("from"),
                "labels": ", ".join(str(label) for label in event.get("labels", [])),
                "rtt_s": None if at is None else (at - begin_ps) / 1e12,
            }
        )
        if event.get("kind") == ECHO_REPLY:
            break
    keys = ("hop", "node", "address", "labels", "rtt_s")
    return frames.frame({key: [row[key] for row in rows] for key in keys})


def _names(network: Network) -> dict[str, str]:
    """Whose an address is."""
    found = {node.loopback: node.name for node in network.nodes}
    for link in network.links:
        for address, node in zip(network.link_info(link.index)["addresses"], (link.a, link.b), strict=True):
            found[address] = node.name
    return found


def asked_ping(network: Network, node: Node, to: Node | str, wait_s: float) -> float | None:
    """See `twinplane.network.nodes.Prober.ping`."""
    network.engine.start()
    return ping(network, node, _address(network, to), wait_s)


def asked_traceroute(
    network: Network, node: Node, to: Node | str | None, lsp: Lsp | None, wait_s: float, hops: int
) -> pl.DataFrame:
    """See `twinplane.network.nodes.Prober.traceroute`."""
    network.engine.start()
    if lsp is not None:
        address = destination(network, lsp)
    elif to is None:
        raise TwinplaneError("traceroute: say where to, or over which LSP")
    else:
        address = _address(network, to)
    return traceroute(network, node, address, wait_s, hops)


def _address(network: Network, to: Node | str) -> str:
    """A node by itself or by name is reached at its loopback; any other text is an address."""
    return network.node(to).loopback if not isinstance(to, str) or to in network.names else to
