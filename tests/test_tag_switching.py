"""`tag-switching`: recovery beside what timers say, and beside what is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from twinplane.errors import TwinplaneError
from twinplane.experiments import load
from twinplane.experiments.scores import Kind
from twinplane.experiments.tag_switching.parameters import CUT, DIVERTED, TagSwitchingParameters
from twinplane.experiments.tag_switching.timers import predict
from twinplane.results.points import Point

from tests.lab.support import good, refused

EXPERIMENT = load("tag-switching")
QUICK: dict[str, Any] = {"hello_s": 2, "dead_s": 8, "spf_s": 1, "down_s": 20, "advertise_s": 5, "hold_s": 90}


def run(**settings: Any) -> Point:
    parameters = EXPERIMENT.parameters.model_validate({"runs": 2, **QUICK, **settings})
    outcomes = {}
    for name, part in EXPERIMENT.parts(parameters).items():
        network = EXPERIMENT.build(part, 1)
        EXPERIMENT.run(network, part)
        outcomes[name] = EXPERIMENT.summarise(network, part)
    joined = EXPERIMENT.joined(parameters, outcomes)
    rows = joined.tables["recoveries"]
    assert len(rows["verdict"]) == 6 * len(outcomes)
    told = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    assert joined.metrics["surprising"] == 0, told
    return Point(parameters.model_dump(), joined.metrics)


def interval(link: str, event: str, plane: str, **settings: Any) -> tuple[float, float] | None:
    parameters = TagSwitchingParameters.model_validate({"link": link, **settings})
    found = predict(parameters, event, plane)
    return None if found is None else (found.low_s, found.high_s)


def test_timers_are_added_up() -> None:
    assert interval(DIVERTED, "failure", "core") == interval(DIVERTED, "failure", "outside") == (35, 45)
    assert interval(DIVERTED, "failure", "core", detection="interface") == (5, 5)
    # Routes before tags: at a Hello, or behind TIME-WAIT, when TCP has asked after 1, 3, 7 and 15 s.
    assert interval(DIVERTED, "repair", "outside") == (0, 20)
    assert interval(DIVERTED, "repair", "outside", spf_s=20, down_s=70) is None
    assert interval(DIVERTED, "repair", "outside", detection="interface") is None
    assert interval(DIVERTED, "repair", "core") is None and interval(CUT, "failure", "core") is None
    assert interval(CUT, "repair", "core") == (10, 20)
    assert interval(CUT, "repair", "core", spf_s=6) == (6, 16)
    assert interval(CUT, "repair", "core", detection="interface") == (20, 20)
    # A Hello earlier than MinLSInterval: what is said then comes late enough to be taken.
    assert interval(CUT, "repair", "core", detection="interface", hello_s=2) == (10, 10)
    assert interval(CUT, "repair", "outside") == (10, 25)
    # After a short failure BGP still waits for its interval behind the withdrawal.
    assert interval(CUT, "repair", "outside", advertise_s=40, down_s=51) == (14, 34)
    # Whoever was cut off withdraws in two messages; the second one may be before the repair or behind it.
    assert interval(CUT, "repair", "answers") == (10, 45)
    assert interval(CUT, "repair", "answers", down_s=66) == (14, 39)
    assert interval(CUT, "repair", "answers", detection="interface") == (20, 25)
    assert interval(CUT, "repair", "answers", detection="interface", advertise_s=70) == (50, 85)
    assert interval(DIVERTED, "failure", "answers") == (35, 45)


def test_sessions_of_bgp_have_to_outlast_the_failure() -> None:
    # There is a way again 80 s after the failure at the latest. TCP sends again after 1, 3, 7, 15, 31, 63 and
    # 123 s, and the hold time may be over two thirds of it after what was lost.
    for settings, least, again in (
        ({"hold_s": 184}, "184.8", "123"),
        ({"hold_s": 94, "down_s": 40, "dead_s": 20}, "94.8", "63"),
        ({"down_s": 150}, "274.8", "183"),
        ({"hold_s": 210, "delay_ms": 100}, "210.6", "140.2"),
        ({"hold_s": 94, "link": DIVERTED}, "94.8", "63"),
    ):
        p = TagSwitchingParameters.model_validate(settings)
        with pytest.raises(TwinplaneError, match=f"hold_s={p.hold_s}: more than {least}.* again {again} s"):
            EXPERIMENT.check(p)
        EXPERIMENT.check(p.model_copy(update={"hold_s": p.hold_s + 1 + 35 * (p.down_s == 150)}))


def outside_back(p: TagSwitchingParameters) -> tuple[str, int]:
    """The verdict of packets from outside after the repair, and how many of them were lost."""
    network = EXPERIMENT.build(p, 1)
    EXPERIMENT.run(network, p)
    rows = EXPERIMENT.summarise(network, p).tables["recoveries"]
    place = list(zip(rows["plane"], rows["event"], strict=True)).index(("outside", "repair"))
    return rows["verdict"][place], rows["lost"][place]


@pytest.mark.parametrize("hold_s, verdict", [(180, "later than timers say"), (186, "as predicted")])
def test_a_session_ends_where_it_is_said_that_it_may(hold_s: int, verdict: str) -> None:
    assert outside_back(TagSwitchingParameters(link=CUT, runs=1, number=2, hold_s=hold_s))[0] == verdict


def test_a_tag_may_come_later_than_the_route() -> None:
    verdict, lost = outside_back(TagSwitchingParameters(link=DIVERTED, runs=1, number=6, hello_s=1, dead_s=4))
    assert verdict == "as predicted" and lost > 0


def test_packets_that_are_under_way_at_the_end_are_not_lost() -> None:
    run(detection="interface", delay_ms=20)


@pytest.mark.parametrize("detection", ["hello", "interface"])
def test_a_network_recovers_as_its_timers_say(detection: str) -> None:
    point = run(detection=detection)
    assert EXPERIMENT.fault(point) is None
    m = point.metrics
    assert m["core_repair_min_s"] is not None and m["outside_failure_max_s"] is not None
    rows = EXPERIMENT.comparisons([point])
    # Published intervals with two ends each, one of them twice, and what timers say of six recoveries and six
    # parts of them.
    assert [row.kind for row in rows] == [Kind.OUTSIDE] * 6 + [Kind.OURS] * 24
    assert all(row.holds for row in rows if row.kind == Kind.OURS)
    assert not all(row.holds for row in rows[:6]), "other timers than those of the study"
    assert len(EXPERIMENT.arithmetic([point])) == 4


def test_a_run_prints_its_answer_and_draws_its_page(tmp_path: Path) -> None:
    settings = [f"--set={key}={value}" for key, value in QUICK.items()]
    words = ("run", "tag-switching", "--set=part=recovery", "--set=runs=1", *settings)
    said = good(*words, "--out", tmp_path / "run")
    assert "packets are back" in said.replace("\n", " "), said
    page = (tmp_path / "run" / "report.html").read_text()
    for words in ("Until packets arrive again", "Published, predicted and measured", "MISSED", "as predicted",
                  "the study has none"):  # fmt: skip
        assert words in page, words


def test_wrong_input_is_one_sentence() -> None:
    assert "part" in refused("run", "tag-switching", "--set", "part=throughput")
    assert "have seen the failure" in refused("run", "tag-switching", "--set", "down_s=40")
    assert "outlast the failure" in refused("run", "tag-switching", "--set", "down_s=150")
    assert "hello_s=10" in refused("run", "tag-switching", "--set", "dead_s=10")


def test_a_part_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    assert "vcs has a table of its own" in refused("run", "tag-switching", "--set", "part=vcs,rtt")
    assert "part=vpn: one of recovery, rtt, tcp" in refused("run", "tag-switching", "--set", "part=vpn")


@pytest.mark.parametrize(
    "settings, said",
    [
        (("part=tcp", "cells_per_s=400000"), "cells_per_s=400000"),
        (("part=tcp", "tag_encapsulation=llc-snap"), "have vc-mux or shim (RFC 3035, 9)"),
        (("part=tcp", "tag_vcs=circuit", "vc_merge=merge"), "vc_merge=merge: switches merge VCs that LDP"),
        (
            ("part=vcs", "network=generated", "edges=1000", "outside=5"),
            "outside=5: 5,000 networks behind all",
        ),
        (("part=recovery", "tag_vcs=circuit"), "tag_vcs=circuit: part=recovery is about tags"),
        (("part=load", "tag_vcs=circuit"), "tag_vcs=circuit: part=load has VCs that are labels"),
    ],
)
def test_what_is_not_there_on_atm_is_refused(settings: tuple[str, ...], said: str) -> None:
    sets = [f"--set={setting}" for setting in ("medium=atm", *settings)]
    assert said in refused("run", "tag-switching", *sets)


def part(which: str, **settings: Any) -> Point:
    """A point of a part other than recovery, with tags and without."""
    parameters = EXPERIMENT.parameters.model_validate({"part": which, "duration_s": 10, **settings})
    outcomes = {}
    for name, one in EXPERIMENT.parts(parameters).items():
        network = EXPERIMENT.build(one, 1)
        EXPERIMENT.run(network, one)
        outcomes[name] = EXPERIMENT.summarise(network, one)
    joined = EXPERIMENT.joined(parameters, outcomes)
    return Point(parameters.model_dump(), joined.metrics)


@pytest.mark.parametrize(
    "which, settings",
    [
        ("tcp", {"buffer_kb": 64}),
        ("tcp", {"buffer_kb": 5.84, "rtt_ms": 70, "path": "france"}),
        ("tcp", {"buffer_kb": 8, "message": 512, "rtt_ms": 70}),
        ("tcp", {"buffer_kb": 32, "flows": 4, "tags": "with"}),
        ("duplex", {"buffer_kb": 128, "tags": "without"}),
        ("rtt", {}),
        ("rtt", {"path": "france", "rtt_ms": 70}),
        ("udp", {"udp_mbps": 1.7}),
        ("udp", {"udp_mbps": 2.5, "tags": "without"}),
    ],
)
def test_throughput_is_what_arithmetic_says(which: str, settings: dict[str, Any]) -> None:
    point = part(which, **settings)
    ours = [row for row in EXPERIMENT.comparisons([point]) if row.kind == Kind.OURS]
    assert ours and all(row.holds for row in ours), [
        (row.what, row.low, row.measured, row.high) for row in ours
    ]
    assert EXPERIMENT.columns([point]) and EXPERIMENT.answer([point]) and EXPERIMENT.arithmetic([point])


@pytest.mark.parametrize(
    "which, settings",
    [
        ("tcp", {}),
        ("tcp", {"packet": 1284}),
        ("tcp", {"tag_encapsulation": "shim", "cells_per_s": 4515, "path": "france", "rtt_ms": 70}),
        ("tcp", {"tag_vcs": "circuit", "tag_encapsulation": "llc-snap", "tags": "with"}),
        ("tcp", {"buffer_kb": 8, "rtt_ms": 70}),
        ("duplex", {"buffer_kb": 128}),
        ("rtt", {"path": "france", "rtt_ms": 70}),
        ("rtt", {"path": "france", "rtt_ms": 70, "vc_merge": "merge", "tags": "with"}),
        ("udp", {"udp_mbps": 1.7, "vc_merge": "merge"}),
        ("udp", {"udp_mbps": 2.5}),
    ],
)
def test_throughput_on_atm_is_what_arithmetic_says(which: str, settings: dict[str, Any]) -> None:
    point = part(which, medium="atm", **settings)
    ours = [row for row in EXPERIMENT.comparisons([point]) if row.kind == Kind.OURS]
    assert ours and all(row.holds for row in ours), [
        (row.what, row.low, row.measured, row.high) for row in ours
    ]
    assert EXPERIMENT.fault(point) is None
    assert EXPERIMENT.columns([point]) and EXPERIMENT.answer([point]) and EXPERIMENT.arithmetic([point])


def test_packets_of_1284_bytes_are_fitted_to_the_published_figures() -> None:
    """At 1500 bytes all take 32 cells; a packet of 1284 takes one more with LLC and SNAP than without.

    The length is worked back from the published figures, so that it shows nothing that they come out.
    """
    found = {}
    for packet in (1500, 1284):
        rows = EXPERIMENT.comparisons([part("tcp", medium="atm", packet=packet)])
        found[packet] = [row for row in rows if row.published is not None]
    assert [row.published for row in found[1284]] == [1.75, 1.69]
    assert {row.kind for row in found[1284]} == {Kind.FITTED}
    assert {row.kind for row in found[1500]} == {Kind.OUTSIDE}
    assert all(row.holds for row in found[1284]), found[1284]
    assert not any(row.holds for row in found[1500]), found[1500]


def test_what_arithmetic_does_not_allow_is_a_fault() -> None:
    right = part("tcp")
    assert EXPERIMENT.fault(right) is None
    for wrong, words in (
        ({"with_mbps": 1.5}, "with tags: Mbit/s 1.500, where arithmetic allows 1.706 to 1.740"),
        ({"without_mbps": 1.8}, "without tags: Mbit/s 1.800, where arithmetic allows"),
        ({"with_mbps": None}, "with tags: Mbit/s nothing, where arithmetic allows"),
        ({"with_wrong": 3}, "with tags: 3 bytes did not arrive as they were sent"),
        ({"without_undone": 1}, "without tags: 1 connections were not closed by both ends"),
    ):
        said = EXPERIMENT.fault(Point(right.parameters, {**right.metrics, **wrong}))
        assert said is not None and said.startswith(words)


def test_flows_in_both_directions_that_lose_packets_come_to_an_end() -> None:
    """Both ends of a connection send again at once, and go on."""
    assert EXPERIMENT.fault(part("duplex", flows=8, tags="with", duration_s=30)) is None


def test_published_throughput_stands_beside_ours() -> None:
    rows = EXPERIMENT.comparisons([part("tcp")])
    published = [row for row in rows if row.published is not None]
    assert [row.published for row in published] == [1.75, 1.69], "with tags and without"
    measured = [row.measured for row in published]
    assert measured[0] is not None and measured[1] is not None
    assert measured[0] < measured[1], "on Ethernet a tag makes packets longer"
