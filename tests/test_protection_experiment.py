"""`protection`: gaps by three methods agree with detection, whatever the number of LSPs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from twinplane.errors import TwinplaneError
from twinplane.experiments import load
from twinplane.experiments.base import Outcome
from twinplane.experiments.plan import planned
from twinplane.experiments.protection.build import times
from twinplane.experiments.protection.classes import surprises
from twinplane.experiments.protection.everywhere import Gap
from twinplane.experiments.protection.parameters import ProtectionParameters
from twinplane.experiments.request import Request
from twinplane.results.points import Point


@pytest.mark.parametrize(
    "settings",
    [
        {"lsps": 1},
        {"lsps": 30},
        {"lsps": 2, "fails": "node"},
        {"lsps": 3, "fails": "node", "method": "one-to-one"},
        {"trees": 3, "leaves": 3},
    ],
)
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


def run(**settings: object) -> Outcome:
    experiment = load("protection")
    p = experiment.parameters(failures=2, packets_per_s=1000, **settings)
    network = experiment.build(p, 3)
    experiment.run(network, p)
    return experiment.summarise(network, p)


@pytest.mark.parametrize(
    ("settings", "lost"),
    [
        ({}, 15),  # until it is seen, and on the link
        ({"fails": "node"}, 20),  # and on the link behind the router
        ({"method": "1:1"}, 25),  # and on the way there and back
        ({"method": "1:1", "fails": "node"}, 30),
        ({"method": "1+1"}, 10),  # until it is seen, as late as packets would come
        ({"method": "1+1", "fails": "node"}, 10),
    ],
)
def test_what_is_lost_is_what_arithmetic_says(settings: dict[str, object], lost: int) -> None:
    """A packet leaves each millisecond, each link takes five, and it takes ten to see that one is down."""
    outcome = run(delay_us=5000, **settings)
    assert outcome.metrics["predicted_s"] == pytest.approx(lost / 1e3)
    assert outcome.tables["gaps"]["packets"] == [lost] * 4
    assert (outcome.metrics["missing"], outcome.metrics["diverted"], outcome.metrics["late"]) == (0, 2, 0)
    assert outcome.metrics.get("duplicated", 0) == 0


@pytest.mark.filterwarnings("ignore:.*no second way leads it")
@pytest.mark.parametrize("settings", [{}, {"fails": "node", "delay_us": 2000}, {"protected": False}])
def test_leaves_beyond_the_link_lose_what_lsps_do_and_others_nothing(settings: dict[str, object]) -> None:
    outcome = run(trees=4, lsps=1, **settings)
    m, gaps = outcome.metrics, pl.DataFrame(outcome.tables["gaps"])
    assert (m["missing"], m["late"], m["tree_before_lost"], m["tree_duplicated"]) == (0, 0, 0, 0)
    of_trees = gaps.filter(pl.col("kind") == "trees")
    assert set(of_trees["receiver"]) == {"hl0", "hl1"} and len(of_trees) == 2 * 2 * 2
    if "protected" in settings:
        assert abs(m["tree_time_max_s"] - m["tree_loss_max_s"]) < 0.002 and m["tree_loss_max_s"] > 1
    else:
        assert abs(m["tree_loss_max_s"] - m["loss_max_s"]) < 0.0011
        assert m["tree_loss_max_s"] < m["predicted_s"] + 0.001


def test_bfd_has_the_head_end_act_and_traffic_is_back_before_the_next_failure() -> None:
    m = run(method="1:1", detection="bfd").metrics
    assert (m["missing"], m["diverted"], m["late"]) == (0, 2, 0)


def test_more_lsps_than_a_pair_of_routers_has_numbers_for_begin_at_several() -> None:
    experiment = load("protection")
    p = experiment.parameters(lsps=100_000, failures=1)
    network = experiment.build(p, 1)
    assert [node.name for node in network.nodes] == [*"abcdmn", "a2"]
    for _ in experiment.pauses(network, p):
        pass
    begun = [(lsp.spec["from"], lsp.count) for lsp in network.lsps]
    assert sum(count for _, count in begun) == 100_000
    assert sum(count for head, count in begun if head == "a2") == 100_000 - 60_002


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["trees=2", "method=1:1"], r"^protection: trees=2: they are protected by bypass tunnels only"),
        (["trees=2", "topology=net.graphml"], "trees=2: they are of topology=ladder"),
        (["sending=30"], r"sending=30: there are 20 pairs"),
        (["trees=many"], r"trees=many: it should be a whole number \(0 to 50000\)"),
        (["leaves=0"], r"leaves=0: it should be at least 1 \(1 to 50\)"),
        (["method=1+1", "topology=net.graphml"], r"method=1\+1 is of topology=ladder"),
        (["detection_ms=0", "method=1+1"], "loses nothing that could be measured"),
        (["detection=probing", "probe_period_ms=700"], r"seen after 2\.45 s .*has to be before 2 s"),
        (["method=1+2"], r"method=1\+2: one of facility, one-to-one, 1:1, 1\+1"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(settings: list[str], said: str) -> None:
    with pytest.raises(TwinplaneError, match=said):
        planned(Request("protection", settings=tuple(settings)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"missing": 1}, "1 times a failure did not interrupt a flow"), ({"diverted": 3}, "2 of 5 failures")],
)
def test_a_run_that_measured_something_else_says_so(wrong: dict[str, int], said: str) -> None:
    experiment = load("protection")
    parameters = experiment.parameters(failures=5).model_dump()

    def fault(parameters: dict[str, Any], **metrics: float) -> str | None:
        return experiment.fault(Point(parameters, metrics))

    right = {"missing": 0, "diverted": 5}
    assert fault(parameters, **right) is None
    assert said in (fault(parameters, **{**right, **wrong}) or "")
    assert fault({**parameters, "protected": False}, missing=0, diverted=0) is None
    assert "longer than predicted" in (fault(parameters, **right, late=1, gaps=10, predicted_s=0.01) or "")
    assert "2 packets came twice" in (fault(parameters, **right, duplicated=2) or "")
    assert "not beyond the link lost 3" in (fault(parameters, **right, tree_before_lost=3) or "")


@pytest.mark.parametrize(
    ("detection", "longest_s"),
    [
        ("bfd", (0.015, 0.032)),  # three intervals of 10 ms, less what has passed since the last packet
        ("probing", (0.025, 0.037)),  # three and a half
    ],
)
@pytest.mark.parametrize("settings", [{"fails": "link"}, {"fails": "node"}, {"method": "1+1"}])
def test_who_is_not_heard_any_more_is_found(
    settings: dict[str, str], detection: str, longest_s: tuple[float, float]
) -> None:
    found = run(detection=detection, **settings).metrics
    assert (found["missing"], found["diverted"], found["late"]) == (0, 2, 0)
    assert longest_s[0] < found["loss_max_s"] < longest_s[1]


def test_failures_come_at_any_phase_and_the_same_with_the_same_seed() -> None:
    p = load("protection").parameters(failures=50)
    assert times(p, 1) == times(p, 1) != times(p, 2)
    assert all(b - a > 8 for a, b in zip(times(p, 1), times(p, 1)[1:], strict=False))


DIAMOND = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="undirected">
{nodes}
{edges}
</graph></graphml>
"""
"""Two rings that share a link, and a router with one link only."""


@pytest.fixture(scope="module")
def rings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("a", "b", "c", "d", "e", "f", "leaf")
    pairs = ("ab", "bc", "cd", "da", "be", "ef", "fc")
    links = [*pairs, ("a", "leaf")]
    nodes = "\n".join(f'<node id="{name}"/>' for name in names)
    edges = "\n".join(f'<edge source="{x}" target="{y}"/>' for x, y in links)
    path = tmp_path_factory.mktemp("rings") / "rings.graphml"
    path.write_text(DIAMOND.format(nodes=nodes, edges=edges))
    return path


def everywhere(path: Path, **settings: object) -> tuple[Outcome, ProtectionParameters]:
    experiment = load("protection")
    settings = {"pairs": 42, "packets_per_s": 1000, "watch_s": 2.0, **settings}
    p = experiment.parameters(topology=str(path), **settings)
    assert isinstance(p, ProtectionParameters)
    experiment.check(p)
    network = experiment.build(p, 1)
    experiment.run(network, p)
    return experiment.summarise(network, p), p


def test_on_a_topology_each_link_and_router_fails_and_each_class_is_told_apart(rings: Path) -> None:
    """All pairs of routers: who asks for protection waits for detection, who does not for signalling, too."""
    outcome, p = everywhere(rings)
    m = outcome.metrics
    assert (m["cases"], m["routers"], m["links"], m["flows"]) == (15, 7, 8, 84)
    assert m["surprising"] == m["unprotected"] == 0, outcome.tables["cases"]
    # Nobody gets around the only link of the leaf, or to a router that is down.
    assert m["gold_cut_off"] == m["bronze_cut_off"] > 0
    assert m["gold_hurt"] == m["bronze_hurt"] > 20
    assert p.detection_ms / 1e3 <= m["gold_max_s"] <= m["bound_s"] < m["bronze_max_s"]
    assert m["diverted"] >= m["gold_hurt"] - 1
    gaps = pl.DataFrame(outcome.tables["gaps"])
    led = gaps.filter((pl.col("class") == "gold") & pl.col("way_left"))
    assert led["packets"].sum() == m["gold_lost"]
    # What was on the wire of two links is lost at once, and adds nothing to the time.
    assert led.select((pl.col("loss_s") - pl.col("timestamp_s")).max()).item() <= 2e-3


def test_without_protection_both_classes_fare_alike(rings: Path) -> None:
    m = everywhere(rings, protected=False, only="links")[0].metrics
    assert (m["cases"], m["diverted"], m["unprotected"], m["surprising"]) == (8, 0, 0, 0)
    assert m["gold_max_s"] > m["bound_s"] and m["gold_hurt"] == m["bronze_hurt"]


def test_from_end_to_end_lsps_with_a_second_path_lose_what_is_on_the_way_and_others_are_named(
    rings: Path,
) -> None:
    outcome, _ = everywhere(rings, method="1:1", only="links", sending=40, watch_s=0.4)
    m = outcome.metrics
    assert (m["flows"], m["surprising"], m["diverted"]) == (80, 0, None)
    assert 0.01 <= m["covered_max_s"] <= m["bound_s"] < m["bronze_max_s"]
    # Nothing of the leaf has a second path, whatever else fails on the way.
    gaps = pl.DataFrame(outcome.tables["gaps"]).filter((pl.col("class") == "gold") & pl.col("way_left"))
    lacking = gaps.filter(pl.col("lacks").is_not_null())
    assert len(lacking) == m["unprotected"] > 0 and all("leaf" in flow for flow in lacking["flow"])
    assert set(lacking["lacks"]) == {"no second path from end to end was found that has no link in common"}


def test_lsps_that_are_not_protected_go_on_when_bfd_has_found_a_neighbour_dead(rings: Path) -> None:
    """Their head ends find other paths, though all ports are up."""
    outcome, p = everywhere(rings, detection="bfd", bfd_interval_ms=20)
    m = outcome.metrics
    assert m["surprising"] == 0, outcome.tables["gaps"]
    assert m["gold_max_s"] < m["bronze_max_s"] < p.watch_s / 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"surprising": 2, "unprotected": 2}, "2 gaps of LSPs that ask for protection"),
        ({"gold_hurt": 0, "gold_cut_off": 0, "bronze_hurt": 0}, "no failure interrupted a flow"),
    ],
)
def test_a_topology_without_protection_or_failures_is_a_fault(
    rings: Path, wrong: dict[str, int], said: str
) -> None:
    experiment = load("protection")
    parameters = experiment.parameters(topology=str(rings)).model_dump()
    right = {"surprising": 0, "gold_hurt": 1, "gold_cut_off": 0, "bronze_hurt": 1, "bronze_cut_off": 0}
    assert experiment.fault(Point(parameters, right)) is None
    assert said in (experiment.fault(Point(parameters, {**right, **wrong})) or "")


def test_an_lsp_without_a_backup_is_no_excuse(rings: Path) -> None:
    """It was left another way, and nothing led it there in time."""
    p = load("protection").parameters(topology=str(rings))
    assert isinstance(p, ProtectionParameters)
    gap = Gap("gold", "gold a to b", 200, 0.0, 0.2, 1e-3, True, "there is no other way")
    assert surprises(gap, p, 0.014)
    assert not surprises(replace(gap, joined=False), p, 0.014)
    assert not surprises(replace(gap, lost=10), p, 0.014)
    assert not surprises(replace(gap, kind="bronze"), p, 0.014)


def test_a_topology_that_is_not_there_is_refused_in_a_sentence(tmp_path: Path) -> None:
    experiment = load("protection")
    with pytest.raises(TwinplaneError, match=r"none\.graphml"):
        experiment.check(experiment.parameters(topology=str(tmp_path / "none.graphml")))
