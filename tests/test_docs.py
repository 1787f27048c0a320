"""The documentation is true: its snippets run, its tables hold, its links lead somewhere."""

from __future__ import annotations

import contextlib
import re
import runpy
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support import warm
from support.needs import need
from twinplane.lab.state import ROOT as LABS_ROOT

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if "site" not in page.parts)]
SCRIPTS = sorted((DOCS / "tutorials").glob("*.py"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNS = ("python", "console")
SHOWN = ("text", "toml", "json", "yaml", "xml", "mermaid")
LABS = re.compile(r"twinplane lab (?:up|exec|capture|down)|\.lab\(")
"""What only root can do."""
Python = Callable[..., subprocess.CompletedProcess[str]]
NAMED = re.compile(r"(?:# (?=\S+\.yaml\n)|<!-- (?=\S+\.graphml ))(\S+)")
"""The comment that begins a network file or a topology."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def name(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


def call(words: list[str], folder: Path, within: Sequence[str] = (), run: Python = warm.run) -> str:
    """What Python says to such arguments; it must go well."""
    done = run(*words, cwd=folder, within=within)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_there_are_pages() -> None:
    assert len(PAGES) > 10
    assert len(list((DOCS / "tutorials").glob("*.md"))) >= 2 and len(SCRIPTS) >= 1
    assert {kind for kind, _ in blocks(PAGES[0])} >= set(RUNS)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_say_whether_they_run(page: Path) -> None:
    assert {kind for kind, _ in blocks(page)} <= {*RUNS, *SHOWN}


@pytest.mark.live
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(kind in RUNS for kind, _ in blocks(page))], ids=name
)
def test_snippets_run(page: Path, tmp_path: Path) -> None:
    """From top to bottom of the page, in an empty folder; of a console, the lines that begin with `$`.

    YAML that begins with a comment such as `# two-sites.yaml` becomes that file, and so does GraphML.
    """
    if any(LABS.search(text) for kind, text in blocks(page) if kind in RUNS):
        need("labs", *(["vtysh"] if any("kind: frr" in text for _, text in blocks(page)) else []))
        with no_other_labs(tmp_path) as within:
            run_page(page, tmp_path, within)
    else:
        run_page(page, tmp_path)


@contextlib.contextmanager
def no_other_labs(folder: Path) -> Iterator[list[str]]:
    """What to put before a command so that it sees only the labs of its page, taken down at the end.

    Pages name nodes without their labs, which means something only where one lab is up. All of /run is
    theirs: a mount on a folder ends when somebody else removes the folder, as who takes down the last
    lab does.
    """
    run = LABS_ROOT.parents[1]
    alone = f"mount -t tmpfs tmpfs {run} && echo && exec sleep 900"
    unshared = ["unshare", "--mount", "sh", "-c", alone]
    with subprocess.Popen(unshared, stdout=subprocess.PIPE, text=True) as keeper:
        within = ["nsenter", f"--target={keeper.pid}", "--mount", f"--wd={folder}"]
        try:
            assert keeper.stdout is not None and keeper.stdout.readline() == "\n"
            yield within
        finally:
            for file in folder.glob("*.yaml"):
                warm.twinplane("lab", "down", file, within=within)
            warm.end(within)
            keeper.kill()


def run_page(page: Path, tmp_path: Path, within: Sequence[str] = ()) -> None:
    run = warm.cold if page == PAGES[0] else warm.run
    for kind, text in blocks(page):
        if kind in ("yaml", "xml") and (named := NAMED.match(text)):
            (tmp_path / named[1]).write_text(text)
        elif kind == "python":
            call(["-c", text], tmp_path, within, run)
        elif kind == "console":
            commands = [shlex.split(line[2:]) for line in text.splitlines() if line.startswith("$ ")]
            assert commands and all(words[0] == "twinplane" for words in commands)
            for words in commands:
                said = call(["-m", *words], tmp_path, within, run)
                assert said or words[1] in ("lab", "node")  # what was asked for may be silent


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_notebooks_run(script: Path, tmp_path: Path) -> None:
    assert "up" in call([str(script)], tmp_path)
    cells = re.split(r"^# %%", script.read_text(), flags=re.MULTILINE)
    assert len(cells) > 5


GENERATORS: dict[str, list[str]] = runpy.run_path(str(DOCS / "generated.py"))["GENERATORS"]


@pytest.mark.parametrize("name", GENERATORS)
def test_what_is_made_is_up_to_date(name: str) -> None:
    call([*GENERATORS[name], "--check"], ROOT)


@pytest.mark.parametrize("script", ["build.py", "models/juniper_m10.py", "models/atm_encapsulation.py"])
def test_links_and_figures_of_pages_are_right(script: str) -> None:
    call([str(DOCS / script), "--check"], ROOT)


def rows(text: str) -> dict[tuple[str, ...], list[float]]:
    """Rows of a table by scenario, N and M; figures behind."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {
        tuple(row[:3]): [float(cell) for cell in row[3:]]
        for row in cells
        if row[0] in ("ring", "single") and len(row) == 9
    }


def test_the_tables_of_the_tutorial_on_diffserv() -> None:
    """The four tables of the default command, and some rows about what the paper leaves open, made again."""
    made = call([str(DOCS / "models/diffserv_alternatives.py"), "--quick"], ROOT)
    assert made.count("\n| --- |") == 6 and "af1_rate_mbps=2" in made


def test_the_k_table_of_the_profile_page() -> None:
    """Rows about the published thresholds, made again: K = N up to them, and what the page says above."""
    made = rows(call([str(DOCS / "models/juniper_m10_k.py"), "--quick"], ROOT))
    page = rows((DOCS / "models/juniper-m10.md").read_text())
    assert len(made) == 8
    for key, (k, up, *_, failed, lost) in made.items():
        n, m = key[1:]
        assert failed == 0
        if (n, m) in (("300", "100"), ("250", "250")):
            assert (k, up, lost) == (float(n), float(n), 0.0), key
        else:
            assert k < float(n), key
        assert k == pytest.approx(page[key][0], rel=0.03), key


NAMED_FUNCTION = re.compile(r"`([\w/]+\.(?:rs|py)):(\w+)`")


def home(file: str) -> Path:
    """Where the page on the architecture means a file to be."""
    if file.endswith(".rs"):
        crate, rest = file.split("/", 1)
        return ROOT / "crates" / crate / "src" / rest
    return ROOT / "python" / "twinplane" / file


def test_the_functions_of_the_walks_are_there() -> None:
    """`file:function` on the page of the architecture: each is defined in its file."""
    named = NAMED_FUNCTION.findall((DOCS / "architecture.md").read_text())
    assert len(set(named)) > 80
    lost = []
    for file, function in sorted(set(named)):
        path = home(file)
        defined = rf"^\s*(?:pub(?:\([\w: ]+\))? )?(?:async |const |unsafe )*(?:fn|def|class) {function}\b"
        if not path.is_file() or not re.search(defined, path.read_text(), re.MULTILINE):
            lost.append(f"{file}:{function}")
    assert not lost, f"docs/architecture.md names what is not there: {', '.join(lost)}"


def test_the_rooms_of_the_architecture_are_those_of_the_house() -> None:
    text = (DOCS / "architecture.md").read_text()
    crates = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    assert crates <= set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
