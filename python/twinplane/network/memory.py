"""Whether a network fits into the memory of this machine, before it is built."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import OutOfRangeError
from . import distances

if TYPE_CHECKING:
    from .draft import Draft

OFTEN = 20_000
"""Parts of a network that is being described, between two looks at whether it would fit; of a large one an
eighth of it, so that all looks together take no more than a few at all of it."""
NODE, OTHER, LINK, LSP, HOP = 56_000, 2_000, 16_500, 3_500, 550
"""Bytes that a router, another node, a link, an LSP and each link on its way take, as measured
(docs/models/growth.md)."""
FLOW, DEMAND, TESTED, ROUTE = 6_100, 5_400, 8_500, 190
"""What a flow takes, a flow of demands, a router at which flows begin or end, and a router's static route to
a destination of flows that come through: it has one from the first packet on."""
RECORDED, RECORD = 355, 33
"""What a link takes beside that if the route is recorded, and for each link of the route: every router on
the way keeps all of it."""
FOUND, LABELLED = 1_000, 2_700
"""What a router that finds routes (OSPF) has of each other one, and beside that if labels are given for them
(LDP, TDP)."""

MEMINFO, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
"""Where Linux says how much memory is free, and how much this group of processes may use."""

FORKED = 0.65
"""Of what a network takes, a process that goes on with a copy of it writes to so much, and has that for
itself: two to three fifths as measured."""
FAR_OFF = 1.2
"""What is taken may be so many times what is foretold: what is nearer to all that is free may not fit."""


@dataclass(frozen=True)
class Need:
    """What a network consists of, and the bytes that it takes."""

    nodes: int
    routers: int
    """Those among the nodes."""
    links: int
    lsps: int
    hops: int
    """Links on the ways of the LSPs, as far as that is said, or one."""
    recorded: int
    records: int
    """Those of routes that are recorded, and the sum of the squares of their numbers."""
    flows: int
    demanded: int = 0
    """Those of them that are demands: between pairs of nodes, of which there are as many as the square."""
    tested: int = 0
    """Routers at which flows begin or end."""
    routes: int = 0
    """Pairs of a router and a destination of flows that come through it, about, without those of demands."""
    demand_routes: int = 0
    found: int = 0
    """Pairs of routers that find routes to each other: in other areas, too, they have one to each network."""
    labelled: int = 0
    """Those of them that have labels for these. Static routes that no flow uses are not counted: most are
    found when they are first used. Where they all stand from the beginning (with segments, or at limited
    tables), a large network may need more than is foretold."""

    @property
    def bytes(self) -> int:
        """How much memory it takes, within a fifth, without what a run keeps of packets or messages."""
        nodes = self.routers * NODE + (self.nodes - self.routers) * OTHER
        lsps = self.lsps * LSP + self.hops * HOP + self.recorded * RECORDED + self.records * RECORD
        flows = (self.flows - self.demanded) * FLOW + self.tested * TESTED + self.routes * ROUTE
        return nodes + self.links * LINK + lsps + flows + self.between_all

    @property
    def between_all(self) -> int:
        """What of it grows with the square of the network: what each node has of each other one."""
        demands = self.demanded * DEMAND + self.demand_routes * ROUTE
        return self.found * FOUND + self.labelled * LABELLED + demands

    def fitting(self, free: float) -> str:
        """The parts of a network like this one that would fit, in words."""
        square, rest = self.between_all, self.bytes - self.between_all
        share = free / self.bytes
        if square:
            share = (math.sqrt(rest**2 + 4 * square * free) - rest) / (2 * square)
        return self.parts(share)

    def parts(self, share: float = 1.0) -> str:
        """Its parts in words, or those of a network that is smaller by a share."""
        counts = {"nodes": self.nodes, "links": self.links, "LSPs": self.lsps, "flows": self.flows}
        left = counts
        if share != 1.0:
            left = {what: rounded(count * share) for what, count in counts.items()}
            square = (left["nodes"] / max(self.nodes, 1)) ** 2
            left["flows"] = rounded((self.flows - self.demanded) * share + self.demanded * square)
        said = [f"{count:,} {what}" for what, count in left.items() if count]
        return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:]))) or "nothing of it"


def rounded(count: float) -> int:
    """A number with two digits that count, rounded down."""
    whole = int(count)
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return whole // unit * unit


def gigabytes(count: int) -> str:
    """Bytes in words."""
    return f"{count / 1e9:,.1f} GB"


@dataclass(frozen=True)
class Room:
    """Memory that a network may take."""

    bytes: int
    runs: int = 1
    """So many go on beside each other, and each may take as much."""


_share: Room | None = None


def share(runs: int, free: int | None) -> None:
    """So many processes work beside each other: networks of this one take no more than its part of `free`.

    What is free now is no measure of that: the networks beside this one may not have been built yet.
    """
    global _share
    _share = None if free is None else Room(free // runs, runs)


def room(standing: int = 0) -> Room | None:
    """How much memory a network of this process may take, with the bytes that it has taken already.

    None if the system does not say.
    """
    free = free_bytes()
    if free is None:
        return None
    return Room(free + standing) if _share is None else Room(min(free + standing, _share.bytes), _share.runs)


def free_bytes(meminfo: Path = MEMINFO, group: Path = GROUP) -> int | None:
    """Memory that is free for this process; None if the system does not say."""
    found = [*_free_of_machine(meminfo), *_free_of_group(group)]
    return min(found, default=None)


def _free_of_machine(meminfo: Path) -> Iterator[int]:
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            yield int(amount.split()[0]) * 1024


def _free_of_group(group: Path) -> Iterator[int]:
    try:
        most, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return
    if most.isdigit() and used.isdigit():
        yield max(int(most) - int(used) + _cached(group), 0)


def _cached(group: Path) -> int:
    """Bytes of files that count as used and are given up where memory is needed, as in ``MemAvailable``."""
    try:
        lines = (group / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    named = dict(line.split() for line in lines if line.count(" ") == 1)
    return sum(int(named.get(name, 0)) for name in ("inactive_file", "active_file"))


def need(draft: Draft) -> Need:
    """What a network needs."""
    lsps, hops, recorded, records = draft.core.lsp_sums()
    routers = sum(node.kind == "router" for node in draft.nodes)
    demanded = 0 if draft.demands is None else draft.core.demand_flows(routers)
    finding, giving = draft.core.routed_sums()
    routes, demand_routes = _routes(draft, routers, demanded) if finding < routers else (0.0, 0.0)
    static = (routers - finding) / max(routers, 1)
    ends = {end for flow in draft.flows for end in flow.ends}
    return Need(
        len(draft.nodes),
        routers,
        len(draft.links),
        lsps,
        hops,
        recorded,
        records,
        len(draft.flows) + demanded,
        demanded=demanded,
        tested=routers if demanded >= routers else sum(draft.nodes[end].kind == "router" for end in ends),
        routes=int(routes * static),
        demand_routes=int(demand_routes * static),
        found=finding**2,
        labelled=giving**2,
    )


def _routes(draft: Draft, routers: int, demanded: int) -> tuple[float, float]:
    """Of flows, and of demands: the latter at most from each router to each other one."""
    of_demands = 0.0
    if demanded and draft.demands is not None:
        pairs = demanded / max(len(draft.demands.classes), 1)
        of_demands = min(pairs * distances.mean(draft), routers * (routers - 1.0))
    return distances.routes(draft), of_demands


def check_growing(draft: Draft) -> None:
    """Refuse a description that is too large already, while there is memory to say so."""
    parts = len(draft.nodes) + len(draft.links) + len(draft.lsps) + len(draft.flows)
    if parts - draft.looked_at >= max(OFTEN, draft.looked_at // 8):
        draft.looked_at = parts
        check(draft)


def check(draft: Draft) -> str | None:
    """Refuse a network that does not fit into memory; a sentence if it is not sure that it does."""
    free = room(draft.standing)
    if free is None:
        return None
    whole, most = need(draft), free.bytes
    if whole.bytes * FAR_OFF <= most:
        return None
    takes = f"{whole.parts()} take about {gigabytes(whole.bytes)}"
    beside = "for it" if free.runs == 1 else f"for each of {free.runs} runs at a time"
    if whole.bytes <= most:
        return f"the network may not fit into memory: {takes}, and {gigabytes(most)} are free {beside}"
    lead = f"the network does not fit into memory: {takes}, and"
    all_of_it = most * free.runs
    if fewer := all_of_it // whole.bytes:
        beside = f"{beside}; with {fewer} at a time it would fit (--jobs {fewer})"
        raise OutOfRangeError(f"{lead} {gigabytes(most)} are free {beside}")
    smaller = whole.fitting(all_of_it)
    raise OutOfRangeError(f"{lead} {gigabytes(all_of_it)} are free for it; {smaller} would fit")


def forks(draft: Draft, most: int, asked: bool = False) -> int:
    """How many copies of a network can run at a time beside it: so many at most, or as many as fit.

    If more were asked for than fit, or none fits, that is refused.
    """
    free = room(draft.standing)
    if free is None:
        return most
    whole = need(draft)
    each, left = max(int(whole.bytes * FORKED), 1), max(free.bytes - whole.bytes, 0)
    fitting = left // each
    if fitting >= most or (fitting and not asked):
        return min(fitting, most)
    would = f"{fitting} at a time would fit (--jobs {fitting})"
    if not fitting:
        would = f"with {whole.fitting(free.bytes / (1 + each / whole.bytes))} one would fit"
    raise OutOfRangeError(
        f"{most} runs at a time do not fit into memory beside their network: each takes about "
        f"{gigabytes(each)}, and {gigabytes(left)} are free; {would}"
    )
