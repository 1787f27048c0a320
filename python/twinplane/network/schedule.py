"""What is done to a network at a time to come: once, again and again, or at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import line_of_caller
from ..units import Quantity

if TYPE_CHECKING:
    from .draft import Draft
    from .engine import Engine
    from .handles import Flow, Link, Lsp, Node


class Schedule:
    """Events of a network, as a file has them; `Network.at`, `every` and `random` add to it."""

    def __init__(self, draft: Draft, engine: Engine) -> None:
        self._draft, self._engine = draft, engine

    def add(self, event: dict[str, Any], said_at: str | None = None) -> None:
        """Add an event as a file says it, before the network first runs or while it does.

        `said_at` is the line of a program that says it, for errors that are found later.
        """
        self._engine.require_open()
        place = self._draft.core.event_count
        said = {key: value for key, value in event.items() if value is not None}
        with core.translated():
            if self._engine.started:
                self._engine.running().add_event(said)
            else:
                self._draft.core.add_event(said)
                self._engine.require_unstarted("an event")
                if said_at is not None:
                    self._draft.said_at[place] = said_at

    def link(self, a: Node | str | Link, b: Node | str | None) -> list[str]:
        """A link as a file names it: by its two ends in the order of the call."""
        from .handles import Link

        link = self._draft.find_link(a, b)
        ends = list(self._draft.core.ends(link.index))
        turned = not isinstance(a, Link) and self._draft.node(a) is link.b
        return ends[::-1] if turned else ends

    def name(self, node: Node | str) -> str:
        """The name of a node."""
        return self._draft.node(node).name


class Moment:
    """A time, or times, at which something is done; each method says one thing that is.

    With `for_` it ends by itself: what failed comes back, a disturbance is over, an LSP that was torn down is
    signalled again, a flow that was started stops.
    """

    def __init__(self, schedule: Schedule, when: dict[str, Any]) -> None:
        self._schedule, self._when = schedule, when

    def _add(self, action: str, said: Any, for_: Quantity | None) -> Moment:
        self._schedule.add({**self._when, "for": for_, action: said}, line_of_caller())
        return self

    def _thing(self, a: Node | str | Link, b: Node | str | None) -> str | list[str]:
        from .handles import Link

        if b is None and not isinstance(a, Link):
            return self._schedule.name(a)
        return self._schedule.link(a, b)

    def _disturb(
        self,
        action: str,
        a: Node | str | Link,
        b: Node | str | None,
        sender: Node | str | None,
        for_: Quantity | None,
        **said: Any,
    ) -> Moment:
        origin = None if sender is None else self._schedule.name(sender)
        given = {"on": self._schedule.link(a, b), **said, "from": origin}
        return self._add(action, {key: value for key, value in given.items() if value is not None}, for_)

    def fail(
        self, a: Node | str | Link, b: Node | str | None = None, *, for_: Quantity | None = None
    ) -> Moment:
        """Cut a link, given itself or by its two ends, or let a node go down with all of its links."""
        return self._add("fail", self._thing(a, b), for_)

    def heal(self, a: Node | str | Link | None = None, b: Node | str | None = None) -> Moment:
        """Mend a link or a node, and take away all that disturbs it; without arguments everything."""
        return self._add("heal", "all" if a is None else self._thing(a, b), None)

    def repair(self, a: Node | str | Link, b: Node | str | None = None) -> Moment:
        """The same as `heal`, by the name that `Network.repair` has."""
        return self.heal(a, b)

    def restart(self, node: Node | str, down: Quantity = "1 s") -> Moment:
        """Restart a node: it forgets everything and is silent for a time; its links stay up."""
        return self._add("restart", self._schedule.name(node), down)

    def loss(
        self,
        a: Node | str | Link,
        b: Node | str | None = None,
        share: float | str = 0.0,
        *,
        sender: Node | str | None = None,
        for_: Quantity | None = None,
    ) -> Moment:
        """Let frames of a link get lost, a `share` of 0 to 1 or such as ``"1 %"``.

        `sender` is the node that sends in the direction that is meant; both directions without it.
        """
        return self._disturb("loss", a, b, sender, for_, share=share)

    def corruption(
        self,
        a: Node | str | Link,
        b: Node | str | None = None,
        share: float | str = 0.0,
        *,
        deliver: bool | None = None,
        sender: Node | str | None = None,
        for_: Quantity | None = None,
    ) -> Moment:
        """Invert a share of the bits; with `deliver` receivers take the frames nevertheless."""
        return self._disturb("corruption", a, b, sender, for_, share=share, deliver=deliver)

    def duplication(
        self,
        a: Node | str | Link,
        b: Node | str | None = None,
        share: float | str = 0.0,
        *,
        sender: Node | str | None = None,
        for_: Quantity | None = None,
    ) -> Moment:
        """Let a share of the frames arrive twice."""
        return self._disturb("duplication", a, b, sender, for_, share=share)

    def reordering(
        self,
        a: Node | str | Link,
        b: Node | str | None = None,
        share: float | str = 0.0,
        *,
        by: Quantity | None = None,
        sender: Node | str | None = None,
        for_: Quantity | None = None,
    ) -> Moment:
        """Hold a share of the frames back `by` a time, else by 1 ms, so that others overtake them."""
        return self._disturb("reordering", a, b, sender, for_, share=share, by=by)

    def delay(
        self,
        a: Node | str | Link,
        b: Node | str | None = None,
        extra: Quantity = 0,
        *,
        jitter: Quantity | None = None,
        sender: Node | str | None = None,
        for_: Quantity | None = None,
    ) -> Moment:
        """Let all frames take `extra` longer, and up to `jitter` more than that."""
        return self._disturb("delay", a, b, sender, for_, extra=extra, jitter=jitter)

    def rate(
        self,
        a: Node | str | Link,
        b: Node | str | None = None,
        limit: Quantity = 0,
        *,
        sender: Node | str | None = None,
        for_: Quantity | None = None,
    ) -> Moment:
        """Let the ports of a link send no faster than `limit`."""
        return self._disturb("rate", a, b, sender, for_, limit=limit)

    def flap(
        self, what: Lsp | Node | str | Link, b: Node | str | None = None, *, for_: Quantity | None = None
    ) -> Moment:
        """Tear an LSP down and signal it again, at once or after `for_`; or cut a link for that time."""
        from .handles import Lsp

        if isinstance(what, Lsp):
            return self._add("flap", what.name, for_)
        if isinstance(what, str) and b is None:
            return self._add("flap", what, for_)
        return self._add("flap", self._schedule.link(what, b), for_)

    def signal(self, lsp: Lsp | str, *, for_: Quantity | None = None) -> Moment:
        """Signal LSPs, given themselves or by their name."""
        return self._add("signal", lsp if isinstance(lsp, str) else lsp.name, for_)

    def tear(self, lsp: Lsp | str, *, for_: Quantity | None = None) -> Moment:
        """Tear LSPs down."""
        return self._add("tear", lsp if isinstance(lsp, str) else lsp.name, for_)

    def start(self, flow: Flow | str, *, for_: Quantity | None = None) -> Moment:
        """Let a flow begin to send. If nothing stopped it before, it does not send from the start.

        A name may mean demands, too: ``"demands"`` all of them, else those of a class, or of a pair of nodes
        such as ``"a-b"``.
        """
        return self._add("start", flow if isinstance(flow, str) else flow.name, for_)

    def stop(self, flow: Flow | str, *, for_: Quantity | None = None) -> Moment:
        """Let a flow stop sending, or demands by a name as in `start`."""
        return self._add("stop", flow if isinstance(flow, str) else flow.name, for_)
