"""A network: described by calls, handed to the core when it first runs, and asked afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import core, frames, units
from .description import Description, fault_specs, rsvp_options
from .errors import TwinplaneError, suggest
from .handles import Capture, Flow, Link, Lsp
from .nodes import Edge, HeadEnd, Node, Peer, Router
from .units import Quantity

if TYPE_CHECKING:
    import polars as pl

    from . import _core
    from .handles import Hop

CONVENTIONS = ("first-to-first", "first-to-last", "last-to-last", "last-to-first")
"""From which bit at the source to which bit at the sink a delay is measured (RFC 1242)."""


class Network:
    """Routers, links, LSPs and flows under one clock.

    Quantities are numbers in base units (seconds, bits per second, bytes) or texts such as ``"50 us"``.
    The description is lowered when the network first runs; nodes and links are fixed from then on.
    """

    def __init__(
        self,
        seed: int = 1,
        clock: str = "virtual",
        *,
        convention: str = "first-to-first",
        phases: Sequence[Quantity] = (0,),
        series_bin: Quantity = "10 ms",
    ) -> None:
        if clock == "wall":
            raise TwinplaneError("clock='wall': real time is not part of this version; use 'virtual'")
        if clock != "virtual":
            raise TwinplaneError(f"clock={clock!r}: unknown{suggest(clock, ('virtual', 'wall'))}")
        if convention not in CONVENTIONS:
            raise TwinplaneError(f"convention={convention!r}: one of {', '.join(CONVENTIONS)}")
        self.seed = seed
        self.clock = clock
        self.convention = convention
        self.phases_ps = [units.span_ps(phase, "phase") for phase in phases]
        self.series_bin_ps = units.span_ps(series_bin, "series_bin")
        self.nodes: list[Node] = []
        self.links: list[Link] = []
        self.lsps: list[Lsp] = []
        self.flows: list[Flow] = []
        self.captures: list[Capture] = []
        self.positions: dict[str, tuple[float, float]] = {}
        self.description = Description()
        self._core: _core.Network | None = None
        self._captures_open: dict[int, int] = {}
        self._started = False

    @classmethod
    def from_graphml(cls, path: str | Path, seed: int = 1, **options: Any) -> Network:
        """A network of routers from a Topology Zoo file; see `twinplane.graphml` for the defaults."""
        from .graphml import build

        return build(cls, Path(path), seed=seed, **options)

    # -- building -------------------------------------------------------------------------------------

    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""
        if self._started:
            raise TwinplaneError(f"{what} has to be added before the network first runs")
        self._core = None
        self._captures_open.clear()

    def _register(self, node: Node, fields: dict[str, Any]) -> None:
        self.require_unstarted(f"{node.kind} '{node.name}'")
        if any(other.name == node.name for other in self.nodes):
            raise TwinplaneError(f"there already is a node named '{node.name}'")
        self.nodes.append(node)
        self.description.nodes.append({"name": node.name, "kind": node.kind, **fields})

    def router(self, name: str, profile: str | Path | Mapping[str, Any] = "ideal", **rsvp: Any) -> Router:
        """A label-switching router; `rsvp` are its signalling options (`twinplane.description`)."""
        from .profiles import resolve

        router = Router(self, name, len(self.nodes))
        fields = {"profile": resolve(profile), "rsvp": rsvp_options(name, rsvp)}
        self._register(router, fields)
        return router

    def edge(self, name: str, **rsvp: Any) -> Edge:
        """An emulated label-edge router of the tester."""
        edge = Edge(self, name, len(self.nodes))
        self._register(edge, {"rsvp": rsvp_options(name, rsvp), "programme": edge.steps})
        return edge

    def peer(self, name: str) -> Peer:
        """A raw port for frames made by hand."""
        peer = Peer(self, name, len(self.nodes))
        self._register(peer, {})
        return peer

    def link(
        self,
        x: Node | str,
        y: Node | str,
        rate: Quantity = "1 Gbit/s",
        delay: Quantity = "50 us",
        reservable: Quantity | None = None,
        buffer: Quantity | None = None,
        mtu: int = 9216,
        *,
        detection: Quantity = 0,
        metric: int = 1,
        clock_ppm: tuple[float, float] = (0.0, 0.0),
    ) -> Link:
        """A link; `clock_ppm` is how much faster than nominal the clock of each end's port runs."""
        a, b = self.node(x), self.node(y)
        self.require_unstarted(f"link {a.name} - {b.name}")
        if a is b:
            raise TwinplaneError(f"link {a.name} - {b.name}: the two ends are the same node")
        if units.rate_bps(rate) == 0:
            raise TwinplaneError(f"link {a.name} - {b.name}: its rate is zero")
        link = Link(self, len(self.links), a, b)
        self.links.append(link)
        self.description.links.append(
            {
                "a": a.index,
                "b": b.index,
                "rate_bps": units.rate_bps(rate),
                "delay_ps": units.span_ps(delay, "delay"),
                "reservable_bps": None if reservable is None else units.rate_bps(reservable, "reservable"),
                "buffer_bytes": None if buffer is None else units.size_bytes(buffer, "buffer"),
                "mtu": int(mtu),
                "detection_ps": units.span_ps(detection, "detection"),
                "metric": int(metric),
                "a_clock_ppb": round(clock_ppm[0] * 1000),
                "b_clock_ppb": round(clock_ppm[1] * 1000),
            }
        )
        return link

    def add_lsp(
        self,
        *,
        name: str,
        head: HeadEnd,
        to: Node | str,
        route: Sequence[Hop],
        bandwidth: Quantity,
        fallback: Sequence[Hop],
        count: int,
        loose: bool,
        setup_priority: int,
        holding_priority: int | None,
        style: str,
        record_route: bool,
        record_labels: bool,
        retry_first: Quantity | None,
        retry_max: Quantity | None,
        retry_limit: int | None,
        signal: bool,
    ) -> Lsp:
        """See `twinplane.nodes.HeadEnd.lsp`."""
        what = f"lsp '{name}'"
        tail = self.node(to, what)
        if tail is head:
            raise TwinplaneError(f"{what}: it begins and ends at {tail.name}")
        if count < 1:
            raise TwinplaneError(f"{what}: count={count}: at least 1 is needed")
        holding = setup_priority if holding_priority is None else holding_priority
        if not 0 <= holding <= setup_priority <= 7:
            # RFC 3209, 4.7.3: the set-up priority should never be higher than the holding priority.
            raise TwinplaneError(
                f"{what}: priorities are 0 (highest) to 7, and holding must not be weaker than set-up"
                f" (set-up {setup_priority}, holding {holding})"
            )
        routes = [
            self.route(head, hops, what, tail=tail, loose=loose) for hops in (route, fallback) if len(hops)
        ]
        spec: dict[str, Any] = {
            "name": name,
            "from": head.index,
            "to": tail.index,
            "count": count,
            "routes": routes,
            "loose": loose,
            "bandwidth_bps": units.rate_bps(bandwidth, "bandwidth"),
            "setup_priority": setup_priority,
            "holding_priority": holding,
            "style": style,
            "record_route": record_route,
            "record_labels": record_labels,
            "retry_limit": retry_limit,
            "auto": signal,
        }
        for key, value in (("retry_first_ps", retry_first), ("retry_max_ps", retry_max)):
            if value is not None:
                spec[key] = units.span_ps(value, key[:-3])
        lsp = Lsp(self, len(self.lsps), spec)
        if self._started:
            with core.translated():
                lsp.index = self.running().add_lsp(json.dumps(spec))
        else:
            self.require_unstarted(what)
            self.description.lsps.append(spec)
        self.lsps.append(lsp)
        return lsp

    def route(
        self,
        head: Node,
        hops: Sequence[Hop],
        what: str,
        *,
        tail: Node | None = None,
        loose: bool = False,
    ) -> list[Any]:
        """An explicit route as the core takes it; strict routes are checked against the links."""
        found: list[Any] = []
        here = head
        for hop in hops:
            if isinstance(hop, Link):
                if here not in (hop.a, hop.b):
                    raise TwinplaneError(f"{what}: route: {hop} does not begin at {here.name}")
                here = hop.other(here)
                found.append({"link": hop.index})
                continue
            node = self.node(hop, f"{what}: route says")
            if not loose and not self.between(here, node):
                raise TwinplaneError(f"{what}: route: there is no link between {here.name} and {node.name}")
            here = node
            found.append(node.index)
        if tail is not None and here is not tail and not loose:
            raise TwinplaneError(f"{what}: route ends at {here.name}, the LSP ends at {tail.name}")
        return found

    def flow(
        self,
        a: Node | str,
        c: Node | str,
        over: Lsp | None = None,
        rate: Quantity = "1 Mbit/s",
        size: Quantity = 512,
        arrivals: str = "constant",
        dscp: str | int = 0,
        *,
        start: Quantity = 0,
        stop: Quantity | None = None,
        trace: bool = False,
        name: str | None = None,
    ) -> Flow:
        """Measured traffic; over a group of LSPs the rate is shared evenly by one stream each.

        `size` is that of the Ethernet frame with header and frame check sequence; `rate` counts the same.
        """
        source, sink = self.node(a), self.node(c)
        label = name or f"{source.name}-{sink.name}"
        if arrivals not in ("constant", "poisson"):
            hint = suggest(arrivals, ("constant", "poisson"))
            raise TwinplaneError(f"flow '{label}': arrivals={arrivals!r}: constant or poisson{hint}")
        bytes_ = units.size_bytes(size)
        if not 64 <= bytes_ <= 9018:
            raise TwinplaneError(f"flow '{label}': size={bytes_}: an Ethernet frame has 64 to 9018 bytes")
        spec = {
            "name": label,
            "from": source.index,
            "to": sink.index,
            "over": None if over is None else over.index,
            "rate_bps": units.rate_bps(rate),
            "size": bytes_,
            "arrivals": arrivals,
            "dscp": units.dscp(dscp),
            "start_ps": units.span_ps(start, "start"),
            "stop_ps": None if stop is None else units.span_ps(stop, "stop"),
            "trace": trace,
        }
        flow = Flow(self, len(self.flows), label)
        if self._started:
            with core.translated():
                flow.index = self.running().add_flow(json.dumps(spec))
        else:
            self.require_unstarted(f"flow '{label}'")
            self.description.flows.append(spec)
        self.flows.append(flow)
        return flow

    def capture(
        self, a: Node | str | Link, b: Node | str | None = None, *, packets: int | None = None
    ) -> Capture:
        """Capture what passes over a link, the first `packets` frames if that is given."""
        made = Capture(self, self._link(a, b), packets)
        self.captures.append(made)
        if self._started:
            self._open(made)
        return made

    # -- looking up -----------------------------------------------------------------------------------

    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself."""
        lead = f"{what} " if what else ""
        if isinstance(which, Node):
            if which.network is not self:
                raise TwinplaneError(f"{lead}{which.name}: it belongs to another network")
            return which
        for node in self.nodes:
            if node.name == which:
                return node
        hint = suggest(str(which), [node.name for node in self.nodes])
        raise TwinplaneError(f"{lead}{which!r}, no node has that name{hint}")

    def between(self, a: Node, b: Node) -> list[Link]:
        """Every link between two nodes."""
        return [self.links[index] for index in self.description.between(a.index, b.index)]

    def _link(self, a: Node | str | Link, b: Node | str | None) -> Link:
        if isinstance(a, Link):
            return a
        if b is None:
            raise TwinplaneError("a link is named by its two ends, or given itself")
        x, y = self.node(a), self.node(b)
        found = self.between(x, y)
        if not found:
            raise TwinplaneError(f"there is no link between {x.name} and {y.name}")
        if len(found) > 1:
            raise TwinplaneError(
                f"there are {len(found)} links between {x.name} and {y.name}: give the link itself"
            )
        return found[0]

    # -- running --------------------------------------------------------------------------------------

    def running(self) -> _core.Network:
        """The core's network, made when it is first needed."""
        if self._core is None:
            if not self.nodes:
                raise TwinplaneError("the network has no nodes")
            self._core = core.network(self.lowered())
        return self._core

    def lowered(self) -> dict[str, Any]:
        """The description that the core takes."""
        return {
            "seed": self.seed,
            **self.description.as_dict(),
            "phases_ps": self.phases_ps,
            "convention": self.convention,
            "series_bin_ps": self.series_bin_ps,
        }

    def _start(self) -> _core.Network:
        running = self.running()
        if not self._started:
            self._started = True
            for capture in self.captures:
                self._open(capture)
        return running

    def _open(self, capture: Capture) -> None:
        with core.translated():
            self._captures_open[id(capture)] = self.running().capture(capture.link.index, None, capture.limit)

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return 0.0 if not self._started else self.running().now_ps() / 1e12

    def run(self, until: Quantity | None = None, for_: Quantity | None = None) -> None:
        """Run to a time, or for a time."""
        if (until is None) == (for_ is None):
            raise TwinplaneError('say how far to run: run(until="1 s") or run(for_="10 ms")')
        running = self._start()
        now = running.now_ps()
        target = (
            units.span_ps(until, "until") if until is not None else now + units.span_ps(for_ or 0, "for_")
        )
        if target < now:
            raise TwinplaneError(f"run(until={until!r}): it is already {units.format_time(now / 1e12)}")
        with core.translated():
            running.run_until(target)

    def fail(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Cut a link now; what is on it is lost."""
        with core.translated():
            self._start().fail_link(self._link(a, b).index)

    def repair(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Mend a link now."""
        with core.translated():
            self._start().repair_link(self._link(a, b).index)

    def fault(self, a: Node | str | Link, b: Node | str | None = None, **what: Any) -> None:
        """Disturb a link from now on.

        `loss`, `duplication` and `reordering` are probabilities for each frame (reordered ones are held back
        `by` a time), `corruption` is one for each bit; `delay` is a time, with up to `jitter` on top. With
        `until` the fault ends by itself; `direction` is forth, back or both. Zero takes a fault away.
        """
        link = self._link(a, b)
        running = self._start()
        for spec in fault_specs(self.link_info(link.index)["link"], running.now_ps(), what):
            with core.translated():
                running.fault(json.dumps(spec))

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
        """See `twinplane.nodes.Router.traceroute`."""
        from .probing import destination, traceroute

        self._start()
        if lsp is not None:
            address = destination(self, lsp)
        elif to is None:
            raise TwinplaneError("traceroute: say where to, or over which LSP")
        else:
            address = self.node(to).loopback if not isinstance(to, str) or to in self.names else to
        return traceroute(self, node, address, units.span_ps(wait, "wait") / 1e12, hops)

    def lsp_history(self, lsp: Lsp) -> pl.DataFrame:
        """See `twinplane.handles.Lsp.history`."""
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
        """See `twinplane.nodes.Peer.send`."""
        with core.translated():
            self._start().peer_send(peer.index, bytes(frame))

    def peer_receive(self, peer: Peer) -> list[tuple[float, bytes]]:
        """See `twinplane.nodes.Peer.receive`."""
        with core.translated():
            return [(at / 1e12, bytes(frame)) for at, frame in self._start().peer_receive(peer.index)]

    def capture_bytes(self, capture: Capture) -> bytes:
        """See `twinplane.handles.Capture.bytes`."""
        running = self._start()
        with core.translated():
            return bytes(running.capture_finish(self._captures_open[id(capture)]))
