"""What is asked of Twinplane's speed, and how a set of samples is judged against it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from probes import Sample, Unavailable

Samples = Mapping[str, Sequence[Sample | Unavailable]]
"""By probe, one entry for each round."""


@dataclass(frozen=True)
class Figure:
    """One number of one probe, and what the table calls its source."""

    probe: str
    field: str
    label: str = ""


@dataclass(frozen=True)
class Row:
    """One demand. With an anchor the ratio to it is judged, otherwise our own figure.

    A row with neither floor nor goal is for information.
    """

    name: str
    unit: str
    ours: Figure
    anchor: Figure | None = None
    floor: float | None = None
    goal: float | None = None
    at_most: bool = False


NS3 = Figure("ns3", "packet_hops_per_s", "ns-3")
NS3_TC = Figure("ns3_tc", "packet_hops_per_s", "ns-3, RED")
OVS = Figure("ovs", "mpps", "Open vSwitch + DPDK")
MACSWAP = Figure("testpmd", "macswap_mpps", "testpmd macswap")
MACSWAP_ONE_WAY = Figure("testpmd", "macswap_one_way_mpps", "same, one way")
TCP_KERNEL = Figure("tcp_kernel", "gbps", "kernel routing")
KERNEL = Figure("forward_kernel", "mpps", "kernel, IPv4")
VETH_PACKET = Figure("forward_twinplane-af-packet", "mpps")
VETH_XDP = Figure("forward_twinplane-af-xdp", "mpps")
SHAPING_RATES = ("1", "10", "100", "top")
PACING_RATES = (1_000, 10_000, 100_000)
FORWARD_1K = Figure("forward_1k", "mpps", "own, 1,000 labels")


def _testpmd(socket: str) -> Figure:
    return Figure(f"forward_{socket}", "macswap_mpps", f"testpmd {socket}")


def _pacing(rate: int) -> list[Row]:
    """Ratios of the errors to MGEN's, then the errors themselves."""
    rows = []
    for quantile, goal in (("p50", 1), ("p99", 10)):
        field, name = f"{quantile}_{rate}_us", f"pacing {rate // 1000} kpps, {quantile}"
        ours = Figure("pacing_twinplane", field)
        for probe, label in (("pacing_mgen", "MGEN"), ("pacing_mgen-precise", "MGEN, precise")):
            floor = 1 if label == "MGEN" else None
            rows.append(Row(name, "us", ours, Figure(probe, field, label), floor, at_most=True))
        rows.append(Row(name, "us", ours, None, None, goal, at_most=True))
    return rows


def _networks() -> list[Row]:
    """Chain, rings and real topologies, beside a fast simulator and a well-known one."""
    rows = []
    for case, name, floor, goal in (
        ("chain", "chain of 10, one flow", 2, 4),
        ("ring-100-200", "100 routers, 200 flows", 1.5, 3),
        ("ring-100-2000", "100 routers, 2,000 flows", 3, 6),
        ("ring-1000-2000", "1,000 routers, 2,000 flows", 1.5, 3),
        ("ring-1000-20000", "1,000 routers, 20,000 flows", 3, 6),
        ("uscarrier", "UsCarrier, 10,000 flows", None, None),
        ("kdl", "Kdl, 10,000 flows", None, None),
    ):
        ours, field = Figure(f"{case}_twinplane", "packet_hops_per_s"), "packet_hops_per_s"
        rows.append(Row(name, "packet-hops/s", ours, Figure(f"{case}_htsim", field, "htsim"), floor, goal))
        bounds = (None, None) if case == "chain" else (60, 120)
        rows.append(Row(name, "packet-hops/s", ours, Figure(f"{case}_ns-3", field, "ns-3"), *bounds))
    chain = Figure("chain_twinplane", "packet_hops_per_s", "own, chain")
    large = Figure("ring-1000-2000_twinplane", "packet_hops_per_s")
    return [*rows, Row("1,000 routers, 2,000 flows", "packet-hops/s", large, chain, 1 / 4, 1 / 2)]


def _threads() -> list[Row]:
    """Two threads beside one: where links are long, and where two gain nothing. And what is largest here."""
    rows = []
    for case, name, bounds in (
        ("ring-100-2000-1ms", "100 routers, links of 1 ms", (1.7, 1.9)),
        ("ring-1000-2000-1ms", "1,000 routers, links of 1 ms", (1.7, 1.9)),
        ("chain", "chain, links of 1 us", (0.97, None)),
        ("ring-100-200", "100 routers, 200 flows", (0.97, None)),
    ):
        one, two, tried = (
            Figure(f"{case}_threads_{count}", "packet_hops_per_s", "own, one thread")
            for count in ("1", "2", "tried")
        )
        rows.append(Row(f"two threads, {name}", "packet-hops/s", two, one, *bounds))
        rows.append(Row(f"threads by default, {name}", "packet-hops/s", tried, one, 0.97, 1))
    large = "100,000 routers, 100,000 flows"
    rows.append(Row(large, "s", Figure("large", "wall_s"), goal=60, at_most=True))
    rows.append(Row(f"{large}, memory", "B", Figure("large", "memory")))
    built = "10,000 routers and 12,000 links, built"
    rows.append(Row(built, "s", Figure("built", "made_s"), None, 10, 1, at_most=True))
    rows.append(Row(f"{built}, memory", "B", Figure("built", "memory"), None, 2e9, 0.5e9, at_most=True))
    return rows


def _ospf() -> list[Row]:
    """The same database in other daemons, which compute all routes after each change."""
    spf = Figure("ospf_frr", "spf_ms", "FRR, paths and networks")
    rows = [Row("OSPF, tree of 10,000 routers", "ms", Figure("ospf", "tree_ms"), spf, at_most=True)]
    for by, label in (("frr", "FRR ospfd"), ("bird", "BIRD")):
        for field, name, ours in (
            ("own_link_ms", "OSPF, own link, 60,000 prefixes", "own_link_ms"),
            ("one_link_ms", "OSPF, one link, median", "one_link_median_ms"),
        ):
            rows.append(
                Row(name, "ms", Figure("ospf", ours), Figure(f"ospf_{by}", field, label), at_most=True)
            )
    return rows


def _routed() -> list[Row]:
    """Networks that find their routes by themselves."""
    pairs, area = "Kdl, OSPF and LDP, a packet for each pair", "10,000 routers in an area"
    return [
        Row(pairs, "s", Figure("all_pairs", "run_s"), None, 20, 5, at_most=True),
        Row("a quiet hour of 1,000 routers", "s", Figure("quiet_hour", "seconds"), None, 10, 3, at_most=True),
        Row(area, "s", Figure("large_area", "run_s"), None, 900, at_most=True),
        Row(f"{area}, memory", "B", Figure("large_area", "memory"), None, 16 * 2**30, at_most=True),
    ]


def _next_hops() -> list[Row]:
    """What groups of next hops cost, beside a single one."""
    rows = []
    for packets, name in (("mpls", "labels"), ("ipv4", "IPv4")):
        single = Figure("next_hops", f"{packets}_single_mpps", "own, single next hop")
        for case, what in (("protected", "protected"), ("ecmp2", "ECMP of 2"), ("ecmp4", "ECMP of 4")):
            ours = Figure("next_hops", f"{packets}_{case}_mpps")
            rows.append(Row(f"{what}, {name}", "Mpps", ours, single, goal=0.9))
        ours = Figure("next_hops", f"{packets}_ecmp8_mpps")
        rows.append(Row(f"ECMP of 8, {name}", "Mpps", ours, single))
    return rows


def _copies() -> list[Row]:
    """Frames that leave by 64 branches, with a header of their own for each copy."""
    ovs = Figure("ovs_copies", "mpps", "Open vSwitch + DPDK")
    small = Figure("replicate", "mcopies_64")
    return [
        Row("copies of 64 bytes", "M/s", small, None, 60, 100),
        Row("copies of 64 bytes", "M/s", small, ovs),
        Row("copies of 1,518 bytes", "M/s", Figure("replicate", "mcopies_1518_owned"), None),
    ]


def _prefixes() -> list[Row]:
    """Longest prefixes of random destinations in a large table, and what updates of it take."""
    rows = []
    for family, count in (("4", "1,000,000"), ("6", "200,000")):
        anchor = Figure("dpdk_fib", f"ipv{family}_mlps", f"rte_fib{family if family == '6' else ''}")
        name = f"IPv{family}, {count} prefixes"
        goal = 2 if family == "4" else None
        rows.append(Row(f"{name}, look-ups", "M/s", Figure("fib", f"ipv{family}_mlps"), anchor, 1, goal))
        update = Figure("fib", f"update{'6' if family == '6' else ''}_p999_us")
        rows.append(Row(f"{name}, update, 99.9 %", "us", update, None, 20, at_most=True))
    rows.append(Row("IPv4, 10,000 prefixes", "kB", Figure("fib", "small_kb"), None, 256, at_most=True))
    return rows


def _sessions() -> list[Row]:
    """TCP of a node in virtual time; a segment costs as much with 10,000 connections as with 10."""
    few = Figure("tcp_sessions", "ns_per_segment_10", "own, 10 connections")
    many = Figure("tcp_sessions", "ns_per_segment_10000")
    ns3, field = Figure("ns3_tcp", "bytes_per_s", "ns-3"), "ns_per_segment"
    one = Figure("tcp_1", field, "own, 1 connection")
    return [
        Row(
            "TCP in virtual time, connections",
            "connections/s",
            Figure("tcp_sessions", "connections_per_s"),
        ),
        Row("TCP in virtual time, bytes", "MB/s", Figure("tcp_sessions", "mbytes_per_s_1000")),
        Row("TCP, a segment of 10,000 connections", "ns", many, few, 2, at_most=True),
        Row("TCP over three routers", "B/s", Figure("tcp_1000", "bytes_per_s"), ns3, 10, 30),
        Row("same, a segment", "ns", Figure("tcp_1000", field), one, None, 1.3, at_most=True),
    ]


def _signalling() -> list[Row]:
    """What an LSP takes at a node of a real network, beside one over three routers."""
    rows = []
    for key, unit in (("bytes", "B/LSP/hop"), ("us", "us/LSP/hop")):
        field, what = f"{key}_per_lsp_hop", "memory" if key == "bytes" else "time"
        three = Figure("signalling_three", field, "own, three routers")
        ours = Figure("signalling_kdl", field)
        rows.append(Row(f"100,000 LSPs on Kdl, {what}", unit, ours, three, 1.5, at_most=True))
    return rows


def _decisions() -> list[Row]:
    """What a scheduler's decision costs with 1,000 classes, beside 4."""
    rows = []
    for discipline in ("htb", "drr", "cbq", "prio"):
        for load in ("backlogged", "random"):
            many, few = (Figure("queues", f"{discipline}_{load}_{n}", f"own, {n} classes") for n in (1000, 4))
            rows.append(Row(f"{discipline}, 1,000 classes, {load}", "ns", many, few, 3, at_most=True))
    return rows


def _openflow() -> list[Row]:
    """A switch as its controller sees it, beside Open vSwitch without DPDK."""

    def both(field: str) -> tuple[Figure, Figure]:
        return Figure("openflow_twinplane", field), Figure("openflow_ovs", field, "Open vSwitch")

    ours, _ = both("flow_mods_per_s_full")
    few = Figure("openflow_twinplane", "flow_mods_per_s", "own, the first 100,000")
    memory = Figure("openflow_twinplane", "bytes_per_entry")
    rows = [
        Row("flow mods, 100,000 entries", "1/s", *both("flow_mods_per_s"), 5, 10),
        Row("flow mods, the last of a million", "1/s", *both("flow_mods_per_s_full")),
        Row("flow mods, the last of a million", "1/s", ours, few, None, 0.9),
        Row("packets without an entry", "1/s", *both("packet_in_per_s"), 3),
        Row("memory of an entry", "B", memory, None, 300, at_most=True),
        Row("memory of an entry", "B", *both("bytes_per_entry")),
    ]
    for field, name, goal in (("cached_mpps", "an earlier packet", 2), ("masks_100_mpps", "100 masks", 3)):
        dpdk = Figure("ovs_rules", field, "Open vSwitch + DPDK")
        rows.append(Row(f"flow table, {name}", "Mpps", Figure("flow_table", field), dpdk, 1, goal))
    for load, name in (("idle", "echo"), ("busy", "echo, 50,000 flow mods/s")):
        for quantile in ("p50", "p99"):
            figures = both(f"echo_{load}_{quantile}_us")
            rows.append(Row(f"{name}, {quantile}", "us", *figures, 1, at_most=True))
    return rows


def _shaping(discipline: str) -> list[Row]:
    """How far the enforced rate is off, then rates and gaps beside the kernel's."""
    rows = []
    for rate in SHAPING_RATES:
        name = f"{discipline} at {'the top rate' if rate == 'top' else f'{rate} Mbit/s'}"

        def figure(by: str, key: str, case: str = f"{discipline}_{rate}") -> Figure:
            return Figure("shaping", f"{by}_{case}_{key}", f"kernel's {discipline}" if by == "kernel" else "")

        rows.append(Row(f"{name}, error", "%", figure("ours", "error_percent"), None, 1, at_most=True))
        for key, unit, what in (("mbps", "Mbit/s", "rate"), ("gap_p99_us", "us", "gap error, p99")):
            rows.append(Row(f"{name}, {what}", unit, figure("ours", key), figure("kernel", key)))
    return rows


ROWS: tuple[Row, ...] = (
    Row("engine, chain", "packet-hops/s", Figure("chain", "packet_hops_per_s"), NS3, 50, 150),
    *_networks(),
    *_threads(),
    Row(
        "CBQ and RED, three routers", "packet-hops/s", Figure("classes", "packet_hops_per_s"), NS3_TC, 30, 60
    ),
    Row("forwarding, 1,000 labels", "Mpps", FORWARD_1K, OVS, floor=2),
    Row("forwarding, 1,000 labels", "Mpps", FORWARD_1K, MACSWAP, goal=0.85),
    Row("forwarding, 1,000 labels", "Mpps", FORWARD_1K, MACSWAP_ONE_WAY),
    Row("forwarding, 100,000 labels", "Mpps", Figure("forward_100k", "mpps"), OVS, 1.5, 2),
    Row("forwarding, 1,000,000 labels", "Mpps", Figure("forward_1m", "mpps"), FORWARD_1K, floor=0.5),
    *_next_hops(),
    *_copies(),
    Row(
        "IPv6 forwarding, 10,000 prefixes",
        "Mpps",
        Figure("routes", "ipv6_mpps"),
        Figure("routes", "ipv4_mpps", "own, IPv4"),
        goal=0.8,
    ),
    *_prefixes(),
    *_decisions(),
    *_sessions(),
    Row(
        "BGP, a million prefixes",
        "s",
        Figure("bgp", "seconds"),
        Figure("bird", "seconds", "BIRD"),
        1,
        0.5,
        True,
    ),
    Row(
        "BGP memory",
        "B/prefix",
        Figure("bgp", "bytes_per_prefix"),
        Figure("bird", "bytes_per_prefix", "BIRD"),
        1,
        at_most=True,
    ),
    Row("LDP, 100,000 labels", "s", Figure("ldp", "seconds"), None, 0.3, 0.15, True),
    Row(
        "LDP, 100,000 labels",
        "s",
        Figure("ldp", "seconds"),
        Figure("ldpd", "seconds", "FRR ldpd"),
        None,
        0.1,
        True,
    ),
    Row("OSPF, tree of 10,000 routers", "ms", Figure("ospf", "tree_ms"), None, 2, 1.2, True),
    Row("OSPF, own link, 60,000 prefixes", "ms", Figure("ospf", "own_link_ms"), None, 10, 5, True),
    *_ospf(),
    Row("OSPF, one link, median", "us", Figure("ospf", "one_link_median_us"), None, 50, at_most=True),
    Row("OSPF, one link, 99 %", "us", Figure("ospf", "one_link_p99_us"), None, 1_000, at_most=True),
    *_routed(),
    Row("RSVP-TE set-up", "LSPs/s", Figure("rsvp", "lsps_per_s"), None, 20_000, 100_000),
    Row(
        "RSVP-TE set-up, refresh reduction", "LSPs/s", Figure("rsvp_rr", "lsps_per_s"), None, 20_000, 100_000
    ),
    Row("RSVP-TE memory", "B/LSP/hop", Figure("rsvp", "bytes_per_lsp_hop"), None, 1024, 300, True),
    Row(
        "RSVP-TE memory, refresh reduction",
        "B/LSP/hop",
        Figure("rsvp_rr", "bytes_per_lsp_hop"),
        None,
        1024,
        300,
        True,
    ),
    Row("tree of 1,000 leaves, set up", "ms", Figure("tree", "ms"), None, 50, 20, at_most=True),
    *_signalling(),
    Row("LSPs held by one router", "LSPs", Figure("rsvp_hold", "held"), None, floor=1_000_000),
    Row("same, memory", "B/LSP/hop", Figure("rsvp_hold", "bytes_per_lsp_hop"), None, 1024, 300, True),
    Row("campaign of 216 runs", "s", Figure("campaign", "wall_s"), None, 600, 90, True),
    *_openflow(),
    Row("veth, AF_PACKET", "Mpps", VETH_PACKET, _testpmd("af-packet"), floor=1),
    Row("veth, AF_PACKET", "Mpps", VETH_PACKET, KERNEL, goal=1.5),
    Row("veth, AF_XDP", "Mpps", VETH_XDP, _testpmd("af-xdp"), floor=1),
    Row("veth, AF_XDP", "Mpps", VETH_XDP, KERNEL, goal=1.5),
    Row("TCP over three routers", "Gbit/s", Figure("tcp_twinplane", "gbps"), TCP_KERNEL, 0.3, 0.8),
    *(row for rate in PACING_RATES for row in _pacing(rate)),
    *(row for discipline in ("htb", "tbf") for row in _shaping(discipline)),
    Row("router, start", "ms", Figure("live_router", "start_ms"), None, 100, at_most=True),
    Row("router, 1,000 LSPs", "MB", Figure("live_router", "resident_mb"), None, 30, at_most=True),
    Row("router, idle", "% of a core", Figure("live_router", "idle_percent"), None, 1, at_most=True),
    Row("router, refresh", "% of a core", Figure("live_router", "refresh_percent"), None, 3, at_most=True),
    Row("routers at once", "processes", Figure("live_router", "many_running"), None, floor=50),
    Row("start-up to first output", "s", Figure("startup", "wall_s"), None, 1.0, 0.4, True),
)

ANCHOR_FIGURES: tuple[tuple[Figure, str], ...] = (
    (Figure("ns3", "packet_hops_per_s", "ns-3, as it comes"), "packet-hops/s"),
    (Figure("ns3", "events_per_s", "ns-3, as it comes"), "events/s"),
    (Figure("ns3", "no_queue_disc_packet_hops_per_s", "ns-3, no FqCoDel"), "packet-hops/s"),
    (NS3_TC, "packet-hops/s"),
    (Figure("ovs", "mpps", "Open vSwitch + DPDK"), "Mpps"),
    (Figure("ovs", "cycles_per_packet", "Open vSwitch + DPDK"), "cycles/packet"),
    (Figure("testpmd", "io_mpps", "testpmd io"), "Mpps"),
    (Figure("testpmd", "macswap_mpps", "testpmd macswap"), "Mpps"),
    (Figure("testpmd", "io_one_way_mpps", "testpmd io, one way"), "Mpps"),
    (Figure("testpmd", "macswap_one_way_mpps", "testpmd macswap, one way"), "Mpps"),
    *(
        (Figure("forward_kernel", f"{way}_mpps", f"kernel, IPv4, {way.replace('_', ' ')}"), "Mpps")
        for way in ("as_it_comes", "steered", "threaded")
    ),
    *(
        (Figure(f"forward_{socket}", f"{mode}_mpps", f"testpmd {socket} {mode}"), "Mpps")
        for socket in ("af-packet", "af-xdp")
        for mode in ("io", "macswap")
    ),
    (TCP_KERNEL, "Gbit/s"),
    *(
        (
            Figure(f"pacing_{by}", f"{key}_{rate}{unit}", f"{by} at {rate // 1000} kpps, {key}"),
            unit[1:] or "kpps",
        )
        for by in ("mgen", "mgen-precise", "d-itg")
        for rate in PACING_RATES
        for key, unit in (("p50", "_us"), ("p99", "_us"), ("kpps", ""))
    ),
    *(
        (Figure("shaping", f"kernel_{one}_{rate}_error_percent", f"kernel's {one} at {rate}, error"), "%")
        for one in ("htb", "tbf")
        for rate in SHAPING_RATES
    ),
    *(
        (Figure("shaping", f"{by}_calibrated_mbps", f"{device}, no discipline, no loss"), "Mbit/s")
        for by, device in (("kernel", "kernel"), ("ours", "our router"))
    ),
)


@dataclass(frozen=True)
class Spread:
    """Median and extremes of the rounds that gave a figure."""

    median: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True)
class Verdict:
    """A judged row. Figures that were not measured are None."""

    row: Row
    ours: Spread | None
    anchor: Spread | None
    ratio: Spread | None
    verdict: str
    reason: str = ""

    def as_json(self) -> dict[str, object]:
        """The row for a program to read."""
        return {
            "name": self.row.name,
            "unit": self.row.unit,
            "ours": asdict(self.ours) if self.ours else None,
            "anchor": asdict(self.anchor) if self.anchor else None,
            "anchor_name": self.row.anchor.label if self.row.anchor else None,
            "ratio": asdict(self.ratio) if self.ratio else None,
            "floor": self.row.floor,
            "goal": self.row.goal,
            "at_most": self.row.at_most,
            "verdict": self.verdict,
            "reason": self.reason or None,
        }


def spread(values: Sequence[float]) -> Spread | None:
    """Median and extremes, None of nothing."""
    if not values:
        return None
    return Spread(statistics.median(values), min(values), max(values), len(values))


def values(figure: Figure, samples: Samples) -> list[float | None]:
    """One figure over the rounds; None where it was not measured."""
    return [
        None if isinstance(sample, Unavailable) else sample.get(figure.field)
        for sample in samples.get(figure.probe, ())
    ]


def _why(figure: Figure, samples: Samples) -> str:
    name, entries = figure.probe, samples.get(figure.probe, ())
    for entry in entries:
        if isinstance(entry, Unavailable):
            return f"{name}: {entry.reason}"
    return f"{name}: it printed no {figure.field}." if entries else f"{name}: not asked for."


def _grade(row: Row, value: float) -> str:
    def met(bound: float) -> bool:
        return value <= bound if row.at_most else value >= bound

    if row.goal is not None and met(row.goal):
        return "goal met"
    if row.floor is not None:
        return "floor met" if met(row.floor) else "BELOW FLOOR"
    return "below goal" if row.goal is not None else "information"


def judge(row: Row, samples: Samples) -> Verdict:
    """Judge a row by the median; a ratio is taken within each round, then its median."""
    mine = values(row.ours, samples)
    ours = spread([value for value in mine if value is not None])
    if row.anchor is None:
        if ours is None:
            return Verdict(row, None, None, None, "not measured", _why(row.ours, samples))
        return Verdict(row, ours, None, None, _grade(row, ours.median))
    theirs = values(row.anchor, samples)
    anchor = spread([value for value in theirs if value is not None])
    pairs = zip(mine, theirs, strict=False)
    ratio = spread([a / b for a, b in pairs if a is not None and b is not None and b > 0])
    if ratio is None:
        absent = row.ours if ours is None else row.anchor
        return Verdict(row, ours, anchor, None, "not measured", _why(absent, samples))
    return Verdict(row, ours, anchor, ratio, _grade(row, ratio.median))
