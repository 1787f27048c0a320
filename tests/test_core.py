"""The door to the core: what it has is declared, and wrapped."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
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


def attributes(package: Path) -> set[str]:
    """Every name that the package's code puts behind a dot."""
    files = list(package.rglob("*.py"))
    assert files, f"no sources in {package}"
    trees = (ast.parse(path.read_text()) for path in files)
    return {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def unwrapped(names: dict[str, set[str]], package: Path) -> list[str]:
    """Names of the core that nobody in the package uses."""
    used = attributes(package) | {"RunError", "InputError"}
    return sorted(f"{name}: {key}" for name, keys in names.items() for key in {name, *keys} - used)


def test_every_name_has_a_wrapper() -> None:
    assert unwrapped(exported(), PACKAGE) == []


def test_a_name_without_a_wrapper_is_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/wrapper.py").write_text("# core.stop()\ncore.Network(1).run_all('core.runs')\n")
    names = {"Network": {"run_all", "run", "runs"}, "stop": set()}
    assert unwrapped(names, tmp_path) == ["Network: run", "Network: runs", "stop: stop"]
    with pytest.raises(AssertionError, match="no sources in"):
        attributes(tmp_path / "nothing")
