"""From a checked network file to the description that every runner takes, and to what only a lab needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .. import units
from ..errors import TwinplaneError
from ..filters import filter_spec
from ..model import generated as model
from ..model import network_file, reading, source
from ..model.places import in_file
from ..model.source import NetworkFileError, Place, Source
from ..model.written import Written, plain
from . import classes, file_flows
from .handles import Link
from .network import Network
from .nodes import Edge, HeadEnd, Node

TESTER_LSPS_PER_S = 1000.0
"""So many LSPs a tester signals when it begins."""

RESERVABLE_WITHOUT_RATE = 10_000_000_000
"""What a veth says its speed is."""


@dataclass(frozen=True)
class End:
    """Where a link meets a node."""

    node: str
    interface: str

    @classmethod
    def of(cls, written: str) -> End:
        """From ``NODE:INTERFACE``."""
        node, _, interface = written.partition(":")
        return cls(node, interface)


@dataclass
class Extras:
    """What a lab needs to know beside the description, for nodes by name and links by place."""

    ends: list[tuple[End, End]] = field(default_factory=list)
    drivers: list[str | None] = field(default_factory=list)
    nodes: dict[str, model.NodeSpec] = field(default_factory=dict)


@dataclass(frozen=True)
class Lowered:
    """A lab, ready to be planned."""

    name: str
    description: dict[str, Any]
    extras: Extras
    network: Network
    source: Source | None = None

    def error(self, error: TwinplaneError) -> TwinplaneError:
        """The same error with the line of what it is about, or with the name of a lab that is in no file."""
        if self.source is None:
            return error.told(f"lab '{self.name}': {error}")
        return in_file(error, self.source)


def lower(path: Path) -> Lowered:
    """Read a network file and lower it."""
    return of_source(source.read(path))


def of_source(found: Source) -> Lowered:
    """Lower what was read."""
    lab, checked = network_file.checked(found)
    return Lowering(lab, checked, Network(seed=lab.seed)).lowered()


class Lowering:
    """Puts what a file says into a network that is empty yet."""

    def __init__(self, lab: model.NetworkSpec, found: Source, network: Network) -> None:
        self.lab, self.source, self.network = lab, found, network
        self.extras = Extras(nodes=dict(lab.nodes))
        self.extras.ends = [(End.of(link.endpoints[0]), End.of(link.endpoints[1])) for link in lab.links]
        self.network.draft.explain = lambda error: in_file(error, found)
        self.classes = classes.Classes(lab, found, self.network)

    def lowered(self) -> Lowered:
        """All of it, once."""
        for name, node in self.lab.nodes.items():
            with self.at("nodes", name):
                self.add_node(name, node)
        self.network.draft.interface_names = [
            (f"{a.node}:{a.interface}", f"{b.node}:{b.interface}") for a, b in self.extras.ends
        ]
        for index, link in enumerate(self.lab.links):
            with self.at("links", index):
                self.add_link(index, link)
        self.check_degrees()
        for index, lsp in enumerate(self.lab.lsps):
            with self.at("lsps", index):
                self.add_lsp(index, lsp)
        for index, flow in enumerate(self.lab.flows):
            file_flows.add(self, index, flow)
        try:
            described = self.network.lowered()
        except TwinplaneError as error:
            raise in_file(error, self.source) from None
        self.network.draft.asides += self.classes.unused()
        return Lowered(self.lab.name, described, self.extras, self.network, self.source)

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """Give errors the line of a value."""
        try:
            yield
        except NetworkFileError:
            raise
        except TwinplaneError as error:
            raise self.source.error(place, str(error)) from None

    def error(self, place: Place, text: str) -> NetworkFileError:
        """An error at a place, which says what it belongs to."""
        return self.source.error(place, f"{reading.whose(self.source.data, place)}{text}")

    def line(self, node: str) -> int:
        """Where a node is."""
        return self.source.line(("nodes", node))

    # -- nodes ----------------------------------------------------------------------------------------

    def add_node(self, name: str, node: model.NodeSpec) -> None:
        """Add a node."""
        if isinstance(node, model.RouterSpec):
            profile = node.profile
            if profile.endswith(".toml"):
                profile = str(self.source.path.parent / profile)
            with self.at("nodes", name, "profile"):
                try:
                    self.network.router(
                        name,
                        profile,
                        diffserv=plain(node.diffserv),
                        router_id=node.router_id,
                        **rsvp_options(node.rsvp),
                    )
                except TwinplaneError as error:
                    raise TwinplaneError(f"node '{name}': {error}") from None
        elif isinstance(node, model.EdgeSpec):
            self.network.edge(name, router_id=node.router_id, **rsvp_options(node.rsvp))
        elif isinstance(node, model.HostSpec):
            self.network.host(name, node.address, node.gateway)
        elif isinstance(node, model.StationSpec):
            self.network.host(name)
        elif isinstance(node, model.ExternalSpec):
            self.network.external(name, node.router_id)
        else:
            self.network.peer(name)

    # -- links ----------------------------------------------------------------------------------------

    def add_link(self, index: int, link: model.LinkSpec) -> None:
        """Add a link with what stands at its ends."""
        ends = self.extras.ends[index]
        nodes = [self.lab.nodes[end.node] for end in ends]
        hosts = [node for node in nodes if isinstance(node, model.HostSpec)]
        if not any(isinstance(node, model.RouterSpec) for node in nodes):
            raise self.error(("links", index), "one of its ends has to be a router")
        if hosts and None not in (hosts[0].mtu, link.mtu) and hosts[0].mtu != link.mtu:
            raise self.error(
                ("links", index), f"mtu={link.mtu}: the host at its end says {hosts[0].mtu}: one of the two"
            )
        for end, node in zip(ends, nodes, strict=True):
            if isinstance(node, model.StationSpec) and link.addresses is None:
                raise self.error(
                    ("links", index),
                    f"'{end.node}' is a station: addresses are needed, of both ends in their"
                    " order, such as addresses: [10.1.0.2/24, 10.1.0.1/24]",
                )
        drivers = [
            node.driver
            for node in nodes
            if isinstance(node, model.RouterSpec | model.EdgeSpec | model.StationSpec)
        ]
        default = (
            network_file.MTU_XDP
            if "xdp" in ([link.driver] if link.driver else drivers)
            else network_file.MTU_DEFAULT
        )
        if hosts:
            default = hosts[0].mtu or network_file.MTU_HOST
        rate = 0 if link.rate == "none" else units.rate_bps(link.rate)
        reservable: Any = link.reservable
        if reservable is None and not rate:
            reservable = RESERVABLE_WITHOUT_RATE
        self.network.link(
            ends[0].node,
            ends[1].node,
            rate=rate or 1,
            delay=link.delay,
            reservable=reservable,
            buffer=link.buffer,
            mtu=link.mtu or default,
            metric=link.metric,
            addresses=None if link.addresses is None else (link.addresses[0], link.addresses[1]),
            detection=link.detection,
            clock_ppm=(link.clock_ppm[0], link.clock_ppm[1]),
        )
        self.classes.add(index, (ends[0].node, ends[1].node), link)
        self.network.description.links[-1] |= {
            "rate_bps": rate,
            "mtu_said": bool(link.mtu or (hosts and hosts[0].mtu)),
        }
        self.extras.drivers.append(link.driver)

    def check_degrees(self) -> None:
        """Refuse nodes with more links than their kind has, or fewer."""
        for name, node in self.lab.nodes.items():
            count = sum(name in (a.node, b.node) for a, b in self.extras.ends)
            if isinstance(node, model.HostSpec | model.EdgeSpec) and count != 1:
                has = "no link" if count == 0 else f"{count} links"
                raise self.error(("nodes", name), f"it has {has}: {called(node)} has one, to a router")
            if isinstance(node, model.StationSpec) and count == 0:
                raise self.error(("nodes", name), "it has no link: a station has one or several, to routers")

    # -- LSPs -----------------------------------------------------------------------------------------

    def add_lsp(self, index: int, lsp: model.LspSpec) -> None:
        """Add an LSP."""
        what = f"lsp '{lsp.name}'"
        for key, name in (("from", lsp.from_), ("to", lsp.to)):
            with self.at("lsps", index, key):
                node = self.network.node(name, f"{what}: {key} says")
                if node.kind == "host" or (key == "from" and not isinstance(node, HeadEnd)):
                    raise TwinplaneError(
                        f"{what}: {key} says '{name}', which is of kind {kind_of(self.lab.nodes[name])}:"
                        " an LSP begins and ends at routers"
                    )
        tail = self.lab.nodes[lsp.to]
        if isinstance(tail, model.ExternalSpec) and tail.router_id is None:
            raise self.error(
                ("lsps", index),
                f"'{lsp.to}' is external: an LSP to it needs its router_id (line {self.line(lsp.to)})",
            )
        head = self.network.node(lsp.from_)
        assert isinstance(head, HeadEnd)
        routes = {}
        for key, hops in (("route", lsp.route), ("fallback", lsp.fallback)):
            with self.at("lsps", index, key):
                routes[key] = [self.hop(what, key, hop) for hop in hops]
                if hops:
                    self.network.draft.route(
                        head, routes[key], what, tail=self.network.node(lsp.to), loose=lsp.loose
                    )
        made = head.lsp(
            lsp.name,
            to=lsp.to,
            route=routes["route"],
            bandwidth=lsp.bandwidth,
            fallback=routes["fallback"],
            count=lsp.count,
            loose=lsp.loose,
            setup_priority=lsp.setup_priority,
            holding_priority=lsp.holding_priority,
            style=lsp.style,
            record_route=lsp.record_route,
            record_labels=lsp.record_labels,
            signal=lsp.signal,
            retry_first=lsp.retry_first,
            retry_max=lsp.retry_max,
            retry_limit=lsp.retry_limit,
            carries=lsp.carries or (),
            filters=[self.filter(what, index, place, one) for place, one in enumerate(lsp.filters)],
            diffserv=plain(lsp.diffserv),
            classes=() if lsp.classes is None else lsp.classes,
        )
        if isinstance(head, Edge) and lsp.signal:  # a router does so by itself
            head.programme(0, "signal", made, TESTER_LSPS_PER_S)

    def hop(self, what: str, key: str, hop: Any) -> Node | Link:
        """A hop: a node, or the link that leads to an interface of a node."""
        if isinstance(hop, dict):
            return self.network.links[hop["link"]]
        return self.network.node(hop, f"{what}: {key} says")

    def filter(self, what: str, index: int, place: int, given: model.FilterSpec) -> dict[str, Any]:
        """A filter, checked here for its line."""
        with self.at("lsps", index, "filters", place):
            return filter_spec(said(given), what)


def said(given: Written) -> dict[str, Any]:
    """The fields of a record that are not absent."""
    found = {entry.name: getattr(given, entry.name) for entry in fields(given)}
    return {key: value for key, value in found.items() if value is not None}


def kind_of(node: model.NodeSpec) -> str:
    """The word of its kind."""
    return "" if node.WORD is None else node.WORD[1]


def called(node: model.NodeSpec) -> str:
    """Its kind, in a sentence."""
    kind = kind_of(node)
    return f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"


HELLO = "9 s"
"""Interval of Hellos in networks of files: by them neighbours notice a router that lost its state."""


def rsvp_options(given: model.RsvpSpec) -> dict[str, Any]:
    """Signalling options as `Network.router` takes them."""
    names = {
        "hello": "hello_interval",
        "key": "rsvp_key",
        "key_id": "rsvp_key_id",
        "handshake": "rsvp_handshake",
    }
    found = {"hello": HELLO, **said(given)}
    if given.key is None:
        found = {key: value for key, value in found.items() if key not in ("key_id", "handshake")}
    return {names.get(key, key): value for key, value in found.items() if (key, value) != ("hello", "none")}
