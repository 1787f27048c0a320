"""Calibration, bounds and alignment, on a bench that obeys."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest
from twinplane.errors import TwinplaneError
from twinplane.measure.alignment import Message, align, seen_by_both
from twinplane.measure.bounds import LEAST, MEAN, MOST, TIME, bounds_of, by_chance
from twinplane.measure.calibration import (
    CONFIRM_S,
    RESOLUTION,
    Calibration,
    Search,
    Spread,
    Trial,
    check_rate,
    floor,
    round_down,
    search,
    sentences,
)
from twinplane.measure.statistics import residuals, together
from twinplane.reports.real import binned, idle_paths
from twinplane.results.real import OuterPort, Real, asked, ports_of

DELAY = Spread(2e-6, 5e-6, 4e-6, 8e-6, 10e-6, 30e-6, 50e-6)
LATE = Spread(0.0, 1e-6, 1e-6, 2e-6, 3e-6, 4e-6, 9e-6)


class Bench:
    """Loses something above a rate; in trials that confirm, above a lower one."""

    def __init__(self, limit_bps: float, confirmed_bps: float | None = None) -> None:
        self.limit, self.confirmed = limit_bps, limit_bps if confirmed_bps is None else confirmed_bps
        self.rates: list[float] = []

    def trial(self, rate_bps: float, size: int, seconds: float) -> Trial:
        self.rates.append(rate_bps)
        limit = self.confirmed if seconds >= CONFIRM_S else self.limit
        sent = int(rate_bps / 8 / size * seconds)
        lost = int(rate_bps > limit)
        counts = {"upper_s": [1e-6, 2e-6], "count": [1, 3]}
        return Trial(rate_bps, size, seconds, sent, sent - lost, lost, DELAY, LATE, counts)

    def describe(self) -> dict[str, Any]:
        return {"kind": "ports", "interfaces": ["a", "b"], "driver": "packet"}


@pytest.mark.parametrize("limit", [3e6, 123.4e6, 700e6, 999e6])
def test_the_search_finds_the_limit(limit: float) -> None:
    bench = Bench(limit)
    found = search(bench, 512, 1e9)
    assert found.rate_bps is not None and limit * (1 - 2 * RESOLUTION) <= found.rate_bps <= limit
    assert len(found.trials) == len(bench.rates) <= 20
    assert found.packets_per_s == pytest.approx(found.rate_bps / 4096)


def test_the_search_stops_at_once_at_the_top_and_steps_down_when_not_confirmed() -> None:
    bench = Bench(2e9)
    assert search(bench, 64, 1e9).rate_bps == 1e9 and bench.rates == [1e9, 1e9]
    found = search(Bench(800e6, 600e6), 64, 1e9)
    assert found.rate_bps is not None and 550e6 <= found.rate_bps <= 600e6


def test_a_port_that_loses_everything_is_named() -> None:
    bench = Bench(0)
    found = search(bench, 64, 1e9)
    assert found.rate_bps is None
    with pytest.raises(TwinplaneError, match="even 100 frames of 64 bytes a second are lost back to back"):
        floor(bench, found)


def test_a_rate_above_the_loss_free_one_is_refused_with_one_that_works() -> None:
    found = Search(512, 123.456e6, 1e9, ())
    check_rate(found, 123.456e6, "lsp-flap")
    with pytest.raises(TwinplaneError, match=r"500 Mbit/s of 512 B frames .* set rate_mbps=123 or less"):
        check_rate(found, 500e6, "lsp-flap")
    assert (round_down(123.9e6), round_down(4.567e6), round_down(0.05e6)) == ("123", "4.56", "0.05")


def calibration() -> Calibration:
    bench = Bench(500e6)
    return floor(bench, search(bench, 512, 1e9), 100e6)


def test_a_calibration_reads_back_as_it_was() -> None:
    made = calibration()
    again = Calibration.of(made.as_dict())
    assert again.as_dict() == made.as_dict() and again.floor_s == 10e-6
    assert any("Noise floor: 10 us" in text for text in sentences(again))


def test_bounds_and_refusals() -> None:
    metrics: Mapping[str, Any] = {
        "mean": 100e-6,
        "least": 9e-6,
        "most": 200e-6,
        "time": 1.0,
        "none": None,
        "k": 5,
    }
    kinds = {"mean": MEAN, "least": LEAST, "most": MOST, "time": TIME, "none": MEAN}
    given, bounds, refused = bounds_of(
        metrics, kinds, calibration(), Spread(mean_s=3e-6, p999_s=5e-6, max_s=1e-3)
    )
    assert bounds == pytest.approx({"mean": 7e-6, "most": 30e-6 - 4e-6 + 1e-3, "time": 30e-6})
    assert given["least"] is None and refused["least"].startswith("below floor (10 us): 9 us")
    assert given["k"] == 5 and given["none"] is None and "none" not in refused


def test_an_idle_path_that_takes_more_widens_the_bounds() -> None:
    path = Spread(50e-6, 80e-6, 70e-6, 90e-6, 100e-6, 120e-6, 120e-6)
    kinds = {"mean": MEAN, "least": LEAST, "most": MOST, "time": TIME}
    metrics = {"mean": 1e-3, "least": 1e-3, "most": 1e-3, "time": 1.0}
    _, bounds, refused = bounds_of(metrics, kinds, calibration(), path=path)
    wanted = {"mean": 80e-6, "least": 120e-6, "most": 120e-6 - 4e-6 + 9e-6, "time": 30e-6}
    assert bounds == pytest.approx(wanted) and not refused
    said = idle_paths([(0, {"paths": {"mpls": asdict(path)}})])
    assert said == [
        "Probes through the idle routers after the run (mpls) took longer than in virtual time by 50 us at"
        " least, 80 us on average, 99 % by less than 100 us, at most 120 us."
    ]
    assert idle_paths([(0, {})]) == []


def test_losses_are_bounded_by_what_chance_does() -> None:
    assert by_chance(0, 1000) == 3 and by_chance(1000, 1000) == 3  # never none
    assert by_chance(100, 1000) == 34
    draw, apart = random.Random(1), []
    for _ in range(2000):
        x, y = (sum(draw.random() < 0.1 for _ in range(300)) for _ in range(2))
        apart.append(abs(x - y) <= by_chance(x, 300))
    assert 0.97 < sum(apart) / len(apart) < 0.999


def test_repeated_runs_keep_the_widest_bound_and_every_refusal() -> None:
    runs = [
        {
            "parameters": {},
            "bounds": {"d": 1.0, "e": 2.0},
            "refused": {},
            "calibration": {},
            "twin": {"metrics": {"d": 4.0}},
        },
        {
            "parameters": {},
            "bounds": {"d": 3.0},
            "refused": {"e": "below floor"},
            "calibration": {},
            "twin": {"metrics": {"d": 6.0}},
        },
    ]
    runs = [{**run, "parameters": {}, "calibration": {}} for run in runs]
    found = together(runs, {"metrics": {"d": 7.0, "e": 8.0}})
    assert found["bounds"] == {"d": 3.0} and found["metrics"] == {"d": 7.0, "e": None}
    assert found["twin"]["residuals"]["d"] == {"residual": 2.0, "relative": 0.4, "bound": 3.0, "within": True}


def test_residuals_of_exact_figures_are_within_only_when_equal() -> None:
    found = residuals({"k": 3, "l": 3, "s": "x"}, {"k": 3, "l": 4, "s": "x"}, {})
    assert [(key, value["within"]) for key, value in found.items()] == [("k", True), ("l", False)]


def message(time_s: float, kind: str, session: str | None = "1", direction: str = "tx") -> Message:
    return Message(time_s, "in", "r1", direction, kind, session)


def test_refreshes_and_interleaving_are_no_differences() -> None:
    first = [
        message(0, "Path"),
        message(1, "Resv", "1", "rx"),
        message(2, "PathTear"),
        message(3, "Hello", None),
    ]
    second = [message(0, "Path"), message(1, "Path"), message(1.1, "Resv", "1", "rx"), message(5, "PathTear")]
    (found,) = align(first, second)
    assert found.equal and found.differences == 0 and found.same == 1
    assert found.types["tx Path"] == (1, 2) and found.types["tx Hello"] == (1, 0)


def test_the_first_difference_is_named() -> None:
    first = [message(0, "Path"), message(1, "PathTear"), message(0, "Path", "2")]
    second = [message(0, "Path"), message(1, "ResvTear"), message(2, "PathTear"), message(0, "Path", "2")]
    (found,) = align(first, second)
    assert not found.equal and (found.same, found.differences) == (1, 1)
    assert str(found.first_difference) == (
        "session 1, tx, message 2: PathTear at 1.000000 s against ResvTear at 1.000000 s"
    )
    (gone,) = align(first, [])
    assert gone.sessions == (2, 0) and not gone.equal


def test_nodes_that_one_run_did_not_see_are_left_out() -> None:
    router = Message(0.5, "r1", "in", "rx", "Path", "1")
    (found,) = align(*seen_by_both([message(0, "Path"), router], [message(0, "Path")]))
    assert found.node == "in" and found.equal


def test_a_histogram_keeps_every_packet() -> None:
    x, y = binned([1.0, 2.0, 5.0, 1000.0], [10, 80000, 500, 1])
    assert sum(y) == 80511 and len(x) == len(y)
    assert binned([], []) == ([], [])


def options(**given: Any) -> Real | None:
    usual: dict[str, Any] = {
        "clock": "virtual",
        "lab": False,
        "sut": "built-in",
        "ingress": OuterPort(),
        "egress": OuterPort(),
        "sut_router_id": None,
        "driver": "packet",
        "busy": False,
        "rate": None,
        "twin": True,
    }
    return asked(**{**usual, **given})


def test_what_options_ask_for() -> None:
    assert options() is None
    wall, lab = options(clock="wall"), options(lab=True, rate="auto")
    assert wall is not None and wall.place == "process"
    assert lab is not None and (lab.place, lab.rate_auto) == ("lab", True)
    found = options(sut="external", ingress=OuterPort("e0"), egress=OuterPort("e1", address="192.0.2.9/31"))
    assert found is not None and found.ingress is not None and found.egress is not None
    assert (found.ingress.address, found.ingress.neighbor) == ("10.254.1.1/30", "10.254.1.2")
    assert (found.egress.neighbor, found.egress.router_id) == ("192.0.2.8", "192.0.2.9")
    assert "--egress-address" in found.options()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"clock": "wal"}, "--clock wal: one of virtual, wall (did you mean 'wall'?)"),
        ({"sut": "foreign"}, "--sut foreign: one of built-in, external"),
        ({"rate": "9"}, "--rate 9: only auto; a rate is given as --set rate_mbps=9"),
        ({"rate": "auto"}, "--rate auto: only in real time (--clock wall, --lab, --sut external)"),
        ({"clock": "wall", "driver": "dpdk"}, "--driver dpdk: one of packet, xdp"),
        ({"lab": True, "sut": "external"}, "--lab and --sut external: one of them"),
        ({"lab": True, "ingress": OuterPort("e0")}, "options of the tester's ports need --sut external"),
        ({"sut": "external"}, "--sut external: --ingress-port is needed"),
        ({"sut": "external", "ingress": OuterPort("e0")}, "--sut external: --egress-port is needed"),
        (
            {"sut": "external", "ingress": OuterPort("e0"), "egress": OuterPort("e0")},
            "--ingress-port and --egress-port are both e0",
        ),
    ],
)
def test_wrong_options_are_named(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        options(**given)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (OuterPort("a", address="10.1.1.1"), None, "--ingress-address 10.1.1.1: its subnet has no room"),
        (
            OuterPort("a", address="ten"),
            None,
            "--ingress-address ten: an IPv4 address with a prefix is needed",
        ),
        (OuterPort("a", neighbor="10.9.9.9"), None, "--ingress-neighbor 10.9.9.9: it is not another address"),
        (OuterPort("a", neighbor="x"), None, "--ingress-neighbor x: an IPv4 address is needed"),
        (OuterPort("a", router_id="x"), None, "--ingress-router-id x: an IPv4 address is needed"),
        (
            OuterPort("a"),
            OuterPort("b", address="10.254.1.1/24"),
            "--egress-address 10.254.1.1/24: its subnet overlaps",
        ),
    ],
)
def test_wrong_addresses_are_named(first: OuterPort, second: OuterPort | None, sentence: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        ports_of(first, second or OuterPort("b"), None)
    assert str(caught.value).startswith(sentence)
