"""A network drawn as SVG: nodes, links, and the routes of a few LSPs or the weight of many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

WIDTH, HEIGHT, MARGIN = 900.0, 420.0, 60.0
NAMES_MAX = 80
"""Of more nodes than this the names are left to the tooltips."""
FEW = 30
"""So many nodes have room for larger names."""
DASHES = ("", "8 4", "2 4", "10 3 2 3")

Place = tuple[float, float]


def svg(topology: Mapping[str, Any]) -> tuple[str, str]:
    """The drawing, and what it shows in words."""
    nodes, links, routes = topology["nodes"], topology["links"], topology["routes"]
    at, width, height = places(nodes)
    text = _words(topology)
    parts = [
        f'<svg class="drawing" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(text)}"'
        ' xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="16">'
    ]
    heaviest = max((link["lsps"] for link in links), default=0)
    seen: dict[tuple[str, str], int] = {}
    for link in links:
        pair = (min(link["a"], link["b"]), max(link["a"], link["b"]))
        turn = seen[pair] = seen.get(pair, -1) + 1
        parts.append(_link(link, at, turn, heaviest, bool(routes)))
    parts += [_route(route, at, place) for place, route in enumerate(routes)]
    parts += [node_drawing(node, at, len(nodes)) for node in nodes]
    parts.append("</svg>")
    return "\n".join(parts), text


def _words(topology: Mapping[str, Any]) -> str:
    nodes, links, routes = topology["nodes"], topology["links"], topology["routes"]
    counts = ((len(nodes), "node"), (len(links), "link"), (topology["lsps"], "LSP"))
    text = ", ".join(f"{count:,} {name}{'s'[: count != 1]}" for count, name in counts) + "."
    for route in routes:
        many = f" ({route['count']} LSPs)" if route["count"] > 1 else ""
        text += f" {route['name']}{many}: {' - '.join(route['nodes'])}."
    if not routes and any(link["lsps"] for link in links):
        text += " The wider a link is drawn, the more LSPs take it."
    text += f" {topology['weights']}" if topology.get("weights") else ""
    failed = [f"{link['a']} - {link['b']}" for link in links if link.get("failed")]
    failed += [str(node["name"]) for node in nodes if node.get("failed")]
    if failed:
        text += f" Down: {_some(failed)} (dashed, with a cross)."
    if topology.get("down"):
        text += f" Without a route: {_some(topology['down'])}."
    return text


SOME = 8


def _some(names: list[str]) -> str:
    more = len(names) - SOME
    return ", ".join(names[:SOME]) + (f" and {more} more" if more > 0 else "")


def places(nodes: list[dict[str, Any]]) -> tuple[dict[str, Place], float, float]:
    """Where nodes are drawn, and how wide and high the drawing is: a row is low, a ring is narrow."""
    xs, ys = [node["x"] for node in nodes], [node["y"] for node in nodes]
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys)
    scale = min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN) / high if high else math.inf)
    width = max(min(WIDTH, scale * (max(xs) - min(xs)) + 2.5 * MARGIN), 0.6 * WIDTH)
    left = (width - scale * (max(xs) - min(xs))) / 2
    height = min(HEIGHT, scale * high + 2.5 * MARGIN)
    top = (height - scale * high) / 2
    places = {
        node["name"]: (left + (node["x"] - min(xs)) * scale, top + (max(ys) - node["y"]) * scale)
        for node in nodes
    }
    return places, width, height


def _link(link: Mapping[str, Any], at: Mapping[str, Place], turn: int, heaviest: int, routed: bool) -> str:
    (x, y), (u, v) = at[link["a"]], at[link["b"]]
    share = link.get("weight", link["lsps"] / heaviest if heaviest and not routed else None)
    width = 1.5 if share is None else 1 + 5 * share
    said = f"{link['rate_bps'] / 1e9:g} Gbit/s, {link['delay_s'] * 1e6:g} us, {link['lsps']} LSPs"
    said += "".join(f", {words}" for words in (link.get("said"),) if words)
    title = f"{link['a']} - {link['b']}: {said}"
    bend = 18 * ((turn + 1) // 2) * (1 if turn % 2 else -1)
    length = math.hypot(u - x, v - y) or 1.0
    cx, cy = (x + u) / 2 - (v - y) / length * bend, (y + v) / 2 + (u - x) / length * bend
    failed = bool(link.get("failed"))
    line = (
        f'<path d="M{x:.1f} {y:.1f} Q{cx:.1f} {cy:.1f} {u:.1f} {v:.1f}" fill="none"'
        f' stroke="{"var(--alarm, #b00020)" if failed else "#888"}"'
        f' stroke-width="{2.5 if failed else width:.1f}"{DASHED if failed else ""}>'
        f"<title>{escape(title)}{', down' if failed else ''}</title></path>"
    )
    return line + _cross((x + 2 * cx + u) / 4, (y + 2 * cy + v) / 4, 10.0) if failed else line


DASHED = ' stroke-dasharray="5 5"'


def _cross(x: float, y: float, size: float) -> str:
    """A cross over what is down."""
    return (
        f'<path d="M{x - size:.1f} {y - size:.1f} l{2 * size:g} {2 * size:g} m0 {-2 * size:g}'
        f' l{-2 * size:g} {2 * size:g}" stroke="var(--alarm, #b00020)" stroke-width="4" fill="none"/>'
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
        f'<polyline points="{" ".join(points)}" fill="none" stroke="currentColor" stroke-width="2.5"{dash}>'
        f"<title>{escape(title)}</title></polyline>"
    )


def few(count: int) -> str:
    """Names of a few nodes are written larger on a small screen."""
    return ' class="few"' if count <= FEW else ""


def node_drawing(node: Mapping[str, Any], at: Mapping[str, Place], count: int) -> str:
    """A node with its name, one of so many."""
    x, y = at[node["name"]]
    name = escape(node["name"])
    size = 9.0 if count <= 12 else 5.0 if count <= NAMES_MAX else 2.5
    said = f": {escape(node['said'])}" if node.get("said") else ""
    title = f"<title>{name}{said}</title>"
    if node["kind"] == "router":
        shape = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="var(--page, #fff)" stroke="currentColor"'
            f' stroke-width="{2 if count <= NAMES_MAX else 1}">'
            f"{title}</circle>"
        )
    else:
        shape = (
            f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}"'
            f' fill="currentColor">{title}</rect>'
        )
    if node.get("failed"):
        shape += _cross(x, y, size)
    if count > NAMES_MAX:
        return shape
    font = 18 if count <= 12 else 11
    above = f'x="{x:.1f}" y="{y - size - 5:.1f}" text-anchor="middle" font-size="{font}"{few(count)}'
    halo = 'paint-order="stroke" stroke="var(--page, #fff)" fill="currentColor" stroke-width="4"'
    return f"{shape}<text {above} {halo}>{name}</text>"
