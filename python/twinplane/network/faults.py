"""Faults of a network that runs: links that are cut or disturbed, nodes that restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..model.description import fault_specs
from ..units import Quantity

if TYPE_CHECKING:
    from .draft import Draft
    from .engine import Engine
    from .handles import Link, Node


class Faults:
    """Cuts, mends and disturbs, now. Methods and their arguments are those of `twinplane.Network`."""

    def __init__(self, draft: Draft, engine: Engine) -> None:
        self._draft, self._engine = draft, engine

    def fail(self, a: Node | str | Link, b: Node | str | None) -> None:
        """See `twinplane.Network.fail`."""
        with core.translated():
            self._engine.start().fail_link(self._draft.find_link(a, b).index)

    def repair(self, a: Node | str | Link, b: Node | str | None) -> None:
        """See `twinplane.Network.repair`."""
        with core.translated():
            self._engine.start().repair_link(self._draft.find_link(a, b).index)

    def fault(self, a: Node | str | Link, b: Node | str | None, what: dict[str, Any]) -> None:
        """See `twinplane.Network.fault`."""
        link = self._draft.find_link(a, b)
        running = self._engine.start()
        for spec in fault_specs(self._engine.link_info(link.index)["link"], running.now_ps(), what):
            with core.translated():
                running.fault(json.dumps(spec))

    def heal(self) -> None:
        """See `twinplane.Network.heal`."""
        with core.translated():
            self._engine.start().heal_all()

    def restart(self, node: Node | str, down: Quantity) -> None:
        """See `twinplane.Network.restart`."""
        running = self._engine.start()
        spec = {
            "at": running.now_ps(),
            "fault": "node-restart",
            "node": self._draft.node(node).index,
            "down_for": units.span_ps(down, "down"),
        }
        with core.translated():
            running.fault(json.dumps(spec))
