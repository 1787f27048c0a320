"""The wheel: what it holds, and that it runs from a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_page_of_the_package_stands_alone() -> None:
    """A package index has neither our pictures nor the pages beside: nothing leads to a file."""
    text = (ROOT / PROJECT["readme"]).read_text()
    assert len(text) > 500 and not re.search(r"\]\((?!https?://)|<img", text)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_metadata_names_no_host_that_is_not_there() -> None:
    assert "urls" not in PROJECT
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} <= set(PROJECT["classifiers"])
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License")]  # PEP 639


@pytest.mark.skipif(
    not os.environ.get("TWINPLANE_WHEEL"), reason="no wheel: make wheel, TWINPLANE_WHEEL=FILE"
)
def test_the_wheel_runs_from_a_folder_of_its_own(tmp_path: Path) -> None:
    wheel = os.environ["TWINPLANE_WHEEL"]
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    assert "twinplane/bin/twinplane-router" in names
    assert [name for name in names if re.fullmatch(r"twinplane/_core\..*so", name)]
    place = tmp_path / "site"
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*words, "--target", str(place), wheel], check=True, timeout=300)
    environment = {**os.environ, "PYTHONPATH": str(place)}

    def said(code: str) -> str:
        run = [sys.executable, "-c", code]
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert said("import twinplane; print(twinplane.__file__)") == str(place / "twinplane/__init__.py")
    program = said("from twinplane.lab.programs import router_program; print(router_program())")
    assert program == str(place / "twinplane/bin/twinplane-router") and os.access(program, os.X_OK)
    words = [sys.executable, "-m", "twinplane", "run", "lsp-flap", "--set", "scenario=single", "--set", "n=2"]
    words += ["--set", "m=1", "--set", "rate_mbps=1", "--out", "found"]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True, timeout=300, capture_output=True)
    assert (tmp_path / "found/report.html").is_file()
