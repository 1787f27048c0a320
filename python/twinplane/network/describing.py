"""What calls say of nodes, links and flows, as a file would say it: the core reads and checks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError
from ..model.written import plain
from ..units import Quantity
from . import memory, tls_files
from .attachments import Interface
from .handles import Flow, Link, Lsp, Node, Owner, TcpFlow
from .nodes import AtmLsr, AtmSwitch, Bridge, Edge, External, Host, Peer, Router, Switch, handle
from .settings import check_name
from .trees import at_ends, each_end

if TYPE_CHECKING:
    from ..model.arrivals import Arrivals, Sizes
    from .draft import Draft
    from .engine import Engine
    from .handles import Hop
    from .outside import Outside

RSVP = {"hello_interval": "hello", "rsvp_key": "key", "rsvp_key_id": "key_id", "rsvp_handshake": "handshake"}
"""Options of `Network.router` that have another name among those of RSVP-TE in a file."""


@cache
def _own_fields() -> frozenset[str]:
    """The fields of routers in network files: what else is said of a router belongs to RSVP-TE.

    Those that have an argument of their own are left out, and RSVP-TE itself: its options are named singly.
    """
    from ..model.generated import RouterSpec

    return frozenset(RouterSpec.__dataclass_fields__) - {"profile", "diffserv", "rsvp"}


def given(**fields: Any) -> dict[str, Any]:
    """The fields that are not left out."""
    return {key: value for key, value in fields.items() if value is not None}


def rsvp(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of RSVP-TE by the names that they have in a file."""
    found = given(**{RSVP.get(key, key): value for key, value in options.items()})
    if isinstance(secret := found.get("key"), bytes):
        found["key"] = secret.decode(errors="backslashreplace")
    return found


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

    def _register(self, node: Node, **said: Any) -> None:
        self._engine.require_unstarted(f"{node.kind} '{node.name}'")
        if not self._draft.any_name:
            check_name(node.name)
        self._draft.add_node(node, given(**said))

    def router(self, name: str, profile: Any, diffserv: Any, options: dict[str, Any]) -> Router:
        """See `twinplane.Network.router`; `options` are those of RSVP-TE, and what else is named there."""
        router = Router(self._owner, name, self._next)
        beside = {key: plain(options.pop(key)) for key in _own_fields() if key in options}
        self._register(
            router,
            profile=profiled(profile),
            diffserv=diffserv,
            **beside,
            rsvp=rsvp(options),
        )
        return router

    def protocol(self, name: str, routers: Sequence[Node | str], settings: Any) -> None:
        """Has routers speak a protocol: see `twinplane.Network.ospf` and `twinplane.Network.ldp`."""
        draft = self._draft
        self._engine.require_unstarted(name)
        chosen = [draft.node(router, f"{name}:") for router in routers]
        if other := next((node for node in chosen if not isinstance(node, Router)), None):
            raise TwinplaneError(f"node '{other.name}': {name}: it is no router of ours")
        said = plain(settings)
        if not (found := chosen or [node for node in draft.nodes if isinstance(node, Router)]):
            self._check_protocol(name, said)
        for node in found:
            draft.change_node(node, {name: said})

    def _check_protocol(self, protocol: str, settings: Any) -> None:
        """Refuse wrong settings though there is no router that would have them."""
        name = "router"
        try:
            with core.translated():
                core.draft({"name": name}).add_node(name, {"kind": "router", protocol: settings})
        except TwinplaneError as error:
            raise error.told(str(error).removeprefix(f"node '{name}': ")) from None

    def route(self, router: Node | str, prefix: str, via: Hop | Sequence[Hop]) -> None:
        """See `twinplane.Network.route`."""
        draft = self._draft
        node = draft.node(router)
        self._engine.require_unstarted(f"a route of {node.name}")
        several = list(via) if isinstance(via, Iterable) and not isinstance(via, str) else [via]
        for hop in several:
            if not isinstance(hop, str | Node | Link):
                raise TwinplaneError(f"node '{node.name}': routes: {hop!r}, no node has that name")
        draft.extend_node(node, "routes", {"prefix": prefix, "via": draft.hops(several)})

    def edge(self, name: str, options: dict[str, Any]) -> Edge:
        """See `twinplane.Network.edge`."""
        edge = Edge(self._owner, name, self._next)
        router_id = options.pop("router_id", None)
        self._register(edge, router_id=router_id, rsvp=rsvp(options))
        return edge

    def peer(self, name: str) -> Peer:
        """See `twinplane.Network.peer`."""
        peer = Peer(self._owner, name, self._next)
        self._register(peer)
        return peer

    def bridge(self, name: str, prefix: str, ageing: Quantity | None) -> Bridge:
        """See `twinplane.Network.bridge`."""
        bridge = Bridge(self._owner, name, self._next)
        self._register(bridge, prefix=prefix, ageing=ageing)
        return bridge

    def switch(self, name: str, prefix: str, said: dict[str, Any]) -> Switch:
        """See `twinplane.Network.switch`."""
        switch = Switch(self._owner, name, self._next)
        if said.get("profile") is not None:
            said = {**said, "profile": switch_profile(said["profile"])}
        if said.get("tls") is not None:
            try:
                said = {**said, "tls": tls_files.looked_at(said["tls"], Path.cwd())}
            except TwinplaneError as error:
                raise error.told(f"node '{name}': {error}") from None
        self._register(switch, prefix=prefix, **said)
        return switch

    def openflow_tester(self, name: str, said: dict[str, Any]) -> Node:
        """See `twinplane.Network.openflow_tester`."""
        tester = handle(self._owner, name, self._next, "openflow-tester")
        self._register(tester, **said)
        return tester

    def atm_switch(self, name: str, said: dict[str, Any]) -> AtmSwitch:
        """See `twinplane.Network.atm_switch`."""
        switch = AtmSwitch(self._owner, name, self._next)
        self._register(switch, **said)
        return switch

    def atm_lsr(self, name: str, said: dict[str, Any]) -> AtmLsr:
        """See `twinplane.Network.atm_lsr`."""
        lsr = AtmLsr(self._owner, name, self._next)
        self._register(lsr, **said)
        return lsr

    def pvc(self, x: Node | str, y: Node | str, circuit: dict[str, Any], ingress: Any, **said: Any) -> Link:
        """See `twinplane.Network.pvc`."""
        circuit["through"] = [self._draft.node(node).name for node in circuit["through"]]
        return self.link(x, y, None, ingress, pvc=given(**circuit), **said)

    def vp(self, x: Node | str, y: Node | str, path: dict[str, Any], **said: Any) -> Link:
        """See `twinplane.Network.vp`."""
        path["through"] = [self._draft.node(node).name for node in path["through"]]
        return self.link(x, y, None, None, vp=given(**path), **said)

    def host(
        self,
        name: str,
        address: str | None,
        gateway: str | None,
        beyond: Interface | None,
        join: Sequence[str] = (),
        profile: str | Path | Mapping[str, Any] | None = None,
        tcp: Mapping[str, Any] | None = None,
    ) -> Host:
        """See `twinplane.Network.host`; in real time a real host is `beyond` that interface."""
        host = Host(self._owner, name, self._next, None if address is None else address.partition("/")[0])
        behaves = None if profile is None else host_profile(profile)
        said = {"join": list(join) or None, "profile": behaves, "tcp": tcp}
        self._register(host, address=address, gateway=gateway, **said)
        if beyond is not None:
            self._outside.host_interfaces[host.index] = beyond
        return host

    def external(self, name: str, router_id: str | None) -> External:
        """See `twinplane.Network.external`."""
        external = External(self._owner, name, self._next)
        self._register(external, router_id=router_id)
        return external

    def link(self, x: Node | str, y: Node | str, queue: Any, ingress: Any, **said: Any) -> Link:
        """See `twinplane.Network.link`; a link whose queues are refused is not added."""
        draft = self._draft
        a, b = draft.node(x), draft.node(y)
        link = Link(self._owner, len(draft.links), a, b)
        self._engine.require_unstarted(f"link {a.name} - {b.name}")
        ends = at_ends(link, queue, ingress)
        with core.translated():
            draft.core.add_link({"endpoints": [a.name, b.name], **given(**said), **ends})
        draft.links.append(link)
        memory.check_growing(draft)
        return link

    def place(
        self, node: Node | str, towards: Link | Node | str, queue: Any = None, ingress: Any = None
    ) -> Link:
        """See `twinplane.Network.place`."""
        here = self._draft.node(node)
        link = self._draft.link_at(here, towards, f"{here.name}: place")
        self._engine.require_unstarted(f"what stands at {here.name} on {link}")
        said = at_ends(
            link,
            None if queue is None else {here: queue},
            None if ingress is None else {here: ingress},
        )
        before = self._draft.element("links", link.index)
        self._draft.change_link(
            link, {key: {**each_end(link, before.get(key)), **ends} for key, ends in said.items()}
        )
        return link

    def flow(
        self,
        a: Node | str,
        c: Node | str,
        over: Lsp | str | None,
        rate: Quantity,
        size: Sizes,
        arrivals: Arrivals,
        *,
        name: str | None,
        from_link: Link | Node | str | None,
        to_link: Link | Node | str | None,
        receivers: Sequence[Node | str] = (),
        **said: Any,
    ) -> Flow:
        """See `twinplane.Network.flow`; a flow may be added to a network that runs."""
        draft = self._draft
        asked = name or f"{_called(a)}-{_called(c)}"
        source, sink = draft.node(a, f"flow '{asked}': from:"), draft.node(c, f"flow '{asked}': to:")
        label = self._flow_name(name, f"{source.name}-{sink.name}")
        what = f"flow '{label}'"
        ends = {
            key: draft.end_of(node, end, f"{what}: {key}")
            for key, node, end in (("from_link", source, from_link), ("to_link", sink, to_link))
            if end is not None
        }
        spec: dict[str, Any] = {
            "name": label,
            "from": source.name,
            "to": sink.name,
            **given(over=self._over(what, over), rate=rate, size=size, arrivals=arrivals, **said),
            **ends,
        }
        if receivers:
            spec["receivers"] = [draft.node(node, f"{what}: receivers:").name for node in receivers]
        flow = Flow(
            self._owner,
            len(draft.flows),
            label,
            (source.index, sink.index),
            routed=over is None and said.get("group") is None,
            logged=bool(said.get("log")),
        )
        if not self._engine.started:
            self._engine.require_unstarted(what)
        with core.translated():
            draft.core.add_flow(spec)
        try:
            self._check_ends(what, over, source, sink)
            if self._engine.started:
                with core.translated():
                    flow.index = self._engine.running().add_flow(spec)
        except TwinplaneError:
            draft.core.keep_flows(len(draft.flows))  # what is refused leaves nothing behind
            raise
        draft.note_flow(flow)
        return flow

    def tcp(
        self,
        a: Node | str,
        c: Node | str,
        *,
        name: str | None,
        from_link: Link | Node | str | None,
        to_link: Link | Node | str | None,
        **said: Any,
    ) -> TcpFlow:
        """See `twinplane.Network.tcp`; a flow may be added to a network that runs."""
        draft = self._draft
        asked = name or f"{_called(a)}-{_called(c)}"
        source = draft.node(a, f"tcp flow '{asked}': from:")
        sink = draft.node(c, f"tcp flow '{asked}': to:")
        label = draft.unused_tcp(f"{source.name}-{sink.name}") if name is None else str(name)
        what = f"tcp flow '{label}'"
        if any(label == flow.name for flow in draft.tcp):
            raise TwinplaneError(f"{what}: name: '{label}' is given twice")
        ends = {
            key: draft.end_of(node, end, f"{what}: {key}")
            for key, node, end in (("from_link", source, from_link), ("to_link", sink, to_link))
            if end is not None
        }
        spec = {"name": label, "from": source.name, "to": sink.name, **given(**said), **ends}
        flow = TcpFlow(self._owner, len(draft.tcp), label)
        if not self._engine.started:
            self._engine.require_unstarted(what)
        with core.translated():
            draft.core.add_tcp(spec)
        if self._engine.started:
            try:
                with core.translated():
                    flow.index = self._engine.running().add_tcp(spec)
            except TwinplaneError:
                draft.core.keep_tcp(len(draft.tcp))  # what is refused leaves nothing behind
                raise
        draft.tcp.append(flow)
        return flow

    def remove(self, what: Flow | Lsp) -> None:
        """See `twinplane.Network.remove`."""
        draft = self._draft
        if not isinstance(what, Flow | Lsp):
            raise TwinplaneError(f"remove: {what!r} is neither a flow nor an LSP")
        kind = "flow" if isinstance(what, Flow) else "lsp"
        if what not in (draft.flows if isinstance(what, Flow) else draft.lsps):
            raise TwinplaneError(f"{kind} '{what.name}': it does not belong to this network, or was removed")
        if self._engine.started:
            raise TwinplaneError(f"{kind} '{what.name}' has to be removed before the network first runs")
        for flow in draft.flows if isinstance(what, Lsp) else ():
            if draft.element("flows", flow.index).get("over") == what.name:
                raise TwinplaneError(f"lsp '{what.name}': flow '{flow.name}' goes over it")
        for node in draft.nodes if isinstance(what, Lsp) else ():
            steps = draft.element("nodes", node.index).get("programme") or []
            if any(step["lsps"] == what.name for step in steps):
                raise TwinplaneError(f"lsp '{what.name}': it is in the programme of '{node.name}'")
        self._engine.require_unstarted(what.name)
        draft.remove(what)

    def _flow_name(self, name: object, ends: str) -> str:
        """The name of a flow: its own, or that of its ends, with a number if there are several."""
        if name is None:
            return self._draft.unused_label(ends)
        if str(name) in self._draft.labels:
            raise TwinplaneError(f"flow '{name}': name: '{name}' is given twice")
        return str(name)

    def _over(self, what: str, over: Lsp | str | None) -> str | None:
        """The name of the LSPs that a flow goes over, which the core looks up."""
        if isinstance(over, Lsp):
            if over.owner is not self._owner:
                raise TwinplaneError(f"{what}: over: {over.name}: it belongs to another network")
            return over.name
        if over is not None and not isinstance(over, str):
            raise TwinplaneError(f"{what}: over: {over!r}, no LSP has that name")
        return over

    def _check_ends(self, what: str, over: Lsp | str | None, source: Node, sink: Node) -> None:
        """Refuse a flow over an LSP that begins or ends elsewhere."""
        if over is None:
            return
        name = over if isinstance(over, str) else over.name
        (spec,) = (lsp.spec for lsp in self._draft.lsps if lsp.name == name)
        if (spec["from"], spec["to"]) != (source.name, sink.name):
            raise TwinplaneError(f"{what}: its LSP goes from '{spec['from']}' to '{spec['to']}'")


def _called(end: Node | str) -> str:
    return end.name if isinstance(end, Node) else str(end)


def host_profile(profile: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A host profile as the core takes it: what it says."""
    from ..profiles.hosts import resolve

    return resolve(profile)


def switch_profile(profile: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A switch profile as the core takes it: what it says."""
    from ..profiles.switches import resolve

    return {key: value for key, value in resolve(profile).items() if key != "fit"}


def profiled(profile: str | Path | Mapping[str, Any]) -> str | dict[str, Any]:
    """A device profile as the core takes it: what it says, but for the one that says nothing."""
    from ..profiles import resolve

    return "ideal" if profile == "ideal" else resolve(profile)
