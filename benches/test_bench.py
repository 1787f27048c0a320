"""The driver's judgement and its handling of programs that misbehave.

python -m pytest benches
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import anchorlib
import htsim_networks
import live_bed
import live_paced
import live_pacing
import live_shaping
import live_source
import networks
import probes
import pytest
import rows
import run


def program(text: str, limit_s: float = 20.0, kind: probes.Kind = probes.Kind.JSON) -> probes.Probe:
    return probes.Probe("p", "g", (sys.executable, "-c", text), limit_s, kind=kind)


def reason(outcome: probes.Sample | probes.Unavailable) -> str:
    assert isinstance(outcome, probes.Unavailable)
    return outcome.reason


def test_numbers_of_the_last_line() -> None:
    text = 'print(\'warming up\'); print(\'{"mpps": 3, "name": "x", "ok": true, "bad": NaN}\')'
    assert probes.measure(program(text)) == {"mpps": 3.0}


@pytest.mark.parametrize("text", ["", "print('done')", "print('[1]')"])
def test_output_without_an_object_is_no_figure(text: str) -> None:
    assert "not a JSON object" in reason(probes.measure(program(text)))


def test_failure_gives_its_first_error_line() -> None:
    text = "import sys; sys.exit('building\\nerror: no example target\\nmore')"
    assert reason(probes.measure(program(text))) == "error: no example target"


def test_packages_of_every_anchor_are_installed() -> None:
    """By its own script, which has the options, also where another one runs it; once for all its rows."""
    commands = {probe.install for probe in probes.PROBES if probe.install}
    scripts = [Path(command[1]) for command in commands]
    assert all(script.is_file() and script.parent == probes.ANCHORS for script in scripts)
    names = {script.name for script in scripts}
    assert {"ns3.py", "ns3_networks.py", "htsim_networks.py", "live_tcp.py"} <= names
    assert all(command[-2:] == ("--install", "--check") for command in commands)
    networks_alone = [probe.install for probe in probes.PROBES if probe.group == "networks"]
    assert len(set(networks_alone)) == 3, "htsim, ns-3, and nothing for our own programs"


def test_absent_program() -> None:
    outcome = probes.measure(probes.Probe("p", "g", ("/nonexistent/program",), 1.0))
    assert isinstance(outcome, probes.Unavailable)
    assert outcome.missing


def test_a_program_out_of_time_may_tidy_up_and_is_ended(tmp_path: Path) -> None:
    tidied, pid = tmp_path / "tidied", tmp_path / "pid"
    text = (
        f"import os, pathlib, time\npathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\n"
        f"try:\n    time.sleep(60)\nfinally:\n    pathlib.Path({str(tidied)!r}).touch()\n"
    )
    assert "no result within" in reason(probes.measure(program(text, limit_s=1.0)))
    assert tidied.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_first_output_of_a_silent_program() -> None:
    outcome = probes.measure(program("pass", kind=probes.Kind.FIRST_OUTPUT))
    assert isinstance(outcome, probes.Unavailable)


def test_ratio_is_taken_within_a_round() -> None:
    row = rows.Row("r", "u", rows.Figure("a", "x"), rows.Figure("b", "x", "B"), floor=2, goal=4)
    samples = {"a": [{"x": 10.0}, {"x": 90.0}, {"x": 30.0}], "b": [{"x": 5.0}, {"x": 10.0}, {"x": 10.0}]}
    found = rows.judge(row, samples)
    assert found.ratio is not None
    assert (found.ratio.low, found.ratio.median, found.ratio.high) == (2.0, 3.0, 9.0)
    assert found.verdict == "floor met"


def test_missing_anchor_leaves_our_figure_and_no_ratio() -> None:
    row = rows.Row("r", "u", rows.Figure("a", "x"), rows.Figure("b", "x", "B"), floor=2)
    found = rows.judge(row, {"a": [{"x": 10.0}], "b": [probes.Unavailable("not installed.", missing=True)]})
    assert found.ours is not None
    assert found.ratio is None
    assert (found.verdict, found.reason) == ("not measured", "b: not installed.")


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(200.0, "goal met"), (300.0, "goal met"), (900.0, "floor met"), (2000.0, "BELOW FLOOR")],
)
def test_smaller_is_better(value: float, verdict: str) -> None:
    row = rows.Row("r", "B", rows.Figure("a", "x"), None, 1024, 300, at_most=True)
    assert rows.judge(row, {"a": [{"x": value}]}).verdict == verdict


def test_every_row_names_a_probe() -> None:
    names = {probe.name for probe in probes.PROBES}
    figures = [row.ours for row in rows.ROWS] + [row.anchor for row in rows.ROWS if row.anchor]
    assert figures
    assert {figure.probe for figure in figures} <= names


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4, "0.4"), (13.1, "13.1"), (235764.0, "236 k"), (2.5e6, "2.50 M"), (6.1e7, "61.0 M")],
)
def test_numbers_for_people(value: float, text: str) -> None:
    assert run.human(value) == text


def test_source_frames(tmp_path: Path) -> None:
    anchorlib.write_mpls_pcap(tmp_path / "f.pcap", 3)
    data = (tmp_path / "f.pcap").read_bytes()
    assert len(data) == 24 + 3 * (16 + 60)
    for index in range(3):
        frame = data[24 + index * 76 + 16 :][:60]
        assert frame[12:14] == b"\x88\x47"
        assert struct.unpack(">I", frame[14:18])[0] == (16 + index) << 12 | 1 << 8 | 64
        words = sum(struct.unpack(">10H", frame[18:38]))
        assert (words & 0xFFFF) + (words >> 16) == 0xFFFF


STOPPED_RUN = """
import sys
import probes, run
quick = "print('{\\"lsps_per_s\\": 25000, \\"bytes_per_lsp_hop\\": 200}')"
slow = "import sys, time; print('', file=sys.stderr); time.sleep(60)"
run.PROBES = tuple(
    probes.Probe(name, "rsvp", (sys.executable, "-c", text), 90.0)
    for name, text in (("rsvp", quick), ("rsvp_rr", slow))
)
sys.argv = ["run.py", "--only", "rsvp"]
sys.exit(run.main())
"""


def test_ctrl_c_exits_130_and_keeps_what_was_measured() -> None:
    command = [sys.executable, "-c", STOPPED_RUN]
    child = subprocess.Popen(
        command, cwd=Path(run.__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    assert "rsvp: round 1" in child.stderr.readline()  # the second program is next
    child.send_signal(signal.SIGINT)
    printed, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Stopped" in errors
    assert "25.0 k" in printed
    assert "floor met" in printed


def test_label_frame_is_of_the_least_length_and_valid() -> None:
    frame = live_bed.label_frame(20, "02:00:00:00:00:0a")
    assert len(frame) == 60
    assert frame[:6] == bytes.fromhex("02000000000a")
    assert struct.unpack(">I", frame[14:18])[0] == 20 << 12 | 1 << 8 | 64
    for header in (frame[18:38], live_bed.udp_frame()[14:34]):
        words = sum(struct.unpack(">10H", header))
        assert (words & 0xFFFF) + (words >> 16) == 0xFFFF


def test_source_program_writes_the_whole_frame() -> None:
    frame = live_bed.udp_frame()
    code = live_source.program(frame, interface=7)
    instructions = [struct.unpack("<BBhi", code[at : at + 8]) for at in range(0, len(code), 8)]
    written = {offset: value for op, _, offset, value in instructions if op == 0x62}
    assert b"".join(struct.pack("<i", written[at]) for at in range(0, 60, 4)) == frame
    jump = next(at for at, one in enumerate(instructions) if one[0] == 0x2D)
    assert instructions[jump + 1 + instructions[jump][2]][3] == 7  # to where the interface is set


def capture_file(path: Path, stamps: list[int], magic: int = 0xA1B23C4D) -> Path:
    records = [struct.pack("<IIII", t // 10**9, t % 10**9, 2, 60) + b"ab" for t in stamps]
    path.write_bytes(struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 64, 1) + b"".join(records))
    return path


def test_gap_errors_of_a_capture(tmp_path: Path) -> None:
    # 1 kpps; every hundredth gap is 3 us too long, and the next one as much too short.
    stamps = [i * 1_000_000 + (3000 if i % 100 == 0 else 0) for i in range(2000)]
    taken = live_pacing.arrivals(capture_file(tmp_path / "gaps.pcap", stamps))
    assert taken == stamps
    found = live_pacing.errors(taken, 1000)
    assert (found["p50_us"], found["p99_us"]) == (0.0, 3.0)
    assert abs(found["kpps"] - 1) < 1e-3


def test_a_capture_without_nanoseconds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(anchorlib.FailedError, match="nanoseconds"):
        live_pacing.arrivals(capture_file(tmp_path / "gaps.pcap", [1, 2], magic=0xA1B2C3D4))
    with pytest.raises(anchorlib.FailedError, match="Only 2"):
        live_pacing.errors([1, 2], 1000)


def test_rate_and_gaps_of_a_shaped_flow() -> None:
    # 8 Mbit/s of 1000-byte frames is one each millisecond; a burst at first, later every tenth is 5 us late.
    burst = [(i * 10_000, 1000) for i in range(20)]
    steady = [(1_000_000 + i * 1_000_000 + (5000 if i % 10 == 0 else 0), 1000) for i in range(1001)]
    found = live_shaping.found_of(burst + steady, 8_000_000)
    assert found["error_percent"] < 0.01
    assert abs(found["mbps"] - 8) < 1e-3
    assert (found["gap_p50_us"], found["gap_p99_us"]) == (0.0, 5.0)
    slow = [(i * 1_020_000, 1000) for i in range(1000)]
    assert round(live_shaping.found_of(slow, 8_000_000)["residual_percent"], 2) == -1.96
    with pytest.raises(anchorlib.FailedError, match="Only 5"):
        live_shaping.found_of(burst[:5], 8_000_000)


def test_shapers_are_told_alike() -> None:
    assert live_shaping.bucket(1_000_000) == 2 * live_shaping.SIZE
    assert live_shaping.bucket(1_000_000_000) == 500_000
    for discipline in live_shaping.DISCIPLINES:
        told = " ".join(live_shaping.KERNEL[discipline]).format(rate=10_000_000, bucket=5_000)
        assert "rate 10000000bit" in told
        assert "burst 5000" in told
        described = live_shaping.description("packet", {"x": live_shaping.shaper(discipline, 10_000_000)})
        assert '"rate": 10000000' in str(described).replace("'", '"')


def test_paced_source_sends_no_more_than_is_due() -> None:
    class Counted:
        sent = 0

        def send(self, _frame: bytes) -> None:
            self.sent += 1

    wire = Counted()
    told = live_paced.send(wire, b"x", 1000.0, 0.05)  # type: ignore[arg-type]
    assert 0 < wire.sent <= 51
    assert told > 0


def test_every_live_script_says_what_it_is() -> None:
    scripts = sorted((Path(run.__file__).parent / "anchors").glob("live_*.py"))
    runnable = [path for path in scripts if "def main()" in path.read_text()]
    assert len(runnable) >= 5
    for path in runnable:
        done = subprocess.run([sys.executable, path, "--help"], capture_output=True, check=False, timeout=30)
        assert done.returncode == 0, path


def test_workloads_lead_over_links() -> None:
    for case, hops in (("chain", 900), ("ring-100-200", 10_000), ("ring-1000-2000", 70_000)):
        made = networks.workload(case, hops)
        joined = {frozenset(link[:2]) for link in made.links}
        for period, start, _, _, way in made.flows:
            assert all(frozenset(pair) in joined for pair in pairwise(way))
            assert networks.BEGIN_PS <= start < networks.BEGIN_PS + period
        packets = (made.stop_ps - networks.BEGIN_PS) // made.flows[0][0]
        assert packets * sum(len(flow[4]) - 1 for flow in made.flows) == pytest.approx(hops, rel=0.5)


def test_a_topology_without_its_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(networks.AbsentError, match=r"Kdl\.graphml is not in"):
        networks.workload("kdl", topologies=tmp_path)


def test_ways_over_a_topology_are_shortest(tmp_path: Path) -> None:
    edges = [("1", "2"), ("2", "3"), ("3", "4"), ("4", "1"), ("4", "5"), ("6", "7"), ("5", "5")]
    text = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in edges)
    (tmp_path / "Kdl.graphml").write_text(text, encoding="utf-8")
    made = networks.workload("kdl", 10_000, tmp_path)
    assert (made.nodes, len(made.links), len(made.flows)) == (5, 5, networks.POISSON_FLOWS)
    lengths = {(way[0], way[-1]): len(way) - 1 for *_, way in made.flows}
    assert lengths[0, 2] == lengths[2, 0] == lengths[0, 4] == 2
    assert lengths[1, 4] == 3
    assert sorted(set(lengths)) == sorted((a, b) for a in range(5) for b in range(5) if a != b)


def test_htsim_without_its_source_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TWINPLANE_HTSIM", raising=False)
    with pytest.raises(anchorlib.MissingError, match="--htsim FOLDER"):
        htsim_networks.source_of(None)
