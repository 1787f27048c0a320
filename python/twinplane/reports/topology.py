"""A network drawn as SVG: nodes, links, and the routes of a few LSPs or the weight of many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

WIDTH, HEIGHT, MARGIN = 900.0, 420.0, 60.0
NAMES_MAX = 80
"""Of more nodes than this the names are left to the tooltips."""
DASHES = ("", "8 4", "2 4", "10 3 2 3")

Place = tuple[float, float]


def svg(topology: Mapping[str, Any]) -> tuple[str, str]:
    """The drawing, and what it shows in words."""
    nodes, links, routes = topology["nodes"], topology["links"], topology["routes"]
    at, height = _places(nodes)
    text = _words(topology)
    parts = [
        f'<svg class="drawing" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{escape(text)}"'
        ' xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="13">'
    ]
    heaviest = max((link["lsps"] for link in links), default=0)
    seen: dict[tuple[str, str], int] = {}
    for link in links:
        pair = (min(link["a"], link["b"]), max(link["a"], link["b"]))
        turn = seen[pair] = seen.get(pair, -1) + 1
        parts.append(_link(link, at, turn, heaviest, bool(routes)))
    parts += [_route(route, at, place) for place, route in enumerate(routes)]
    parts += [_node(node, at, len(nodes)) for node in nodes]
    parts.append("</svg>")
    return "\n".join(parts), text


def _words(topology: Mapping[str, Any]) -> str:
    nodes, links, routes = topology["nodes"], topology["links"], topology["routes"]
    text = f"{len(nodes)} nodes, {len(links)} links, {topology['lsps']} LSPs."
    for route in routes:
        many = f" ({route['count']} LSPs)" if route["count"] > 1 else ""
        text += f" {route['name']}{many}: {' - '.join(route['nodes'])}."
    if not routes and topology["lsps"]:
        text += " The wider a link is drawn, the more LSPs take it."
    return text


def _places(nodes: list[dict[str, Any]]) -> tuple[dict[str, Place], float]:
    """Where nodes are drawn, and how high the drawing is: a row needs little."""
    xs, ys = [node["x"] for node in nodes], [node["y"] for node in nodes]
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys)
    scale = min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN) / high if high else math.inf)
    left = (WIDTH - scale * wide) / 2
    height = min(HEIGHT, scale * high + 2.5 * MARGIN)
    top = (height - scale * high) / 2
    places = {
        node["name"]: (left + (node["x"] - min(xs)) * scale, top + (max(ys) - node["y"]) * scale)
        for node in nodes
    }
    return places, height


def _link(link: Mapping[str, Any], at: Mapping[str, Place], turn: int, heaviest: int, routed: bool) -> str:
    (x, y), (u, v) = at[link["a"]], at[link["b"]]
    width = 1.5 if routed or not heaviest else 1 + 5 * link["lsps"] / heaviest
    said = f"{link['rate_bps'] / 1e9:g} Gbit/s, {link['delay_s'] * 1e6:g} us, {link['lsps']} LSPs"
    title = f"{link['a']} - {link['b']}: {said}"
    bend = 18 * ((turn + 1) // 2) * (1 if turn % 2 else -1)
    length = math.hypot(u - x, v - y) or 1.0
    cx, cy = (x + u) / 2 - (v - y) / length * bend, (y + v) / 2 + (u - x) / length * bend
    return (
        f'<path d="M{x:.1f} {y:.1f} Q{cx:.1f} {cy:.1f} {u:.1f} {v:.1f}" fill="none" stroke="#888"'
        f' stroke-width="{width:.1f}"><title>{escape(title)}</title></path>'
    )


def _route(route: Mapping[str, Any], at: Mapping[str, Place], order: int) -> str:
    """Beside its links, further out for each route, with an arrow's sense by the title."""
    shift = 6.0 + 5.0 * order
    points = []
    names = route["nodes"]
    for place, name in enumerate(names):
        x, y = at[name]
        before, after = at[names[max(place - 1, 0)]], at[names[min(place + 1, len(names) - 1)]]
        length = math.hypot(after[0] - before[0], after[1] - before[1]) or 1.0
        aside, along = (after[1] - before[1]) / length, (after[0] - before[0]) / length
        points.append(f"{x - aside * shift:.1f},{y + along * shift:.1f}")
    title = f"{route['name']}: {' - '.join(names)}"
    dash = f' stroke-dasharray="{DASHES[order % len(DASHES)]}"' if order % len(DASHES) else ""
    return (
        f'<polyline points="{" ".join(points)}" fill="none" stroke="#000" stroke-width="2"{dash}>'
        f"<title>{escape(title)}</title></polyline>"
    )


def _node(node: Mapping[str, Any], at: Mapping[str, Place], count: int) -> str:
    x, y = at[node["name"]]
    name = escape(node["name"])
    size = 9.0 if count <= 12 else 5.0 if count <= NAMES_MAX else 2.5
    title = f"<title>{name}</title>"
    if node["kind"] == "router":
        shape = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="#fff" stroke="#000"'
            f' stroke-width="{2 if count <= NAMES_MAX else 1}">'
            f"{title}</circle>"
        )
    else:
        shape = (
            f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}" fill="#000">'
            f"{title}</rect>"
        )
    if count > NAMES_MAX:
        return shape
    font = 13 if count <= 12 else 9
    above = f'x="{x:.1f}" y="{y - size - 5:.1f}" text-anchor="middle" font-size="{font}"'
    halo = 'paint-order="stroke" stroke="#fff" stroke-width="4"'
    return f"{shape}<text {above} {halo}>{name}</text>"
