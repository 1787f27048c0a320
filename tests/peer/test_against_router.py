"""Every scenario against a Twinplane router, in three modes; then tshark reads all that the router sent."""

from __future__ import annotations

from dataclasses import replace
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
# A subobject that nobody knows comes back in a PathErr, too (RFC 3209, 4.3.6): tshark calls it malformed.
PASSED_ON = ("data.broken_labelled", "malformed.broken_route_subobjects")

# What is turned on beside what the scenario itself asks for: nothing, refresh reduction, or all there is.
MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "reduced": {"refresh_reduction": True},
    "guarded": {"refresh_reduction": True, "hello_interval_s": 1.0, "key": b"0123456789abcdef"},
}
# Scenarios that make no sense in a mode.
SUMMARISED = {
    "reliable.plain_neighbour": "both sides are capable of refresh reduction",
    "setup.router_refreshes": "summaries take the place of refreshes",
}
SENSELESS: dict[str, dict[str, str]] = {
    "plain": {},
    "reduced": SUMMARISED,
    "guarded": {**SUMMARISED, "malformed.no_checksum": "its Path is not signed, and rightly dropped"},
}
CASES = [(name, mode) for mode in MODES for name in sorted(SCENARIOS) if name not in SENSELESS[mode]]

sent: list[referee.Frame] = []


def test_exceptions_exist() -> None:
    """Who is excepted is a scenario."""
    assert {name for names in SENSELESS.values() for name in names} <= set(SCENARIOS)


@pytest.mark.parametrize(("name", "mode"), CASES, ids=[f"{name}-{mode}" for name, mode in CASES])
def test_scenario(name: str, mode: str) -> None:
    """The router completes, refuses or survives the exchange, and keeps nothing of it."""
    scenario = SCENARIOS[name]
    scenario = replace(scenario, options=replace(scenario.options, **MODES[mode]))
    bench = harness.build(tp, scenario.options)
    failures = scenario.run(bench)
    # Once the peers are silent for longer than any lifetime, no state may be left.
    bench.fall_silent()
    failures += [f"left behind: {what}" for what in bench.leftovers()]
    for side, port in (("west", bench.west_port), ("east", bench.east_port)):
        sent.extend(referee.Frame(f"{name} {mode}", side, *frame) for frame in port.received)
    assert failures == [], f"{name}: {scenario.sections}"


def test_leftovers_are_seen() -> None:
    """While an LSP is up, every table and count that must be empty afterwards is not."""
    bench = harness.build(tp, Options())
    bench.set_up(bench.path())
    assert bench.failures == []
    seen = {text.split(":")[0] for text in bench.leftovers()}
    assert seen >= {"lsps", "ilm", "sessions", "labels", "reserved_bps", "timers"}


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, no expert error."""
    frames = [frame for frame in sent if frame.scenario.split()[0] not in PASSED_ON]
    if not frames:
        pytest.skip("no scenario ran before")
    path = tmp_path / "router.pcapng"
    path.write_bytes(referee.pcapng(frames))
    assert referee.complaints(path) == []
    count, protocols, types = referee.overview(path)
    assert count == len(frames)
    if len({frame.scenario for frame in sent}) == len(CASES):
        missing = {*c.Type} - types
        assert not missing, "messages that no scenario provokes any more"
        assert {"mpls", "icmp"} <= protocols
