"""Routers, emulated edge routers and raw peers, as handles on a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import units
from ..errors import TwinplaneError
from ..units import Quantity
from .handles import Lsp, Node, Owner, P2mp

if TYPE_CHECKING:
    import polars as pl

    from .handles import Hop


__all__ = [
    "AtmLsr",
    "AtmSwitch",
    "Edge",
    "External",
    "HeadEnd",
    "Host",
    "Node",
    "Peer",
    "Prober",
    "Router",
    "Switch",
]


class HeadEnd(Node):
    """A node where LSPs begin."""

    def lsp(
        self,
        name: str,
        to: Node | str,
        route: Sequence[Hop] = (),
        bandwidth: Quantity = 0,
        fallback: Sequence[Hop] = (),
        *,
        count: int = 1,
        loose: bool = False,
        shortest: bool = False,
        setup_priority: int = 7,
        holding_priority: int | None = None,
        style: str = "shared-explicit",
        record_route: bool = True,
        record_labels: bool = False,
        retry_first: Quantity | None = None,
        retry_max: Quantity | None = None,
        retry_limit: int | None = None,
        signal: bool = True,
        carries: Sequence[str] | str = (),
        filters: Sequence[Mapping[str, Any]] = (),
        when_down: str = "route",
        diffserv: Any = None,
        classes: Sequence[str | int] | str | int = (),
        path: Mapping[str, Any] | None = None,
        autoroute: bool = False,
        bfd: Mapping[str, Any] | bool = False,
        lsp_ping: Mapping[str, Any] | bool = False,
        protection: Mapping[str, bool | str] | None = None,
        bypass: Hop | None = None,
    ) -> Lsp:
        """An LSP (or `count` alike) from here, signalled when the network runs on.

        `route` is the explicit route after this node, as nodes, names, or links where there are
        parallel ones; without it the head end computes a path where it knows of traffic engineering (OSPF
        with `te`), and elsewhere the packets' own way is taken. `fallback` is tried when `route` fails. With
        `shortest` the shortest path is an explicit route behind these.

        `path` says what is asked of a computed path beside bandwidth and priority: `metric` (``"te"`` or
        ``"igp"``), `hop_limit`, `exclude_any`, `include_any` and `include_all` (groups of links, a bit for
        each), `exclude_srlgs`, `exclude` (routers, ``"NODE:INTERFACE"`` for links), `reoptimise` (how often a
        better one is looked for) and `follow` (look whenever something changes). With `k` the best `k` paths
        are looked for at once, and tried in their order when one is refused or fails; with `standby`
        (``"link"``, ``"node"`` or ``"srlg"``: what the two have not in common) another LSP is kept set up
        along a disjoint path, and takes over when the first fails. Table `lsp_paths` shows the paths.

        With `autoroute` routes to what lies behind its end, by all shortest paths of OSPF (with `te`), lead
        through it.

        With `protection` routers on its way lead it around what fails (RFC 4090), if they have bypass
        tunnels: ``{}`` around links, ``{"node": True}`` around routers, too, where that can be, and with
        ``"bandwidth": True`` by bypass tunnels that have as much bandwidth. Routers make bypass tunnels
        themselves if they are made with ``protection="facility"``. With ``"method": "one-to-one"`` each
        router that knows of traffic engineering (OSPF with `te`) sets up a detour for this LSP alone
        instead; table `detours` shows them. With ``"method": "1:1"`` a second LSP along a disjoint path
        stands by from end to end (``"disjoint": "link"``, ``"node"`` or ``"srlg"``), and the traffic goes
        back after a wait if ``"revert_after"`` says how long. With ``"method": "1+1"`` that LSP carries each
        packet, too, and the tail end takes those of one: table `selectors`. With `bypass` it is a bypass
        tunnel itself, which LSPs take when the link from here to that neighbour fails; it ends at the
        neighbour, or at a router after it.

        `carries` are prefixes whose packets take the LSP; `filters` take packets wherever they go, by
        `src`, `dst`, `protocol`, `src_ports`, `dst_ports` and `dscp`, as in a network file
        (docs/reference/network-file.md). Both are for one LSP, not for a group. Filters override routes and
        prefixes; those of the LSP that was described first are looked at first. While the LSP is down, the
        packets of its filters go by `route`, or with ``when_down="drop"`` nowhere.

        With `bfd` (true, or `interval` and `multiplier`) it fails when its end is not heard any more
        (RFC 5884). With `lsp_ping` (true, or `interval` and `misses`) LSP ping watches it alone (RFC 8029):
        it fails when its end does not answer any more, or when it ends somewhere else.

        `diffserv` makes it an E-LSP or an L-LSP of RFC 3270: ``"e-lsp"``, ``"l-lsp AF1"``, or an `ELsp` or
        `LLsp` of `twinplane.diffserv`. With `classes` only packets of these behaviours take it on their way
        to `carries`: there may be several LSPs to the same prefixes, each for its behaviours.
        """
        return self.owner.add_lsp(
            self,
            name,
            to,
            route=route,
            bandwidth=bandwidth,
            fallback=fallback,
            count=count,
            loose=loose,
            shortest=shortest,
            setup_priority=setup_priority,
            holding_priority=holding_priority,
            style=style,
            record_route=record_route,
            record_labels=record_labels,
            retry_first=retry_first,
            retry_max=retry_max,
            retry_limit=retry_limit,
            signal=signal,
            carries=carries,
            filters=filters,
            when_down=when_down,
            diffserv=diffserv,
            classes=classes,
            path=path,
            autoroute=autoroute,
            bfd=bfd,
            lsp_ping=lsp_ping,
            protection=protection,
            bypass=bypass,
        )

    def p2mp(
        self,
        name: str,
        leaves: Sequence[Node | str],
        *,
        protocol: str = "rsvp-te",
        lsp_id: int | None = None,
        bandwidth: Quantity = 0,
        group: Sequence[str] | str = (),
        carries: Sequence[str] | str = (),
        filters: Sequence[Mapping[str, Any]] = (),
        routes: Mapping[str, Sequence[Hop]] | None = None,
        loose: bool = False,
        path: Mapping[str, Any] | None = None,
        tree: str = "shortest",
        signalling: str = "together",
        setup_priority: int = 7,
        holding_priority: int | None = None,
        style: str = "shared-explicit",
        record_route: bool = True,
        protection: Mapping[str, Any] | None = None,
        bfd: Mapping[str, Any] | bool = False,
        retry_first: Quantity | None = None,
        retry_max: Quantity | None = None,
    ) -> P2mp:
        """A point-to-multipoint LSP from here to several routers, copied where its tree branches.

        With ``protocol="rsvp-te"`` this node signals it (RFC 4875). With ``"ldp"`` leaves join along the
        routes to this node (RFC 6388), all routers on the way speak LDP, and of what follows only `group`,
        `carries`, `filters` and `bfd` may be said, and `lsp_id`, the generic LSP identifier.

        `group` are groups whose packets take it that hosts here send; at leaves they go to hosts that have
        joined (routers there speak IGMP, or MLD). `carries` are prefixes, and `filters` packets wherever they
        go: all leaves get them.

        `routes` are explicit routes by the names of leaves, each without this node; they may be `loose`. Of
        other leaves the root computes the path where it knows of traffic engineering (OSPF with `te`), under
        the constraints of `path` (see `lsp`): with ``tree="shortest"`` the best path to each leaf, with
        ``"cheapest"`` what costs least beyond the tree so far. Elsewhere routers decide hop by hop.

        `signalling` says whether leaves share Path messages (``"together"``) or have one each
        (``"separate"``). `P2mp.graft` and `P2mp.prune` change the leaves while the network runs. With `bfd`
        (true, or `interval` and `multiplier`) leaves watch whether packets come from here (RFC 8562).

        With `protection`, routers on the way lead the tree around links that fail, by bypass tunnels (see
        `lsp`): ``{}`` around the link, ``{"node": True}`` around the next router, too, where all leaves
        behind it come through one router.
        """
        return self.owner.add_p2mp(
            self,
            name,
            leaves,
            protocol=protocol,
            lsp_id=lsp_id,
            bandwidth=bandwidth,
            group=group,
            carries=carries,
            filters=filters,
            routes=routes or {},
            loose=loose,
            path=path,
            tree=tree,
            signalling=signalling,
            setup_priority=setup_priority,
            holding_priority=holding_priority,
            style=style,
            record_route=record_route,
            protection=protection,
            bfd=bfd,
            retry_first=retry_first,
            retry_max=retry_max,
        )


class Prober(Node):
    """A node that can send pings."""

    def traceroute(
        self, to: Node | str | None = None, lsp: Lsp | None = None, *, wait: Quantity = "1 s", hops: int = 64
    ) -> pl.DataFrame:
        """The routers on the way to a node or along an LSP, by their ICMP answers; takes `wait` of time.

        A row for each hop: `hop` (from 1), `node` and `address` of who answered (null if nobody did),
        `labels` that its answer quotes (RFC 4950), `rtt_s` in seconds. A `TwinplaneError` if neither `to` nor
        `lsp` is given.
        """
        return self.owner.traceroute(self, to, lsp, units.span_ps(wait, "wait") / 1e12, hops)

    def ping(self, to: Node | str, *, wait: Quantity = "1 s") -> float | None:
        """Seconds until an echo reply comes, or None if none does within `wait`, which passes either way."""
        return self.owner.ping(self, to, units.span_ps(wait, "wait") / 1e12)

    def path(
        self,
        to: Node | str,
        *,
        src: Node | str | None = None,
        protocol: str | int | None = None,
        src_port: int | None = None,
        dst_port: int | None = None,
        dscp: str | int | None = None,
    ) -> pl.DataFrame:
        """Which table decides on a packet at each router of its way, and what it overrides; nothing is sent.

        The packet comes from outside to this router, or from this host. `to` and `src` are nodes or
        addresses; the source is this node unless it is said. What a router itself sends is not asked of
        filters. A row for each entry that the packet goes through: `hop` and `node`, the `labels` that it
        comes with, `table` (``filter``, ``ftn``, ``ilm``, ``fib``), `entry` and its `owner`, what leads to
        the next hop of a route beyond others (`through`), `action`, where it goes (`to`, `port`, `gateway`,
        `mac`), the labels that it `leaves` with, and what would decide without the entry (`overrides`).
        """
        said = {
            "to": to if isinstance(to, str) else to.name,
            "src": src if src is None or isinstance(src, str) else src.name,
            "protocol": protocol,
            "src_port": src_port,
            "dst_port": dst_port,
            "dscp": dscp,
        }
        return self.owner.path(self, {key: value for key, value in said.items() if value is not None})


class Router(HeadEnd, Prober):
    """A label-switching router."""

    kind = "router"

    def te_paths(
        self,
        to: Node | str,
        *,
        k: int = 1,
        bandwidth: Quantity | None = None,
        exclude: Iterable[Node | str] = (),
        **asked: Any,
    ) -> pl.DataFrame:
        """The best `k` paths to a router by this router's traffic-engineering database; none is signalled.

        `to` and `exclude` are nodes or addresses; an address of a link excludes that link. `bandwidth` is
        what each link must have left, for `setup_priority` (7, the weakest, unless it is said). `metric`,
        `hop_limit`, `exclude_any`, `include_any`, `include_all` and `exclude_srlgs` are those of the `path`
        of an LSP. With `disjoint` (``"link"``, ``"node"`` or ``"srlg"``) there are two paths that have none
        of these in common: the first of the best `k` that has another beside it, and the best of those.

        A row for each link of each path: `path` and `hop` (from 1), `node`, the addresses `near` and `far`
        (the hop of an explicit route), the `cost` of the whole path, and what is `left` on the link of it
        that has least, in bit/s. A `TwinplaneError` says what is in the way if there is no path.
        """
        to, *excluded = (one if isinstance(one, str) else one.name for one in (to, *exclude))
        said = {"to": to, "k": k, "exclude": excluded, **asked}
        return self.owner.te_paths(self, said if bandwidth is None else {**said, "bandwidth": bandwidth})

    def lsp_ping(
        self, to: Lsp | P2mp | Node | str, *, count: int = 1, interval: Quantity = "1 s", **options: Any
    ) -> pl.DataFrame:
        """Test an LSP from end to end (LSP ping, RFC 8029); runs until all replies are there, or late.

        `to` is an LSP that begins here, or a node, address or prefix that packets get a label to. A row for
        each request, as in table `lsp_probes`: `outcome`, `from`, `delay_s`, the return `code` with its
        `depth` and `meaning`. Code 3 says that the LSP ends where it is to.

        `protocol` says who gives the labels: ``"rsvp"``, ``"ldp"``, ``"bgp"`` or ``"any"``. By default that
        is RSVP-TE for an LSP, BGP for an IPv6 prefix, and LDP for all others.

        Options: `index` of an LSP in its group, `wait` for a reply (``"2 s"``), `reply` (``"udp"``,
        ``"router-alert"``, ``"none"``, ``"control-channel"``), `size` of the IP packet in bytes, `tos` of
        replies, `destination` (an address of 127.0.0.0/8, by which routers choose among several ways; or of
        ::ffff:127.0.0.0/104, to test by packets of IPv6, as is done by itself where the LSP takes no others).

        On a point-to-multipoint LSP (RFC 6425) every reply has a row, and so has each known leaf that has
        not replied; `end` is the leaf that the row is about. `leaf` limits replies to one leaf, and routers
        on the way to it, of an LSP of RSVP-TE; `router` to one router. `jitter` spreads replies over that
        time.
        """
        return self.owner.test_lsp(self, to, {"count": count, "interval": str(interval), **options})

    def lsp_traceroute(self, to: Lsp | P2mp | Node | str, *, hops: int = 30, **options: Any) -> pl.DataFrame:
        """What each router on an LSP does with its packets (RFC 8029), until the end or the first fault.

        Rows and options are those of `lsp_ping`. `downstream` and `downstream_labels` are the next routers
        and the labels that packets go on with. A router where both planes say different things answers with
        a code other than 8 (label switched) or 3 (end of the LSP). On a point-to-multipoint LSP each router
        that is reached in a hop has a row; code 14 says that there are several ways on, or one with a fault.
        """
        return self.owner.test_lsp(self, to, {"trace": True, "hops": hops, **options})

    def break_label(self, label: int, out: int | None = None) -> None:
        """Have the tables put another label in the place of `label`, and tell no protocol.

        It is a fault of the forwarding plane that the control plane does not see. Without `out`, there is no
        entry for the label any more. A `TwinplaneError` if there is none now.
        """
        self.owner.break_label(self, label, out)

    def _table(self, name: str) -> pl.DataFrame:
        return self.owner.table(name, self)

    def ilm(self) -> pl.DataFrame:
        """The incoming label map (RFC 3031, 3.11): a row for each label that is taken here.

        `label` comes in, `out` says what becomes of the stack, `port`, `to` and `gateway` where the packet
        goes; `packets` and `bytes` count since the start. With DiffServ, `class` is the PHB.
        """
        return self._table("ilm")

    def fib(self) -> pl.DataFrame:
        """The forwarding table: a row for each `prefix`.

        `port`, `to` and `gateway` say where its packets go; `packets` and `bytes` count since the start.
        """
        return self._table("fib")

    def next_hops(self) -> pl.DataFrame:
        """Members of groups of next hops, such as `group 1` of `fib`: where each leads, and its backup."""
        return self._table("next_hops")

    def replications(self) -> pl.DataFrame:
        """The branches of replication lists, by which packets leave in copies."""
        return self._table("replications")

    def ftn(self) -> pl.DataFrame:
        """What gets labels here (FTN, RFC 3031, 3.12): by `prefix`, `classes` or `filter`.

        `push` are the labels that it gets; `port`, `to` and `gateway` say where the packet goes.
        """
        return self._table("ftn")

    def lsps(self) -> pl.DataFrame:
        """Every LSP that this router holds state for, a row each.

        `role` is its part in the LSP; `in_label` and `out_label` are null where there is none;
        `bandwidth_bps` is reserved, in bits per second; priorities are 0 (highest) to 7.
        """
        return self._table("lsps")

    def tunnels(self) -> pl.DataFrame:
        """Every tunnel that begins here, a row each.

        `active` and `candidate` are its LSPs, `failures` counts since the last success, `retry_s` is in
        seconds.
        """
        return self._table("tunnels")

    def neighbors(self) -> pl.DataFrame:
        """Neighbours by `port`: `address`, and `mac` (null until ARP has answered)."""
        return self._table("neighbors")

    def counters(self) -> pl.DataFrame:
        """Packets and bytes received and sent, by `port`, since the start."""
        return self._table("counters")

    def drops(self) -> pl.DataFrame:
        """Packets dropped here: `reason` and `count`, since the start. Every drop has a reason."""
        return self._table("drops")


class Edge(HeadEnd):
    """An emulated label-edge router of the tester: one link, sources, sinks and a programme."""

    kind = "edge"

    def programme(self, at: Quantity, action: str, lsps: Lsp, rate: float) -> None:
        """At a time, ``signal``, ``flap`` or ``tear`` a group of LSPs, `rate` messages a second.

        ``flap`` tears down all of the group that are up, then signals those again.
        """
        self.owner.require_unstarted("a programme")
        if not isinstance(lsps, Lsp):
            raise TwinplaneError(f"node '{self.name}': programme: lsps: {lsps!r}, no LSP has that name")
        if lsps.owner is not self.owner or lsps.spec["from"] != self.name:
            raise TwinplaneError(f"node '{self.name}': programme: lsps: '{lsps.name}' does not begin here")
        step = {"at": at, "action": action, "lsps": lsps.name, "rate": rate}
        said = self.owner.element("nodes", self.index)["programme"]
        self.owner.change_node(self, {"programme": [*said, step]})


class Peer(Node):
    """A raw port: whatever is sent here is put on the link, whatever arrives is kept."""

    kind = "peer"

    def send(self, frame: bytes) -> None:
        """Put a frame (without frame check sequence) on the link now."""
        self.owner.send(self, frame)

    def receive(self) -> list[tuple[float, bytes]]:
        """Time in seconds and bytes of every frame that arrived since the last call."""
        return self.owner.receive(self)


class Host(Prober):
    """An IP host beside a router.

    In virtual time it is simulated: it answers ARP and ping, sends and takes flows, pings and traces routes.
    In real time so is a host without an interface; one with an interface is a real host beyond it.
    """

    kind = "host"

    def __init__(self, owner: Owner, name: str, index: int, address: str | None) -> None:
        super().__init__(owner, name, index)
        self._address = address

    @property
    def address(self) -> str:
        """Its address; of a host with several links the first."""
        return self.addresses[0] if self._address is None else self._address

    @property
    def addresses(self) -> list[str]:
        """Its addresses, in the order of its links."""
        return [str(port["address"]) for port in self._ports()]

    @property
    def gateway(self) -> str:
        """The address of the router's port; of a host with several links that of the first."""
        return str(self._ports()[0]["neighbor"])

    def _ports(self) -> list[dict[str, Any]]:
        ports: list[dict[str, Any]] = self.owner.node_info(self.index)["ports"]
        if not ports:
            raise TwinplaneError(f"{self.name}: it has no link")
        return ports


class Bridge(Node):
    """A shared segment: routers and hosts on links to it are in one network."""

    kind = "bridge"


class Switch(Node):
    """An OpenFlow switch: routers and hosts on links to it are in one network."""

    kind = "switch"


class AtmLsr(Router):
    """A router that passes cells on whose channels are labels (RFC 3035)."""

    kind = "atm-lsr"


class AtmSwitch(Node):
    """An ATM switch: circuits of routers and hosts go through it."""

    kind = "atm-switch"


class External(Node):
    """Somebody else's router, in real time, beyond interfaces."""

    kind = "external"


HANDLES: dict[str, type[Node]] = {
    kind.kind: kind for kind in (AtmLsr, AtmSwitch, Bridge, Edge, External, Peer, Router, Switch)
}
"""Kinds of nodes whose handles need nothing but the node."""


def handle(owner: Owner, name: str, index: int, kind: str, address: object = None) -> Node:
    """The handle of a node. One of a kind without a handle of its own is a node like any other."""
    if kind in ("host", "station"):
        return Host(owner, name, index, None if address is None else str(address).partition("/")[0])
    made = HANDLES.get(kind, Node)(owner, name, index)
    made.kind = kind
    return made
