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


Shape = list[tuple[str, str, str]]
"""Of every parameter its name, its default (or nothing) and its kind."""


def compiled_shape(thing: object) -> Shape:
    """The parameters that the compiled part takes."""
    found = []
    for parameter in inspect.signature(thing).parameters.values():  # type: ignore[arg-type]
        if parameter.name != "self":
            default = "" if parameter.default is inspect.Parameter.empty else repr(parameter.default)
            found.append((parameter.name, default, parameter.kind.name))
    return found


def declared_shape(function: ast.FunctionDef) -> Shape:
    """The parameters that the stub declares."""
    given = function.args
    ordered = [(one, "POSITIONAL_ONLY") for one in given.posonlyargs]
    ordered += [(one, "POSITIONAL_OR_KEYWORD") for one in given.args]
    defaults = [""] * (len(ordered) - len(given.defaults)) + [ast.unparse(one) for one in given.defaults]
    found = [(one.arg, default, kind) for (one, kind), default in zip(ordered, defaults, strict=True)]
    found += [(given.vararg.arg, "", "VAR_POSITIONAL")] if given.vararg else []
    found += [
        (one.arg, "" if default is None else ast.unparse(default), "KEYWORD_ONLY")
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    found += [(given.kwarg.arg, "", "VAR_KEYWORD")] if given.kwarg else []
    return [part for part in found if part[0] != "self"]


MADE_BY_THE_CORE = (_core.Table,)
"""Classes without a constructor."""


def compiled_shapes() -> dict[str, Shape]:
    """Every function, constructor and method of the core."""
    found = {}
    for name, methods in exported().items():
        value = getattr(_core, name)
        if not inspect.isclass(value):
            found[name] = compiled_shape(value)
        elif not issubclass(value, Exception):
            if value not in MADE_BY_THE_CORE:
                found[f"{name}.__init__"] = compiled_shape(value)
            plain = [method for method in methods if callable(getattr(value, method))]
            found |= {f"{name}.{method}": compiled_shape(getattr(value, method)) for method in plain}
    assert len(found) > 30, "hardly anything was found"
    return found


def is_property(method: ast.FunctionDef) -> bool:
    """Is it declared as a value, not as something to be called?"""
    return any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list)


def declared_shapes(stub: str) -> dict[str, Shape]:
    """The same of a stub."""
    found = {}
    for item in ast.parse(stub).body:
        if isinstance(item, ast.FunctionDef):
            found[item.name] = declared_shape(item)
        elif isinstance(item, ast.ClassDef):
            for part in item.body:
                if not isinstance(part, ast.FunctionDef) or is_property(part):
                    continue
                if part.name[0] != "_" or part.name == "__init__":
                    found[f"{item.name}.{part.name}"] = declared_shape(part)
    return found


def test_signatures_are_those_of_the_stub() -> None:
    declared, compiled = declared_shapes((PACKAGE / "_core.pyi").read_text()), compiled_shapes()
    assert sorted(declared) == sorted(compiled)
    wrong = {name: (declared[name], shape) for name, shape in compiled.items() if declared[name] != shape}
    assert not wrong, f"stub and core differ: {wrong}"


def test_a_wrong_stub_is_noticed() -> None:
    stub = (PACKAGE / "_core.pyi").read_text()
    compiled = compiled_shapes()
    for right, wrong in (
        ("snap_len: int | None = None", "snap_len: int | None = 0"),
        ("undone: bool = False", "undone: bool = True"),
        ("def digest(self)", "def digest(self, node: int)"),
        ("def error_words(code: int, value: int)", "def error_words(value: int, code: int)"),
        ("def encode(layers: str)", "def encode(*, layers: str)"),
    ):
        assert right in stub
        assert declared_shapes(stub.replace(right, wrong)) != compiled


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
