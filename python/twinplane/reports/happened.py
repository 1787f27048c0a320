"""What happened, line by line: what was done to the network, and what its routers made of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..charts.table import Table
from ..units import format_time
from .headline import NAMED_MAX, done
from .page import Section
from .seen import Session, Way
from .sessions import counted
from .story import Story

LINES_MAX = 80
"""So many lines are on the page."""
TOGETHER_S = 0.05
"""What happens to several sessions within so long is one line."""
SOON_S = 1e-3
"""When the first and the last of them changed is told if that is further apart."""

LOST = {"OSPF": "was lost", "BFD": "went down", "LDP": "ended", "BGP": "ended"}
"""What became of a session that is not up any more, as its protocol has it."""


@dataclass(frozen=True)
class Line:
    """A time in seconds, and what happened then."""

    at: float
    text: str


@dataclass(frozen=True)
class _Change:
    """Something that happened to one thing among several of its kind."""

    at: float
    kind: str
    """What it is a change of, and of which reason: changes of one kind are told together."""
    name: str
    one: str
    """The sentence if it happened to this one alone; `{}` is its name."""
    many: str
    """The sentence if it happened to several: `{}` stands for them."""


def lines(story: Story) -> list[Line]:
    """All of it, in order of time; what happened to several at the same time is one line."""
    found = [Line(action.at, _sentence(done(action))) for action in story.actions]
    found += _came_up(story.sessions)
    changes = sorted((*_sessions(story.sessions), *_lsps(story), *_ways(story)), key=lambda one: one.at)
    done_at = sorted(action.at for action in story.actions)
    groups: list[list[_Change]] = []
    latest: dict[str, list[_Change]] = {}
    for one in changes:
        group = latest.get(one.kind)
        # What came before the last thing that was done is told apart.
        last = done_at[place - 1] if (place := bisect_right(done_at, one.at)) else 0.0
        if group is None or one.at - group[0].at > TOGETHER_S or group[0].at < last:
            group = latest[one.kind] = []
            groups.append(group)
        group.append(one)
    found += [Line(group[0].at, _sentence(_told(group))) for group in groups]
    return sorted(found, key=lambda line: line.at)


def _told(group: Sequence[_Change]) -> str:
    if len(group) == 1:
        return group[0].one.format(group[0].name)
    names = list(dict.fromkeys(one.name for one in group))
    more = f" and {len(names) - NAMED_MAX:,} more" if len(names) > NAMED_MAX else ""
    last = f", the last at {format_time(group[-1].at, 7)}" if group[-1].at > group[0].at + SOON_S else ""
    return f"{group[0].many.format(len(names))} ({', '.join(names[:NAMED_MAX])}{more}{last})"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _came_up(sessions: Sequence[Session]) -> list[Line]:
    """When the sessions of each protocol were all up for the first time."""
    found = []
    for protocol in dict.fromkeys(one.protocol for one in sessions):
        own = [one for one in sessions if one.protocol == protocol]
        ups = sorted(one.up_first for one in own if one.up_first is not None)
        if not ups:
            continue
        first = f", the first since {format_time(ups[0], 6)}" if ups[-1] > ups[0] + SOON_S else ""
        never = len(own) - len(ups)
        rest = f"; {never:,} more never came up" if never else ""
        verb = "is up" if len(ups) == 1 else "are up" if never else "are all up"
        found.append(Line(ups[-1], f"{counted(protocol, len(ups))} {verb} for the first time{first}{rest}"))
    return found


def _sessions(sessions: Sequence[Session]) -> Iterator[_Change]:
    for session in sessions:
        protocol = session.protocol
        one = counted(protocol, 1).removeprefix("1 ")
        many = counted(protocol, 2).removeprefix("2 ")
        for before, after in pairwise(session.spans):
            if after.state == "down":
                why = f": {_safe(after.why)}" if after.why else ""
                ended = LOST[protocol]
                several = ended.replace("was", "were")
                yield _Change(
                    after.begin,
                    f"{protocol} down {after.why}",
                    session.between,
                    f"{one} {{}} {ended}{why}",
                    f"{{:,}} {many} {several}{why}",
                )
            elif before.state == "down":
                away = format_time(after.begin - before.begin, 4)
                yield _Change(
                    after.begin,
                    f"{protocol} up",
                    session.between,
                    f"{one} {{}} is up again after {away}",
                    f"{{:,}} {many} are up again",
                )


def _safe(text: str) -> str:
    """A text within a sentence that is formatted."""
    return text.replace("{", "{{").replace("}", "}}")


def _lsps(story: Story) -> Iterator[_Change]:
    for name, spans in story.lsps.items():
        for before, after in pairwise(spans):
            if after.state == "down":
                why = f": {_safe(after.why)}" if after.why else ""
                one, many = f"LSP {{}} went down{why}", f"{{:,}} LSPs went down{why}"
                yield _Change(after.begin, f"LSP down {after.why}", name, one, many)
            elif before.state == "down":
                away = format_time(after.begin - before.begin, 4)
                one = f"LSP {{}} is up again after {away}"
                yield _Change(after.begin, "LSP up", name, one, "{:,} LSPs are up again")
            elif before.state == "up" and after.route != before.route:
                way = f": {' - '.join(map(_safe, after.route))}" if after.route else ""
                one = f"LSP {{}} takes another route{way}"
                yield _Change(after.begin, "LSP rerouted", name, one, "{:,} LSPs take other routes")


def _ways(story: Story) -> Iterator[_Change]:
    """Flows that are seen to go another way; when exactly nobody knows."""
    flows: dict[str, list[Way]] = {}
    for way in story.ways:
        if way.kind == "flow":
            flows.setdefault(way.name, []).append(way)
    for name, ways in flows.items():
        for before, after in pairwise(ways):
            if before.nodes == after.nodes and before.fate == after.fate:
                continue
            how = f"go {_safe(' - '.join(after.nodes))}" if len(after.nodes) > 1 else ""
            lost = "" if after.fate == "arrives" else _safe(after.fate.replace("is lost", "be lost", 1))
            one = f"flow {{}} is seen to {' and '.join(part for part in (how, lost) if part)}"
            yield _Change(after.begin, "way", name, one, "{:,} flows are seen to go other ways")


def table(story: Story) -> Table | None:
    """The lines as a table; None if there is nothing but what was done."""
    found = lines(story)
    if len(found) <= len(story.actions):
        return None
    first = min((action.at for action in story.failures), default=0.0)
    # Where there are too many, those from the first failure on.
    before = sum(line.at < first for line in found)
    start = max(0, min(before, len(found) - LINES_MAX))
    shown = found[start : start + LINES_MAX]
    more = ""
    if len(found) > LINES_MAX:
        more = f"Lines {start + 1} to {start + LINES_MAX} of {len(found):,}"
    rows = [[format_time(line.at, 7), line.text] for line in shown]
    return Table("In order of time", ["at", "what happened"], rows, 2, note=more)


def section(story: Story) -> list[Section]:
    """The lines, of a network whose routers have sessions or whose ways were looked at."""
    if not story.sessions and not story.ways:
        return []
    found = table(story)
    return [] if found is None else [Section("What happened", tables=[found])]
