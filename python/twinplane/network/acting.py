"""What is done to a network that runs: calls that do it now, and the table of what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..units import Quantity
from .faults import Faults
from .schedule import Moment, Schedule
from .tables import Tables

if TYPE_CHECKING:
    import polars as pl

    from .handles import Link
    from .nodes import Node


class Acting:
    """The part of `Network` that acts on what runs."""

    faults: Faults
    tables: Tables
    schedule: Schedule

    def at(self, time: Quantity) -> Moment:
        """A time of the run to come, at which something is done: ``net.at("5 s").fail("a", "b")``.

        What is said so is an event, as in a network file: the same words have the same effect, and results
        are the same. What is done at one time is done in the order in which it was said.
        """
        return Moment(self.schedule, {"at": time})

    def every(
        self,
        period: Quantity,
        *,
        start: Quantity | None = None,
        until: Quantity | None = None,
        times: int | None = None,
    ) -> Moment:
        """Times at which something is done again and again, first at `start`, else at the start of the run.

        ``net.every("1 s", start="30 s").flap(lsp)``; it goes on to `until` or for so many `times`.
        """
        return Moment(self.schedule, {"every": period, "from": start, "until": until, "times": times})

    def random(
        self,
        mean: Quantity,
        *,
        start: Quantity | None = None,
        until: Quantity | None = None,
        times: int | None = None,
        stream: str | None = None,
    ) -> Moment:
        """Random times at which something is done: gaps are exponentially distributed with this mean.

        The first gap begins at `start`. Gaps are drawn from the random stream named `stream`, or one of the
        event's own: the same seed gives the same times, and events with one stream happen together.
        """
        drawn = {"mean": mean} if stream is None else {"mean": mean, "stream": stream}
        return Moment(self.schedule, {"random": drawn, "from": start, "until": until, "times": times})

    def fail(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Cut a link now, given itself or by its two ends, or let a node go down with all of its links.

        What is queued and in flight on them is lost.
        """
        self.faults.fail(a, b)

    def repair(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Mend a link now, or let a node come up, with its links that are not cut themselves."""
        self.faults.repair(a, b)

    def fault(self, a: Node | str | Link, b: Node | str | None = None, **what: Any) -> None:
        """Disturb a link from now on.

        `loss`, `duplication` and `reordering` are probabilities for each frame (reordered ones are held back
        `by` a time), `corruption` is one for each bit; `delay` is a time, with up to `jitter` on top. With
        `until` the fault ends by itself; `direction` is forth, back or both. Zero takes a fault away.
        """
        self.faults.fault(a, b, what)

    def heal(self) -> None:
        """Take all faults away: links can be used again, nodes are up."""
        self.faults.heal()

    def restart(self, node: Node | str, down: Quantity = "1 s", *, protocol: str | None = None) -> None:
        """Restart a node now: it forgets everything and is silent for a time; its links stay up.

        With `protocol` only that one of a router restarts, while packets go by what it had written: ``"ldp"``
        and ``"bgp"`` can. When it is back all of that is taken out, unless LDP has `graceful_restart` or BGP
        a `restart_time`.
        """
        self.faults.restart(node, down, protocol)

    def actions(self) -> pl.DataFrame:
        """What was done to the network so far, by a schedule or by calls: a row for each action.

        `time_s` is when, in seconds, `action` what: fail, heal, restart, loss, delay, rate, signal, tear,
        start, stop and so on. `link` (as in ``a-b``), `node`, `lsp` and `flow` say what it was done to,
        `until_s` when it ends by itself, and `value` how much of it, such as ``10 %``. What does not belong
        to it is null.
        """
        return self.tables.table("actions")
