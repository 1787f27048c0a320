"""What is looked at now and then while a network runs: how large its databases are, and ways of packets.

Routers keep no record of either. So a run in virtual time stops every so often and asks, which changes
nothing of it: tables ``database_sizes`` and ``ways`` of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..frames import Columns
from ..units import Quantity, span_ps
from .sessions import speaks
from .ways import Ways

if TYPE_CHECKING:
    from .network import Network

DATABASES = {
    "LSDB": "advertisements of OSPF in a router's database of an area",
    "LDP": "labels that the neighbours of a router have given by LDP",
    "BGP": "routes that the neighbours of a router have told by BGP",
    "RIB": "routes in a router's routing table, all sources together",
    "ILM": "labels in a router's incoming label map",
}
"""What is counted, and what of."""

SIZE_KEYS = ("time_ps", "database", "routers", "least", "most", "total")

RIB_ROUTERS_MAX, RIB_ROWS_MAX = 100, 20_000
"""Routing tables of more routers are not counted, nor again if they had more rows: counting reads them."""


class Sampling:
    """Looks at a network at regular times, if it was asked to."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.every_ps: int | None = None
        """Between two looks; None if nobody asked."""
        self.sizes: Columns = {key: [] for key in SIZE_KEYS}
        """Table ``database_sizes``: of each database the routers that have one, the least and the largest."""
        self.ways = Ways(network)
        self._counts_rib = True
        self._speaks = False

    def begin(self, every: Quantity) -> None:
        """See `twinplane.Network.sample`."""
        every_ps = span_ps(every, "sample: every")
        if every_ps <= 0:
            raise TwinplaneError(f"sample: every={every!r}: it should be more than 0 s")
        if self._network.clock != "virtual":
            raise TwinplaneError('sample: only a network in virtual time can be looked at, not clock="wall"')
        self.every_ps = every_ps

    def run(
        self,
        until: Quantity | None,
        for_: Quantity | None,
        run: Callable[[Quantity | None, Quantity | None], None],
    ) -> None:
        """Run to a time or for a time by `run`, and look at the network on the way if somebody asked."""
        if self.every_ps is None or (until is None) == (for_ is None):
            run(until, for_)
            return
        now = self._network.engine.now_ps
        if not self.sizes["time_ps"] and not self.ways.looked:
            self.look()
        target = span_ps(until, "until") if until is not None else now + span_ps(for_ or 0, "for_")
        if target <= now:
            run(until, for_)
            return
        for at in range((now // self.every_ps + 1) * self.every_ps, target + 1, self.every_ps):
            run(f"{at} ps", None)
            self.look()
        if target % self.every_ps:
            run(f"{target} ps", None)

    def look(self) -> None:
        """Look now; a second time at the same moment changes nothing."""
        now = self._network.engine.now_ps
        if self.sizes["time_ps"] and self.sizes["time_ps"][-1] == now:
            return
        if not self.sizes["time_ps"]:
            self._speaks = speaks(self._network)
        if self._speaks:
            for name, counts in self._counts():
                values = (now, name, len(counts), min(counts), max(counts), sum(counts))
                for column, value in zip(SIZE_KEYS, values, strict=True):
                    self.sizes[column].append(value)
        self.ways.look(now)

    def _counts(self) -> Iterator[tuple[str, list[int]]]:
        """Sizes of each database, router by router."""
        ask = self._network.columns
        if counts := ask("ospf")["advertisements"]:
            yield "LSDB", counts
        for name, table in (("LDP", "ldp_sessions"), ("BGP", "bgp_neighbors")):
            columns = ask(table)
            if of := _summed(columns["node"], columns["received"]):
                yield name, of
        routers = sum(node.kind == "router" for node in self._network.nodes)
        if self._counts_rib and routers <= RIB_ROUTERS_MAX:
            nodes = ask("rib")["node"]
            self._counts_rib = len(nodes) <= RIB_ROWS_MAX
            if nodes:
                yield "RIB", _summed(nodes, [1] * len(nodes))
        if any(labels := ask("state")["ilm"]):
            yield "ILM", labels


def routes_change(network: Network) -> bool:
    """Do routes change while the network runs, so that it is worth looking?"""
    said = network.described().get("routes") or {}
    return speaks(network) or said.get("kind") == "shortest"


def _summed(names: list[Any], counts: list[int]) -> list[int]:
    """Counts by name."""
    found: dict[Any, int] = {}
    for name, count in zip(names, counts, strict=True):
        found[name] = found.get(name, 0) + count
    return list(found.values())
