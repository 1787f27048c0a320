"""Links, LSPs, flows and captures, as handles on a network, and what handles ask of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import TwinplaneError
from ..files import write_bytes
from .shown import Shown

if TYPE_CHECKING:
    from typing import TypeAlias

    import polars as pl

    from ..units import Quantity

    Hop: TypeAlias = "Node | str | Link"
    """One step of an explicit route."""


class Owner(Protocol):
    """What handles ask of the network that they are parts of (`twinplane.network.answers` gives the answers).

    Handles know nothing else of a network: whoever has these methods can own them.
    """

    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself; an error begins with `what`."""

    def node_info(self, index: int) -> dict[str, Any]:
        """Addresses and ports of a node."""

    def link_info(self, index: int) -> dict[str, Any]:
        """Addresses of both ends of a link."""

    def ends(self, link: Link) -> tuple[str, str]:
        """Both ends of a link, as ``NODE:INTERFACE``."""

    def table(self, name: str, node: Node | None = None) -> pl.DataFrame:
        """A table of a node or of all, with names for nodes and seconds for times."""

    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""

    def add_lsp(self, head: Node, name: str, to: Node | str, **options: Any) -> Lsp:
        """Describe an LSP, or signal it if the network runs already; see `HeadEnd.lsp`."""

    def add_p2mp(self, root: Node, name: str, leaves: Sequence[Node | str], **options: Any) -> P2mp:
        """Describe a point-to-multipoint LSP, or signal it if the network runs already."""

    def set_leaves(self, tree: P2mp, leaves: Sequence[str], routes: Mapping[str, Sequence[Hop]]) -> None:
        """Give a point-to-multipoint LSP other leaves; see `P2mp.graft` and `P2mp.prune`."""

    def change_p2mp(
        self, tree: P2mp, said: Mapping[str, Any], routes: Mapping[str, Sequence[Hop]] | None
    ) -> None:
        """Change a point-to-multipoint LSP; see `P2mp.change`."""

    def element(self, group: str, place: int) -> dict[str, Any]:
        """What was said of one of ``nodes``, ``links``, ``lsps`` or ``flows``, defaults filled in."""

    def change_node(self, node: Node, said: Mapping[str, Any]) -> None:
        """Say more of a node."""

    def up_count(self, lsp: Lsp) -> int:
        """How many LSPs of a group are up now."""

    def command(self, lsp: Lsp, command: str) -> None:
        """Let the head end of an LSP ``signal``, ``tear`` or ``reoptimise`` it now."""

    def reroute(self, lsp: Lsp, route: Sequence[Hop]) -> None:
        """Let the head end of an LSP take another route now, made before the old one is broken."""

    def history(self, lsp: Lsp) -> pl.DataFrame:
        """What a group of LSPs went through; see `Lsp.history`."""

    def port(self, flow: Flow, key: str) -> int:
        """The UDP port of a flow at one end, ``src_port`` or ``dst_port``."""

    def by_phase(self, flow: Flow) -> pl.DataFrame:
        """Figures of a flow, a row for each phase; see `Flow.stats`."""

    def of_flow(self, flow: Flow | TcpFlow, name: str) -> pl.DataFrame:
        """Those rows of a table that are of one flow."""

    def captured(self, capture: Capture) -> bytes:
        """What was captured, as pcapng; the capture ends here."""

    def ping(self, node: Node, to: Node | str, wait_s: float) -> float | None:
        """Seconds until an echo reply comes; None if none does in time."""

    def traceroute(
        self, node: Node, to: Node | str | None, lsp: Lsp | None, wait_s: float, hops: int
    ) -> pl.DataFrame:
        """Who answers on the way; see `Prober.traceroute`."""

    def path(self, node: Node, packet: dict[str, Any]) -> pl.DataFrame:
        """What decides on a packet from a node; see `Prober.path`."""

    def te_paths(self, node: Node, asked: dict[str, Any]) -> pl.DataFrame:
        """The best paths from a router by its traffic-engineering database; see `Router.te_paths`."""

    def test_lsp(self, node: Node, to: Lsp | P2mp | Node | str, options: dict[str, Any]) -> pl.DataFrame:
        """The requests of a test of an LSP, and the replies; see `Router.lsp_ping`."""

    def break_label(self, node: Node, label: int, out: int | None) -> None:
        """Have the tables of a router do something else with a label; see `Router.break_label`."""

    def send(self, peer: Node, frame: bytes) -> None:
        """Put a frame on the link of a peer now."""

    def receive(self, peer: Node) -> list[tuple[float, bytes]]:
        """Time in seconds and bytes of every frame that a peer got since the last call."""


class Node(Shown):
    """A device of a network."""

    _internal = frozenset({"owner", "index", "described"})

    kind = "node"

    def __init__(self, owner: Owner, name: str, index: int) -> None:
        self.owner = owner
        self.name = name
        self.index = index

    def described(self) -> str:
        """What a description calls it: its name."""
        return self.name

    @property
    def loopback(self) -> str:
        """The address that identifies the node."""
        return str(self.owner.node_info(self.index)["loopback"])

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<{self.kind} {self.name}>"


class Link(Shown):
    """A link between two nodes."""

    _internal = frozenset({"owner", "index", "described"})

    def __init__(self, owner: Owner, index: int, a: Node, b: Node) -> None:
        self.owner = owner
        self.index = index
        self.a = a
        self.b = b

    def described(self) -> str:
        """What a description calls it: its first end, ``NODE:INTERFACE``."""
        return self.owner.ends(self)[0]

    def _end(self, node: Node | str, key: str) -> str:
        found = self.owner.node(node)
        if found not in (self.a, self.b):
            raise TwinplaneError(f"{found.name} is not an end of {self}")
        return str(self.owner.link_info(self.index)[key][0 if found is self.a else 1])

    def address(self, node: Node | str) -> str:
        """The IPv4 address of one end."""
        return self._end(node, "addresses")

    def ipv6(self, node: Node | str) -> str:
        """The IPv6 address of one end; a `TwinplaneError` if the link has none."""
        if self.owner.link_info(self.index)["ipv6"] is None:
            raise TwinplaneError(f"{self} has no IPv6 addresses: say ipv6=(..., ...) of it")
        return self._end(node, "ipv6")

    def mac(self, node: Node | str) -> str:
        """The Ethernet address of one end."""
        return self._end(node, "macs")

    def queues(self) -> pl.DataFrame:
        """What `Network.queues` says of the trees at both ends."""
        import polars as pl

        return self.owner.table("queues").filter(pl.col("link") == self.index)

    def other(self, node: Node) -> Node:
        """The node at the other end."""
        return self.b if node is self.a else self.a

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<link {self.a.name} - {self.b.name}>"


class Lsp(Shown):
    """An LSP, or a group of LSPs alike."""

    _internal = frozenset({"owner", "index", "spec"})

    def __init__(self, owner: Owner, index: int, name: str, count: int) -> None:
        self.owner = owner
        self.index = index
        self._name, self._count = name, count

    @property
    def name(self) -> str:
        """What it was called when it was made."""
        return self._name

    @property
    def count(self) -> int:
        """How many LSPs the group has."""
        return self._count

    @property
    def spec(self) -> dict[str, Any]:
        """What was said of it, as a file says it, defaults filled in."""
        return self.owner.element("lsps", self.index)

    @property
    def history(self) -> pl.DataFrame:
        """What the LSP, or each of the group, went through, in order of time.

        A row for each event: `time_s` in seconds since the start, `index` in the group, `event` (up, down,
        error, re-routed), `why` (empty where the tester's edge routers know of no reason).
        """
        return self.owner.history(self)

    @property
    def up_count(self) -> int:
        """How many LSPs of the group are up now."""
        return self.owner.up_count(self)

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
        self.owner.command(self, "signal")

    def teardown(self) -> None:
        """Tear it down now."""
        self.owner.command(self, "tear")

    def reoptimise(self, route: Sequence[Hop] | None = None) -> None:
        """Make a new path before breaking the old one, over another route if one is given."""
        if route is None:
            self.owner.command(self, "reoptimise")
        else:
            self.owner.reroute(self, route)

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<lsp {self.name}>"


class P2mp(Shown):
    """A point-to-multipoint LSP: a tree from one router to several (RFC 4875, RFC 6388)."""

    _internal = frozenset({"owner", "index", "spec"})

    def __init__(self, owner: Owner, index: int, name: str) -> None:
        self.owner = owner
        self.index = index
        self._name = name

    @property
    def name(self) -> str:
        """What it was called when it was made."""
        return self._name

    @property
    def spec(self) -> dict[str, Any]:
        """What was said of it, as a file says it, defaults filled in."""
        return self.owner.element("p2mp", self.index)

    @property
    def leaves(self) -> list[str]:
        """Names of the routers where it ends."""
        return list(self.spec["leaves"])

    @property
    def s2ls(self) -> pl.DataFrame:
        """A row for each leaf, as its root knows it: table `s2ls`. The root of a tree of LDP knows none."""
        rows = self.owner.table("s2ls", self.owner.node(self.spec["root"]))
        return rows.filter(rows["name"] == self.name)

    @property
    def up_count(self) -> int:
        """How many leaves its packets reach now, as far as the root knows.

        Of a tree of LDP: from how many leaves labels lead up to the root.
        """
        if self.spec["protocol"] == "ldp":
            return len(self._joined())
        return int((self.s2ls["state"] == "up").sum())

    @property
    def up(self) -> bool:
        """Do its packets reach every leaf?"""
        return self.up_count == len(self.leaves)

    def _joined(self) -> list[str]:
        """Leaves of a tree of LDP from which every router up to the root has told the next one a label."""
        rows = self.owner.table("ldp_p2mp_lsps").to_dicts()
        named = [row for row in rows if row["name"] == self.name and row["role"] in ("leaf", "bud")]
        lsps = {(row["root"], row["opaque"]) for row in named}
        by_id = {row["router_id"]: row for row in rows if (row["root"], row["opaque"]) in lsps}

        def is_joined(row: dict[str, Any] | None) -> bool:
            for _ in range(len(by_id)):
                if row is None or row["state"] != "told":
                    return False
                if row["upstream"] == row["root"]:
                    return True
                row = by_id.get(row["upstream"])
            return False

        return [row["node"] for row in named if is_joined(row)]

    def graft(self, *leaves: Node | str, routes: Mapping[str, Sequence[Hop]] | None = None) -> None:
        """Add leaves now (RFC 4875, 5.3), with explicit routes by their names if any are given.

        Those of a tree of LDP join by themselves (RFC 6388, 2.4.1.3).
        """
        names = [self.owner.node(leaf, f"p2mp '{self.name}': leaf").name for leaf in leaves]
        self.owner.set_leaves(self, [*self.leaves, *names], routes or {})

    def prune(self, *leaves: Node | str) -> None:
        """Take leaves out now (RFC 4875, 7.2; RFC 6388, 2.4.2.1)."""
        gone = [self.owner.node(leaf, f"p2mp '{self.name}': leaf").name for leaf in leaves]
        for name in gone:
            if name not in self.leaves:
                raise TwinplaneError(f"p2mp '{self.name}': '{name}' is no leaf of it")
        self.owner.set_leaves(self, [leaf for leaf in self.leaves if leaf not in gone], {})

    def change(
        self,
        *,
        bandwidth: Quantity | None = None,
        routes: Mapping[str, Sequence[Hop]] | None = None,
        path: Mapping[str, Any] | None = None,
    ) -> None:
        """Ask for another bandwidth, other routes of some leaves, or other paths, now.

        A tree whose leaves are reached is signalled once more, as another LSP. When that reaches them, too,
        packets move there, and the old one goes (RFC 4875, 14.1).
        """
        said = {"bandwidth": bandwidth, "path": None if path is None else dict(path)}
        self.owner.change_p2mp(self, {key: value for key, value in said.items() if value is not None}, routes)

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<p2mp {self.name}>"


class Flow(Shown):
    """Measured traffic from one node to another; over a group of LSPs, one stream each."""

    _internal = frozenset({"owner", "index", "logged", "ends", "routed"})

    def __init__(
        self,
        owner: Owner,
        index: int,
        name: str,
        ends: tuple[int, int],
        *,
        routed: bool = True,
        logged: bool = False,
    ) -> None:
        self.owner = owner
        self.index = index
        self.name = name
        self.ends = ends
        """From which node to which, by their places."""
        self.routed = routed
        """Do its packets go by routes, and not over LSPs or to a group?"""
        self.logged = logged

    @property
    def src_port(self) -> int:
        """The UDP port that its packets come from."""
        return self.owner.port(self, "src_port")

    @property
    def dst_port(self) -> int:
        """The UDP port that its packets go to."""
        return self.owner.port(self, "dst_port")

    def stats(self) -> pl.DataFrame:
        """Sent, lost, duplicated, reordered, delay and its variation, all streams together, by phase.

        `misdelivered` packets came with the label of another LSP, or where nobody expects them; they are
        lost, too. What else is checked of every packet: `Network.checks`.

        The expected mean delay lies between `delay_low_s` and `delay_high_s` with 95 % confidence, by means
        over batches of packets in order of arrival; where that can't be said they are null, and `no_interval`
        has the reason. A quantile (`delay_p50_s` to `delay_p999_s`) is null of too few packets: the last
        takes 3,688. `ipdv_mean_s` is the mean difference in delay of a stream's consecutive packets that both
        arrived (RFC 3393). Counts are packets, all else is in seconds.
        """
        return self.owner.by_phase(self)

    def streams(self) -> pl.DataFrame:
        """The same for every stream and phase, a row each; over a group of LSPs there is a stream each."""
        return self.owner.of_flow(self, "streams")

    def losses(self) -> pl.DataFrame:
        """Where, why and when its packets were lost: what `Network.losses` says of this flow."""
        return self.owner.of_flow(self, "losses")

    def packets(self) -> pl.DataFrame:
        """Every packet by stream and sequence: when it left, when it came (none if it is lost), its delay.

        Columns: `flow`, `stream`, `sequence`, `departure_s`, `arrival_s`, `delay_s`, in seconds. Only with
        ``flow(..., log=True)``; a `TwinplaneError` otherwise.
        """
        if not self.logged:
            raise TwinplaneError(f"flow '{self.name}': its packets were not kept: flow(..., log=True)")
        return self.owner.of_flow(self, "packets")

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<flow {self.name}>"


class TcpFlow(Shown):
    """Programs at two hosts that talk over TCP."""

    _internal = frozenset({"owner", "index"})

    def __init__(self, owner: Owner, index: int, name: str) -> None:
        self.owner = owner
        self.index = index
        self.name = name

    def stats(self) -> pl.DataFrame:
        """Bytes, goodput, completion, segments and round-trip times: a row for each connection and direction.

        What columns mean is said of table ``tcp_flows`` (docs/reference/tables.md): times are in seconds,
        `goodput_bps` in bits per second.
        """
        return self.owner.of_flow(self, "tcp_flows")

    def series(self) -> pl.DataFrame:
        """Window, bytes in flight, round-trip time, segments sent again, over time: table ``tcp_series``."""
        return self.owner.of_flow(self, "tcp_series")

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<tcp flow {self.name}>"


class Capture(Shown):
    """Everything that passes over a link, for Wireshark."""

    _internal = frozenset({"owner", "limit"})

    def __init__(self, owner: Owner, link: Link, limit: int | None) -> None:
        self.owner = owner
        self.link = link
        self.limit = limit
        self._bytes: bytes | None = None

    def bytes(self) -> bytes:
        """What was captured, in the pcapng format; the capture ends here."""
        if self._bytes is None:
            self._bytes = self.owner.captured(self)
        return self._bytes

    def save(self, path: str | Path) -> Path:
        """Write what was captured to a pcapng file; the capture ends here."""
        return write_bytes(Path(path), self.bytes())

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<capture of {self.link.a.name} - {self.link.b.name}>"
