"""The description of a network as typed Python.

Generated from the core by `python -m twinplane.model.generate`.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal, TypeAlias

from ..units import Quantity
from .written import Checked, Written, written


@written
class NetworkSpec(Written):
    """A network: nodes, links, queues, LSPs and flows."""

    name: str
    """Its namespaces are called tp-NAME-NODE."""
    seed: int = 1
    """Seed of all random streams."""
    nodes: Mapping[str, NodeSpec] = field(default_factory=dict)
    """Nodes by name; the order counts for addresses."""
    links: Sequence[LinkSpec] = field(default_factory=list)
    """All links; the order counts for ports and addresses."""
    lsps: Sequence[LspSpec] = field(default_factory=list)
    """Signalled when the network comes up."""
    p2mp: Sequence[P2mpSpec] = field(default_factory=list)
    """Point-to-multipoint LSPs, signalled in the same way."""
    flows: Sequence[FlowSpec] = field(default_factory=list)
    """Measured traffic, for `twinplane run FILE`; a lab that is up has none."""
    tcp: Sequence[TcpSpec] = field(default_factory=list)
    """Programs at two hosts that talk over TCP, in the same way."""
    events: Sequence[EventSpec] = field(default_factory=list)
    """What is done to the network while it runs, for `twinplane run FILE`; a lab that is up has none."""
    demands: DemandsSpec | None = None
    """Measured traffic by a matrix of rates between nodes, in the same way [default: there are none]."""
    queues: Mapping[str, Tree] = field(default_factory=dict)
    """Trees of queue disciplines, by name, for `queue` of links."""
    conditioners: Mapping[str, Conditioner] = field(default_factory=dict)
    """Meters and markers, by name, for `ingress` of links and for trees."""
    topology: Topology | None = None
    """Nodes and links, as containerlab has them, instead of those above."""
    queue_bin: Quantity | None = None
    """Width of the bins in which the backlog of every queue is kept over time, for table `queue_series` [default: none is kept]."""
    routes: RoutingSpec | None = None
    """Routes that follow failures: `shortest`, or a mapping with its delays. Static routes of routers stay [default: routes stay as they were when the network came up]."""
    measuring: MeasuringSpec | None = None
    """When phases of the measurement begin, and how delays are measured [default: one phase, from the start]."""


@written
class LinkSpec(Written):
    """A link between two nodes."""

    endpoints: Sequence[str]
    """The two ends, each NODE, or NODE:INTERFACE."""
    rate: str | Quantity = "none"
    """Rate of both ports, or none: as fast as the interfaces are."""
    medium: Literal["ethernet", "llc", "atm", "serial"] | None = None
    """What frames are on it [default: ethernet]."""
    pvc: PvcSpec | None = None
    """A permanent virtual circuit of ATM in the place of a wire [default: none]."""
    vp: VpSpec | None = None
    """A virtual path of ATM in the place of a wire of cells [default: none]."""
    uni: bool | None = None
    """Cells have headers of a user-network interface: 8 bits of VPI, and generic flow control. Of a virtual path that is so on the way to its first switch and from its last one [default: they have those between nodes of a network (NNI), with 12 bits of VPI]."""
    lc_atm: LcAtmSpec | None = None
    """How labels are channels, where routers or ATM-LSRs are at both ends of medium atm [default: as usual]."""
    delay: Quantity = 0
    """Propagation delay."""
    mtu: int | None = None
    """Longest packet in bytes, labels included [default: 9216; with driver xdp 3498; no more than a frame of its medium holds; of a host's link 1500; of a circuit of ATM, and of medium atm between routers, 9180]."""
    buffer: Quantity | None = None
    """Buffer of both ports [default: that of the devices' profiles]."""
    metric: int = 1
    """Cost for shortest paths."""
    reservable: Quantity | None = None
    """Bandwidth that LSPs may reserve, each way [default: the rate; without one, 10 Gbit/s; of a circuit its peak rate or that of its slowest link, and of medium atm its rate, without cell headers]."""
    detection: Quantity = 0
    """Time until the devices notice that the link went down or came up."""
    clock_ppm: Sequence[float] = field(default_factory=list)
    """How much faster than nominal the clocks of both ports run, in parts per million, beside the devices' own offsets."""
    srlg: str | Sequence[str] | None = None
    """Shared-risk link groups that it is in, one name or several: the links of a group fail together, as those in one duct do [default: none]."""
    driver: Literal["packet", "xdp"] | None = None
    """How routers open it in a lab [default: as the router says]."""
    addresses: Sequence[str] | None = None
    """Addresses of both ends [default: given by the network]."""
    ipv6: Sequence[str] | None = None
    """IPv6 addresses of both ends, in one network; link-local ones are made by the interfaces themselves [default: the link has no IPv6]."""
    dad: bool | None = None
    """Routers and hosts in the process look whether their IPv6 addresses are free before they use them [default: they do not]."""
    advertise: AdvertiseSpec | None = None
    """What its routers say of themselves to hosts [default: nothing]."""
    queue: str | Tree | Mapping[str, str | Tree] | None = None
    """What waits in front of it: a tree under `queues` by its name, or one itself, at both ends or by end, as in `{pe1: gold}` [default: one queue of the port's buffer]."""
    ingress: str | Conditioner | Mapping[str, str | Conditioner] | None = None
    """Meters and markers for what arrives by it: under `conditioners`, in the same way [default: nothing is metered]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class PvcSpec(Written):
    """A permanent virtual circuit of ATM."""

    through: Sequence[str]
    """ATM switches that it passes, those at its ends among them: two or more, joined by links of medium atm."""
    vpi: int = 0
    """Its virtual path on each of these links. On one that is a virtual path itself (`vp`), it is in that."""
    vci: int | Sequence[int] | None = None
    """Its virtual channel there: one for all links, or one for each [default: the lowest that is free on each link, from 32 on]."""
    encapsulation: Literal["llc-snap", "vc-mux", "shim"] = "llc-snap"
    """What stands between a packet and AAL5."""
    map: Literal["static", "inatmarp"] = "static"
    """How each end knows which address is at the other one."""
    service: Literal["ubr", "cbr"] = "ubr"
    """What is agreed about its cells."""
    pcr: Quantity | None = None
    """Peak cell rate: the most that is sent, such as 4750 cells/s [default: as much as the links carry; cbr needs one]."""
    shaped: bool = True
    """Cells leave at the peak rate at most; otherwise as they come."""
    tolerance: Quantity | None = None
    """Cells that are earlier by more than this are dropped (GCRA): by the second switch, or by the end if that does not shape [default: no cell is too early]."""


@written
class VpSpec(Written):
    """A virtual path of ATM in the place of a wire of cells (a VP tunnel): between two routers or ATM-LSRs, whose labels are channels of it, or between two ATM switches, whose circuits are."""

    through: Sequence[str]
    """ATM switches that it passes, in their order, joined by links of medium atm. They switch it as a whole."""
    vpi: int | Sequence[int] | None = None
    """Its virtual path identifier: one for all of its way, or one for each link: that to the first switch, those between switches, that from the last one [default: the lowest that is free on each link, from 1 on]."""
    service: Literal["ubr", "cbr"] = "cbr"
    """What is agreed about its cells."""
    pcr: Quantity | None = None
    """Peak cell rate: the most that is sent, such as 4750 cells/s [default: as much as the links carry; cbr needs one]."""
    shaped: bool = True
    """Its ends send cells at the peak rate at most; otherwise as they come."""
    tolerance: Quantity | None = None
    """Cells that come to the first switch earlier by more than this are dropped (GCRA) [default: no cell is too early]."""


@written
class LcAtmSpec(Written):
    """How labels are channels of a link of medium atm between routers and ATM-LSRs (RFC 3035)."""

    vpi: Sequence[int] = field(default_factory=list)
    """The first and the last virtual path with labels, 16 at most."""
    vci: Sequence[int] = field(default_factory=list)
    """The first and the last virtual channel there that may be a label, from 33 on."""
    control_vpi: int = 0
    """Virtual path of packets without a label: those of protocols, and those to where no label is known."""
    control_vci: int = 32
    """Virtual channel of these packets."""
    encapsulation: Literal["shim", "bare"] = "shim"
    """What stands between AAL5 and a labelled packet."""
    unidirectional: bool = False
    """A channel is a label in one direction of the link alone (RFC 5036, 3.5.3)."""


@written
class AdvertiseSpec(Written):
    """Router advertisements on a link: hosts make addresses of its IPv6 prefix, and send by the router what is for elsewhere."""

    interval: Quantity = "600 s"
    """Longest time between two that no host has asked for."""
    interval_min: Quantity | None = None
    """Least time between two of them [default: 0.33 of the longest; the longest, if that is less than 9 s]."""
    lifetime: Quantity | None = None
    """For how long hosts may send by the router; 0: not at all [default: three times the longest time]."""
    hop_limit: int = 64
    """Hop limit for hosts to send with; 0: it says nothing of that."""
    managed: bool = False
    """Say that addresses are to be had by DHCPv6."""
    other: bool = False
    """Say that other settings are to be had by DHCPv6."""
    reachable: Quantity = 0
    """For how long a neighbour that was confirmed is reachable, in whole milliseconds; 0: it says nothing of that."""
    retransmit: Quantity = 0
    """Time between solicitations, in whole milliseconds; 0: it says nothing of that."""
    mtu: bool = False
    """Say which MTU the link has."""
    autonomous: bool = True
    """Let hosts make addresses of the prefix."""
    valid: Quantity = "720 h"
    """For how long the prefix is on the link, in whole seconds."""
    preferred: Quantity = "168 h"
    """For how long hosts prefer addresses that they made of it, in whole seconds."""


@written
class Tree(Checked):
    """A discipline with what packets count for in it, and a conditioner in front of it if there is one. The fields of the discipline may stand beside these two instead of under `root`."""

    CHECK: ClassVar[str] = "Tree"
    FLAT: ClassVar[str | None] = "root"
    accounting: Accounting = field(default_factory=lambda: Accounting())
    """What packets count for."""
    conditioner: str | Conditioner | None = None
    """Meters and markers in front of the queues, or in a file of a network the name of such [default: there is none]."""
    root: Queue
    """The discipline that the port asks."""


@written
class Accounting(Checked):
    """How many bytes a packet counts for; published results depend on it."""

    CHECK: ClassVar[str] = "Accounting"
    layer: Literal["ip", "network", "link", "frame", "wire"] = "link"
    """Which of its bytes."""
    overhead: int = 0
    """Bytes added to each packet (tc-stab's `overhead`); no headers that one would not count are longer than 64."""
    minimum: int = 0
    """The least that a packet counts for (tc-stab's `mpu`)."""


@written
class Conditioner(Checked):
    """Rules in order: the first that takes a packet decides on it; a packet that no rule takes passes."""

    CHECK: ClassVar[str] = "Conditioner"
    accounting: Accounting = field(default_factory=lambda: Accounting())
    """What packets count for."""
    rules: Sequence[Rule]
    """Rules in order."""


@written
class Rule(Checked):
    """Packets, their meter, and what becomes of each colour; without a meter every packet is green."""

    CHECK: ClassVar[str] = "Rule"
    name: str
    """Its name, for the counters."""
    meter: Meter | None = None
    """What says the colours of packets [default: none: all are green]."""
    green: str = "pass"
    """What becomes of packets in profile."""
    yellow: str = "pass"
    """What becomes of those between."""
    red: str = "drop"
    """What becomes of those out of profile."""
    phb: str | int | Sequence[str | int] | None = None
    """Per-hop behaviours, one or several: as the node determined them; of a packet of which it has not, what its outermost header says: the TC of a label by the standard map, the code point of an IP header. What has neither (ARP) gets default forwarding."""
    dscp: str | int | Sequence[str | int] | None = None
    """Code points in the IP header, one or several, looked up below labels too; of IPv6 in its traffic class."""
    tc: int | Sequence[int] | None = None
    """TC bits of the outermost label, 0 to 7, one or several."""
    labels: int | str | Sequence[int] | None = None
    """The outermost label, or first-last."""
    labelled: bool | None = None
    """Is there a label?"""
    src: str | None = None
    """Source addresses, as a prefix of IPv4 or IPv6; looked up below labels too, as the four below."""
    dst: str | None = None
    """Destination addresses, as a prefix of the same family."""
    protocol: str | int | None = None
    """IP protocol: tcp, udp, icmp and so on, or its number."""
    src_ports: int | str | Sequence[int] | None = None
    """Source port, or first-last."""
    dst_ports: int | str | Sequence[int] | None = None
    """Destination port, or first-last."""
    mark: int | None = None
    """The mark that a conditioner put on it; zero is none."""
    inputs: str | int | Sequence[str | int] | None = None
    """Where it came from, one or several: neighbours or interfaces by name, or numbers of ports."""


@written
class TokenBucket(Checked):
    """A token bucket, with a second one for the peak rate if that is given: what finds room in both is green, all else red."""

    CHECK: ClassVar[str] = "Meter"
    WORD: ClassVar[tuple[str, str] | None] = ("kind", "token-bucket")
    kind: ClassVar[str] = "token-bucket"
    rate: Quantity
    """Rate at which tokens come."""
    burst: Quantity
    """Bytes that the bucket holds; it is full at first."""
    peakrate: Quantity | None = None
    """Rate of a second bucket, which limits bursts [default: there is none]."""
    mtu: Quantity | None = None
    """Bytes that the second bucket holds [default: 2047, as tc has it]."""


@written
class SingleRate(Checked):
    """The single-rate three-colour marker (RFC 2697)."""

    CHECK: ClassVar[str] = "Meter"
    WORD: ClassVar[tuple[str, str] | None] = ("kind", "single-rate")
    kind: ClassVar[str] = "single-rate"
    cir: Quantity
    """Committed information rate."""
    cbs: Quantity
    """Committed burst size; 0 if none is green."""
    ebs: Quantity
    """Excess burst size; 0 if none is yellow."""
    aware: bool = False
    """Take the colour that a packet has, by its drop precedence, into account."""


@written
class TwoRate(Checked):
    """The two-rate three-colour marker (RFC 2698)."""

    CHECK: ClassVar[str] = "Meter"
    WORD: ClassVar[tuple[str, str] | None] = ("kind", "two-rate")
    kind: ClassVar[str] = "two-rate"
    cir: Quantity
    """Committed information rate."""
    cbs: Quantity
    """Committed burst size."""
    pir: Quantity
    """Peak information rate."""
    pbs: Quantity
    """Peak burst size."""
    aware: bool = False
    """Take the colour that a packet has, by its drop precedence, into account."""


@written
class Pfifo(Checked):
    """First in, first out, limited in packets (tc-pfifo)."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "pfifo")
    discipline: ClassVar[str] = "pfifo"
    limit: int = 1000
    """Packets that may wait."""


@written
class Bfifo(Checked):
    """First in, first out, limited in bytes (tc-bfifo)."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "bfifo")
    discipline: ClassVar[str] = "bfifo"
    limit: Quantity
    """Bytes that may wait."""


@written
class Tbf(Checked):
    """Token-bucket filter (tc-tbf): never more than `burst` beyond `rate`."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "tbf")
    discipline: ClassVar[str] = "tbf"
    rate: Quantity
    """Rate at which tokens come."""
    burst: Quantity
    """Bytes that the bucket holds."""
    limit: Quantity | None = None
    """Bytes that may wait [default: as latency or queue say]."""
    latency: Quantity | None = None
    """The longest time that a packet may wait for tokens: as tc does, it becomes a limit in bytes [default: as limit or queue say]."""
    peakrate: Quantity | None = None
    """Rate of a second bucket, which limits bursts [default: there is none]."""
    mtu: Quantity | None = None
    """Bytes that the second bucket holds: at least the longest packet [default: there is no second bucket]."""
    queue: Queue | None = None
    """What waits [default: a bfifo of limit]."""


@written
class Prio(Checked):
    """Strict priority (tc-prio): a band sends only when those before it have nothing to send."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "prio")
    discipline: ClassVar[str] = "prio"
    filters: Sequence[Filter] = field(default_factory=list)
    """Which packets go where; the first that takes a packet decides."""
    classes: Mapping[str, PrioClass]
    """Bands by name, the most urgent first."""
    default: str | None = None
    """Where the others go [default: the last band]."""


@written
class Filter(Checked):
    """Packets that go to a class; the first filter that takes a packet decides."""

    CHECK: ClassVar[str] = "Filter"
    KEYS: ClassVar[Mapping[str, str]] = {"class_": "class"}
    class_: str
    """The class that takes them."""
    phb: str | int | Sequence[str | int] | None = None
    """Per-hop behaviours, one or several: as the node determined them; of a packet of which it has not, what its outermost header says: the TC of a label by the standard map, the code point of an IP header. What has neither (ARP) gets default forwarding."""
    dscp: str | int | Sequence[str | int] | None = None
    """Code points in the IP header, one or several, looked up below labels too; of IPv6 in its traffic class."""
    tc: int | Sequence[int] | None = None
    """TC bits of the outermost label, 0 to 7, one or several."""
    labels: int | str | Sequence[int] | None = None
    """The outermost label, or first-last."""
    labelled: bool | None = None
    """Is there a label?"""
    src: str | None = None
    """Source addresses, as a prefix of IPv4 or IPv6; looked up below labels too, as the four below."""
    dst: str | None = None
    """Destination addresses, as a prefix of the same family."""
    protocol: str | int | None = None
    """IP protocol: tcp, udp, icmp and so on, or its number."""
    src_ports: int | str | Sequence[int] | None = None
    """Source port, or first-last."""
    dst_ports: int | str | Sequence[int] | None = None
    """Destination port, or first-last."""
    mark: int | None = None
    """The mark that a conditioner put on it; zero is none."""
    inputs: str | int | Sequence[str | int] | None = None
    """Where it came from, one or several: neighbours or interfaces by name, or numbers of ports."""


@written
class PrioClass(Checked):
    """A band of a prio."""

    CHECK: ClassVar[str] = "PrioClass"
    queue: Queue = field(default_factory=lambda: Pfifo(limit=1000))
    """What waits in it."""


@written
class Red(Checked):
    """Random early detection (Floyd and Jacobson 1993; tc-red)."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "red")
    discipline: ClassVar[str] = "red"
    limit: Quantity | None = None
    """Bytes that may wait, whatever the average is [default: of a virtual queue: that of the gred; a red needs it]."""
    min: Quantity | None = None
    """Average queue, in bytes, at which dropping begins [default: max / 3]."""
    max: Quantity | None = None
    """Average queue, in bytes, at which the probability has reached `probability` [default: 3 min, or else limit / 4]."""
    avpkt: Quantity | None = None
    """Average size of packets [default: 1000 B]."""
    burst: Quantity | None = None
    """Packets that may come at once before the average follows, which fixes its weight; with a unit bytes, divided by avpkt and rounded up [default: (2 min + max) / (3 avpkt)]."""
    probability: float | None = None
    """Greatest probability of an early drop, above 0 and at most 1 [default: 0.02]."""
    bandwidth: Quantity | None = None
    """Rate at which an idle queue drains, for the decay of its average [default: the rate of the port]."""
    ecn: bool | None = None
    """Mark packets of ECN-capable transports instead of dropping them (RFC 3168) [default: false]."""
    harddrop: bool | None = None
    """With ecn, drop beyond max nevertheless [default: false]."""


@written
class Gred(Checked):
    """Generic RED (tc-gred): a virtual queue for each drop precedence, all in one real queue, whose limit is that of the discipline."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "gred")
    discipline: ClassVar[str] = "gred"
    grio: bool = False
    """RIO: the average of a virtual queue counts its own packets and those of better priority."""
    queues: Mapping[str, GredQueue]
    """The virtual queues by name."""
    default: str | None = None
    """The virtual queue of packets that belong to none [default: they are dropped]."""
    limit: Quantity | None = None
    """Bytes that may wait, whatever the average is [default: of a virtual queue: that of the gred; a red needs it]."""
    min: Quantity | None = None
    """Average queue, in bytes, at which dropping begins [default: max / 3]."""
    max: Quantity | None = None
    """Average queue, in bytes, at which the probability has reached `probability` [default: 3 min, or else limit / 4]."""
    avpkt: Quantity | None = None
    """Average size of packets [default: 1000 B]."""
    burst: Quantity | None = None
    """Packets that may come at once before the average follows, which fixes its weight; with a unit bytes, divided by avpkt and rounded up [default: (2 min + max) / (3 avpkt)]."""
    probability: float | None = None
    """Greatest probability of an early drop, above 0 and at most 1 [default: 0.02]."""
    bandwidth: Quantity | None = None
    """Rate at which an idle queue drains, for the decay of its average [default: the rate of the port]."""
    ecn: bool | None = None
    """Mark packets of ECN-capable transports instead of dropping them (RFC 3168) [default: false]."""
    harddrop: bool | None = None
    """With ecn, drop beyond max nevertheless [default: false]."""


@written
class GredQueue(Checked):
    """A virtual queue of a gred; what it does not say is as the discipline says."""

    CHECK: ClassVar[str] = "GredQueue"
    phb: str | int | Sequence[str | int] | None = None
    """PHBs whose packets it takes [default: the one that it is named after]."""
    prio: int = 8
    """Priority with grio, 1 is the best."""
    limit: Quantity | None = None
    """Bytes that may wait, whatever the average is [default: of a virtual queue: that of the gred; a red needs it]."""
    min: Quantity | None = None
    """Average queue, in bytes, at which dropping begins [default: max / 3]."""
    max: Quantity | None = None
    """Average queue, in bytes, at which the probability has reached `probability` [default: 3 min, or else limit / 4]."""
    avpkt: Quantity | None = None
    """Average size of packets [default: 1000 B]."""
    burst: Quantity | None = None
    """Packets that may come at once before the average follows, which fixes its weight; with a unit bytes, divided by avpkt and rounded up [default: (2 min + max) / (3 avpkt)]."""
    probability: float | None = None
    """Greatest probability of an early drop, above 0 and at most 1 [default: 0.02]."""
    bandwidth: Quantity | None = None
    """Rate at which an idle queue drains, for the decay of its average [default: the rate of the port]."""
    ecn: bool | None = None
    """Mark packets of ECN-capable transports instead of dropping them (RFC 3168) [default: false]."""
    harddrop: bool | None = None
    """With ecn, drop beyond max nevertheless [default: false]."""


@written
class Cbq(Checked):
    """Class-based queueing (Floyd and Jacobson 1995; tc-cbq, as Linux had it up to 6.2)."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "cbq")
    discipline: ClassVar[str] = "cbq"
    filters: Sequence[Filter] = field(default_factory=list)
    """Which packets go where; the first that takes a packet decides."""
    bandwidth: Quantity | None = None
    """What the device under it really does [default: the rate of the port]."""
    avpkt: Quantity
    """Average size of packets."""
    mpu: Quantity = 0
    """Least size that a packet counts for when times are computed."""
    ewma: int = 5
    """log2 of the length of the average of idle times."""
    allot: Quantity = "1514 B"
    """Bytes of a round, by default for classes."""
    classes: Mapping[str, CbqClass]
    """Classes by name."""
    default: str | None = None
    """Where the others go [default: they are dropped]."""


@written
class CbqClass(Checked):
    """A class of a cbq."""

    CHECK: ClassVar[str] = "CbqClass"
    parent: str | None = None
    """The class that it is in [default: the root class, which has the whole bandwidth]."""
    rate: Quantity
    """Rate allotted to it."""
    prio: int = 8
    """1 (asked first) to 8."""
    weight: Quantity | None = None
    """Weight in its round [default: its rate]."""
    allot: Quantity | None = None
    """Bytes of a round [default: as the discipline says]."""
    bounded: bool = False
    """It never borrows."""
    isolated: bool = False
    """It never lends."""
    maxburst: int = 20
    """Packets that may be sent at once after idleness: fixes maxidle."""
    minburst: int = 0
    """Packets that are sent at once after having waited: fixes offtime."""
    minidle: Quantity | None = None
    """How far the average idle time may fall below zero [default: unlimited, as tc has it]."""
    avpkt: Quantity | None = None
    """Average size of its packets [default: as the discipline says]."""
    ewma: int | None = None
    """log2 of the length of its average [default: as the discipline says]."""
    queue: Queue | None = None
    """What waits; leaves only [default: a pfifo of 1000]."""


@written
class Htb(Checked):
    """Hierarchical token bucket (tc-htb): classes lend what they do not use to those in the same class."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "htb")
    discipline: ClassVar[str] = "htb"
    filters: Sequence[Filter] = field(default_factory=list)
    """Which packets go where; the first that takes a packet decides."""
    r2q: int = 10
    """Rate in bytes per second by this is the quantum of classes that give none."""
    classes: Mapping[str, HtbClass]
    """Classes by name."""
    default: str | None = None
    """Where the others go [default: they leave first, at the rate of the port, as in Linux]."""
    direct_qlen: int = 1000
    """Packets that may wait in that direct queue."""


@written
class HtbClass(Checked):
    """A class of an htb."""

    CHECK: ClassVar[str] = "HtbClass"
    parent: str | None = None
    """The class that it is in [default: none]."""
    rate: Quantity
    """Rate that it has for certain."""
    ceil: Quantity | None = None
    """Rate up to which it may borrow [default: rate]."""
    burst: Quantity | None = None
    """Bytes that may go at once at the rate's expense [default: as tc computes it: a millisecond of rate, and 1600 B]."""
    cburst: Quantity | None = None
    """The same for the ceiling [default: as tc computes it, by ceil]."""
    prio: int = 0
    """0 (borrows first) to 7."""
    quantum: Quantity | None = None
    """Bytes of a turn when it borrows [default: rate / r2q, within the longest frame and 200 kB]."""
    queue: Queue | None = None
    """What waits; leaves only [default: a pfifo of 1000]."""


@written
class Drr(Checked):
    """Deficit round robin (Shreedhar and Varghese 1995; tc-drr)."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "drr")
    discipline: ClassVar[str] = "drr"
    filters: Sequence[Filter] = field(default_factory=list)
    """Which packets go where; the first that takes a packet decides."""
    classes: Mapping[str, DrrClass]
    """Classes by name."""
    default: str | None = None
    """Where the others go [default: they are dropped]."""


@written
class DrrClass(Checked):
    """A class of a drr."""

    CHECK: ClassVar[str] = "DrrClass"
    quantum: Quantity | None = None
    """Bytes of a turn [default: the longest frame of the port]."""
    queue: Queue = field(default_factory=lambda: Pfifo(limit=1000))
    """What waits in it."""


@written
class FqCodel(Checked):
    """Fair queueing with CoDel (RFC 8290; tc-fq_codel)."""

    CHECK: ClassVar[str] = "Queue"
    WORD: ClassVar[tuple[str, str] | None] = ("discipline", "fq-codel")
    discipline: ClassVar[str] = "fq-codel"
    limit: int = 10240
    """Packets that may wait in all."""
    flows: int = 1024
    """Queues that flows are hashed to."""
    quantum: Quantity | None = None
    """Bytes of a turn [default: the longest frame of the port]."""
    target: Quantity = "5 ms"
    """Time in the queue that is acceptable."""
    interval: Quantity = "100 ms"
    """For how long it may be exceeded."""
    ecn: bool = True
    """Mark packets of ECN-capable transports instead of dropping them."""
    ce_threshold: Quantity | None = None
    """Mark whatever has waited for longer than this [default: nothing is marked for that]."""
    memory_limit: Quantity = "33554432 B"
    """Bytes that may wait in all."""


@written
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
    route: Sequence[str] = field(default_factory=list)
    """Routers after the first, each the next one on the way; NODE:INTERFACE if links are parallel [default: the head end computes a path if it knows of traffic engineering, else routers decide hop by hop]."""
    fallback: Sequence[str] = field(default_factory=list)
    """Route that is tried when the other fails [default: none]."""
    loose: bool = False
    """Other routers may be between those of the routes."""
    shortest: bool = False
    """Take the shortest path as explicit route, after those that are said."""
    path: PathSpec | None = None
    """What is asked of a computed path (OSPF with `te`) [default: one is computed all the same where it can be]."""
    protection: ProtectionSpec | None = None
    """Have routers lead it around links, or routers, that fail (RFC 4090) [default: it is not protected]."""
    bypass: str | None = None
    """It is a bypass tunnel, which LSPs with `protection` take that leave its first router by this link, when that fails: the router at the far end, or NODE:INTERFACE if links are parallel. It ends there, or at the router after that on their way [default: it is none]."""
    bandwidth: Quantity = 0
    """Bandwidth to reserve for each."""
    carries: str | Sequence[str] | None = None
    """Destinations whose packets take it, one prefix or several [default: its test packets only]."""
    autoroute: bool = False
    """Routes to what lies behind its end, by all shortest paths of OSPF (with `te`), lead through it."""
    filters: Sequence[FilterSpec] = field(default_factory=list)
    """Packets that take it wherever they go."""
    when_down: Literal["route", "drop"] = "route"
    """What becomes of the packets of `filters` while it is down: they go by `route`, or the head end has them `drop`ped."""
    bfd: BfdPace | None = None
    """Have it watched by BFD (RFC 5884): true, or how closely. One whose end is not heard any more fails as after an error. Both ends have to be routers here, or speak BFD [default: false]."""
    lsp_ping: LspPingPace | None = None
    """Have it watched by LSP ping alone (RFC 8029): true, or how closely. One whose end does not answer any more, or that ends somewhere else, fails as after an error. Its end has to be a router that answers LSP ping, and that need not speak BFD [default: false]."""
    classes: str | int | Sequence[str | int] | None = None
    """Per-hop behaviours whose packets take it on their way to `carries` [default: all]."""
    diffserv: LspDiffServ | None = None
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


@written
class PathSpec(Written):
    """What is asked of the path of an LSP that its head end computes, beside bandwidth and priority."""

    metric: Literal["te", "igp"] = "te"
    """The cost that paths are compared by: `te` (RFC 3630, 2.5.5) or `igp`."""
    hop_limit: int | None = None
    """Most links on the path [default: without limit]."""
    exclude_any: int = 0
    """Links of any of these groups are not used, a bit for each as in `te_groups` (RFC 3209, 4.7.4)."""
    include_any: int = 0
    """Only links of at least one of these groups are used."""
    include_all: int = 0
    """Only links of all of these groups are used."""
    exclude_srlgs: Sequence[int] = field(default_factory=list)
    """Links of these shared risk link groups are not used."""
    exclude: Sequence[str] = field(default_factory=list)
    """Routers that it does not touch, and NODE:INTERFACE for links that it does not take."""
    reoptimise: Quantity | None = None
    """How often a better path is looked for [default: by command and after failures only]."""
    follow: bool = False
    """Look for a better path a second after something else is known of links, too."""
    k: int = 1
    """How many paths the head end looks for at once, the best first: when one is refused, fails, or gets no answer, the next of them is tried. With 1 it looks for the best path again after each failure whose place is known."""
    standby: Literal["link", "node", "srlg"] | None = None
    """Keep an LSP set up beside the other, along a path that has no `link`, no `node` (a router between the ends) or no `srlg` (shared risk) in common with it, and no link in any case. It takes over when the other fails [default: none stands by]."""


@written
class ProtectionSpec(Written):
    """What an LSP asks for, for the case that something fails: of routers on its way (RFC 4090), or of its head end."""

    node: bool = False
    """Around the next router where that can be, and not only around the link to it."""
    bandwidth: bool = False
    """With as much bandwidth as it has itself."""
    method: Literal["facility", "one-to-one", "1:1", "1+1"] = "facility"
    """Through bypass tunnels that serve many LSPs (`facility`), or by detours that routers set up for it alone, by what OSPF (with `te`) knows of links (`one-to-one`). Or from end to end (in quotes): an LSP along a disjoint path, which the head end computes, stands by (`1:1`), or carries each packet, too, and the tail end takes those of one (`1+1`)."""
    disjoint: Literal["link", "node", "srlg"] | None = None
    """With `1:1` and `1+1`: what the two paths have not in common, as `standby` of `path` says it [default: `link`]."""
    revert_after: Quantity | None = None
    """Wait to restore. With `1:1`: the traffic goes back to the best path when nothing has changed of links for so long. With `1+1`: the head end leads one of both LSPs along the best path again when nothing has changed for so long, and the tail end takes packets of the working LSP again when that has been there for so long [default: it stays where it is]."""


@written
class FilterSpec(Written):
    """Packets, by the fields of their headers; what is not said may be anything."""

    src: str | None = None
    """Source addresses; of IPv6, too."""
    dst: str | None = None
    """Destination addresses. A filter of an LSP that gives no IPv6 address takes packets of IPv4."""
    protocol: str | int | None = None
    """IP protocol: tcp, udp, icmp and so on, or its number."""
    src_ports: int | str | Sequence[int] | None = None
    """Source port, or first-last."""
    dst_ports: int | str | Sequence[int] | None = None
    """Destination port, or first-last."""
    dscp: str | int | None = None
    """Code point, by name or number."""


@written
class BfdPace(Checked):
    """How closely a protocol wants neighbours watched by BFD (RFC 5882). Of protocols that share a neighbour the one that wants it most closely counts."""

    CHECK: ClassVar[str] = "BfdPace"
    interval: Quantity | None = None
    """From a packet to the next [default: as in the router's 'bfd']."""
    multiplier: int | None = None
    """After so many packets that are missing a neighbour is gone [default: as in the router's 'bfd']."""


@written
class LspPingPace(Checked):
    """How closely LSP ping watches an LSP (RFC 8029)."""

    CHECK: ClassVar[str] = "LspPingPace"
    interval: Quantity = "1 s"
    """From a request to the next. A reply that comes later is missing."""
    misses: int = 3
    """After so many requests in a row without a reply the LSP is down."""


@written
class ELsp(Checked):
    """An E-LSP: the TC bits say the PHB, by a map of its own, which is signalled, or by the preconfigured one of each router."""

    CHECK: ClassVar[str] = "LspDiffServ"
    WORD: ClassVar[tuple[str, str] | None] = ("kind", "e-lsp")
    kind: ClassVar[str] = "e-lsp"
    map: Mapping[str, str | int] | Sequence[str | int] | None = None
    """PHBs of TC 0 to 7, signalled [default: the preconfigured ones of each router]."""
    signal: bool = False
    """Signal a DIFFSERV object even without a map: then it has no entries."""
    model: Literal["pipe", "short-pipe", "uniform"] | None = None
    """Its tunnelling model (RFC 3270, 2.6), of which every router here is told [default: each router's own]."""


@written
class LLsp(Checked):
    """An L-LSP: the label says the scheduling class, the TC bits the drop precedence."""

    CHECK: ClassVar[str] = "LspDiffServ"
    KEYS: ClassVar[Mapping[str, str]] = {"class_": "class"}
    WORD: ClassVar[tuple[str, str] | None] = ("kind", "l-lsp")
    kind: ClassVar[str] = "l-lsp"
    class_: str | int
    """Its scheduling class, such as EF or AF1."""
    model: Literal["pipe", "short-pipe", "uniform"] | None = None
    """Its tunnelling model (RFC 3270, 2.6), of which every router here is told [default: each router's own]."""


@written
class P2mpSpec(Written):
    """A point-to-multipoint LSP (RFC 4875, RFC 6388): a tree from one router to several, along which packets are copied where it branches."""

    name: str
    """What people call it; no other LSP of the network has it."""
    root: str
    """Router where it begins."""
    leaves: Sequence[str]
    """Routers where it ends, each once."""
    protocol: Literal["rsvp-te", "ldp"] = "rsvp-te"
    """The protocol that sets it up. What says of routes, bandwidth, priorities and retries is of RSVP-TE only."""
    lsp_id: int | None = None
    """With LDP: its generic LSP identifier, unique at the root (RFC 6388, 2.3.1) [default: its place in this list, from 1 on]."""
    routes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Explicit routes, by leaf: routers after the root, each the next one on the way; NODE:INTERFACE if links are parallel [default: the root computes the tree if it knows of traffic engineering, else routers decide hop by hop]."""
    loose: bool = False
    """Other routers may be between those of the routes."""
    path: PathSpec | None = None
    """What is asked of computed paths (OSPF with `te`) [default: nothing beside bandwidth and priority]."""
    tree: Literal["shortest", "cheapest"] = "shortest"
    """Which tree is computed."""
    signalling: Literal["together", "separate"] = "together"
    """How leaves are spread over Path messages."""
    bandwidth: Quantity = 0
    """Bandwidth to reserve on each link of the tree, once."""
    group: str | Sequence[str] | None = None
    """Groups whose packets take it that hosts at the root send, one or several; at leaves they go to hosts that have joined (IGMP, or MLD for groups of IPv6) [default: none]."""
    carries: str | Sequence[str] | None = None
    """Destinations whose packets take it, one prefix or several; every leaf gets them [default: none]."""
    filters: Sequence[FilterSpec] = field(default_factory=list)
    """Packets that take it wherever they go."""
    setup_priority: int = 7
    """Setup priority (RFC 3209, 4.7): 0 is the highest."""
    holding_priority: int | None = None
    """Holding priority: 0 is the highest [default: the setup priority]."""
    style: Literal["fixed-filter", "shared-explicit"] = "shared-explicit"
    """Reservation style that leaves are asked for."""
    record_route: bool = True
    """Record the route to each leaf (RFC 4875, 6.3)."""
    protection: ProtectionSpec | None = None
    """What is asked of routers on the way, for the case that something fails (RFC 4875, 15) [default: it is not protected]."""
    bfd: BfdPace | None = None
    """Have leaves watch the root by BFD (RFC 8562): true, or how closely. The root and the leaves speak BFD then. What a leaf finds stands in its table `bfd_multipoint` and its events; nobody tells the root [default: false]."""
    retry_first: Quantity = "1 s"
    """Time before a leaf is tried again after a failure; it doubles with each up to `retry_max`."""
    retry_max: Quantity = "60 s"
    """Longest time between retries."""


@written
class Topology(Written):
    """Nodes and links where containerlab has them."""

    nodes: Mapping[str, NodeSpec] = field(default_factory=dict)
    """By name."""
    links: Sequence[LinkSpec] = field(default_factory=list)
    """All links."""


@written
class ShortestSpec(Written):
    """Routes that are computed anew, for all routers at once, when a link or a node goes down or comes back."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "shortest")
    detection: Quantity = "50 ms"
    """From the change of a link or a node to the moment at which somebody notices it."""
    computation: Quantity = "200 ms"
    """From that moment to the one at which routers are given the new routes."""


@written
class RouterSpec(Written):
    """A Twinplane router: in a lab a process in a network namespace whose kernel stays silent."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "router")
    profile: str | Mapping[str, Any] = "ideal"
    """Device profile, by name, by file (*.toml), or what it says."""
    rsvp: RsvpSpec = field(default_factory=lambda: RsvpSpec())
    """Its signalling."""
    diffserv: DiffServ | None = None
    """DiffServ over MPLS (RFC 3270): true, or how [default: traffic classes are copied]."""
    router_id: str | None = None
    """Router id [default: given by the network]."""
    ipv6: str | None = None
    """IPv6 loopback address [default: none]."""
    routes: Sequence[RouteSpec] = field(default_factory=list)
    """Static routes, beside those that lead to every node by the shortest path or that its protocols find."""
    log_signals: int = 0
    """How many signalling messages are kept for table `signals`."""
    table_driver: TableDriver | None = None
    """What writes its forwarding tables: the name of a driver, or the name with settings [default: model]."""
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
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""
    greet: GreetSpec | None = None
    """Greet, a made-up protocol: an example for developers [default: not spoken]."""
    ospf: Ospf | None = None
    """OSPF version 2 (RFC 2328): true, or how. It finds the router's routes [default: not spoken]."""
    ldp: Ldp | None = None
    """LDP (RFC 5036): true, or how. It gives labels to the router's routes [default: not spoken]."""
    bgp: Bgp | None = None
    """BGP-4 (RFC 4271): its AS, its neighbours, and what it tells them [default: not spoken]."""
    tdp: Tdp | None = None
    """TDP, the tag-switching dialect that LDP came from: true, or how. It gives labels to the router's routes [default: not spoken]."""
    bfd: Bfd | None = None
    """BFD (RFC 5880): true, or how closely it watches the neighbours of protocols with 'bfd' [default: not spoken]."""
    lspping: LspPing | None = None
    """LSP ping (RFC 8029), which every router answers: how [default: not spoken]."""
    igmp: Igmp | None = None
    """IGMP: which groups the hosts of its links want [default: not spoken]."""
    mld: Mld | None = None
    """MLD: which groups of IPv6 the hosts of its links want [default: not spoken]."""
    cbt: Cbt | None = None
    """CBT, core-based trees: label-switched, one for each group [default: not spoken]."""
    pim: Pim | None = None
    """PIM for groups with named senders (SSM) [default: not spoken]."""
    probing: Probing | None = None
    """Probes on the links to other routers, as in a published study [default: not spoken]."""


@written
class RsvpSpec(Written):
    """Signalling of a router."""

    refresh: Quantity | None = None
    """Refresh period R (RFC 2205, 3.7) [default: 30 s]."""
    hello: str | Quantity | None = None
    """Interval of Hellos (RFC 3209, 5), or `none`: by them neighbours see at once that a router came back without its state [default: 9 s in a lab, else none]."""
    bfd: BfdPace | None = None
    """Have neighbours watched by BFD (RFC 5882): true, or how closely. LSPs over one that does not answer any more are given up, as without Hellos [default: false]."""
    protection: Literal["facility", "declared"] = "declared"
    """How it protects LSPs that ask for it: by bypass tunnels that it makes itself (`facility`), or by those only that are `declared`."""
    reversion: Quantity | None = None
    """How long a link has to be back before LSPs that went around it are signalled along it again by this router (local reversion; RFC 4090, 6.5.2) [default: head ends move them]."""
    refresh_reduction: bool = False
    """Summary refresh and message ids (RFC 2961)."""
    adspec: bool = True
    """Send ADSPEC, what the way has to offer (RFC 2210, 3.3), with LSPs that begin here. Other routers may refuse LSPs without it."""
    distinct_lsp_ids: bool = False
    """Give LSPs that begin here different LSP ids, whatever tunnel they belong to: for routers on the way that take LSPs of one sender with the same LSP id for one."""
    remerge: Literal["refuse", "allow"] = "refuse"
    """What it does where branches of a point-to-multipoint LSP meet again (RFC 4875, 18.1.1)."""
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


@written
class DiffServ(Checked):
    """How a router supports DiffServ over MPLS (RFC 3270)."""

    CHECK: ClassVar[str] = "DiffServ"
    tc_map: Mapping[str, str | int] | Sequence[str | int] = field(default_factory=list)
    """PHBs of TC 0 to 7 in E-LSPs for which no map is signalled (RFC 3270, 3.2.1 and 3.2.2)."""
    model: Literal["pipe", "short-pipe", "uniform"] = "pipe"
    """What the marking of an LSP has to do with that of its packets (RFC 3270, 2.6), unless the LSP has a model of its own."""
    supported: str | int | Sequence[str | int] | None = None
    """PHBs that LSPs may ask for [default: all]."""
    dscp: Mapping[str, str | int] = field(default_factory=dict)
    """PHBs of code points that mean another one here than they are recommended for."""


@written
class RouteSpec(Written):
    """A static route of a router, beside those that lead to every node by the shortest path. It takes the place of one of these if that has the same prefix."""

    prefix: str
    """Destinations; of several prefixes the longest that fits counts."""
    via: str | Sequence[str]
    """The neighbour that they are sent to, or several that share the flows equally; NODE:INTERFACE if links are parallel."""
    bfd: BfdPace | None = None
    """Have the neighbour watched by BFD (RFC 5882): true, or how closely. The route is in force as long as it answers. Only with one neighbour [default: false]."""


@written
class TableDriver(Written):
    """The driver that writes a router's forwarding tables: one of these, or its name alone."""

    model: ModelSpec | None = None
    """As the device profile says: write times, limits and failures of a device that was measured [default: another driver]."""
    openflow: OpenFlowSpec | None = None
    """An OpenFlow 1.3 switch elsewhere, such as Open vSwitch, which connects to the router [default: another driver]."""
    staged: StagedSpec | None = None
    """Staged, a made-up driver: an example for developers [default: another driver]."""


@written
class ModelSpec(Written):
    """The driver of a device that was measured. Its settings are those of the device profile."""


@written
class OpenFlowSpec(Written):
    """The forwarding plane of a router is an OpenFlow 1.3 switch elsewhere. Its port 1 is the router's first link, and so on. What it can do is that of Open vSwitch unless it is said."""

    listen: int = 6653
    """The TCP port at which the router waits for the switch, in its own namespace."""
    labels: int = 3
    """The most labels of a stack that it makes."""
    copies_ttl: bool = False
    """Can it copy a time to live from one header to another? Without, uniform LSPs end at no router before the last."""
    punts: int = 1000
    """Packets a second that it hands to the router for want of an entry, at most."""
    protocols: int = 10000
    """The same of ARP and of packets that protocols and the router's own addresses get."""
    probe: Quantity = "5 s"
    """After how long it asks a silent switch whether it is there; the connection is closed after as long again. Zero for never."""


@written
class StagedSpec(Written):
    """Staged, a made-up driver: an example for developers."""

    interval: Quantity = "10 ms"
    """Time between two commits."""
    room: int = 1000
    """Operations that can wait for a commit; it comes at once when there are so many."""
    entries: int | None = None
    """The most entries of each table, ports and neighbours apart [default: as the device profile says]."""
    failures: float = 0.0
    """Share of the commits that fail, 0 to 1."""
    tries: int = 3
    """So often a commit is tried; if the last one fails, too, what it was to put into tables is refused."""


@written
class GreetSpec(Written):
    """Greet, a made-up protocol: an example for developers."""

    interval: Quantity = "1 s"
    """Time between two Hellos."""
    missed: int = 2
    """So many Hellos may be lost before a neighbour is."""


@written
class Ospf(Checked):
    """OSPF version 2 (RFC 2328): true, or how. A router that speaks it has no routes by shortest paths but those that it finds. What is said here of links holds for all of its links."""

    CHECK: ClassVar[str] = "Ospf"
    areas: Sequence[OspfArea] = field(default_factory=list)
    """How areas are treated, if not as usual."""
    router_id: str | None = None
    """The number that neighbours know the router by [default: its loopback address]."""
    reference_bandwidth: Quantity | None = None
    """A link costs this divided by its rate, and 1 at least [default: links cost their 'metric']."""
    stub_router: bool = False
    """Announce that nothing is to go through the router (RFC 6987): others take it only where there is no other way."""
    te: bool = False
    """Announce what may be reserved on links and what is left of it, and keep what others announce (RFC 3630). All routers of an area have to, or at least take opaque advertisements, or what lies behind the others is not heard of."""
    opaque: bool = False
    """Take opaque advertisements, such as those of `te`, and flood them, though this router has no use for them (RFC 5250, RFC 3630, 1). With `te` it does so in any case."""
    spf: OspfSpf = field(default_factory=lambda: OspfSpf())
    """How computations of paths are delayed."""
    redistribute: Sequence[OspfRedistribution] = field(default_factory=list)
    """Routes of others that it announces as networks outside: it is a boundary router then."""
    virtual_links: Sequence[OspfVirtualLink] = field(default_factory=list)
    """Ways through other areas that join it to routers of the backbone."""
    interfaces: Mapping[str, OspfInterface] = field(default_factory=dict)
    """Settings for single links, by the node at the other end."""
    area: int | str | None = None
    """Its area. The backbone, which joins all others, is area 0 [default: 0; of a link, that of the router]."""
    cost: int | None = None
    """What it costs to send by it [default: the 'metric' of the link, or what the reference bandwidth makes of its rate]."""
    hello_interval: Quantity | None = None
    """From a Hello to the next, in whole seconds [default: 10 s]."""
    dead_interval: Quantity | None = None
    """A neighbour that is silent for so long is gone; in whole seconds [default: four Hellos]."""
    priority: int | None = None
    """How much it wants to be the designated router of a broadcast network; with 0 it never is [default: 1]."""
    network: Literal["point-to-point", "broadcast"] | None = None
    """What a link is [default: broadcast at a bridge, else point-to-point]."""
    passive: bool | None = None
    """Announce the link, but send and hear nothing [default: towards hosts]."""
    authentication: OspfAuthentication | None = None
    """How packets are authenticated [default: not at all]."""
    retransmit_interval: Quantity | None = None
    """After so long is sent again what was not acknowledged [default: 5 s]."""
    transmit_delay: Quantity | None = None
    """So much advertisements age when they are sent, in whole seconds [default: 1 s]."""
    te_metric: int | None = None
    """What it costs to traffic engineering [default: its 'cost']."""
    te_groups: int | None = None
    """Administrative groups that it belongs to (RFC 3630, 2.5.9): a bit for each, group 0 the lowest [default: none]."""
    srlgs: Sequence[int] = field(default_factory=list)
    """Shared risk link groups (RFC 4203): links of one may fail together."""
    bfd: BfdPace | None = None
    """Have neighbours watched by BFD (RFC 5882): true, or how closely. One that does not answer any more is lost at once [default: false]."""


@written
class OspfArea(Checked):
    """How an area is treated. All of its routers have to say the same `kind`, and its border routers the rest."""

    CHECK: ClassVar[str] = "OspfArea"
    area: int | str
    """Which one it is."""
    kind: Literal["normal", "stub", "nssa"] = "normal"
    """What comes in from outside."""
    summaries: bool = True
    """Into an area of kind stub or nssa: networks of other areas, too, not the default route alone."""
    default_cost: int = 1
    """What the default route costs that border routers announce into an area of kind stub or nssa."""
    ranges: Sequence[OspfRange] = field(default_factory=list)
    """Its networks as other areas see them."""
    nssa: OspfNssa | None = None
    """What border routers of an area of kind nssa do there [default: as RFC 3101 has it]."""


@written
class OspfRange(Checked):
    """Networks of an area that border routers announce to other areas as one, or not at all (RFC 2328, 3.5). Packets to it for which no closer route is known are dropped."""

    CHECK: ClassVar[str] = "OspfRange"
    prefix: str
    """All of the networks are in it."""
    advertise: bool = True
    """Say it to other areas; with false they do not hear of its networks."""
    cost: int | None = None
    """What it costs to get there [default: what the farthest of its networks costs]."""


@written
class OspfNssa(Written):
    """What border routers of an area do that is not so stubby (RFC 3101, D)."""

    translator: Literal["candidate", "always"] = "candidate"
    """When this one passes on what boundary routers of the area announce."""
    stability: Quantity = "40 s"
    """So long it goes on to do so when another one is to do it."""
    default_metric_type: int = 1
    """What the metric of the default route is: of type 1 or 2."""
    ranges: Sequence[OspfOutsideRange] = field(default_factory=list)
    """Networks outside that are passed on as one, or not at all."""


@written
class OspfOutsideRange(Written):
    """Networks outside that boundary routers of an area announce, as its border routers pass them on: as one, or not at all (RFC 3101, 2.2)."""

    prefix: str
    """All of the networks are in it."""
    advertise: bool = True
    """Pass it on; with false nobody else hears of its networks."""
    tag: int = 0
    """A number for other boundary routers."""


@written
class OspfSpf(Checked):
    """How computations of paths are delayed after changes (RFC 8405)."""

    CHECK: ClassVar[str] = "OspfSpf"
    initial: Quantity = "50 ms"
    """From a change to the computation when all was quiet: INITIAL_SPF_DELAY."""
    short: Quantity = "200 ms"
    """The same while what belongs to one failure may still come: SHORT_SPF_DELAY."""
    long: Quantity = "5 s"
    """The same while changes go on: LONG_SPF_DELAY."""
    learn: Quantity = "500 ms"
    """So long it takes until all is known that belongs to one failure: TIME_TO_LEARN_INTERVAL."""
    hold_down: Quantity = "10 s"
    """So long nothing changes until all is quiet again: HOLDDOWN_INTERVAL."""


@written
class OspfRedistribution(Checked):
    """Routes that a boundary router announces as networks outside (RFC 2328, 12.4.4)."""

    CHECK: ClassVar[str] = "OspfRedistribution"
    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    from_: Literal["static", "connected", "bgp"] = "static"
    """Whose routes."""
    metric: int = 20
    """What it costs to go there from the boundary router on."""
    metric_type: int = 2
    """1: the metric is added to the cost of the way to the boundary router; 2: it is more than any cost inside."""
    tag: int = 0
    """A number for other boundary routers; OSPF itself does not use it."""
    rules: Sequence[PolicyRule] = field(default_factory=list)
    """Which of them, and what is changed; without a rule, all of them. Rules may ask for `prefixes` and for the `tag` that the source gave, and set `set_metric` and `set_tag`."""


@written
class PolicyRule(Written):
    """A rule: which routes it is for, what becomes of them, and what is changed of those that go on. All that it asks has to be true of a route; a rule that asks nothing is for all. A route that no rule accepts or rejects is rejected."""

    prefixes: Sequence[str] = field(default_factory=list)
    """Destinations: any of these ranges of prefixes; without one, all destinations."""
    communities: Sequence[str] = field(default_factory=list)
    """The route has one of these communities; without one, whatever it has."""
    as_path: str | None = None
    """What its AS path is [default: any path]."""
    tag: int | None = None
    """The number that it was given by a source of routes or by an earlier rule [default: any number]."""
    action: Literal["accept", "reject", "next"] = "accept"
    """What becomes of it."""
    set_local_preference: int | None = None
    """How much it is preferred within the AS (LOCAL_PREF) [default: it stays as it is]."""
    set_metric: int | None = None
    """MULTI_EXIT_DISC in BGP, the cost in OSPF [default: it stays as it is]."""
    remove_metric: bool = False
    """Take MULTI_EXIT_DISC out."""
    set_next_hop: str | None = None
    """Where packets to IPv4 destinations go [default: it stays as it is]."""
    set_tag: int | None = None
    """A number for rules and protocols of this router; OSPF tells it others [default: it stays as it is]."""
    prepend: int = 0
    """How often an AS is put in front of the path: the router's own in what it tells, the neighbour's in what it takes."""
    add_communities: Sequence[str] = field(default_factory=list)
    """Communities that it has from now on."""
    remove_communities: Sequence[str] = field(default_factory=list)
    """Communities that it has no more."""


@written
class OspfVirtualLink(Written):
    """A virtual link (RFC 2328, 15): it joins a piece of the backbone, or a border router without a link there, to the rest, through another area. Both ends have to say it, and the same of it. What it costs follows from the way through the area."""

    area: int | str
    """The area that it leads through: both ends have links there. It is of kind normal, and not the backbone."""
    router: str
    """Its other end, a border router: the name of the node, or its router id."""
    hello_interval: Quantity | None = None
    """From a Hello to the next, in whole seconds [default: 10 s]."""
    dead_interval: Quantity | None = None
    """The other end is gone if it is silent for so long; in whole seconds [default: four Hellos]."""
    authentication: OspfAuthentication | None = None
    """How packets are authenticated [default: not at all]."""
    retransmit_interval: Quantity | None = None
    """After so long is sent again what was not acknowledged: longer than a packet takes there and back [default: 5 s]."""
    transmit_delay: Quantity | None = None
    """So much advertisements age when they are sent, in whole seconds [default: 1 s]."""
    bfd: BfdPace | None = None
    """Have the other end watched by BFD over any number of routers (RFC 5883): true, or how closely. If it does not answer any more, it is lost at once [default: false]."""


@written
class OspfAuthentication(Checked):
    """How OSPF packets are authenticated: with one key, or with a list of them. All routers of a link have to say the same."""

    CHECK: ClassVar[str] = "OspfAuthentication"
    kind: Literal["none", "simple", "md5", "sha1", "sha256", "sha384", "sha512"] = "none"
    """By what."""
    key: str | None = None
    """The secret, as text [default: none]."""
    key_id: int = 1
    """Number of the key, with MD5 and SHA."""
    keys: Sequence[OspfKey] = field(default_factory=list)
    """Several keys with their times, instead of `kind`, `key` and `key_id`: each takes over from the one before, and no neighbour is lost as long as both ends take both of them meanwhile."""


@written
class OspfKey(Written):
    """One of several keys, one after the other (RFC 2328, D.3). Times are those of the run, or of the lab."""

    key_id: int
    """Its number, which no other key of the list has."""
    kind: Literal["none", "simple", "md5", "sha1", "sha256", "sha384", "sha512"]
    """What makes digests with it: `md5`, `sha1`, `sha256`, `sha384` or `sha512`."""
    key: str
    """The secret, as text."""
    start_accept: Quantity | None = None
    """From then on packets with it are taken: KeyStartAccept [default: 0 s]."""
    start_generate: Quantity | None = None
    """From then on packets are sent with it, if no key has begun later: KeyStartGenerate [default: its 'start_accept']."""
    stop_generate: Quantity | None = None
    """From then on packets are not sent with it any more: KeyStopGenerate [default: its 'stop_accept']."""
    stop_accept: Quantity | None = None
    """From then on packets with it are not taken any more: KeyStopAccept. The last key is used on when its time is over [default: never]."""


@written
class OspfInterface(Checked):
    """OSPF on a link of a router. What is absent is as for all of its links."""

    CHECK: ClassVar[str] = "OspfInterface"
    area: int | str | None = None
    """Its area. The backbone, which joins all others, is area 0 [default: 0; of a link, that of the router]."""
    cost: int | None = None
    """What it costs to send by it [default: the 'metric' of the link, or what the reference bandwidth makes of its rate]."""
    hello_interval: Quantity | None = None
    """From a Hello to the next, in whole seconds [default: 10 s]."""
    dead_interval: Quantity | None = None
    """A neighbour that is silent for so long is gone; in whole seconds [default: four Hellos]."""
    priority: int | None = None
    """How much it wants to be the designated router of a broadcast network; with 0 it never is [default: 1]."""
    network: Literal["point-to-point", "broadcast"] | None = None
    """What a link is [default: broadcast at a bridge, else point-to-point]."""
    passive: bool | None = None
    """Announce the link, but send and hear nothing [default: towards hosts]."""
    authentication: OspfAuthentication | None = None
    """How packets are authenticated [default: not at all]."""
    retransmit_interval: Quantity | None = None
    """After so long is sent again what was not acknowledged [default: 5 s]."""
    transmit_delay: Quantity | None = None
    """So much advertisements age when they are sent, in whole seconds [default: 1 s]."""
    te_metric: int | None = None
    """What it costs to traffic engineering [default: its 'cost']."""
    te_groups: int | None = None
    """Administrative groups that it belongs to (RFC 3630, 2.5.9): a bit for each, group 0 the lowest [default: none]."""
    srlgs: Sequence[int] = field(default_factory=list)
    """Shared risk link groups (RFC 4203): links of one may fail together."""
    bfd: BfdPace | None = None
    """Have neighbours watched by BFD (RFC 5882): true, or how closely. One that does not answer any more is lost at once [default: false]."""


@written
class Ldp(Checked):
    """LDP (RFC 5036): true, or how. Routers that speak it give each other labels for the routes that they find by OSPF."""

    CHECK: ClassVar[str] = "Ldp"
    hello_interval: Quantity = "5 s"
    """From a Hello to the next."""
    hold_time: Quantity = "15 s"
    """A neighbour of which no Hello comes for so long is gone, in whole seconds; the smaller of what both say."""
    keepalive_time: Quantity = "180 s"
    """A session by which nothing comes for so long ends, in whole seconds; the smaller of what both say."""
    prefixes: Literal["loopbacks", "all"] = "all"
    """Which prefixes get a label."""
    control: Literal["independent", "ordered"] = "independent"
    """When a label is given (RFC 5036, 2.6.1)."""
    advertise: Literal["unsolicited", "on-demand"] = "unsolicited"
    """Who gets labels (RFC 5036, 2.6.3). Both ends of a session have to say 'on-demand', or all are told."""
    retention: Literal["liberal", "conservative"] = "liberal"
    """Which labels of neighbours are kept (RFC 5036, 2.6.2)."""
    loop_detection: bool = False
    """Have labels and requests say which routers they have passed, so that circles are found (RFC 5036, 2.8). It works where all routers do so."""
    hops_max: int = 254
    """Routers that the way of a label passes at most."""
    p2mp: bool = True
    """Take part in point-to-multipoint LSPs (RFC 6388), which `p2mp` of the network asks for."""
    beyond: bool = False
    """Give labels for what a protocol finds by routers further away, too, such as BGP."""
    targets: Sequence[str] = field(default_factory=list)
    """IPv4 addresses of routers further away that sessions are wanted with (RFC 5036, 2.4.2): their loopback addresses."""
    accept_targeted: bool = False
    """Take such wishes of others."""
    igp_sync: bool = False
    """Have the routing protocol avoid a link until its labels are known (RFC 5443). It needs gtsm=false."""
    igp_sync_delay: Quantity = "10 s"
    """Labels of a neighbour are known so long after the session with it has come up, unless it says when they are (RFC 5919)."""
    password: str | None = None
    """What both ends of a session sign its packets with (RFC 2385, RFC 5036, 2.9): 1 to 80 characters [default: none]."""
    gtsm: bool = True
    """Take packets of sessions only from right beside, as their time to live says (RFC 6720). A session whose packets would go by another router never comes to be then."""
    graceful_restart: bool = False
    """Go on forwarding while LDP restarts, here or at a neighbour that can do so, too (RFC 3478)."""
    reconnect_time: Quantity = "120 s"
    """Neighbours are asked to keep labels of this router for so long after they have lost the session; above zero."""
    forwarding_hold_time: Quantity = "120 s"
    """Entries from before a restart of LDP stay for so long, if nobody confirms them earlier."""
    neighbor_liveness_time: Quantity = "120 s"
    """Labels of a neighbour are kept for so long at most after its session was lost."""
    recovery_time_max: Quantity = "120 s"
    """Labels of a neighbour that is back are kept for so long at most, if it does not give them again."""
    bfd: BfdPace | None = None
    """Have neighbours watched by BFD (RFC 5882): true, or how closely. One that does not answer any more is gone at once [default: false]."""
    lsp_bfd: BfdPace | None = None
    """Have the LSPs to single addresses watched by BFD that begin here (RFC 5884): true, or how closely. Packets to what lies behind an LSP whose end is not heard any more go without its label [default: false]."""
    lsp_ping: LspPingPace | None = None
    """Have the LSPs to single addresses watched by LSP ping alone that begin here (RFC 8029): true, or how closely. Packets to what lies behind an LSP whose end does not answer any more, or that ends somewhere else, go without its label [default: false]."""


@written
class Bgp(Checked):
    """BGP-4 (RFC 4271). A router that speaks it has no routes by shortest paths."""

    CHECK: ClassVar[str] = "Bgp"
    asn: int
    """The router's AS."""
    neighbors: Mapping[str, BgpNeighbor] = field(default_factory=dict)
    """Its neighbours: nodes at the other ends of its links by name, others by address. A session with one by an IPv6 address is over IPv6."""
    mesh: BgpMesh | None = None
    """Sessions with all other routers of the network that are of the same AS and say so, too, between their loopback addresses: true, or settings of these sessions. What `neighbors` says of one of them counts in its place [default: false]."""
    networks: Sequence[str] = field(default_factory=list)
    """Destinations that it tells as its own, of IPv4 or IPv6, whether it has routes to them or not."""
    policies: Mapping[str, Sequence[PolicyRule]] = field(default_factory=dict)
    """Policies for neighbours, by name: rules in their order."""
    redistribute: Sequence[Literal["connected", "static", "ospf"] | BgpRedistribution] = field(
        default_factory=list
    )
    """Whose routes it tells as its own."""
    cluster_id: str | None = None
    """Number of its cluster as a route reflector (RFC 4456, 7) [default: its router id]."""
    hold_time: Quantity = "90 s"
    """A neighbour from which nothing comes for so long is given up, in whole seconds; the smaller of what both say. With 0 s it never is."""
    connect_retry: Quantity = "120 s"
    """From an attempt to connect to the next."""
    graceful_restart: bool = True
    """Keep the routes of a neighbour that restarts and says that it goes on forwarding, for as long as it says that this takes (RFC 4724)."""
    restart_time: Quantity | None = None
    """Go on forwarding while BGP restarts here (RFC 4724, 4.1), and ask neighbours to keep this router's routes for so long, in whole seconds [default: packets go by what was written until BGP is back, and then all of it is taken out]."""
    selection_deferral: Quantity = "360 s"
    """After such a restart routes are chosen when neighbours that had a session have told all of theirs, or after so long."""
    lsp_bfd: BfdPace | None = None
    """Have LSPs watched by BFD that begin here and whose labels BGP has given (RFC 5884): true, or how closely. Packets leave one whose end is not heard any more: they take another path to the destination if there is one, else they go without its label. Watched are LSPs to single addresses, or those of `lsp_bfd_prefixes` [default: false]."""
    lsp_ping: LspPingPace | None = None
    """The same by LSP ping alone (RFC 8029): true, or how closely. Packets leave an LSP, too, that ends somewhere else than it is to [default: false]."""
    lsp_bfd_prefixes: Sequence[str] = field(default_factory=list)
    """Which destinations' LSPs are watched: those in any of these ranges of prefixes."""


@written
class BgpNeighbor(Checked):
    """A neighbour of BGP."""

    CHECK: ClassVar[str] = "BgpNeighbor"
    KEYS: ClassVar[Mapping[str, str]] = {"import_": "import"}
    asn: int
    """Its AS: that of the router for internal BGP, any other for external BGP."""
    import_: Literal["all", "none"] | str | None = None
    """Which of its routes are taken: all, none, or those that a policy of the router lets pass [default: in another AS 'none' (RFC 8212), else 'all']."""
    export: Literal["all", "none"] | str | None = None
    """Which routes it is told, in the same way [default: in another AS 'none' (RFC 8212), else 'all']."""
    families: Sequence[Literal["ipv4", "ipv6", "ipv4-labelled", "ipv6-labelled"]] | None = None
    """Families of which routes are exchanged, if the neighbour wants that, too [default: that of its address alone]."""
    receive_paths: bool = False
    """Take several paths to a destination from it, if it tells them (RFC 7911)."""
    send_paths: Literal["all"] | int | None = None
    """Tell it so many of the best paths to a destination, or all, if it takes several (RFC 7911) [default: the best alone]."""
    client: bool = False
    """Pass routes of the same AS on to it and from it: the router is a route reflector then (RFC 4456)."""
    next_hop_self: bool = False
    """In the same AS: name the router itself as the next hop of what comes from other ASes."""
    ttl_security: int | None = None
    """Take packets of it only if they have come by so many hops at most, as their time to live says: 1 is right beside. It has to be set at both ends (RFC 5082) [default: no check]."""
    password: str | None = None
    """What both ends of the session sign its packets with (RFC 2385): 1 to 80 characters [default: none]."""
    bfd: BfdPace | None = None
    """Have it watched by BFD (RFC 5882) while there is a session: true, or how closely. The session ends as soon as it does not answer any more [default: false]."""
    hold_time: Quantity | None = None
    """Given up if nothing comes for so long, in whole seconds, in place of the router's `hold_time` [default: that of the router]."""
    maximum_prefixes: int | None = None
    """Take so many routes of it. With more the session ends (RFC 4271, 6.7), and begins anew after `connect_retry` [default: no limit]."""
    advertisement_interval: Quantity | None = None
    """Tell it changes at most so often [default: 30 s in another AS, else 5 s (RFC 4271, 10)]."""


@written
class BgpMesh(Written):
    """Settings of the sessions of a full mesh of BGP within an AS."""

    families: Sequence[Literal["ipv4", "ipv6", "ipv4-labelled", "ipv6-labelled"]] | None = None
    """Families of which routes are exchanged, if both ends want that [default: ipv4]."""
    next_hop_self: bool = True
    """Name the router itself as the next hop of what comes from other ASes, so that only loopback addresses need routes."""
    password: str | None = None
    """What both ends of a session sign its packets with (RFC 2385): 1 to 80 characters [default: none]."""
    bfd: BfdPace | None = None
    """Have the other routers watched by BFD (RFC 5882) while there is a session: true, or how closely [default: false]."""
    advertisement_interval: Quantity | None = None
    """Tell the others changes at most so often [default: 5 s (RFC 4271, 10)]."""


@written
class BgpRedistribution(Written):
    """Routes of another source that a router tells as its own."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    from_: Literal["connected", "static", "ospf"] = "static"
    """Whose routes."""
    rules: Sequence[PolicyRule] = field(default_factory=list)
    """Which of them, and what is said of them; without a rule, all of them."""


@written
class Tdp(Checked):
    """TDP, the tag-switching dialect that LDP came from: true, or how. It gives labels to the router's routes, as far as its bytes are known."""

    CHECK: ClassVar[str] = "Tdp"
    hello_interval: Quantity = "5 s"
    """From a Hello to the next."""
    prefixes: Literal["loopbacks", "all"] = "all"
    """Which prefixes get a tag."""


@written
class Bfd(Checked):
    """BFD (RFC 5880): true, or how. It watches the neighbours of those protocols of the router that say `bfd`."""

    CHECK: ClassVar[str] = "Bfd"
    interval: Quantity = "300 ms"
    """From a packet to the next, in both directions; the slower of what both ends say. Packets come up to a quarter earlier. In whole microseconds."""
    receive_interval: Quantity | None = None
    """How often the neighbour may send. Where an LSP ends that another router watches, that router says how often, and not more often than is said here [default: 'interval']."""
    multiplier: int = 3
    """After so many packets that are missing a neighbour is gone."""
    authentication: BfdAuthentication = field(default_factory=lambda: BfdAuthentication())
    """How packets are authenticated."""
    independent: bool = False
    """BFD is part of the forwarding plane, as on a line card: its packets do not wait for the control processor and cost it nothing, and say that BFD goes on while protocols of the router restart (bit C of RFC 5880, 4.1). If both ends say so, a neighbour that is lost by BFD while it restarts is not waited for (RFC 5882, 4.3)."""
    shutdown: bool = False
    """Keep all sessions down. Neighbours are told so, and nobody takes it for a failure."""


@written
class BfdAuthentication(Checked):
    """How packets of BFD are authenticated. Both ends have to say the same."""

    CHECK: ClassVar[str] = "BfdAuthentication"
    kind: Literal["none", "simple", "md5", "meticulous-md5", "sha1", "meticulous-sha1"] = "none"
    """By what."""
    key: str | None = None
    """The secret, as text [default: none]."""
    key_hex: str | None = None
    """The secret as pairs of hexadecimal digits, instead of `key` [default: none]."""
    key_id: int = 1
    """Number of the key."""


@written
class LspPing(Written):
    """LSP ping (RFC 8029): true, or how requests of others are answered."""

    respond: bool = True
    """Are requests of others answered?"""
    validate: bool = False
    """Check on the way, too, whether a label stands for the FEC of a request. At the end it is checked in any case, and on the way where the request asks for it, as those of 'lsp_traceroute' do."""
    rate: int = 200
    """Requests each second that are answered, and at once."""
    sources: Sequence[str] = field(default_factory=list)
    """Prefixes, of IPv4 and IPv6, whose requests are answered [default: all]."""


@written
class Igmp(Written):
    """IGMP on the links to hosts and on shared segments: who wants which groups."""

    version: int = 3
    """Version that it asks in: 2, or 3, which takes answers of version 2, too."""
    query_interval: Quantity = "125 s"
    """Time between two general queries."""
    response_interval: Quantity = "10 s"
    """Time in which hosts answer them."""
    last_member_interval: Quantity = "1 s"
    """Time between two queries about a group that somebody has left, in which hosts answer."""
    robustness: int = 2
    """So many messages are sent where one may get lost."""
    static_groups: Mapping[str, Sequence[IgmpStatic]] = field(default_factory=dict)
    """Groups whose packets go out on a link as long as it is up, though no host reports them, by the node at the other end."""


@written
class IgmpStatic(Written):
    """A group that is wanted on a link whatever hosts there say."""

    group: str
    """The group."""
    source: str | None = None
    """Only packets from this address are wanted [default: all of the group are]."""


@written
class Mld(Written):
    """MLD on the links to hosts and on shared segments: who wants which groups of IPv6."""

    version: int = 2
    """Version that it asks in: 1, or 2, which takes answers of version 1, too."""
    query_interval: Quantity = "125 s"
    """Time between two general queries."""
    response_interval: Quantity = "10 s"
    """Time in which hosts answer them."""
    last_listener_interval: Quantity = "1 s"
    """Time between two queries about a group that somebody has left, in which hosts answer."""
    robustness: int = 2
    """So many messages are sent where one may get lost."""
    static_groups: Mapping[str, Sequence[MldStatic]] = field(default_factory=dict)
    """Groups whose packets go out on a link as long as it is up, though no host reports them, by the node at the other end."""


@written
class MldStatic(Written):
    """A group of IPv6 that is wanted on a link whatever hosts there say."""

    group: str
    """The group."""
    source: str | None = None
    """Only packets from this address are wanted [default: all of the group are]."""


@written
class Cbt(Written):
    """Core-based trees: label-switched, and the same for all senders of a group."""

    groups: Sequence[CbtGroup] = field(default_factory=list)
    """The groups, each with its core."""
    labels: bool = True
    """Do routers hand out labels along the tree, so that only its edges look at IP headers?"""
    echo_interval: Quantity = "60 s"
    """Time between two messages by which a child asks for its parent."""
    retransmit_interval: Quantity = "5 s"
    """A join is repeated after so long."""


@written
class CbtGroup(Written):
    """A group and the core of its tree."""

    group: str
    """The group."""
    core: str
    """An address of the core, the router that the tree grows from: all routers of the tree have to say the same."""


@written
class Pim(Written):
    """PIM for source-specific groups: trees from named senders along the routes to them."""

    range: str = "232.0.0.0/8"
    """The groups: others are not forwarded by PIM."""
    hello_interval: Quantity = "30 s"
    """Time between two Hellos; a router that is not heard for 3.5 times as long is gone."""
    join_interval: Quantity = "60 s"
    """Time between two Joins for the same tree; it is left by who does not hear one for 3.5 times as long."""
    dr_priority: int = 1
    """The router with the greatest speaks for the hosts of a link; of equal ones that with the greatest address."""
    propagation_delay: Quantity = "500 ms"
    """How long a message is under way on a link at most."""
    override_interval: Quantity = "2500 ms"
    """Routers that answer a Prune of another on the link do so at a random time within this."""
    join_suppression: bool = True
    """Does a router not send a Join that it has just heard from another on the link? All routers of a link have to say `false`, or they do."""


@written
class Probing(Written):
    """Probes on the links to other routers, by which failures and repairs are noticed."""

    period: Quantity = "10 ms"
    """Time between two probes."""
    misses: int = 3
    """So many probes in a row are missed before the link is taken to be down."""
    size: int = 18
    """Bytes of a probe behind its UDP header."""


@written
class HostSpec(Written):
    """An IP host, on one link to a router: in a lab a network namespace with the kernel's own stack."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "host")
    address: str | None = None
    """Its address with the prefix length [default: those that its links say]."""
    gateway: str | None = None
    """The router's address [default: the first of the prefix]."""
    mtu: int | None = None
    """Longest packet in bytes [default: 1500]."""
    profile: str | HostProfile | None = None
    """Host profile, by name, by file (*.toml), or what it says: how its TCP behaves. In a lab its kernel does as it is set [default: modern]."""
    tcp: TcpOptions | None = None
    """How TCP behaves for its programs where a flow says nothing else, whatever the profile says [default: as the profile says]."""
    join: Sequence[str] = field(default_factory=list)
    """Groups that it wants, each perhaps with the sources that packets may come from."""
    exec: Sequence[str] = field(default_factory=list)
    """Commands run in it, in order, when the lab is up."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class HostProfile(Written):
    """What a host profile says."""

    name: str
    """Its name."""
    description: str = ""
    """What it is, and where its values come from."""
    tcp: TcpOptions = field(default_factory=lambda: TcpOptions())
    """How its TCP behaves."""


@written
class TcpOptions(Written):
    """How TCP behaves at an end."""

    buffer: Quantity | None = None
    """Bytes of the send buffer and of the receive buffer of a socket [default: 256 KiB]."""
    send_buffer: Quantity | None = None
    """Bytes of the send buffer: what is written waits there until it is acknowledged [default: as buffer]."""
    receive_buffer: Quantity | None = None
    """Bytes of the receive buffer: what is free of it is the window [default: as buffer]."""
    mss: int | None = None
    """Most bytes of data in a segment [default: what a packet of the link holds]."""
    congestion: Literal["none", "reno", "cubic"] | None = None
    """How a sender answers loss: none, reno or cubic [default: cubic]."""
    window_scaling: bool | None = None
    """Are windows above 65535 bytes offered and taken (RFC 7323)? [default: true]."""
    sack: bool | None = None
    """Are selective acknowledgements offered and taken (RFC 2018)? [default: true]."""
    ack_delay: Quantity | None = None
    """How long an acknowledgement waits at most for more to acknowledge; zero says that it does not wait [default: 40 ms]."""
    nagle: bool | None = None
    """Does a short segment wait while others are not acknowledged (Nagle's algorithm)? [default: true]."""


@written
class StationSpec(Written):
    """A namespace with bare interfaces for the measuring process, a host with several links."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "station")
    driver: Literal["packet", "xdp"] | None = None
    """How it opens its interfaces in a lab [default: packet]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class EdgeSpec(Written):
    """The tester's emulated edge router, on one link: in a lab a namespace with a bare interface for the measuring process."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "edge")
    rsvp: RsvpSpec = field(default_factory=lambda: RsvpSpec())
    """Its signalling."""
    router_id: str | None = None
    """Router id [default: given by the network]."""
    programme: Sequence[StepSpec] = field(default_factory=list)
    """What is done to LSPs that begin there, and when; without it nothing is signalled, but in a file what `signal` of the LSPs says [default: LSPs are signalled at once, 1000 a second]."""
    log_signals: int = 0
    """How many signalling messages are kept for table `signals`."""
    driver: Literal["packet", "xdp"] | None = None
    """How the tester opens the interface in a lab [default: packet]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class StepSpec(Written):
    """A step of a programme: something is done to all LSPs of a group, evenly spaced."""

    at: Quantity = 0
    """When it begins."""
    action: Literal["signal", "flap", "tear"]
    """What is done."""
    lsps: str
    """To which group of LSPs, by its name."""
    rate: float | None = None
    """How many messages are sent per second; above zero [default: all at once]."""


@written
class ExternalSpec(Written):
    """Somebody else's router beyond an interface that exists already, or beyond several."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "external")
    interface: str | None = None
    """The interface, used where it is [default: the one that the endpoint names]."""
    router_id: str | None = None
    """Its router id: an LSP to it needs one."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class PeerSpec(Written):
    """A raw port, on one link."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "peer")
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class BridgeSpec(Written):
    """A shared segment: a learning bridge without spanning tree (IEEE 802.1D). Routers on links to it have the lowest free addresses of its prefix, in the order of links; hosts have those that they say."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "bridge")
    prefix: str
    """The network that all its members are in, such as `10.1.0.0/24`."""
    ageing: Quantity = "300 s"
    """How long it remembers by which port a silent station is."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class SwitchSpec(Written):
    """An OpenFlow switch. Its ports have the numbers 1, 2 and so on, in the order of links. A link with `addresses` is none of them but a management port: over TCP of its own the switch talks to controllers there. A switch without one has them over TCP of the kernel, in a lab only, where it is a process in a network namespace."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "switch")
    prefix: str
    """The network that all its members are in, such as `10.1.0.0/24`."""
    controllers: Sequence[str] = field(default_factory=list)
    """Its controllers: `tcp:ADDRESS:PORT` to connect to, `ptcp:PORT` to listen for; `ssl:ADDRESS:PORT` and `pssl:PORT` are the same over TLS."""
    tls: TlsSpec | None = None
    """By what the switch and its controllers know each other over TLS. In virtual time, where nobody is at the other end, it is only looked at [default: none of them is over TLS]."""
    datapath_id: int | None = None
    """What controllers know it by, beyond zero [default: its place among the nodes]."""
    version: Literal["both", "1.0", "1.3"] = "both"
    """Versions of OpenFlow that it speaks."""
    fail: Literal["secure", "standalone"] = "secure"
    """What it does while no controller is connected."""
    tables: int = 64
    """How many flow tables it has."""
    max_entries: int = 1000000
    """Entries that each table has room for."""
    buffers: int = 256
    """Packets that it keeps for controllers, which get their beginnings; with none they get all of them."""
    probe: Quantity = "5 s"
    """After how long it asks a silent controller whether it is there; zero for never."""
    profile: SwitchProfileSpec | None = None
    """Switch profile: how long it takes for what it does, where it has a management port [default: it takes no time]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class TlsSpec(Written):
    """Files in PEM form by which a switch and its controllers know each other over TLS, named as by Open vSwitch. In a network file a path begins at the folder of that file."""

    private_key: str
    """The private key of the switch: RSA of 2048 bits or more, ECDSA (P-256, P-384) or Ed25519, not encrypted."""
    certificate: str
    """The certificate of the switch; those of authorities between it and the one that controllers know may follow."""
    ca_cert: str
    """Certificates of authorities, one of which has to have signed the certificate of each controller."""


@written
class SwitchProfileSpec(Written):
    """What a switch profile says. Nothing is left out: a switch that was measured has a value for each, and zero is one of them."""

    name: str
    """What people call it: the model of the switch that was measured."""
    description: str
    """What it is, and where its values come from."""
    pipeline: Quantity
    """The way of a frame through the datapath, whatever its length."""
    pipeline_per_byte: Quantity
    """The same for each byte."""
    packet_in: Quantity
    """A PACKET_IN, from the frame to the channel."""
    packet_in_per_byte: Quantity
    """The same for each byte of the message."""
    packet_in_every: Quantity
    """From a PACKET_IN to the next at least, on average, beyond which packets are dropped; zero for no limit."""
    packet_in_burst: int
    """Packets that may come at once nevertheless."""
    packet_in_queue: int
    """Packets that wait to be PACKET_INs, beyond which they are dropped; zero for no limit."""
    packet_out: Quantity
    """A PACKET_OUT, from the channel to the port."""
    packet_out_per_byte: Quantity
    """The same for each byte of the message."""
    socket_stall: Quantity
    """What a packet takes at least in the socket to the device's proxy while that is in use."""
    socket_linger: Quantity
    """So long after a packet was given to it the socket counts as in use."""
    echo: Quantity
    """An echo request, from the channel to its answer."""
    message: Quantity
    """A message that is none of the others which have a time here."""
    remote_call: Quantity
    """What a change of entries takes beside the entries: the call of a driver on another machine."""
    entry_write: Quantity
    """Writing an entry into the table of the device."""
    entry_write_per_entry: Quantity
    """The same of an addition, for each entry that is there already."""
    reset_bytes: int
    """Bytes of messages that wait, beyond which the connection is reset; zero for no limit."""


@written
class OvsSpec(Written):
    """An Open vSwitch of the lab's own: a network namespace with its database and its daemon, whose bridge `br0` has the userspace datapath. Its ports have the numbers 1, 2 and so on, in the order of links. A link with `addresses` is none of them: by it the kernel of the namespace talks to controllers."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "ovs")
    prefix: str
    """The network that all its members are in, such as `10.1.0.0/24`."""
    controllers: Sequence[str] = field(default_factory=list)
    """Its controllers: `tcp:ADDRESS:PORT` to connect to, `ptcp:PORT` to listen for; `ssl:ADDRESS:PORT` and `pssl:PORT` are the same over TLS."""
    tls: TlsSpec | None = None
    """By what it and its controllers know each other over TLS [default: none of them is over TLS]."""
    datapath_id: int | None = None
    """What controllers know it by, beyond zero [default: its place among the nodes]."""
    version: Literal["both", "1.0", "1.3"] = "both"
    """Versions of OpenFlow that it speaks."""
    fail: Literal["secure", "standalone"] = "secure"
    """What it does while no controller is connected."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class AtmLsrSpec(Written):
    """An ATM-LSR: its links of medium atm lead to others of its kind and to routers."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "atm-lsr")
    merge: bool = False
    """VC merge: packets to one prefix leave by one channel, whichever they came by. Their cells wait for the last one of their packet."""
    ubr_cells: int = 8192
    """Cells that wait at a port at most whose link says no `buffer`."""
    epd_cells: int | None = None
    """From so many waiting cells on, packets are dropped whole (early packet discard) [default: a packet is dropped from the first cell on that finds no room]."""
    profile: str | Mapping[str, Any] = "ideal"
    """Device profile, by name, by file (*.toml), or what it says."""
    router_id: str | None = None
    """Router id [default: given by the network]."""
    routes: Sequence[RouteSpec] = field(default_factory=list)
    """Static routes, beside those that lead to every node by the shortest path or that its protocols find."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""
    greet: GreetSpec | None = None
    """Greet, a made-up protocol: an example for developers [default: not spoken]."""
    ospf: Ospf | None = None
    """OSPF version 2 (RFC 2328): true, or how. It finds the router's routes [default: not spoken]."""
    ldp: Ldp | None = None
    """LDP (RFC 5036): true, or how. It gives labels to the router's routes [default: not spoken]."""
    bgp: Bgp | None = None
    """BGP-4 (RFC 4271): its AS, its neighbours, and what it tells them [default: not spoken]."""
    tdp: Tdp | None = None
    """TDP, the tag-switching dialect that LDP came from: true, or how. It gives labels to the router's routes [default: not spoken]."""
    bfd: Bfd | None = None
    """BFD (RFC 5880): true, or how closely it watches the neighbours of protocols with 'bfd' [default: not spoken]."""
    lspping: LspPing | None = None
    """LSP ping (RFC 8029), which every router answers: how [default: not spoken]."""
    igmp: Igmp | None = None
    """IGMP: which groups the hosts of its links want [default: not spoken]."""
    mld: Mld | None = None
    """MLD: which groups of IPv6 the hosts of its links want [default: not spoken]."""
    cbt: Cbt | None = None
    """CBT, core-based trees: label-switched, one for each group [default: not spoken]."""
    pim: Pim | None = None
    """PIM for groups with named senders (SSM) [default: not spoken]."""
    probing: Probing | None = None
    """Probes on the links to other routers, as in a published study [default: not spoken]."""


@written
class AtmSwitchSpec(Written):
    """An ATM switch. It is joined to others by links of medium atm, and its table follows from the circuits of the network. The port of a circuit's end makes cells of packets, so that one beside a router may stand for the router's own ATM interface."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "atm-switch")
    cbr_cells: int = 256
    """Cells of constant bit rate that wait at a port at most."""
    ubr_cells: int = 8192
    """The same of unspecified bit rate, at ports whose link says no `buffer`."""
    epd_cells: int | None = None
    """From so many waiting cells on, packets of unspecified bit rate are dropped whole (early packet discard) [default: cells are dropped one by one]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class FrrSpec(Written):
    """A router of FRRouting: in a lab a network namespace whose kernel forwards, with the daemons in it. Without a configuration it is set up to be a neighbour of the routers on its links."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "frr")
    config: str | None = None
    """Its configuration (`frr.conf`), a file beside this one. What is in it says which daemons are started [default: made of what its neighbours say]."""
    router_id: str | None = None
    """Its address on `lo`, and the number that others know it by [default: given by the network]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class BirdSpec(Written):
    """A router of BIRD 2: in a lab a network namespace whose kernel forwards, with BIRD in it. Without a configuration it is set up to be a neighbour of the routers on its links."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "bird")
    config: str | None = None
    """Its configuration (`bird.conf`), a file beside this one [default: made of what its neighbours say]."""
    router_id: str | None = None
    """Its address on `lo`, and the number that others know it by [default: given by the network]."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class ReflectorSpec(Written):
    """A plug at the end of one link: every frame to one station goes back, with its Ethernet addresses exchanged."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "reflector")
    hold: Quantity = 0
    """How long it keeps a frame."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class OpenFlowTesterSpec(Written):
    """A tester of an OpenFlow switch: a link with `addresses` leads to a management port of the switch, and two others to ports of its datapath. It waits for the switch to connect, and then does one test."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "openflow-tester")
    test: Literal[
        "packet-in",
        "packet-in-action",
        "packet-out",
        "control",
        "data",
        "flow-add",
        "flow-mod",
        "flow-expiry",
        "statistics",
    ] = "packet-in"
    """Which messages or packets are sent, and what is measured of them."""
    version: Literal["1.0", "1.3"] = "1.0"
    """The version of OpenFlow that it speaks."""
    rate: Quantity = "10 Mbit/s"
    """Sets the time between two packets: size x 8,000,000 / (rate in Mbit/s x 1024 x 1024) microseconds."""
    size: int = 1500
    """Length of a packet, without its frame check sequence."""
    every: int = 1000
    """One packet of so many is stamped and sent."""
    fill: bool = False
    """In test `data`: those between stamped packets are sent, too."""
    duration: Quantity = "60 s"
    """How long packets are sent."""
    flows: int = 1
    """Entries that are added or changed at once."""
    wait: Quantity = "10 s"
    """From the first packet of the stream to the first addition or change, and between two rounds."""
    lead: Quantity = 0
    """From a packet of the stream to the additions or changes that begin with it."""
    confirm: bool = False
    """Each entry has to pass a probe of its own once the last one works."""
    timeout: int = 1
    """In test `flow-expiry`: seconds after which entries go by themselves (hard timeout)."""
    listen: int = 6633
    """The TCP port that it waits at."""
    from_port: int = 1
    """The number of the switch's port that packets go to."""
    to_port: int = 2
    """The number of the switch's port that they come back from."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """For people and other tools; not used."""


@written
class FlowSpec(Written):
    """A flow of test packets."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    name: str | None = None
    """Its name, of which there is one only [default: FROM-TO]."""
    from_: str
    """Where it begins: a host, a station, an edge, a router."""
    to: str
    """Where it ends."""
    group: str | None = None
    """The group that its packets go to, instead of the address of a node. Hosts that receive it have joined it [default: it goes to a node]."""
    receivers: Sequence[str] = field(default_factory=list)
    """Hosts that receive it beside `to`, if it goes to a group."""
    family: Literal["ipv4", "ipv6"] | None = None
    """Which IP its packets are of: ipv6 takes that both ends have IPv6 addresses, of hosts the link that it goes by. A flow to a group is of the group's [default: that of the group, else ipv4]."""
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
    hops: int | None = None
    """Routers between its ends that lower the TTL of its packets, by which their TTL is checked at the end of an LSP [default: checked is only that it became lower]."""
    from_link: str | None = None
    """Link by which it leaves a node with several: the neighbour, or NODE:INTERFACE of either end [default: on the shortest path]."""
    to_link: str | None = None
    """Link at whose address it ends, in the same way [default: on the shortest path]."""


@written
class UniformSizes(Written):
    """Sizes between two bounds, each equally often."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "uniform")
    min: Quantity
    """The least."""
    max: Quantity
    """The greatest."""


@written
class EmpiricalSizes(Written):
    """Some sizes, each as often as its weight says."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "empirical")
    sizes: Sequence[Quantity]
    """The sizes."""
    weights: Sequence[float] = field(default_factory=list)
    """Their weights, in any unit [default: all the same]."""


@written
class ExponentialSizes(Written):
    """Exponential sizes, cut at both ends."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "exponential")
    mean: Quantity
    """Mean before the cut."""
    min: Quantity = 64
    """What is shorter becomes that."""
    max: Quantity = 9018
    """What is longer becomes that."""


@written
class OnOff(Written):
    """A source that is on and off in turn, at constant rate while it is on."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "on-off")
    on: PeriodSpec
    """How long it is on: a mean, or `{mean: 300 ms, kind: pareto, shape: 1.5}`."""
    off: PeriodSpec
    """How long it is off, in the same way."""
    rate_is_mean: bool = False
    """`rate` of the flow is the mean over both, not that while it is on."""


@written
class PeriodSpec(Written):
    """How long a source is on or off."""

    mean: Quantity
    """Mean length."""
    kind: Literal["exponential", "pareto", "constant"] = "exponential"
    """Distribution of the lengths."""
    shape: float = 1.5
    """Of a Pareto distribution: the tail falls as the length to minus this; above 1."""


@written
class Trace(Written):
    """Packets one by one, listed or from a capture."""

    WORD: ClassVar[tuple[str, str] | None] = ("kind", "trace")
    gaps: Sequence[Quantity] = field(default_factory=list)
    """Times from the packet before (of the first: from the start)."""
    sizes: Sequence[Quantity] = field(default_factory=list)
    """Bytes of each frame [default: `size` of the flow]."""
    pcap: str | None = None
    """Capture (pcap, pcapng) that gives gaps and sizes, beside this file."""
    limit: int | None = None
    """Take so many frames of the capture at most."""
    repeat: bool = False
    """Begin again after the last."""


@written
class MeasuringSpec(Written):
    """When phases of the measurement begin, and how delays are measured."""

    phases: Sequence[Quantity] = field(default_factory=list)
    """When phases begin; packets that are due before the first are in phase -1."""
    convention: Literal["first-to-first", "first-to-last", "last-to-last", "last-to-first"] = "first-to-first"
    """From which bit at the source to which bit at the sink a delay is measured (RFC 1242, 3.8)."""
    series_bin: Quantity = "10 ms"
    """Width of the bins of series of delays."""
    loss_bin: Quantity = "1 s"
    """Width of the bins of time in which lost packets are counted."""


@written
class EventSpec(Written):
    """Something that is done to the network while it runs: a time of one form, and one action."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from", "for_": "for"}
    at: Quantity | None = None
    """When it happens, once."""
    every: Quantity | None = None
    """How often it happens."""
    random: RandomSpec | None = None
    """It happens at random times."""
    from_: Quantity | None = None
    """With `every`, when it happens first; with `random`, when the first gap begins [default: the start of the run]."""
    until: Quantity | None = None
    """With `every` and `random`, it does not happen after this [default: the end of the run]."""
    times: int | None = None
    """With `every` and `random`, how many times it happens [default: without limit]."""
    for_: Quantity | None = None
    """How long it lasts: then what failed comes back, a disturbance is over, an LSP that was torn down is signalled, a flow that was started stops [default: until something else ends it]."""
    fail: str | Sequence[str] | None = None
    """A link that is cut, by its two ends, or a node that goes down, and its links with it."""
    heal: str | Sequence[str] | None = None
    """A link or a node that is mended, with all that disturbs it, or `all`."""
    restart: str | None = None
    """A node that goes down, and restarts without its state after the time of `for`, or 1 s. Its links stay up."""
    loss: LossSpec | None = None
    """Frames get lost, each independently."""
    corruption: CorruptionSpec | None = None
    """Bits are inverted, each independently."""
    duplication: LossSpec | None = None
    """Frames arrive twice."""
    reordering: ReorderingSpec | None = None
    """Frames are overtaken by others."""
    delay: DelaySpec | None = None
    """Frames take longer."""
    rate: RateSpec | None = None
    """A link becomes slower."""
    flap: str | Sequence[str] | None = None
    """An LSP that is torn down and signalled again, at once or after the time of `for`; or a link that goes down for that time."""
    signal: str | None = None
    """LSPs that are signalled."""
    tear: str | None = None
    """LSPs that are torn down."""
    start: str | None = None
    """A flow that begins to send; if nothing stopped it before, it does not send from the start. Or demands: all of them (`demands`), those of a class, or those of a pair of nodes such as `a-b`."""
    stop: str | None = None
    """A flow that stops sending, or demands."""


@written
class RandomSpec(Written):
    """When something happens at random: gaps are exponentially distributed."""

    mean: Quantity
    """Mean of the gaps."""
    stream: str | None = None
    """Random stream that the gaps are drawn from: events with one stream happen at the same times [default: one of the event's own, by its place]."""


@written
class LossSpec(Written):
    """Frames that get lost, or arrive twice."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    on: Sequence[str]
    """Link, by its two ends."""
    share: float | str
    """Share of the frames, 0 to 1 or in percent; zero takes it away."""
    from_: str | None = None
    """Node that sends in the direction that is disturbed [default: both directions]."""


@written
class CorruptionSpec(Written):
    """Bits that are inverted, so that the receiver drops the frame."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    on: Sequence[str]
    """Link, by its two ends."""
    share: float | str
    """Share of the bits (bit error rate); zero takes it away."""
    deliver: bool = False
    """Receivers take the frames with their wrong bits."""
    from_: str | None = None
    """Node that sends in the direction that is disturbed [default: both directions]."""


@written
class ReorderingSpec(Written):
    """Frames that are held back, so that others overtake them."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    on: Sequence[str]
    """Link, by its two ends."""
    share: float | str
    """Share of the frames, 0 to 1 or in percent; zero takes it away."""
    by: Quantity = "1 ms"
    """How long they are held back."""
    from_: str | None = None
    """Node that sends in the direction that is disturbed [default: both directions]."""


@written
class DelaySpec(Written):
    """Delay of all frames, in addition to the link's own."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    on: Sequence[str]
    """Link, by its two ends."""
    extra: Quantity
    """How much longer at least."""
    jitter: Quantity = 0
    """How much longer than that at most, evenly distributed."""
    from_: str | None = None
    """Node that sends in the direction that is disturbed [default: both directions]."""


@written
class RateSpec(Written):
    """A limit to the rate of a link's ports."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    on: Sequence[str]
    """Link, by its two ends."""
    limit: Quantity
    """Rate at which its ports send at most."""
    from_: str | None = None
    """Node that sends in the direction that is slowed down [default: both directions]."""


@written
class TcpSpec(Written):
    """Programs at two hosts that talk over TCP."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from"}
    name: str | None = None
    """Its name, of which there is one only [default: FROM-TO]."""
    from_: str
    """The host that begins its connections."""
    to: str
    """The host that waits for them."""
    application: Literal["bulk", "request-response"] = "bulk"
    """What the programs do."""
    bytes: Quantity | None = None
    """Bytes that each sender sends on each connection, in bulk [default: until it stops]."""
    duplex: Literal["half", "full"] = "half"
    """Which ends send in bulk."""
    message: Quantity | None = None
    """Bytes that a program writes at a time, in bulk [default: 16 KiB]."""
    request: Quantity | None = None
    """Bytes of a request [default: 1 B]."""
    response: Quantity | None = None
    """Bytes of an answer [default: 1 B]."""
    transactions: int | None = None
    """Requests on each connection, one after the other [default: until it stops]."""
    connections: int = 1
    """Connections, which are all begun at once."""
    family: Literal["ipv4", "ipv6"] | None = None
    """Which IP its packets are of [default: ipv4]."""
    dscp: str | int = "default"
    """Code point, by name or number."""
    port: int | None = None
    """The port that the server waits at [default: one from 5001 on, its own]."""
    start: Quantity = 0
    """When its connections are begun."""
    stop: Quantity | None = None
    """When nothing more is written, and they are closed [default: when all is sent, or with the run]."""
    from_link: str | None = None
    """Link by which it leaves a host with several: the neighbour, or NODE:INTERFACE of either end [default: on the shortest path]."""
    to_link: str | None = None
    """Link at whose address it ends, in the same way [default: on the shortest path]."""
    buffer: Quantity | None = None
    """Bytes of the send buffer and of the receive buffer of a socket [default: 256 KiB]."""
    send_buffer: Quantity | None = None
    """Bytes of the send buffer: what is written waits there until it is acknowledged [default: as buffer]."""
    receive_buffer: Quantity | None = None
    """Bytes of the receive buffer: what is free of it is the window [default: as buffer]."""
    mss: int | None = None
    """Most bytes of data in a segment [default: what a packet of the link holds]."""
    congestion: Literal["none", "reno", "cubic"] | None = None
    """How a sender answers loss: none, reno or cubic [default: cubic]."""
    window_scaling: bool | None = None
    """Are windows above 65535 bytes offered and taken (RFC 7323)? [default: true]."""
    sack: bool | None = None
    """Are selective acknowledgements offered and taken (RFC 2018)? [default: true]."""
    ack_delay: Quantity | None = None
    """How long an acknowledgement waits at most for more to acknowledge; zero says that it does not wait [default: 40 ms]."""
    nagle: bool | None = None
    """Does a short segment wait while others are not acknowledged (Nagle's algorithm)? [default: true]."""


@written
class DemandsSpec(Written):
    """Demands between nodes, each of which is a flow: a traffic matrix, listed, in a file or by the gravity model."""

    file: str | None = None
    """Matrix beside this file: CSV with the columns from, to, rate and perhaps class, or SNDlib's XML or native text."""
    unit: Quantity | None = None
    """What a number of the file without a unit counts [default: 1 bit/s of CSV, 1 Mbit/s of SNDlib]."""
    matrix: Sequence[DemandSpec] = field(default_factory=list)
    """The demands one by one."""
    gravity: GravitySpec | None = None
    """Rates by weights of nodes, between pairs that the matrix does not list."""
    scale: float = 1.0
    """All rates are multiplied by it."""
    classes: Mapping[str, DemandClassSpec] = field(default_factory=dict)
    """Classes by name [default: one without a name]."""
    start: Quantity = 0
    """When they start."""
    stop: Quantity | None = None
    """When they stop [default: with the run]."""


@written
class DemandSpec(Written):
    """A demand: how much goes from a node to another. In short `[FROM, TO, RATE]` or `[FROM, TO, RATE, CLASS]`."""

    KEYS: ClassVar[Mapping[str, str]] = {"from_": "from", "class_": "class"}
    from_: str
    """Where it begins."""
    to: str
    """Where it ends."""
    rate: Quantity
    """How much, in frames with their frame check sequence."""
    class_: str | None = None
    """Of which class all of it is [default: each class has its share]."""


@written
class GravitySpec(Written):
    """Rates by the gravity model: between two nodes as much as the product of their weights says."""

    total: Quantity
    """All rates together."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of nodes by name; a node without one has none. If nothing is said, every router has the same."""


@written
class DemandClassSpec(Written):
    """A class of demands."""

    dscp: str | int = "default"
    """Code point of its packets, by name or number."""
    share: float | None = None
    """Which part of each rate that names no class is of this class, 0 to 1 [default: what the shares of others leave, in equal parts]."""
    size: SizesSpec = 512
    """Frame with header and frame check sequence, in bytes: bytes, imix, or a mapping of kind uniform, empirical or exponential."""
    arrivals: ArrivalsSpec = "poisson"
    """When packets are due: poisson, constant, or a mapping of kind on-off."""


@written
class Match(Checked):
    """Packets that match every field that is given; a match with no field takes every packet."""

    CHECK: ClassVar[str] = "Match"
    phb: str | int | Sequence[str | int] | None = None
    """Per-hop behaviours, one or several: as the node determined them; of a packet of which it has not, what its outermost header says: the TC of a label by the standard map, the code point of an IP header. What has neither (ARP) gets default forwarding."""
    dscp: str | int | Sequence[str | int] | None = None
    """Code points in the IP header, one or several, looked up below labels too; of IPv6 in its traffic class."""
    tc: int | Sequence[int] | None = None
    """TC bits of the outermost label, 0 to 7, one or several."""
    labels: int | str | Sequence[int] | None = None
    """The outermost label, or first-last."""
    labelled: bool | None = None
    """Is there a label?"""
    src: str | None = None
    """Source addresses, as a prefix of IPv4 or IPv6; looked up below labels too, as the four below."""
    dst: str | None = None
    """Destination addresses, as a prefix of the same family."""
    protocol: str | int | None = None
    """IP protocol: tcp, udp, icmp and so on, or its number."""
    src_ports: int | str | Sequence[int] | None = None
    """Source port, or first-last."""
    dst_ports: int | str | Sequence[int] | None = None
    """Destination port, or first-last."""
    mark: int | None = None
    """The mark that a conditioner put on it; zero is none."""
    inputs: str | int | Sequence[str | int] | None = None
    """Where it came from, one or several: neighbours or interfaces by name, or numbers of ports."""


Meter: TypeAlias = TokenBucket | SingleRate | TwoRate
"""A meter. Buckets are full at first."""


Queue: TypeAlias = Pfifo | Bfifo | Tbf | Prio | Red | Gred | Cbq | Htb | Drr | FqCodel
"""A queue discipline."""


LspDiffServ: TypeAlias = ELsp | LLsp | str
"""What the head end of an LSP asks for (RFC 3270, 5.3): `e-lsp`, `l-lsp AF1`, or a mapping with a kind."""


RoutingSpec: TypeAlias = ShortestSpec | Literal["shortest"]
"""How the routes of a network come about."""


NodeSpec: TypeAlias = (
    RouterSpec
    | HostSpec
    | StationSpec
    | EdgeSpec
    | ExternalSpec
    | PeerSpec
    | BridgeSpec
    | SwitchSpec
    | OvsSpec
    | AtmLsrSpec
    | AtmSwitchSpec
    | FrrSpec
    | BirdSpec
    | ReflectorSpec
    | OpenFlowTesterSpec
)
"""A node, by its kind."""


SizesSpec: TypeAlias = UniformSizes | EmpiricalSizes | ExponentialSizes | Quantity | str
"""Sizes that differ."""


ArrivalsSpec: TypeAlias = OnOff | Trace | Literal["constant", "poisson"]
"""Packets that are not evenly spaced by a rate alone."""
