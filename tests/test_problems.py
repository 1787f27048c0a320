"""Errors are data: codes are unique, each has words, and nobody in Python reads the words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from twinplane import core
from twinplane.errors import KINDS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "twinplane"

MAY_MATCH = {
    "cli/helping.py": "what rich would take for its own markup",
    "lab/kinds/bird/__init__.py": "what BIRD says of a configuration and of its neighbours",
    "lab/kinds/bird/told.py": "what BIRD says of its neighbours",
    "lab/kinds/frr/__init__.py": "what FRR says of a configuration",
    "lab/kinds/frr/sections.py": "the sections of a configuration of FRR",
    "model/demands.py": "the native text of SNDlib",
    "model/network_file.py": "the form of names, which the core declares as a pattern",
    "model/source.py": "which words of YAML are numbers or truths",
    "results/folder.py": "numbers of results folders",
    "units.py": "quantities as users write them",
}
"""Modules that may use regular expressions, and what they look at; none of it is a message of ours."""

PROBLEM = re.compile(
    r"^\s+(?P<name>[A-Z]\w+) \{(?P<arguments>.*?)\} is (?P<kind>\w+),\s+\"(?P<code>[^\"]+)\",\s+"
    r"\"(?P<words>(?:[^\"\\]|\\.)*)\";$",
    re.MULTILINE,
)


def problems() -> list[tuple[Path, dict[str, str]]]:
    """Every problem that a crate declares."""
    found = []
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"problems! \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
            found += [(path, match.groupdict()) for match in PROBLEM.finditer(block)]
    return found


def test_no_module_reads_messages_by_regular_expressions() -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(name.name == "re" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "re")
    }
    assert users and users <= set(MAY_MATCH)


def test_every_problem_has_one_code_and_words_of_its_own() -> None:
    found = problems()
    assert len(found) > 200
    declared = sum(
        len(re.findall(r"^\s+[A-Z]\w+ \{.*\} is [A-Z]", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in {path for path, _ in found}
    )
    assert declared == len(found), "a problem is declared in another form than this test reads"
    codes = [problem["code"] for _, problem in found]
    assert sorted(codes) == sorted(set(codes))
    for path, problem in found:
        where = f"{path.name}: {problem['name']}"
        assert re.fullmatch(r"[a-z]+[0-9]*(-[a-z]+[0-9]*)*", problem["code"]), where
        assert problem["words"] and not problem["words"].endswith("."), where
        named = set(re.findall(r"(\w+):", problem["arguments"]))
        shown = set(re.findall(r"\{(\w+)\}", problem["words"]))
        assert shown <= named, where


def test_every_kind_of_problem_has_an_exception() -> None:
    dashed = {re.sub(r"(?<!^)([A-Z])", r"-\1", problem["kind"]).lower() for _, problem in problems()}
    assert dashed == set(KINDS)


def test_errors_of_the_builder_are_data() -> None:
    node = {"kind": "router"}
    edge = {"kind": "edge"}
    link = {"endpoints": ["a", "b"], "addresses": ["10.1.0.1/30", "10.1.0.1/30"]}
    for description, path, code in (
        ({"nodes": {"a": edge}}, ("nodes", "a"), "exact-links"),
        ({"nodes": {"a": node, "b": node}, "links": [link]}, ("links", 0, "addresses"), "same-address"),
    ):
        description["name"] = "n"
        for refuse in (core.network, core.plan):
            try:
                refuse(description)
            except Exception as error:
                assert (error.path, error.code) == (path, code)  # type: ignore[attr-defined]
                assert str(error).endswith(error.words)  # type: ignore[attr-defined]
            else:
                raise AssertionError(code)
