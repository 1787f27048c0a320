"""How a network is described: nodes, links, LSPs and flows, each checked when it is said."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import core, units
from ..errors import TwinplaneError, suggest
from ..model.arrivals import RATE_COUNTS, Arrivals, Sizes, arrivals_spec, size_spec, udp_port
from ..model.description import Description, interface_address, router_id, rsvp_options
from ..model.places import in_words
from ..units import Quantity
from .handles import Capture, Flow, Link, Lsp
from .nodes import Edge, Node, Peer, Router
from .outside import Outside
from .paths import Paths

if TYPE_CHECKING:
    from .. import _core
    from ..frames import Columns
    from ..queues import Conditioner, Tree
    from .network import Network


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


class Building(Paths, Outside):
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
        self.asides: list[str] = []
        """What is surprising about the way in which it was described."""
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
        self.gathered_s = 0.0
        """For how long these nodes had run."""
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
        """A label-switching router; `rsvp` are `router_id` and its options (`twinplane.model.description`).

        With `diffserv` it supports differentiated services over MPLS (RFC 3270): True, or a
        `twinplane.diffserv.DiffServ` with its EXP map, tunnelling model and behaviours. Without, classes are
        copied between labels and packets.
        """
        from ..profiles import resolve

        router = Router(self._network, name, len(self.nodes))
        given: dict[str, Any] = {**router_id(name, rsvp.pop("router_id", None))}
        if diffserv is not None and diffserv is not False:
            from ..diffserv import node_spec

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
                attach(self._network, link, queue, ingress)
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
        link = self.link_at(here, towards, f"{here.name}: place")
        self.require_unstarted(f"what stands at {here.name} on {link}")
        attach(
            self._network,
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
                spec[key] = self.link_at(node, end, f"{what}: {key}").index
        for key, number in (("src_port", src_port), ("dst_port", dst_port)):
            if number is not None:
                spec[key] = udp_port(number, f"{what}: {key}")
        if stop is not None and spec["stop_ps"] <= spec["start_ps"]:
            raise TwinplaneError(f"{what}: stop={stop!r} is not after start={start!r}: it would send nothing")
        flow = Flow(self._network, len(self.flows), label, log)
        if self._started:
            with core.translated():
                flow.index = self.running().add_flow(json.dumps(spec))
        else:
            self.require_unstarted(f"flow '{label}'")
            self.description.flows.append(spec)
        self.flows.append(flow)
        return flow
