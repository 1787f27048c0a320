"""Python packages import one way: measured from the code, with imports in functions and for types alone."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "twinplane"

# From the ground up: whatever stands in a row may import what stands in the rows before it. This is the one
# place where the order is stated.
ORDER = (
    ("errors", "_core"),
    ("core", "version", "units"),
    ("declared",),
    ("frames",),
    ("files", "wire", "profiles"),
    ("model", "charts"),
    ("queues", "diffserv", "results"),
    ("traffic", "measure"),
    ("network",),
    ("lab", "failing"),
    ("experiments",),
    ("reports", "validation", "soak"),
    ("cli",),
    ("__main__",),
)
# Rooms of one row don't know each other, but for these.
NEIGHBOURS = {("version", "core")}
# `tp.NAME` and `net.lab()` are looked up when they are first used; nothing else may climb.
LAZY = {"": "the public names, loaded when they are first used"}
CLIMBS = {
    ("network.network", "lab"): "Network.lab() hands the network to a lab",
    ("network.network", "lab.networks"): "Network.lab() hands the network to a lab",
}

Graph = dict[str, set[str]]


def modules(package: Path) -> dict[str, Path]:
    """Every module by its dotted name below the package; the package itself is ''."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(
    name: str, is_package: bool, code: str, known: Iterable[str], root: str = "twinplane"
) -> set[str]:
    """Modules of the package that a module imports, wherever in it the import stands."""
    known = set(known) | {"_core"}
    here = name.split(".") if name else []
    found: set[str] = set()

    def add(target: str) -> None:
        while target not in known:
            target = target.rpartition(".")[0]
        found.add(target)

    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == root or alias.name.startswith(f"{root}."):
                    add(alias.name[len(root) + 1 :])
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                up = node.level - 1 if is_package else node.level
                base = here[: len(here) - up]
            elif node.module == root or (node.module or "").startswith(f"{root}."):
                base = []
            else:
                continue
            module = (node.module or "")[len(root) + 1 :] if not node.level else node.module or ""
            whole = ".".join([*base, *([module] if module else [])])
            for alias in node.names:
                add(f"{whole}.{alias.name}" if whole else alias.name)
    found.discard(name)
    return found


def graph(package: Path) -> Graph:
    """Who imports whom."""
    known = modules(package)
    return {
        name: imports(name, path.name == "__init__.py", path.read_text(), known)
        for name, path in known.items()
    }


def room(module: str) -> str:
    """The package, or the single module at the top, that a module belongs to."""
    return module.partition(".")[0]


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups in which everybody reaches everybody else (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        path.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in path:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            group = path[path.index(node) :]
            del path[path.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return found


def between_rooms(found: Graph, climbs: Iterable[tuple[str, str]] = CLIMBS) -> list[list[str]]:
    """Circles that are larger than one package."""
    allowed = set(climbs)
    edges: dict[str, set[str]] = {}
    for name, targets in found.items():
        if name in LAZY:
            continue
        for target in targets:
            if (name, target) not in allowed and room(name) != room(target):
                edges.setdefault(room(name), set()).add(room(target))
    return circles(edges)


@pytest.fixture(scope="module")
def found() -> Graph:
    return graph(PACKAGE)


def test_every_package_has_a_place_in_the_order(found: Graph) -> None:
    stated = [name for row in ORDER for name in row]
    assert len(stated) == len(set(stated))
    assert {room(name) for name in found if name} | {"_core"} == set(stated)


def test_imports_go_one_way(found: Graph) -> None:
    height = {name: place for place, row in enumerate(ORDER) for name in row}
    climbing = [
        (name, target)
        for name, targets in found.items()
        if name not in LAZY
        for target in targets
        if (here := room(name)) != (there := room(target))
        and (name, target) not in CLIMBS
        and (here, there) not in NEIGHBOURS
        and height.get(there, 99) >= height[here]
    ]
    assert not climbing, f"these imports climb: {climbing}"


def test_exceptions_are_needed(found: Graph) -> None:
    for name, target in CLIMBS:
        assert target in found[name], f"{name} no longer imports {target}: take the exception away"


def test_no_circle_is_larger_than_one_package(found: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    counted = sum(len(targets) for targets in found.values())
    assert len(found) > 100 and counted > 500, "the scan found hardly anything"
    own = {
        name: {other for other in targets if room(other) == room(name)}
        for name, targets in found.items()
        if name
    }
    inside = sorted(circles(own), key=len, reverse=True)
    with capsys.disabled():
        sizes = ", ".join(f"{room(group[0])} {len(group)}" for group in inside) or "none"
        print(f"\n{len(found)} modules, {counted} imports; circles by package and size: {sizes}")
    assert between_rooms(found) == []


def test_a_made_up_circle_is_found(tmp_path: Path) -> None:
    for name, code in {
        "a/__init__.py": "",
        "a/one.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..b.two import Two",
        "b/__init__.py": "",
        "b/two.py": "def late():\n    from twinplane.c import three",
        "c/__init__.py": "",
        "c/three.py": "from .. import a",
        "__init__.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code)
    made = graph(tmp_path)
    assert made["a.one"] == {"b.two"} and made["b.two"] == {"c.three"} and made["c.three"] == {"a"}
    assert between_rooms(made, ()) == [["a", "b", "c"]]
    (tmp_path / "c/three.py").write_text("import json")
    assert between_rooms(graph(tmp_path), ()) == []
