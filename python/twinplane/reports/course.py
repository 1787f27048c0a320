"""One time axis for all that happened: packets sent, arrived and lost, LSPs, delay, and messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from ..charts import STYLES, Band, Chart, Curve, Mark
from ..units import format_time
from .flows import Course
from .harm import cuts, failures, lsps_hurt
from .headline import done
from .seen import Span
from .story import Action, Lost, Story, Told
from .timeline import timeline

if TYPE_CHECKING:
    import polars as pl

BINS_MAX = 200
"""Packets are counted in so many bins at most."""
BINS_LEAST, PER_BIN = 25, 8
"""Of slow flows there are fewer, but so many at least: in one of them arrive about so many packets."""
STRIPS_MAX = 24
"""So many LSPs have a strip of their own."""
QUIET_MAX = 8
"""So many of them if they never went down."""
MARKS_MAX = 9
"""Of more actions only their times are marked, and the table says what they are."""
GROUPS_MAX = 5
"""Of more classes those that lost least are drawn together."""


def chart(
    key: str,
    story: Story,
    *,
    messages: pl.DataFrame | None,
    up: pl.DataFrame | None,
    series: pl.DataFrame | None,
    courses: Sequence[Course] = (),
) -> Chart | None:
    """All panels that have something to say, over one axis; None if none has."""
    strips = _strips(story)
    if strips and len(strips) == len(story.lsps):
        up = None
    found = timeline(key, _title(story), messages=messages, up=_changing(up), series=series, flows=courses)
    titles: list[str] = []
    curves: list[Curve] = []
    words: list[str] = []
    traffic = _traffic(story, titles, curves)
    if traffic:
        words.append(traffic)
    ticks: dict[int, list[str]] = {}
    if strips:
        ticks[len(titles)] = [name for name, _ in strips]
        words.append(_lsps(strips, len(titles), curves, len(story.lsps)))
        titles.append("")
    log: list[int] = []
    told = _told_by_routers(story, len(titles), curves, ticks)
    if told:
        words.append(told)
        titles.append("")
    if found is not None:
        # What tells of packets stands above what tells of messages.
        order = sorted(range(found.panels), key=lambda panel: "messages" in found.y_titles[panel])
        place = {panel: len(titles) + at for at, panel in enumerate(order)}
        titles += [found.y_titles[panel] for panel in order]
        curves += [
            Curve(one.name, one.x, one.y, place[one.panel], one.shape, one.style, one.errors)
            for one in sorted(found.curves, key=lambda one: place[one.panel])
        ]
        log = [place[panel] for panel in found.log]
        words.append(found.alt.rstrip("."))
    if not titles:
        return None
    said = ". ".join(f"{one[:1].upper()}{one[1:]}" for one in words)
    return Chart(
        key,
        _title(story),
        f"{_told(story)}{said}.",
        "time (s)",
        titles,
        curves,
        marks(story),
        log,
        bands=[Band(begin, end) for _, begin, end in cuts(story)],
        zero=[0] if traffic else (),
        ticks=ticks,
        x_range=(0.0, story.end) if story.end else None,
    )


def _title(story: Story) -> str:
    if story.spans and story.flows:
        return "Packets and LSPs over one time axis" if story.actions else "Both planes over time"
    return "Packets over time" if story.flows else "LSPs over time"


def _told(story: Story) -> str:
    if not story.actions:
        return ""
    some = [f"{done(action)} at {action.at:g} s" for action in story.actions[:4]]
    more = f" and {len(story.actions) - 4} more" if len(story.actions) > 4 else ""
    return f"Dotted lines mark what was done: {', '.join(some)}{more}. "


def _changing(up: pl.DataFrame | None) -> pl.DataFrame | None:
    """How many LSPs are up, unless that never changes after they came up."""
    if up is None or not up.height or up["up"].n_unique() < 2:
        return None
    return up


def marks(story: Story) -> list[Mark]:
    """What was done; of many things that were done the harmful ones, or the first and the last of these."""
    actions = story.actions
    if len(actions) <= MARKS_MAX:
        return [Mark(action.at, _short(action)) for action in actions]
    harmful = story.failures
    if len(harmful) <= MARKS_MAX:
        return [Mark(action.at, _short(action)) for action in harmful]
    first, last = harmful[0], harmful[-1]
    return [Mark(first.at, f"first failure: {_short(first)}"), Mark(last.at, f"last failure: {_short(last)}")]


def _short(action: Action) -> str:
    thing = action.link or action.node or action.lsp or action.flow or "all"
    value = f" {action.value}" if action.value else ""
    return f"{action.what} {thing}{value}"


def _traffic(story: Story, titles: list[str], curves: list[Curve]) -> str:
    """Panels of packets that arrived and were lost, by class; and the words for them."""
    width = _width(story)
    if not width:
        return ""
    groups = _groups(story)
    found: list[str] = []
    arrived = {name: _arrived(story, flows, width) for name, flows in groups.items()}
    lost = {
        name: _lost([one for one in story.losses if one.flow in flows], width)
        for name, flows in groups.items()
    }
    seconds = width / 1e12
    bins = range(math.ceil(story.end / seconds))
    x = [(place + 0.5) * seconds for place in bins]
    if any(arrived.values()):
        panel = len(titles)
        for style, (name, counts) in enumerate(arrived.items()):
            if not counts and not lost[name]:
                continue
            if lost[name]:
                sent = [(counts.get(place, 0) + lost[name].get(place, 0.0)) / seconds for place in bins]
                curves.append(Curve(f"{name} sent", x, sent, panel, "line", _faint(style)))
            curves.append(
                Curve(f"{name} arrived", x, [counts.get(p, 0) / seconds for p in bins], panel, "line", style)
            )
        titles.append("packets/s")
        found.append("packets sent and arrived each second, by class")
    if any(lost.values()):
        panel = len(titles)
        hurt = {name: counts for name, counts in lost.items() if counts}
        for style, name in enumerate(groups):
            if name in hurt:
                y = [hurt[name].get(place, 0.0) / seconds for place in bins]
                curves.append(Curve(f"{name} lost", x, y, panel, "line", style))
        titles.append("lost/s")
        told = ", ".join(f"{name} {round(sum(counts.values())):,}" for name, counts in hurt.items())
        found.append(f"packets lost: {told}")
    elif found:
        unplaced = sum(flow.unplaced for flow in story.flows)
        found.append(f"{unplaced:,} lost, nobody knows when" if unplaced else "no packet is lost")
    return "; ".join(found)


def _faint(style: int) -> int:
    """A style with the same shade and other dashes."""
    return (style + 6) % STYLES


def _width(story: Story) -> int:
    """Width of bins in picoseconds: a multiple of those in which arrivals are known."""
    known = story.by_class or story.arrivals
    starts = sorted({start for bins in known.values() for start, _ in bins})
    steps = [after - before for before, after in pairwise(starts)]
    base = math.gcd(*starts[:1000], *steps[:1000]) if starts else 0
    base = base or 10**9
    if not story.end:
        return 0
    end = story.end * 1e12
    busiest = max((sum(story.flows[flow].sent for flow in of) for of in _groups(story).values()), default=0)
    # Of a few packets each second, short bins would show their gaps, not their rate.
    slow = min(end / BINS_LEAST, PER_BIN * end / max(busiest, 1))
    return base * max(1, math.ceil(max(end / BINS_MAX, slow) / base))


def _groups(story: Story) -> dict[str, set[int]]:
    """Flows by class; of many classes those that lost least as one."""
    found: dict[str, set[int]] = {}
    for place, flow in enumerate(story.flows):
        found.setdefault(flow.group, set()).add(place)
    if len(found) <= GROUPS_MAX:
        return found
    by_harm = sorted(found, key=lambda name: -sum(story.flows[flow].lost for flow in found[name]))
    kept = {name: found[name] for name in by_harm[: GROUPS_MAX - 1]}
    rest: set[int] = set().union(*(found[name] for name in by_harm[GROUPS_MAX - 1 :]))
    return {**kept, f"{len(found) - len(kept)} more classes": rest}


def _arrived(story: Story, flows: set[int], width: int) -> dict[int, int]:
    """Packets that arrived by bin; of several classes drawn as one, those of all of them."""
    found: dict[int, int] = {}
    if story.by_class:
        groups = dict.fromkeys(story.flows[flow].group for flow in flows)
        known = [bins for group in groups if (bins := story.by_class.get(group))]
    elif story.is_followed:
        known = [bins for flow in flows if (bins := story.arrivals.get(flow))]
    else:
        known = []
    for start, packets in chain.from_iterable(known):
        found[start // width] = found.get(start // width, 0) + packets
    return found


def _lost(losses: Sequence[Lost], width: int) -> dict[int, float]:
    """Packets lost by bin; those of a stretch are spread evenly over it."""
    found: dict[int, float] = {}
    seconds = width / 1e12
    for one in losses:
        first, last = int(one.first / seconds), int(one.last / seconds)
        long = one.last - one.first
        for place in range(first, last + 1):
            begin, end = max(one.first, place * seconds), min(one.last, (place + 1) * seconds)
            share = (end - begin) / long if long and last > first else 1.0
            found[place] = found.get(place, 0.0) + one.packets * share
    return found


def _strips(story: Story) -> list[tuple[str, list[Span]]]:
    """LSPs with a strip of their own: those longest away first, then some that never were."""
    lsps = story.lsps
    first = [one.name for one in lsps_hurt(story, 0.0)]
    changed = [name for name, spans in lsps.items() if name not in first and len(spans) > 2]
    chosen = [*first, *changed][:STRIPS_MAX]
    quiet = [name for name in lsps if name not in chosen]
    room = max(0, min(QUIET_MAX, STRIPS_MAX) - len(chosen))
    chosen += quiet if len(lsps) <= STRIPS_MAX else quiet[:room]
    return [(name, lsps[name]) for name in chosen]


def _lsps(strips: Sequence[tuple[str, list[Span]]], panel: int, curves: list[Curve], total: int) -> str:
    """Strips of LSPs, and the words for them."""
    downs = by_state(strips, panel, curves)
    shown = f"{len(strips)} of {total:,} LSPs" if len(strips) < total else f"{total} LSP{'s'[: total != 1]}"
    times = {0: "never", 1: "once", 2: "twice"}.get(downs, f"{downs:,} times")
    return f"states of {shown}, which went down {times}"


def by_state(strips: Sequence[tuple[str, list[Span]]], panel: int, curves: list[Curve]) -> int:
    """Strips by state: thick while up, a thin dotted line while down; and how often one went down."""
    looks = {
        "up": ("strip", 0),
        "up on another route": ("strip", 1),
        "down": ("gap", 2),
        "not up yet": ("gap", 5),
        "never up": ("gap", 4),
    }
    drawn: dict[str, tuple[list[float | None], list[float | None], list[str | None]]] = {}
    downs = 0
    for row, (name, spans) in enumerate(strips):
        usual: tuple[str, ...] | None = None
        for span in spans:
            state = "not up yet" if span.state == "waiting" else span.state
            if span.state == "up":
                usual = usual or span.route
                state = "up" if span.route == usual else "up on another route"
            downs += span.state == "down"
            route = f" on {' - '.join(span.route)}" if span.route else ""
            why = f": {span.why}" if span.why else ""
            said = f"{name} {span.state}{route} from {span.begin:.9g} s to {span.end:.9g} s{why}"
            x, y, words = drawn.setdefault(state, ([], [], []))
            x += [span.begin, span.end, None]
            y += [-float(row), -float(row), None]
            words += [said, said, None]
    for state, (shape, style) in looks.items():
        if state in drawn:
            x, y, words = drawn[state]
            curves.append(Curve(state, x, y, panel, shape, style, words=words))
    return downs


EVENTS_MAX = 60
"""More events are short upright lines: symbols would cover each other."""
KINDS = (
    "port down",
    "BFD session lost",
    "neighbour lost",
    "adjacency lost",
    "virtual adjacency lost",
    "LDP session lost",
    "BGP session lost",
    "LSP down",
    "LSP rerouted",
    "LSP up",
    "port up",
    "BFD session back",
    "neighbour back",
    "adjacency back",
    "virtual adjacency back",
    "LDP session back",
    "BGP session back",
)
"""What routers tell, in the order in which it usually happens."""


def events(story: Story) -> list[Told]:
    """What routers told: of LSPs, neighbours and ports, in order of time."""
    found = list(story.told)
    for name, spans in story.lsps.items():
        for before, after in pairwise(spans):
            if after.state == "down":
                found.append(Told(after.begin, "LSP down", name))
            elif before.state == "down":
                found.append(Told(after.begin, "LSP up", name))
            elif before.state == "up" and after.route != before.route:
                found.append(Told(after.begin, "LSP rerouted", name))
    return sorted(found, key=lambda one: one.at)


def _told_by_routers(story: Story, panel: int, curves: list[Curve], ticks: dict[int, list[str]]) -> str:
    """A row of symbols for each kind of event; and the words for them."""
    found = events(story)
    kinds = [kind for kind in KINDS if any(one.what == kind for one in found)]
    if not kinds:
        return ""
    ticks[panel] = kinds
    shape = "points" if len(found) <= EVENTS_MAX else "ticks"
    for row, kind in enumerate(kinds):
        own = [one for one in found if one.what == kind]
        said = [f"{kind}: {one.about} at {one.at:.9g} s" for one in own]
        x, y = [one.at for one in own], [-float(row)] * len(own)
        curves.append(Curve(kind, x, y, panel, shape, KINDS.index(kind), words=said))
    if len(found) <= FEW_EVENTS:
        listed = ", ".join(f"{one.what} ({one.about}) at {one.at:.7g} s" for one in found)
    else:
        counts = {kind: sum(one.what == kind for one in found) for kind in kinds}
        listed = ", ".join(f"{kind} {count:,} time{'s'[: count != 1]}" for kind, count in counts.items())
    return f"routers told: {listed}"


FEW_EVENTS = 6
"""So many events are listed in the words of the figure."""


def distribution(story: Story) -> Chart | None:
    """How the delays of each class are spread: the share of its packets that took at most so long."""
    groups = {name: flows & story.delays.keys() for name, flows in _groups(story).items()}
    groups = {name: flows for name, flows in groups.items() if flows}
    if not groups:
        return None
    merged: dict[str, dict[float, int]] = {}
    for name, flows in groups.items():
        counts: dict[float, int] = {}
        for flow in flows:
            for upper, count in zip(*story.delays[flow], strict=True):
                counts[upper] = counts.get(upper, 0) + count
        merged[name] = counts
    low, high = min(min(c) for c in merged.values()), max(max(c) for c in merged.values())
    scale, unit = (1e6, "us") if high < 2e-3 else (1e3, "ms") if high < 2 else (1.0, "s")
    curves = []
    told = []
    for style, (name, counts) in enumerate(merged.items()):
        total = sum(counts.values())
        x = sorted(counts)
        shares: list[float] = []
        sofar = 0
        for bound in x:
            sofar += counts[bound]
            shares.append(100 * sofar / total)
        # Beyond both ends: a step at the edge of the panel would not be seen.
        bounds = [x[0] * 0.99, *x, x[-1] * 1.01]
        curves.append(Curve(name, [v * scale for v in bounds], [0.0, *shares, 100.0], 0, "steps", style))
        half, most = (next(b for b, s in zip(x, shares, strict=True) if s >= share) for share in (50, 99))
        told.append(f"{name}: half at most {half * scale:.4g} {unit}, 99 % at most {most * scale:.4g} {unit}")
    return Chart(
        "distribution",
        "How delays are spread",
        f"Share of the packets of each class that took at most so long. {'; '.join(told)}.",
        f"delay ({unit})",
        ["share of packets (%)"],
        curves,
        log_x=high > 30 * low > 0,
    )


CLOSE = 0.08
"""What failed is drawn once more, larger, if all that it did took less than this share of the run."""
CLOSE_BINS = 120


def close_up(story: Story) -> Chart | None:
    """Losses and LSPs around the first failure; None if the whole run shows them well enough."""
    failed = failures(story)
    if not failed:
        return None
    begin = failed[0].at
    last = [one.last for one in story.losses if begin <= one.first < failed[0].end]
    for one in lsps_hurt(story, begin, failed[0].end):
        last += [one.down, *([one.back] if one.back is not None and one.back < failed[0].end else [])]
    if not last or not 0 < max(last) - begin < CLOSE * story.end:
        return None
    span = max(last) - begin
    low, high = max(0.0, begin - 0.25 * span), min(story.end, begin + 1.4 * span)
    width = (high - low) / CLOSE_BINS
    titles: list[str] = []
    curves: list[Curve] = []
    for style, (name, flows) in enumerate(_groups(story).items()):
        losses = [
            Lost(one.flow, one.first - low, one.last - low, one.packets)
            for one in story.losses
            if one.flow in flows and one.last >= low and one.first <= high
        ]
        counts = _lost(losses, round(width * 1e12))
        if not counts:
            continue
        total, y = 0.0, []
        for place in range(CLOSE_BINS):
            total += counts.get(place, 0.0)
            y.append(total)
        x = [low + (place + 1) * width for place in range(CLOSE_BINS)]
        curves.append(Curve(name, [low, *x], [0.0, *y], 0, "line", style))
        titles = ["packets lost so far"]
    strips = [
        (name, [_clipped(one, low, high) for one in spans if one.begin < high and one.end > low])
        for name, spans in _strips(story)
    ]
    strips = [(name, spans) for name, spans in strips if len(spans) > 1]
    ticks = {}
    if strips:
        ticks[len(titles)] = [name for name, _ in strips]
        _lsps(strips, len(titles), curves, len(story.lsps))
        titles.append("")
    words = ", ".join(done(action) for action in failed[0].actions[:3])
    alt = f"{words} at {format_time(begin, 6)}: what followed within {format_time(span, 3)}."
    marks = [Mark(action.at, _short(action)) for action in failed[0].actions[:MARKS_MAX]]
    bands = [Band(max(a, low), min(b, high)) for _, a, b in cuts(story) if a < high and b > low]
    title = "The first failure, close up" if len(failed) > 1 else "The failure, close up"
    return Chart(
        "close-up",
        title,
        f"{alt[:1].upper()}{alt[1:]}",
        "time (s)",
        titles,
        curves,
        marks,
        bands=bands,
        ticks=ticks,
        x_range=(low, high),
    )


def _clipped(span: Span, low: float, high: float) -> Span:
    return Span(span.lsp, max(span.begin, low), min(span.end, high), span.state, span.route, span.why)
