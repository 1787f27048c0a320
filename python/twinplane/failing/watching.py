"""What a case does in its own process: something fails, and the flows are watched until all has settled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .cases import Case
from .graph import Graph, Parts
from .traffic import Watched

if TYPE_CHECKING:
    from .. import _core

FIRST_LOOK_PS = 50 * 10**9
"""When a case is first looked at after the failure; each look comes half as late again as the one before."""
ENOUGH = 3
"""Packets of a flow that have to arrive without a loss before it counts as recovered."""
ADMISSION = 1
"""RFC 2205, appendix B: the error code of a reservation that found no bandwidth."""

Counts = list[tuple[list[int], list[int]]]
"""Packets sent and lost by flow, at each look."""


def looks(watch_ps: int) -> list[int]:
    """Times after the failure at which a case is looked at."""
    found, step = [], FIRST_LOOK_PS
    at = step
    while at < watch_ps:
        found.append(at)
        step = step * 3 // 2
        at += step
    return [*found, watch_ps]


@dataclass
class World:
    """A network that has warmed up, and what cases need to know of it."""

    core: _core.Network
    graph: Graph
    flows: Sequence[Watched]
    begin_ps: int
    watch_ps: int
    lsp_ends: Sequence[tuple[int, int]]
    """Where each group of LSPs begins and ends."""
    already: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """Links and nodes that were down before anything failed here."""
    down: set[tuple[int, int]] = field(default_factory=set)
    """LSPs that were not up before anything failed, by group and place in it."""
    before: tuple[list[int], list[int]] = ([], [])
    """Packets sent and lost by flow before anything failed."""
    calm: Counts = field(default_factory=list)
    """What happens at each look if nothing fails."""

    def counts(self) -> tuple[list[int], list[int]]:
        """Packets sent and lost by flow since nothing had failed yet."""
        table = self.core.table("flow_accounts")
        both = [[0] * len(self.flows), [0] * len(self.flows)]
        places = table.column("flow")
        for found, key, old in zip(both, ("sent", "lost"), self.before or ([], []), strict=True):
            for place, value in zip(places, table.column(key), strict=True):
                found[place] = (value or 0) - (old[place] if old else 0)
        return both[0], both[1]

    def quiet(self) -> list[str]:
        """Flows that send too little while they are watched to show whether a case hurts them."""
        sent = self.calm[-1][0] if self.calm else []
        return [flow.name for flow, count in zip(self.flows, sent, strict=False) if count < ENOUGH]

    def down_lsps(self) -> set[tuple[int, int]]:
        """LSPs that are signalled and not up."""
        table = self.core.table("lsps")
        keys = zip(table.column("lsps"), table.column("index"), table.column("state"), strict=True)
        return {(group, index) for group, index, state in keys if state != "up"}

    def settle(self) -> None:
        """Note how it is before anything fails."""
        self.before = self.counts()
        self.down = self.down_lsps()

    def dead_links(self, case: Case) -> set[int]:
        """Links that cannot be used, by whatever they are down."""
        return {*case.dead_links(self.graph.ends), *self.already[0]}

    def parts(self, case: Case) -> Parts:
        """What hangs together in a case."""
        return self.graph.parts(self.dead_links(case), {*case.nodes, *self.already[1]})


def calm(world: World) -> Counts:
    """What happens if nothing fails."""
    found = []
    for at in looks(world.watch_ps):
        world.core.run_until(world.begin_ps + at)
        found.append(world.counts())
    return found


def fail(world: World, case: Case) -> None:
    """Let it happen, now and to the end: links are cut, and nodes go down with all of their links."""
    for link in case.links:
        world.core.fail_link(link)
    for node in case.nodes:
        world.core.fault(json.dumps({"at": world.core.now_ps(), "fault": "node-down", "node": node}))


def watch(world: World, case: Case, until_ps: int | None = None) -> dict[str, Any]:
    """Let a case happen and look at it until all has settled, or to a time after the failure."""
    core = world.core
    core.forget_before(world.begin_ps)
    fail(world, case)
    parts = world.parts(case)
    doomed = [not parts.joined(flow.source, flow.sink) for flow in world.flows]
    silent = [bool(world.calm) and not world.calm[-1][0][place] for place in range(len(world.flows))]
    doomed_lsps = {place for place, (a, b) in enumerate(world.lsp_ends) if not parts.joined(a, b)}
    hurt = [_Harm() for _ in world.flows]
    at = 0
    down: set[tuple[int, int]] = set()
    for look, at in enumerate(looks(world.watch_ps)):
        core.run_until(world.begin_ps + at)
        counts = world.counts()
        calm_then = world.calm[look] if world.calm else counts
        for harm, *now in zip(hurt, *counts, *calm_then, strict=True):
            harm.see(*now)
        last = at == until_ps if until_ps is not None else at == world.watch_ps
        waits = not all(map(any, zip((one.is_well for one in hurt), doomed, silent, strict=True)))
        if not last and (until_ps is not None or waits):
            continue
        down = world.down_lsps() - world.down
        if last or doomed_lsps.issuperset(group for group, _ in down):
            break
    return {
        "case": case.name,
        "key": case.key,
        "kind": case.kind,
        "watched_ps": at,
        "digest": core.digest(),
        "flows": _flows(world, hurt, doomed),
        "down": sorted(down),
        **_told(core, world.begin_ps),
    }


@dataclass
class _Harm:
    """What a flow lost more than it would have lost anyway."""

    lost: int = 0
    sent: int = 0
    """Packets that would have been sent."""
    sent_at_loss: int = 0
    """Of them those before the last look that saw a loss."""
    lost_lately: int = 0
    """Lost at the last look that saw a loss."""
    sent_lately: int = 0
    """Would have been sent between the last two looks."""
    calm_lost: int = 0
    """Packets that would have been lost."""
    lossy: bool = False
    """Was something lost between the last two looks?"""

    def see(self, sent: int, lost: int, calm_sent: int, calm_lost: int) -> None:
        # A source that is down sends nothing: what it would have sent is lost, too.
        harm = max(0, lost - calm_lost + calm_sent - sent)
        self.lossy = harm > self.lost
        self.sent_lately = calm_sent - self.sent
        if self.lossy:
            self.lost_lately = harm - self.lost
            self.sent_at_loss = calm_sent
        self.lost, self.sent, self.calm_lost = max(harm, self.lost), calm_sent, calm_lost

    @property
    def is_well(self) -> bool:
        """Have enough packets come through since the last loss?"""
        return not self.lossy and self.sent - self.sent_at_loss >= ENOUGH


def _flows(world: World, hurt: Sequence[_Harm], doomed: Sequence[bool]) -> list[list[Any]]:
    """Of each flow that lost something: its place, packets lost and due, how it ended, whether it has no way
    left, and where it last lost some.
    """
    # Nothing of a flow without a way can arrive: what it loses from the last look on is known already.
    whole = world.calm[-1] if world.calm else None
    last = _last_losses(
        world.core, {flow.index for flow, harm in zip(world.flows, hurt, strict=True) if harm.lost}
    )
    found: list[list[Any]] = []
    for flow, harm, lost in zip(world.flows, hurt, doomed, strict=True):
        if not harm.lost:
            continue
        state = "recovered" if harm.is_well else "lossy" if harm.lossy and not harm.is_well else "unseen"
        if harm.lossy and harm.lost_lately >= harm.sent_lately:
            state = "lost"
        if lost and whole is not None:
            sent = whole[0][flow.index]
            harm.lost += (sent - harm.sent) - (whole[1][flow.index] - harm.calm_lost)
            harm.sent = sent
        found.append([flow.index, harm.lost, harm.sent, state, lost, last.get(flow.index)])
    return found


def _last_losses(core: _core.Network, flows: set[int]) -> dict[int, list[Any]]:
    """Where each flow last lost packets: node, place, reason, and whether they had a label."""
    table = core.table("losses")
    keys = [table.column(key) for key in ("time_ps", "packets", "flow", "node", "place", "reason", "tc")]
    found: dict[int, list[Any]] = {}
    best: dict[int, tuple[int, int]] = {}
    for at, packets, flow, node, place, reason, tc in zip(*keys, strict=True):
        rank = (-1 if at is None else at, packets)
        if flow in flows and rank > best.get(flow, (-2, 0)):
            best[flow] = rank
            found[flow] = [node, place, reason, tc is not None]
    return found


def _told(core: _core.Network, begin_ps: int) -> dict[str, Any]:
    """What head ends told since the failure.

    `errors` of LSPs, each kind once: group, place in it, code, value and address of who found it. `up`: when
    the last LSP of each group came up again, counted from the failure.
    """
    table = core.table("events")
    errors: dict[tuple[Any, ...], None] = {}
    up: dict[int, int] = {}
    keys = [table.column(key) for key in ("time_ps", "lsps", "index", "event")]
    for at, group, index, event in zip(*keys, strict=True):
        if group is None:
            continue
        if event["event"] == "lsp-error":
            errors[group, index, event.get("code"), event.get("value"), event.get("node")] = None
        elif event["event"] == "lsp-up":
            up[group] = at - begin_ps
    return {"errors": [list(one) for one in errors], "up": sorted(up.items())}
