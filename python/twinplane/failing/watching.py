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
"""Packets of a flow that have to arrive after the last loss before it counts as recovered; none of them may
be lost, or no more than chance explains."""
GAP_BYTES = 20
"""Preamble and gap of an Ethernet frame, which a port sends besides its bytes."""
LEAST_BYTES = 64
"""What a frame has at least."""
ADMISSION = 1
"""RFC 2205, appendix B: the error code of a reservation that found no bandwidth."""

QUEUES = frozenset({"buffer-full", "early-drop", "average-queue", "sojourn"})
"""Reasons of losses (docs/models/losses.md) that queues have."""
CONGESTED = QUEUES | {"policed", "beyond-burst"}
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
    arrived: list[int]
    """By flow, with those that were on their way then."""
    lost: list[Lost]
    """By flow, and by reason."""
    ports: list[Port]
    """By link and direction."""


@dataclass(frozen=True)
class Excess:
    """What a flow lost beside what it would have lost anyway."""

    more: int
    """Packets that it lost beyond those; less than zero if it lost fewer."""
    drawn: int
    """How many of both are left to chance: so great is the variance of `more`."""
    sure: int
    """Packets that were lost for a reason that has nothing to do with chance."""

    @property
    def told(self) -> int:
        """Packets that chance does not explain: all, or those that are sure."""
        return self.more if self.more > SIGMAS * math.sqrt(self.drawn) else self.sure

    @property
    def undecided(self) -> bool:
        """Might there be more than chance, though there are too few packets to tell?"""
        return not self.told and self.more > 0 and self.more**2 >= self.drawn


def excess(lost: Lost, calm: Lost) -> Excess:
    """Compare what a flow lost with what it would have lost anyway.

    Links that lose frames at random leave to chance what is lost, and so does every reason for which packets
    are lost without the failure, too. Both numbers are taken as Poisson distributed there: their difference
    counts if it is greater than `SIGMAS` of its standard deviations. If it is not, those packets count that
    are lost for another reason.
    """
    by_chance = {*CHANCE, *calm}
    if not CONGESTED.isdisjoint(calm):
        by_chance |= CONGESTED
    drawn = sum(count for one in (lost, calm) for reason, count in one.items() if reason in by_chance)
    more = sum(lost.values()) - sum(calm.values())
    return Excess(more, drawn, sum(count for reason, count in lost.items() if reason not in by_chance))


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
        sent, arrived = [0] * len(self.flows), [0] * len(self.flows)
        whole: dict[int, dict[str, int]] = {}
        keys = (table.column(key) for key in ("flow", "sent", "received", "lost"))
        for place, count, received, lost in zip(*keys, strict=True):
            sent[place] = (count or 0) - (before.sent[place] if before else 0)
            arrived[place] = (received or 0) - (before.arrived[place] if before else 0)
            if lost:
                whole[place] = {}
        if whole:
            table = self.core.table("losses")
            rows = zip(*(table.column(key) for key in ("flow", "reason", "packets")), strict=True)
            for place, reason, count in rows:
                if (found := whole.get(place)) is not None:
                    found[reason] = found.get(reason, 0) + count
        nothing: Lost = {}
        lost_by = [whole.get(place, nothing) for place in range(len(self.flows))]
        if before is not None:
            lost_by = [since(now, old) if now else now for now, old in zip(lost_by, before.lost, strict=True)]
        return Look(sent, arrived, lost_by, self._ports())

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
        if not self.calm or self.before is None:
            return False
        at = [0, *looks(self.watch_ps)]
        span_s = (at[look + 1] - at[look]) / 1e12
        calm_then = self.calm[look - 1] if look else self.before
        both = (then.ports, now.ports, calm_then.ports, self.calm[look].ports)
        ports = zip(self.rates, *both, strict=True)
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


def fall_silent(world: World, case: Case) -> None:
    """Let all links of a case lose every frame from now on, while no interface goes down."""
    for link in case.dead_links(world.graph.ends):
        world.core.fault(
            json.dumps({"at": world.core.now_ps(), "fault": "loss", "link": link, "probability": 1.0})
        )


def loss_times(world: World, begin_ps: int) -> dict[int, tuple[int, int]]:
    """Of each flow that lost packets since a time: how long after it the first and the last were lost."""
    table = world.core.table("loss_times")
    found: dict[int, tuple[int, int]] = {}
    keys = (table.column(key) for key in ("flow", "first_ps", "last_ps"))
    for flow, start, end in zip(*keys, strict=True):
        if end >= begin_ps:
            first, last = found.get(flow, (start - begin_ps, end - begin_ps))
            found[flow] = (min(first, start - begin_ps), max(last, end - begin_ps))
    return found


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
    assert world.before is not None, "it has settled"
    then = world.before
    for look, at in enumerate(looks(world.watch_ps)):
        core.run_until(world.begin_ps + at)
        now = world.look()
        calm_now = world.calm[look] if world.calm else now
        for place, harm in enumerate(hurt):
            harm.see(now, calm_now, place)
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


@dataclass(frozen=True)
class _Seen:
    """A flow at a look, in its case and without the failure, since then."""

    due: int = 0
    """Packets that would have been sent."""
    unsent: int = 0
    """Of them those that were not, since the source is down."""
    arrived: int = 0
    lost: Lost = field(default_factory=dict)
    calm_lost: Lost = field(default_factory=dict)
    """Packets that would have been lost."""

    def after(self, before: _Seen) -> _Seen:
        """What is new since then."""
        due, unsent = self.due - before.due, self.unsent - before.unsent
        lost, calm_lost = since(self.lost, before.lost), since(self.calm_lost, before.calm_lost)
        return _Seen(due, unsent, self.arrived - before.arrived, lost, calm_lost)

    @property
    def excess(self) -> Excess:
        """What it lost more than it would have lost anyway, what could not be sent included."""
        found = excess(self.lost, self.calm_lost)
        return Excess(found.more + self.unsent, found.drawn, found.sure + self.unsent)


@dataclass
class _Harm:
    """What a flow lost more than it would have lost anyway, and whether it goes on.

    What happens is taken as one stretch of time after the other. A stretch ends with the look that shows
    whether more was lost in it than chance explains, and goes on as long as that is not clear.
    """

    lost: int = 0
    seen: _Seen = field(default_factory=_Seen)
    """All."""
    mark: _Seen = field(default_factory=_Seen)
    """Where the stretch begins."""
    lossy: bool = False
    """Was something lost in the last stretch of which it is clear?"""
    undecided: bool = False
    """Is it not clear whether this stretch has losses?"""
    by_chance: bool = False
    """Were they, in the last stretch that had losses, of links that lose at random?"""
    share: float = 1.0
    """Which part of the packets of that stretch was lost."""
    arrived_at_loss: int = 0
    """Packets that had arrived at its end."""

    def see(self, now: Look, calm_now: Look, place: int) -> None:
        # A source that is down sends nothing: what it would have sent is lost, too.
        due = calm_now.sent[place]
        unsent, lost = due - now.sent[place], now.lost[place]
        self.seen = _Seen(due, unsent, now.arrived[place], lost, calm_now.lost[place])
        self.lost = max(self.lost, self.seen.excess.told)
        stretch = self.seen.after(self.mark)
        found = stretch.excess
        self.undecided = found.undecided
        if found.told > 0:
            self.lossy, self.by_chance = True, not found.sure
            self.share = found.told / max(1, stretch.due)
            self.mark, self.arrived_at_loss = self.seen, self.seen.arrived
        elif not (self.lossy and self._too_short(stretch, found)):
            self.lossy = False
            if not found.undecided:
                self.mark = self.seen

    def _too_short(self, stretch: _Seen, found: Excess) -> bool:
        """Might losses of the same share as before not show in this stretch?"""
        if not self.by_chance:
            return False
        likely = self.share * stretch.due
        return likely - found.more < SIGMAS * math.sqrt(likely + found.drawn)

    @property
    def lost_in_queues(self) -> int:
        """Packets that queues dropped beyond those that they would have dropped."""
        both = (self.seen.lost, self.seen.calm_lost)
        lost, calm_lost = (
            {reason: count for reason, count in one.items() if reason in QUEUES} for one in both
        )
        return max(0, excess(lost, calm_lost).told)

    @property
    def is_back(self) -> bool:
        """Have enough packets come through since the last loss?"""
        return not self.lossy and self.seen.arrived - self.arrived_at_loss >= ENOUGH

    @property
    def is_well(self) -> bool:
        """Is it back, and is it clear that no more is lost?"""
        return self.is_back and not self.undecided

    @property
    def state(self) -> str:
        """How it is: ``recovered``, ``lossy``, or ``unseen`` if too little has arrived to tell."""
        return "recovered" if self.is_back else "lossy" if self.lossy else "unseen"


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
        due, gone = harm.seen.due, harm.lost
        if lost and whole is not None:
            still = whole.sent[flow.index] - due
            gone += still - sum(since(whole.lost[flow.index], harm.seen.calm_lost).values())
            due += still
        queued = harm.lost_in_queues
        found.append([flow.index, gone, due, harm.state, queued, last.get(flow.index)])
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
