"""Every snippet of the tutorials runs, from top to bottom of its page, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted((DOCS / "tutorials").glob("*.md"))
SCRIPTS = sorted((DOCS / "tutorials").glob("*.py"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_there_are_tutorials() -> None:
    assert len(PAGES) >= 2 and len(SCRIPTS) >= 1


def call(words: list[str], folder: Path) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_snippets_run(page: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(page.read_text())
    assert blocks
    for kind, text in blocks:
        if kind == "python":
            call([sys.executable, "-c", text], tmp_path)
            continue
        for line in text.splitlines():
            if line.startswith("$ twinplane "):
                assert call([sys.executable, "-m", *shlex.split(line[2:])], tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebooks_run(script: Path, tmp_path: Path) -> None:
    assert "up" in call([sys.executable, str(script)], tmp_path)
    cells = re.split(r"^# %%", script.read_text(), flags=re.MULTILINE)
    assert len(cells) > 5
