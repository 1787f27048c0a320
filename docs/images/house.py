"""Makes `house.svg`: the crates and the Python packages, and which uses which.

python docs/images/house.py            read the manifests and write the picture
python docs/images/house.py --check    write nothing; fail if the picture would change

Arrows between crates are those of the manifests, without those that follow from others. The order of the
Python packages is that of `tests/test_imports.py`.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(__file__).with_name("house.svg")
NOT_SHOWN = {"testing"}
"""For tests alone."""
HOLDS = {
    "base": "words and contracts",
    "wire": "formats",
    "forwarding": "tables and queues",
    "control": "signalling",
    "engine": "two clocks, links, faults",
    "node": "routers and hosts",
    "network": "a whole network",
    "tester": "instruments",
    "tls": "TLS of switches",
    "router": "a router process",
    "py": "the door to Python",
}
BOX, HIGH, GAP, UP = 160, 44, 24, 24
PYTHON_LEFT, PYTHON_WIDE = 420, 330
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f; text-anchor: middle }
.name { font-weight: 600 }
.title { font-weight: 600; text-anchor: start }
.box { fill: none; stroke: #24292f; stroke-width: 1.2 }
.way { fill: none; stroke: #24292f; stroke-width: 1.2; marker-end: url(#head) }
.head { fill: #24292f }
@media (prefers-color-scheme: dark) {
  text, .head { fill: #f0f6fc }
  .box, .way { stroke: #f0f6fc }
}
"""


def uses() -> dict[str, set[str]]:
    """Of each crate the crates that it is built from, by its manifest."""
    found = {}
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        found[manifest.parent.name] = set(tomllib.loads(manifest.read_text())["dependencies"])
    return {name: (used & set(found)) - NOT_SHOWN for name, used in found.items() if name not in NOT_SHOWN}


def beneath(crate: str, graph: dict[str, set[str]]) -> set[str]:
    """Everything that a crate is built from."""
    return graph[crate].union(*(beneath(one, graph) for one in graph[crate]))


def plain(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without arrows that follow from others."""
    return {
        name: {one for one in used if not any(one in beneath(other, graph) for other in used - {one})}
        for name, used in graph.items()
    }


def floor(crate: str, graph: dict[str, set[str]]) -> int:
    """How far from the ground."""
    return 1 + max((floor(one, graph) for one in graph[crate]), default=-1)


def lowest_user(crate: str, graph: dict[str, set[str]]) -> int:
    """The lowest floor on which something uses a crate."""
    return min((floor(one, graph) for one, used in graph.items() if crate in used), default=len(graph))


def order() -> list[tuple[str, ...]]:
    """The rows of Python packages, from the ground up."""
    for node in ast.parse((ROOT / "tests/test_imports.py").read_text()).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "ORDER"
        ):
            return list(ast.literal_eval(node.value))
    raise SystemExit("tests/test_imports.py states no ORDER")


def way(points: str) -> str:
    """An arrow."""
    return f'<path class="way" d="{points}"/>'


def box(x: float, y: float, wide: float, name: str, under: str = "") -> list[str]:
    """A box with its name, and what it holds."""
    middle = x + wide / 2
    parts = [f'<rect class="box" x="{x:g}" y="{y:g}" width="{wide:g}" height="{HIGH}" rx="4"/>']
    parts.append(f'<text class="name" x="{middle:g}" y="{y + (18 if under else 27):g}">{name}</text>')
    if under:
        parts.append(f'<text x="{middle:g}" y="{y + 35:g}">{under}</text>')
    return parts


def picture() -> str:
    """The picture."""
    graph = uses()
    missing = set(graph) - set(HOLDS)
    if missing:
        raise SystemExit(f"{Path(__file__).name}: say in HOLDS what {', '.join(sorted(missing))} holds")
    arrows = plain(graph)
    floors: dict[int, list[str]] = {}
    for name in graph:
        floors.setdefault(floor(name, graph), []).append(name)
    rows = order()
    top = max(len(floors), len(rows))
    bottom = 40 + (top - 1) * (HIGH + UP)
    place = {}
    for level, names in floors.items():
        # Of several crates the one that the next floor uses stands left.
        names.sort(key=lambda name: (lowest_user(name, arrows), name))
        for column, name in enumerate(names):
            place[name] = (20 + column * (BOX + GAP), bottom - level * (HIGH + UP))
    parts = ['<text class="title" x="20" y="22">Crates (Rust)</text>']
    parts.append(f'<text class="title" x="{PYTHON_LEFT}" y="22">Packages (Python)</text>')
    for name, (x, y) in sorted(place.items()):
        parts += box(x, y, BOX, name, HOLDS[name])
    for name, used in sorted(arrows.items()):
        x, y = place[name]
        for one in sorted(used):
            to_x, to_y = place[one]
            # Straight up beside the floors between, then across.
            turn = y + HIGH + UP
            parts.append(way(f"M{to_x + BOX / 2:g} {to_y:g} V{turn:g} L{x + BOX / 2:g} {y + HIGH + 4:g}"))
    for level, row in enumerate(rows):
        y = bottom - level * (HIGH + UP)
        parts += box(PYTHON_LEFT, y, PYTHON_WIDE, ", ".join(row))
        if level:
            middle = PYTHON_LEFT + PYTHON_WIDE / 2
            parts.append(way(f"M{middle:g} {y + HIGH + UP:g} L{middle:g} {y + HIGH + 4:g}"))
    x, y = place["py"]
    ground = bottom + HIGH / 2
    parts.append(way(f"M{x + BOX:g} {y + HIGH / 2:g} H{PYTHON_LEFT - 26} V{ground:g} H{PYTHON_LEFT - 4}"))
    said = (
        "Crates and Python packages from the ground up; an arrow leads from what is used to what uses it. "
        + "; ".join(f"{name} uses {', '.join(sorted(used))}" for name, used in sorted(arrows.items()) if used)
    )
    high = bottom + HIGH + 16
    right = PYTHON_LEFT + PYTHON_WIDE + 20
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {high:g}" role="img"'
        f' aria-label="{said}">\n'
        f"<style>{STYLE}</style>\n{head}\n{body}\n</svg>\n"
    )


def main() -> int:
    """See the module."""
    made = picture()
    if "--check" in sys.argv:
        if not TARGET.exists() or made != TARGET.read_text():
            print(f"{TARGET.name}: out of date: make generated", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
