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
NODE, LINK, FLOW, LSP, HOP = 40_000, 6_000, 3_000, 1_500, 1_000
"""Bytes that one of each takes at least, as measured in rings with chords, with flows, and with long LSPs."""

MEMINFO, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
"""Where Linux says how much memory is free, and how much this group of processes may use."""


@dataclass(frozen=True)
class Need:
    """What a network consists of, and the bytes that it takes at least."""

    nodes: int
    links: int
    lsps: int
    hops: int
    flows: int

    @property
    def bytes(self) -> int:
        """How much memory it takes at least."""
        parts = (self.nodes * NODE, self.links * LINK, self.lsps * LSP, self.hops * HOP, self.flows * FLOW)
        return sum(parts)

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


def need(draft: Draft, hops: bool = True) -> Need:
    """What a network needs. Without `hops` every LSP has as many as a strict route can have at most."""
    lsps = sum(lsp.count for lsp in draft.lsps)
    longest = max(len(draft.nodes) - 1, 1)
    total = sum(lsp.count * _hops(draft, lsp.index) for lsp in draft.lsps) if hops else lsps * longest
    flows = len(draft.flows)
    if draft.demands is not None:
        flows += draft.core.demand_flows(sum(node.kind == "router" for node in draft.nodes))
    return Need(len(draft.nodes), len(draft.links), lsps, total, flows)


def _hops(draft: Draft, lsp: int) -> int:
    """Links of the route of a group's LSPs, as far as it is said; the least that it can be if it is not."""
    return max(len(draft.element("lsps", lsp).get("route") or ()), 1)


def check_growing(draft: Draft) -> None:
    """Refuse a description that is too large already, while there is memory to say so."""
    if (len(draft.nodes) + len(draft.flows)) % OFTEN == 0:
        check(draft, free_bytes())


def check(draft: Draft, free: int | None) -> None:
    """Refuse a network that does not fit into `free` bytes."""
    # Mostly it is clear without a look at every LSP.
    if free is None or need(draft, hops=False).bytes <= free or (whole := need(draft)).bytes <= free:
        return
    share = free / whole.bytes
    raise OutOfRangeError(
        f"the network does not fit into memory: {whole.parts()} take {gigabytes(whole.bytes)} or more, and "
        f"{gigabytes(free)} are free; {whole.parts(share)} would fit"
    )
