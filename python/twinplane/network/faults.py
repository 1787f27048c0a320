"""Faults of a network that runs: links that are cut or disturbed, nodes that restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import TwinplaneError, suggest
from ..units import Quantity

if TYPE_CHECKING:
    from .draft import Draft
    from .engine import Engine
    from .handles import Link, Node


FAULTS = ("loss", "corruption", "duplication", "reordering", "delay")
"""Keyword arguments of `Network.fault`."""

_FAULT_EXTRAS = ("by", "jitter", "until", "direction")


def fault_specs(link: int, now_ps: int, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Faults of a link as the core takes them."""
    shared: dict[str, Any] = {"at": now_ps, "link": link}
    direction = given.get("direction", "both")
    if direction not in ("forth", "back", "both"):
        raise TwinplaneError(f"fault direction={direction!r}: forth (first end to second), back or both")
    shared["direction"] = direction
    if given.get("until") is not None:
        shared["until"] = units.span_ps(given["until"], "until")
    found = []
    for key, value in given.items():
        if key == "delay":
            extra, jitter = units.span_ps(value, key), units.span_ps(given.get("jitter", 0), "jitter")
            found.append({**shared, "fault": key, "extra": extra, "jitter": jitter})
        elif key in FAULTS:
            if not (isinstance(value, int | float) and 0 <= value <= 1):
                raise TwinplaneError(f"fault {key}={value!r}: a probability is 0 to 1")
            name = "bit_error_rate" if key == "corruption" else "probability"
            spec = {**shared, "fault": key, name: float(value)}
            if key == "reordering":
                spec["extra"] = units.span_ps(given.get("by", "1 ms"), "by")
            found.append(spec)
        elif key not in _FAULT_EXTRAS:
            raise TwinplaneError(f"unknown fault {key!r}{suggest(key, (*FAULTS, *_FAULT_EXTRAS))}")
    if not found:
        raise TwinplaneError(f"no fault is named: one of {', '.join(FAULTS)}")
    return found


class Faults:
    """Cuts, mends and disturbs, now. Methods and their arguments are those of `twinplane.Network`."""

    def __init__(self, draft: Draft, engine: Engine) -> None:
        self._draft, self._engine = draft, engine

    def fail(self, a: Node | str | Link, b: Node | str | None) -> None:
        """See `twinplane.Network.fail`."""
        if (node := self._node(a, b)) is not None:
            self._now({"fault": "node-down", "node": node})
            return
        with core.translated():
            self._engine.start().fail_link(self._draft.find_link(a, b).index)

    def repair(self, a: Node | str | Link, b: Node | str | None) -> None:
        """See `twinplane.Network.repair`."""
        if (node := self._node(a, b)) is not None:
            self._now({"fault": "node-up", "node": node})
            return
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

    def restart(self, node: Node | str, down: Quantity, protocol: str | None) -> None:
        """See `twinplane.Network.restart`."""
        down_for = units.span_ps(down, "down")
        if protocol is not None:
            running = self._engine.start()
            with core.translated():
                running.restart_protocol(self._draft.node(node).index, protocol, down_for)
            return
        self._now({"fault": "node-restart", "node": self._draft.node(node).index, "down_for": down_for})

    def _node(self, a: Node | str | Link, b: Node | str | None) -> int | None:
        """The place of a node that is given alone; nothing if a link is meant."""
        from .handles import Link

        return None if b is not None or isinstance(a, Link) else self._draft.node(a).index

    def _now(self, what: dict[str, Any]) -> None:
        running = self._engine.start()
        with core.translated():
            running.fault(json.dumps({"at": running.now_ps(), **what}))
