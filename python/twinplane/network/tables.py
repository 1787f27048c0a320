"""What can be asked of a network: its tables, and the addresses of its nodes and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from ..frames import Columns
    from .draft import Draft
    from .engine import Engine
    from .handles import Link, Lsp, Node


class Tables:
    """Tables as the core gives them, or for people; nodes, links and LSPs to read them with."""

    def __init__(self, draft: Draft, engine: Engine) -> None:
        self._draft, self._engine = draft, engine

    @property
    def nodes(self) -> list[Node]:
        """Nodes by index."""
        return self._draft.nodes

    @property
    def links(self) -> list[Link]:
        """Links by index."""
        return self._draft.links

    @property
    def lsps(self) -> list[Lsp]:
        """LSPs, and groups of LSPs, by index."""
        return self._draft.lsps

    @property
    def names(self) -> list[str]:
        """Node names by index."""
        return [node.name for node in self._draft.nodes]

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self._engine.now

    def columns(self, name: str, node: Node | None = None) -> Columns:
        """A table as lists of exact values, times in picoseconds (``_ps``)."""
        return self._engine.columns(name, node)

    def part(self, name: str, of: int) -> Columns:
        """Those rows of a table that are of one flow or group of LSPs, as lists of exact values."""
        found: Columns = self._engine.part(name, of).columns()
        return found

    def events(
        self, from_ps: int | None, until_ps: int | None, node: Node | None, event: str | None
    ) -> Columns:
        """Rows of table ``events`` from one time to before another, of one node, of one name."""
        found: Columns = self._engine.events(from_ps, until_ps, node, event).columns()
        return found

    def node_at(self, address: object) -> str | None:
        """The name of the node that has an address, as its router id or at a link; None if none has."""
        return self._engine.node_at(address)

    def named(self, address: object) -> str:
        """The same, or the address itself if no node has it."""
        return self.node_at(address) or str(address)

    def part_frame(self, name: str, of: int) -> pl.DataFrame:
        """The same as a data frame, times in seconds."""
        import polars as pl

        return pl.DataFrame(self._engine.part(name, of))

    def table(self, name: str, node: Node | None = None) -> pl.DataFrame:
        """A table as a data frame, times in seconds."""
        import polars as pl

        return pl.DataFrame(self._engine.table(name, node))

    def node_info(self, index: int) -> dict[str, Any]:
        """Addresses and ports of a node."""
        return self._engine.node_info(index)

    def link_info(self, index: int) -> dict[str, Any]:
        """Addresses of both ends of a link."""
        return self._engine.link_info(index)
