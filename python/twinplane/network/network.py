"""A network: described by calls, handed to the core when it first runs, and asked afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import TwinplaneError, suggest
from ..model.arrivals import RATE_COUNTS, Arrivals, Sizes, arrivals_spec, size_spec, udp_port
from ..model.description import fault_specs, interface_address, ipv4, rsvp_options
from ..model.description import router_id as checked_router_id
from ..units import Quantity
from .attachments import Interface
from .draft import Draft
from .engine import Engine, Settings
from .handles import Capture, Flow, Link, Lsp
from .nodes import Edge, External, Host, Node, Peer, Router
from .outside import Outside
from .shown import Shown

if TYPE_CHECKING:
    import polars as pl

    from .. import _core
    from ..frames import Columns
    from ..lab import Lab
    from ..model.description import Description
    from ..queues import Conditioner, Tree
    from .recording import Recording, Replay


EVENTS_PER_LOOK = 500_000
"""Events between two calls of a `progress` function."""

CLOCKS = ("virtual", "wall")
"""Which clock runs a network."""

CONVENTIONS = ("first-to-first", "first-to-last", "last-to-last", "last-to-first")
"""From which bit at the source to which bit at the sink a delay is measured (RFC 1242)."""

MTU = 9216
"""The longest packet of a link that says nothing of it."""


def _dscp(given: str | int, what: str) -> int:
    try:
        return units.dscp(given)
    except TwinplaneError as error:
        raise TwinplaneError(f"{what}: {error}") from None


class Network(Shown):
    """Routers, hosts, links, LSPs and flows under one clock, virtual or the one on the wall.

    Quantities are numbers in base units (seconds, bits per second, bytes) or texts such as ``"50 us"``.
    The description is lowered when the network first runs; nodes and links are fixed from then on.
    """

    # A network holds parts: `draft` (what has been described), `outside` (clock and interfaces) and `engine`
    # (the running core, with captures and recordings). What other packages need of them stands at the end.
    _internal = frozenset(
        [
            "draft",
            "outside",
            "engine",
            "description",
            "placed",
            "positions",
            "explain",
            "gathered",
            "gathered_s",
            "names",
            "require_unstarted",
            "running",
            "lowered",
            "placement",
            "go_live",
            "columns",
            "node_info",
            "link_info",
            "phases_ps",
            "series_bin_ps",
            "queue_bin_ps",
            "between",
            "find_link",
            "forget_lateness",
        ]
    )

    def __init__(
        self,
        seed: int = 1,
        clock: str = "virtual",
        *,
        convention: str = "first-to-first",
        phases: Sequence[Quantity] = (0,),
        series_bin: Quantity = "10 ms",
        queue_bin: Quantity | None = None,
        local: Sequence[str] | None = None,
        incarnation: int = 0,
        epoch_ns: int | None = None,
        busy: bool = False,
        cpu: int | None = None,
        strict_ports: bool = False,
    ) -> None:
        """A network in virtual time, or by the clock on the wall (``clock="wall"``).

        In real time, `local` names the nodes that are in this process: if left out, every one but external
        ones and hosts beyond an interface. `incarnation` counts how often the process was started before,
        `epoch_ns` is time zero on the system's monotonic clock, `busy` polls interfaces without sleep on
        processor `cpu`; with `strict_ports` an interface that goes down or away ends the run with an error.

        With `queue_bin` the backlog of every queue is kept over time, in bins of that width (`queue_series`).
        """
        if clock not in CLOCKS:
            raise TwinplaneError(f"clock={clock!r}: unknown{suggest(clock, CLOCKS)}")
        real = {
            "local": None if local is None else list(local),
            "incarnation": incarnation,
            "epoch_ns": epoch_ns,
            "busy": busy,
            "cpu": cpu,
            "fail_on_port_down": strict_ports,
        }
        if clock == "virtual" and (local is not None or incarnation or epoch_ns is not None or busy):
            raise TwinplaneError("local, incarnation, epoch_ns and busy are for real time: clock='wall'")
        if convention not in CONVENTIONS:
            raise TwinplaneError(f"convention={convention!r}: one of {', '.join(CONVENTIONS)}")
        width = None if queue_bin is None else units.span_ps(queue_bin, "queue_bin")
        if width == 0:
            raise TwinplaneError("queue_bin: it is not above zero")
        settings = Settings(
            seed,
            convention,
            [units.span_ps(phase, "phase") for phase in phases],
            units.span_ps(series_bin, "series_bin"),
            width,
        )
        self.draft = Draft()
        self.outside = Outside(clock, real)
        self.engine = Engine(self.draft, self.outside, settings)
        self.gathered: dict[str, Columns] = {}
        """Tables of nodes that are in other processes, as they were at the end of a run."""
        self.gathered_s = 0.0
        """For how many seconds these nodes had run."""

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

    # -- what has been described ----------------------------------------------------------------------

    @property
    def nodes(self) -> list[Node]:
        """Nodes in the order in which they were made."""
        return self.draft.nodes

    @property
    def links(self) -> list[Link]:
        """Links in the order in which they were made."""
        return self.draft.links

    @property
    def lsps(self) -> list[Lsp]:
        """LSPs, and groups of LSPs, in the order in which they were made."""
        return self.draft.lsps

    @property
    def flows(self) -> list[Flow]:
        """Flows in the order in which they were made."""
        return self.draft.flows

    @property
    def captures(self) -> list[Capture]:
        """Captures in the order in which they were asked for."""
        return self.engine.captures

    @property
    def clock(self) -> str:
        """``virtual``, or ``wall``: real time."""
        return self.outside.clock

    @property
    def seed(self) -> int:
        """The seed of all random streams, 0 to 2^64 - 1."""
        return self.engine.settings.seed

    @property
    def convention(self) -> str:
        """From which bit at the source to which bit at the sink a delay is measured (RFC 1242)."""
        return self.engine.settings.convention

    def node(self, which: Node | str, what: str = "") -> Node:
        """A node by its name or itself."""
        return self.draft.node(which, what)

    # -- describing -----------------------------------------------------------------------------------

    def router(
        self,
        name: str,
        profile: str | Path | Mapping[str, Any] = "ideal",
        *,
        diffserv: Any = None,
        **rsvp: Any,
    ) -> Router:
        """A label-switching router; `rsvp` are `router_id` and its options (`twinplane.model.description`).

        With `diffserv` it supports differentiated services over MPLS (RFC 3270): True, or a
        `twinplane.diffserv.DiffServ` with its TC map, tunnelling model and PHBs. Without, classes are
        copied between labels and packets.
        """
        from ..profiles import resolve

        router = Router(self, name, len(self.nodes))
        given: dict[str, Any] = {**checked_router_id(name, rsvp.pop("router_id", None))}
        if diffserv is not None and diffserv is not False:
            from ..diffserv import node_spec

            given |= {"diffserv": node_spec(diffserv, f"{name}: diffserv")}
        self._register(router, {"profile": resolve(profile), "rsvp": rsvp_options(name, rsvp), **given})
        return router

    def edge(self, name: str, **rsvp: Any) -> Edge:
        """An emulated label-edge router of the tester; options as those of `router`."""
        edge = Edge(self, name, len(self.nodes))
        given = checked_router_id(name, rsvp.pop("router_id", None))
        self._register(edge, {"rsvp": rsvp_options(name, rsvp), "programme": edge.steps, **given})
        return edge

    def peer(self, name: str) -> Peer:
        """A raw port for frames made by hand."""
        peer = Peer(self, name, len(self.nodes))
        self._register(peer, {})
        return peer

    def host(
        self,
        name: str,
        address: str | None = None,
        gateway: str | None = None,
        *,
        interface: str | None = None,
        netns: str | None = None,
        driver: str = "packet",
        offload: bool = True,
    ) -> Host:
        """An IP host, to be linked to a router; `address` has a prefix length, as in ``"10.1.0.2/24"``.

        The router's port has the address `gateway`: the first of the prefix that is not the host's, unless it
        is given. In real time a real host is beyond `interface`, if that is given; otherwise, and in virtual
        time, the host is simulated.

        A host with several links has no `address` here: each link says its own, as ``link(...,
        addresses=...)``.
        """
        own = None if address is None else interface_address(address, name)
        fields: dict[str, Any] = {} if own is None else {"address": own}
        if gateway is not None:
            fields["gateway"] = ipv4(gateway, f"{name}: gateway")
        beyond = None if interface is None else Interface(interface, netns, driver, offload)
        host = Host(self, name, len(self.nodes), None if own is None else own.partition("/")[0])
        self._register(host, fields)
        if beyond is not None:
            self.outside.host_interfaces[host.index] = beyond
        return host

    def external(self, name: str, router_id: str | None = None) -> External:
        """Somebody else's router, in real time; `attach` says by which interfaces it is reached."""
        external = External(self, name, len(self.nodes))
        self._register(external, checked_router_id(name, router_id))
        return external

    def _register(self, node: Node, fields: dict[str, Any]) -> None:
        self.require_unstarted(f"{node.kind} '{node.name}'")
        self.draft.add_node(node, fields)

    def link(
        self,
        x: Node | str,
        y: Node | str,
        rate: Quantity = "1 Gbit/s",
        delay: Quantity = "50 us",
        reservable: Quantity | None = None,
        buffer: Quantity | None = None,
        mtu: int | None = None,
        *,
        detection: Quantity = 0,
        metric: int = 1,
        clock_ppm: tuple[float, float] = (0.0, 0.0),
        addresses: tuple[str, str] | None = None,
        queue: Any = None,
        ingress: Any = None,
    ) -> Link:
        """A link; `clock_ppm` is how much faster than nominal the clock of each end's port runs.

        `mtu` is the longest packet, 9216 bytes unless it is given.

        `addresses` are those of both ends with their prefix length, if they shall not be given by themselves.

        `queue` is what waits in front of the link: a discipline of `twinplane.queues` or a `Tree` at both
        ends, or one for each end that shall have one, as ``{"a": Htb(...)}``. `ingress` are meters and
        markers for what arrives by the link, a `twinplane.queues.Conditioner` in the same way. What is
        surprising about them, such as rates of classes that do not add up, is a `TwinplaneWarning` when the
        network first runs, and stands in `Network.warnings`.
        """
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
                "mtu": MTU if mtu is None else int(mtu),
                "mtu_said": mtu is not None,
                "detection_ps": units.span_ps(detection, "detection"),
                "metric": int(metric),
                "a_clock_ppb": round(clock_ppm[0] * 1000),
                "b_clock_ppb": round(clock_ppm[1] * 1000),
                "addresses": None
                if addresses is None
                else [interface_address(text, f"link {a.name} - {b.name}") for text in addresses],
            }
        )
        if queue is not None or ingress is not None:
            from .trees import attach

            try:
                attach(self.draft, link, queue, ingress)
            except TwinplaneError:
                self.links.pop()
                self.description.links.pop()
                raise
        return link

    def place(
        self, node: Node | str, towards: Link | Node | str, *, queue: Any = None, ingress: Any = None
    ) -> Link:
        """Put a tree of queues, or meters and markers, at one end of a link that is there already.

        The end is that of `node` on its link `towards` a neighbour, or on a link given itself where there
        are parallel ones; what stands there is replaced. `queue` is what waits to leave `node` by the link,
        `ingress` is for what arrives by it; both as in `link`. The network must not have run yet.
        """
        from .trees import attach

        here = self.node(node)
        link = self.draft.link_at(here, towards, f"{here.name}: place")
        self.require_unstarted(f"what stands at {here.name} on {link}")
        attach(
            self.draft,
            link,
            None if queue is None else {here: queue},
            None if ingress is None else {here: ingress},
        )
        return link

    def flow(
        self,
        a: Node | str,
        c: Node | str,
        over: Lsp | None = None,
        rate: Quantity = "1 Mbit/s",
        size: Sizes = 512,
        arrivals: Arrivals = "constant",
        dscp: str | int = 0,
        *,
        start: Quantity = 0,
        stop: Quantity | None = None,
        trace: bool = False,
        name: str | None = None,
        rate_counts: str = "frame",
        log: bool = False,
        from_link: Link | Node | str | None = None,
        to_link: Link | Node | str | None = None,
        src_port: int | None = None,
        dst_port: int | None = None,
    ) -> Flow:
        """Measured traffic; over a group of LSPs the rate is shared evenly by one stream each.

        `arrivals` are ``"constant"``, ``"poisson"``, or an `OnOff` or `Trace` of `twinplane.traffic`; `size`
        is that of the Ethernet frame with header and frame check sequence, or a `Uniform`, `Empirical`,
        `Exponential` or `Imix` of the same. `rate` counts frames in the same way, with ``rate_counts="ip"``
        the IP packets in them. With `log` every packet is kept for `Flow.packets`.

        Packets are UDP. They come from port `src_port`, by default one from 49152 on that no other flow of
        `a` has, and go to `dst_port`, by default 61614, so that queues by flow and filters by ports tell
        flows apart. `dscp` is the name of a behaviour, such as EF, AF11, CS1 or default, or 0 to 63.

        A host with several links sends by `from_link` and is reached at the address of `to_link`: links, or
        the neighbours at their other ends. It may send to itself through the network.
        """
        source, sink = self.node(a), self.node(c)
        label = name or f"{source.name}-{sink.name}"
        what = f"flow '{label}'"
        if rate_counts not in RATE_COUNTS:
            raise TwinplaneError(f"{what}: rate_counts={rate_counts!r}: frame or ip")
        spec: dict[str, Any] = {
            "name": label,
            "from": source.index,
            "to": sink.index,
            "over": None if over is None else over.index,
            "rate_bps": units.rate_bps(rate),
            "size": size_spec(size, what),
            "arrivals": arrivals_spec(arrivals, what),
            "dscp": _dscp(dscp, what),
            "start_ps": units.span_ps(start, "start"),
            "stop_ps": None if stop is None else units.span_ps(stop, "stop"),
            "trace": trace,
            "rate_counts": rate_counts,
            "log": log,
        }
        for key, node, end in (("from_link", source, from_link), ("to_link", sink, to_link)):
            if end is not None:
                spec[key] = self.draft.link_at(node, end, f"{what}: {key}").index
        for key, number in (("src_port", src_port), ("dst_port", dst_port)):
            if number is not None:
                spec[key] = udp_port(number, f"{what}: {key}")
        if stop is not None and spec["stop_ps"] <= spec["start_ps"]:
            raise TwinplaneError(f"{what}: stop={stop!r} is not after start={start!r}: it would send nothing")
        flow = Flow(self, len(self.flows), label, log)
        if self.engine.started:
            with core.translated():
                flow.index = self.running().add_flow(json.dumps(spec))
        else:
            self.require_unstarted(f"flow '{label}'")
            self.description.flows.append(spec)
        self.flows.append(flow)
        return flow

    def attach(
        self,
        node: Node | str,
        link: Link,
        interface: str,
        netns: str | None = None,
        *,
        driver: str = "packet",
        offload: bool = False,
    ) -> None:
        """In real time, let a node here reach the far end of a link by an interface."""
        found = self.node(node)
        self.require_unstarted(f"interface {interface}")
        self.outside.attach(found, link, interface, netns, driver, offload)

    def log_signals(self, limit: int = 1_000_000) -> None:
        """Keep the last `limit` signalling messages of every router for table ``signals``."""
        self.require_unstarted("a log of signalling messages")
        for spec in self.description.nodes:
            if spec["kind"] in ("router", "edge"):
                spec["log_signals"] = int(limit)

    def capture(
        self, a: Node | str | Link, b: Node | str | None = None, *, packets: int | None = None
    ) -> Capture:
        """Capture what passes over a link, the first `packets` frames if that is given."""
        made = Capture(self, self.find_link(a, b), packets)
        self.engine.captures.append(made)
        if self.engine.started:
            self.engine.open(made)
        return made

    def record(self, router: Node | str) -> None:
        """Record what a router is given; say so before the network first runs."""
        found = self.node(router)
        if self.engine.started:
            raise TwinplaneError(f"{found.name}: a recording begins before the network first runs")
        if found.kind != "router":
            raise TwinplaneError(f"{found.name}: only routers are recorded")
        self.engine.recorded.append(found)

    def recording(self, router: Node | str) -> Recording:
        """End the recording of a router, and return it."""
        from .recording import Recording

        found = self.node(router)
        with core.translated():
            return Recording(self.engine.start().recording(found.index))

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

    @property
    def warnings(self) -> list[str]:
        """What is surprising about its queues and conditioners, though it runs: a sentence each."""
        return self.engine.warnings

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return 0.0 if not self.engine.started else self.running().now_ps() / 1e12

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
        running = self.engine.start()
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
        self.engine.warn_of_bursts()

    def fail(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Cut a link now, given itself or by its two ends; what is queued and in flight on it is lost."""
        with core.translated():
            self.engine.start().fail_link(self.find_link(a, b).index)

    def repair(self, a: Node | str | Link, b: Node | str | None = None) -> None:
        """Mend a link now."""
        with core.translated():
            self.engine.start().repair_link(self.find_link(a, b).index)

    def fault(self, a: Node | str | Link, b: Node | str | None = None, **what: Any) -> None:
        """Disturb a link from now on.

        `loss`, `duplication` and `reordering` are probabilities for each frame (reordered ones are held back
        `by` a time), `corruption` is one for each bit; `delay` is a time, with up to `jitter` on top. With
        `until` the fault ends by itself; `direction` is forth, back or both. Zero takes a fault away.
        """
        link = self.find_link(a, b)
        running = self.engine.start()
        for spec in fault_specs(self.link_info(link.index)["link"], running.now_ps(), what):
            with core.translated():
                running.fault(json.dumps(spec))

    def heal(self) -> None:
        """Take all faults away: links can be used again, nodes are up."""
        with core.translated():
            self.engine.start().heal_all()

    def restart(self, node: Node | str, down: Quantity = "1 s") -> None:
        """Restart a node now: it forgets everything and is silent for a time."""
        running = self.engine.start()
        spec = {
            "at": running.now_ps(),
            "fault": "node-restart",
            "node": self.node(node).index,
            "down_for": units.span_ps(down, "down"),
        }
        with core.translated():
            running.fault(json.dumps(spec))

    def close(self) -> None:
        """Give interfaces back; nothing can be asked of the network any more.

        A socket that is left open goes on taking copies of every frame of its interface.
        """
        self.engine.close()

    # -- asking ---------------------------------------------------------------------------------------

    def table(self, name: str, node: Node | None = None) -> pl.DataFrame:
        """A table as a data frame, times in seconds; `twinplane tables NAME` says what its columns mean."""
        import polars as pl

        return pl.DataFrame(self.engine.table(name, node))

    def events(self) -> pl.DataFrame:
        """What happened, in order of time: `time_s` in seconds, `node`, `event`; of LSPs `lsps`, `index`."""
        return self.table("events")

    @property
    def events_done(self) -> int:
        """How much has happened: arrivals, timeouts, commands, faults."""
        return 0 if not self.engine.started else self.running().events_done()

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
        """A digest of every frame's bytes and times on every link so far: equal runs have equal digests."""
        with core.translated():
            return str(self.engine.start().digest())

    # -- parts, for other packages ----------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Node names by index."""
        return [node.name for node in self.nodes]

    @property
    def description(self) -> Description:
        """What the core takes of nodes, links, LSPs and flows, as far as it has been described."""
        return self.draft.description

    @property
    def placed(self) -> dict[tuple[int, str], Tree | Conditioner]:
        """See `Draft.placed`."""
        return self.draft.placed

    @property
    def positions(self) -> dict[str, tuple[float, float]]:
        """See `Draft.positions`."""
        return self.draft.positions

    @property
    def explain(self) -> Callable[[str], str]:
        """See `Draft.explain`."""
        return self.draft.explain

    @property
    def phases_ps(self) -> list[int]:
        """When the phases of measurement begin, in picoseconds."""
        return self.engine.settings.phases_ps

    @property
    def series_bin_ps(self) -> int:
        """Width of the bins of flows over time, in picoseconds."""
        return self.engine.settings.series_bin_ps

    @property
    def queue_bin_ps(self) -> int | None:
        """Width of the bins of queues over time, in picoseconds; None if none are kept."""
        return self.engine.settings.queue_bin_ps

    def between(self, a: Node, b: Node) -> list[Link]:
        """Every link between two nodes."""
        return self.draft.between(a, b)

    def find_link(self, a: Node | str | Link, b: Node | str | None) -> Link:
        """A link by itself or by its two ends."""
        return self.draft.find_link(a, b)

    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""
        self.engine.require_unstarted(what)

    def running(self) -> _core.Network:
        """The core's network, made when it is first needed."""
        return self.engine.running()

    def lowered(self) -> dict[str, Any]:
        """The description that the core takes."""
        return self.engine.lowered()

    @property
    def placement(self) -> dict[str, Any] | None:
        """What is in this process, and its interfaces, as the core takes it; None in virtual time."""
        return self.outside.placement(self.draft)

    def go_live(self, placement: Mapping[str, Any]) -> None:
        """Run by the clock on the wall, where a placement says (that of a lab's tester, for example).

        A network that was described for virtual time becomes its own twin: nothing else about it changes.
        """
        self.require_unstarted("a placement")
        self.outside.go_live(self.draft, placement)

    def columns(self, name: str, node: Node | None = None) -> Columns:
        """A table as the core gives it."""
        return self.engine.columns(name, node)

    def node_info(self, index: int) -> dict[str, Any]:
        """Addresses and ports of a node."""
        return self.engine.node_info(index)

    def link_info(self, index: int) -> dict[str, Any]:
        """Addresses of both ends of a link."""
        return self.engine.link_info(index)

    def forget_lateness(self) -> None:
        """Begin anew to measure how late things happen in real time, for table ``lateness``."""
        self.engine.start().clear_lateness()
