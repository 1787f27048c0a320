"""`openflow`: the tests of the published study, on our switch and on profiles of those that were measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.experiments import load
from twinplane.experiments.openflow import compared, model
from twinplane.experiments.openflow.parameters import OpenFlowParameters
from twinplane.experiments.openflow.rows import Row, rows
from twinplane.experiments.scores import Kind
from twinplane.profiles import switches
from twinplane.results.points import Point

from tests.lab.support import good, refused

EXPERIMENT = load("openflow")


def run(**settings: Any) -> Point:
    parameters = OpenFlowParameters.model_validate(settings)
    outcomes = {}
    for name, part in EXPERIMENT.parts(parameters).items():
        network = EXPERIMENT.build(part, 1)
        EXPERIMENT.run(network, part)
        outcomes[name] = EXPERIMENT.summarise(network, part)
    joined = EXPERIMENT.joined(parameters, outcomes)
    assert len(joined.tables["openflow_rows"]["row"]) == len(outcomes)
    point = Point(parameters.model_dump(), joined.metrics)
    assert EXPERIMENT.fault(point) is None
    return point


def missed(point: Point) -> list[str]:
    return [row.what for row in compared.comparisons([point]) if not row.holds]


def test_our_switch_takes_no_time_and_loses_nothing() -> None:
    point = run(quick=True)
    assert missed(point) == []
    kinds = {row.kind for row in compared.comparisons([point])}
    assert kinds == {Kind.OURS}, "nothing published is about our switch"
    assert point.metrics["resets"] == 0


def test_a_run_can_be_repeated() -> None:
    settings = {"only": "packet-out-50-100", "sut": "profile:ezappliance"}
    assert run(**settings) == run(**settings)


@pytest.mark.parametrize(("profile", "held", "figures"), [("netfpga-1g", 48, 58), ("ezappliance", 49, 56)])
def test_profiles_hold_most_of_what_is_published(profile: str, held: int, figures: int) -> None:
    point = run(quick=True, sut=f"profile:{profile}")
    found = compared.comparisons([point])
    published = [row for row in found if row.published is not None]
    assert len(published) == figures
    assert sum(row.holds for row in published) >= held
    contradictory = [row for row in published if row.kind == Kind.CONTRADICTORY]
    assert contradictory and all(row.reason for row in contradictory)
    ours = [row for row in found if row.published is None]
    assert ours and all(row.holds for row in ours), "the closed form and the run are of one profile"
    assert all(row.predicted is not None for row in ours)


def test_rows_that_were_kept_back_are_predicted_and_not_published() -> None:
    for device in ("netfpga", "ezappliance"):
        own = rows(OpenFlowParameters(conditions=device))
        held = [row for row in own if row.held]
        assert held and all(row.published is None for row in held)
        assert not [row for row in own if row.part == "flow-mod" and row.published is not None]
        names = [row.name for row in own]
        assert len(names) == len(set(names))


def test_intervals_are_a_thousand_gaps() -> None:
    row = Row("packet-in", 10.0, 1500)
    assert row.interval_s == pytest.approx(1.144_409_18)
    assert row.duration_s("counts") // row.interval_s == 26
    assert Row("packet-out", 100.0, 1500).used_rate == 250.0


def test_a_full_socket_passes_the_same_whatever_the_size() -> None:
    shares = [model.foretold(Row("packet-out", 50.0, size), "ezappliance", 30) for size in (100, 200)]
    assert [round(one.share, 2) for one in shares if one] == [0.39, 0.79]
    assert model.write_s("ezappliance", 1) == pytest.approx(0.009)


def test_every_entry_passes_a_probe_of_its_own() -> None:
    parameters = OpenFlowParameters(sut="profile:netfpga-1g", confirm=True, only="flow-add-50", quick=True)
    network = EXPERIMENT.build(parameters, 1)
    EXPERIMENT.run(network, parameters)
    rounds = network.table("openflow_rounds")
    assert rounds["confirmed"].to_list() == [50] * len(rounds)
    # Written one after the other, so that the barrier is answered when the last is.
    assert rounds["barrier_s"].min() == pytest.approx(0.08, abs=0.001)


def test_a_switch_resets_under_load_and_comes_back() -> None:
    net = tp.Network(seed=1)
    switch = net.switch(
        "s1", "10.1.0.0/24", controller="tcp:10.9.0.2:6633", version="1.0", buffers=0, profile="netfpga-1g"
    )
    tester = net.openflow_tester("t", test="packet-out", rate="1 Gbit/s", size=1500, duration="30 s")
    net.link(switch, tester)
    net.link(switch, tester)
    net.link(switch, tester, addresses=("10.9.0.1/30", "10.9.0.2/30"))
    net.run(until="20 s")
    (row,) = net.table("openflow_tests").iter_rows(named=True)
    assert (row["state"], row["resets"]) == ("reset", 1)
    assert 0 < row["received"] < row["sent"]


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    incomplete = {key: value for key, value in switches.resolve("netfpga-1g").items() if key != "echo"}
    lines = [
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
        for key, value in incomplete.items()
    ]
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines))
    cases = {
        f"profile:{path}": "profile: echo is missing",
        "profile:netfpga": "no such switch profile (did you mean 'netfpga-1g'?)",
        "profile:": "twinplane, ovs, or profile:NAME",
        "other": "twinplane, ovs, or profile:NAME",
    }
    for sut, sentence in cases.items():
        assert sentence in refused("run", "openflow", "--quick", "--sut", sut)
    assert "no row of this test" in refused("run", "openflow", "--set", "only=none")


def test_the_command_writes_a_report(tmp_path: Path) -> None:
    out = tmp_path / "run"
    said = good(
        "run",
        "openflow",
        "--quick",
        "--sut",
        "profile:netfpga-1g",
        "--set",
        "part=control",
        "--out",
        str(out),
    )
    assert "path delay, control" in said
    page = (out / "report.html").read_text()
    assert "26 samples of at least zero" in page
    assert "published" in page
