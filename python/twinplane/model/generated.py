"""The description of a network as typed Python.

Generated from the core by `python -m twinplane.model.generate`.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from ..units import Quantity
from .written import Written


@dataclass(frozen=True, kw_only=True)
class NetworkSpec(Written):
    """A network: nodes, links, queues, LSPs and flows."""

    name: str
    """Its namespaces are called tp-NAME-NODE."""
    seed: int = 1
    """Seed of all random streams."""
    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    """Nodes by name; the order counts for addresses."""
    links: list[LinkSpec] = field(default_factory=list)
    """All links; the order counts for ports and addresses."""
    lsps: list[LspSpec] = field(default_factory=list)
    """Signalled when the network comes up."""
    flows: list[FlowSpec] = field(default_factory=list)
    """Measured traffic, for `twinplane run FILE`; a lab that is up has none."""
    queues: dict[str, Any] = field(default_factory=dict)
    """Trees of queue disciplines, by name, for `queue` of links."""
    conditioners: dict[str, Any] = field(default_factory=dict)
    """Meters and markers, by name, for `ingress` of links and for trees."""
    topology: Topology | None = None
    """Nodes and links, as containerlab has them, instead of those above."""


@dataclass(frozen=True, kw_only=True)
class LinkSpec(Written):
    """A link between two nodes."""

    endpoints: list[str]
    """The two ends, each NODE, or NODE:INTERFACE."""
    rate: str | Quantity = "none"
    """Rate of both ports, or none: as fast as the interfaces are."""
    delay: Quantity = 0
    """Propagation delay."""
    mtu: int | None = None
    """Longest packet in bytes, labels included [default: 9216; with driver xdp 3498; of a host's link 1500]."""
    buffer: Quantity | None = None
    """Buffer of both ports [default: that of the devices' profiles]."""
    metric: int = 1
    """Cost for shortest paths."""
    reservable: Quantity | None = None
    """Bandwidth that LSPs may reserve, each way [default: the rate; without one, 10 Gbit/s]."""
    detection: Quantity = 0
    """Time until the devices notice that the link went down or came up."""
    clock_ppm: list[float] = field(default_factory=list)
    """How much faster than nominal the clocks of both ports run, in parts per million, beside the devices' own offsets."""
    driver: Literal["packet", "xdp"] | None = None
    """How routers open it in a lab [default: as the router says]."""
    addresses: list[str] | None = None
    """Addresses of both ends [default: given by the network]."""
    queue: Any = None
    """What waits in front of it: a tree under `queues` by its name, or one itself, at both ends or by end, as in `{pe1: gold}` [default: one queue of the port's buffer]."""
    ingress: Any = None
    """Meters and markers for what arrives by it: under `conditioners`, in the same way [default: nothing is metered]."""
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class LspSpec(Written):
    """A label-switched path from one router to another, or a group of them that differ only by number."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    name: str
    """Its name; in a group each has its number behind, from 1 on."""
    from_: str
    """Router where it begins."""
    to: str
    """Router where it ends."""
    count: int = 1
    """How many alike."""
    route: list[str] = field(default_factory=list)
    """Routers after the first, each the next one on the way; NODE:INTERFACE if links are parallel [default: routers decide hop by hop]."""
    fallback: list[str] = field(default_factory=list)
    """Route that is tried when the other fails [default: none]."""
    loose: bool = False
    """Other routers may be between those of the routes."""
    shortest: bool = False
    """Take the shortest path as explicit route, after those that are said."""
    bandwidth: Quantity = 0
    """Bandwidth to reserve for each."""
    carries: str | list[str] | None = None
    """Destinations whose packets take it, one prefix or several [default: its test packets only]."""
    filters: list[FilterSpec] = field(default_factory=list)
    """Packets that take it wherever they go."""
    classes: str | int | list[str | int] | None = None
    """Per-hop behaviours whose packets take it on their way to `carries` [default: all]."""
    diffserv: Any = None
    """`e-lsp`, `l-lsp AF1`, or more of it (RFC 3270) [default: nothing is signalled of classes]."""
    setup_priority: int = 7
    """Setup priority (RFC 3209, 4.7): 0 is the highest."""
    holding_priority: int | None = None
    """Holding priority: 0 is the highest [default: the setup priority]."""
    style: Literal["fixed-filter", "shared-explicit"] = "shared-explicit"
    """Reservation style."""
    record_route: bool = True
    """Record the route (RFC 3209, 4.4)."""
    record_labels: bool = False
    """Record the labels, too."""
    retry_first: Quantity = "1 s"
    """Time before the first retry after a failure; it doubles with each up to `retry_max`."""
    retry_max: Quantity = "60 s"
    """Longest time between retries."""
    retry_limit: int | None = None
    """How many retries [default: without limit]."""
    signal: bool = True
    """Signal it at once; an edge leaves it to its programme."""


@dataclass(frozen=True, kw_only=True)
class FilterSpec(Written):
    """Packets, by the fields of their headers; what is not said may be anything."""

    src: str | None = None
    """Source addresses."""
    dst: str | None = None
    """Destination addresses."""
    protocol: str | int | None = None
    """IP protocol: tcp, udp, icmp and so on, or its number."""
    src_ports: int | str | list[int] | None = None
    """Source port, or first-last."""
    dst_ports: int | str | list[int] | None = None
    """Destination port, or first-last."""
    dscp: str | int | None = None
    """Code point, by name or number."""


@dataclass(frozen=True, kw_only=True)
class Topology(Written):
    """Nodes and links where containerlab has them."""

    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    """By name."""
    links: list[LinkSpec] = field(default_factory=list)
    """All links."""


@dataclass(frozen=True, kw_only=True)
class RouterSpec(Written):
    """A Twinplane router: in a lab a process in a network namespace whose kernel stays silent."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "router")
    profile: str = "ideal"
    """Device profile, by name or by file (*.toml)."""
    rsvp: RsvpSpec = field(default_factory=lambda: RsvpSpec())
    """Its signalling."""
    diffserv: Any = None
    """DiffServ over MPLS (RFC 3270): true, or how [default: traffic classes are copied]."""
    router_id: str | None = None
    """Router id [default: given by the network]."""
    log_signals: int = 0
    """How many signalling messages are kept for table `signals`."""
    driver: Literal["packet", "xdp"] | None = None
    """How it opens its interfaces in a lab [default: packet]."""
    offload: bool | None = None
    """Take large segments and unfinished checksums of the kernel's [default: with driver packet]."""
    record: str | None = None
    """File to which all of its inputs are recorded, beside this one."""
    cpu: int | None = None
    """Keep the process on this processor."""
    busy: bool = False
    """Poll without sleeping: a processor of its own is used up."""
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class RsvpSpec(Written):
    """Signalling of a router."""

    refresh: Quantity | None = None
    """Refresh period R (RFC 2205, 3.7) [default: 30 s]."""
    hello: str | Quantity | None = None
    """Interval of Hellos (RFC 3209, 5), or `none`: by them neighbours see at once that a router came back without its state [default: 9 s in a lab, else none]."""
    refresh_reduction: bool = False
    """Summary refresh and message ids (RFC 2961)."""
    setup_timeout: Quantity | None = None
    """How long a head end waits for the first Resv [default: 90 s]."""
    egress_label: Literal["real", "implicit-null", "explicit-null"] = "real"
    """Which label it asks for where an LSP ends."""
    ttl: Literal["uniform", "pipe", "short-pipe"] = "uniform"
    """TTL model (RFC 3443)."""
    key: str | None = None
    """Secret of INTEGRITY objects (RFC 2747) on all interfaces, as text [default: no INTEGRITY objects]."""
    key_id: int = 0
    """Number of that key, 48 bits (RFC 2747, 2)."""
    handshake: bool = False
    """Ask senders for their sequence number before believing one (RFC 2747, 4.3)."""


@dataclass(frozen=True, kw_only=True)
class HostSpec(Written):
    """An IP host, on one link to a router: in a lab a network namespace with the kernel's own stack."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "host")
    address: str
    """Its address with the prefix length."""
    gateway: str | None = None
    """The router's address [default: the first of the prefix]."""
    mtu: int | None = None
    """Longest packet in bytes [default: 1500]."""
    exec: list[str] = field(default_factory=list)
    """Commands run in it, in order, when the lab is up."""
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class StationSpec(Written):
    """A namespace with bare interfaces for the measuring process, a host with several links."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "station")
    driver: Literal["packet", "xdp"] | None = None
    """How it opens its interfaces in a lab [default: packet]."""
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class EdgeSpec(Written):
    """The tester's emulated edge router, on one link: in a lab a namespace with a bare interface for the measuring process."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "edge")
    rsvp: RsvpSpec = field(default_factory=lambda: RsvpSpec())
    """Its signalling."""
    router_id: str | None = None
    """Router id [default: given by the network]."""
    driver: Literal["packet", "xdp"] | None = None
    """How the tester opens the interface in a lab [default: packet]."""
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class ExternalSpec(Written):
    """Somebody else's router beyond an interface that exists already, or beyond several."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "external")
    interface: str | None = None
    """The interface, used where it is [default: the one that the endpoint names]."""
    router_id: str | None = None
    """Its router id: an LSP to it needs one."""
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class PeerSpec(Written):
    """A raw port, on one link."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "peer")
    labels: dict[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@dataclass(frozen=True, kw_only=True)
class FlowSpec(Written):
    """A flow of test packets."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    name: str | None = None
    """Its name, of which there is one only [default: FROM-TO]."""
    from_: str
    """Where it begins: a host, a station, an edge, a router."""
    to: str
    """Where it ends."""
    over: str | None = None
    """LSP that it takes from where it begins [default: routers decide]."""
    rate: Quantity = "1 Mbit/s"
    """Rate of all its packets; of arrivals on-off while it is on."""
    rate_counts: Literal["frame", "ip"] = "frame"
    """Bytes that the rate counts: of Ethernet frames, or of the IP packets in them."""
    size: SizesSpec = 512
    """Frame with header and frame check sequence, in bytes: bytes, imix, or a mapping of kind uniform, empirical or exponential."""
    arrivals: ArrivalsSpec = "constant"
    """When packets are due: constant, poisson, or a mapping of kind on-off or trace."""
    dscp: str | int = "default"
    """Code point, by name or number."""
    src_port: int | None = None
    """UDP port that its packets come from [default: one from 49152 on, its own]."""
    dst_port: int | None = None
    """UDP port that they go to [default: 61614]."""
    start: Quantity = 0
    """When it starts."""
    stop: Quantity | None = None
    """When it stops [default: with the run]."""
    trace: bool = False
    """Packets write down the links that they cross."""
    log: bool = False
    """Keep every packet: table `packets`."""
    from_link: str | None = None
    """Link by which it leaves a node with several: the neighbour, or NODE:INTERFACE of either end [default: on the shortest path]."""
    to_link: str | None = None
    """Link at whose address it ends, in the same way [default: on the shortest path]."""


@dataclass(frozen=True, kw_only=True)
class UniformSizes(Written):
    """Sizes between two bounds, each equally often."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "uniform")
    min: Quantity
    """The least."""
    max: Quantity
    """The greatest."""


@dataclass(frozen=True, kw_only=True)
class EmpiricalSizes(Written):
    """Some sizes, each as often as its weight says."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "empirical")
    sizes: list[Quantity]
    """The sizes."""
    weights: list[float] = field(default_factory=list)
    """Their weights, in any unit [default: all the same]."""


@dataclass(frozen=True, kw_only=True)
class ExponentialSizes(Written):
    """Exponential sizes, cut at both ends."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "exponential")
    mean: Quantity
    """Mean before the cut."""
    min: Quantity = 64
    """What is shorter becomes that."""
    max: Quantity = 9018
    """What is longer becomes that."""


@dataclass(frozen=True, kw_only=True)
class OnOff(Written):
    """A source that is on and off in turn, at constant rate while it is on."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "on-off")
    on: PeriodSpec
    """How long it is on: a mean, or `{mean: 300 ms, kind: pareto, shape: 1.5}`."""
    off: PeriodSpec
    """How long it is off, in the same way."""
    rate_is_mean: bool = False
    """`rate` of the flow is the mean over both, not that while it is on."""


@dataclass(frozen=True, kw_only=True)
class PeriodSpec(Written):
    """How long a source is on or off."""

    mean: Quantity
    """Mean length."""
    kind: Literal["exponential", "pareto", "constant"] = "exponential"
    """Distribution of the lengths."""
    shape: float = 1.5
    """Of a Pareto distribution: the tail falls as the length to minus this; above 1."""


@dataclass(frozen=True, kw_only=True)
class Trace(Written):
    """Packets one by one, listed or from a capture."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "trace")
    gaps: list[Quantity] = field(default_factory=list)
    """Times from the packet before (of the first: from the start)."""
    sizes: list[Quantity] = field(default_factory=list)
    """Bytes of each frame [default: `size` of the flow]."""
    pcap: str | None = None
    """Capture (pcap, pcapng) that gives gaps and sizes, beside this file."""
    limit: int | None = None
    """Take so many frames of the capture at most."""
    repeat: bool = False
    """Begin again after the last."""


NodeSpec: TypeAlias = "RouterSpec | HostSpec | StationSpec | EdgeSpec | ExternalSpec | PeerSpec"
"""A node, by its kind."""


SizesSpec: TypeAlias = "UniformSizes | EmpiricalSizes | ExponentialSizes | Quantity | str"
"""Sizes that differ."""


ArrivalsSpec: TypeAlias = "OnOff | Trace | Literal['constant', 'poisson']"
"""Packets that are not evenly spaced by a rate alone."""
