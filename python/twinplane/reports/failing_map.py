"""The map of a network with every link and node drawn by the harm that its failure does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

from ..failing.failures import Failures, Outcome, counted
from .topology import few

WIDTH, HEIGHT, MARGIN = 900.0, 480.0, 50.0
NAMES_MAX = 80
"""Of more nodes than this the names are left to the tooltips."""
LEVELS = (
    ("nobody loses a packet", "#8c8c8c", 1.2, ""),
    ("packets are lost, and whoever does not end there comes back", "#d49a00", 2.4, ""),
    ("flows stay away that have no way left, beside those that end there", "#d9560b", 3.6, "7 3"),
    ("flows stay away though a way is left", "#b3001b", 5.0, ""),
)
"""What each level of harm means, its colour, width and dashes."""


def level(one: Outcome | None) -> int:
    """How bad a case is, by the place in `LEVELS`."""
    if one is None or not one.hurt:
        return 0
    return 3 if one.needless else 2 if one.cut_off else 1


def svg(found: Failures) -> tuple[str, str]:
    """The drawing, and what it shows in words."""
    nodes, links = found.topology["nodes"], found.topology["links"]
    of_node = {one.nodes[0]: one for one in found.outcomes if one.kind == "node"}
    of_link = {one.links[0]: one for one in found.outcomes if one.kind == "link"}
    at, height = _places({node["name"]: (node["x"], node["y"]) for node in nodes})
    text = _words([*of_link.values(), *of_node.values()])
    parts = [
        f'<svg class="drawing" viewBox="0 0 {WIDTH:g} {height:g}" role="img"'
        f' aria-label="{escape(text)}" xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif"'
        ' font-size="13">'
    ]
    turns: dict[frozenset[str], int] = {}
    drawn = []
    for place, link in enumerate(links):
        pair = frozenset((link["a"], link["b"]))
        turns[pair] = turn = turns.get(pair, -1) + 1
        drawn.append((level(of_link.get(place)), place, turn))
    for harm, place, turn in sorted(drawn):
        link = links[place]
        parts.append(_link(at[link["a"]], at[link["b"]], turn, harm, _told(link, of_link.get(place))))
    ranked = sorted((level(of_node.get(place)), place) for place in range(len(nodes)))
    parts += [
        _node(nodes[place]["name"], at[nodes[place]["name"]], harm, of_node.get(place), len(nodes))
        for harm, place in ranked
    ]
    parts.append("</svg>")
    parts += _legend()
    return "\n".join(parts), text


def _words(outcomes: list[Outcome]) -> str:
    counts = [sum(level(one) == place for one in outcomes) for place in range(len(LEVELS))]
    said = [f"{counted(count, 'case')}: {LEVELS[place][0]}" for place, count in enumerate(counts) if count]
    return f"Links and nodes by what happens when each fails alone. {'; '.join(reversed(said))}."


def _places(nodes: Mapping[str, tuple[float, float]]) -> tuple[dict[str, tuple[float, float]], float]:
    xs, ys = [x for x, _ in nodes.values()], [y for _, y in nodes.values()]
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys)
    scale = min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN) / high if high else math.inf)
    left, height = (WIDTH - scale * wide) / 2, scale * high + 2 * MARGIN
    return {
        name: (left + (x - min(xs)) * scale, MARGIN + (max(ys) - y) * scale) for name, (x, y) in nodes.items()
    }, height


def _told(link: Mapping[str, str], one: Outcome | None) -> str:
    name = f"{link['a']} - {link['b']}" if one is None else one.name
    return f"{name}: {_harm(one)}"


def _harm(one: Outcome | None) -> str:
    if one is None:
        return "did not fail by itself"
    if not one.hurt:
        return LEVELS[0][0]
    said = f"{counted(len(one.hurt), 'flow')} hurt, {one.never} of them stay away, {one.lost:,} packets lost"
    return said + (f" ({', '.join(one.reasons)})" if one.never else "")


def _link(a: tuple[float, float], b: tuple[float, float], turn: int, harm: int, told: str) -> str:
    (x, y), (u, v) = a, b
    _, colour, width, dashes = LEVELS[harm]
    bend = 16 * ((turn + 1) // 2) * (1 if turn % 2 else -1)
    length = math.hypot(u - x, v - y) or 1.0
    cx, cy = (x + u) / 2 - (v - y) / length * bend, (y + v) / 2 + (u - x) / length * bend
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="M{x:.1f} {y:.1f} Q{cx:.1f} {cy:.1f} {u:.1f} {v:.1f}" fill="none" stroke="{colour}"'
        f' stroke-width="{width}"{dash}><title>{escape(told)}</title></path>'
    )


def _node(name: str, place: tuple[float, float], harm: int, one: Outcome | None, count: int) -> str:
    x, y = place
    many = count > NAMES_MAX
    _, colour, width, _ = LEVELS[harm]
    size = width + (0.8 if many else 3.5)
    shape = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{colour}">'
        f"<title>{escape(f'{name}: {_harm(one)}')}</title></circle>"
    )
    if many:
        return shape
    return (
        f'{shape}<text x="{x:.1f}" y="{y - size - 4:.1f}" text-anchor="middle" font-size="11"{few(count)}'
        ' paint-order="stroke" stroke="var(--page, #fff)" stroke-width="4"'
        f' fill="currentColor">{escape(name)}</text>'
    )


def _legend() -> list[str]:
    """A list beside the drawing, so that its text stays as large as the rest of the page."""
    found = ['<ul style="list-style: none; padding: 0; font-size: .9rem">']
    for text, colour, width, dashes in reversed(LEVELS):
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        found.append(
            '<li><svg width="64" height="14" aria-hidden="true">'
            f'<line x1="2" x2="40" y1="7" y2="7" stroke="{colour}" stroke-width="{width}"{dash}/>'
            f'<circle cx="54" cy="7" r="{width + 1:g}" fill="{colour}"/></svg> {escape(text)}</li>'
        )
    return [*found, "</ul>"]
