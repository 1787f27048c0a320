"""What is done to a network that runs: calls that do it now, and the table of what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..units import Quantity
from .faults import Faults
from .tables import Tables

if TYPE_CHECKING:
    import polars as pl

    from .handles import Link
    from .nodes import Node


class Acting:
    """The part of `Network` that acts on what runs."""

    faults: Faults
    tables: Tables

    def fail(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Cut a link now, given itself or by its two ends; what is queued and in flight on it is lost."""
        self.faults.fail(a, b)

    def repair(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Mend a link now."""
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

    def restart(self, node: Node | str, down: Quantity = "1 s") -> None:
        """Restart a node now: it forgets everything and is silent for a time."""
        self.faults.restart(node, down)

    def actions(self) -> pl.DataFrame:
        """What was done to the network so far, by a schedule or by calls: a row for each action.

        `time_s` is when, in seconds, `action` what: fail, heal, restart, loss, delay, rate, signal, tear,
        start, stop and so on. `link` (as in ``a-b``), `node`, `lsp` and `flow` say what it was done to,
        `until_s` when it ends by itself, and `value` how much of it, such as ``10 %``. What does not belong
        to it is null.
        """
        return self.tables.table("actions")
