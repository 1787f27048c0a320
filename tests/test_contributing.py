"""CONTRIBUTING.md is true: its experiment is added to a copy of the package by following it, and runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import twinplane

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SECTION = PAGE[PAGE.index("## Add an experiment") : PAGE.index("## Add a table")]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
CATALOGUE = "experiments/__init__.py"


def copied(folder: Path) -> Path:
    """The package as it is used here, without what was compiled from its modules."""
    package = folder / "twinplane"
    shutil.copytree(Path(twinplane.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def follow(package: Path) -> None:
    """Write the files and lines of the page."""
    files = 0
    for kind, text in BLOCKS:
        if kind != "python":
            continue
        where, code = text.split("\n", 1)
        path = package / where.split(",")[0].removeprefix("# python/twinplane/")
        if ", in CATALOGUE" in where:
            before = path.read_text()
            after = before.replace("\n}\n", f"\n{code}}}\n", 1)
            assert after != before
            path.write_text(after)
        else:
            path.parent.mkdir()
            path.write_text(code)
        files += 1
    assert files == 2


def call(words: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "TWINPLANE_FIGURES": "svg"}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_experiment_of_the_page(tmp_path: Path) -> None:
    follow(copied(tmp_path))
    said = ""
    commands = 0
    for kind, text in BLOCKS:
        if kind == "console":
            for line in text.splitlines():
                said += call(shlex.split(line.removeprefix("$ ")), tmp_path)
                commands += 1
    assert commands == 5 and "54.51 us" in said and "Through 8 routers the mean delay is 381.6 us." in said
    assert (tmp_path / "hops/report.html").is_file() and (tmp_path / "hops/figures/delay.svg").is_file()
    summary = json.loads((tmp_path / "hops/summary.json").read_text())
    assert [point["metrics"]["lost"] for point in summary["points"]] == [0, 0, 0]


def test_the_files_that_the_page_names_are_there() -> None:
    """Paths in backticks, and commands of make."""
    paths = re.findall(r"`((?:python|crates|tests|docs|benches|fuzz)/[\w./-]+?)`", PAGE)
    paths = [path for path in paths if "/hops/" not in path]
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []
    targets = set(re.findall(r"`make ([\w-]+)`", PAGE))
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert len(targets) > 5 and targets <= known
