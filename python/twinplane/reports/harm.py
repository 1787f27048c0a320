"""Whom failures hurt, and for how long: by flow, by class, and by failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .story import Action, FlowSeen, Lost, Story


@dataclass
class Failure:
    """What was done at one moment that takes something away, and the time until the next such moment."""

    at: float
    end: float
    actions: list[Action]


@dataclass
class Outage:
    """What a flow, or all flows of a class, lost, and when."""

    flow: FlowSeen
    flows: int = 1
    hurt: int = 0
    """Flows of these that lost packets."""
    first: float | None = None
    last: float | None = None
    duration: float = 0.0
    """For how long nothing arrived, the longest after each failure, added up; of a class its worst flow's."""
    in_a_row: int = 0
    """Packets that were lost then."""
    spread: float = 0.0
    """From the first to the last packet lost after each failure, added up; of a class its worst flow's."""
    ends_lost: bool = False
    """Did next to nothing arrive of its last packets?"""

    @property
    def scattered(self) -> bool:
        """Were most of its packets lost while others arrived?"""
        return self.in_a_row * 2 < self.flow.lost - self.flow.unplaced


@dataclass
class LspHarm:
    """An LSP that went down though nobody tore it down."""

    name: str
    down: float
    back: float | None
    """When it was up for good; None if it is not at the end."""
    away: float
    """How long it was down in all."""


@dataclass
class Effect:
    """What a failure did until the next one."""

    failure: Failure
    lost: int = 0
    flows: set[int] = field(default_factory=set)
    lsps: list[LspHarm] = field(default_factory=list)


def failures(story: Story) -> list[Failure]:
    """Moments at which something was taken away, in order."""
    by_time: dict[float, list[Action]] = {}
    for action in story.failures:
        by_time.setdefault(action.at, []).append(action)
    times = sorted(by_time)
    ends = [*times[1:], float("inf")][: len(times)]
    return [Failure(at, end, by_time[at]) for at, end in zip(times, ends, strict=True)]


def outages(story: Story) -> list[Outage]:
    """An outage for each flow, in their order."""
    spans = [(one.at, one.end) for one in failures(story)] or [(0.0, float("inf"))]
    losses = by_flow(story.losses)
    periods = None if story.periods is None else by_flow(story.periods)
    return [
        _outage(
            story, place, losses.get(place, []), None if periods is None else periods.get(place, []), spans
        )
        for place in range(len(story.flows))
    ]


def by_flow(losses: Iterable[Lost]) -> dict[int, list[Lost]]:
    """Losses of each flow, in their order."""
    found: dict[int, list[Lost]] = {}
    for lost in losses:
        found.setdefault(lost.flow, []).append(lost)
    return found


def _outage(
    story: Story,
    place: int,
    losses: Sequence[Lost],
    periods: Sequence[Lost] | None,
    spans: Sequence[tuple[float, float]],
) -> Outage:
    """Without `periods`, all that was lost after a failure is taken for one outage."""
    flow = story.flows[place]
    found = Outage(flow, flow.count, hurt=int(flow.lost > 0))
    if not losses:
        return found
    found.first, found.last = min(one.first for one in losses), max(one.last for one in losses)
    for begin, end in spans:
        within = [one for one in losses if begin <= one.first < end]
        whole = _joined(within)
        found.spread += whole.last - whole.first
        if periods is not None:
            begun = (one for one in periods if begin <= one.first < end)
            whole = max(begun, key=lambda one: (one.last - one.first, one.packets), default=NOTHING)
        found.duration += whole.last - whole.first
        found.in_a_row += whole.packets
    found.ends_lost = _ends_lost(story, place, losses, found.last)
    return found


NOTHING = Lost(0, 0.0, 0.0, 0)


def _joined(losses: Sequence[Lost]) -> Lost:
    """From the first to the last of them."""
    if not losses:
        return NOTHING
    first, last = min(one.first for one in losses), max(one.last for one in losses)
    return Lost(losses[0].flow, first, last, sum(one.packets for one in losses))


TAIL = 20
"""The end of a flow is so many of its packets long."""
TAIL_UNFOLLOWED = 50
FEW = 0.1
"""A flow that loses all but this share at its end has not recovered."""


def _ends_lost(story: Story, place: int, losses: Sequence[Lost], last: float) -> bool:
    """Did next to nothing arrive of its last packets?

    Of flows whose arrivals are not known over time, what they send is taken to be even.
    """
    flow = story.flows[place]
    if not flow.received:
        return True
    bins = story.arrivals.get(place)
    if bins:
        steps = [(after[0] - before[0]) / 1e12 for before, after in pairwise(bins)]
        width = min(steps, default=0.0)
        end = max(last, bins[-1][0] / 1e12 + width)
        begin = min(bins[0][0] / 1e12, losses[0].first)
        tail = end - max(TAIL * (end - begin) / max(flow.sent, 1), 2 * width)
        arrived = sum(packets for start, packets in bins if start / 1e12 >= tail)
        return within(losses, tail, end) * FEW > arrived
    end = min(story.end, story.stop)
    gap = end / max(flow.sent, 1)
    expected = TAIL_UNFOLLOWED * (1 - 3 * FEW)
    return end - last <= TAIL / 4 * gap and within(losses, end - TAIL_UNFOLLOWED * gap, end) >= expected


def within(losses: Sequence[Lost], begin: float, end: float) -> float:
    """Packets lost within a time; those of a stretch are spread evenly over it."""
    found = 0.0
    for one in losses:
        if one.last < begin or one.first > end:
            continue
        long = one.last - one.first
        share = (min(one.last, end) - max(one.first, begin)) / long if long else 1.0
        found += one.packets * share
    return found


def by_class(story: Story, flows: Sequence[Outage]) -> list[Outage]:
    """The outages of each class, most hurt first."""
    members: dict[str, list[Outage]] = {group: [] for group in story.groups}
    for one in flows:
        members[one.flow.group].append(one)
    return ranked([together(group, members[group]) for group in members])


COUNTS = ("sent", "duplicated", "received", "lost", "in_flight", "unplaced", "reordered")


def together(name: str, flows: Sequence[Outage]) -> Outage:
    """The outages of some flows as one."""
    total = FlowSeen(name, name)
    for key in COUNTS:
        setattr(total, key, sum(getattr(one.flow, key) for one in flows))
    firsts = [one.first for one in flows if one.first is not None]
    lasts = [one.last for one in flows if one.last is not None]
    return Outage(
        total,
        sum(one.flows for one in flows),
        sum(one.hurt for one in flows),
        min(firsts, default=None),
        max(lasts, default=None),
        max((one.duration for one in flows), default=0.0),
        sum(one.in_a_row for one in flows),
        max((one.spread for one in flows), default=0.0),
        any(one.ends_lost for one in flows),
    )


def ranked(found: Sequence[Outage]) -> list[Outage]:
    """The most hurt first: those that did not come back, then by packets lost, then by duration."""
    return sorted(found, key=lambda one: (not one.ends_lost, -one.flow.lost, -one.duration, one.flow.name))


def lost_between(story: Story, begin: float, end: float = float("inf")) -> list[Lost]:
    """Losses that began within a time. Stretches end where something is done, so none is of two failures."""
    return [one for one in story.losses if begin <= one.first < end]


def lsps_hurt(story: Story, begin: float, end: float = float("inf")) -> list[LspHarm]:
    """LSPs that went down within a time, the longest away first."""
    found = []
    for name, spans in story.lsps.items():
        downs = [
            place
            for place, span in enumerate(spans)
            if span.state == "down" and not span.torn and begin <= span.begin < end
        ]
        if not downs:
            continue
        down = spans[downs[0]].begin
        later = spans[downs[-1] + 1 :]
        back = later[0].begin if later and later[0].state == "up" else None
        away = sum(spans[place].end - spans[place].begin for place in downs)
        found.append(LspHarm(name, down, back, away))
    return sorted(found, key=lambda one: (one.back is not None, -one.away, one.name))


def effects(story: Story) -> list[Effect]:
    """What each failure did until the next one."""
    found = []
    for failure in failures(story):
        losses = lost_between(story, failure.at, failure.end)
        found.append(
            Effect(
                failure,
                sum(one.packets for one in losses),
                {one.flow for one in losses},
                lsps_hurt(story, failure.at, failure.end),
            )
        )
    return found


def cuts(story: Story) -> list[tuple[str, float, float]]:
    """Links (as actions name them) and nodes that were away, from when to when."""
    found: list[tuple[str, float, float]] = []
    away: dict[str, tuple[float, float]] = {}

    def back(name: str, at: float) -> None:
        begin, end = away.pop(name, (at, at))
        if begin < min(end, at):
            found.append((name, begin, min(end, at)))

    for action in story.actions:
        name = action.link or action.node
        if action.cuts and name:
            if name in away and away[name][1] <= action.at:
                back(name, action.at)
            # Only the end of what began last counts.
            begin, _ = away.get(name, (action.at, 0.0))
            away[name] = (begin, story.end if action.until is None else action.until)
        elif action.what == "heal":
            for one in [name] if name else list(away):
                back(one, action.at)
    for name in list(away):
        back(name, story.end)
    return found
