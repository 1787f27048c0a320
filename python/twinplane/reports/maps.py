"""The map before, during and after failures: routes of LSPs as they were then, and links that were down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..network.drawing import ROUTES_MAX
from ..units import format_time
from .harm import Effect, cuts, effects
from .headline import NAMED_MAX, done, exact
from .page import Drawing, Section
from .seen import Span
from .story import Story
from .topology import svg


@dataclass
class Moment:
    """A time at which the map is drawn."""

    title: str
    at: float
    said: str


def section(topology: Mapping[str, Any], story: Story) -> Section:
    """One map if nothing failed, else up to three."""
    moments = _moments(story)
    if not moments:
        drawing, text = svg(topology)
        return Section("Topology", drawings=[Drawing(drawing, text)])
    links = _named(topology)
    found = Section("The map before, during and after")
    shown: dict[str, str] = {}
    same: list[str] = []
    for moment in moments:
        drawing, text = svg(_at(topology, links, story, moment.at))
        if drawing in shown:
            same.append(f"{moment.said.rstrip('.')}, it is as in the map '{shown[drawing]}'.")
            continue
        shown[drawing] = moment.title
        found.drawings.append(Drawing(drawing, f"{moment.said} {text}", moment.title))
    found.points = same
    left = _not_shown(story)
    if left:
        found.points.append(f"{left}.")
    if len(found.drawings) == 1:
        return Section("Topology", drawings=found.drawings)
    return found


def _moments(story: Story) -> list[Moment]:
    """Just before the first failure, when most was away after the worst ones, and at the end."""
    if not story.failures:
        return []
    begin = story.failures[0].at
    found = [Moment("Before", _before(begin), f"Just before {format_time(begin, 6)}.")]
    chosen = sorted(_drawn(story)[:MAPS_MAX], key=lambda one: one.failure.at)
    for effect in chosen:
        at = effect.failure.at
        worst = _worst(story, at, effect.failure.end)
        if worst is None:
            continue
        title = "During" if len(chosen) == 1 else f"During: {_named_actions(effect)}"
        found.append(Moment(title, worst, f"At {exact(worst, at) if worst > at else format_time(at, 6)}."))
    found.append(Moment("After", story.end, f"At the end, {format_time(story.end, 6)}."))
    return found


MAPS_MAX = 3
"""So many failures have a map: those that did most harm."""


def _drawn(story: Story) -> list[Effect]:
    """Failures of which a map has something to show, the worst first."""
    found = [one for one in effects(story) if one.lsps or any(action.cuts for action in one.failure.actions)]
    return sorted(found, key=lambda one: (-one.lost, -len(one.lsps), one.failure.at))


def _named_actions(effect: Effect) -> str:
    first, *more = effect.failure.actions
    return f"{done(first)}{f' and {len(more)} more' if more else ''}"


def _not_shown(story: Story) -> str:
    """Which failures have no map, though it would show something."""
    left = sorted(_drawn(story)[MAPS_MAX:], key=lambda one: one.failure.at)
    if not left:
        return ""
    some = [f"{_named_actions(one)} at {format_time(one.failure.at, 6)}" for one in left[:NAMED_MAX]]
    more = f" and {len(left) - NAMED_MAX:,} more" if len(left) > NAMED_MAX else ""
    return f"Without a map, since they did less harm: {', '.join(some)}{more}"


def _before(time: float) -> float:
    return time - max(1e-12, time * 1e-12)


def _worst(story: Story, begin: float, end: float) -> float | None:
    """From when on most was away first between two times: LSPs, or without any links and nodes."""
    begins = {span.begin for span in story.spans} | {one.at for one in story.failures}
    times = sorted(at for at in begins if begin <= at < end)
    counts = [(len(_down(story, at)) + len(_cut(story, at)), at) for at in times]
    most = max((count for count, _ in counts), default=0)
    return next((at for count, at in counts if count == most), None) if most else None


def _down(story: Story, at: float) -> list[str]:
    return [span.lsp for span in story.spans if span.state == "down" and span.begin <= at < span.end]


def spans_at(story: Story, at: float) -> dict[str, Span]:
    """What each LSP was at a time."""
    found: dict[str, Span] = {}
    for span in story.spans:
        if span.begin <= at:
            found[span.lsp] = span
    return found


def _cut(story: Story, at: float) -> set[str]:
    end = at >= story.end
    return {
        name
        for name, begin, until in cuts(story)
        if begin <= at and (at < until or (end and until >= story.end))
    }


def _named(topology: Mapping[str, Any]) -> dict[str, int]:
    """Links by the names that actions have for them."""
    names = topology.get("link_names") or [f"{link['a']}-{link['b']}" for link in topology["links"]]
    return {str(name): place for place, name in enumerate(names)}


def _at(topology: Mapping[str, Any], links: Mapping[str, int], story: Story, at: float) -> dict[str, Any]:
    """The topology with the routes of a time and what was away."""
    away = _cut(story, at)
    up = [span for span in spans_at(story, at).values() if span.state == "up" and span.route]
    drawn = [{**link, "lsps": 0, "failed": False} for link in topology["links"]]
    between: dict[frozenset[str], int] = {}
    for place, link in enumerate(drawn):
        between.setdefault(frozenset((link["a"], link["b"])), place)
    for name in away:
        if name in links:
            drawn[links[name]]["failed"] = True
    routes: dict[tuple[str, ...], list[str]] = {}
    for span in up:
        assert span.route is not None
        routes.setdefault(span.route, []).append(span.lsp)
        for pair in pairwise(span.route):
            if frozenset(pair) in between:
                drawn[between[frozenset(pair)]]["lsps"] += 1
    known = {node["name"] for node in topology["nodes"]}
    shown = [route for route in routes if known.issuperset(route)]
    return {
        **topology,
        "links": drawn,
        "nodes": [{**node, "failed": node["name"] in away} for node in topology["nodes"]],
        "routes": [_route(route, routes[route]) for route in shown] if len(shown) <= ROUTES_MAX else [],
        "down": sorted({*_down(story, at), *_still_down(story, at)}),
    }


def _still_down(story: Story, at: float) -> list[str]:
    """At the very end the last span of an LSP says what it is."""
    if at < story.end:
        return []
    return [span.lsp for span in spans_at(story, at).values() if span.state == "down"]


def _route(route: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return {"name": f"{', '.join(names[:2])}{more}", "count": 1, "nodes": list(route)}
