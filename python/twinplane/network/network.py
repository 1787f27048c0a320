"""A network: described by calls, handed to the core when it first runs, and asked afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core, frames, units
from ..errors import TwinplaneError, warn
from ..model.description import fault_specs
from ..model.places import together
from ..units import Quantity
from .building import Building
from .handles import Capture, Link, Lsp
from .nodes import Node, Peer

if TYPE_CHECKING:
    import polars as pl

    from .. import _core
    from ..lab import Lab
    from .recording import Recording, Replay


EVENTS_PER_LOOK = 500_000
"""Events between two calls of a `progress` function."""


class Network(Building):
    """Routers, hosts, links, LSPs and flows under one clock, virtual or the one on the wall.

    Quantities are numbers in base units (seconds, bits per second, bytes) or texts such as ``"50 us"``.
    The description is lowered when the network first runs; nodes and links are fixed from then on.
    """

    @classmethod
    def from_graphml(cls, path: str | Path, seed: int = 1, **options: Any) -> Network:
        """A network of routers from a Topology Zoo file; see `twinplane.network.graphml` for the defaults."""
        from .graphml import build

        return build(cls, Path(path), seed=seed, **options)

    @classmethod
    def from_file(cls, path: str | Path, seed: int | None = None, **options: Any) -> Network:
        """The network of a YAML file: nodes, links, queues, conditioners, DiffServ, LSPs and flows.

        It is the file of `twinplane lab up` and `twinplane run` (docs/reference/lab-file.md). Without `seed`
        the file's is taken; `options` are those of `Network`. Hosts are simulated; what only a lab can do is
        a warning (`exec`, `record`) or an error (nodes of kind external).
        """
        from .from_file import from_file

        return from_file(cls, Path(path), seed, **options)

    def capture(
        self, a: Node | str | Link, b: Node | str | None = None, *, packets: int | None = None
    ) -> Capture:
        """Capture what passes over a link, the first `packets` frames if that is given."""
        made = Capture(self, self.find_link(a, b), packets)
        self.captures.append(made)
        if self._started:
            self._open(made)
        return made

    def record(self, router: Node | str) -> None:
        """Record what a router is given; say so before the network first runs."""
        found = self.node(router)
        if self._started:
            raise TwinplaneError(f"{found.name}: a recording begins before the network first runs")
        if found.kind != "router":
            raise TwinplaneError(f"{found.name}: only routers are recorded")
        self._recorded.append(found)

    def recording(self, router: Node | str) -> Recording:
        """End the recording of a router, and return it."""
        from .recording import Recording

        found = self.node(router)
        with core.translated():
            return Recording(self._start().recording(found.index))

    def replay(self, recording: Recording) -> Replay:
        """Give a router, as it was built, the inputs of a recording: it answers the same if its code does."""
        from .recording import Replay

        with core.translated():
            return Replay(**json.loads(self.running().replay(recording.text)))

    def lab(self, name: str = "lab") -> Lab:
        """The same network spread over network namespaces, one router process each; as a context it is up."""
        from ..lab.networks import of_network

        return of_network(self, name)

    # -- running --------------------------------------------------------------------------------------

    def running(self) -> _core.Network:
        """The core's network, made when it is first needed."""
        if self._core is None:
            if not self.nodes:
                raise TwinplaneError("the network has no nodes")
            try:
                self._core = core.network(self.lowered(), self.placement)
            except TwinplaneError as error:
                raise TwinplaneError(self.explain(str(error)) if self.placed else str(error)) from None
            self._warnings = [*self.asides, *together(self.explain(text) for text in self._core.warnings())]
            for text in self._warnings:
                warn(text)
        return self._core

    @property
    def warnings(self) -> list[str]:
        """What is surprising about its queues and conditioners, though it runs: a sentence each."""
        if self._warnings is None and self.nodes:
            self.running()
        return list(self._warnings or ())

    def lowered(self) -> dict[str, Any]:
        """The description that the core takes."""
        found = {
            "seed": self.seed,
            **self.description.as_dict(),
            "phases_ps": self.phases_ps,
            "convention": self.convention,
            "series_bin_ps": self.series_bin_ps,
        }
        if self.placed:
            from .trees import lowered

            found["links"] = lowered(self)
        if self.queue_bin_ps is not None:
            found["queue_bin_ps"] = self.queue_bin_ps
        return found

    def _start(self) -> _core.Network:
        running = self.running()
        if not self._started:
            self._started = True
            for capture in self.captures:
                self._open(capture)
            for router in self._recorded:
                with core.translated():
                    running.record(router.index)
        return running

    def _open(self, capture: Capture) -> None:
        with core.translated():
            self._captures_open[id(capture)] = self.running().capture(capture.link.index, None, capture.limit)

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return 0.0 if not self._started else self.running().now_ps() / 1e12

    def run(
        self,
        until: Quantity | None = None,
        for_: Quantity | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> None:
        """Run to a time, or for a time; by the clock on the wall that takes as long, and time goes on.

        `progress` is called now and then with the time that has been reached.
        """
        if (until is None) == (for_ is None):
            raise TwinplaneError('say how far to run: run(until="1 s") or run(for_="10 ms")')
        running = self._start()
        now = running.now_ps()
        target = (
            units.span_ps(until, "until") if until is not None else now + units.span_ps(for_ or 0, "for_")
        )
        if target < now and self.clock == "virtual":
            raise TwinplaneError(f"run(until={until!r}): it is already {units.format_time(now / 1e12)}")
        with core.translated():
            if progress is None:
                running.run_until(target)
            else:
                while not running.run_some(target, EVENTS_PER_LOOK):
                    progress(running.now_ps() / 1e12)
        if self.placed:
            for text in together(self.explain(text) for text in running.beyond_bursts()):
                self._warnings = [*self.warnings, text]
                warn(text)

    def fail(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Cut a link now; what is on it is lost."""
        with core.translated():
            self._start().fail_link(self.find_link(a, b).index)

    def repair(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Mend a link now."""
        with core.translated():
            self._start().repair_link(self.find_link(a, b).index)

    def fault(self, a: Node | str | Link, b: Node | str | None = None, **what: Any) -> None:
        """Disturb a link from now on.

        `loss`, `duplication` and `reordering` are probabilities for each frame (reordered ones are held back
        `by` a time), `corruption` is one for each bit; `delay` is a time, with up to `jitter` on top. With
        `until` the fault ends by itself; `direction` is forth, back or both. Zero takes a fault away.
        """
        link = self.find_link(a, b)
        running = self._start()
        for spec in fault_specs(self.link_info(link.index)["link"], running.now_ps(), what):
            with core.translated():
                running.fault(json.dumps(spec))

    def heal(self) -> None:
        """Take all faults away: links can be used again, nodes are up."""
        with core.translated():
            self._start().heal_all()

    def restart(self, node: Node | str, down: Quantity = "1 s") -> None:
        """Restart a node now: it forgets everything and is silent for a time."""
        running = self._start()
        spec = {
            "at": running.now_ps(),
            "fault": "node-restart",
            "node": self.node(node).index,
            "down_for": units.span_ps(down, "down"),
        }
        with core.translated():
            running.fault(json.dumps(spec))

    # -- asking ---------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Node names by index."""
        return [node.name for node in self.nodes]

    def columns(self, name: str, node: Node | None = None) -> frames.Columns:
        """A table as the core gives it."""
        with core.translated():
            found: frames.Columns = json.loads(
                self._start().table(name, None if node is None else node.index)
            )
        return found

    def table(self, name: str, node: Node | None = None) -> pl.DataFrame:
        """A table as a data frame, with names for nodes and seconds for times."""
        return frames.frame(frames.readable(frames.ordered(self.columns(name, node)), self.names))

    def events(self) -> pl.DataFrame:
        """What happened, in order of time."""
        return self.table("events")

    @property
    def events_done(self) -> int:
        """How much has happened: arrivals, timeouts, commands, faults."""
        return 0 if not self._started else self.running().events_done()

    def forget_lateness(self) -> None:
        """Begin anew to measure how late things happen in real time, for table ``lateness``."""
        self._start().clear_lateness()

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
        """What the rules of meters and markers did: packets and bytes by rule, colour and action."""
        return self._of_links("conditioners", node)

    def queue_series(self, node: Node | str | None = None) -> pl.DataFrame:
        """Backlog of every queue over time, mean and most bytes in bins of ``Network(queue_bin=...)``."""
        if self.queue_bin_ps is None:
            raise TwinplaneError('no series is kept: say so with Network(queue_bin="10 ms")')
        return self._of_links("queue_series", node)

    def _of_links(self, name: str, node: Node | str | None) -> pl.DataFrame:
        """A table with a row for each end of a link."""
        return self.table(name, None if node is None else self.node(node))

    def interfaces(self) -> pl.DataFrame:
        """In real time, what every interface counted, and how late its frames were."""
        return self.table("interfaces")

    def digest(self) -> str:
        """A digest of every frame's bytes and times on every link so far."""
        with core.translated():
            return str(self._start().digest())

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

    def traceroute(
        self,
        node: Node,
        to: Node | str | None,
        lsp: Lsp | None = None,
        wait: Quantity = "1 s",
        hops: int = 64,
    ) -> pl.DataFrame:
        """See `twinplane.network.nodes.Router.traceroute`."""
        from .probing import destination, traceroute

        self._start()
        if lsp is not None:
            address = destination(self, lsp)
        elif to is None:
            raise TwinplaneError("traceroute: say where to, or over which LSP")
        else:
            address = self.node(to).loopback if not isinstance(to, str) or to in self.names else to
        return traceroute(self, node, address, units.span_ps(wait, "wait") / 1e12, hops)

    def ping(self, node: Node, to: Node | str, wait: Quantity = "1 s") -> float | None:
        """See `twinplane.network.nodes.Prober.ping`."""
        from .probing import ping

        self._start()
        address = self.node(to).loopback if not isinstance(to, str) or to in self.names else to
        return ping(self, node, address, units.span_ps(wait, "wait") / 1e12)

    def lsp_history(self, lsp: Lsp) -> pl.DataFrame:
        """See `twinplane.network.handles.Lsp.history`."""
        from .history import history

        return history(self, lsp)

    def lsp_up_count(self, lsp: Lsp) -> int:
        """How many LSPs of a group are up now."""
        if not self._started:
            return 0
        table = self.columns("lsps")
        return sum(
            group == lsp.index and state == "up"
            for group, state in zip(table["lsps"], table["state"], strict=True)
        )

    def lsp_command(self, lsp: Lsp, command: str, argument: str | None) -> None:
        """Tell the head end of an LSP to do something now."""
        with core.translated():
            self._start().lsp_command(lsp.index, command, argument)

    def peer_send(self, peer: Peer, frame: bytes) -> None:
        """See `twinplane.network.nodes.Peer.send`."""
        with core.translated():
            self._start().peer_send(peer.index, bytes(frame))

    def peer_receive(self, peer: Peer) -> list[tuple[float, bytes]]:
        """See `twinplane.network.nodes.Peer.receive`."""
        with core.translated():
            return [(at / 1e12, bytes(frame)) for at, frame in self._start().peer_receive(peer.index)]

    def capture_bytes(self, capture: Capture) -> bytes:
        """See `twinplane.network.handles.Capture.bytes`."""
        running = self._start()
        with core.translated():
            return bytes(running.capture_finish(self._captures_open[id(capture)]))
