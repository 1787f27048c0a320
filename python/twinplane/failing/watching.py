"""What a case does in its own process: something fails, and the flows are watched until all has settled."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
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
GAP_BYTES = 20
"""Preamble and gap of an Ethernet frame, which a port sends besides its bytes."""
LEAST_BYTES = 64
"""What a frame has at least."""
ADMISSION = 1
"""RFC 2205, appendix B: the error code of a reservation that found no bandwidth."""

CONGESTED = frozenset({"buffer-full", "early-drop", "average-queue", "sojourn", "policed", "beyond-burst"})
"""Reasons of losses (docs/models/losses.md) that more traffic than fits has."""
CHANCE = frozenset({"link-loss", "link-corruption"})
"""Reasons of losses that are drawn for each frame."""
SIGMAS = 4.0
"""Where chance is at work, a case hurts a flow if it loses more by this many standard deviations."""
FULL = 0.95
"""A port that sends more than this share of its rate may not be able to send all that it is given."""
WAITING_BYTES = 4000
"""If more than this waits in a port beyond what waits there without the failure, its queue may be filling."""

Lost = Mapping[str, int]
"""Packets lost by reason."""
Port = tuple[int, int]
"""What a port has sent, with preambles and gaps, and what waits in it, in bytes."""


@dataclass
class Look:
    """What has happened since nothing had failed yet."""

    sent: list[int]
    """Packets by flow."""
    lost: list[Lost]
    """By flow, and by reason."""
    ports: list[Port]
    """By link and direction."""


def excess(lost: Lost, calm: Lost) -> int:
    """Packets that a flow lost beyond those that it would have lost anyway.

    Where nothing is left to chance, and nothing is lost without the failure, these are all. Else both numbers
    are taken as Poisson distributed: their difference counts if it is greater than `SIGMAS` of its standard
    deviations. If it is not, those count that are lost for a reason that has nothing to do with chance.
    """
    by_chance = {*CHANCE, *calm}
    if not CONGESTED.isdisjoint(calm):
        by_chance |= CONGESTED
    drawn = sum(count for one in (lost, calm) for reason, count in one.items() if reason in by_chance)
    more = sum(lost.values()) - sum(calm.values())
    if more > SIGMAS * math.sqrt(drawn):
        return more
    return sum(count for reason, count in lost.items() if reason not in by_chance)


def since(now: Lost, before: Lost) -> Lost:
    """What was lost in between."""
    found = {reason: count - before.get(reason, 0) for reason, count in now.items()}
    return {reason: count for reason, count in found.items() if count > 0}


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
    rates: Sequence[int] = ()
    """Of each link's ports, in the order of table ``ports``, in bit/s; 0 where there is no limit."""
    already: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """Links and nodes that were down before anything failed here."""
    down: set[tuple[int, int]] = field(default_factory=set)
    """LSPs that were not up before anything failed, by group and place in it."""
    before: Look | None = None
    """How it was before anything failed."""
    calm: list[Look] = field(default_factory=list)
    """What happens at each look if nothing fails."""

    def look(self) -> Look:
        """What has happened since nothing had failed yet."""
        before = self.before
        table = self.core.table("flow_accounts")
        sent = [0] * len(self.flows)
        whole: dict[int, dict[str, int]] = {}
        for place, count, lost in zip(*(table.column(key) for key in ("flow", "sent", "lost")), strict=True):
            sent[place] = (count or 0) - (before.sent[place] if before else 0)
            if lost:
                whole[place] = {}
        if whole:
            table = self.core.table("losses")
            keys = zip(*(table.column(key) for key in ("flow", "reason", "packets")), strict=True)
            for place, reason, count in keys:
                if (found := whole.get(place)) is not None:
                    found[reason] = found.get(reason, 0) + count
        nothing: Lost = {}
        lost_by = [whole.get(place, nothing) for place in range(len(self.flows))]
        if before is not None:
            lost_by = [since(now, old) if now else now for now, old in zip(lost_by, before.lost, strict=True)]
        return Look(sent, lost_by, self._ports())

    def _ports(self) -> list[Port]:
        table, more = self.core.table("ports"), self.core.table("directions")
        sent = zip(table.column("sent_bytes"), table.column("sent_frames"), strict=True)
        waits = zip(more.column("waiting_bytes"), more.column("queued"), strict=True)
        # What waits in queue disciplines is counted in frames: the least that they can have.
        return [
            (size + GAP_BYTES * frames, waiting + LEAST_BYTES * queued)
            for (size, frames), (waiting, queued) in zip(sent, waits, strict=True)
        ]

    def fills(self, look: int, then: Look, now: Look) -> bool:
        """May a queue be filling that does not without the failure? `then` is how it was a look before."""
        if not self.calm:
            return False
        at = [0, *looks(self.watch_ps)]
        span_s = (at[look + 1] - at[look]) / 1e12
        zeros = [(0, 0)] * len(now.ports)
        calm_then = self.calm[look - 1].ports if look else zeros
        ports = zip(self.rates, then.ports or zeros, now.ports, calm_then, self.calm[look].ports, strict=True)
        for rate, (sent, _), (sends, waits), (calm_sent, _), (calm_sends, calm_waits) in ports:
            if waits > calm_waits + WAITING_BYTES:
                return True
            full = FULL * rate * span_s / 8
            if rate and sends - sent > full >= calm_sends - calm_sent:
                return True
        return False

    def quiet(self) -> list[str]:
        """Flows that send too little while they are watched to show whether a case hurts them."""
        sent = self.calm[-1].sent if self.calm else []
        return [flow.name for flow, count in zip(self.flows, sent, strict=False) if count < ENOUGH]

    def cut_off(self) -> list[str]:
        """Flows of which every packet was lost before anything failed."""
        before = self.before
        if before is None:
            return []
        lost = (sum(one.values()) for one in before.lost)
        counts = zip(self.flows, before.sent, lost, strict=True)
        return [flow.name for flow, sent, gone in counts if 0 < sent <= gone]

    def down_lsps(self) -> set[tuple[int, int]]:
        """LSPs that are signalled and not up."""
        table = self.core.table("lsps")
        keys = zip(table.column("lsps"), table.column("index"), table.column("state"), strict=True)
        return {(group, index) for group, index, state in keys if state != "up"}

    def settle(self) -> None:
        """Note how it is before anything fails."""
        self.before = None
        self.before = self.look()
        self.down = self.down_lsps()

    def dead_links(self, case: Case) -> set[int]:
        """Links that cannot be used, by whatever they are down."""
        return {*case.dead_links(self.graph.ends), *self.already[0]}

    def parts(self, case: Case) -> Parts:
        """What hangs together in a case."""
        return self.graph.parts(self.dead_links(case), {*case.nodes, *self.already[1]})


def calm(world: World) -> list[Look]:
    """What happens if nothing fails."""
    found = []
    for at in looks(world.watch_ps):
        world.core.run_until(world.begin_ps + at)
        found.append(world.look())
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
    silent = [bool(world.calm) and not world.calm[-1].sent[place] for place in range(len(world.flows))]
    doomed_lsps = {place for place, (a, b) in enumerate(world.lsp_ends) if not parts.joined(a, b)}
    hurt = [_Harm() for _ in world.flows]
    at = 0
    down: set[tuple[int, int]] = set()
    then = Look([], [], [])
    for look, at in enumerate(looks(world.watch_ps)):
        core.run_until(world.begin_ps + at)
        now = world.look()
        calm_now = world.calm[look] if world.calm else now
        for place, harm in enumerate(hurt):
            harm.see(now.sent[place], now.lost[place], calm_now.sent[place], calm_now.lost[place])
        fills, then = world.fills(look, then, now), now
        last = at == until_ps if until_ps is not None else at == world.watch_ps
        waits = not all(map(any, zip((one.is_well for one in hurt), doomed, silent, strict=True)))
        if not last and (until_ps is not None or waits or fills):
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
    unsent: int = 0
    """Of them those that were not, since the source is down."""
    by_reason: Lost = field(default_factory=dict)
    """Packets that were lost."""
    calm_lost: Lost = field(default_factory=dict)
    """Packets that would have been lost."""
    lossy: bool = False
    """Was something lost between the last two looks?"""

    def see(self, sent: int, lost: Lost, calm_sent: int, calm_lost: Lost) -> None:
        # A source that is down sends nothing: what it would have sent is lost, too.
        unsent = calm_sent - sent
        harm = max(0, excess(lost, calm_lost) + unsent)
        lately = excess(since(lost, self.by_reason), since(calm_lost, self.calm_lost)) + unsent - self.unsent
        self.lossy = lately > 0 and harm > 0
        self.sent_lately = calm_sent - self.sent
        if self.lossy:
            self.lost_lately = lately
            self.sent_at_loss = calm_sent
        self.lost, self.sent, self.unsent = max(harm, self.lost), calm_sent, unsent
        self.by_reason, self.calm_lost = lost, calm_lost

    @property
    def lost_in_queues(self) -> int:
        """Packets that queues dropped beyond those that they would have dropped."""
        both = (self.by_reason, self.calm_lost)
        now, then = (sum(one.get(reason, 0) for reason in CONGESTED) for one in both)
        return max(0, now - then)

    @property
    def is_well(self) -> bool:
        """Have enough packets come through since the last loss?"""
        return not self.lossy and self.sent - self.sent_at_loss >= ENOUGH


def _flows(world: World, hurt: Sequence[_Harm], doomed: Sequence[bool]) -> list[list[Any]]:
    """Of each flow that lost something: its place, packets lost and due, how it ended, packets that queues
    dropped, and where it last lost some.
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
            sent = whole.sent[flow.index]
            harm.lost += (sent - harm.sent) - sum(since(whole.lost[flow.index], harm.calm_lost).values())
            harm.sent = sent
        queued = harm.lost_in_queues
        found.append([flow.index, harm.lost, harm.sent, state, queued, last.get(flow.index)])
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
