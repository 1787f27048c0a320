"""Part `duplex` of `tag-switching`: what acknowledgements alone cost, and what is left of losses."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from twinplane.experiments import load
from twinplane.experiments.scores import Comparison, Kind
from twinplane.experiments.tag_switching.duplex import cost, kinds, tables
from twinplane.experiments.tag_switching.parameters import TagSwitchingParameters
from twinplane.results.points import Point

EXPERIMENT = load("tag-switching")
FRANCE: dict[str, Any] = {"path": "france", "rtt_ms": 70, "cells_per_s": 4515}


def run(which: str = "duplex", **settings: Any) -> Point:
    p = TagSwitchingParameters.model_validate(
        {"part": which, "medium": "atm", "duration_s": 10, "buffer_kb": 128, **settings}
    )
    EXPERIMENT.check(p)
    outcomes = {}
    for name, one in EXPERIMENT.parts(p).items():
        network = EXPERIMENT.build(one, 1)
        EXPERIMENT.run(network, one)
        outcomes[name] = EXPERIMENT.summarise(network, one)
    point = Point(p.model_dump(), EXPERIMENT.joined(p, outcomes).metrics)
    assert EXPERIMENT.fault(point) is None
    return point


def row(point: Point, words: str) -> Comparison:
    (found,) = [one for one in EXPERIMENT.comparisons([point]) if words in one.what]
    return found


def test_acknowledgements_cost_cells() -> None:
    """A segment takes 32, an acknowledgement 1 or 2: of 32.5, 33 or 34 cells 32 have data."""
    found = kinds(TagSwitchingParameters(part="duplex", medium="atm"))
    whole = 2 * 4750 / 32 * 1460 * 8 / 1e3
    for name, each in (("vc-mux", 1), ("shim", 2), ("llc-snap", 2)):
        for share in (0.5, 1.0):
            lost = cost(found[name], 1500, share).lost_kbps
            assert lost == pytest.approx(whole * (1 - 32 / (32 + share * each)))
    assert [round(cost(one, 1500, 1.0).lost_kbps) for one in found.values()] == [105, 204, 204]


@pytest.mark.parametrize("encapsulation", ["vc-mux", "shim"])
def test_two_connections_lose_what_acknowledgements_take(encapsulation: str) -> None:
    """One for two segments; on the short path they wait for data without an idle link."""
    point = run(both_ways="two", tag_encapsulation=encapsulation, duration_s=20)
    p = TagSwitchingParameters.model_validate(point.parameters)
    for setting, kind in (("with", encapsulation), ("without", "llc-snap")):
        title = "with tags" if setting == "with" else "without"
        assert point.metrics[f"{setting}_acks_each"] == pytest.approx(0.5, abs=0.01)
        paper = cost(kinds(p)[kind], p.packet, 0.5).lost_kbps
        assert row(point, f"{title}: of that acknowledgements").measured == pytest.approx(paper, rel=0.03)
        assert abs(row(point, f"{title}: of that all else").measured or inf) < 35
        assert not row(point, f"{title}: both ways at once lose").holds
    assert not row(point, "with tags: Italy - Switzerland more than back").holds


def test_on_a_long_path_acknowledgements_wait_behind_data() -> None:
    point = run(both_ways="two", tags="with", **FRANCE)
    acks, rest = (row(point, f"of that {words}").measured for words in ("acknowledgements", "all else"))
    assert acks is not None and rest is not None and rest > 3 * acks
    said = " ".join(EXPERIMENT.arithmetic([point]))
    assert "vc-mux 51, or 100 with one for each" in said and "wait behind data" in said


def test_most_acknowledgements_of_one_connection_go_with_data() -> None:
    point = run(tags="without")
    assert point.metrics["without_acks_each"] < 0.05
    assert (row(point, "both ways at once lose").measured or 0) < 10
    wrong = Point(point.parameters, {**point.metrics, "without_acks_each": 2.0})
    assert "of that acknowledgements without data" in (EXPERIMENT.fault(wrong) or "")


def test_the_best_buffer_is_found_among_points() -> None:
    """With window scaling both ways are best at 128 kB: less leaves links idle, more loses packets."""
    points = [
        run(both_ways="two", profile="modern", tags="with", buffer_kb=buffer, **FRANCE)
        for buffer in (32, 128, 512)
    ]
    rows = [one for one in EXPERIMENT.comparisons(points) if one.unit == "kB"]
    assert [(one.kind, one.published, one.measured, one.holds) for one in rows] == [
        (Kind.OUTSIDE, 128, 128, True)
    ]
    assert not [one for one in EXPERIMENT.comparisons(points[:2]) if one.unit == "kB"]
    (chart,) = EXPERIMENT.charts(points)
    assert chart.title == "Throughput of both ways at once over buffer"
    assert chart.curves[0].x == [32, 128, 512]


def test_the_page_has_acknowledgements_of_each_encapsulation() -> None:
    class Found:
        def __init__(self) -> None:
            self.points = [run(tags="with", duration_s=5)]

        def tables(self) -> list[str]:
            return ["processors"]

    found: Any = Found()
    (table,) = tables(found)
    assert [one[:3] for one in table.rows] == [
        ["vc-mux", "32", "1"],
        ["shim", "32", "2"],
        ["llc-snap", "32", "2"],
    ]
    assert len(table.titles) == len(table.rows[0])


def test_a_figure_is_drawn_over_what_points_differ_in() -> None:
    points = [
        run("tcp", medium="ethernet", tags=tags, flows=flows, duration_s=3)
        for tags in ("with", "without")
        for flows in (1, 2)
    ]
    (chart,) = EXPERIMENT.charts(points)
    assert chart.x_title == "flows" and len(chart.curves) == 4
    assert [curve.name for curve in chart.curves][::2] == [
        "measured, with tags, tags with",
        "measured, without, tags without",
    ]
    other = run("rtt", medium="ethernet", tags="with", duration_s=3)
    assert [one.key for one in EXPERIMENT.charts([*points, other])] == ["tcp"]
    assert EXPERIMENT.charts([points[0], other]) == []
