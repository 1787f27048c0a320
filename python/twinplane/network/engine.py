"""The core's network behind a `Network`: made when it is first needed, run, commanded and asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import MachineWarning, TwinplaneError, warn
from ..frames import Columns
from ..model.places import together
from ..units import Quantity
from . import memory, processors
from .draft import Draft
from .outside import Outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import _core
    from .handles import Capture, Lsp, Node

EVENTS_A_NODE = 10
"""After so many events for each node it is asked again what a run has shown, which costs all nodes a look."""
SMALL = 1_000
"""Of a network of so many nodes it is always asked."""


class Engine:
    """The running core, with its captures and recordings.

    Until the network first runs, the core's network may be thrown away and made again, so that it knows what
    was described in the meantime.
    """

    def __init__(self, draft: Draft, outside: Outside) -> None:
        self.draft, self.outside = draft, outside
        self.started = False
        self.captures: list[Capture] = []
        self.recorded: list[Node] = []
        self._closed = self._told_of_threads = False
        self._core: _core.Network | None = None
        self._warnings: list[str] | None = None
        self._events_looked = 0
        self._open_captures: dict[int, int] = {}

    def require_open(self) -> None:
        """Refuse what is asked of a network that was closed."""
        if self._closed:
            raise TwinplaneError("the network is closed: nothing can be asked of it or done with it any more")

    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""
        self.require_open()
        if self.started:
            raise TwinplaneError(f"{what} has to be added before the network first runs")
        self._core = self._warnings = None
        self._open_captures.clear()

    def running(self) -> _core.Network:
        """The core's network, made when it is first needed."""
        self.require_open()
        if self._core is None:
            if not self.draft.nodes:
                raise TwinplaneError("the network has no nodes")
            if doubt := memory.check(self.draft):
                warn(doubt, MachineWarning)
            try:
                self._core = core.network(self.draft.core, self.outside.placement(self.draft))
            except TwinplaneError as error:
                told = None if self.draft.matrix is None else self.draft.matrix.explained(error)
                raise self.draft.placed(error) if told is None else told from None
            said = together(map(core.of_core, self._core.warnings()), self.draft.explain)
            self._warnings = [*self.draft.asides, *said]
            for text in self._warnings:
                warn(text)
        return self._core

    @property
    def warnings(self) -> list[str]:
        """What is surprising about its queues and conditioners, though it runs: a sentence each."""
        if self.draft.nodes and self.running().events_done() != self._events_looked:
            self.warn_of_what_was_found()
        return list(self._warnings or ())

    def warn_of_what_was_found(self) -> None:
        """Warn of what only the run showed, as bursts that token buckets were too small for."""
        running = self.running()
        self._events_looked = running.events_done()
        for text in together(map(core.of_core, running.found_out()), self.draft.explain):
            self._warnings = [*(self._warnings or ()), text]
            warn(text)

    def start(self) -> _core.Network:
        """The core's network, with captures and recordings begun."""
        running = self.running()
        if not self.started:
            self.started = True
            self.draft.standing = memory.need(self.draft).bytes
            for capture in self.captures:
                self.open(capture)
            for router in self.recorded:
                with core.translated():
                    running.record(router.index)
        return running

    @property
    def threads(self) -> str:
        """See `twinplane.Network.threads`."""
        if self.outside.clock != "virtual":
            return processors.BY_THE_CLOCK
        return "one thread" if not self.started else str(self.running().threads()[2])

    @property
    def threads_known(self) -> bool:
        """Is it known whether more than one thread pays?"""
        count, refused, _ = self.running().threads() if self.started else (1, False, "")
        return count > 1 or refused

    def _warn_of_threads(self, asked: int) -> None:
        """Warn, once, that the threads that were asked for do not pay or cannot be."""
        _, refused, why = self.running().threads()
        if asked > 1 and self.outside.clock != "virtual":
            refused, why = True, processors.BY_THE_CLOCK
        if refused and not self._told_of_threads:
            self._told_of_threads = True
            warn(f"threads={asked}: {why}")

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.now_ps / 1e12

    @property
    def now_ps(self) -> int:
        """The same in picoseconds. Seconds as a float are exact to the picosecond only up to some 9,000."""
        return self.running().now_ps() if self.started else 0

    def run(
        self,
        until: Quantity | None = None,
        for_: Quantity | None = None,
        progress: Callable[[float], object] | None = None,
        threads: int | None = None,
    ) -> None:
        """See `twinplane.Network.run`."""
        most = processors.threads(threads)
        if (until is None) == (for_ is None):
            raise TwinplaneError('say how far to run: run(until="1 s") or run(for_="10 ms")')
        running = self.start()
        now = running.now_ps()
        target = (
            units.span_ps(until, "until") if until is not None else now + units.span_ps(for_ or 0, "for_")
        )
        if target < now and self.outside.clock == "virtual":
            raise TwinplaneError(f"run(until={until!r}): it is already {units.format_time(now / 1e12)}")
        with core.translated():
            if self.outside.clock == "virtual":
                if most is None:
                    running.try_threads(processors.tried())
                else:
                    running.set_threads(most, False)
            if progress is None:
                running.run_until(target)
            else:
                while not running.run_a_while(target):
                    progress(running.now_ps() / 1e12)
        if threads is not None:
            self._warn_of_threads(threads)
        looked = running.events_done() - self._events_looked
        if len(self.draft.nodes) <= SMALL or looked >= EVENTS_A_NODE * len(self.draft.nodes):
            self.warn_of_what_was_found()

    def open(self, capture: Capture) -> None:
        """Begin a capture."""
        with core.translated():
            self._open_captures[id(capture)] = self.running().capture(capture.link.index, None, capture.limit)

    def close(self) -> None:
        """Let the core's network go, and with it the interfaces that it holds."""
        self._core = None
        self._closed = True

    def columns(self, name: str, node: Node | None = None) -> Columns:
        """A table as lists of exact values, times in picoseconds (``_ps``)."""
        found: Columns = self.table(name, node).columns()
        return found

    def table(self, name: str, node: Node | None = None) -> _core.Table:
        """A table of the core, which data frames are made of without copying its columns."""
        with core.translated():
            return self.start().table(name, None if node is None else node.index)

    def part(self, name: str, of: int) -> _core.Table:
        """Those rows of a table that are of one flow or group of LSPs."""
        with core.translated():
            return self.start().part(name, of)

    def events(
        self, from_ps: int | None, until_ps: int | None, node: Node | None, event: str | None
    ) -> _core.Table:
        """What happened from one time to before another, what one node told, or what has one name."""
        with core.translated():
            return self.start().events(from_ps, until_ps, None if node is None else node.index, event)

    def node_at(self, address: object) -> str | None:
        """The name of the node that has an address, as its router id or at a link."""
        return self.running().node_at(str(address))

    def path(self, node: Node, packet: dict[str, Any]) -> _core.Table:
        """What decides on a packet from a node, at each router of its way."""
        with core.translated():
            return self.start().path(node.index, packet)

    def te_paths(self, node: Node, asked: dict[str, Any]) -> _core.Table:
        """The best paths from a router by its traffic-engineering database."""
        with core.translated():
            return self.start().te_paths(node.index, asked)

    def node_info(self, index: int) -> dict[str, Any]:
        """Addresses and ports of a node."""
        with core.translated():
            found: dict[str, Any] = json.loads(self.running().node_info(index))
        return found

    def link_info(self, index: int) -> dict[str, Any]:
        """Addresses of both ends of a link."""
        with core.translated():
            found: dict[str, Any] = json.loads(self.running().link_info(index))
        return found

    def lsp_up_count(self, lsp: Lsp) -> int:
        """How many LSPs of a group are up now."""
        if not self.started:
            return 0
        states: list[str] = self.part("lsps", lsp.index).column("state")
        return sum(state == "up" for state in states)

    def lsp_command(self, lsp: Lsp, command: str, argument: list[Any] | None) -> None:
        """Tell the head end of an LSP to do something now."""
        with core.translated():
            self.start().lsp_command(lsp.index, command, argument)

    def peer_send(self, peer: Node, frame: bytes) -> None:
        """Put a frame on the link of a peer now."""
        with core.translated():
            self.start().peer_send(peer.index, bytes(frame))

    def peer_receive(self, peer: Node) -> list[tuple[float, bytes]]:
        """Time in seconds and bytes of every frame that a peer got since the last call."""
        with core.translated():
            return [(at / 1e12, bytes(frame)) for at, frame in self.start().peer_receive(peer.index)]

    def capture_bytes(self, capture: Capture) -> bytes:
        """What was captured, as pcapng; the capture ends here."""
        running = self.start()
        with core.translated():
            return bytes(running.capture_finish(self._open_captures[id(capture)]))
