"""`twinplane fail`: a table, a folder that goes on, exit codes, one sentence for what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FILE = """
name: square
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}}
links:
  - [a, b, {rate: 1 Gbit/s, delay: 1 ms, srlg: duct}]
  - [b, c, {rate: 1 Gbit/s, delay: 1 ms}]
  - [c, d, {rate: 1 Gbit/s, delay: 1 ms}]
  - [d, a, {rate: 1 Gbit/s, delay: 1 ms, srlg: duct}]
lsps:
  - {name: gold, from: a, to: c, route: [b, c], fallback: [d, c]}
  - {name: silver, from: a, to: c, route: [b, c]}
flows:
  - {name: voice, from: a, to: c, over: gold, rate: 1 Mbit/s, dscp: EF}
  - {name: rest, from: a, to: c, over: silver, rate: 1 Mbit/s}
"""
GRAPH = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="0"/><node id="1"/><node id="2"/><node id="3"/>
<edge source="0" target="1"/><edge source="1" target="2"/><edge source="2" target="0"/>
<edge source="2" target="3"/></graph></graphml>"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "twinplane", "fail", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def square(tmp_path: Path) -> Path:
    (tmp_path / "square.yaml").write_text(FILE)
    return tmp_path


def test_table_folder_and_page(square: Path) -> None:
    done = run(square, "square.yaml", "--watch", "1 s", "--out", "kept", "--jobs", "2")
    assert done.returncode == 0 and done.stderr == ""
    for text in (
        "square  4 links, 4 nodes, 1 group   seed 1   virtual time",
        "traffic  2 flows of its own",
        "3 cases without harm: in the CSV files",
        "Group duct is the worst of 4 links, 4 nodes, 1 group: 2 of 2 flows stay away (2 for 'no route')",
        "3 of 9 cases keep a flow away though a way is left.",
        "repeat   twinplane fail square.yaml --watch '1 s'",
    ):
        assert text in done.stdout, done.stdout
    names = {path.name for path in (square / "kept").iterdir()}
    assert names == {"cases.jsonl", "failures.json", "failures.csv", "failures-cases.csv", "report.html"}
    page = (square / "kept" / "report.html").read_text()
    for text in (
        "Failures of square",
        "On the map",
        "b-c: 2 flows hurt, 1 of them stay away",
        "LSP silver has",
    ):
        assert text in page
    assert "src=" not in page.split("<script>")[0]  # it needs no network
    # The same command once more has nothing left to do, and another is refused.
    lines = (square / "kept" / "cases.jsonl").read_text()
    again = run(square, "square.yaml", "--watch", "1 s", "--out", "kept")
    assert again.returncode == 0 and (square / "kept" / "cases.jsonl").read_text() == lines
    other = run(square, "square.yaml", "--watch", "2 s", "--out", "kept")
    assert other.returncode == 2
    told = "it holds failures of another network, or with other settings: choose another folder"
    assert other.stderr == f"twinplane: kept: {told}\n"


def test_json_and_a_strict_verdict(square: Path) -> None:
    done = run(square, "square.yaml", "--watch", "1 s", "--json", "--strict", "--only", "links")
    assert done.returncode == 1 and done.stderr == ""
    found = json.loads(done.stdout)
    assert found["folder"] == "runs/fail-0001" and len(found["cases"]) == 4
    assert {(one["case"], one["reason"]) for one in found["flows"] if one["reason"]} == {
        ("a-b", "no fallback"),
        ("b-c", "no fallback"),
    }
    assert {one["phb"] for one in found["classes"]} == {"EF", "default"}
    text = (square / "square.yaml").read_text().replace("route: [b, c]}", "route: [b, c], fallback: [d, c]}")
    (square / "square.yaml").write_text(text)
    assert run(square, "square.yaml", "--watch", "1 s", "--strict").returncode == 0


def test_a_topology(tmp_path: Path) -> None:
    (tmp_path / "tail.graphml").write_text(GRAPH)
    done = run(tmp_path, "tail.graphml", "--watch", "1 s", "--probe-rate", "100", "--only", "links")
    assert done.returncode == 0
    assert "12 probes between routers, 100 packets per second each, over an LSP each" in done.stdout
    assert "6 of 12 flows stay away (6 for 'no route'); whoever has a way left comes back" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing.yaml"], "nothing.yaml: it cannot be read: no such file or directory"),
        (["square.yaml", "--only", "lnks"], "only: 'lnks': links, nodes, groups (did you mean 'links'?)"),
        (["square.yaml", "--watch", "0"], "watch='0': it should be longer than nothing"),
        (
            ["square.yaml", "--warm-up", "soon"],
            "warm_up 'soon': a number and a unit are needed, such as '10 ms'",
        ),
        (["square.yaml", "--component", "a"], "--component a: only topologies (.graphml) have parts"),
        (["net.py"], "net.py: a program is not run here: in it, call tp.fail_everything(net)"),
    ],
)
def test_what_is_wrong_is_one_sentence(square: Path, words: list[str], told: str) -> None:
    done = run(square, *words)
    assert done.returncode == 2
    assert done.stderr == f"twinplane: {told}\n"
    assert not (square / "runs").exists()
