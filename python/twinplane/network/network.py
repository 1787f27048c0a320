"""A network: described by calls, handed to the core when it first runs, and asked afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError
from ..units import Quantity
from .acting import Acting
from .answers import Answers
from .asking import Asking
from .attachments import Interface
from .describing import Describing
from .draft import Draft
from .engine import Engine
from .faults import Faults
from .handles import Capture, Flow, Link, Lsp, P2mp, TcpFlow
from .nodes import AtmLsr, AtmSwitch, Bridge, Edge, External, HeadEnd, Host, Node, Peer, Router, Switch
from .outside import Outside
from .sampling import Sampling
from .schedule import Schedule
from .settings import check_clock, whole
from .shown import Shown
from .tables import Tables

if TYPE_CHECKING:
    import socket

    from .. import _core
    from ..frames import Columns
    from ..lab import Lab
    from ..measure.estimate import Estimate
    from ..model.arrivals import Arrivals, Sizes
    from .demands import Demands
    from .handles import Hop
    from .recording import Recording, Replay


class Network(Acting, Asking, Shown):
    """Routers, hosts, links, LSPs and flows under one clock, virtual or the one on the wall.

    Quantities are numbers in base units (seconds, bits per second, bytes) or texts such as ``"50 us"``.
    The description is lowered when the network first runs; nodes and links are fixed from then on.
    """

    # A network holds parts, and its methods hand on to them: `draft` (what has been described), `describing`
    # (how that is done), `outside` (clock and interfaces), `engine` (the running core, with captures and
    # recordings), `faults`, `tables`, and `answers` (to handles). What other packages need of them stands at
    # the end.
    _internal = frozenset(
        {
            *("draft", "describing", "outside", "engine", "faults", "schedule", "tables", "answers"),
            *("sampling",),
            *("described", "positions", "explain", "names", "queue_bin_ps", "placement"),
            *("require_unstarted", "running", "go_live", "columns", "node_info", "link_info"),
            *("forget_lateness", "set_phases", "add_step", "carry_openflow"),
        }
    )

    def __init__(
        self,
        seed: int = 1,
        clock: str = "virtual",
        *,
        convention: str = "first-to-first",
        phases: Sequence[Quantity] = (0,),
        series_bin: Quantity = "10 ms",
        loss_bin: Quantity = "1 s",
        queue_bin: Quantity | None = None,
        routes: str | Mapping[str, Any] | None = None,
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
        Lost packets are counted in bins of `loss_bin` (`losses`).

        With ``routes="shortest"`` all routers get the shortest paths of what is left some time after a link
        or a node went down or came back; a mapping with `kind`, `detection` (50 ms) and `computation`
        (200 ms) says how long that takes. Without, routes stay as they were when the network came up. Table
        ``computed_routes`` tells when it happened.
        """
        real = {
            "local": None if local is None else list(local),
            "incarnation": incarnation,
            "epoch_ns": epoch_ns,
            "busy": busy,
            "cpu": cpu,
            "fail_on_port_down": strict_ports,
            "tunnels_from": 0,
        }
        check_clock(clock, real)
        said = whole(seed, convention, phases, series_bin, loss_bin, queue_bin, routes)
        self.draft = Draft(core.draft(said))
        self.outside = Outside(clock, real)
        self.engine = Engine(self.draft, self.outside)
        self.tables = Tables(self.draft, self.engine)
        self.answers = Answers(self.draft, self.engine, self.tables)
        self.describing = Describing(self.answers, self.draft, self.outside, self.engine)
        self.faults = Faults(self.draft, self.engine)
        self.schedule = Schedule(self.draft, self.engine)
        self.sampling = Sampling(self)

    @classmethod
    def from_graphml(cls, path: str | Path, seed: int = 1, **options: Any) -> Network:
        """A network of routers from a Topology Zoo file; see `twinplane.network.graphml` for the defaults."""
        from .graphml import Zoo

        zoo, others = Zoo.of(Path(path), options, signature(cls).parameters)
        network = cls(seed, **others)
        zoo.describe(network.draft, network.describing)
        return network

    @classmethod
    def from_file(cls, path: str | Path, seed: int | None = None, **options: Any) -> Network:
        """The network of a YAML file: nodes, links, queues, conditioners, DiffServ, LSPs and flows.

        It is the file of `twinplane lab up` and `twinplane run` (docs/reference/network-file.md). Without
        `seed` the file's is taken; `options` are those of `Network`. Hosts are simulated; what only a lab can
        do is a warning (`exec`, `record`) or an error (nodes of kind external).
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
    def p2mp_lsps(self) -> list[P2mp]:
        """Point-to-multipoint LSPs in the order in which they were made."""
        return self.draft.p2mp

    @property
    def tcp_flows(self) -> list[TcpFlow]:
        """All flows over TCP, in the order in which they were described."""
        return self.draft.tcp

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
        """The seed of all random streams, 0 to 2^63 - 1."""
        return self.draft.core.seed

    @property
    def convention(self) -> str:
        """From which bit at the source to which bit at the sink a delay is measured (RFC 1242)."""
        return self.draft.core.convention

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
        """A label-switching router; `rsvp` are the options of RSVP-TE, and what else a router may have in a
        network file, such as `router_id`, `ipv6` (an IPv6 loopback address), `table_driver` (what writes its
        forwarding tables), and other protocols by their names: ``ospf=True``, or an `Ospf`; ``ldp=True``;
        ``bgp=Bgp(asn=65001)``.

        With `diffserv` it supports differentiated services over MPLS (RFC 3270): True, or a
        `twinplane.diffserv.DiffServ` with its TC map, tunnelling model and PHBs. Without, classes are
        copied between labels and packets.
        """
        return self.describing.router(name, profile, diffserv, rsvp)

    def ospf(self, *routers: Node | str, **settings: Any) -> None:
        """OSPF at `routers`, or at all that there are so far, with `settings` of `Ospf`, such as ``area=0``.

        Routers that speak OSPF find their IPv4 routes by it, and have none by shortest paths.
        """
        self.describing.protocol("ospf", routers, settings)

    def ldp(self, *routers: Node | str, **settings: Any) -> None:
        """LDP at `routers`, or at all that there are so far, with `settings` of `Ldp` (``prefixes="all"``).

        They give each other labels for the routes that they find by OSPF.
        """
        self.describing.protocol("ldp", routers, settings)

    def bgp(self, *routers: Node | str, **settings: Any) -> None:
        """BGP at `routers`, or at all that there are so far, with `settings` of `Bgp`.

        ``net.bgp(asn=65001, mesh=True)`` gives each of them a session with each other one, between their
        loopback addresses: a full mesh of internal BGP. Something else has to find routes to these addresses:
        ``net.ospf()``.
        """
        self.describing.protocol("bgp", routers, settings)

    def bfd(self, *routers: Node | str, **settings: Any) -> None:
        """BFD at `routers`, or at all that there are so far, with `settings` of `Bfd` (``interval="50 ms"``).

        It watches the neighbours of protocols that say so: ``net.ospf(bfd=True)``.
        """
        self.describing.protocol("bfd", routers, settings)

    def route(self, router: Node | str, prefix: str, via: Hop | Sequence[Hop]) -> None:
        """A static route of a router, beside those that lead to every node by the shortest path.

        `via` is a neighbour or a link to one, or several of them: then flows are shared equally among
        them (equal-cost multipath), and a flow keeps its way while that can be used.
        """
        self.describing.route(router, prefix, via)

    def edge(self, name: str, **rsvp: Any) -> Edge:
        """An emulated label-edge router of the tester; options as those of `router`."""
        return self.describing.edge(name, rsvp)

    def peer(self, name: str) -> Peer:
        """A raw port for frames made by hand."""
        return self.describing.peer(name)

    def bridge(self, name: str, prefix: str, *, ageing: Quantity | None = None) -> Bridge:
        """A shared segment: routers and hosts with a link to it are in one network, `prefix`.

        It is a bridge that learns by which link a station is, and forgets one that is silent for `ageing`
        (300 s if not given). Routers get the lowest free addresses of the prefix, in the order of links;
        hosts have those that they were given. LSPs do not lead over it.
        """
        return self.describing.bridge(name, prefix, ageing)

    def switch(
        self,
        name: str,
        prefix: str,
        *,
        controller: str | Sequence[str] = (),
        datapath_id: int | None = None,
        version: str = "both",
        fail: str = "secure",
        tables: int = 64,
        buffers: int = 256,
        probe: Quantity | None = None,
        profile: str | Path | Mapping[str, Any] | None = None,
        tls: Mapping[str, str | Path] | None = None,
    ) -> Switch:
        """An OpenFlow switch: routers and hosts with a link to it are in one network, `prefix`.

        `controller` is one or several: ``"tcp:127.0.0.1:6653"`` to connect to, ``"ptcp:6653"`` to listen
        for; ``"ssl:..."`` and ``"pssl:..."`` are the same over TLS, in labs, by the files `private_key`,
        `certificate` and `ca_cert` of `tls`. They are beyond a link with `addresses`, which is no port of its
        datapath; without such a link they are in its namespace in a lab, and in virtual time nobody connects.
        They know it by `datapath_id` (its place among the nodes, if not given); `version` is ``"1.0"``,
        ``"1.3"`` or ``"both"``. While nobody is connected it drops packets that have no entry (`fail`
        ``"secure"``) or forwards by learning addresses (``"standalone"``). It keeps `buffers` packets for
        controllers, and asks one that is silent for `probe` (5 s if not given) whether it is there. With a
        switch `profile`, by name, by file or as a mapping, it takes as long as a switch that was measured.
        """
        controllers = [controller] if isinstance(controller, str) else list(controller)
        said = {"controllers": controllers, "datapath_id": datapath_id, "version": version, "fail": fail}
        return self.describing.switch(
            name,
            prefix,
            {**said, "tables": tables, "buffers": buffers, "probe": probe, "profile": profile, "tls": tls},
        )

    def openflow_tester(self, name: str, **settings: Any) -> Node:
        """A tester of an OpenFlow switch: its controller, with two data ports.

        It needs a link with `addresses` to the switch, and two without. `settings` are those of a node of
        kind ``openflow-tester`` in a file: `test`, `rate`, `size`, `duration` and others. Tables
        ``openflow_tests`` and ``openflow_rounds`` have what it found.
        """
        return self.describing.openflow_tester(name, settings)

    def atm_switch(
        self,
        name: str,
        *,
        cbr_cells: int | None = None,
        ubr_cells: int | None = None,
        epd_cells: int | None = None,
    ) -> AtmSwitch:
        """An ATM switch, to be linked to others with ``medium="atm"``; `pvc` leads through it.

        At a port wait `cbr_cells` of constant bit rate at most (256 if not given) and `ubr_cells` of
        unspecified bit rate (8192, or as many as the `buffer` of the link holds). From `epd_cells` on packets
        are dropped whole, not cell by cell.
        """
        said = {"cbr_cells": cbr_cells, "ubr_cells": ubr_cells, "epd_cells": epd_cells}
        return self.describing.atm_switch(name, said)

    def atm_lsr(
        self,
        name: str,
        *,
        merge: bool = False,
        ubr_cells: int | None = None,
        epd_cells: int | None = None,
        profile: str | Path | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> AtmLsr:
        """An ATM-LSR (RFC 3035): it passes cells on whose channels are labels, and is a router beside that.

        Links with ``medium="atm"`` join it to others of its kind and to routers, which need ``ldp=True`` and
        routes, as by ``ospf=True``. With `merge` packets to one prefix leave by one channel, whichever they
        came by; without, each router at the edge has a channel of its own. `ubr_cells` and `epd_cells` are as
        those of `atm_switch`. `options` are `router_id` and protocols, as those of `router`.
        """
        said = {"merge": merge, "ubr_cells": ubr_cells, "epd_cells": epd_cells, "profile": profile}
        return self.describing.atm_lsr(name, {**said, **options})

    def host(
        self,
        name: str,
        address: str | None = None,
        gateway: str | None = None,
        *,
        join: Sequence[str] = (),
        profile: str | Path | Mapping[str, Any] | None = None,
        tcp: Mapping[str, Any] | None = None,
        interface: str | None = None,
        netns: str | None = None,
        driver: str = "packet",
        offload: bool = True,
    ) -> Host:
        """An IP host, to be linked to a router; `address` has a prefix length, as in ``"10.1.0.2/24"``.

        The router's port has the address `gateway`: the first of the prefix that is not the host's, unless it
        is given. In real time a real host is beyond `interface`, if that is given; otherwise, and in virtual
        time, the host is simulated.

        It joins the groups of `join` by IGMP, or by MLD those of IPv6: ``"239.1.1.1"``, ``"ff3e::1"``, or of
        some sources ``"232.1.1.1 from 10.0.0.1"``.

        A host with several links has no `address` here: each link says its own, as ``link(...,
        addresses=...)``.

        Its TCP behaves as the host `profile` says, by name (``"solaris-2.5.1"``, ``"modern"``) or by file,
        and where `tcp` says something else by that, as ``{"buffer": "32 kB"}``: settings of `Network.tcp`.
        """
        beyond = None if interface is None else Interface(interface, netns, driver, offload)
        return self.describing.host(name, address, gateway, beyond, join, profile, tcp)

    def external(self, name: str, router_id: str | None = None) -> External:
        """Somebody else's router, in real time; `attach` says by which interfaces it is reached."""
        return self.describing.external(name, router_id)

    def pvc(
        self,
        x: Node | str,
        y: Node | str,
        through: Sequence[Node | str],
        *,
        vpi: int | None = None,
        vci: int | Sequence[int] | None = None,
        encapsulation: str = "llc-snap",
        map: str = "static",
        service: str = "ubr",
        pcr: Quantity | None = None,
        shaped: bool = True,
        tolerance: Quantity | None = None,
        mtu: int | None = None,
        metric: int = 1,
        reservable: Quantity | None = None,
        detection: Quantity | None = None,
        addresses: tuple[str, str] | None = None,
        ingress: Any = None,
    ) -> Link:
        """A permanent virtual circuit of ATM between two routers, or a host and a router: it is a link.

        Its packets go as cells `through` ATM switches, two or more, which links with ``medium="atm"`` join.
        `vci` is its channel on these links, one for all or one for each; the lowest that is free if not
        given. `encapsulation` is what stands in front of a packet: ``"llc-snap"``, ``"vc-mux"`` (nothing) or
        ``"shim"`` (a label stack entry). Its ends know each other's address by configuration, or ask for it
        (`map` ``"inatmarp"``). With `service` ``"cbr"`` its cells leave before others, and the
        links have room for its peak cell rate `pcr`, such as ``"4750 cells/s"``. Cells leave at that rate at
        most, unless `shaped` is False; those that are earlier by more than `tolerance` are dropped by the
        second switch.

        `mtu` is the longest packet, 9180 bytes unless it is given (RFC 2225, 7).
        """
        circuit = {
            "through": list(through),
            "vpi": vpi,
            "vci": vci if vci is None or isinstance(vci, int) else list(vci),
            "encapsulation": encapsulation,
            "map": map,
            "service": service,
            "pcr": pcr,
            "shaped": shaped,
            "tolerance": tolerance,
        }
        return self.describing.pvc(
            x,
            y,
            circuit,
            ingress,
            mtu=mtu,
            metric=metric,
            reservable=reservable,
            detection=detection,
            addresses=addresses,
        )

    def vp(
        self,
        x: Node | str,
        y: Node | str,
        through: Sequence[Node | str],
        *,
        vpi: int | Sequence[int] | None = None,
        pcr: Quantity | None = None,
        service: str = "cbr",
        shaped: bool = True,
        tolerance: Quantity | None = None,
        uni: bool = False,
        lc_atm: Mapping[str, Any] | None = None,
        buffer: Quantity | None = None,
        mtu: int | None = None,
        metric: int = 1,
        detection: Quantity | None = None,
        addresses: tuple[str, str] | None = None,
    ) -> Link:
        """A virtual path of ATM (a VP tunnel): a link of cells whose wire is a path through other switches.

        It is between two routers or ATM-LSRs, as a link with ``medium="atm"`` whose labels are channels of
        the path (RFC 3035, 7.2; `lc_atm` as of `link`), or between two ATM switches, through which circuits
        (`pvc`) lead then. The ATM switches that it passes `through`, one or more, switch it as a whole and
        see no channel. `vpi` is its number on each link of its way, one for all or one for each: to the first
        switch, between switches, from the last one; the lowest that is free if not given.

        Its ends send at the peak cell rate `pcr` at most, such as ``"4750 cells/s"``, unless `shaped` is
        False. The first switch drops cells that are earlier by more than `tolerance`. With `service`
        ``"cbr"`` links have room for its rate, and its cells leave before others; with ``"ubr"`` they get
        what is left. With `uni` its ends have headers of a user-network interface. `buffer` is what waits at
        each end.
        """
        path = {
            "through": list(through),
            "vpi": vpi if vpi is None or isinstance(vpi, int) else list(vpi),
            "service": service,
            "pcr": pcr,
            "shaped": shaped,
            "tolerance": tolerance,
        }
        return self.describing.vp(
            x,
            y,
            path,
            uni=uni or None,
            lc_atm=None if lc_atm is None else dict(lc_atm),
            buffer=buffer,
            mtu=mtu,
            metric=metric,
            detection=detection,
            addresses=addresses,
        )

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
        medium: str | None = None,
        uni: bool = False,
        lc_atm: Mapping[str, Any] | None = None,
        detection: Quantity = 0,
        metric: int = 1,
        clock_ppm: tuple[float, float] = (0.0, 0.0),
        addresses: tuple[str, str] | None = None,
        ipv6: tuple[str, str] | None = None,
        dad: bool = False,
        advertise: Mapping[str, Any] | None = None,
        srlg: str | Sequence[str] | None = None,
        queue: Any = None,
        ingress: Any = None,
    ) -> Link:
        """A link; `clock_ppm` is how much faster than nominal the clock of each end's port runs.

        `mtu` is the longest packet, 9216 bytes unless it is given, or what a frame of the medium holds.
        `medium` is what frames are on the link, by its name in a network file
        (docs/reference/network-file.md); ``ethernet`` unless it is given. With `uni` cells have headers of a
        user-network interface, otherwise those between nodes of a network (NNI). `lc_atm` is how labels are
        channels where routers or ATM-LSRs are at both ends of ``medium="atm"``, as ``{"vci": [33, 1023]}``
        (``LcAtmSpec`` there).

        `addresses` are those of both ends with their prefix length, if they shall not be given by themselves.
        `ipv6` are IPv6 addresses of both ends in the same form, as in ``("2001:db8:1::1/64",
        "2001:db8:1::2/64")``: a link without them has no IPv6. With `dad` they are used only after a look
        whether somebody has them (RFC 4862, 5.4). `advertise` are settings of router advertisements
        (``AdvertiseSpec`` in docs/reference/network-file.md); ``{}`` is all as usual. Nothing is advertised
        without it.

        `srlg` names the shared-risk link groups that it is in, one or several: links of one group fail
        together in `fail_everything`.

        `queue` is what waits in front of the link: a discipline of `twinplane.queues` or a `Tree` at both
        ends, or one for each end that shall have one, as ``{"a": Htb(...)}``. `ingress` are meters and
        markers for what arrives by the link, a `twinplane.queues.Conditioner` in the same way. What is
        surprising about them, such as rates of classes that do not add up, is a `TwinplaneWarning` when the
        network first runs, and stands in `Network.warnings`.
        """
        return self.describing.link(
            x,
            y,
            queue,
            ingress,
            rate=rate,
            delay=delay,
            reservable=reservable,
            buffer=buffer,
            mtu=mtu,
            medium=medium,
            uni=uni or None,
            lc_atm=None if lc_atm is None else dict(lc_atm),
            detection=detection,
            metric=metric,
            clock_ppm=clock_ppm,
            addresses=addresses,
            ipv6=ipv6,
            dad=dad or None,
            advertise=advertise,
            srlg=srlg,
        )

    def place(
        self, node: Node | str, towards: Link | Node | str, *, queue: Any = None, ingress: Any = None
    ) -> Link:
        """Put a tree of queues, or meters and markers, at one end of a link that is there already.

        The end is that of `node` on its link `towards` a neighbour, or on a link given itself where there
        are parallel ones; what stands there is replaced. `queue` is what waits to leave `node` by the link,
        `ingress` is for what arrives by it; both as in `link`. The network must not have run yet.
        """
        return self.describing.place(node, towards, queue, ingress)

    def flow(
        self,
        a: Node | str,
        c: Node | str,
        over: Lsp | str | None = None,
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
        family: str | None = None,
        hops: int | None = None,
        group: str | None = None,
        receivers: Sequence[Node | str] = (),
    ) -> Flow:
        """Measured traffic; `over` a group of LSPs, given itself or by its name, the rate is shared evenly by
        one stream each. A flow has a name of its own, unless it is given that of its ends.

        `arrivals` are ``"constant"``, ``"poisson"``, or an `OnOff` or `Trace` of `twinplane.traffic`; `size`
        is that of the Ethernet frame with header and frame check sequence, or a `Uniform`, `Empirical`,
        `Exponential` or `Imix` of the same. `rate` counts frames in the same way, with ``rate_counts="ip"``
        the IP packets in them. With `log` every packet is kept for `Flow.packets`.

        Packets are UDP. They come from port `src_port`, by default one from 49152 on that no other flow of
        `a` has, and go to `dst_port`, by default 61614, so that queues by flow and filters by ports tell
        flows apart. `dscp` is the name of a behaviour, such as EF, AF11, CS1 or default, or 0 to 63.

        A host with several links sends by `from_link` and is reached at the address of `to_link`: links, or
        the neighbours at their other ends. It may send to itself through the network.

        With ``family="ipv6"`` packets are of IPv6. Both ends have IPv6 addresses then: a host at its link, a
        router at a link or as its loopback.

        To a multicast `group`, such as ``"239.1.1.1"`` or ``"ff3e::1"``, a flow goes to `c` and to all other
        `receivers`: hosts that have joined it (``join`` of `host`). Table ``receivers`` has what each of
        them got.

        `hops` is the number of routers between its ends: then the TTL of packets that come over an LSP is
        checked (`checks`), else only that it became lower.
        """
        return self.describing.flow(
            a,
            c,
            over,
            rate,
            size,
            arrivals,
            dscp=dscp,
            start=start,
            stop=stop,
            trace=trace,
            name=name,
            rate_counts=rate_counts,
            log=log,
            from_link=from_link,
            to_link=to_link,
            src_port=src_port,
            dst_port=dst_port,
            family=family,
            hops=hops,
            group=group,
            receivers=receivers,
        )

    def tcp(
        self,
        a: Node | str,
        c: Node | str,
        *,
        bytes: Quantity | None = None,
        duplex: str | None = None,
        message: Quantity | None = None,
        application: str | None = None,
        request: Quantity | None = None,
        response: Quantity | None = None,
        transactions: int | None = None,
        connections: int | None = None,
        start: Quantity = 0,
        stop: Quantity | None = None,
        name: str | None = None,
        buffer: Quantity | None = None,
        send_buffer: Quantity | None = None,
        receive_buffer: Quantity | None = None,
        mss: int | None = None,
        congestion: str | None = None,
        window_scaling: bool | None = None,
        sack: bool | None = None,
        ack_delay: Quantity | None = None,
        nagle: bool | None = None,
        dscp: str | int = 0,
        family: str | None = None,
        port: int | None = None,
        from_link: Link | Node | str | None = None,
        to_link: Link | Node | str | None = None,
    ) -> TcpFlow:
        """Programs at hosts `a` and `c` that talk over TCP, on so many `connections`, which `a` begins.

        They send in bulk: from `start` on `a` writes messages of `message` bytes (16 KiB) into its sockets,
        until `bytes` are sent or until `stop`, and closes. With ``duplex="full"`` `c` does the same.
        With ``application="request-response"`` `a` sends a `request`, `c` answers with a `response`, and
        so on: as many `transactions`, or until `stop`.

        Sockets have a `send_buffer` and a `receive_buffer`; `buffer` is both. Segments carry `mss` bytes, by
        default what a packet holds. `congestion` is ``"cubic"``, ``"reno"`` or ``"none"``.
        Acknowledgements wait for `ack_delay` at most. What is not said here is as the hosts say (`host`).

        Packets go to `port`, by default one from 5001 on that no other flow to `c` has. `dscp`, `family`,
        `from_link` and `to_link` are as those of `flow`. A flow may be added to a network that runs.
        """
        return self.describing.tcp(
            a,
            c,
            bytes=bytes,
            duplex=duplex,
            message=message,
            application=application,
            request=request,
            response=response,
            transactions=transactions,
            connections=connections,
            start=start,
            stop=stop,
            name=name,
            buffer=buffer,
            send_buffer=send_buffer,
            receive_buffer=receive_buffer,
            mss=mss,
            congestion=congestion,
            window_scaling=window_scaling,
            sack=sack,
            ack_delay=ack_delay,
            nagle=nagle,
            dscp=dscp,
            family=family,
            port=port,
            from_link=from_link,
            to_link=to_link,
        )

    def demands(
        self,
        matrix: Any = None,
        *,
        classes: Mapping[str, Mapping[str, Any]] | None = None,
        gravity: Mapping[str, Any] | Quantity | None = None,
        unit: Quantity | None = None,
        scale: float = 1.0,
        start: Quantity = 0,
        stop: Quantity | None = None,
    ) -> Demands:
        """Measured traffic by a matrix of rates between nodes: a flow for each pair of nodes and class.

        `matrix` is a file (CSV with columns from, to, rate and perhaps class, or SNDlib's XML or native
        text), a data frame with these columns, rows one by one, or a mapping such as
        ``{("a", "b"): "3 Mbit/s"}``. Or `gravity` gives the rates, between two nodes as much as the product
        of their weights says, as in ``{"total": "10 Gbit/s", "weights": {"a": 3, "b": 1}}``; a rate alone is
        the total between all routers.

        `classes` have names, and each a `dscp`, a `size`, `arrivals` and its `share` of rates that name no
        class, as in ``{"gold": {"dscp": "EF", "share": 0.1}, "best": {}}``. Packets come as a Poisson process
        unless `arrivals` says something else. `unit` is what numbers without a unit count (1 bit/s; in files
        of SNDlib 1 Mbit/s), and all rates are multiplied by `scale`. A network has demands once.
        """
        from .demands import set_demands

        if gravity is not None and not isinstance(gravity, Mapping):
            gravity = {"total": gravity}
        said = {"classes": classes, "gravity": gravity, "scale": scale, "start": start, "stop": stop}
        return set_demands(self.answers, self.draft, self.engine, matrix, said, unit)

    def remove(self, what: Flow | Lsp) -> None:
        """Take back a flow, or a group of LSPs that no flow goes over, before the network first runs.

        What a call refuses is not there in the first place: this is for what was meant otherwise.
        """
        self.describing.remove(what)

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
        for node in self.nodes:
            if isinstance(node, HeadEnd):
                self.draft.change_node(node, {"log_signals": limit})

    def capture(
        self, a: Node | str | Link, b: Node | str | None = None, *, packets: int | None = None
    ) -> Capture:
        """Capture what passes over a link, the first `packets` frames if that is given."""
        if packets is not None and (not isinstance(packets, int) or packets < 1):
            raise TwinplaneError(f"capture: packets={packets!r}: it should be a whole number from 1 on")
        self.engine.require_open()
        made = Capture(self.answers, self.draft.find_link(a, b), packets)
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
        return self.engine.now

    def run(
        self,
        until: Quantity | None = None,
        for_: Quantity | None = None,
        progress: Callable[[float], object] | None = None,
        threads: int | None = None,
    ) -> None:
        """Run to a time, or for a time; by the clock on the wall that takes as long, and time goes on.

        `progress` is called now and then with the time that has been reached. In virtual time up to `threads`
        threads work on the network, where they pay; results are the same, to the byte. Left out, as many do
        as pay on this machine, which is found by short trials while a run of some length goes on. By the
        clock on the wall there is one. `Network.threads` says what came of it; a `TwinplaneWarning` says why
        threads that were asked for do not pay.
        """
        self.sampling.run(until, for_, lambda until, for_: self.engine.run(until, for_, progress, threads))

    def estimate(self, until: Quantity) -> Estimate:
        """How long a run to a time will take, how much memory, and how large its tables will be.

        A process of its own builds the network and runs it for a second of the processor; what it saw is
        carried on to the end, by what the flows will send. Nothing of this network is changed, so that a run
        afterwards gives the same. Print it, or take its figures: each has `low`, `value` and `high`. It is
        made before the network first runs, in virtual time, for one thread
        (docs/models/estimate.md says how far it can be trusted).
        """
        from .estimating import estimate

        return estimate(self, until)

    @property
    def threads(self) -> str:
        """How many threads worked on the network at last, and why not more or fewer: a sentence."""
        return self.engine.threads

    def close(self) -> None:
        """Give interfaces back; nothing can be asked of the network any more.

        A socket that is left open goes on taking copies of every frame of its interface.
        """
        self.engine.close()

    # -- parts, for other packages ----------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Node names by index."""
        return self.tables.names

    def described(self) -> dict[str, Any]:
        """All of it as a file could say it, defaults filled in."""
        return self.draft.described()

    @property
    def positions(self) -> dict[str, tuple[float, float]]:
        """See `Draft.positions`."""
        return self.draft.positions

    @property
    def explain(self) -> Callable[[TwinplaneError], TwinplaneError]:
        """See `Draft.explain`."""
        return self.draft.explain

    @property
    def queue_bin_ps(self) -> int | None:
        """Width of the bins of queues over time, in picoseconds; None if none are kept."""
        return self.draft.core.queue_bin_ps

    def require_unstarted(self, what: str) -> None:
        """Refuse what has to be said before the network runs."""
        self.engine.require_unstarted(what)

    def running(self) -> _core.Network:
        """The core's network, made when it is first needed."""
        return self.engine.running()

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

    def set_phases(self, starts_s: Sequence[float]) -> None:
        """Let phases begin at these times, in seconds, for flows that are added from now on."""
        self.engine.start().set_phases([round(start * 1e12) for start in starts_s])

    def add_step(self, node: Node, at_s: float, action: str, lsps: Lsp, rate: float) -> None:
        """Add a step to the programme of an edge of a network that runs."""
        with core.translated():
            step = {"at": f"{round(at_s * 1e12)} ps", "action": action, "lsps": lsps.name, "rate": rate}
            self.engine.start().add_step(node.index, step)

    def carry_openflow(self, tester: Node, channel: socket.socket) -> None:
        """Let a tester of switches that has no link with `addresses` speak by a connected socket."""
        with core.translated():
            self.engine.start().carry_openflow(tester.index, channel.fileno())
