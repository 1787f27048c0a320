"""`convergence`: both planes after each failure, beside what timers say."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from test_graphml import document, place
from twinplane.experiments import load
from twinplane.experiments.base import Outcome
from twinplane.experiments.convergence.backoff import Spf
from twinplane.experiments.convergence.parameters import TIMERS, ConvergenceParameters
from twinplane.experiments.convergence.timers import Expected
from twinplane.results.points import Point

from tests.lab.support import good, refused

EXPERIMENT = load("convergence")
MS = 10**9


def run(**settings: object) -> tuple[ConvergenceParameters, Outcome]:
    parameters = ConvergenceParameters.model_validate({"routers": 4, **settings})
    EXPERIMENT.check(parameters)
    network = EXPERIMENT.build(parameters, 1)
    EXPERIMENT.run(network, parameters)
    return parameters, EXPERIMENT.summarise(network, parameters)


def rows(outcome: Outcome, table: str) -> list[dict[str, Any]]:
    found = outcome.tables[table]
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def test_the_back_off_of_rfc_8405_is_predicted() -> None:
    spf = Spf.of(TIMERS["default"]["spf"])
    # 5.1: INITIAL_SPF_DELAY; what comes meanwhile is computed with it.
    assert spf.computations([0]) == [50 * MS]
    assert spf.computations([0, 49 * MS]) == [50 * MS]
    # Then SHORT_SPF_DELAY, until TIME_TO_LEARN_INTERVAL is over; then LONG_SPF_DELAY.
    assert spf.computations([0, 60 * MS]) == [50 * MS, 260 * MS]
    assert spf.computations([600 * MS, 0]) == [50 * MS, 5600 * MS]
    # HOLDDOWN_INTERVAL counts from the last change.
    assert spf.computations([0, 10_001 * MS]) == [50 * MS, 10_051 * MS]
    assert spf.computations([0, 9_000 * MS, 11_000 * MS]) == [50 * MS, 14_000 * MS]
    assert spf.computations([]) == []
    assert 5 in Expected(5, 5) and 4 not in Expected(5, 5) and 5 not in Expected(None, None)


def test_the_last_computation_is_bounded_whenever_changes_come() -> None:
    spf = Spf.of(TIMERS["tuned"]["spf"])
    # A later change may be just in time for a computation, and an earlier one not.
    assert spf.last([(0, 40 * MS), (30 * MS, 30 * MS)]) == (30 * MS, 90 * MS)
    assert spf.last([(0, 5 * MS), (2 * MS, 9 * MS)]) == spf.first([(0, 5 * MS), (2 * MS, 9 * MS)])
    # Where nothing is left open the times are exact, in LONG_WAIT and after HOLDDOWN_INTERVAL, too.
    assert spf.last([(0, 1), (20 * MS, 25 * MS), (60 * MS, 61 * MS)]) == (70 * MS, 75 * MS)
    assert spf.last([(0, 1), (300 * MS, 310 * MS)]) == (800 * MS, 810 * MS)
    assert spf.last([(0, 1), (3000 * MS, 3010 * MS)]) == (3010 * MS, 3020 * MS)
    draw = random.Random(8405)
    for _ in range(300):
        lows = [draw.randrange(draw.choice([15, 60, 400, 3000])) for _ in range(draw.choice([1, 2, 2, 3, 5]))]
        heard = [(low * MS, (low + draw.choice([0, 1, 40, 300, 2500])) * MS) for low in lows]
        low, high = spf.last(heard)
        # Each time at random, or at one of its ends.
        for _ in range(20):
            times = [draw.choice([a, b, draw.randint(a, b)]) for a, b in heard]
            assert low <= spf.computations(times)[-1] <= high, (heard, times)


def test_bounds_of_two_changes_are_as_narrow_as_they_can_be() -> None:
    spf = Spf.of(TIMERS["tuned"]["spf"])
    for heard in ([(0, 50), (20, 45)], [(0, 100), (105, 130)], [(0, 20), (15, 260)], [(10, 400), (0, 30)]):
        ends = [
            spf.computations([a * MS, b * MS])[-1] / MS
            for a in range(heard[0][0], heard[0][1] + 1)
            for b in range(heard[1][0], heard[1][1] + 1)
        ]
        low, high = spf.last([(a * MS, b * MS) for a, b in heard])
        # A change that comes with the computation is not in it: so close to the bound times of 1 ms come.
        assert min(ends) - 1 <= low / MS <= min(ends) and high / MS == max(ends), heard


def test_a_ring_converges_as_its_timers_say() -> None:
    parameters, outcome = run()
    assert EXPERIMENT.fault(Point(parameters.model_dump(), outcome.metrics)) is None
    found = rows(outcome, "cases")
    assert [(row["case"], row["kind"]) for row in found][:5] == [
        *((f"r{place}-r{(place + 1) % 4}", "link") for place in range(4)),
        ("r0", "node"),
    ]
    assert {row["verdict"] for row in found} == {"as predicted"}
    for row in found:
        # A ring of four is a chain then: its ends know at once, those between hear from the nearer one
        # after a hop of 1 ms, and each computes 50 ms later.
        assert row["detected_s"] == 0 and 0.051 <= row["control_s"] < 0.0511, row
    # Packets over the link are lost until the router in front of it has computed: that knew at once.
    assert all(0.049 <= row["full_s"] < 0.051 for row in found[:4])
    # Between the neighbours of a router that fails there is another path as good, taken at once.
    assert any(row["full_s"] is not None and row["full_s"] < 0.01 for row in found[4:])
    lost = sum(row["lost"] for row in rows(outcome, "prefixes"))
    assert lost == outcome.metrics["lost"] > 0
    assert all(row["prefix"] in "r0 r1 r2 r3" for row in rows(outcome, "prefixes"))
    # Whoever sends to a router that failed has no way left, and does not count as slow.
    assert {row["back"] for row in rows(outcome, "prefixes")} == {True, None}
    assert [row["cut_off"] for row in found[4:]] == [6] * 4
    # A second run is the same to the last figure.
    assert run()[1].metrics == outcome.metrics


def test_silent_failures_take_the_dead_interval() -> None:
    _, outcome = run(detection="hello", timers="tuned", only="links", cases=2)
    found = rows(outcome, "cases")
    assert len(found) == 2 and {row["verdict"] for row in found} == {"as predicted"}
    for row in found:
        assert 2 <= row["detected_s"] <= 3 and row["detected_s"] < row["full_s"] < 3.1, row
    assert outcome.metrics["full_max_s"] > 2


def test_the_dead_interval_goes_on_beside_slow_bfd() -> None:
    pace = {"bfd_interval_ms": 1000, "bfd_multiplier": 5}
    _, outcome = run(detection="hello", timers="tuned", cases=2, bfd=True, **pace)
    found = rows(outcome, "cases")
    assert len(found) == 2 and {row["verdict"] for row in found} == {"as predicted"}, found
    assert all(2 <= row["detected_s"] <= 3 for row in found), found


@pytest.mark.parametrize(("interval_ms", "multiplier"), [(50, 3), (20, 5)])
def test_bfd_finds_silent_failures_in_its_own_time(interval_ms: int, multiplier: int) -> None:
    pace = {"bfd_interval_ms": interval_ms, "bfd_multiplier": multiplier}
    _, outcome = run(detection="hello", timers="tuned", cases=4, bfd=True, **pace)
    found = rows(outcome, "cases")
    assert len(found) == 4 and {row["verdict"] for row in found} == {"as predicted"}, found
    for row in found:
        low, high = (multiplier - 1) * interval_ms / 1e3, multiplier * interval_ms / 1e3 + 0.001
        # From the last packet that came on, so many intervals; then the first delay of the computation.
        assert low <= row["detected_s"] <= high, row
        assert row["control_s"] < high + 0.08, row
    # Without BFD it is the dead interval that is waited for.
    assert outcome.metrics["full_max_s"] < 0.5


@pytest.mark.parametrize("bfd", [False, True])
def test_flooding_may_take_longer_than_the_first_delay(bfd: bool) -> None:
    # INITIAL_SPF_DELAY is 10 ms, and a link of Abilene has up to 11 ms.
    _, outcome = run(
        routers=5, delay_ms=30, detection="hello", timers="tuned", bfd=bfd, cases=4, packets_per_s=100
    )
    found = rows(outcome, "cases")
    assert {row["verdict"] for row in found} == {"as predicted"}, found
    assert {row["kind"] for row in found} == {"link", "node"}
    # Of a link the first end that tells of it is enough: nothing is left open but when that is.
    wide = 0.05 if bfd else 1.0
    for row in found:
        if row["kind"] == "link":
            assert row["control_high_s"] - row["control_low_s"] == pytest.approx(wide, abs=1e-3), row


def test_flooding_may_take_longer_than_the_time_to_learn() -> None:
    # What the other end tells comes 1 s later and in LONG_WAIT: 5 s more.
    _, outcome = run(routers=3, delay_ms=500, only="links", cases=1)
    (row,) = rows(outcome, "cases")
    assert row["verdict"] == "as predicted" and row["control_s"] == pytest.approx(6, abs=1e-3), row


@pytest.mark.parametrize("detection", ["interface", "hello"])
def test_a_link_beside_another_one_is_given_up_by_each_end(tmp_path: Path, detection: str) -> None:
    nodes = "".join(place(str(number)) for number in range(4))
    ends = [(0, 1), (0, 1), (1, 2), (2, 3), (3, 0)]
    links = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ends)
    file = tmp_path / "double.graphml"
    file.write_text(document(nodes + links))
    slow = {"packets_per_s": 100, "probes": 6}
    _, outcome = run(topology=str(file), timers="tuned", detection=detection, **slow)
    found = rows(outcome, "cases")
    assert len(found) == 9 and {row["verdict"] for row in found} == {"as predicted"}, found


def test_interfaces_may_take_their_time_to_go_down() -> None:
    _, outcome = run(interface_down_ms=30, timers="tuned", only="links", cases=1)
    (row,) = rows(outcome, "cases")
    assert row["detected_s"] == 0.03 and 0.039 <= row["full_s"] < 0.0421, row


def test_packets_go_round_where_a_router_hears_late(tmp_path: Path) -> None:
    # A square with a long link: r0 sends back to r3 what r3 still sends to r0, which hears 20 ms later.
    nodes = "".join(place(str(number)) for number in range(5))
    links = "".join(f'<edge source="{number}" target="{(number + 1) % 5}"/>' for number in range(5))
    file = tmp_path / "ring.graphml"
    file.write_text(document(nodes + links))
    parameters, outcome = run(topology=str(file), timers="tuned", only="links")
    m = outcome.metrics
    assert m["looped"] > 0 and m["looping_cases"] == 5
    by_prefix = sum(row["looped"] for row in rows(outcome, "prefixes"))
    assert by_prefix == m["looped"]
    assert EXPERIMENT.fault(Point(parameters.model_dump(), m)) is None


def test_wrong_input_is_one_sentence(tmp_path: Path) -> None:
    assert "say detection=hello" in refused("run", "convergence", "--set", "bfd=true")
    assert "no.graphml" in refused("run", "convergence", "--set", "topology=no.graphml")
    assert "timers" in refused("run", "convergence", "--set", "timers=fast")


@pytest.mark.parametrize("points", [1, 2])
def test_a_run_prints_its_answer_and_draws_its_page(tmp_path: Path, points: int) -> None:
    timers = "tuned" if points == 1 else "default,tuned"
    settings = ["--set", "routers=3", "--set", f"timers={timers}", "--set", "cases=3"]
    said = good("run", "convergence", *settings, "--out", tmp_path / "run")
    assert f"timers explain all {3 * points} cases" in said, said
    page = (tmp_path / "run" / "report.html").read_text()
    for words in ("Destinations by when their packets arrive again", "Control plane of the slowest cases",
                  "as predicted", "The wider a link is drawn"):  # fmt: skip
        assert words in page, words
