"""The door to the core: what it has is declared, and wrapped."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import twinplane
from twinplane import _core

PACKAGE = Path(inspect.getfile(twinplane)).parent


def exported() -> dict[str, set[str]]:
    """Public names of the core: classes with their own methods, functions with none."""
    found = {}
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        methods = set()
        if inspect.isclass(value) and not issubclass(value, Exception):
            methods = {key for key in vars(value) if not key.startswith("_")}
        found[name] = methods
    assert {"Network", "CaptureFile", "InterfaceCapture", "decode"} <= set(found)
    return found


def test_every_name_is_declared() -> None:
    tree = ast.parse((PACKAGE / "_core.pyi").read_text())
    declared: dict[str, set[str]] = {}
    for item in tree.body:
        if isinstance(item, ast.ClassDef):
            names = {part.name for part in item.body if isinstance(part, ast.FunctionDef)}
            declared[item.name] = {name for name in names if not name.startswith("_")}
        elif isinstance(item, ast.FunctionDef):
            declared[item.name] = set()
    assert declared == exported()


def test_every_name_has_a_wrapper() -> None:
    used = set()
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 20
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                used.add(node.attr)
    for name, methods in exported().items():
        missing = {key for key in (name, *methods) if key not in used} - {"RunError", "InputError"}
        assert not missing, f"{name}: nobody wraps {sorted(missing)}"
    assert "no_such_name_of_the_core" not in used
