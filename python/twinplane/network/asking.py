"""What is asked of a network that has run: its tables, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import core
from ..errors import TwinplaneError
from ..units import Quantity
from .draft import Draft
from .engine import Engine
from .events import tidy
from .nodes import Node
from .sampling import Sampling
from .tables import Tables

if TYPE_CHECKING:
    import polars as pl


class Asking:
    """The part of `Network` that answers questions."""

    draft: Draft
    engine: Engine
    tables: Tables
    sampling: Sampling

    def sample(self, every: Quantity) -> None:
        """Look every so often how large databases are and which way packets take, while the network runs.

        Say so before a run in virtual time; the report draws it. Counted are advertisements of OSPF, labels
        of LDP, routes of BGP, routing tables of up to 100 routers, and label tables. Ways are those of the
        first 40 flows that are not put on an LSP, and in a small network those between all routers. Nothing
        of the run changes by it. ``twinplane run FILE`` does it 40 times in a run.
        """
        self.sampling.begin(every)

    def table(self, name: str, node: Node | None = None) -> pl.DataFrame:
        """A table as a data frame, times in seconds; `twinplane tables NAME` says what its columns mean."""
        return self.tables.table(name, node)

    def events(
        self,
        since: Quantity | None = None,
        until: Quantity | None = None,
        *,
        event: str | None = None,
        node: Node | str | None = None,
    ) -> pl.DataFrame:
        """What happened, in order of time: a row for each event, a column for each fact.

        Only what happened from `since` on and before `until`, events of one name, or those that one `node`
        told, if these are given; of the others nothing is read but their time, name and node.

        `time_s` is in seconds, `node` told it. `event` is its name, such as lsp-up, lsp-down, lsp-error,
        lsp-rerouted, neighbor-up, neighbor-down, port-up or port-down. Of LSPs `lsp` is the name and `index`
        the place in its group; of an error `at` is the node that found it, `code` and `value` are those of
        RFC 2205. Nodes have their names, also in `route` and `neighbor`. What does not belong to an event is
        null. `table("events")` has the same as the core tells it.
        """
        return tidy(self.tables, (since, until), event, None if node is None else self.draft.node(node))

    @property
    def events_done(self) -> int:
        """How much has happened: arrivals, timeouts, commands, faults."""
        return 0 if not self.engine.started else self.engine.running().events_done()

    def queues(self, node: Node | str | None = None) -> pl.DataFrame:
        """Every queue and class in front of a link: given, sent, dropped by reason, marks, backlog.

        Counts are packets, and bytes as the tree accounts them; a row is named by its node, the neighbour at
        the other end of the link and its path in the tree (``root/gold``). By Little's law `mean_packets` is
        the rate of arrival times `mean_wait_s`: that is checked of every queue in every run. `drops` is a
        list of reasons with their packets, `extra` one of names with their values: a row for each comes from
        ``queues().explode("drops").unnest("drops")``.
        """
        return self._of_links("queues", node)

    def conditioners(self, node: Node | str | None = None) -> pl.DataFrame:
        """What the rules of meters and markers did: `packets` and `bytes` by `rule`, `colour` and `action`.

        A row is named by `node`, the `neighbor` at the other end of the link, and `where` it stands.
        """
        return self._of_links("conditioners", node)

    def losses(self) -> pl.DataFrame:
        """Where, why and when packets of flows were lost: `packets` by `flow`, `phb`, `place`, `reason`.

        A row is of a bin of time that begins at `time_s`, in seconds; ``Network(loss_bin=...)`` says how wide
        bins are. `flow` is the flow's `index`. For every flow, what was sent and duplicated is received,
        lost, unselected (with protection 1+1) or in flight: table `flow_accounts`. What other processes of a
        lab lost is one row for each flow, with reason `unknown`, from its source to its sink.
        """
        return self.table("losses")

    def checks(self) -> pl.DataFrame:
        """Whether packets of flows that arrived are those that were sent: label, LSP, TTL, TC and every byte.

        `misdelivered` packets came with the label of another LSP, or where nobody expects them; of those
        received, `damaged` were changed on the way, and `ttl_wrong` and `tc_changed` had another TTL or TC in
        their label. `label_unchecked` and `ttl_unchecked` are those of which that can't be known.
        """
        return self.table("checks")

    def queue_series(self, node: Node | str | None = None) -> pl.DataFrame:
        """Backlog of every queue over time, mean and most bytes in bins of ``Network(queue_bin=...)``."""
        if self.draft.core.queue_bin_ps is None:
            raise TwinplaneError('no series is kept: say so with Network(queue_bin="10 ms")')
        return self._of_links("queue_series", node)

    def _of_links(self, name: str, node: Node | str | None) -> pl.DataFrame:
        """A table with a row for each end of a link."""
        return self.table(name, None if node is None else self.draft.node(node))

    def interfaces(self) -> pl.DataFrame:
        """In real time, what every interface counted, and how late its frames were."""
        return self.table("interfaces")

    def digest(self) -> str:
        """A digest of every frame's bytes and times on every link so far: equal runs have equal digests."""
        with core.translated():
            return str(self.engine.start().digest())
