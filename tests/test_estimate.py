"""Estimates: a run is foretold from its beginning, and is the same with and without. None asserts on time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from hypothesis import given
from hypothesis import strategies as st
from support import warm
from twinplane.experiments.estimating import estimate
from twinplane.experiments.plan import planned
from twinplane.experiments.request import Request
from twinplane.experiments.session import run as run_plan
from twinplane.measure.estimate import Estimate, of_bytes, seconds
from twinplane.measure.growth import Load, Range, binned, exactly, grown, held
from twinplane.network.estimating import estimate as of_network
from twinplane.network.trying import LOOKS, Traffic, Work
from twinplane.reports import of_results

WITHIN = 0.3

FLOWS = """name: own
seed: 4
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}}
links: [[a, b], [b, c], [c, d], [d, a]]
lsps: [{name: gold, from: a, to: c, route: [b, c]}]
flows:
  - {from: a, to: c, over: gold, rate: 4 Mbit/s, size: 500, start: 100 ms}
  - {from: b, to: d, rate: 6 Mbit/s, size: imix, arrivals: poisson, start: 200 ms}
  - {from: d, to: b, rate: 2 Mbit/s, size: 200, arrivals: {kind: on-off, on: 20 ms, off: 30 ms}}
"""


# -- arithmetic -----------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.floats(0, 10), st.floats(0.1, 1e5)),
        min_size=1,
        max_size=20,
    ),
    st.floats(0, 20),
)
def test_what_is_offered_is_the_sum_over_sources(sources: list[tuple[float, ...]], until: float) -> None:
    load = Load([(start, stop, rate) for start, stop, rate in sources])
    whole = sum(rate * max(min(stop, until) - start, 0.0) for start, stop, rate in sources)
    assert load.packets(until) == pytest.approx(whole, rel=1e-6, abs=1e-3)
    marks = sorted({0.0, until, *(at for one in sources for at in one[:2] if at < until)})
    busy = sum(
        b - a for a, b in pairwise(marks) if any(start <= a and b <= stop for start, stop, _ in sources)
    )
    assert load.busy(until) == pytest.approx(busy, abs=1e-9)


def test_a_source_without_an_end_sends_for_ever() -> None:
    load = Load([(1.0, float("inf"), 10.0)])
    assert (load.packets(0.5), load.packets(3.0), load.busy(3.0)) == (0.0, 20.0, 2.0)


def test_traffic_and_silence_are_told_apart() -> None:
    """5 events a packet, 100 a second beside, 1,000 at the start: foretold from half of the traffic."""
    load = Load([(2.0, 12.0, 1_000.0)])

    def events(at: float) -> float:
        return (1_000 if at > 0 else 0) + 100 * at + 5 * load.packets(at)

    looks = [(at / 4, events(at / 4)) for at in range(0, 29)]
    found = grown(looks, 20.0, load.packets)
    assert found.value == pytest.approx(events(20.0), rel=0.01)
    assert found.low <= events(20.0) <= found.high


def test_what_was_never_seen_is_a_guess_and_says_so() -> None:
    load = Load([(5.0, 6.0, 100.0)])
    found = grown([(0.0, 0.0), (1.0, 50.0)], 10.0, load.packets, guess=4.0)
    assert (found.low, found.value, found.high) == (50 + 200, 50 + 400, 50 + 800)
    assert grown([(0.0, 0.0), (10.0, 70.0)], 10.0, load.packets) == exactly(70.0)


def test_a_look_at_the_moment_when_flows_start_is_no_silence() -> None:
    """It has seen their first events, and memory: that does not come again and again."""
    load = Load([(0.5, 100.0, 1_000.0)])
    jump = {at / 8: 0.0 for at in range(4)} | {0.5: 4_000.0}
    then = {at: 4_000.0 + 2 * load.packets(at) for at in (0.6, 0.7, 0.8, 0.9, 1.0)}
    looks = [*jump.items(), *then.items()]
    found = grown(looks, 50.0, load.packets)
    assert found.value == pytest.approx(4_000 + 2 * load.packets(50.0), rel=1e-6)
    assert found.high < found.value * 1.06
    # A trial that ends there knows nothing of the packets yet.
    assert grown(looks[:5], 50.0, load.packets, guess=1.0).value == 4_000 + load.packets(50.0)


def test_less_with_traffic_than_without_is_no_loss() -> None:
    """What came without anything offered, and no longer does, is not foretold for the rest of the run."""
    load = Load([(1.0, 100.0, 10.0)])
    looks = [(at / 4, min(at, 4) * 1e6) for at in range(9)]
    assert grown(looks, 100.0, load.packets).value == pytest.approx(4e6)


@pytest.mark.parametrize("trial_s", [0.1, 0.5, 2.0])
def test_packets_that_are_still_on_their_way_are_foretold(trial_s: float) -> None:
    """Nine links of 100 ms each, of which the trial has seen one, five or all."""
    load = Load([(0.0, float("inf"), 100.0)])
    events = load.behind(binned([(hop / 10, 1.0) for hop in range(10)]))
    assert events(0.25) == pytest.approx(25 + 15 + 5)
    looks = [(trial_s * part / 10, 3 * events(trial_s * part / 10)) for part in range(11)]
    found = grown(looks, 5.0, events)
    assert found.low <= 3 * events(5.0) <= found.high
    assert found.value == pytest.approx(3 * events(5.0), rel=1e-6)


def test_delays_are_told_apart_in_a_few_steps() -> None:
    found = binned([(at / 1_000, 0.001) for at in range(1_000)])
    assert len(found) < 100 and found[0] == (0.0, 0.001)
    assert sum(each for _, each in found) == pytest.approx(1.0)
    assert sum(at * each for at, each in found) == pytest.approx(0.4995)


@pytest.mark.parametrize("kept", [0.0, 50.0])
def test_memory_of_packets_under_way_is_told_from_what_is_kept(kept: float) -> None:
    """300 bytes of each until it arrives, half a second later, and some for good."""
    load = Load([(0.0, float("inf"), 1_000.0)])
    arrived = load.behind([(0.5, 1.0)])

    def memory(at: float) -> float:
        return 1e6 + 300 * (load.packets(at) - arrived(at)) + kept * load.packets(at)

    long, short = ([(at / 50, memory(at / 50)) for at in range(count)] for count in (60, 20))
    whole = memory(20.0)
    assert held(long, 20.0, load.packets, arrived).value == pytest.approx(whole, rel=0.02)
    found = held(short, 20.0, load.packets, arrived)
    assert found.low * 0.999 <= whole <= found.high, "of a trial in which no packet has arrived"
    assert kept or found.value == pytest.approx(whole, rel=0.02)


class Running:
    """As much of a network as the bar of progress asks for."""

    def __init__(self) -> None:
        self.now, self.load, self.asked = 0.0, Load([(1.0, float("inf"), 1_000.0)]), 0

    @property
    def events_done(self) -> int:
        return int(2_000 + 3 * self.load.packets(self.now))

    def events(self, at_s: float) -> float:
        self.asked += 1
        return self.load.packets(at_s)


def test_progress_costs_as_much_at_the_end_as_at_the_beginning() -> None:
    """A bounded number of looks, spread over the run; and the share is that of the events."""
    running = Running()
    work = Work(running, 10_000.0)  # type: ignore[arg-type]
    work.traffic = running  # type: ignore[assignment]
    asked = []
    for at in range(1, 1_001):
        before, running.now = running.asked, at * 10.0
        share = work.share()
        asked.append(running.asked - before)
        assert share == pytest.approx(running.now / 10_000, abs=0.01)
    assert len(work.looks) <= LOOKS
    assert max(b - a for (a, _), (b, _) in pairwise(work.looks)) < 4 * 10_000 / LOOKS
    assert max(asked) < 6 * LOOKS
    assert share == 1.0


def test_words() -> None:
    assert [seconds(one) for one in (0.0123, 3.21, 42.4, 130, 8_000)] == [
        "12 ms",
        "3.2 s",
        "42 s",
        "2.2 min",
        "2.2 h",
    ]
    assert [of_bytes(one) for one in (7, 1_500, 4.2e6, 31e6, 2e9)] == [
        "7 B",
        "1.5 kB",
        "4.2 MB",
        "31 MB",
        "2.0 GB",
    ]
    one = exactly(2.0)
    found = Estimate(Range(1.0, 2.0, 3.0), one, exactly(1e8), exactly(5e3), one, 0.25, 1.0)
    assert str(found) == (
        "about 2 s (1 s to 3 s), 100 MB of memory, 5.0 kB of results (a trial of 1 s saw 25.0% of the events)"
    )


# -- networks -------------------------------------------------------------------------------------------


def written(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(FLOWS)
    return path


def test_the_load_of_a_network_is_what_it_sends(tmp_path: Path) -> None:
    net = tp.Network.from_file(written(tmp_path))
    load = Traffic(net).load
    net.run(until="5 s")
    sent = sum(flow.stats()["sent"].sum() for flow in net.flows)
    assert load.packets(5.0) == pytest.approx(sent, rel=0.1)


def test_demands_are_load_too() -> None:
    net = tp.Network(seed=2)
    net.link(net.router("a"), net.router("b"))
    net.demands(
        {("a", "b"): "8 Mbit/s"}, classes={"gold": {"share": 0.25, "size": 250}, "rest": {"size": 1000}}
    )
    load = Traffic(net).load
    net.run(until="2 s")
    assert load.packets(2.0) == pytest.approx(net.draft.demands.stats()["sent"].sum(), rel=0.1)  # type: ignore[union-attr]


def test_a_run_is_the_same_with_and_without_an_estimate(tmp_path: Path) -> None:
    """Digest, tables and warnings; and the events are foretold."""
    plain, asked = (tp.Network.from_file(written(tmp_path)) for _ in range(2))
    found = of_network(asked, "4 s", events=10_000)
    for net in (plain, asked):
        net.run(until="4 s")
    assert asked.digest() == plain.digest()
    for table in ("streams", "flow_accounts", "events"):
        assert asked.table(table).equals(plain.table(table))
    assert found.reached < 0.6
    assert found.events.value == pytest.approx(plain.events_done, rel=WITHIN)
    cells = sum(len(plain.table(name)) for name in ("streams", "events", "delays"))
    assert cells > 0 and found.results.value > 0
    assert found.memory.low <= found.memory.value <= found.memory.high
    assert json.loads(json.dumps(found.as_dict()))["reached"] == found.reached


def test_ways_that_take_longer_than_the_trial_are_foretold() -> None:
    """Links of 30 ms, and a trial that ends before most packets have come to the second one."""

    def made() -> tp.Network:
        net = tp.Network(seed=1)
        routers = [net.router(f"r{place}") for place in range(12)]
        for place, router in enumerate(routers):
            net.link(router, routers[place - 1], delay="30 ms")
        for place in range(24):
            net.flow(routers[place % 12], routers[(place + 1 + place % 5) % 12], rate="1 Mbit/s", size=128)
        return net

    found = of_network(made(), "500 ms", events=4_000)
    net = made()
    net.run(until="500 ms")
    assert found.reached < 0.2
    assert found.events.value == pytest.approx(net.events_done, rel=WITHIN)
    assert found.events.low <= net.events_done <= found.events.high


def test_the_memory_of_a_network_whose_flows_start_late_is_foretold(tmp_path: Path) -> None:
    """What they take when they start is not foretold again for each millisecond before."""
    code = """
import json, twinplane as tp
from twinplane.network.estimating import estimate
from twinplane.network.trying import resident
net = tp.Network(seed=1)
routers = [net.router(f"r{place}") for place in range(100)]
for place, router in enumerate(routers):
    net.link(router, routers[place - 1], delay="100 us")
for place in range(400):
    net.flow(routers[place % 100], routers[(place + 9) % 100], name=f"f{place}", rate="1 Mbit/s", size=128,
             start="1 ms")
found = estimate(net, "600 ms", events=40_000)
net.run(until="600 ms")
print(json.dumps([found.memory.value, resident("VmHWM"), found.reached]))
"""
    said, most, reached = json.loads(run_python(code, tmp_path))
    assert reached < 0.1
    assert said == pytest.approx(most, rel=WITHIN)


def test_memory_is_foretold(tmp_path: Path) -> None:
    """A log of every packet grows: what the process has in the end is within 30 % of what was said."""
    code = """
import json, twinplane as tp
from twinplane.network.estimating import estimate
from twinplane.network.trying import resident
net = tp.Network(seed=1)
a, b = net.router("a"), net.router("b")
net.link(a, b)
net.flow(a, b, rate="200 Mbit/s", size=100, log=True)
found = estimate(net, "4 s", events=150_000)
net.run(until="4 s")
print(json.dumps([found.memory.value, resident("VmHWM"), found.reached]))
"""
    said, most, reached = json.loads(run_python(code, tmp_path))
    assert reached < 0.5
    assert said == pytest.approx(most, rel=WITHIN)


def run_python(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_cannot_be_estimated_is_refused_in_one_sentence(tmp_path: Path) -> None:
    net = tp.Network.from_file(written(tmp_path))
    with pytest.raises(tp.TwinplaneError, match="until"):
        net.estimate("soon")
    net.run(until="1 ms")
    with pytest.raises(tp.TwinplaneError, match="before the network first runs"):
        net.estimate("1 s")
    with pytest.raises(tp.TwinplaneError, match="has no nodes"):
        tp.Network().estimate("1 s")
    with pytest.raises(tp.TwinplaneError, match="real time"):
        tp.Network(clock="wall").estimate("1 s")


# -- experiments ----------------------------------------------------------------------------------------


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


RUNS: dict[str, tuple[dict[str, Any], int]] = {
    "own": ({"settings": ("duration_s=6",)}, 25_000),
    "diffserv": ({"settings": ("duration_s=20",)}, 20_000),
    "lsp-flap": ({"settings": ("n=40", "m=20", "rate_mbps=20", "grace_s=5")}, 150_000),
    "points": ({"settings": ("duration_s=3,5", "drain_s=0.5"), "repeat": 2}, 15_000),
    "protection": ({"settings": ("failures=3", "packets_per_s=400")}, 20_000),
    "tag-switching": ({"settings": ("part=udp", "duration_s=8", "tags=with")}, 5_000),
    "multicast": ({"settings": ("forwarding=ip", "receivers=1", "duration_s=0.4")}, 10_000),
    "openflow": ({"settings": ("part=packet-out", "quick=true")}, 5_000),
}


@pytest.mark.parametrize("case", RUNS)
def test_events_and_results_of_experiments_are_foretold(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 30 %, from the first part of the run; and the run leaves the same as without an estimate."""
    monkeypatch.chdir(tmp_path)
    said, events = RUNS[case]
    own = case in ("own", "points")
    file = {"file": Path(os.path.relpath(written(tmp_path)))} if own else {}
    request = Request("network" if own else case, jobs=1, out=Path("out"), **said, **file)
    plan = planned(request)
    found = estimate(plan, of_results, events=events)
    assert not Path("out").exists()
    counted = events_of_runs(type(plan.experiment), monkeypatch)
    results = run_plan(plan)
    page = of_results(results)
    assert page.exists()
    done = [point.metrics for point in results.points]
    assert done
    assert found.results.value == pytest.approx(size_of(Path("out")), rel=WITHIN)
    assert found.reached < 0.9
    assert len(counted) >= len(done)
    assert found.events.value == pytest.approx(sum(counted), rel=WITHIN)


def events_of_runs(experiment: type[Any], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The events of each run from now on."""
    counted: list[int] = []
    run = experiment.run

    def watched(self: Any, network: tp.Network, *given: Any) -> None:
        run(self, network, *given)
        counted.append(network.events_done)

    monkeypatch.setattr(experiment, "run", watched)
    return counted


def test_the_command_line_says_it_before_it_runs(tmp_path: Path) -> None:
    """A line of words, or JSON; results are the same with and without; in real time it is refused."""
    written(tmp_path)
    words = ["run", "own.yaml", "--duration", "1 s"]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return warm.twinplane(*words, *more, cwd=tmp_path)

    plain, asked = run("--out", "plain"), run("--out", "asked", "--estimate")
    assert (plain.returncode, asked.returncode) == (0, 0), asked.stderr
    said = asked.stdout.splitlines()[1]
    assert (
        said.startswith("estimate about ") and " of memory, " in said and " of results (a trial of " in said
    )
    assert "estimate" not in plain.stdout
    for name in (
        "summary.json",
        *(f"tables/{one.name}" for one in (tmp_path / "plain" / "tables").iterdir()),
    ):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "asked" / name).read_bytes(), name
    found = json.loads(run("--out", "json", "--estimate", "--json").stdout)["estimate"]
    assert found["memory"]["low"] < found["memory"]["value"] < found["memory"]["high"]
    refused = run("--clock", "wall", "--estimate")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "real time" in refused.stderr
    assert not (tmp_path / "runs").exists()


def test_an_experiment_that_tries_many_cases_is_refused(tmp_path: Path) -> None:
    plan = planned(Request("convergence", out=tmp_path / "out"))
    with pytest.raises(tp.TwinplaneError, match="--estimate: convergence tries many cases"):
        estimate(plan, of_results)
