"""Part `te` of `tag-switching`: an LSP takes packets against their route, and is moved while they flow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from twinplane.experiments import load
from twinplane.experiments.scores import Kind
from twinplane.experiments.tag_switching.parameters import TagSwitchingParameters
from twinplane.experiments.tag_switching.te_paper import DIRECT, EXPLICIT, delay_s, link_bytes, overtaken
from twinplane.results.points import Point

from tests.lab.support import good, refused

EXPERIMENT = load("tag-switching")


def parameters(**settings: Any) -> TagSwitchingParameters:
    return TagSwitchingParameters.model_validate({"part": "te", **settings})


def run(seed: int = 1, **settings: Any) -> Point:
    p = parameters(**settings)
    EXPERIMENT.check(p)
    network = EXPERIMENT.build(p, seed)
    EXPERIMENT.run(network, p)
    outcome = EXPERIMENT.summarise(network, p)
    assert len(outcome.tables["te_phases"]["what"]) == 3 * (p.moves + 3)
    return Point(p.model_dump(), outcome.metrics)


def test_delays_are_added_up() -> None:
    # 1522 bytes at 1.82 Mbit/s on each link of the core, four frames of 1518 at 100 Mbit/s, 5 ms and 1 us.
    on_ethernet = parameters()
    for way, hops in ((DIRECT, 1), (EXPLICIT, 2)):
        by_hand = hops * (0.005 + 1522 * 8 / 1.82e6) + 4 * (1518 * 8 / 100e6 + 1e-6)
        assert delay_s(on_ethernet, way, True) == pytest.approx(by_hand, rel=1e-6)
    # 32 cells at 4750 in a second, the last one again on the second link and twice at the rate of an STM-1.
    on_cells = parameters(medium="atm")
    by_hand = 2 * 0.005 + 33 / 4750 + 2 / 353_207 + 2 * 1518 * 8 / 100e6 + 4e-6
    assert delay_s(on_cells, EXPLICIT, True) == pytest.approx(by_hand, rel=1e-6)
    assert link_bytes(on_cells) == 32 * 53 and link_bytes(on_ethernet) == 1522
    # Only those of LDP are merged: cells wait for the last one of their packet.
    merged = parameters(medium="atm", vc_merge="merge")
    assert delay_s(merged, DIRECT, False) > delay_s(merged, DIRECT, True) == delay_s(on_cells, DIRECT, True)
    # By Switzerland 11.69 ms more: at 300 packets a second three are overtaken by each shortening.
    assert overtaken(parameters(packets_per_s=300, moves=2)).value == 2 * 3
    assert overtaken(parameters(packets_per_s=300, moves=3)).value == 2 * 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"medium": "atm"},
        {"medium": "atm", "vc_merge": "merge", "tag_encapsulation": "shim", "packet": 1284},
        {"packet": 200, "packets_per_s": 400, "moves": 9, "duration_s": 10},
        {"packet": 88, "packets_per_s": 700, "moves": 9, "duration_s": 6, "medium": "atm"},
        {"delay_ms": 50, "moves": 1, "duration_s": 10},
    ],
    ids=str,
)
def test_an_lsp_takes_what_its_filter_says_and_moves_without_loss(settings: dict[str, Any]) -> None:
    point = run(**settings)
    rows = EXPERIMENT.comparisons([point])
    assert all(row.holds for row in rows), [(row.what, row.low, row.measured, row.high) for row in rows]
    assert EXPERIMENT.fault(point) is None
    assert [row.kind for row in rows[:5]] == [Kind.OUTSIDE] * 5, "what the study says"
    assert len(rows) == 5 + 13 - (point.parameters["moves"] == 1)
    m = point.metrics
    assert m["filter_sent"] > 100 and m["by_switzerland"] > 0.2 * m["filter_sent"]
    assert EXPERIMENT.columns([point]) and EXPERIMENT.answer([point]) and EXPERIMENT.arithmetic([point])


def test_what_goes_another_way_is_a_fault() -> None:
    right = run(duration_s=2, moves=1)
    for wrong, words in (
        ({"filter_lost": 1}, "packets to the network of the filter that are lost: 1, where 0 to 0"),
        ({"rest_share": 0.1}, "packets to other networks in Austria by Switzerland: 0.1, where 0 to 0"),
        ({"hops": 3}, "hops of the LSP that are those of the study, in its order: 3, where 4 to 4"),
        ({"explicit_delay_s": None}, "their delay by Switzerland: nothing, where 0.02"),
        ({"changes": 2}, "the LSP changed 2 times in place of 3"),
        ({"switzerland_bytes": 0}, "sent from Switzerland to Austria, by its port: 0, where"),
    ):
        said = EXPERIMENT.fault(Point(right.parameters, {**right.metrics, **wrong}))
        assert said is not None and said.startswith(words), said


def test_a_run_draws_its_page(tmp_path: Path) -> None:
    sets = [f"--set={one}" for one in ("part=te", "medium=ethernet,atm", "duration_s=2", "moves=1")]
    said = good("run", "tag-switching", *sets, "--out", tmp_path / "run")
    assert "cost 0 packets" in said.replace("\n", " "), said
    page = (tmp_path / "run" / "report.html").read_text()
    for words in ("ATM: delays, and what links carry", "What became of packets, phase by phase",
                  "192.168.40.1 192.168.50.1 192.168.30.1 192.168.31.1", "overriding the route"):  # fmt: skip
        assert words in page, words


@pytest.mark.parametrize(
    "settings, said",
    [
        (("tags=without",), "tags=without: part=te has an LSP"),
        (("medium=atm", "tag_vcs=circuit"), "tag_vcs=circuit: part=te has VCs that are labels"),
        (("packets_per_s=75",), "take 1.02 of the direct link, and routers need a tenth: 66 at most"),
        (("rate_mbps=0.01",), "a faster link, or shorter packets"),
        (("duration_s=1",), "duration_s=1: each of 5 phases (moves=2) takes 0.234 s at least"),
        (("medium=atm", "delay_ms=1"), "packets by Switzerland are told by their delay"),
        (("part=te,udp",), "te has a table of its own: run it by itself"),
        (("moves=0",), "moves=0"),
        (("rtt_ms=70",), "rtt_ms=70: part=te does not have that (part rtt, tcp, duplex, udp, load)"),
        (("part=vcs", "moves=3"), "moves=3: part=vcs does not have that (part te)"),
        (("part=recovery", "tags=without"), "tags=without: part=recovery is about tags"),
        (("part=te", "rate_mbps=0.05", "packet=89", "packets_per_s=1"), "or a faster link"),
    ],
)
def test_what_can_not_be_is_refused(settings: tuple[str, ...], said: str) -> None:
    sets = [f"--set={one}" for one in (*(() if "part" in settings[0] else ("part=te",)), *settings)]
    assert said in refused("run", "tag-switching", *sets).replace("\n", " ")
