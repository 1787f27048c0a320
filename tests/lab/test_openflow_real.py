"""`openflow` on an Open vSwitch of its own: the tester of virtual time, beside a real switch."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.needs import need
from twinplane.experiments.openflow import private
from twinplane.results.folder import load

from .support import good


def test_an_open_vswitch_is_measured_and_ended(tmp_path: Path) -> None:
    need("root", *private.PROGRAMS)
    out = tmp_path / "run"
    settings = ("sut=ovs", "real_s=1", "confirm=true", "only=flow-add-50")
    words = [word for setting in settings for word in ("--set", setting)]
    said = good("run", "openflow", *words, "--out", str(out))
    assert "real time" in said
    (point,) = load(out).points
    assert point.metrics["errors"] == point.metrics["resets"] == 0
    rounds = load(out).table("openflow_rounds")
    assert set(rounds["confirmed"].to_list()) == {50}, "each of the entries has passed a probe of its own"
    assert "tp-of-" not in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
