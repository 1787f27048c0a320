"""Whether a network fits into the memory of this machine, before it is built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import OutOfRangeError

if TYPE_CHECKING:
    from .draft import Draft

OFTEN = 20_000
"""Parts of a network that is being described, between two looks at whether it would fit."""
NODE, OTHER, LINK, FLOW, LSP, HOP = 50_000, 2_000, 16_000, 6_400, 3_500, 550
"""Bytes that a router, another node, a link, a flow, an LSP and each link on its way take, as measured
(docs/models/growth.md)."""
RECORDED, RECORD = 355, 33
"""What a link takes beside that if the route is recorded, and for each link of the route: every router on
the way keeps all of it."""

MEMINFO, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
"""Where Linux says how much memory is free, and how much this group of processes may use."""

SURE = 1.2
"""What is foretold may be so many times what is taken: what is not sure to be too large is not refused."""


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

    @property
    def bytes(self) -> int:
        """How much memory it takes, within a fifth, without what a run keeps of packets or messages."""
        nodes = self.routers * NODE + (self.nodes - self.routers) * OTHER
        lsps = self.lsps * LSP + self.hops * HOP + self.recorded * RECORDED + self.records * RECORD
        return nodes + self.links * LINK + lsps + self.flows * FLOW

    def parts(self, share: float = 1.0) -> str:
        """Its parts in words, or those of a network that is smaller by a share."""
        counts = {"nodes": self.nodes, "links": self.links, "LSPs": self.lsps, "flows": self.flows}
        left = {what: count if share == 1.0 else rounded(count * share) for what, count in counts.items()}
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
        yield max(int(most) - int(used), 0)


def need(draft: Draft) -> Need:
    """What a network needs."""
    lsps, hops, recorded, records = draft.core.lsp_sums()
    flows, routers = len(draft.flows), sum(node.kind == "router" for node in draft.nodes)
    if draft.demands is not None:
        flows += draft.core.demand_flows(routers)
    return Need(len(draft.nodes), routers, len(draft.links), lsps, hops, recorded, records, flows)


def check_growing(draft: Draft) -> None:
    """Refuse a description that is too large already, while there is memory to say so."""
    if (len(draft.nodes) + len(draft.flows)) % OFTEN == 0:
        check(draft, free_bytes())


def check(draft: Draft, free: int | None) -> None:
    """Refuse a network that does not fit into `free` bytes."""
    if free is None or (whole := need(draft)).bytes <= SURE * free:
        return
    share = free / whole.bytes
    raise OutOfRangeError(
        f"the network does not fit into memory: {whole.parts()} take about {gigabytes(whole.bytes)}, and "
        f"{gigabytes(free)} are free; {whole.parts(share)} would fit"
    )
