"""Parameters, ranges, profiles, published figures and statistics: all that needs no run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twinplane import TwinplaneError, profiles
from twinplane.experiments import CATALOGUE, load
from twinplane.experiments.lsp_flap import EXPERIMENT, published
from twinplane.experiments.lsp_flap.parameters import FlapParameters, line_rate_mbps
from twinplane.experiments.lsp_mesh.routes import neighbours, pairs, path, shortest
from twinplane.experiments.parameters import parse_settings, points
from twinplane.measure.statistics import chi_square, chi_square_quantile, combine, interval, t_quantile
from twinplane.results.points import Point


def given_settings(*settings: str) -> list[FlapParameters]:
    return points("lsp-flap", FlapParameters, parse_settings("lsp-flap", settings))


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_the_catalogue_is_true(name: str) -> None:
    experiment = load(name)
    assert experiment.name == name
    assert experiment.question.endswith("?")
    assert all(info.description for info in experiment.parameters.model_fields.values())


def test_ranges_and_lists_make_points() -> None:
    found = given_settings("n=100:900:100", "size=64,512", "scenario=single")
    assert len(found) == 18
    assert [p.n for p in found[::2]] == list(range(100, 901, 100))
    assert {p.scenario for p in found} == {"single"}
    assert [p.grace_s for p in given_settings("grace-s=0.5:1.5:0.5")] == [0.5, 1.0, 1.5]


def test_a_choice_that_looks_like_a_range_is_a_choice() -> None:
    experiment = load("protection")
    settings = parse_settings("protection", ["method=1:1,facility", "lsps=1:3:1"], experiment.parameters)
    assert settings == {"method": ["1:1", "facility"], "lsps": ["1", "2", "3"]}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["size=63"], "lsp-flap: size=63: an Ethernet frame has at least 64 bytes (64 to 9018)"),
        (["size=9019"], "lsp-flap: size=9019: it should be at most 9018 (64 to 9018)"),
        (["sizes=64"], "lsp-flap: unknown parameter 'sizes' (did you mean 'size'?)"),
        (["family=5"], "lsp-flap: family=5: it should be at most 4 (1 to 4)"),
        (["scenario=rings"], "lsp-flap: scenario=rings: one of ring, single (did you mean 'ring'?)"),
        (["n=many"], "lsp-flap: n=many: it should be a whole number (1 to 50000)"),
        (["n"], "lsp-flap: --set n: key=value is needed"),
        (["n=1", "n=2"], "lsp-flap: --set n=2: n is set twice"),
        (["n=9:1:1"], "lsp-flap: n=9:1:1: a range goes up, by a step above zero"),
        (["n=1:9"], "lsp-flap: n=1:9: a range is first:last:step"),
        (
            ["rate_mbps=800", "size=64"],
            "lsp-flap: rate_mbps=800: frames of 64 bytes fill a gigabit link at 761.9 Mbit/s",
        ),
        (["retry_max_s=0.001"], "lsp-flap: retry_max_s=0.001: it is below retry_s (0.01)"),
    ],
)
def test_mistakes_give_one_sentence(settings: list[str], sentence: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        given_settings(*settings)
    assert str(caught.value) == sentence


def test_the_headline_names_what_differs() -> None:
    found = EXPERIMENT.headline_of(given_settings("size=64,512", "n=100:900:100", "scenario=ring,single"))
    assert found == "ring of 3 / one router, juniper-m10, M=100, 64 B / 512 B, 500 Mbit/s"
    assert EXPERIMENT.headline_of(given_settings("size=64:68:1")).endswith("64 B ... 68 B, 500 Mbit/s")


def test_unknown_experiment() -> None:
    with pytest.raises(TwinplaneError, match=r"unknown experiment 'lsp-flip' \(did you mean 'lsp-flap'\?\)"):
        load("lsp-flip")


def test_families_set_load_as_published() -> None:
    loads = {(p.family, p.size): (p.stable, p.rate) for p in EXPERIMENT.campaign({})}
    assert loads[1, 512] == (100, 500.0)
    assert loads[3, 64] == (100, 761.9)
    assert loads[4, 1500] == (500, 900.0)
    assert len(EXPERIMENT.campaign({})) == 216
    assert len({p.digest() for p in EXPERIMENT.campaign({})}) == 216
    assert {p.family for p in EXPERIMENT.campaign({"family": ["3"]})} == {3}
    assert len(EXPERIMENT.campaign({"family": ["3"], "grace_s": ["1"]})) == 54
    assert round(line_rate_mbps(64) * 1e6 / 512) == 1_488_095


def test_profiles_are_checked(tmp_path: Path) -> None:
    assert profiles.names() == ("ideal", "juniper-m10", "pc-router")
    assert profiles.resolve("ideal")["forwarding"]["latency_ns"] == 0
    with pytest.raises(TwinplaneError, match=r"no such profile \(did you mean 'juniper-m10'\?\)"):
        profiles.resolve("juniper-m1")
    file = tmp_path / "mine.toml"
    file.write_text("[forwarding]\nlatency_us = 1\n")
    with pytest.raises(
        TwinplaneError, match=r"unknown field 'forwarding.latency_us' \(did you mean 'latency_ns'\?\)"
    ):
        profiles.resolve(str(file))
    file.write_text("[control]\nqueue_messages = 0\n")
    with pytest.raises(
        TwinplaneError, match=r"control.queue_messages: input should be greater than or equal to 1"
    ):
        profiles.resolve(str(file))
    file.write_text("[control.costs.rsvp-te]\nPath = { us = 5.0 }\nother = { ms = 1 }\n")
    with pytest.raises(
        TwinplaneError, match=r"unknown field 'control.costs.rsvp-te.other.ms' \(did you mean 'us'"
    ):
        profiles.resolve(str(file))
    file.write_text("[control.costs.rsvp-te]\nPath = { us = 5.0 }\n")
    assert profiles.resolve(str(file))["control"]["costs"]["rsvp-te"]["Path"]["us"] == 5
    assert "costs" not in profiles.resolve("ideal")["control"]
    file.write_text("[control\n")
    with pytest.raises(TwinplaneError, match="not a TOML file"):
        profiles.resolve(str(file))


def test_line_rate_arithmetic() -> None:
    point = Point(FlapParameters(size=64, family=3).model_dump(), {"delay_end_s": 0.003})
    first, second, third = published.arithmetic([point])
    assert published.arithmetic([Point({**point.parameters, "family": 1}, {})]) == []
    assert "0.71% too slow" in first
    assert "0.02%" in first
    assert "2.7" in second
    assert "3.000 to 3.000 ms in 1 runs" in third


def test_student() -> None:
    # Two-sided 95 % quantiles as every statistics book has them.
    for freedom, expected in (
        (1, 12.7062),
        (2, 4.30265),
        (5, 2.57058),
        (10, 2.22814),
        (30, 2.04227),
        (101, 1.98373),
    ):
        assert t_quantile(freedom) == pytest.approx(expected, abs=1e-4)
    found = interval([1.0, 2.0, 3.0])
    assert (found["mean"], found["sd"]) == (2.0, 1.0)
    assert found["high"] - 2.0 == pytest.approx(4.30265 / 3**0.5, abs=1e-4)


def test_chi_square() -> None:
    # Abramowitz and Stegun, table 26.8.
    for freedom, share, value in ((1, 0.95, 3.84146), (10, 0.99, 23.2093), (30, 0.5, 29.3360)):
        assert chi_square_quantile(freedom, share) == pytest.approx(value, rel=1e-5)
        assert chi_square(value, freedom) == pytest.approx(share, abs=1e-5)


def test_repeats_are_combined() -> None:
    means, intervals = combine([{"k": 1, "digest": "a", "x": None}, {"k": 2, "digest": "b", "x": None}])
    assert means == {"k": 1.5, "digest": "a", "x": None}
    assert intervals["k"]["n"] == 2
    assert combine([{"k": 1}]) == ({"k": 1}, {})


@given(st.integers(2, 40), st.integers(1, 200), st.integers(0, 5))
def test_pairs_are_distinct_and_seeded(nodes: int, most: int, seed: int) -> None:
    found = pairs(nodes, most, seed)
    assert found == pairs(nodes, most, seed)
    assert len(found) == min(most, nodes * (nodes - 1)) == len(set(found))
    assert all(a != b and 0 <= a < nodes and 0 <= b < nodes for a, b in found)


def test_shortest_paths_take_the_faster_parallel_link() -> None:
    around = neighbours(4, [(0, 1, 5), (0, 1, 3), (1, 2, 1), (0, 2, 9), (2, 3, 1)])
    assert path(shortest(around, 0), 3) == [(1, 1), (2, 2), (4, 3)]
    assert path(shortest(around, 3), 0) == [(4, 2), (2, 1), (1, 0)]
