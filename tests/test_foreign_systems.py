"""Runs around a system under test that stays: points do not disturb each other, and signalling lives on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import campaign
from support.outside import BRIEF, System, command, metrics

pytestmark = pytest.mark.live
needs_root = pytest.mark.needs("root", "ip")
COUNTS = ("k", "k_up", "p", "failed", "lost_prior", "lost_during", "duplicated", "reordered", "misdelivered")
POINTS = (2, 3, 4, 5, 6)
SLOW = ("--set", "rate_mbps=2", "--no-twin")


@needs_root
def test_points_of_one_run_equal_runs_on_fresh_routers(tmp_path: Path) -> None:
    kept = tmp_path / "ports.json"
    assert command("calibrate", "--size", "512", "--link-gbps", "0.02", "--out", str(kept)).returncode == 0
    known = (*BRIEF, *SLOW, "--calibration", str(kept), "--sut-hops", "2", "--figures", "none")
    with System() as words:
        every = ",".join(str(n) for n in POINTS)
        done = command(
            "run", "lsp-flap", *known, *words, "--set", f"n={every}", "--out", str(tmp_path / "one")
        )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "packets checked" in done.stdout
    together = metrics(tmp_path / "one")
    assert [m["standing"] for m in together] == [m["leftovers"] for m in together] == [0] * 5
    for n, m in zip(POINTS, together, strict=True):
        assert (m["k"], m["p"], m["ttl_wrong"], m["damaged"]) == (n, 2 * n, 0, 0)
    # The first has nothing before it, the last has most; long campaigns look at those between them, too.
    chosen = list(zip(POINTS, together, strict=True))[:: 4 if campaign.scaled(1) == 1 else 1]
    for n, m in chosen:
        with System() as words:
            out = tmp_path / f"fresh-{n}"
            done = command("run", "lsp-flap", *known, *words, "--set", f"n={n}", "--out", str(out))
        assert done.returncode == 0, done.stderr
        (fresh,) = metrics(out)
        assert {key: m[key] for key in COUNTS} == {key: fresh[key] for key in COUNTS}


@needs_root
def test_a_rate_is_found_while_hellos_go_on(tmp_path: Path) -> None:
    kept, out = tmp_path / "ports.json", tmp_path / "auto"
    assert command("calibrate", "--size", "512", "--link-gbps", "0.02", "--out", str(kept)).returncode == 0
    auto = ("--rate", "auto", "--no-twin", "--calibration", str(kept), "--set", "n=4", "--out", str(out))
    # A neighbour that began anew would be noticed by the next Hello, and its LSPs be lost.
    with System(hello_interval="500 ms") as words:
        done = command("run", "lsp-flap", *BRIEF, *words, *auto)
    assert done.returncode == 0, done.stderr
    (found,) = metrics(out)
    assert (found["k"], found["k_up"], found["failed"], found["up_before"]) == (4, 4, 0, 8)
    assert (found["lost_prior"], found["lost_during"], found["standing"]) == (0, 0, 0)
    assert found["received"] == found["sent"] > 1000
