"""How nodes, links and flows of a network are described: each is checked when it is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import TwinplaneError
from ..model.arrivals import RATE_COUNTS, Arrivals, Sizes, arrivals_spec, size_spec, udp_port
from ..model.description import interface_address, ipv4, router_id, rsvp_options
from ..units import Quantity
from .attachments import Interface
from .handles import Flow, Link, Lsp, Node, Owner
from .nodes import Edge, External, Host, Peer, Router
from .trees import attach

if TYPE_CHECKING:
    from .draft import Draft
    from .engine import Engine
    from .outside import Outside

MTU = 9216
"""The longest packet of a link that says nothing of it."""


def _dscp(given: str | int, what: str) -> int:
    try:
        return units.dscp(given)
    except TwinplaneError as error:
        raise TwinplaneError(f"{what}: {error}") from None


class Describing:
    """Adds nodes, links and flows to a draft, each with a handle of its owner.

    Methods and their arguments are those of `twinplane.Network`.
    """

    def __init__(self, owner: Owner, draft: Draft, outside: Outside, engine: Engine) -> None:
        self._owner, self._draft, self._outside, self._engine = owner, draft, outside, engine

    @property
    def _next(self) -> int:
        """The index of the next node."""
        return len(self._draft.nodes)

    def _register(self, node: Node, fields: dict[str, Any]) -> None:
        self._engine.require_unstarted(f"{node.kind} '{node.name}'")
        self._draft.add_node(node, fields)

    def router(self, name: str, profile: Any, diffserv: Any, rsvp: dict[str, Any]) -> Router:
        """See `twinplane.Network.router`; `rsvp` are its options and its `router_id`."""
        from ..profiles import resolve

        router = Router(self._owner, name, self._next)
        given: dict[str, Any] = {**router_id(name, rsvp.pop("router_id", None))}
        if diffserv is not None and diffserv is not False:
            from ..diffserv import node_spec

            given |= {"diffserv": node_spec(diffserv, f"{name}: diffserv")}
        self._register(router, {"profile": resolve(profile), "rsvp": rsvp_options(name, rsvp), **given})
        return router

    def edge(self, name: str, rsvp: dict[str, Any]) -> Edge:
        """See `twinplane.Network.edge`."""
        edge = Edge(self._owner, name, self._next)
        given = router_id(name, rsvp.pop("router_id", None))
        self._register(edge, {"rsvp": rsvp_options(name, rsvp), "programme": edge.steps, **given})
        return edge

    def peer(self, name: str) -> Peer:
        """See `twinplane.Network.peer`."""
        peer = Peer(self._owner, name, self._next)
        self._register(peer, {})
        return peer

    def host(self, name: str, address: str | None, gateway: str | None, beyond: Interface | None) -> Host:
        """See `twinplane.Network.host`; in real time a real host is `beyond` that interface."""
        own = None if address is None else interface_address(address, name)
        fields: dict[str, Any] = {} if own is None else {"address": own}
        if gateway is not None:
            fields["gateway"] = ipv4(gateway, f"{name}: gateway")
        host = Host(self._owner, name, self._next, None if own is None else own.partition("/")[0])
        self._register(host, fields)
        if beyond is not None:
            self._outside.host_interfaces[host.index] = beyond
        return host

    def external(self, name: str, given: str | None) -> External:
        """See `twinplane.Network.external`."""
        external = External(self._owner, name, self._next)
        self._register(external, router_id(name, given))
        return external

    def link(
        self,
        x: Node | str,
        y: Node | str,
        rate: Quantity,
        delay: Quantity,
        *,
        reservable: Quantity | None = None,
        buffer: Quantity | None = None,
        mtu: int | None = None,
        detection: Quantity = 0,
        metric: int = 1,
        clock_ppm: tuple[float, float] = (0.0, 0.0),
        addresses: tuple[str, str] | None = None,
        queue: Any = None,
        ingress: Any = None,
    ) -> Link:
        """See `twinplane.Network.link`; a link whose queues are refused is not added."""
        draft = self._draft
        a, b = draft.node(x), draft.node(y)
        what = f"link {a.name} - {b.name}"
        self._engine.require_unstarted(what)
        if a is b:
            raise TwinplaneError(f"{what}: the two ends are the same node")
        if units.rate_bps(rate) == 0:
            raise TwinplaneError(f"{what}: its rate is zero")
        link = Link(self._owner, len(draft.links), a, b)
        spec = {
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
            "addresses": None if addresses is None else [interface_address(text, what) for text in addresses],
        }
        if queue is not None or ingress is not None:
            attach(draft, link, queue, ingress)
        draft.links.append(link)
        draft.description.links.append(spec)
        return link

    def place(
        self, node: Node | str, towards: Link | Node | str, queue: Any = None, ingress: Any = None
    ) -> Link:
        """See `twinplane.Network.place`."""
        here = self._draft.node(node)
        link = self._draft.link_at(here, towards, f"{here.name}: place")
        self._engine.require_unstarted(f"what stands at {here.name} on {link}")
        attach(
            self._draft,
            link,
            None if queue is None else {here: queue},
            None if ingress is None else {here: ingress},
        )
        return link

    def flow(
        self,
        a: Node | str,
        c: Node | str,
        over: Lsp | None,
        rate: Quantity,
        size: Sizes,
        arrivals: Arrivals,
        dscp: str | int,
        *,
        start: Quantity,
        stop: Quantity | None,
        trace: bool,
        name: str | None,
        rate_counts: str,
        log: bool,
        from_link: Link | Node | str | None,
        to_link: Link | Node | str | None,
        src_port: int | None,
        dst_port: int | None,
    ) -> Flow:
        """See `twinplane.Network.flow`; a flow may be added to a network that runs."""
        source, sink = self._draft.node(a), self._draft.node(c)
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
                spec[key] = self._draft.link_at(node, end, f"{what}: {key}").index
        for key, number in (("src_port", src_port), ("dst_port", dst_port)):
            if number is not None:
                spec[key] = udp_port(number, f"{what}: {key}")
        if stop is not None and spec["stop_ps"] <= spec["start_ps"]:
            raise TwinplaneError(f"{what}: stop={stop!r} is not after start={start!r}: it would send nothing")
        flow = Flow(self._owner, len(self._draft.flows), label, log)
        if self._engine.started:
            with core.translated():
                flow.index = self._engine.running().add_flow(json.dumps(spec))
        else:
            self._engine.require_unstarted(what)
            self._draft.description.flows.append(spec)
        self._draft.flows.append(flow)
        return flow
