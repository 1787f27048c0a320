"""`twinplane run FILE`: the flows of a user's own network, its queues, its report; on both clocks."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import twinplane as tp
from support.needs import need
from test_cli import command, good

OWN = """\
name: {name}
seed: 5
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  pe1:   {kind: router, diffserv: true}
  pe2:   {kind: router, diffserv: true}
links:
  - [left, pe1, {rate: 100 Mbit/s, ingress: {pe1: edge}}]
  - [pe1, pe2, {rate: 10 Mbit/s, delay: 1 ms, queue: {pe1: services}}]
  - [pe2, right, {rate: 100 Mbit/s}]
lsps:
  - {name: east, from: pe1, to: pe2, carries: 10.2.0.0/24, diffserv: e-lsp}
conditioners:
  edge:
    rules:
      - {name: voice, dscp: EF, meter: {kind: token-bucket, rate: 2 Mbit/s, burst: 10 kB}, red: drop}
queues:
  services: {discipline: prio, classes: {voice: {}, rest: {queue: {discipline: pfifo, limit: 50}}},
             filters: [{phb: EF, class: voice}]}
flows:
  - {name: voice, from: left, to: right, rate: 0.8 Mbit/s, size: 218, dscp: EF, start: 100 ms, log: true}
  - {name: bulk, from: left, to: right, rate: 12 Mbit/s, size: imix, arrivals: poisson, start: 100 ms}
  - {from: right, to: left, rate: 1 Mbit/s, size: 218, start: 100 ms}
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own.yaml"
    path.write_text(OWN.replace("{name}", "own"))
    return path


@pytest.fixture(scope="module")
def folder(own: Path) -> Path:
    said = good("run", str(own), "--duration", "1.1 s", "--figures", "svg", cwd=own.parent)
    assert "own  own.yaml, 1.1 s   seed 5   virtual time" in said
    assert all(word in said for word in ("voice", "bulk", "right-left", "pe1 towards pe2", "└─ rest"))
    assert "repeat   twinplane run " in said and "--seed 5 --set duration_s=1.1" in said
    return own.parent / "runs" / "own-0001"


def test_a_folder_of_results(own: Path, folder: Path) -> None:
    names = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    tables = (
        "queues",
        "queue_series",
        "conditioners",
        "streams",
        "series",
        "flow_series",
        "ports",
        "packets",
    )
    assert {
        *("manifest.json", "summary.json", "report.html", "own.yaml", "figures/delays.svg"),
        *(f"tables/{name}.parquet" for name in tables),
    } <= names
    assert (folder / "own.yaml").read_text() == own.read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["experiment"], manifest["seed"], manifest["clock"]) == ("network", 5, "virtual")
    assert manifest["parameters"]["duration_s"] == 1.1


def test_figures_are_those_of_the_python_interface(own: Path, folder: Path) -> None:
    metrics = json.loads((folder / "summary.json").read_text())["metrics"]
    assert list(metrics["flows"]) == ["voice", "bulk", "right-left"]
    net = tp.Network.from_file(own)
    for flow in net.flows:
        net.draft.change_flow(flow, {"stop": "1.1 s"})
    net.run(until="2.1 s")
    for flow in net.flows:
        row, found = flow.stats().row(0, named=True), metrics["flows"][flow.name]
        assert found["sent"] == found["received"] + found["dropped"] == row["sent"]
        assert (found["mean_s"], found["max_s"]) == (row["delay_mean_s"], row["delay_max_s"])
        quantiles = [found[key] for key in ("min_s", "p50_s", "p90_s", "p99_s", "p999_s", "max_s")]
        assert sorted(one for one in quantiles if one is not None) == [
            one for one in quantiles if one is not None
        ]
        assert (found["p999_s"] is None) == (found["received"] < 3_688)
    voice, bulk = metrics["flows"]["voice"], metrics["flows"]["bulk"]
    assert voice["dropped"] == 0 and bulk["dropped"] > 100 and voice["mean_s"] < bulk["mean_s"] / 5
    assert (metrics["lsps"], metrics["lsps_up"]) == (1, 1)
    found = tp.load_results(folder)
    root = found.table("queues").filter(pl.col("path") == "root").row(0, named=True)
    assert root["dropped_packets"] == bulk["dropped"] and root["neighbor"] == "pe2"
    assert set(found.table("packets")["flow"]) == {"voice"}
    assert found.table("packets").height == voice["sent"]


def test_the_report_has_trees_and_can_be_made_again(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert "<title>Network own" in page
    for text in (
        "pe1 towards pe2: ",
        "by Little",
        "Meters and markers",
        "Backlog of pe1 towards pe2",
        "east",
        "mean delay (",
    ):
        assert text in page, text
    (folder / "report.html").unlink()
    good("report", str(folder))
    assert (folder / "report.html").read_text() == page
    assert "└─ rest" in good("show", str(folder))
    assert "all" not in good("compare", str(folder), str(folder)).partition("equal")[0]


def test_the_same_seed_gives_the_same_run_and_others_do_not(own: Path, folder: Path, tmp_path: Path) -> None:
    first = json.loads((folder / "summary.json").read_text())["metrics"]
    words = ("run", str(own), "--duration", "1.1", "--json")
    same = json.loads(good(*words, "--out", str(tmp_path / "a")))["metrics"]
    other = json.loads(good(*words, "--seed", "6", "--out", str(tmp_path / "b")))["metrics"]
    assert same == first and other["digest"] != first["digest"]
    several = json.loads(good(*words, "--repeat", "2", "--out", str(tmp_path / "c")))
    assert several["intervals"]["flows.bulk.dropped"]["n"] == 2
    assert several["intervals"]["flows.voice.dropped"]["mean"] == 0
    good("run", "network", "--set", f"file={own}", "--set", "duration_s=0.5,1", "--out", str(tmp_path / "d"))


@pytest.mark.parametrize(
    ("old", "new", "words", "sentence"),
    [
        (
            "",
            "",
            ["--duration", "100 ms"],
            "own.yaml:22:5: flow 'voice': it starts at 100 ms, and the run is over",
        ),
        ("", "", ["--duration", "1 y"], "--duration 1 y: '1 y': unknown unit 'y'"),
        ("", "", ["--set", "duration=1"], "unknown parameter 'duration' (did you mean 'duration_s'?)"),
        (
            "",
            "",
            ["--clock", "wall", "--rate", "auto"],
            "own.yaml: --rate auto: the rates of flows are in the",
        ),
        (
            "to: right, rate: 0.8",
            "to: rigt, rate: 0.8",
            [],
            ": flow 'voice': to: 'rigt', no node",
        ),
        (
            "phb: EF, class: voice",
            "phb: EF, class: vice",
            [],
            ": queue 'services': filter 1: class: ",
        ),
        ("flows:\n", "faults:\n", [], "own.yaml:21:1: unknown field 'faults'"),
        ("seed: 5", "seed: x", [], "own.yaml:2:7: seed: 'x': it should be"),
    ],
)
def test_mistakes(own: Path, tmp_path: Path, old: str, new: str, words: list[str], sentence: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(own.read_text().replace(old, new, 1))
    done = command("run", path.name, *words, cwd=tmp_path)
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_file_that_is_not_there_or_has_no_flows(own: Path, tmp_path: Path) -> None:
    done = command("run", "nix.yaml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "twinplane: nix.yaml: it cannot be read: no such file or directory\n",
    )
    (tmp_path / "own.yaml").write_text(own.read_text().partition("flows:")[0])
    done = command("run", "own", cwd=tmp_path)
    assert (
        done.returncode == 2 and "unknown experiment 'own' (did you mean the file own.yaml?)" in done.stderr
    )
    done = command("run", "own.yaml", cwd=tmp_path)
    assert done.returncode == 2 and "it has no flows, so that nothing would be measured" in done.stderr


def test_what_is_odd_is_said_and_kept(own: Path, tmp_path: Path) -> None:
    text = own.read_text().replace("- {from: right, to: left,", "- {from: right, to: left, dscp: EF,")
    text = text.replace("carries: 10.2.0.0/24", "bandwidth: 9 Gbit/s")
    rules = "- {name: none, dscp: EF, green: drop}"
    text = text.replace(
        "[pe2, right, {rate: 100 Mbit/s}]", "[pe2, right, {rate: 100 Mbit/s, ingress: {pe2: no}}]"
    )
    text = text.replace("conditioners:\n", f"conditioners:\n  no:\n    rules:\n      {rules}\n")
    (tmp_path / "own.yaml").write_text(text)
    words = ("run", "own.yaml", "--duration", "200 ms", "--set", "drain_s=0", "--out", "o")
    done = command(*words, cwd=tmp_path)
    kept = json.loads((tmp_path / "o" / "summary.json").read_text())["warnings"]
    assert done.returncode == 0
    for sentence in (
        "flow 'right-left': nothing of it arrived",
        "packets still wait in queues",
        "lsp 'east': it is not up at the end",
    ):
        assert sentence in done.stderr and any(sentence in one for one in kept), (sentence, done.stderr)


@pytest.mark.live
def test_in_real_time(own: Path, tmp_path: Path) -> None:
    words = (
        "run",
        str(own),
        "--duration",
        "400 ms",
        "--clock",
        "wall",
        "--json",
        "--out",
        str(tmp_path / "o"),
    )
    found = json.loads(good(*words))
    flows, twin = found["metrics"]["flows"], found["twin"]["metrics"]["flows"]
    assert all(flows[name]["sent"] == twin[name]["sent"] for name in flows)
    assert found["bounds"]["flows.bulk.max_s"] > 0


STATION = """\
name: st
nodes:
  s:  {kind: station}
  r1: {kind: router}
  r2: {kind: router}
links:
  - [s, r1, {rate: 100 Mbit/s, addresses: [10.1.0.2/24, 10.1.0.1/24]}]
  - [r1, r2, {rate: 10 Mbit/s, queue: {r1: {discipline: pfifo, limit: 9}}}]
  - [r2, s, {rate: 100 Mbit/s, addresses: [10.2.0.1/24, 10.2.0.2/24]}]
flows:
  - {name: round, from: s, to: s, from_link: r1, to_link: r2, rate: 12 Mbit/s, size: 1018}
"""


TESTERS = """\
name: ts
topology:
  nodes:
    in:  {kind: edge}
    out: {kind: edge}
    r1:  {kind: router}
    r2:  {kind: router}
  links:
    - [in, r1]
    - [r1, r2, {rate: 10 Mbit/s, queue: {r1: {discipline: pfifo, limit: 9}}}]
    - [r2, out]
lsps:
  - {name: east, from: in, to: out, route: [r1, r2, out], count: 3}
flows:
  - {name: a, from: in, to: out, over: east, rate: 8 Mbit/s, start: 200 ms}
"""


@pytest.mark.parametrize("lab", [False, pytest.param(True, marks=pytest.mark.live)])
def test_testers_send_over_lsps_of_theirs(tmp_path: Path, lab: bool) -> None:
    if lab:
        need("labs")
    path = tmp_path / "ts.yaml"
    path.write_text(TESTERS)
    lead = ["run", str(path), *(["--lab", "--no-twin"] if lab else [])]
    found = json.loads(good(*lead, "--duration", "500 ms", "--json", "--out", str(tmp_path / "o")))
    flow = found["metrics"]["flows"]["a"]
    # Processes of a lab wait for each other on a busy machine, and what comes meanwhile is lost.
    lost = 0.25 if lab else 0.02
    assert flow["sent"] > 500 and flow["dropped"] <= lost * flow["sent"]


@pytest.mark.parametrize("lab", [False, pytest.param(True, marks=pytest.mark.live)])
def test_a_station_sends_to_itself(tmp_path: Path, lab: bool) -> None:
    """In virtual time and on a lab, which `lab run` makes without the name of an experiment."""
    if lab:
        need("labs")
    path = tmp_path / "st.yaml"
    path.write_text(STATION)
    lead = ["lab", "run", str(path), "--no-twin"] if lab else ["run", str(path)]
    words = ["--duration", "300 ms", "--json", "--out", str(tmp_path / "o")]
    flow = json.loads(good(*lead, *words))["metrics"]["flows"]["round"]
    # 12 Mbit/s into 10 Mbit/s, of which each frame takes 20 bytes more: 18 % are lost. Processes of a lab
    # wait for each other on a busy machine, and more is lost meanwhile.
    most = 0.45 if lab else 0.22
    assert 0.14 * flow["sent"] <= flow["dropped"] <= most * flow["sent"]


@pytest.mark.live
def test_on_a_lab(own: Path, tmp_path: Path) -> None:
    """Hosts at which flows end are in the measuring process; queues are those of the routers."""
    need("labs")
    # Long enough that the queue overflows on a machine under load, too: 2 Mbit/s more than the link takes.
    words = ("--duration", "1500 ms", "--no-twin", "--json", "--out", str(tmp_path / "o"))
    found = json.loads(good("run", str(own), "--lab", *words))
    flows = found["metrics"]["flows"]
    assert all(flow["received"] > 0 for flow in flows.values()) and flows["bulk"]["dropped"] > 0
    queues = tp.load_results(tmp_path / "o").table("queues")
    root = queues.filter(pl.col("path") == "root").row(0, named=True)
    assert (root["node"], root["neighbor"]) == ("pe1", "pe2") and root["dropped_packets"] > 0
    assert "pe1 towards pe2" in (tmp_path / "o" / "report.html").read_text()
    path = tmp_path / "between.yaml"
    path.write_text(own.read_text() + "  - {name: inner, from: pe1, to: pe2}\n")
    done = command("run", str(path), "--lab")
    assert (
        done.returncode == 2 and "between.yaml:25:5: flow 'inner': 'pe1' is of kind router: on" in done.stderr
    )


OVER_TCP = """\
name: own
nodes:
  a: {kind: host, address: 10.1.0.2/24, gateway: 10.1.0.1}
  b: {kind: host, address: 10.2.0.2/24, gateway: 10.2.0.1}
  r: {kind: router}
links:
  - {endpoints: [a, r], rate: 100 Mbit/s}
  - {endpoints: [r, b], rate: 5 Mbit/s, delay: 5 ms}
tcp:
  - {name: up, from: a, to: b, connections: 2, buffer: 32 kB}
  - {name: ask, from: b, to: a, application: request-response, transactions: 3}
"""


def test_flows_over_tcp_are_shown_and_kept(tmp_path: Path) -> None:
    file, out = tmp_path / "own.yaml", tmp_path / "out"
    file.write_text(OVER_TCP)
    done = command("run", str(file), "--duration", "2 s", "--figures", "png", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "Flows over TCP" in done.stdout and "ask back" in done.stdout
    assert "bytes arrived over TCP, from 2." in done.stdout
    tcp = json.loads((out / "summary.json").read_text())["metrics"]["tcp"]
    assert set(tcp) == {"up/0", "up/1", "ask", "ask back"}
    # A link of 5 Mbit/s is shared: what is written is read, until the run is over and not longer.
    shared = sum(tcp[name]["goodput_bps"] for name in ("up/0", "up/1"))
    assert 4.4e6 < shared < 5e6 and all(one["state"] == "done" and one["wrong"] == 0 for one in tcp.values())
    assert 2.0 < tcp["up/0"]["completion_s"] < 2.3 and tcp["ask"]["transactions"] == 3
    assert (out / "figures" / "tcp.png").exists() and (out / "tables" / "tcp_series.parquet").exists()
    assert "Flows over TCP" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("buffer: 32 kB", "start: 3 s", "10:5: tcp flow 'up': it starts at 3 s, and the run is over at 2 s"),
        (OVER_TCP[OVER_TCP.index("tcp:") :], "", "it has no flows, so that nothing would be measured"),
    ],
)
def test_a_flow_over_tcp_that_never_begins(tmp_path: Path, was: str, now: str, words: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(OVER_TCP.replace(was, now))
    done = command("run", str(file), "--duration", "2 s", "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
