"""`protection`: gaps by three methods agree with detection, whatever the number of LSPs."""

from __future__ import annotations

from typing import Any

import pytest
from twinplane.experiments import load
from twinplane.experiments.protection.build import times
from twinplane.results.points import Point


@pytest.mark.parametrize("settings", [{"lsps": 1}, {"lsps": 30}, {"lsps": 2, "fails": "node"}])
def test_the_gap_is_detection_whatever_the_number_of_lsps(settings: dict[str, object]) -> None:
    experiment = load("protection")
    p = experiment.parameters(failures=2, packets_per_s=1000, **settings)
    network = experiment.build(p, 3)
    experiment.run(network, p)
    found = experiment.summarise(network, p).metrics
    assert (found["missing"], found["diverted"]) == (0, 2)
    # Ten or eleven packets leave in ten milliseconds, by the phase; methods differ by a period at most.
    assert 0.0095 < found["loss_max_s"] < 0.0115
    assert 0.0099 <= found["time_max_s"] < 0.0115
    assert found["timestamp_max_s"] == pytest.approx(found["loss_max_s"] + 0.001, abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"missing": 1}, "1 times a failure did not interrupt a flow"), ({"diverted": 3}, "2 of 5 failures")],
)
def test_a_run_that_measured_something_else_says_so(wrong: dict[str, int], said: str) -> None:
    experiment = load("protection")
    parameters = experiment.parameters(failures=5).model_dump()

    def fault(parameters: dict[str, Any], **metrics: int) -> str | None:
        return experiment.fault(Point(parameters, metrics))

    right = {"missing": 0, "diverted": 5}
    assert fault(parameters, **right) is None
    assert said in (fault(parameters, **{**right, **wrong}) or "")
    assert fault({**parameters, "protected": False}, missing=0, diverted=0) is None


@pytest.mark.parametrize("fails", ["link", "node"])
def test_bfd_finds_every_failure(fails: str) -> None:
    experiment = load("protection")
    p = experiment.parameters(failures=3, packets_per_s=1000, detection="bfd", fails=fails)
    network = experiment.build(p, 3)
    experiment.run(network, p)
    found = experiment.summarise(network, p).metrics
    assert (found["missing"], found["diverted"]) == (0, 3)
    # Three intervals of 10 ms, less what has passed since the last packet.
    assert 0.015 < found["loss_max_s"] < 0.032


def test_failures_come_at_any_phase_and_the_same_with_the_same_seed() -> None:
    p = load("protection").parameters(failures=50)
    assert times(p, 1) == times(p, 1) != times(p, 2)
    assert all(b - a > 8 for a, b in zip(times(p, 1), times(p, 1)[1:], strict=False))
