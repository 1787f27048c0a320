"""The command line: tables, JSON, exit codes, Ctrl-C, and taking a run up again."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from support import campaign, children, warm
from twinplane.experiments import CATALOGUE
from twinplane.experiments.plan import planned
from twinplane.experiments.request import Request
from twinplane.network import processors

QUICK = [
    *("--set", "setup_rate=20000", "--set", "settle_s=0.1", "--set", "signalling_rate=20000"),
    *("--set", "first_event_s=0.2", "--set", "first_period_s=0.2", "--set", "second_period_s=0.2"),
    *("--set", "grace_s=0.2", "--set", "profile=ideal"),
]
"""A run of less than two seconds of virtual time."""

BRIEF = [word.replace("=0.2", "=0.02") for word in QUICK] + ["--set", "end_window_s=0.01"]
"""A tenth of that: for the runs of the campaign."""

FEW = [*QUICK, "--set", "m=4"]


command = warm.twinplane


def good(*words: str, **options: Any) -> str:
    done = command(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "one"
    kept = ("--figures", "png,svg", "--pcap", "--pcap-packets", "500")
    done = warm.cold(
        "-m", "twinplane", "run", "lsp-flap", *FEW, "--set", "n=10,20", "--out", str(folder), *kept
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_without_a_command_there_is_help_and_nothing_else() -> None:
    for words in ((), ("lab",), ("node",)):
        done = warm.cold("-m", "twinplane", *words)
        assert (done.returncode, done.stderr) == (2, "") and "Usage: " in done.stdout


def test_list() -> None:
    assert good("list").splitlines()[0].startswith("lsp-flap  ")
    assert {entry["name"] for entry in json.loads(good("list", "--json"))} == set(CATALOGUE)


def test_parameters_are_listed() -> None:
    found = {entry["name"]: entry for entry in json.loads(good("run", "lsp-flap", "--parameters", "--json"))}
    assert found["size"]["allowed"] == "64 to 9018"
    assert {"profile", "scenario", "family", "size", "n", "m", "rate_mbps"} <= set(found)


def test_a_folder_of_results(run_folder: Path) -> None:
    names = {str(path.relative_to(run_folder)) for path in run_folder.rglob("*")}
    assert {
        "manifest.json", "summary.json", "report.html", "figures/k-over-n.png", "figures/k-over-n.svg",
        "tables/streams.parquet", "tables/series.parquet", "captures/point-0001/00-ingress-r1.pcapng",
    } <= names  # fmt: skip
    points = json.loads((run_folder / "summary.json").read_text())["points"]
    assert [point["metrics"]["k"] for point in points] == [10, 20]
    needed = {"k", "k_up", "p", "failed", "lost_prior", "lost_during", "digest"}
    needed |= {"delay_prior_s", "delay_during_s", "delay_end_s"}
    assert all(needed <= set(point["metrics"]) for point in points)
    assert all(point["metrics"]["delay_prior_s"] > 114e-6 for point in points)
    manifest = json.loads((run_folder / "manifest.json").read_text())
    assert manifest["command"].endswith("--set n=10,20 --pcap --pcap-packets 500")


def test_a_single_run_has_its_metrics_at_the_top(tmp_path: Path) -> None:
    words = ("run", "lsp-flap", *FEW, "--set", "n=10", "--set", "scenario=single", "--out", str(tmp_path))
    found = json.loads(good(*words, "--json"))
    assert found["metrics"] == json.loads((tmp_path / "summary.json").read_text())["metrics"]
    assert (found["metrics"]["failed"], found["metrics"]["lost_prior"]) == (0, 0)


def test_repetitions_have_intervals(tmp_path: Path) -> None:
    good("run", "lsp-flap", *FEW, "--set", "n=10", "--repeat", "2", "--out", str(tmp_path))
    found = json.loads((tmp_path / "summary.json").read_text())
    assert len(found["repeats"]) == 2 and found["intervals"]["k"]["n"] == 2
    assert found["repeats"][0]["digest"] != found["repeats"][1]["digest"]


def test_the_number_of_jobs_changes_nothing(tmp_path: Path, run_folder: Path) -> None:
    good("run", "lsp-flap", *FEW, "--set", "n=10,20", "--out", str(tmp_path / "one"), "--jobs", "1")
    one, two = (json.loads((f / "summary.json").read_text()) for f in (tmp_path / "one", run_folder))
    assert one == two


def test_captures_decode(run_folder: Path) -> None:
    capture = str(run_folder / "captures" / "point-0000" / "00-ingress-r1.pcapng")
    lines = good("decode", capture).splitlines()
    assert len(lines) == 500
    assert any("RSVP Path" in line for line in lines)
    packets = [json.loads(line) for line in good("decode", capture, "--json").splitlines()]
    assert len(packets) == 500 and all("layers" in packet for packet in packets)


@pytest.mark.needs("tshark")
def test_tshark_finds_no_fault(run_folder: Path, tmp_path: Path) -> None:
    captures = sorted(run_folder.rglob("*.pcapng"))
    assert len(captures) == 10
    # It reads all of them at once: starting takes it longer than reading.
    merged = tmp_path / "all.pcapng"
    subprocess.run(["mergecap", "-w", merged, *captures], check=True, capture_output=True, timeout=120)
    checks = [word for name in ("ip", "udp") for word in ("-o", f"{name}.check_checksum:TRUE")]
    words = ["tshark", "-r", str(merged), *checks, "-Y", "_ws.malformed || _ws.expert.severity == error"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_capture_without_ethernet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "radio.pcap"
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
    path.write_bytes(header + struct.pack("<IIII", 1, 2, 4, 4) + b"abcd")
    done = command("decode", str(path))
    assert done.returncode == 2
    said = (
        f"twinplane: {path}: 1 of 1 packets are not decoded: link type 105; those that are read are 0 (NULL)"
    )
    assert done.stderr.startswith(said) and len(done.stderr.splitlines()) == 1


IPV4 = bytes.fromhex("4500001c000000004011 66cf 0a0000010a000002 0001000200080000")
COOKED = bytes.fromhex("0000000100060200000000010000 0800")
COOKED2 = bytes.fromhex("0800000000000003000104060200000000010000")
HEADERS = {
    "null": (0, b"\x02\0\0\0"),
    "ppp": (9, b"\xff\x03\0\x21"),
    "ppp-hdlc": (50, b"\xff\x03\0\x21"),
    "raw": (101, b""),
    "hdlc": (104, b"\x0f\0\x08\0"),
    "loopback": (108, b"\0\0\0\x02"),
    "cooked": (113, COOKED),
    "sunatm": (123, b"\x82\0\0\x20\xaa\xaa\x03\0\0\0\x08\0"),
    "ipv4": (228, b""),
    "cooked2": (276, COOKED2),
}
"""Link types other than Ethernet, each with a header in front of an IPv4 packet."""


@pytest.mark.needs("tshark")
@pytest.mark.parametrize("kind", HEADERS)
def test_captures_of_other_link_types_are_read_as_tshark_does(kind: str, tmp_path: Path) -> None:
    link_type, header = HEADERS[kind]
    packet = header + IPV4
    path = tmp_path / f"{kind}.pcap"
    # Kept is more than the file says to keep at most, and more than was on the wire: tools write both.
    start = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 16, link_type)
    path.write_bytes(start + struct.pack("<IIII", 1, 2, len(packet), len(packet) - 2) + packet)
    assert good("decode", str(path)).rstrip().endswith("10.0.0.1 > 10.0.0.2 UDP 1 > 2")
    fields = [word for name in ("ip.src", "ip.dst", "udp.dstport") for word in ("-e", name)]
    words = ["tshark", "-r", str(path), "-T", "fields", *fields]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (0, ["10.0.0.1", "10.0.0.2", "2"]), done.stderr


def test_captures_that_are_cut_or_foreign(tmp_path: Path, run_folder: Path) -> None:
    whole = (run_folder / "captures" / "point-0000" / "00-ingress-r1.pcapng").read_bytes()
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(whole[: len(whole) // 2 + 1])
    done = command("decode", str(cut))
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) > 100 and len(done.stderr.splitlines()) == 1
    foreign = tmp_path / "foreign.pcap"
    foreign.write_bytes(b"GIF89a" + bytes(100))
    for path in (foreign, tmp_path / "none.pcap"):
        done = command("decode", str(path))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("twinplane: ") and len(done.stderr.splitlines()) == 1


def test_show_compare_report(run_folder: Path, tmp_path: Path) -> None:
    assert "repeat   twinplane run lsp-flap" in good("show", str(run_folder))
    assert json.loads(good("show", str(run_folder), "--json"))["manifest"]["experiment"] == "lsp-flap"
    rows = json.loads(good("compare", str(run_folder), str(run_folder), "--json"))["metrics"]
    assert rows and all(row["first"] == row["second"] for row in rows)
    other = tmp_path / "other"
    good("run", "lsp-flap", *FEW, "--set", "n=10,20", "--set", "ring_delay_us=58", "--out", str(other))
    assert "delay_prior_s" in good("compare", str(run_folder), str(other))
    page = run_folder / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert good("report", str(run_folder)).strip() == f"report   {page}"
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "lsp-flip"], "unknown experiment 'lsp-flip' (did you mean 'lsp-flap'?)"),
        (["node", "fault", "los", "a:b"], "los: there is no such fault: one of fail, heal, restart, loss, "),
        (["node", "fault", "bogus", "a:b"], "reordering, delay, rate"),
        (["node", "fault", "fail"], "fail: which link or router? Of a link its ends, such as pe1:p"),
        (["node", "fault", "loss"], "loss: which link? Of a link its ends, such as pe1:p"),
        (["node", "fault", "restart"], "restart: which router?"),
        (
            ["node", "fault", "loss", "a:b", "--set", "shre=1%"],
            "--set shre: it is none of share, by, extra, jitter, limit (did you mean 'share'?)",
        ),
        (["node", "fault", "loss", "a:b", "--set", "share=nan"], "share=nan: a share is 0 to 1, or 0 % to 1"),
        (["node", "fault", "rate", "a:b", "--set", "limit=0"], "limit=0: it is not above zero"),
        (["node", "fault", "fail", "a:b", "--for", "0 s"], "for '0 s': it is not above zero"),
        (
            ["run", "lsp-flap", "--set", "size=63"],
            "lsp-flap: size=63: an Ethernet frame has at least 64 bytes (64 to 9018)",
        ),
        (
            ["run", "lsp-flap", "--set", "seize=63"],
            "unknown parameter 'seize' (did you mean 'size'?)",
        ),
        (["run", "lsp-mesh"], "lsp-mesh: topology: it is needed: a GraphML file of the Topology Zoo"),
        (
            ["run", "lsp-mesh", "--set", "topology=no.graphml"],
            "no.graphml: cannot be read: no such file",
        ),
        (
            ["run", "lsp-mesh", "--campaign", "--set", "topology=x"],
            "lsp-mesh: there is no published matrix",
        ),
        (
            ["run", "lsp-flap", "--campaign", "--set", "size=100"],
            "lsp-flap: no point of the published matrix has size=100",
        ),
        (["run", "lsp-flap", "--jobs", "0"], "lsp-flap: jobs=0: at least 1 is needed"),
        (["run", "lsp-flap", "--threads", "0"], "--threads=0: a whole number from 1 on is needed"),
        (["run", "lsp-flap", "--threads", "9999"], "--threads=9999: there are "),
        (["run", "lsp-flap", "--out", "/proc/nothing/run"], "/proc/nothing/run: cannot be written"),
        (["show", "nowhere"], "nowhere: no such results folder"),
        (["shove"], "No such command 'shove'"),
        (["run", "lsp-flap", "--seed", "x"], "Invalid value for '--seed'"),
        (
            ["run", "lsp-flap", *FEW, "--set", "n=10,20", "--scheduler", "tcp://127.0.0.1:1"],
            "--scheduler needs Dask, which is not installed",
        ),
    ],
)
def test_mistakes_give_one_sentence_and_exit_code_2(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("twinplane: ") and sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.rglob("*")), "what is refused leaves no folder behind"


def test_a_mistake_in_a_process_of_its_own() -> None:
    done = warm.cold("-m", "twinplane", "run", "lsp-flip")
    said = "twinplane: unknown experiment 'lsp-flip' (did you mean 'lsp-flap'?)\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_disconnected_topology(tmp_path: Path) -> None:
    file = tmp_path / "apart.graphml"
    file.write_text('<graphml><graph><node id="0"/><node id="1"/></graph></graphml>')
    done = command("run", "lsp-mesh", "--set", f"topology={file}", cwd=tmp_path)
    assert done.returncode == 2 and "the topology is disconnected" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, jobs: str) -> None:
    out = tmp_path / "run"
    words = ["run", "lsp-flap", *FEW, "--set", "n=10:16:1", "--out", str(out)]
    words += ["--set", "size=64", "--set", "rate_mbps=500", "--jobs", jobs]
    finished = interrupted(out, words)
    assert 0 < len(finished) < 7
    good(*words)
    assert len(json.loads((out / "summary.json").read_text())["points"]) == 7
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items())


def interrupted(out: Path, words: list[str]) -> dict[Path, int]:
    """Ctrl-C after the first finished run; the runs that are kept, and when each was written."""
    with children.twinplane(
        *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(out.glob("points/[0-9a-f]*.json")):
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGINT)
        _, stderr = child.communicate(timeout=60)
    assert child.returncode == 130, stderr
    assert "interrupted" in stderr and "Traceback" not in stderr
    assert not (out / "manifest.json").exists()
    return {path: path.stat().st_mtime_ns for path in out.glob("points/[0-9a-f]*.json")}


def test_ctrl_c_while_threads_share_a_network_keeps_what_is_finished(tmp_path: Path) -> None:
    """Runs that were finished before are used, and the whole is what one thread gives."""
    if processors.count() < 2:
        pytest.skip("one processor")
    names = [f"r{place}" for place in range(8)]
    pairs = [(name, names[(place + 1) % 8]) for place, name in enumerate(names)]
    links = ", ".join(f"{{endpoints: [{a}, {b}], delay: 5 ms}}" for a, b in pairs)
    flows = ", ".join(
        f"{{from: {a}, to: {names[(names.index(a) + 4) % 8]}, rate: 20 Mbit/s, size: 200}}" for a in names
    )
    file = tmp_path / "ring.yaml"
    file.write_text(
        f"name: ring\nnodes: {{{', '.join(f'{name}: {{kind: router}}' for name in names)}}}\n"
        f"links: [{links}]\nflows: [{flows}]\n"
    )
    words = ["run", str(file), "--repeat", "3", "--jobs", "1", "--duration", "1 s", "--figures", "none"]
    out = tmp_path / "two"
    finished = interrupted(out, [*words, "--threads", "2", "--out", str(out)])
    assert 0 < len(finished) < 3
    assert "threads  2 threads, which exchange frames" in good(*words, "--threads", "2", "--out", str(out))
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items())
    good(*words, "--threads", "1", "--out", str(tmp_path / "one"))
    assert (tmp_path / "one" / "summary.json").read_bytes() == (out / "summary.json").read_bytes()


def test_ctrl_c_in_a_single_run_says_so(tmp_path: Path) -> None:
    words = ["run", "lsp-flap", "--set", "family=3", "--set", "size=64", "--set", "n=300"]
    with children.twinplane(*words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as child:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(tmp_path.glob("runs/*")):
            time.sleep(0.02)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate(timeout=60)
    assert child.returncode == 130, stderr
    assert stderr.splitlines()[-1] == "twinplane: interrupted"
    assert not list(tmp_path.glob("runs/*"))


def test_figures_that_are_asked_for(tmp_path: Path) -> None:
    words = ("run", "lsp-flap", *FEW, "--set", "n=10", "--set", "scenario=single")
    good(*words, "--figures", "none", "--out", str(tmp_path / "none"))
    good(*words, "--out", str(tmp_path / "both"), env={**os.environ, "TWINPLANE_FIGURES": "svg, png"})
    assert not (tmp_path / "none" / "figures").exists()
    kinds = {path.suffix for path in (tmp_path / "both" / "figures").iterdir()}
    assert kinds == {".png", ".svg"} and (tmp_path / "none" / "report.html").exists()
    done = command(*words, "--figures", "gif", "--out", str(tmp_path / "gif"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "twinplane: --figures gif: 'gif' is neither of png, svg; or none\n"
    assert not (tmp_path / "gif").exists()


def test_a_campaign_has_the_whole_matrix(tmp_path: Path) -> None:
    """It is planned; what runs in continuous integration is its part with one family and one size."""
    whole = planned(Request("lsp-flap", campaign=True)).points
    assert len(whole) == len({point.model_dump_json() for point in whole}) == 216
    part = () if campaign.scaled(1) > 1 else ("--set", "family=3", "--set", "size=64")
    words = (*BRIEF, *part, "--figures", "svg", "--out", str(tmp_path), "--json")
    points = json.loads(good("run", "lsp-flap", "--campaign", *words))["points"]
    assert len(points) == (18 if part else 216)
    assert {point["parameters"]["scenario"] for point in points} == {"ring", "single"}
    assert (tmp_path / "figures" / "k-ring-family-3.svg").exists()
    assert (tmp_path / "figures" / "delay-single-line-rate.svg").exists()
    assert not list(tmp_path.glob("figures/*.png"))
    # A shorter procedure is not the published one.
    assert "Published, predicted and measured" not in (tmp_path / "report.html").read_text()
