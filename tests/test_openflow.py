"""`openflow`: the tests of the published study, on our switch and on profiles of those that were measured."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.cli import own
from twinplane.errors import TwinplaneError
from twinplane.experiments import load
from twinplane.experiments.base import Outcome
from twinplane.experiments.openflow import (
    arithmetic,
    bench,
    channel,
    compared,
    marks,
    model,
    ovs,
    profile,
    summary,
)
from twinplane.experiments.openflow import build as building
from twinplane.experiments.openflow.build import LEAD_S
from twinplane.experiments.openflow.parameters import OpenFlowParameters
from twinplane.experiments.openflow.rows import Figures, Row, rows
from twinplane.experiments.scores import Kind
from twinplane.profiles import switches
from twinplane.results.folder import Results
from twinplane.results.points import Point

from tests.lab.support import good, refused

EXPERIMENT = load("openflow")
CARD = switches.resolve("netfpga-1g")
ELSEWHERE = {"sut": "tcp:192.0.2.1", "ingress_port": "a", "egress_port": "b"}
"""A switch of somebody else's."""


def text_of(fields: dict[str, Any]) -> str:
    """A profile as a file; what is known of a fit stands in tables at the end."""
    values = [f"{key} = {json.dumps(value)}" for key, value in fields.items() if not isinstance(value, dict)]
    for key, value in fields.get("fit", {}).items():
        if isinstance(value, dict):
            values += [f"fit.{key}.{name} = {json.dumps(one)}" for name, one in value.items()]
        else:
            values.append(f"fit.{key} = {json.dumps(value)}")
    return "\n".join(values)


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


@pytest.mark.parametrize("version", ["1.0", "1.3"])
def test_beyond_the_study_entries_go_in_time_and_counters_are_not_behind(version: str) -> None:
    point = run(part="flow-expiry", version=version, quick=True)
    assert missed(point) == []
    late = {key: value for key, value in point.metrics.items() if key.endswith("passed_late_s")}
    # A stream finds the entries until then, to an interval.
    (interval_s,) = {row.interval_s for row in rows(OpenFlowParameters(part="flow-expiry"))}
    assert len(late) > 1 and all(-interval_s < value <= 0.001 for value in late.values()), late
    point = run(part="statistics", version=version, quick=True)
    assert missed(point) == []
    behind = [value for key, value in point.metrics.items() if key.endswith("_behind")]
    assert len(behind) > 2 and set(behind) == {0}
    made = EXPERIMENT.tables(Results(Path(), {}, {}, [point]))
    assert ["packets not counted at most" in table.titles for table in made] == [True]


def test_tests_beyond_the_study_are_done_when_they_are_asked_for() -> None:
    every = {row.part for row in rows(OpenFlowParameters())}
    assert not every & {"flow-expiry", "statistics"}
    with pytest.raises(
        TwinplaneError, match="part=statistics: profiles say nothing of what is beyond the study"
    ):
        EXPERIMENT.check(OpenFlowParameters(part="statistics", sut="profile:netfpga-1g"))


def test_a_run_can_be_repeated() -> None:
    settings = {"only": "packet-out-50-100", "sut": "profile:ezappliance"}
    assert run(**settings) == run(**settings)


@pytest.mark.parametrize(("profile", "held", "figures"), [("netfpga-1g", 28, 37), ("ezappliance", 30, 38)])
def test_profiles_hold_most_of_what_is_published(profile: str, held: int, figures: int) -> None:
    point = run(quick=True, sut=f"profile:{profile}")
    found = compared.comparisons([point])
    published = [row for row in found if row.published is not None]
    assert len(published) == figures
    assert sum(row.holds for row in published) >= held
    contradictory = [row for row in published if row.kind == Kind.CONTRADICTORY]
    assert contradictory and all(row.reason for row in contradictory)
    ours = [row for row in found if row.kind == Kind.OURS]
    assert [row.what for row in ours if not row.holds] == [], "a closed form differs from the run"
    # What is said above the table is what stands in it.
    lines = EXPERIMENT.lines([point])
    for verdict, holds in (("held", True), ("missed", False)):
        count = sum(row.holds is holds for row in found)
        assert sum(line.metrics[verdict] for line in lines) == count
    assert not [row.what for row in published if row.unit == "share" and row.published == 1.0]


@pytest.mark.parametrize("device", ["netfpga", "ezappliance"])
def test_what_follows_from_figures_is_named(device: str) -> None:
    own = profile.read("netfpga-1g" if device == "netfpga" else device)
    marks.check(own)
    fitted, never = marks.fitted(own, device), marks.contradictory(device)
    names = set(marks.figures(device))
    assert fitted.keys() <= names and never.keys() <= names
    assert not fitted.keys() & never.keys(), "a figure that contradicts others takes no part in a fit"
    every = {row.name: row for row in rows(OpenFlowParameters(conditions=device))}
    kinds = {
        f"{name}: {what}": marks.kind(own, row, f"{name}: {what}")[0]
        for name, row in every.items()
        if row.published is not None
        for what in ("delay", "received")
    }
    assert {name for name, kind in kinds.items() if kind == Kind.FITTED} == {
        name for name in fitted if not name.startswith("packet-out: ")
    }
    # The medians that pipelines follow from, and the ones that were once taken for them.
    assert kinds["data-100-1500: delay"] == Kind.FITTED
    assert kinds["data-1000-1500: delay"] == Kind.OUTSIDE
    assert kinds["flow-maximum-90: delay"] == Kind.INSIDE, "something follows from flow_add up to there"
    if device == "ezappliance":
        queue = ("packet-in-50-100: delay", "packet-out-100-500: received", "packet-out-100-500: delay")
        assert {kinds[name] for name in queue} == {Kind.FITTED}


def test_claims_on_resets_and_losses_can_fail() -> None:
    point = run(part="packet-out", sut="profile:netfpga-1g", quick=True)
    at = "packet-out: resets at 500 Mbit/s"

    def verdict(metrics: dict[str, Any], what: str) -> bool:
        found = compared.comparisons([Point(point.parameters, metrics)])
        (row,) = [row for row in found if row.what == what]
        assert row.published is None and row.claim
        return row.holds

    assert verdict(point.metrics, at)
    assert not verdict({**point.metrics, "packet-out-500-1500_resets": 0}, at)
    assert verdict(point.metrics, "packet-out: no resets")
    assert not verdict({**point.metrics, "packet-out-50-500_resets": 1}, "packet-out: no resets")
    assert verdict(point.metrics, "packet-out: nothing lost")
    received = point.metrics["packet-out-50-500_received"]
    lost = {**point.metrics, "packet-out-50-500_received": received - 2}
    assert not verdict(lost, "packet-out: nothing lost")


def test_a_profile_of_another_switch_gets_no_published_verdict(tmp_path: Path) -> None:
    path = tmp_path / "ezlike.toml"
    path.write_text(text_of({key: value for key, value in CARD.items() if key != "fit"}))
    parameters = OpenFlowParameters(sut=f"profile:{path}", only="data-10-100")
    assert (parameters.device, parameters.measured, parameters.is_judged) == ("netfpga", None, False)
    point = run(**parameters.model_dump())
    found = compared.comparisons([point])
    assert found and {row.kind for row in found} == {Kind.OURS}
    assert [row.what for row in found if not row.holds] == []
    # Whose rates and sizes is said by a parameter, and heeded.
    other = OpenFlowParameters(sut=f"profile:{path}", conditions="ezappliance")
    assert other.device == "ezappliance"
    card = OpenFlowParameters(sut="profile:netfpga-1g", conditions="ezappliance")
    assert not card.is_judged and "packet-in-50-100" in [row.name for row in rows(card)]


def test_rows_that_were_kept_back_are_predicted_and_not_published() -> None:
    for device in ("netfpga", "ezappliance"):
        own = rows(OpenFlowParameters(conditions=device))
        held = [row for row in own if row.held]
        assert held and all(row.published is None for row in held)
        assert not [row for row in own if row.part == "flow-mod" and row.published is not None]
        names = [row.name for row in own]
        assert len(names) == len(set(names))
    sizes = [row.size for row in held if row.part == "packet-out"]
    assert sizes == list(range(100, 1600, 100)), "those of the rates that are given"
    (row,) = [row for row in held if row.name == "packet-out-250-100"]
    low, high = model.interval(row, "ezappliance", 30, LEAD_S).delay_s
    assert low < 6.4 and high > 13.8, "with a reset and without: limits on bytes do not say which"


def test_a_straight_line_goes_through_the_last_row_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Row("flow-maximum", 30.0, 400, 1000, held=True, device="ezappliance")
    before = model.interval(row, "ezappliance", 120, LEAD_S)
    assert before.delay_s[0] == pytest.approx(0.85 * 80)
    said = {"flow_maximum": {"ezappliance": [[100, 4_000_000]]}}
    monkeypatch.setattr(model, "published", lambda: said)
    after = model.interval(row, "ezappliance", 120, LEAD_S)
    assert after.delay_s[0] == pytest.approx(0.85 * 40) and "0.04 s" in after.because


def test_an_echo_of_few_samples_has_no_verdict() -> None:
    row = Row("control", 3.0, 1500)
    for received, verdicts in ((4, 0), (26, 1)):
        metrics = {f"{row.name}_{key}": received for key in ("sent", "received")}
        metrics[f"{row.name}_delay_median_s"] = 341e-6
        point = Point(OpenFlowParameters(sut="ovs").model_dump(), metrics)
        assert len(compared.comparisons([point])) == verdicts


def test_tables_are_asked_whether_they_can_be() -> None:
    def impossible(*figures: float | None) -> str | None:
        mean, median, sd, packets = figures
        return arithmetic.impossible(Figures(mean, median, sd, None, packets and int(packets)))

    assert "1805 at most" in (impossible(354e-6, 341e-6, 6323e-6, 26) or "")
    assert "median of 504" in (impossible(4998e-6, 504e-6, 112e-6, 64) or "")
    assert impossible(589e-6, 566e-6, 420e-6, 384) is None
    point = Point(OpenFlowParameters(sut="profile:ezappliance").model_dump(), {})
    said = " ".join(EXPERIMENT.arithmetic([point]))
    assert "28,000 packets, one each 1.526 ms, take 42.7 s" in said
    assert "median of 7834" in said


def test_intervals_are_a_thousand_gaps() -> None:
    row = Row("packet-in", 10.0, 1500)
    assert row.interval_s == pytest.approx(1.144_409_18)
    assert row.duration_s("counts") // row.interval_s == 26
    assert Row("packet-out", 100.0, 1500).used_rate == 250.0


def test_a_full_socket_passes_the_same_whatever_the_size() -> None:
    shares = [model.foretold(Row("packet-out", 50.0, size), "ezappliance", 30, 0) for size in (100, 200)]
    assert [round(one.share, 2) for one in shares] == [0.39, 0.79]
    assert model.write_s("ezappliance", 1) == pytest.approx(0.009)


@pytest.mark.parametrize(("name", "flows"), [("netfpga-1g", 50), ("ezappliance", 20)])
def test_every_entry_passes_a_probe_of_its_own(name: str, flows: int) -> None:
    parameters = OpenFlowParameters(sut=f"profile:{name}", confirm=True, only=f"flow-add-{flows}", quick=True)
    network = EXPERIMENT.build(parameters, 1)
    EXPERIMENT.run(network, parameters)
    rounds = network.table("openflow_rounds")
    assert rounds["confirmed"].to_list() == [flows] * len(rounds)
    # Written one after the other, and moved for each other, so that the barrier is answered when the last is.
    written = model.write_s(name, flows)
    assert rounds["barrier_s"].min() == pytest.approx(written + 0.0001, abs=0.0002)


def test_entries_that_pass_no_probe_are_a_fault() -> None:
    parameters = OpenFlowParameters(sut="profile:netfpga-1g", confirm=True, only="flow-add-50", quick=True)
    network = EXPERIMENT.build(parameters, 1)
    EXPERIMENT.run(network, parameters)
    outcome = EXPERIMENT.summarise(network, parameters)

    def faults(**changed: Any) -> list[str]:
        told = Outcome({**outcome.metrics, **changed}, outcome.tables)
        metrics = EXPERIMENT.joined(parameters, {"flow-add-50": told}).metrics
        return EXPERIMENT.faults(Point(parameters.model_dump(), metrics))

    assert faults() == []
    assert faults(confirmed_min=3) == ["in 1 test entries passed no probe of their own: flow-add-50"]
    assert faults(delay_median_s=None) == ["in 1 test the last entry never worked: flow-add-50"]
    assert faults(state="running") == ["1 test did not come to its end"]
    data = OpenFlowParameters(sut="ovs", only="data-10-100", quick=True)
    told = Outcome({**outcome.metrics, "sent": 390, "received": 0}, outcome.tables)
    metrics = EXPERIMENT.joined(data, {"data-10-100": told}).metrics
    assert EXPERIMENT.faults(Point(data.model_dump(), metrics)) == [
        "in 1 test no packet came back: data-10-100"
    ]
    assert summary.confirmed([50, 3, 50]) == [50, 3] and summary.confirmed([50, 0]) == [50]
    assert summary.confirmed([0]) == [0]


def test_packet_ins_that_are_dropped_reach_a_table() -> None:
    parameters = OpenFlowParameters(sut="profile:netfpga-1g", only="packet-in-100-100")
    network = EXPERIMENT.build(parameters, 1)
    EXPERIMENT.run(network, parameters)
    drops = {row["reason"]: row["count"] for row in network.table("drops").iter_rows(named=True)}
    line = EXPERIMENT.summarise(network, parameters).metrics
    assert line["dropped"] == drops["rate-limited"] == line["sent"] - line["received"] > 2000


def test_a_slow_switch_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(text_of({**CARD, "message": "600 ms", "description": "2 switches"}))
    run(sut=f"profile:{path}", only="data-10-1500")


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
    path = tmp_path / "mine.toml"
    path.write_text(text_of({key: value for key, value in CARD.items() if key != "echo"}))
    cases = {
        f"profile:{path}": "profile: echo is missing",
        "profile:netfpga": "no such switch profile (did you mean 'netfpga-1g'?)",
        "profile:": "sut=profile:: twinplane, profile:NAME, twinplane-live, ovs, tcp:ADDRESS or ptcp:PORT",
        "other": "sut=other: twinplane, profile:NAME, twinplane-live, ovs, tcp:ADDRESS or ptcp:PORT",
        "tcp:": "sut=tcp:: tcp:192.0.2.1:6653 connects to a switch that listens there",
        "tcp:switch": "sut=tcp:switch: tcp:192.0.2.1:6653 connects",
        "ptcp:0": "sut=ptcp:0: ptcp:6653 waits for a switch that connects there",
        "tcp:192.0.2.1": "--ingress-port is needed: the tester's interface to port 1 of the switch",
    }
    for sut, sentence in cases.items():
        assert sentence in refused("run", "openflow", "--quick", "--sut", sut)
    assert "no row of this test" in refused("run", "openflow", "--set", "only=none")


def test_parameters_that_would_mean_nothing_are_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"real_s": 2}, "sut=twinplane runs in virtual time"),
        ({"egress_port": "eth1"}, "only tcp: and ptcp: are told their ports, and sut=twinplane has its own"),
        ({"sut": "ovs", "from_port": 3}, "and sut=ovs has its own"),
        ({"sut": "ptcp:", "ingress_port": "a"}, "--egress-port is needed: .* port 2 of the switch"),
        ({**ELSEWHERE, "egress_port": "a"}, "are both a: the switch stands between two"),
        ({**ELSEWHERE, "to_port": 1}, "to_port=1 is from_port, too"),
        ({"confirm": True, "part": "data"}, "none of these tests writes entries"),
        ({"fill": True, "part": "control"}, "none of these tests is of the data path"),
    ]
    for settings, sentence in cases:
        with pytest.raises(TwinplaneError, match=sentence):
            EXPERIMENT.check(OpenFlowParameters.model_validate(settings))
    with pytest.raises(TwinplaneError, match=r"--quick and --set quick=\.\.\.: only one of them"):
        own.with_choices("openflow", ["quick=false"], True, "built-in")
    with pytest.raises(TwinplaneError, match="--sut and --set sut="):
        own.with_choices("openflow", ["sut=ovs"], False, "twinplane")
    with pytest.raises(TwinplaneError, match="--ingress-port and --set ingress_port="):
        own.with_choices("openflow", ["ingress_port=a"], False, "tcp:192.0.2.1", {"ingress_port": "b"})
    # An option that the experiment does not know is left to whoever does.
    ports: dict[str, str | None] = {
        "ingress_port": "b",
        "ingress_address": "10.0.0.1/24",
        "egress_port": None,
    }
    taken = own.with_choices("openflow", [], False, "tcp:192.0.2.1", ports)
    assert taken == (["sut=tcp:192.0.2.1", "ingress_port=b"], "built-in")
    assert ports == {"ingress_address": "10.0.0.1/24"}


def test_where_a_switch_is_met_is_written_as_open_vswitch_writes_it() -> None:
    for sut, said in {
        "tcp:192.0.2.1": (True, "192.0.2.1", 6653),
        "tcp:192.0.2.1:6633": (True, "192.0.2.1", 6633),
        "tcp:[2001:db8::1]:6633": (True, "2001:db8::1", 6633),
        "ptcp:": (False, "", 6653),
        "ptcp:6633:192.0.2.2": (False, "192.0.2.2", 6633),
        "ptcp:6633:[2001:db8::2]": (False, "2001:db8::2", 6633),
    }.items():
        assert channel.target(sut) == channel.Target(*said)


def test_a_switch_that_does_not_answer_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "CONNECT_S", 0.1)
    monkeypatch.setattr(channel, "COME_S", 0.1)
    monkeypatch.setattr(channel.interfaces, "check", lambda *_: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        passive = OpenFlowParameters.model_validate({**ELSEWHERE, "sut": f"ptcp:{port}:127.0.0.1"})
        with pytest.raises(
            TwinplaneError, match=f"it can't listen at 127.0.0.1:{port}: address already in use"
        ):
            channel.check(passive, 0)
    nobody = f"no switch has connected to 127.0.0.1:{port} within 0 s"
    with pytest.raises(TwinplaneError, match=nobody), channel.channel(passive):
        pass
    active = OpenFlowParameters.model_validate({**ELSEWHERE, "sut": f"tcp:127.0.0.1:{port}"})
    with pytest.raises(TwinplaneError, match=f"nobody listens at 127.0.0.1:{port}"), channel.channel(active):
        pass
    states = {
        ("refused", 1, 0.5): "does not speak OpenFlow 1.0, the version of the tests",
        ("waiting", 0, 10.0): "the switch has said nothing within",
        ("waiting", 2, 10.0): "what answers there does not speak OpenFlow",
        ("preparing", 0, 20.0): "that its entries are deleted",
    }
    for (state, errors, passed), sentence in states.items():
        with pytest.raises(TwinplaneError, match=sentence):
            channel.check_state(active, state, errors, passed)
    channel.check_state(active, "running", 0, 100.0)


def test_in_real_time_nothing_runs_beside_a_switch() -> None:
    assert EXPERIMENT.is_alone(OpenFlowParameters(sut="twinplane-live"))
    assert not EXPERIMENT.is_alone(OpenFlowParameters(sut="profile:netfpga-1g"))


def test_values_of_a_profile_are_checked_by_name(tmp_path: Path) -> None:
    def problem(**changed: Any) -> str:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.toml"
        path.write_text(text_of({**CARD, **changed}))
        with pytest.raises(TwinplaneError) as found:
            marks.check(profile.read(str(path)))
        return str(found.value)

    assert problem(entry_write="8 furlongs").startswith("profile: entry_write '8 furlongs': unknown unit")
    assert problem(echo=True) == "profile: echo=True: a time, such as 50 us"
    assert "it cannot be negative" in problem(echo="-1 ms")
    assert problem(reset_bytes="2 kB") == "profile: reset_bytes=2 kB: a whole number from 0 on"
    assert problem(fit={"device": "card"}) == "profile: fit: device=card: one of netfpga, ezappliance"
    assert "the study has no figure 'data-1: delay'" in problem(
        fit={"device": "netfpga", "rows": {"echo": ["data-1: delay"]}}
    )
    assert "'flow-add-30: delay' contradicts others" in problem(
        fit={"device": "netfpga", "rows": {"entry_write": ["flow-add-30: delay"]}}
    )


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.shutil, "which", lambda name: None if name == "ethtool" else name)
    with pytest.raises(TwinplaneError, match="ethtool is missing"):
        ovs.check()


def test_a_first_look_at_an_open_vswitch_is_short() -> None:
    parameters = OpenFlowParameters(sut="ovs", quick=True)
    every = [building.duration_s(parameters, row) for row in rows(parameters)]
    assert sum(every) < 300 and OpenFlowParameters(sut="ovs").sends_s == 0


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
