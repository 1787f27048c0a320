"""Events of the network itself: in the cases nothing but what a case is about happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import TwinplaneError, warn
from ..units import format_time

if TYPE_CHECKING:
    from ..network import Network

TARGETS = ("link", "node", "lsp", "flow")
"""Columns of table ``actions`` that say what something was done to."""

END_PS = 2**63 - 1
"""Later than anything happens."""

Own = tuple[str, str, str, int]
"""Something that was done in a case: what, to what, how (`at` or `ends at`), and when in ps."""


def first_ps(event: Mapping[str, Any]) -> int:
    """When an event is due at the earliest."""
    return units.span_ps(event.get("at") or event.get("from") or 0, "at")


def cut(event: dict[str, Any], begin_ps: int) -> dict[str, Any] | None:
    """What of an event happens before a time; None if nothing does."""
    first = first_ps(event)
    if first >= begin_ps:
        return None
    until = event.get("until")
    if "at" in event or (until is not None and units.span_ps(until, "until") < begin_ps):
        return event
    times, every = event.get("times"), event.get("every")
    period = None if every is None else units.span_ps(every, "every")
    if times is not None and period is not None and first + (times - 1) * period < begin_ps:
        return event
    return {**event, "until": f"{begin_ps - 1} ps"}


def after_all(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of events what begins or stops flows, in order of time, but after everything else.

    A flow that an event begins sends nothing before, so it has to be known that there is one.
    """
    found = [
        (first_ps(event), {"at": f"{END_PS} ps", key: event[key]})
        for event in events
        for key in ("start", "stop")
        if event.get(key) is not None
    ]
    return [event for _, event in sorted(found, key=lambda one: one[0])]


def leave_out(network: Network, begin_ps: int) -> int:
    """Take the events from a time on away from a network that has not run; how many are missed."""
    draft = network.draft
    before = [draft.element("events", place) for place in range(draft.core.event_count)]
    after = [cut(event, begin_ps) for event in before]
    missed = sum(one is not other for one, other in zip(before, after, strict=True))
    if not missed:
        return 0
    idle = _idle(network, before, after)
    kept = []
    for place, event in enumerate(after):
        if event is None or place in idle:
            continue
        drawn = event.get("random")
        if isinstance(drawn, Mapping) and "stream" not in drawn:
            # Without a name its stream is that of its place, which changes here.
            event = {**event, "random": {**drawn, "stream": str(place)}}
        kept.append(event)
    gone = [old for old, new in zip(before, after, strict=True) if new is None]
    _set(network, [*kept, *after_all(gone)])
    warn(
        f"{missed} of {len(before)} events would go on at {format_time(begin_ps / 1e12)} or later, while"
        " everything fails: they are left out from then on (a later warm-up keeps more of them)"
    )
    return missed


def _set(network: Network, events: Sequence[dict[str, Any]]) -> None:
    network.draft.core.clear_events()
    network.draft.said_at.clear()
    with core.translated():
        for event in events:
            network.draft.core.add_event(event)


def _idle(
    network: Network, before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any] | None]
) -> set[int]:
    """Places of events that are cut short and heal what nothing happens to any more, which is refused."""
    pairs = list(enumerate(zip(before, after, strict=True)))
    kept = [new for _, (old, new) in pairs if new is not None and (old is new or "heal" not in new)]
    found = set()
    for place, (old, new) in pairs:
        if new is None or old is new or "heal" not in new:
            continue
        _set(network, [*kept, new])
        try:
            with core.translated():
                network.draft.core.check_events(END_PS)
        except TwinplaneError:
            found.add(place)
    return found


def within(network: Network, begin_ps: int) -> Own | None:
    """The first that was done to a network after a time, or ended by itself then, if anything did."""
    table = network.columns("actions")
    keys = ("time_ps", "until_ps", "action", "from", *TARGETS)
    rows = list(zip(*(table[key] for key in keys), strict=True))
    now = round(network.now * 1e12)
    found: list[Own] = []
    for place, (at, until, action, sender, *targets) in enumerate(rows):
        name = next((str(one) for one in targets if one is not None), "all")
        if at > begin_ps:
            found.append((action, name, "at", at))
        elif until is not None and begin_ps < until <= now:
            over = any(
                then < until
                and (
                    (other == "heal" and (to == targets or not any(to)))
                    or (other == action and whose == sender and to == targets)
                )
                for then, _, other, whose, *to in rows[place + 1 :]
            )
            if not over:
                found.append((action, name, "ends at", until))
    return min(found, key=lambda one: one[3], default=None)


def refuse(own: Own, begin_ps: int) -> None:
    """Say what would disturb the cases."""
    action, name, how, at = own
    raise TwinplaneError(
        f"an event of the network itself falls into the cases, which begin at {format_time(begin_ps / 1e12)}:"
        f" {action} {name} {how} {format_time(at / 1e12)}: leave it out, or begin after it (warm-up)"
    )
