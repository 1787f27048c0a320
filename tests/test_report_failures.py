"""The failure report: who was hurt, for how long, and the sentence that says so."""

from __future__ import annotations

import base64
import csv
import io
import re
from itertools import combinations, groupby, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import twinplane as tp
from test_report import outline
from test_results import manifest
from twinplane.charts import Chart, Curve, Mark, words
from twinplane.experiments.network.parameters import NetworkParameters
from twinplane.experiments.network.summary import summarise
from twinplane.network.drawing import topology
from twinplane.reports import course, from_network, maps, of_results, outages
from twinplane.reports import story as stories
from twinplane.reports.harm import by_class, cuts, effects, failures, lsps_hurt, ranked
from twinplane.reports.harm import outages as outages_of
from twinplane.reports.headline import headline
from twinplane.reports.seen import Span
from twinplane.reports.story import BEST_EFFORT, Action, FlowSeen, Lost, Story
from twinplane.results import folder as results


def told(actions: list[Action], losses: list[Lost], spans: list[Span] | None = None, flows: int = 3) -> Story:
    """A run of 10 s with flows of class EF, of best effort, and of AF11, in turn."""
    groups = ("EF", BEST_EFFORT, "AF11")
    seen = []
    for place in range(flows):
        lost = sum(one.packets for one in losses if one.flow == place)
        seen.append(FlowSeen(f"f{place}", groups[place % 3], sent=1000, received=1000 - lost, lost=lost))
    arrivals = {place: [(0, 500), (9_900_000_000_000, 500)] for place in range(flows)}
    return Story(10.0, seen, losses, actions, spans or [], arrivals)


FAIL = Action(5.0, "fail", link="pe1-p")


def up(name: str, *changes: tuple[float, str], why: str = "timeout") -> list[Span]:
    """An LSP that is up from the beginning, and what it changes to when."""
    times = [(0.0, "up"), *changes, (10.0, "")]
    return [
        Span(
            name, begin, end, state, ("pe1", "p") if state == "up" else None, why if state == "down" else None
        )
        for (begin, state), (end, _) in pairwise(times)
    ]


HEADLINES = {
    "hurt and back": (
        told(
            [FAIL],
            [Lost(0, 5.0, 5.31, 204), Lost(1, 5.0, 5.2, 340)],
            [*up("east", (5.1, "down"), (5.36, "up")), *up("west", (5.1, "down"), (5.3, "up"))],
        ),
        "Link pe1-p failed at 5 s: best effort lost 340 packets for 200 ms, class EF 204 for 310 ms;"
        " both LSPs were back at 5.36 s.",
    ),
    "nobody": (told([FAIL], []), "Link pe1-p failed at 5 s: no flow lost a packet after it."),
    "no LSP": (
        told([FAIL], [], up("east")),
        "Link pe1-p failed at 5 s: no flow lost a packet after it; no LSP went down.",
    ),
    "never": (
        told([FAIL], [Lost(0, 5.0, 9.99, 500)], [*up("east", (5.1, "down")), *up("west")]),
        "Link pe1-p failed at 5 s: class EF lost 500 packets for 4.99 s;"
        " LSP east went down and did not come back.",
    ),
    "before": (
        told([FAIL], [Lost(0, 1.0, 1.0, 7), Lost(1, 5.5, 5.5, 1)]),
        "Link pe1-p failed at 5 s: best effort lost 1 packet (7 more were lost before).",
    ),
    "again and again": (
        told([FAIL, Action(6.0, "heal", link="pe1-p"), Action(7.0, "fail", link="pe1-p")], []),
        "Link pe1-p failed 2 times, from 5 s to 7 s: no flow lost a packet after it.",
    ),
    "several": (
        told([FAIL, Action(6.0, "restart", node="p", until=7.0)], [Lost(2, 6.5, 6.6, 3)]),
        "2 failures from 5 s to 6 s (link pe1-p, node p): class AF11 lost 3 packets for 100 ms,"
        " all of them after node p restarted at 6 s.",
    ),
    "long between": (
        told([FAIL, Action(8.0, "fail", link="a-b")], [Lost(0, 5.0, 5.1, 10), Lost(0, 8.0, 8.2, 20)]),
        "2 failures from 5 s to 8 s (link pe1-p, link a-b): class EF lost 30 packets for 300 ms,"
        " 20 of them after link a-b failed at 8 s.",
    ),
    "many flows": (
        told([FAIL], [Lost(0, 5.0, 5.1, 10), Lost(3, 5.3, 5.5, 20)], flows=4),
        "Link pe1-p failed at 5 s: class EF lost 30 packets for up to 200 ms.",
    ),
    "at once": (
        told([FAIL, Action(5.0, "fail", link="p-q")], []),
        "Link pe1-p failed and link p-q failed at 5 s: no flow lost a packet after it.",
    ),
    "a restart": (
        told([Action(6.0, "restart", node="p", until=7.0)], []),
        "Node p restarted from 6 s to 7 s: no flow lost a packet after it.",
    ),
    "a disturbance": (
        told(
            [Action(6.0, "loss", link="p-q", source="p", until=7.0, value="10 %")],
            [Lost(0, 6.1, 6.9, 9)],
        ),
        "Link p-q lost 10 % of frames from p from 6 s to 7 s: class EF lost 9 packets for 800 ms.",
    ),
    "some away": (
        told([FAIL], [], [*up("east", (5.1, "down")), *up("west", (5.1, "down"), (5.2, "up"))]),
        "Link pe1-p failed at 5 s: no flow lost a packet after it;"
        " 1 of 2 LSPs that went down did not come back (east).",
    ),
    "torn down by hand": (
        told([Action(5.0, "tear", lsp="east")], [], up("east", (5.0, "down"), why="removed")),
        "LSP east was torn down at 5 s: no flow lost a packet after it; no LSP went down.",
    ),
}


@pytest.mark.parametrize("case", HEADLINES)
def test_the_headline_names_what_failed_and_whom_it_hurt(case: str) -> None:
    story, sentence = HEADLINES[case]
    assert headline(story) == sentence


def test_a_flow_that_does_not_come_back_is_said_so() -> None:
    story = told([FAIL], [Lost(0, 5.0, 9.99, 500), Lost(1, 5.0, 5.1, 700)])
    story.arrivals[0] = [(0, 500), (10_000_000_000, 0)]
    assert headline(story) == (
        "Link pe1-p failed at 5 s: class EF lost 500 packets and had not recovered at the end,"
        " best effort 700 for 100 ms."
    )


def test_losses_to_the_end_are_no_outage_if_most_packets_arrive() -> None:
    """As of a link that is too slow for what is sent."""
    story = told([FAIL], [Lost(0, place / 10, place / 10, 2) for place in range(100)])
    story.arrivals[0] = [(place * 10**10, 1) for place in range(1000)]
    assert not outages_of(story)[0].ends_lost
    story.arrivals = {}
    assert not outages_of(story)[0].ends_lost
    story = told([FAIL], [Lost(0, 5.0, 9.99, 500)])
    story.arrivals = {}
    assert outages_of(story)[0].ends_lost


def test_without_a_failure_there_is_no_such_headline() -> None:
    assert headline(told([], [Lost(0, 1.0, 2.0, 4)])) is None
    assert headline(told([Action(1.0, "heal"), Action(2.0, "signal", lsp="east")], [])) is None
    assert headline(told([Action(1.0, "loss", link="a-b", value="0 %")], [])) is None


def test_outages_go_from_the_first_to_the_last_packet_lost() -> None:
    again = Action(8.0, "fail", link="a-b")
    losses = [Lost(0, 5.0, 5.2, 20), Lost(0, 5.25, 5.3, 5), Lost(0, 8.0, 8.1, 10), Lost(2, 1.0, 1.0, 2)]
    story = told([FAIL, again], losses)
    first, second, third = outages_of(story)
    assert (first.first, first.last) == (5.0, 8.1)
    assert first.duration == pytest.approx(0.3 + 0.1)
    assert (second.first, second.hurt, second.ends_lost) == (None, 0, False)
    assert (third.first, third.duration) == (1.0, 0.0)
    assert [(one.lost, sorted(one.flows)) for one in effects(story)] == [(25, [0]), (10, [0])]
    assert [(one.at, one.end) for one in failures(story)] == [(5.0, 8.0), (8.0, float("inf"))]


def test_the_most_hurt_stand_first() -> None:
    losses = [Lost(0, 5.0, 5.2, 20), Lost(1, 5.0, 5.1, 90), Lost(2, 5.0, 9.9, 3)]
    story = told([FAIL], losses)
    story.arrivals[2] = [(0, 997)]
    assert [one.flow.name for one in ranked(outages_of(story))] == ["f2", "f1", "f0"]
    assert [one.flow.group for one in by_class(story, outages_of(story))] == ["AF11", BEST_EFFORT, "EF"]
    section = outages.sections(story)[0]
    assert [table.rows[0][0] for table in section.tables[:2]] == ["AF11", "f2"]
    assert section.tables[0].total[0] == "all classes"


def test_a_long_table_is_cut_with_words_and_is_whole_as_a_file() -> None:
    losses = [Lost(place, 5.0, 5.2, 1 + place % 900) for place in range(1200)]
    table = outages.sections(told([FAIL], losses, flows=1200))[0].tables[1]
    assert len(table.rows) == outages.ROWS_MAX
    assert table.note == "The 50 most hurt of 1,200 flows; all are in"
    assert table.whole is not None and table.whole[0] == "flows.csv"
    rows = list(csv.DictReader(io.StringIO(base64.b64decode(table.whole[1]).decode())))
    assert len(rows) == 1200 and sum(int(row["lost"]) for row in rows) == sum(one.packets for one in losses)


def failover() -> tp.Network:
    """The failover of the README, shorter, and a flow of best effort that is not touched by it."""
    net = tp.Network(seed=7)
    a, b, c, d = (net.router(name) for name in "abcd")
    for x, y in [(a, b), (b, c), (c, d), (a, d)]:
        net.link(x, y, rate="1 Gbit/s", delay="50 us", reservable="900 Mbit/s")
    gold = a.lsp("gold", to=c, route=[b, c], bandwidth="200 Mbit/s", fallback=[d, c])
    blue = d.lsp("blue", to=a, route=[a])
    net.flow(a, c, over=gold, rate="150 Mbit/s", size=512, arrivals="poisson", dscp="EF", start="10 ms")
    net.flow(d, a, over=blue, rate="10 Mbit/s", size=512, start="10 ms", name="untouched")
    net.run(until="50 ms")
    net.fail(b, c)
    net.run(until="100 ms")
    return net


@pytest.fixture(scope="module")
def net() -> tp.Network:
    return failover()


def test_numbers_of_the_page_are_those_of_the_tables(net: tp.Network) -> None:
    story = stories.of_network(net)
    assert all(flow.left_over == 0 for flow in story.flows)
    losses = net.losses()
    lost = {row["flow"]: 0 for row in losses.to_dicts()}
    for row in losses.to_dicts():
        lost[row["flow"]] += row["packets"]
    for place, (flow, seen) in enumerate(zip(net.flows, story.flows, strict=True)):
        stats = flow.stats()
        assert (seen.sent, seen.received) == (stats["sent"].sum(), stats["received"].sum())
        assert seen.lost == lost.get(place, 0) == sum(x.packets for x in story.losses if x.flow == place)
        assert seen.lost + seen.in_flight == stats["lost"].sum()
        # What arrives over time, and the histogram of delays, are of the same packets.
        assert sum(count for _, count in story.arrivals[place]) == seen.received
        assert sum(story.delays[place][1]) == seen.received
    ef = next(row for row in outages.sections(story)[0].tables[0].rows if row[0] == "EF")
    first = story.flows[0]
    assert list(ef[1:6]) == ["1", "1", f"{first.sent:,}", f"{first.received:,}", f"{first.lost:,}"]
    assert outages.account(story).endswith("nothing is left over.")
    assert f"class EF lost {first.lost} packets for " in (headline(story) or "")
    assert all(one.first >= 0.05 for one in story.losses)


def test_the_page_of_a_failure(net: tp.Network) -> None:
    text = from_network.page(net, "Failover")
    found = outline(text)
    assert found.outside == [] and found.unnamed == []
    assert re.search(r'class="answer">Link b-c failed at 50 ms: class EF lost \d+ packets for \d+', text)
    assert "LSP gold was back at 50." in text
    assert found.count["h1"] == 1 and found.count["nav"] == 1
    assert text.count("data-sortable") >= 1 and "prefers-color-scheme: dark" in text
    for number in range(1, found.count["h2"] + 1):
        assert f'href="#section-{number}"' in text and f'id="section-{number}"' in text


def charts_of(story: Story) -> list[Chart]:
    made = (
        course.chart("k", story, messages=None, up=None, series=None),
        course.close_up(story),
        course.distribution(story),
    )
    return [one for one in made if one is not None]


@pytest.mark.parametrize("case", HEADLINES)
def test_no_panel_is_empty(case: str) -> None:
    for chart in charts_of(HEADLINES[case][0]):
        assert chart.curves
        for panel in range(chart.panels):
            own = [one for one in chart.curves if one.panel == panel]
            assert any(value is not None for one in own for value in one.y), (chart.key, panel)


def test_all_panels_share_the_axis_and_say_what_was_done(net: tp.Network) -> None:
    story = stories.of_network(net)
    chart, close, spread = charts_of(story)
    assert chart.x_range == (0.0, story.end)
    assert [mark.text for mark in chart.marks] == ["fail b-c"]
    assert [(band.begin, band.end) for band in chart.bands] == [(0.05, story.end)]
    names = [curve.name for curve in chart.curves]
    assert names[:4] == ["EF sent", "EF arrived", "best effort arrived", "EF lost"]
    assert {"up", "down", "up on another route"} <= set(names)
    assert chart.ticks == {2: ["gold", "blue"], 3: ["port down", "LSP down", "LSP up"]}
    arrived = next(curve for curve in chart.curves if curve.name == "EF arrived")
    lost = next(curve for curve in chart.curves if curve.name == "EF lost")
    width = arrived.x[1] - arrived.x[0]  # type: ignore[operator]
    assert sum(v or 0 for v in arrived.y) * width == pytest.approx(story.flows[0].received)
    assert sum(v or 0 for v in lost.y) * width == pytest.approx(story.flows[0].lost)
    assert close.x_range is not None and close.x_range[0] < 0.05 < close.x_range[1] < 0.06
    assert spread.curves[0].y[-1] == pytest.approx(100.0)


def test_the_map_shows_routes_and_failed_links_as_they_were(net: tp.Network) -> None:
    section = maps.section(topology(net), stories.of_network(net))
    before, during, after = section.drawings
    assert "gold: a - b - c." in before.text and "Down" not in before.text
    assert "Down: b - c" in during.text and "Without a route: gold." in during.text
    assert "gold: a - d - c." in after.text and "Down: b - c" in after.text
    assert "stroke-dasharray" in after.svg


def test_links_and_nodes_are_away_until_they_are_mended() -> None:
    story = told(
        [
            FAIL,
            Action(6.0, "heal", link="pe1-p"),
            Action(7.0, "restart", node="p", until=7.5),
            Action(8.0, "fail", link="a-b"),
            Action(8.5, "heal"),
            Action(9.0, "fail", link="a-b"),
            Action(9.1, "fail", link="c-d", until=9.6),
            Action(9.2, "heal", link="c-d"),
        ],
        [],
    )
    assert sorted(cuts(story), key=lambda cut: cut[1]) == [
        ("pe1-p", 5.0, 6.0),
        ("p", 7.0, 7.5),
        ("a-b", 8.0, 8.5),
        ("a-b", 9.0, 10.0),
        ("c-d", 9.1, 9.2),
    ]


def test_only_the_end_of_the_last_failure_counts_and_a_repair_comes_first() -> None:
    twice = [Action(1.0, "fail", link="b-c", until=2.0), Action(1.5, "fail", link="b-c", until=6.5)]
    assert cuts(told(twice, [])) == [("b-c", 1.0, 6.5)]
    repaired = told([Action(1.0, "fail", link="b-c", until=5.0), Action(2.0, "heal", link="b-c")], [])
    assert headline(repaired).startswith("Link b-c failed from 1 s to 2 s: ")


@pytest.mark.parametrize(
    ("what", "value", "harms"),
    [
        ("delay", "0 s to 5 ms", True),
        ("delay", "0 s", False),
        ("corruption", "0e0", False),
        ("reordering", "0 % by 1 ms", False),
        ("loss", "0 %", False),
        ("loss", "0.5 %", True),
    ],
)
def test_what_takes_a_disturbance_away_is_no_failure(what: str, value: str, harms: bool) -> None:
    assert Action(1.0, what, link="a-b", value=value).harms is harms


def test_an_lsp_that_came_back_and_went_again_is_away() -> None:
    story = told([FAIL], [], up("east", (5.1, "down"), (6.0, "up"), (7.0, "down")))
    (one,) = lsps_hurt(story, 5.0)
    assert (one.down, one.back, one.away) == (5.1, None, pytest.approx(0.9 + 3.0))


def kept_in(folder: Path, net: tp.Network, parameters: NetworkParameters) -> results.Results:
    """What a results folder holds of a run."""
    outcome = summarise(net, parameters)
    tables = {**outcome.tables, "actions": net.columns("actions")}
    results.save_tables(folder, [tables], [{"point": 0}])
    given = parameters.model_dump()
    results.save(
        folder,
        manifest(experiment="network", parameters=given),
        {"points": [{"parameters": given, "metrics": outcome.metrics}], "topology": outcome.topology},
    )
    return results.load(folder)


def test_a_results_folder_says_the_same(net: tp.Network, tmp_path: Path) -> None:
    parameters = NetworkParameters(file="failover.yaml", duration_s=0.1, drain_s=0.0)
    found = kept_in(tmp_path, net, parameters)
    kept, here = stories.of_results(found), stories.of_network(net)
    assert kept is not None
    assert kept.flows == here.flows and kept.actions == here.actions
    assert headline(kept) == headline(here)
    assert kept.arrivals == here.arrivals
    sections = outages.sections(kept), outages.sections(here)
    assert sections[0] == sections[1]
    text = of_results(found).read_text()
    assert (headline(here) or "-") in text and "The map before, during and after" in text


def test_what_routers_tell_has_marks_of_its_own(net: tp.Network) -> None:
    story = stories.of_network(net)
    found = course.events(story)
    assert [(one.what, one.about) for one in found if one.what == "port down"] == [
        ("port down", "b to c"),
        ("port down", "c to b"),
    ]
    assert [one.what for one in found if one.about == "gold"] == ["LSP down", "LSP up"]
    chart = charts_of(story)[0]
    (down,) = (one for one in chart.curves if one.name == "LSP down")
    assert (down.shape, down.panel, len(down.x)) == ("points", 3, 1)
    assert "LSP down (gold) at 0.05" in chart.alt
    many = told([FAIL], [], [*up("a", *((5 + k / 50, ("down", "up")[k % 2]) for k in range(100)))])
    own = [one for one in charts_of(many)[0].curves if one.name in ("LSP down", "LSP up")]
    assert {one.shape for one in own} == {"ticks"} and sum(len(one.x) for one in own) == 100
    assert "LSP down 50 times, LSP up 50 times" in charts_of(many)[0].alt


def test_of_many_failures_the_worst_have_a_map(net: tp.Network) -> None:
    links = ("a-b", "b-c", "c-d", "a-d", "a-b")
    actions, losses = [], []
    for at, name in enumerate(links, 1):
        actions += [Action(at, "fail", link=name, until=at + 0.5)]
        losses.append(Lost(0, at, at + 0.1, 10 * at if at < 5 else 1))
    section = maps.section(topology(net), told(actions, losses))
    assert [one.title for one in section.drawings] == [
        "Before",
        *(f"During: link {name} failed" for name in ("b-c", "c-d", "a-d")),
    ]
    assert section.points == [
        "At the end, 10 s, it is as in the map 'Before'.",
        "Without a map, since they did less harm: link a-b failed at 1 s, link a-b failed at 5 s.",
    ]


@pytest.mark.parametrize("letters", (110, 38))
def test_words_of_marks_do_not_cover_each_other(letters: int) -> None:
    marks = [Mark(at, f"fail link {at}") for at in (0.0, 0.1, 0.2, 1.0, 5.0, 9.0, 9.8, 9.9, 10.0)]
    chart = Chart("k", "t", "a", "x", [""], [Curve("c", [0.0, 10.0], [0.0, 1.0])], marks, x_range=(0.0, 10.0))
    found = words.placed(chart, letters)
    assert len(found) >= 6
    spans = []
    for mark, row, late in found:
        wide = 10 * len(mark.text) / letters
        spans.append((row, mark.x - wide if late else mark.x, mark.x if late else mark.x + wide))
        assert spans[-1][1] >= -1e-9 and spans[-1][2] <= 10 + 1e-9
    for one, other in combinations(spans, 2):
        assert one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]


def test_a_page_without_scripts_has_its_figures(net: tp.Network) -> None:
    text = from_network.page(net, "Failover")
    drawings = re.findall(r"<noscript>(<svg.*?</svg>)</noscript>", text, flags=re.DOTALL)
    assert len(drawings) == len(charts_of(stories.of_network(net)))
    for one in drawings:
        root = ElementTree.fromstring(one)
        assert root.get("aria-label") and len(list(root.iter())) > 20
        assert "nan" not in one and "inf" not in one
    texts = {one.text for one in ElementTree.fromstring(drawings[0]).iter() if one.tag.endswith("text")}
    assert {"EF sent", "gold", "fail b-c", "time (s)", "packets/s"} <= texts


def test_packets_lost_here_and_there_are_no_outage() -> None:
    """Frames lost at random on a link, and then the link cut: only then nothing arrives."""
    net = tp.Network(seed=3)
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate="10 Mbit/s", delay="1 ms", detection="20 ms")
    net.flow(a, b, name="video", rate="1 Mbit/s", size=125, dscp="EF")
    net.at("1 s").loss(a, b, "10 %", for_="1 s")
    net.run(until="2500 ms")
    story = stories.of_network(net)
    assert story.periods is not None and story.periods[-1].packets < 10
    (video,) = outages_of(story)
    assert video.scattered and 0 < video.duration < 0.01 and 0.9 < video.spread < 1.0
    assert re.search(r"class EF lost \d+ packets here and there over 9\d\d ms", headline(story) or "")
    table = outages.sections(story)[0].tables[1]
    assert "lost over" in table.titles
    net.fail(a, b)
    net.run(until="3 s")
    net.heal()
    net.run(until="4 s")
    story = stories.of_network(net)
    (video,) = outages_of(story)
    # What is on its way when the link is cut is lost from the cut on.
    (cut,) = (one for one in story.periods or () if one.first >= 2.5)
    assert cut.packets == sum(one.packets for one in story.losses if one.first >= 2.5)
    assert 0.5 <= cut.last - cut.first < 0.53
    assert video.duration == pytest.approx(cut.last - cut.first, abs=0.01)
    assert not video.scattered and video.in_a_row >= cut.packets


def test_outages_are_over_when_a_packet_of_any_of_its_lsps_arrives() -> None:
    """A flow over two LSPs, of which one is cut: every other packet arrives."""
    net = tp.Network(seed=3)
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate="10 Mbit/s", delay="1 ms")
    lsps = a.lsp("pair", to=b, route=[b], count=2)
    net.flow(a, b, over=lsps, rate="1 Mbit/s", size=125, start="100 ms")
    net.run(until="1 s")
    before = net.columns("outages")
    net.fail(a, b)
    net.run(until="1100 ms")
    after = net.columns("outages")
    assert before["packets"] == [] and len(after["packets"]) == 1
    assert after["packets"][0] == sum(net.columns("loss_times")["packets"])


@pytest.mark.parametrize("seed", (1, 2, 3))
def test_outages_are_the_longest_runs_of_packets_that_did_not_arrive(seed: int) -> None:
    """Against what the sink logged of every packet: lost on a link, then on another, which is cut last."""
    net = tp.Network(seed=seed)
    for name in "abc":
        net.router(name)
    for x, y in ("ab", "bc"):
        net.link(x, y, rate="10 Mbit/s", delay="1 ms", detection="20 ms")
    flow = net.flow("a", "c", rate="1 Mbit/s", size=125, arrivals="poisson", log=True)
    net.at("500 ms").loss("a", "b", "30 %", for_="500 ms")
    net.at("1100 ms").loss("b", "c", "20 %", for_="300 ms")
    net.at("1500 ms").fail("b", "c", for_="100 ms")
    net.run(until="2 s")
    rows = flow.packets()
    times = zip(rows["departure_s"].to_list(), rows["arrival_s"].to_list(), strict=True)
    runs = [[at for at, _ in of] for is_lost, of in groupby(times, lambda one: one[1] is None) if is_lost]
    table = net.columns("outages")
    for begin, end in ((0.5, 1.05), (1.05, 1.45), (1.45, 1.95)):
        longest = max((run for run in runs if begin <= run[0] < end), key=len)
        found = [
            (packets, first / 1e12, last / 1e12)
            for packets, first, last in zip(
                *(table[key] for key in ("packets", "first_ps", "last_ps")), strict=True
            )
            if begin <= first / 1e12 < end
        ]
        packets, first, last = max(found)
        assert packets == len(longest)
        # Where it was lost, a packet was some milliseconds after it was due.
        assert abs((last - first) - (longest[-1] - longest[0])) < 0.005
    assert longest[-1] - longest[0] > 0.09


def test_losses_of_which_nobody_knows_when_are_told() -> None:
    """As in a lab, whose tester counts what does not arrive: nothing is said of when."""
    story = told([FAIL], [])
    story.flows[0] = FlowSeen("f0", "EF", sent=1000, received=941, lost=59, unplaced=59)
    said = headline(story)
    assert said is not None and "59 packets were lost, nobody knows when" in said and "no flow" not in said
    chart = course.chart("time", story, messages=None, up=None, series=None)
    assert chart is not None and "59 lost, nobody knows when" in chart.alt and "no packet" not in chart.alt


def test_delays_that_are_all_the_same_are_seen() -> None:
    story = told([FAIL], [], flows=1)
    story.delays[0] = ([116e-6], [1000])
    chart = course.distribution(story)
    assert chart is not None
    (curve,) = chart.curves
    # The step is inside the panel, not at its edge.
    assert min(curve.x) < 116 < max(curve.x) and list(curve.y) == [0, 100, 100]
