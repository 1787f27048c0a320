"""`twinplane fail`: a table, a folder that goes on, exit codes, one sentence for what is wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support import warm

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
    return warm.twinplane("fail", *words, cwd=folder)


@pytest.fixture
def square(tmp_path: Path) -> Path:
    (tmp_path / "square.yaml").write_text(FILE)
    return tmp_path


def test_table_folder_and_page(square: Path) -> None:
    done = run(square, "square.yaml", "--watch", "1 s", "--out", "kept", "--jobs", "2")
    assert done.returncode == 0 and done.stderr == ""
    for text in (
        "square  4 links, 4 nodes and 1 group fail, each in turn   seed 1   virtual time",
        "traffic  2 flows of its own",
        "3 cases without harm: in the CSV files",
        "Group duct is the worst of 4 links, 4 nodes and 1 group: 2 of 2 flows stay away (2 for 'no route')",
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
    assert {one["phb"] for one in found["classes"]} == {"EF", "best effort"}
    text = (square / "square.yaml").read_text().replace("route: [b, c]}", "route: [b, c], fallback: [d, c]}")
    (square / "square.yaml").write_text(text)
    assert run(square, "square.yaml", "--watch", "1 s", "--strict").returncode == 0


def test_a_topology(tmp_path: Path) -> None:
    (tmp_path / "tail.graphml").write_text(GRAPH)
    done = run(tmp_path, "tail.graphml", "--watch", "1 s", "--probe-rate", "100", "--only", "links")
    assert done.returncode == 0
    assert "12 probes between routers, 100 packets per second each, over an LSP each" in done.stdout
    assert "6 of 12 flows stay away (6 for 'no route'); whoever has a way left comes back" in done.stdout


PROGRAM = """
import twinplane as tp

print("this is no answer")
net = tp.Network(seed=1)
a, b, c, d = (net.router(name, hello="9 s") for name in "abcd")
for x, y, duct in ((a, b, "duct"), (b, c, None), (c, d, None), (d, a, "duct")):
    net.link(x, y, rate="1 Gbit/s", delay="1 ms", srlg=duct)
gold = a.lsp("gold", to=c, route=[b, c], fallback=[d, c])
silver = a.lsp("silver", to=c, route=[b, c])
net.flow(a, c, over=gold, name="voice", rate="1 Mbit/s", dscp="EF")
net.flow(a, c, over=silver, name="rest", rate="1 Mbit/s")
if __name__ == "__main__":
    raise SystemExit("not here")
"""


def test_a_python_file_is_the_file_that_says_the_same(square: Path) -> None:
    (square / "square.py").write_text(PROGRAM)
    body = PROGRAM.replace("net = ", "made = ").replace("net.", "made.")
    built = "def build():\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return made\n"
    (square / "built.py").write_text(built)
    answers = []
    for name in ("square.yaml", "square.py", "built.py"):
        done = run(square, name, "--watch", "1 s", "--json")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ("" if name == "square.yaml" else "this is no answer\n")
        answers.append(json.loads(done.stdout))
    cases = [[{k: v for k, v in one.items() if k != "case"} for one in found["cases"]] for found in answers]
    assert cases[0] == cases[1] == cases[2] and len(cases[0]) == 9
    assert answers[0]["flows"] == answers[1]["flows"] == answers[2]["flows"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("x = 1\n", ": it has no network: 'net = tp.Network(...)', or a function 'build()' that returns a"),
        ("net = 3\n", ": net is an int, and no network: 'net = tp.Network(...)', or a function 'build()'"),
        ("def build(n):\n    return n\n", ": build() is called without arguments, and needs some\n"),
        ("def build():\n    return None\n", ": build() returns nothing, and no network: "),
        ("build = 7\n", ": build is an int, and no function that returns a network\n"),
        ("a = 1\nnet = (\n", ":2:7: this is no Python: '(' was never closed\n"),
        ("a = 1\n\n1 / 0\n", ":3: ZeroDivisionError: division by zero\n"),
        ("import sys\nsys.exit(3)\n", ":2: the program ends here, before it has made a network\n"),
        (
            "import nothing_of_this_name\n",
            ":1: ModuleNotFoundError: No module named 'nothing_of_this_name'\n",
        ),
        (
            "import twinplane as tp\nnet = tp.Network()\nnet.link('a', 'b')\n",
            ":3: 'a', no node has that name",
        ),
        (
            "import twinplane as tp\nnet = tp.Network(clock='wall')\nnet.router('a')\n",
            "twinplane: net.py: everything can fail in turn in virtual time only: time does not fork\n",
        ),
        (
            "import twinplane as tp\nnet = tp.Network()\n",
            "net.py: there is nothing that could fail",
        ),
        ("\0", ": this is no Python: source code string cannot contain null bytes\n"),
    ],
)
def test_a_wrong_python_file_is_one_sentence(tmp_path: Path, program: str, told: str) -> None:
    (tmp_path / "net.py").write_text(program)
    done = run(tmp_path, "net.py")
    assert done.returncode == 2, done.stderr
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("twinplane: "), done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["lone.yaml"],
            "lone.yaml: it has no flows, and fewer than two hosts or routers to send probes between",
        ),
        (["nothing.yaml"], "nothing.yaml: it cannot be read: no such file or directory"),
        (["square.yaml", "--only", "lnks"], "only: 'lnks': links, nodes, groups (did you mean 'links'?)"),
        (["square.yaml", "--watch", "0"], "watch='0': it should be longer than nothing"),
        (
            ["square.yaml", "--warm-up", "soon"],
            "warm_up 'soon': a number and a unit are needed, such as '10 ms'",
        ),
        (["square.yaml", "--component", "a"], "--component a: only topologies (.graphml) have parts"),
        (["net.py"], "net.py: it cannot be read: no such file or directory"),
        (["square.py", "--seed", "3"], "--seed 3: a Python file says the seed of its network itself"),
        (["square.py", "--component", "a"], "--component a: only topologies (.graphml) have parts"),
    ],
)
def test_what_is_wrong_is_one_sentence(square: Path, words: list[str], told: str) -> None:
    (square / "lone.yaml").write_text("name: lone\nnodes: {a: {kind: router}}\nlinks: []\n")
    done = run(square, *words)
    assert done.returncode == 2
    assert done.stderr == f"twinplane: {told}\n"
    assert not (square / "runs").exists()
