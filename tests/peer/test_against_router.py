"""Every scenario against a Twinplane router, one test each; then tshark reads all that the router sent."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from . import codec as c
from . import harness, referee
from .bench import Options
from .scenarios import SCENARIOS

tp: Any = pytest.importorskip("twinplane")
if not hasattr(getattr(tp, "Network", None), "peer"):
    pytest.skip("this twinplane has no ports for peers", allow_module_level=True)

# Packets whose contents the peer broke on purpose, and which the router is right to send on as they are.
PASSED_ON = ("data.broken_labelled",)

sent: list[referee.Frame] = []


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_scenario(name: str) -> None:
    """The router completes, refuses or survives the exchange, and keeps nothing of it."""
    scenario = SCENARIOS[name]
    bench = harness.build(tp, scenario.options)
    failures = scenario.run(bench)
    # Once the peers are silent for longer than any lifetime, no state may be left.
    bench.fall_silent()
    failures += [f"left behind: {what}" for what in bench.leftovers()]
    for side, port in (("west", bench.west_port), ("east", bench.east_port)):
        sent.extend(referee.Frame(name, side, *frame) for frame in port.received)
    assert failures == [], f"{name}: {scenario.sections}"


def test_leftovers_are_seen() -> None:
    """While an LSP is up, every table and count that must be empty afterwards is not."""
    bench = harness.build(tp, Options())
    bench.set_up(bench.path())
    assert bench.failures == []
    seen = {text.split(":")[0] for text in bench.leftovers()}
    assert seen >= {"lsps", "ilm", "sessions", "labels", "reserved_bps", "timers"}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, no expert error."""
    frames = [frame for frame in sent if frame.scenario not in PASSED_ON]
    if not frames:
        pytest.skip("no scenario ran before")
    path = tmp_path / "router.pcapng"
    path.write_bytes(referee.pcapng(frames))
    assert referee.complaints(path) == []
    assert referee.counted(path, "frame") == len(frames)
    if {frame.scenario for frame in frames} >= set(SCENARIOS) - set(PASSED_ON):
        missing = {*c.Type} - referee.message_types(path)
        assert not missing, "messages that no scenario provokes any more"
        assert referee.counted(path, "mpls") and referee.counted(path, "icmp")
