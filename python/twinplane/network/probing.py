"""Ping and traceroute: probes with growing TTL, and ICMP answers with the label stacks that they quote."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

from .. import core, frames
from ..errors import TwinplaneError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from .draft import Draft
    from .engine import Engine
    from .handles import Lsp, Node

TEST_NETWORKS = (IPv4Address("198.18.0.0"), IPv4Address("10.0.0.0"))
FIRST_TESTS = 1 << 17
ECHO_REPLY = 0


def destination(lsps: Sequence[Lsp], lsp: Lsp, index: int = 0) -> str:
    """The address whose packets take an LSP: LSPs are counted in the order in which they were made."""
    number = sum(other.count for other in lsps[: lsp.index]) + index
    first, second = TEST_NETWORKS
    return str(first + number if number < FIRST_TESTS else second + number - FIRST_TESTS)


class Prober:
    """Sends pings from the nodes of a network, and runs it until they are answered."""

    def __init__(self, draft: Draft, engine: Engine) -> None:
        self.draft, self.engine = draft, engine

    def ping(self, node: Node, to: Node | str, wait_s: float) -> float | None:
        """Seconds until an echo reply comes; None if none does in time, which passes either way."""
        self.engine.start()
        begin_ps, answers = self._send(node, self._address(to), wait_s, range(64, 65))
        for event, at in answers.values():
            if event["kind"] == ECHO_REPLY:
                return (at - begin_ps) / 1e12
        return None

    def traceroute(
        self, node: Node, to: Node | str | None, lsp: Lsp | None, wait_s: float, hops: int
    ) -> pl.DataFrame:
        """Send the probes, run for a while, and list who answered; the last one answers no error."""
        self.engine.start()
        if lsp is not None:
            address = destination(self.draft.lsps, lsp)
        elif to is None:
            raise TwinplaneError("traceroute: say where to, or over which LSP")
        else:
            address = self._address(to)
        begin_ps, answers = self._send(node, address, wait_s, range(1, hops + 1))
        names = self._names()
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

    def _send(
        self, node: Node, to: str, wait_s: float, ttls: range
    ) -> tuple[int, dict[int, tuple[Any, int]]]:
        """Send pings with these times to live, run for a while: when that began, and the answers by TTL."""
        running = self.engine.running()
        begin_ps = running.now_ps()
        before = len(self.engine.table("events"))
        first = 1 + before % 30_000  # so that answers to earlier pings are not taken for ours
        with core.translated():
            for ttl in ttls:
                running.ping(node.index, to, ttl, first + ttl)
        self.engine.run(for_=wait_s)
        events = self.engine.columns("events")
        answers: dict[int, tuple[Any, int]] = {}
        for at, event in list(zip(events["time_ps"], events["event"], strict=True))[before:]:
            if event["event"] == "probe-reply" and event["sequence"] - first in ttls:
                answers.setdefault(event["sequence"] - first, (event, at))
        return begin_ps, answers

    def _names(self) -> dict[str, str]:
        """Whose an address is."""
        found = {node.loopback: node.name for node in self.draft.nodes}
        for node in self.draft.nodes:
            own = self.engine.node_info(node.index)["ipv6"]
            found.update({} if own is None else {own: node.name})
        for link in self.draft.links:
            info = self.engine.link_info(link.index)
            for addresses in (info["addresses"], info["ipv6"] or ()):
                found.update(zip(addresses, (link.a.name, link.b.name), strict=False))
        return found

    def _address(self, to: Node | str) -> str:
        """A node by itself or by name is reached at its loopback; any other text is an address."""
        named = not isinstance(to, str) or any(node.name == to for node in self.draft.nodes)
        return self.draft.node(to).loopback if named else str(to)
