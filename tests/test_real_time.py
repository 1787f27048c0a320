"""Runs by the clock on the wall: short ones in one process; with root calibration, labs, external systems."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.outside import command, leftovers
from twinplane import Network
from twinplane.lab import of_network

pytestmark = pytest.mark.live

ENDS = ((1, "in"), (2, "e"))
needs_root = pytest.mark.needs("root", "ip")

BRIEF = [
    *("--set", "setup_rate=500", "--set", "settle_s=0.5", "--set", "signalling_rate=500"),
    *("--set", "first_event_s=0.6", "--set", "first_period_s=0.8", "--set", "second_period_s=0.6"),
    *("--set", "grace_s=0.3", "--set", "profile=ideal", "--set", "m=4", "--set", "n=6"),
    *("--set", "scenario=single", "--set", "size=512"),
]
"""About three seconds."""
SLOW = ["--set", "rate_mbps=2"]


def run(*words: str) -> dict[str, Any]:
    done = command("run", "lsp-flap", *BRIEF, *words, "--figures", "none", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def verdict(found: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(found["metrics"][key] for key in ("k", "k_up", "p", "failed", "lost_prior", "lost_during"))


GOOD = (6, 6, 12, 0, 0, 0)


def test_one_process_by_the_clock(tmp_path: Path) -> None:
    begin = time.monotonic()
    found = run("--clock", "wall", *SLOW, "--set", "access_delay_us=5000", "--out", str(tmp_path / "wall"))
    assert time.monotonic() - begin > 3.0
    assert verdict(found) == GOOD
    assert found["twin"]["residuals"]["k"]["residual"] == 0
    assert found["twin"]["residuals"]["k"]["within"] is None  # by construction
    assert found["calibration"]["bench"]["kind"] == "process"
    delays = {"delay_prior_s", "delay_during_s"}
    assert all(key in found["refused"] or found["bounds"][key] > 0 for key in delays)
    manifest = json.loads((tmp_path / "wall" / "manifest.json").read_text())
    assert manifest["clock"] == "wall" and manifest["command"].endswith("--clock wall")
    page = (tmp_path / "wall" / "report.html").read_text()
    assert "Calibration" in page and "Residual against the virtual run" in page and "real time" in page
    shown = command("show", str(tmp_path / "wall")).stdout
    assert "real time, one process" in shown and "±" in shown

    # Laid beside a run in virtual time, the messages of every session are in the same order.
    virtual = ("run", "lsp-flap", *BRIEF, *SLOW, "--set", "access_delay_us=5000", "--signals")
    assert command(*virtual, "--out", str(tmp_path / "virtual")).returncode == 0
    both = (
        "compare",
        str(tmp_path / "virtual"),
        str(tmp_path / "wall"),
        "--html",
        str(tmp_path / "both.html"),
    )
    compared = json.loads(command(*both, "--json").stdout)
    assert len(compared["signals"]) == 4 and all(one["equal"] for one in compared["signals"])
    assert "Signalling messages" in (tmp_path / "both.html").read_text()


def test_a_delay_below_the_floor_is_refused(tmp_path: Path) -> None:
    found = run("--clock", "wall", *SLOW, "--no-twin", "--out", str(tmp_path))
    for key, reason in found["refused"].items():
        assert found["metrics"][key] is None and reason.startswith("below floor (")
    assert "delay_min_s" in {**found["refused"], **found["bounds"]}


def test_wrong_combinations_are_refused_at_once(tmp_path: Path) -> None:
    for words, sentence in (
        (["--lab", "--sut", "external"], "--lab and --sut external"),
        (["--sut", "external"], "--ingress-port is needed"),
        (["--clock", "wall", "--jobs", "2"], "in real time one run at a time"),
        (["--set", "rate_mbps=auto"], "only a run in real time finds its rate"),
        (["--clock", "wall", "--rate", "auto", *SLOW], "--rate auto and rate_mbps=2: one of them"),
    ):
        done = command("run", "lsp-flap", *BRIEF, *words, cwd=tmp_path)
        assert done.returncode == 2 and sentence in done.stderr, (words, done.stderr)
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


@needs_root
def test_missing_interfaces_and_namespaces_are_named(tmp_path: Path) -> None:
    for ports, sentence in (
        (["--ingress-port", "tpt-none", "--egress-port", "lo"], "interface 'tpt-none': no such device"),
        (
            ["--ingress-port", "lo", "--egress-port", "lo", "--ingress-netns", "tpt-none"],
            "namespace 'tpt-none'",
        ),
    ):
        done = command("run", "lsp-flap", *BRIEF, "--sut", "external", *ports, cwd=tmp_path)
        assert done.returncode == 2 and sentence in done.stderr
    assert not (tmp_path / "runs").exists()


@needs_root
def test_calibrate_makes_a_pair_and_removes_it(tmp_path: Path) -> None:
    before = leftovers()
    kept = tmp_path / "ports.json"
    done = command("calibrate", "--size", "256", "--link-gbps", "0.02", "--out", str(kept), "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert found["floor"]["lost"] == 0 and 0 < found["floor_s"] < 1
    assert 0 < found["loss_free"]["rate_bps"] <= 20e6 and sum(found["floor"]["histogram"]["count"]) > 0
    assert leftovers() == before
    wrong = command("run", "lsp-flap", *BRIEF, "--lab", "--calibration", str(kept))
    assert wrong.returncode == 2 and "calibrated for 256 B, not for 512 B" in wrong.stderr
    assert leftovers() == before


@needs_root
def test_a_lab_of_processes_and_the_same_as_an_external_system(tmp_path: Path) -> None:
    before = leftovers()
    lab = run("--lab", *SLOW, "--out", str(tmp_path / "lab"))
    assert verdict(lab) == GOOD and leftovers() == before
    assert lab["calibration"]["bench"]["kind"] == "ports"
    with external() as words:
        found = run(*words, *SLOW, "--out", str(tmp_path / "external"))
    assert verdict(found) == GOOD and leftovers() == before
    compared = json.loads(
        command("compare", str(tmp_path / "lab"), str(tmp_path / "external"), "--json").stdout
    )
    assert {one["node"] for one in compared["signals"]} == {"ingress", "egress"}
    assert all(one["equal"] for one in compared["signals"])


@needs_root
def test_a_port_that_goes_away_ends_the_run(tmp_path: Path) -> None:
    with external() as words:
        name = words[words.index("--egress-netns") + 1]
        port = words[words.index("--egress-port") + 1]
        cut = threading.Timer(
            14.0, lambda: subprocess.run(["ip", "-n", name, "link", "delete", port], check=False)
        )
        cut.start()
        long = [word.replace("second_period_s=0.6", "second_period_s=60") for word in BRIEF]
        done = command("run", "lsp-flap", *long, *SLOW, *words, "--out", str(tmp_path))
        cut.cancel()
    assert done.returncode == 2 and port in done.stderr, done.stderr


@needs_root
def test_a_lab_by_af_xdp(tmp_path: Path) -> None:
    found = run("--lab", "--driver", "xdp", *SLOW, "--out", str(tmp_path / "xdp"))
    assert found["metrics"]["failed"] == 0 and found["metrics"]["received"] > 0
    done = command("calibrate", "--driver", "xdp", "--size", "4000")
    assert done.returncode == 2 and "AF_XDP takes frames of 3516 bytes at most" in done.stderr


@needs_root
def test_a_neighbor_that_never_answers(tmp_path: Path) -> None:
    system = external()
    with system as words:
        system.lab.kill("r1")
        done = command("run", "lsp-flap", *words, *SLOW, "--out", str(tmp_path / "none"), cwd=tmp_path)
    assert done.returncode == 2 and "nobody has answered ARP at the tester's ingress port" in done.stderr
    assert not (tmp_path / "none").exists() and not (tmp_path / "runs").exists()


class external:
    """Two routers in processes of their own, and the options that test them as somebody else's."""

    def __enter__(self) -> list[str]:
        network = Network(1)
        ingress, egress = (network.edge(f"{side}gress", router_id=f"10.254.{n}.1") for n, side in ENDS)
        first, second = network.router("r1"), network.router("r2")
        network.link(ingress, first, delay=0, addresses=("10.254.1.1/30", "10.254.1.2/30"))
        network.link(first, second, delay=0)
        network.link(egress, second, delay=0, addresses=("10.254.2.1/30", "10.254.2.2/30"))
        self.lab = of_network(network, f"ext-{os.getpid()}").up()
        words = ["--sut", "external"]
        for _, side in ENDS:
            (end,) = self.lab.plan.members[f"{side}gress"].interfaces
            words += [
                f"--{side}gress-port",
                end.name,
                f"--{side}gress-netns",
                f"tp-{self.lab.name}-{side}gress",
            ]
        return words

    def __exit__(self, *_: object) -> None:
        self.lab.down()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = leftovers()
    yield
    assert leftovers() == before
