"""Links, LSPs, flows and captures, as handles on a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..files import write_bytes
from .shown import Shown

if TYPE_CHECKING:
    from typing import TypeAlias

    import polars as pl

    from .network import Network
    from .nodes import Node

    Hop: TypeAlias = "Node | str | Link"
    """One step of an explicit route."""


class Link(Shown):
    """A link between two nodes."""

    _internal = frozenset({"network", "index"})

    def __init__(self, network: Network, index: int, a: Node, b: Node) -> None:
        self.network = network
        self.index = index
        self.a = a
        self.b = b

    def _end(self, node: Node | str, key: str) -> str:
        found = self.network.node(node)
        if found not in (self.a, self.b):
            raise TwinplaneError(f"{found.name} is not an end of {self}")
        return str(self.network.engine.link_info(self.index)[key][0 if found is self.a else 1])

    def address(self, node: Node | str) -> str:
        """The IPv4 address of one end."""
        return self._end(node, "addresses")

    def mac(self, node: Node | str) -> str:
        """The Ethernet address of one end."""
        return self._end(node, "macs")

    def queues(self) -> pl.DataFrame:
        """What `Network.queues` says of the trees at both ends."""
        import polars as pl

        return self.network.queues().filter(pl.col("link") == self.index)

    def other(self, node: Node) -> Node:
        """The node at the other end."""
        return self.b if node is self.a else self.a

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<link {self.a.name} - {self.b.name}>"


class Lsp(Shown):
    """An LSP, or a group of LSPs alike."""

    _internal = frozenset({"network", "index", "spec"})

    def __init__(self, network: Network, index: int, spec: dict[str, Any]) -> None:
        self.network = network
        self.index = index
        self.spec = spec

    @property
    def name(self) -> str:
        """What it was called when it was made."""
        return str(self.spec["name"])

    @property
    def count(self) -> int:
        """How many LSPs the group has."""
        return int(self.spec["count"])

    @property
    def history(self) -> pl.DataFrame:
        """What the LSP, or each of the group, went through, in order of time.

        A row for each event: `time_s` in seconds since the start, `index` in the group, `event` (up, down,
        error, re-routed), `why` (empty where the tester's edge routers know of no reason).
        """
        from .history import history

        return history(self.network, self)

    @property
    def up_count(self) -> int:
        """How many LSPs of the group are up now."""
        return self.network.engine.lsp_up_count(self)

    @property
    def up(self) -> bool:
        """Is every LSP of the group up?"""
        return self.up_count == self.count

    @property
    def state(self) -> str:
        """``up``, ``down``, or how many of a group are up."""
        now = self.up_count
        if self.count == 1 or now in (0, self.count):
            return "up" if now == self.count else "down"
        return f"{now} of {self.count} up"

    def signal(self) -> None:
        """Set it up now."""
        self.network.engine.lsp_command(self, "signal", None)

    def teardown(self) -> None:
        """Tear it down now."""
        self.network.engine.lsp_command(self, "tear", None)

    def reoptimise(self, route: Sequence[Hop] | None = None) -> None:
        """Make a new path before breaking the old one, over another route if one is given."""
        if route is None:
            self.network.engine.lsp_command(self, "reoptimise", None)
            return
        hops = self.network.draft.route(self.network.nodes[self.spec["from"]], route, f"lsp '{self.name}'")
        self.network.engine.lsp_command(self, "route", json.dumps([hops]))

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<lsp {self.name}>"


class Flow(Shown):
    """Measured traffic from one node to another; over a group of LSPs, one stream each."""

    _internal = frozenset({"network", "index", "logged"})

    def __init__(self, network: Network, index: int, name: str, logged: bool = False) -> None:
        self.network = network
        self.index = index
        self.name = name
        self.logged = logged

    @property
    def src_port(self) -> int:
        """The UDP port that its packets come from."""
        return self._port("src_port")

    @property
    def dst_port(self) -> int:
        """The UDP port that its packets go to."""
        return self._port("dst_port")

    def _port(self, key: str) -> int:
        # Asked of the network as it is described so far: this does not start it.
        return int(self.network.running().table("flows").column(key)[self.index])

    def stats(self) -> pl.DataFrame:
        """Sent, lost, duplicated, reordered, delay and jitter of all streams together, by phase.

        `delay_low_s` and `delay_high_s` bound the mean over streams with 95 % confidence. Counts are packets,
        delays and jitter seconds. Quantiles (`delay_p50_s` to `delay_p999_s`) are null where a phase has
        packets of several streams.
        """
        from .traffic import by_phase

        return by_phase(self.network, self.index)

    def streams(self) -> pl.DataFrame:
        """The same for every stream and phase, a row each; over a group of LSPs there is a stream each."""
        import polars as pl

        return self.network.table("streams").filter(pl.col("flow") == self.index)

    def packets(self) -> pl.DataFrame:
        """Every packet by stream and sequence: when it left, when it came (none if it is lost), its delay.

        Columns: `flow`, `stream`, `sequence`, `departure_s`, `arrival_s`, `delay_s`, in seconds. Only with
        ``flow(..., log=True)``; a `TwinplaneError` otherwise.
        """
        from .traffic import packets

        if not self.logged:
            raise TwinplaneError(f"flow '{self.name}': its packets were not kept: flow(..., log=True)")
        return packets(self.network, self.index)

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<flow {self.name}>"


class Capture(Shown):
    """Everything that passes over a link, for Wireshark."""

    _internal = frozenset({"network", "limit"})

    def __init__(self, network: Network, link: Link, limit: int | None) -> None:
        self.network = network
        self.link = link
        self.limit = limit
        self._bytes: bytes | None = None

    def bytes(self) -> bytes:
        """What was captured, in the pcapng format; the capture ends here."""
        if self._bytes is None:
            self._bytes = self.network.engine.capture_bytes(self)
        return self._bytes

    def save(self, path: str | Path) -> Path:
        """Write what was captured to a pcapng file; the capture ends here."""
        return write_bytes(Path(path), self.bytes())

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<capture of {self.link.a.name} - {self.link.b.name}>"
