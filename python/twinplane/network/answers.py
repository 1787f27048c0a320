"""Answers to what handles on nodes, links, LSPs, flows and captures ask of their network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import core
from . import history, lsp_tests, paths, probing, traffic

if TYPE_CHECKING:
    import polars as pl

    from .draft import Draft
    from .engine import Engine
    from .handles import Capture, Flow, Hop, Link, Lsp, Node, P2mp, TcpFlow
    from .tables import Tables


class Answers:
    """The owner of all handles of a network: every method is one of `twinplane.network.handles.Owner`."""

    def __init__(self, draft: Draft, engine: Engine, tables: Tables) -> None:
        self._draft, self._engine, self._tables = draft, engine, tables

    def node(self, which: Node | str, what: str = "") -> Node:
        """See `Owner`."""
        return self._draft.node(which, what)

    def node_info(self, index: int) -> dict[str, Any]:
        """See `Owner`."""
        return self._engine.node_info(index)

    def link_info(self, index: int) -> dict[str, Any]:
        """See `Owner`."""
        return self._engine.link_info(index)

    def ends(self, link: Link) -> tuple[str, str]:
        """See `Owner`."""
        a, b = self._draft.core.ends(link.index)
        return a, b

    def table(self, name: str, node: Node | None = None) -> pl.DataFrame:
        """See `Owner`."""
        return self._tables.table(name, node)

    def require_unstarted(self, what: str) -> None:
        """See `Owner`."""
        self._engine.require_unstarted(what)

    def add_lsp(self, head: Node, name: str, to: Node | str, **options: Any) -> Lsp:
        """See `Owner`; options are those of `HeadEnd.lsp`."""
        return paths.add_lsp(self, self._draft, self._engine, name=name, head=head, to=to, **options)

    def add_p2mp(self, root: Node, name: str, leaves: Sequence[Node | str], **options: Any) -> P2mp:
        """See `Owner`; options are those of `HeadEnd.p2mp`."""
        return paths.add_p2mp(self, self._draft, self._engine, name=name, root=root, leaves=leaves, **options)

    def set_leaves(self, tree: P2mp, leaves: Sequence[str], routes: Mapping[str, Sequence[Hop]]) -> None:
        """See `Owner`."""
        paths.set_leaves(self._draft, self._engine, tree, leaves, routes)

    def change_p2mp(
        self, tree: P2mp, said: Mapping[str, Any], routes: Mapping[str, Sequence[Hop]] | None
    ) -> None:
        """See `Owner`."""
        paths.reroute_p2mp(self._draft, self._engine, tree, said, routes)

    def element(self, group: str, place: int) -> dict[str, Any]:
        """See `Owner`."""
        return self._draft.element(group, place)

    def change_node(self, node: Node, said: Mapping[str, Any]) -> None:
        """See `Owner`."""
        self._draft.change_node(node, said)

    def up_count(self, lsp: Lsp) -> int:
        """See `Owner`."""
        return self._engine.lsp_up_count(lsp)

    def command(self, lsp: Lsp, command: str) -> None:
        """See `Owner`."""
        self._engine.lsp_command(lsp, command, None)

    def reroute(self, lsp: Lsp, route: Sequence[Hop]) -> None:
        """See `Owner`."""
        self._engine.lsp_command(lsp, "route", [self._draft.hops(route)])

    def history(self, lsp: Lsp) -> pl.DataFrame:
        """See `Owner`."""
        return history.history(self._tables, lsp)

    def port(self, flow: Flow, key: str) -> int:
        """See `Owner`; the network is asked as it is described so far: this does not start it."""
        return int(self._engine.running().part("flows", flow.index).column(key)[0])

    def by_phase(self, flow: Flow) -> pl.DataFrame:
        """See `Owner`."""
        streams, delays = (self._tables.part(name, flow.index) for name in ("streams", "delays"))
        return traffic.by_phase(streams, delays, flow.index)

    def of_flow(self, flow: Flow | TcpFlow, name: str) -> pl.DataFrame:
        """See `Owner`."""
        return self._tables.part_frame(name, flow.index)

    def captured(self, capture: Capture) -> bytes:
        """See `Owner`."""
        return self._engine.capture_bytes(capture)

    def ping(self, node: Node, to: Node | str, wait_s: float) -> float | None:
        """See `Owner`."""
        return probing.Prober(self._draft, self._engine).ping(node, to, wait_s)

    def traceroute(
        self, node: Node, to: Node | str | None, lsp: Lsp | None, wait_s: float, hops: int
    ) -> pl.DataFrame:
        """See `Owner`."""
        return probing.Prober(self._draft, self._engine).traceroute(node, to, lsp, wait_s, hops)

    def path(self, node: Node, packet: dict[str, Any]) -> pl.DataFrame:
        """See `Owner`."""
        import polars as pl

        return pl.DataFrame(self._engine.path(node, packet))

    def te_paths(self, node: Node, asked: dict[str, Any]) -> pl.DataFrame:
        """See `Owner`."""
        import polars as pl

        return pl.DataFrame(self._engine.te_paths(node, asked))

    def test_lsp(self, node: Node, to: Lsp | P2mp | Node | str, options: dict[str, Any]) -> pl.DataFrame:
        """See `Owner`."""
        number = lsp_tests.run(self._engine, node, to, options)
        rows = self._tables.table("lsp_probes", node)
        return rows.filter(rows["number"] == number).drop("node", "number")

    def break_label(self, node: Node, label: int, out: int | None) -> None:
        """See `Owner`."""
        self._engine.start()
        with core.translated():
            self._engine.running().break_label(node.index, label, out)

    def send(self, peer: Node, frame: bytes) -> None:
        """See `Owner`."""
        self._engine.peer_send(peer, frame)

    def receive(self, peer: Node) -> list[tuple[float, bytes]]:
        """See `Owner`."""
        return self._engine.peer_receive(peer)
