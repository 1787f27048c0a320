"""How a network is described: nodes, links, LSPs and flows, each checked when it is said."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import core, units
from .arrivals import RATE_COUNTS, Arrivals, Sizes, arrivals_spec, size_spec
from .description import Description, interface_address, router_id, rsvp_options
from .errors import TwinplaneError, suggest
from .filters import filter_spec, prefixes
from .handles import Capture, Flow, Link, Lsp
from .nodes import Edge, HeadEnd, Node, Peer, Router
from .outside import Outside
from .places import in_words
from .units import Quantity

if TYPE_CHECKING:
    from . import _core
    from .frames import Columns
    from .handles import Hop
    from .network import Network
    from .queues import Conditioner, Tree


CLOCKS = ("virtual", "wall")
"""Which clock runs a network."""

CONVENTIONS = ("first-to-first", "first-to-last", "last-to-last", "last-to-first")
"""From which bit at the source to which bit at the sink a delay is measured (RFC 1242)."""


class Building(Outside):
    """The part of `Network` that describes."""

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
        self.seed = seed
        self.clock = clock
        self.convention = convention
        self.phases_ps = [units.span_ps(phase, "phase") for phase in phases]
        self.series_bin_ps = units.span_ps(series_bin, "series_bin")
        self.queue_bin_ps = None if queue_bin is None else units.span_ps(queue_bin, "queue_bin")
        if self.queue_bin_ps == 0:
            raise TwinplaneError("queue_bin: it is not above zero")
        self.placed: dict[tuple[int, str], Tree | Conditioner] = {}
        """Queues and conditioners by link and end, as ``a_queue`` and so on."""
        self._warnings: list[str] | None = None
        self.explain: Callable[[str], str] = in_words
        """Puts what the core says of queues into the words of whoever described them."""
        self.interface_names: list[tuple[str, str]] | None = None
        """What the ends of links are called, if that was said [default: e0, e1 and so on at each node]."""
        self.nodes: list[Node] = []
        self.links: list[Link] = []
        self.lsps: list[Lsp] = []
        self.flows: list[Flow] = []
        self.captures: list[Capture] = []
        self.gathered: dict[str, Columns] = {}
        """Tables of nodes that are in other processes, as they were at the end of a run."""
        self._recorded: list[Node] = []
        self._real = real
        self._attachments = []
        self._host_interfaces = {}
        self.positions: dict[str, tuple[float, float]] = {}
        self.description = Description()
        self._core: _core.Network | None = None
        self._captures_open: dict[int, int] = {}
        self._started = False

    @property
    def _network(self) -> Network:
        return cast("Network", self)

    @abstractmethod
    def running(self) -> _core.Network:
        """The core's network, made when it is first needed."""

    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""
        if self._started:
            raise TwinplaneError(f"{what} has to be added before the network first runs")
        self._core = self._warnings = None
        self._captures_open.clear()

    def _register(self, node: Node, fields: dict[str, Any]) -> None:
        self.require_unstarted(f"{node.kind} '{node.name}'")
        if any(other.name == node.name for other in self.nodes):
            raise TwinplaneError(f"there already is a node named '{node.name}'")
        self.nodes.append(node)
        self.description.nodes.append({"name": node.name, "kind": node.kind, **fields})

    def router(
        self,
        name: str,
        profile: str | Path | Mapping[str, Any] = "ideal",
        *,
        diffserv: Any = None,
        **rsvp: Any,
    ) -> Router:
        """A label-switching router; `rsvp` are `router_id` and its options (`twinplane.description`).

        With `diffserv` it supports differentiated services over MPLS (RFC 3270): True, or a
        `twinplane.diffserv.DiffServ` with its EXP map, tunnelling model and behaviours. Without, classes are
        copied between labels and packets.
        """
        from .profiles import resolve

        router = Router(self._network, name, len(self.nodes))
        given: dict[str, Any] = {**router_id(name, rsvp.pop("router_id", None))}
        if diffserv is not None and diffserv is not False:
            from .diffserv import node_spec

            given |= {"diffserv": node_spec(diffserv, f"{name}: diffserv")}
        self._register(router, {"profile": resolve(profile), "rsvp": rsvp_options(name, rsvp), **given})
        return router

    def edge(self, name: str, **rsvp: Any) -> Edge:
        """An emulated label-edge router of the tester; options as those of `router`."""
        edge = Edge(self._network, name, len(self.nodes))
        given = router_id(name, rsvp.pop("router_id", None))
        self._register(edge, {"rsvp": rsvp_options(name, rsvp), "programme": edge.steps, **given})
        return edge

    def peer(self, name: str) -> Peer:
        """A raw port for frames made by hand."""
        peer = Peer(self._network, name, len(self.nodes))
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
        addresses: tuple[str, str] | None = None,
        queue: Any = None,
        ingress: Any = None,
    ) -> Link:
        """A link; `clock_ppm` is how much faster than nominal the clock of each end's port runs.

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
        link = Link(self._network, len(self.links), a, b)
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
                "addresses": None
                if addresses is None
                else [interface_address(text, f"link {a.name} - {b.name}") for text in addresses],
            }
        )
        if queue is not None or ingress is not None:
            from .queues.attaching import attach

            try:
                attach(self._network, link, queue, ingress)
            except TwinplaneError:
                self.links.pop()
                self.description.links.pop()
                raise
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
        carries: Sequence[str] | str = (),
        filters: Sequence[Mapping[str, Any]] = (),
        diffserv: Any = None,
        classes: Sequence[str | int] | str | int = (),
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
            "carries": prefixes(carries, what),
            "filters": [filter_spec(given, what) for given in filters],
        }
        for key, value in (("retry_first_ps", retry_first), ("retry_max_ps", retry_max)):
            if value is not None:
                spec[key] = units.span_ps(value, key[:-3])
        if diffserv is not None or classes != ():
            from .diffserv import classes_spec, lsp_spec

            if diffserv is not None:
                spec["diffserv"] = lsp_spec(diffserv, f"{what}: diffserv")
            if classes != ():
                if not spec["carries"]:
                    raise TwinplaneError(f"{what}: classes: 'carries' says to where packets of them take it")
                spec["classes"] = classes_spec(classes, f"{what}: classes")
        lsp = Lsp(self._network, len(self.lsps), spec)
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
    ) -> Flow:
        """Measured traffic; over a group of LSPs the rate is shared evenly by one stream each.

        `arrivals` are ``"constant"``, ``"poisson"``, or an `OnOff` or `Trace` of `twinplane.traffic`; `size`
        is that of the Ethernet frame with header and frame check sequence, or a `Uniform`, `Empirical`,
        `Exponential` or `Imix` of the same. `rate` counts frames in the same way, with ``rate_counts="ip"``
        the IP packets in them. With `log` every packet is kept for `Flow.packets`.

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
            "dscp": units.dscp(dscp),
            "start_ps": units.span_ps(start, "start"),
            "stop_ps": None if stop is None else units.span_ps(stop, "stop"),
            "trace": trace,
            "rate_counts": rate_counts,
            "log": log,
        }
        for key, node, end in (("from_link", source, from_link), ("to_link", sink, to_link)):
            if end is not None:
                spec[key] = self.link_at(node, end, f"{what}: {key}").index
        flow = Flow(self._network, len(self.flows), label, log)
        if self._started:
            with core.translated():
                flow.index = self.running().add_flow(json.dumps(spec))
        else:
            self.require_unstarted(f"flow '{label}'")
            self.description.flows.append(spec)
        self.flows.append(flow)
        return flow

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

    def link_at(self, node: Node, which: Link | Node | str, what: str) -> Link:
        """A link of a node, by itself or by the neighbour at its other end."""
        if isinstance(which, Link):
            if node not in (which.a, which.b):
                raise TwinplaneError(f"{what}: {which} is no link of {node.name}")
            return which
        other = self.node(which, what)
        if not self.between(node, other):
            raise TwinplaneError(f"{what}: there is no link between {node.name} and {other.name}")
        return self.find_link(node, other)

    def find_link(self, a: Node | str | Link, b: Node | str | None) -> Link:
        """A link by itself or by its two ends."""
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
