"""Load of edge routers' processors in `tag-switching`, beside arithmetic and what is published of it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from twinplane.errors import TwinplaneError
from twinplane.experiments import load
from twinplane.experiments.scores import Kind
from twinplane.experiments.tag_switching.predicted import rtt
from twinplane.experiments.tag_switching.processor_paper import FITTED_US, packets_s, plots
from twinplane.results.points import Point

EXPERIMENT = load("tag-switching")
FRANCE: dict[str, Any] = {"medium": "atm", "path": "france", "rtt_ms": 70, "cells_per_s": 4515}


def run(which: str, **settings: Any) -> Point:
    parameters = EXPERIMENT.parameters.model_validate(
        {"part": which, "tags": "with", "duration_s": 10, **settings}
    )
    EXPERIMENT.check(parameters)
    outcomes = {}
    for name, one in EXPERIMENT.parts(parameters).items():
        network = EXPERIMENT.build(one, 1)
        EXPERIMENT.run(network, one)
        outcomes[name] = EXPERIMENT.summarise(network, one)
    joined = EXPERIMENT.joined(parameters, outcomes)
    point = Point(parameters.model_dump(), joined.metrics)
    rows = EXPERIMENT.comparisons([point])
    assert all(row.holds for row in rows if row.kind == Kind.OURS), rows
    assert EXPERIMENT.fault(point) is None
    return point


def published(point: Point) -> list[tuple[Kind, float | None, bool]]:
    """Of loads: the kind, the figure, and whether it holds."""
    rows = EXPERIMENT.comparisons([point])
    return [
        (row.kind, row.published, row.holds) for row in rows if "load" in row.what and row.kind != Kind.OURS
    ]


def test_a_time_for_each_packet_gives_one_of_the_two_published_peaks() -> None:
    """That of full duplex, which it was fitted to; UDP gives less than half of the other one."""
    duplex = run("duplex", buffer_kb=128, packet_us=FITTED_US, **FRANCE)
    assert published(duplex) == [(Kind.FITTED, 0.15, True)]
    udp = run("udp", udp_mbps=1.68, packet_us=FITTED_US, **FRANCE)
    assert published(udp) == [(Kind.OUTSIDE, 0.19, False)]
    # 140 packets a second of 1500 bytes, and few messages.
    assert udp.metrics["with_near_load"] == pytest.approx(140 * FITTED_US / 1e6, rel=0.02)
    said = "".join(EXPERIMENT.arithmetic([udp]))
    assert "192.168.11.1 a greatest load of 19 %" in said
    assert "19 % are 362 packets a second" in said and "packets of 276 bytes" in said


def test_routers_that_forward_by_hardware_stay_below_the_published_bound() -> None:
    """Their processors have messages to handle, and nothing else."""
    assert published(run("tcp", medium="atm", message_us=1000)) == [(Kind.OUTSIDE, None, True)]
    assert published(run("tcp", medium="atm", packet_us=FITTED_US)) == [(Kind.OUTSIDE, None, False)]
    assert published(run("tcp", medium="atm")) == [], "nothing takes time"


@pytest.mark.parametrize("medium", ["ethernet", "atm"])
def test_messages_take_time_and_packets_wait_for_processors(medium: str) -> None:
    quick, slow = (run("rtt", medium=medium, packet_us=us, message_us=us) for us in (0, 1000))
    assert slow.metrics["with_rtt_s"] - quick.metrics["with_rtt_s"] == pytest.approx(0.004)
    p = EXPERIMENT.parameters.model_validate(slow.parameters)
    assert rtt(p, True).value == pytest.approx(slow.metrics["with_rtt_s"], rel=0.01)
    packets = slow.metrics["with_near_packets_s"]
    # Requests and answers, a millisecond each, and one for each of a few messages.
    assert packets / 1e3 < slow.metrics["with_near_load"] < packets / 1e3 + 0.002


def test_packets_are_not_foretold_where_windows_limit_or_packets_are_lost() -> None:
    small, lossy = (
        EXPERIMENT.parameters.model_validate({"part": "tcp", **one})
        for one in ({"buffer_kb": 1}, {"buffer_kb": 256, "profile": "modern"})
    )
    assert packets_s(small, True) is None and packets_s(lossy, True) is None
    # What a window larger than the link's buffer makes of throughput is left open, and no fault.
    point = run("tcp", buffer_kb=256, profile="modern")
    assert not [row for row in EXPERIMENT.comparisons([point]) if "takes in" in row.what]


class Found:
    """Results of a run of one point."""

    def __init__(self, point: Point, table: dict[str, list[Any]]) -> None:
        self.points, self._table = [point], pl.DataFrame(table)

    def tables(self) -> list[str]:
        return ["processors"]

    def table(self, name: str) -> pl.DataFrame:
        return self._table


@pytest.mark.parametrize("packet_us, title", [(0, "Packets that edge"), (500, "Load of edge")])
def test_load_or_packets_are_drawn_over_time(packet_us: float, title: str) -> None:
    settings = {"part": "udp", "tags": "with", "duration_s": 12, "packet_us": packet_us}
    parameters = EXPERIMENT.parameters.model_validate(settings)
    network = EXPERIMENT.build(parameters, 1)
    EXPERIMENT.run(network, parameters)
    outcome = EXPERIMENT.joined(parameters, {"with": EXPERIMENT.summarise(network, parameters)})
    point = Point(parameters.model_dump(), outcome.metrics)
    found: Any = Found(point, outcome.tables["processors"])
    (chart,) = plots(found)
    assert chart.title.startswith(title)
    near, far = chart.curves
    # Two spans of 5 s, and the second one's end.
    assert near.x == far.x == [0.0, 5.0, 10.0] and near.y[1] == near.y[2]
    packets = 1.5e6 / 8 / 1500
    assert near.y[0] == pytest.approx(packets if not packet_us else packets * 0.05, rel=0.02)


def test_a_processor_that_is_never_idle_is_refused() -> None:
    p = EXPERIMENT.parameters.model_validate({"part": "duplex", "medium": "atm", "packet_us": 5000})
    with pytest.raises(TwinplaneError, match=r"packet_us=5000: up to 501 packets a second .* 1797 at most"):
        EXPERIMENT.check(p)
    with pytest.raises(ValueError, match="packet_us"):
        EXPERIMENT.parameters.model_validate({"packet_us": -1})
