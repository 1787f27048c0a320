"""What failed and whom it hurt, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ..units import format_time
from . import harm
from .harm import Failure, LspHarm, Outage, by_flow, failures, lost_between, lsps_hurt, outages, together
from .story import BEST_EFFORT, Action, Story

NAMED_MAX = 3
"""More links, classes or LSPs are counted."""


def headline(story: Story) -> str | None:
    """The sentence; None if nothing failed."""
    found = failures(story)
    if not found:
        return None
    begin = found[0].at
    parts = [part for part in (_losses(story, begin) + _most(story, found), _lsps(story, begin)) if part]
    text = f"{failed(found, story)}: {'; '.join(parts)}."
    return f"{text[:1].upper()}{text[1:]}"


def _most(story: Story, found: Sequence[Failure]) -> str:
    """Of several failures the one that cost most."""
    lost = [(sum(one.packets for one in lost_between(story, of.at, of.end)), of) for of in found]
    total = sum(count for count, _ in lost)
    if len(found) < 2 or not total or len({done(action) for of in found for action in of.actions}) < 2:
        return ""
    count, worst = max(lost, key=lambda one: one[0])
    what = _and([done(action) for action in worst.actions], "failures")
    how = "all" if count == total else f"{count:,}"
    return f", {how} of them after {what} at {format_time(worst.at)}"


def failed(found: Sequence[Failure], story: Story) -> str:
    """What was taken away, and when."""
    if len(found) == 1:
        return _and([done(action) for action in found[0].actions], "failures") + _at(found[0], story)
    actions = [action for one in found for action in one.actions]
    span = f"from {format_time(found[0].at)} to {format_time(found[-1].at)}"
    whats = {done(action) for action in actions}
    if len(whats) == 1 and actions[0].what in ("fail", "restart", "tear"):
        return f"{whats.pop()} {len(actions)} times, {span}"
    objects = list(dict.fromkeys(_object(action) for action in actions))
    return f"{len(actions)} failures {span} ({_listed(objects)})"


def done(action: Action) -> str:
    """An action in words, without its time."""
    name = _object(action)
    toward = f" from {action.source}" if action.source else ""
    match action.what:
        case "fail":
            return f"{name} failed"
        case "restart":
            return f"{name} restarted"
        case "tear":
            return f"{name} was torn down"
        case "heal":
            return f"{name} was repaired" if action.link or action.node else "everything was repaired"
        case "loss":
            return f"{name} lost {action.value} of frames{toward}"
        case "rate":
            return f"{name} was limited to {action.value}{toward}"
        case "delay":
            return f"{name} was delayed by {action.value}{toward}"
        case "corruption":
            return f"{name} inverted bits at a rate of {action.value}{toward}"
        case "duplication":
            return f"{name} duplicated {action.value} of frames{toward}"
        case "reordering":
            return f"{name} held back {action.value} of frames{toward}".replace(" by ", " for ", 1)
    words = {
        "signal": "was signalled",
        "reroute": "was rerouted",
        "reoptimise": "was reoptimised",
        "start": "started",
        "stop": "stopped",
    }
    return f"{name} {words.get(action.what, action.what)}"


def _object(action: Action) -> str:
    if action.link:
        return f"link {action.link}"
    if action.node:
        return f"node {action.node}"
    if action.lsp:
        return f"LSP {action.lsp}"
    return f"flow {action.flow}" if action.flow else "the network"


def _at(failure: Failure, story: Story) -> str:
    until = {_end(action, story) for action in failure.actions}
    if len(until) == 1 and (end := until.pop()) is not None:
        return f" from {format_time(failure.at)} to {format_time(end)}" if end > failure.at else ""
    return f" at {format_time(failure.at)}"


def _end(action: Action, story: Story) -> float | None:
    """When it was over: what was cut may have been repaired before its end, or have failed again."""
    name = action.link or action.node
    if action.cuts:
        for one, begin, end in harm.cuts(story):
            if one == name and begin <= action.at < end < story.end:
                return end
    return action.until


def _losses(story: Story, begin: float) -> str:
    """Whom it hurt, most hurt class first."""
    if not any(flow.sent or flow.received for flow in story.flows):
        return ""
    after = lost_between(story, begin)
    unplaced = sum(flow.unplaced for flow in story.flows)
    before = sum(one.packets for one in story.losses) - sum(one.packets for one in after)
    lost = {flow: sum(one.packets for one in mine) for flow, mine in by_flow(after).items()}
    hurt: dict[str, list[tuple[int, Outage]]] = {}
    for flow, outage in enumerate(outages(story)):
        if flow in lost:
            hurt.setdefault(outage.flow.group, []).append((lost[flow], outage))
    groups = {
        group: (sum(count for count, _ in of), [one for _, one in sorted(of, key=_by_count)])
        for group, of in hurt.items()
    }
    if not groups:
        earlier = f"; {_packets(before)} {_were(before)} lost before" if before else ""
        if unplaced:
            return f"{_packets(unplaced)} {_were(unplaced)} lost, nobody knows when{earlier}"
        who = "no flow or demand" if any(flow.is_demand for flow in story.flows) else "no flow"
        return f"{who} lost a packet after it{earlier}"
    ranked = sorted(groups.items(), key=lambda item: (not _gone(item[1][1]), -item[1][0], item[0]))
    words = []
    for place, (group, (count, of)) in enumerate(ranked[:NAMED_MAX]):
        name = group if group == BEST_EFFORT else f"class {group}"
        text = f"{name} lost {_packets(count)}" if not place else f"{name} {count:,}"
        words.append(f"{text}{_pairs(of)}{_long(of)}")
    rest = ranked[NAMED_MAX:]
    if rest:
        words.append(f"{len(rest)} more classes {sum(item[1][0] for item in rest):,}")
    text = ", ".join(words)
    if before:
        text += f" ({before:,} more {_were(before)} lost before)"
    return text + (f", and of {unplaced:,} more nobody knows when" if unplaced else "")


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _by_count(one: tuple[int, Outage]) -> tuple[int, str]:
    return -one[0], one[1].flow.name


def _pairs(hurt: Sequence[Outage]) -> str:
    """Between which nodes: of demands, which are no flows that anybody gave a name."""
    pairs = [one.flow.pair for one in hurt if one.flow.pair]
    if not pairs:
        return ""
    return f" of {len(pairs):,} pair{'s'[: len(pairs) != 1]} ({_listed(pairs)})"


def _long(hurt: Sequence[Outage]) -> str:
    """For how long nothing arrived; of what was lost here and there, over how long."""
    if _gone(hurt):
        return " and had not recovered at the end"
    all_of = together("", hurt)
    if all_of.scattered:
        return f" here and there over {format_time(all_of.spread, 3)}" if all_of.spread else ""
    upto = "up to " if len(hurt) > 1 else ""
    return f" for {upto}{format_time(all_of.duration, 3)}" if all_of.duration else ""


def _gone(hurt: Sequence[Outage]) -> bool:
    return any(one.ends_lost for one in hurt)


def _lsps(story: Story, begin: float) -> str:
    total = len(story.lsps)
    if not total:
        return ""
    hurt = lsps_hurt(story, begin)
    if not hurt:
        return "no LSP went down"
    away = [one for one in hurt if one.back is None]
    if not away:
        return _back(hurt, total)
    if len(hurt) == 1:
        return f"LSP {hurt[0].name} went down and did not come back"
    names = _listed([one.name for one in away])
    if len(away) == len(hurt):
        return f"{len(away)} LSPs went down and did not come back ({names})"
    return f"{len(away)} of {len(hurt)} LSPs that went down did not come back ({names})"


def _back(hurt: Sequence[LspHarm], total: int) -> str:
    last = max(one.back for one in hurt if one.back is not None)
    when = f"back at {exact(last, min(one.down for one in hurt))}"
    if len(hurt) == 1:
        return f"LSP {hurt[0].name} was {when}"
    count = "both" if len(hurt) == 2 else f"all {len(hurt):,}"
    return f"{count} LSPs{'' if len(hurt) == total else ' that went down'} were {when}"


def exact(time: float, since: float) -> str:
    """A time with so many digits that it differs from one shortly before."""
    for digits in range(4, 13):
        if format_time(time, digits) != format_time(since, digits):
            return format_time(time, digits)
    return format_time(time, 12)


def _packets(count: int) -> str:
    return f"{count:,} packet{'' if count == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _and(words: Sequence[str], what: str) -> str:
    """Some clauses as one; of many how many, and the first."""
    if len(words) > NAMED_MAX:
        return f"{len(words)} {what} ({', '.join(words[:NAMED_MAX])} and {len(words) - NAMED_MAX} more)"
    return " and ".join(words)
