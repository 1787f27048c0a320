"""The driver's judgement and its handling of programs that misbehave.

python -m pytest benches
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import anchorlib
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
