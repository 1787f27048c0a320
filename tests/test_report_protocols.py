"""What the report tells of routing protocols: sessions, databases and paths over time, and what happened."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError
from twinplane.experiments.network.parameters import NetworkParameters
from twinplane.network.sessions import session_spans
from twinplane.network.ways import asked
from twinplane.reports import databases, from_network, happened, of_results, paths, sessions
from twinplane.reports import story as stories
from twinplane.reports.seen import Session, Size, Span, sessions_of
from twinplane.reports.story import Action, FlowSeen, Story

from tests.test_report_failures import kept_in

FAST: dict[str, Any] = {
    "ospf": {
        "hello_interval": "1 s",
        "dead_interval": "4 s",
        "bfd": {"interval": "50 ms", "multiplier": 3},
    },
    "ldp": {"hello_interval": "1 s", "hold_time": "4 s"},
}
NEAR = {"asn": 65001, "import": "all", "export": "all", "advertisement_interval": "1 s"}


def square() -> tp.Network:
    """A square with OSPF, LDP and BFD; x is a neighbour of a by BGP, and y expects another AS of d."""
    net = tp.Network()
    told = {"asn": 65000, "import": "all", "export": "all"}
    net.router("a", **FAST, bgp=tp.Bgp(asn=65000, networks=["192.0.2.0/24"], neighbors={"x": NEAR}))
    net.router("b", **FAST)
    net.router("c", **FAST)
    net.router("d", **FAST, bgp=tp.Bgp(asn=65000, neighbors={"y": {**told, "asn": 65007}}))
    net.router("x", bgp=tp.Bgp(asn=65001, networks=["203.0.113.0/24"], neighbors={"a": told}))
    net.router("y", bgp=tp.Bgp(asn=65002, neighbors={"d": told}))
    for ends, metric in (("ab", 1), ("bd", 1), ("ac", 5), ("cd", 5), ("ax", 1), ("dy", 1)):
        net.link(*ends, rate="1 Gbit/s", delay="10 us", metric=metric)
    net.flow("a", "d", rate="40 kbit/s", size=500, start="10 s", name="f")
    net.at("20 s").fail("a", "b", for_="6 s")
    net.at("35 s").restart("c", "3 s")
    return net


@pytest.fixture(scope="module")
def net() -> tp.Network:
    made = square()
    made.sample("500 ms")
    made.run(until="60 s")
    return made


@pytest.fixture(scope="module")
def story(net: tp.Network) -> Story:
    return stories.of_network(net)


pytestmark = pytest.mark.filterwarnings("ignore::twinplane.errors.TwinplaneWarning")


def named(story: Story, name: str) -> Session:
    return next(one for one in story.sessions if one.name == name)


def test_a_session_is_up_while_both_ends_say_so(net: tp.Network, story: Story) -> None:
    counts = {"OSPF": 4, "BFD": 4, "LDP": 4, "BGP": 2}
    assert {name: sum(one.protocol == name for one in story.sessions) for name in counts} == counts
    events = net.events(event="ospf-adjacent").filter(node="a", neighbor="b")["time_s"].to_list()
    one = named(story, "OSPF a - b")
    assert [span.state for span in one.spans] == ["waiting", "up", "down", "up"]
    assert one.up_first is not None and one.up_first >= events[0]
    assert (one.downs[0].begin, one.downs[0].end >= events[1]) == (20.0, True)
    for one in story.sessions:
        assert one.spans[0].begin == 0.0 and one.spans[-1].end == pytest.approx(60.0)
        assert all(a.end == b.begin and a.state != b.state for a, b in zip(one.spans, one.spans[1:]))  # noqa: B905
    tables = net.table("ldp_sessions")
    up = tables.filter(tables["state"] == "operational").height
    assert 2 * sum(one.is_up for one in story.sessions if one.protocol == "LDP") == up


def test_who_forgets_its_sessions_has_none_though_it_tells_nobody(story: Story) -> None:
    for name in ("OSPF a - c", "OSPF c - d", "BFD a - c", "LDP c - d"):
        (down,) = named(story, name).downs
        assert (down.begin, down.why) == (35.0, "c was away")
    assert named(story, "LDP a - b").downs[0].why == "Hold Timer Expired"


def test_what_was_never_up_has_a_strip_and_a_reason(story: Story) -> None:
    one = named(story, "BGP d - y")
    assert one.up_first is None and [span.state for span in one.spans] == ["waiting"]
    (section,) = sessions.section(story)
    why = "d: the neighbour has AS 65002, not 65007; y: the neighbour said: bad peer AS"
    assert (section.points, one.spans[0].why) == ([f"BGP d - y was never up: {why}."], why)
    chart = section.charts[0]
    assert chart.ticks[0] == [one.name for one in story.sessions]
    assert {"up", "down", "not up yet", "never up"} == {curve.name for curve in chart.curves}
    assert list(section.tables[1].rows[0][:3]) == ["BGP d - y", why, "never up"]


def test_routers_that_do_not_hear_each_other_were_never_adjacent() -> None:
    net = tp.Network()
    net.router("a", ospf={"hello_interval": "1 s"})
    net.router("b", ospf={"hello_interval": "2 s"})
    net.link("a", "b")
    net.run(until="5 s")
    (one,) = sessions_of(session_spans(net))
    assert one.name == "OSPF a - b" and one.up_first is None
    assert "hello" in str(one.spans[0].why).lower()


def test_parallel_links_have_sessions_of_their_own() -> None:
    net = tp.Network()
    for name in "ab":
        net.router(name)
    net.link("a", "b")
    net.link("a", "b")
    net.ospf(hello_interval="1 s", dead_interval="4 s")
    net.at("3 s").fail(net.links[1])
    net.run(until="5 s")
    found = sessions_of(session_spans(net))
    assert [one.name for one in found] == ["OSPF a - b (link 0)", "OSPF a - b (link 1)"]
    assert [one.is_up for one in found] == [True, False]


def test_of_many_sessions_the_worst_have_strips() -> None:
    many = []
    for place in range(3000):
        protocol = ("OSPF", "LDP")[place % 2]
        spans = [Span("", 0.0, 1.0, "waiting"), Span("", 1.0, 10.0, "up")]
        if place in (700, 701):
            spans = [Span("", 0.0, 10.0, "waiting", why="nobody")]
        elif 100 <= place < 160:
            spans = [spans[0], Span("", 1.0, 5.0, "up"), Span("", 5.0, 5.0 + place / 100, "down")]
        many.append(Session(protocol, (f"r{place}", f"s{place}"), "", spans))
    story = Story(10.0, sessions=many)
    (section,) = sessions.section(story)
    rows = section.charts[0].ticks[0]
    assert len(rows) == sessions.STRIPS_MAX
    assert {"OSPF r700 - s700", "LDP r701 - s701", "LDP r159 - s159"} <= set(rows)
    assert "2,960 more have no strip" in section.charts[0].alt
    assert section.tables[1].note == "The longest away 50 of 62"
    quiet = sessions.section(Story(10.0, sessions=[*many[:99], *many[200:600]]))[0].charts[0].ticks[0]
    assert sorted(name.split()[0] for name in quiet) == ["LDP"] * 4 + ["OSPF"] * 4
    assert len(happened.lines(story)) < 20  # 60 that went down together are one line for each protocol


def test_databases_are_drawn_where_somebody_looked(net: tp.Network, story: Story) -> None:
    (section,) = databases.section(story)
    assert section.title == "Databases over time" and "every 500 ms" in section.paragraphs[0]
    titles = section.charts[0].y_titles
    assert titles[:3] == ["LSDB (advertisements)", "LDP (labels)", "BGP (routes)"]
    end = {row[0]: row for row in section.tables[0].rows}
    ospf = net.table("ospf")
    assert end["LSDB"][5] == f"{ospf['advertisements'].sum():,}"
    assert end["RIB"][5] == f"{net.table('rib').height:,}"
    assert end["ILM"][5] == f"{net.table('state')['ilm'].sum():,}"
    lost = [one.least for one in story.sizes if one.database == "LDP" and 20 < one.at < 26]
    assert max(lost) < max(one.least for one in story.sizes if one.database == "LDP")


def test_where_nobody_looked_the_page_says_so() -> None:
    net = tp.Network()
    for name in "ab":
        net.router(name)
    net.link("a", "b")
    net.ospf(hello_interval="1 s", dead_interval="4 s")
    net.run(until="8 s")
    text = from_network.page(net, None)
    assert "Databases at the end" in text and "Network.sample(every) before a run" in text
    assert "Ways of flows and routes are those at the end" in text
    assert databases.section(Story(1.0)) == []
    one = Session("BGP", ("a", "b"), "", [Span("", 0.0, 1.0, "up")])
    assert databases.section(Story(1.0, sessions=[one]))[0].paragraphs == [databases.NOT_LOOKED]
    sizes = [Size(0.0, "RIB", 2, 1, 1, 2), Size(0.0, "LSDB", 2, 1, 1, 2), Size(1.0, "LSDB", 2, 1, 1, 2)]
    assert "until all together" in databases.section(Story(1.0, sizes=sizes))[0].points[0]


def test_to_look_changes_nothing_of_a_run(net: tp.Network) -> None:
    other = square()
    other.run(until="60 s")
    assert other.digest() == net.digest()
    looked = sorted(set(net.sampling.sizes["time_ps"]))
    assert looked == [place * 5 * 10**11 for place in range(121)]


def test_who_asks_for_what_cannot_be_is_told() -> None:
    with pytest.raises(TwinplaneError, match="sample: only a network in virtual time"):
        tp.Network(clock="wall").sample("1 s")
    with pytest.raises(TwinplaneError, match="every='0 s': it should be more than 0 s"):
        tp.Network().sample("0 s")
    with pytest.raises(TwinplaneError, match="sample: every 'often': a number"):
        tp.Network().sample("often")


def test_ways_are_those_of_the_tables_before_and_after(net: tp.Network, story: Story) -> None:
    mine = [way for way in story.ways if way.name == "f"]
    led = [way.nodes for way in mine if way.fate == "arrives"]
    assert list(dict.fromkeys(led)) == [tuple("abd"), tuple("acd")] and led[-1] == tuple("abd")
    assert mine[1].labels[0].isdigit() and mine[1].labels[1] == ""  # the last but one takes the label off
    away = next(way for way in mine if way.begin == 20.0)
    assert (away.nodes, away.fate) == (("a",), "is lost at a: port-down")
    told = next(way for way in story.ways if way.name == "a to 203.0.113.0/24" and way.end == 60.0)
    assert (told.nodes, told.fate) == (("a", "x"), "arrives")


def test_labels_belong_to_the_links_that_packets_have_them_on() -> None:
    net = tp.Network()
    net.host("h", "10.1.0.2/24")
    net.host("s", "10.2.0.2/24")
    for name in "abc":
        net.router(name)
    for ends in (("h", "a"), ("a", "b"), ("b", "c"), ("c", "s")):
        net.link(*ends, rate="1 Gbit/s")
    net.ospf(hello_interval="1 s", dead_interval="4 s")
    net.ldp(hello_interval="1 s", hold_time="4 s", prefixes="all")
    net.run(until="20 s")
    way = asked(net, "h", {"to": "s"})
    assert (way.nodes, way.fate) == (("h", "a", "b", "c", "s"), "arrives")
    assert [bool(label) for label in way.labels] == [False, True, False, False]


def test_a_way_that_goes_round_in_a_circle_is_said_so() -> None:
    net = tp.Network()
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    net.route(a, "10.9.0.0/16", b)
    net.route(b, "10.9.0.0/16", a)
    net.run(until="1 ms")
    way = asked(net, "a", {"to": "10.9.0.1"})
    assert (way.nodes, way.fate) == (("a", "b", "a"), "goes round in a circle")


def picked(text: str) -> dict[str, Any]:
    """What the script of the map reads."""
    found = re.search(r'<div class="picker">.*?<script type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_reader_picks_a_path_and_sees_it_before_and_after(net: tp.Network) -> None:
    text = from_network.page(net, None)
    data = picked(text)
    names = [node.name for node in net.nodes]
    path = data["paths"][0]
    assert path["name"] == "flow f"
    when, nodes, labels, words, down = path["spans"][path["first"]]
    assert when.startswith("from 20.5 s to ") and [names[node] for node in nodes] == list("acd")
    assert words == f"a -({labels[0]})- c - d" and [data["names"][place] for place in down] == ["a-b"]
    assert [names[node] for node in path["spans"][path["first"] - 2][1]] == list("abd")
    assert [[names[node] for node in ends] for ends in data["away"]] == [["a", "b"], ["c"]]
    assert len(data["at"]) == len(names) and "route from a to 203.0.113.0/24" in text
    assert "never led anywhere" in text and "<details>" in text and "replaceChildren" in text
    assert "http" not in text[text.index('<div class="picker">') :].split("</div>")[0].replace(
        "http://www.w3.org/2000/svg", ""
    )


def test_of_many_paths_those_that_changed_can_be_picked(net: tp.Network) -> None:
    spans = []
    for place in range(1000):
        name = f"lsp{place}"
        spans.append(Span(name, 0.0, 5.0, "up", ("a", "b")))
        spans.append(Span(name, 5.0, 9.0, "up", ("a", "c", "b") if place % 10 == 9 else ("a", "b")))
    flows = [FlowSeen(f"f{place}", "EF") for place in range(50)]
    story = Story(9.0, flows, [], [Action(5.0, "fail", link="a-b")], spans)
    from twinplane.network.drawing import topology

    (section,) = paths.section(topology(net), story)
    assert section.picker is not None
    assert [path["name"] for path in section.picker.data["paths"][:2]] == ["LSP lsp9", "LSP lsp19"]
    assert len(section.picker.data["paths"]) == paths.PATHS_MAX
    assert "800 more paths are not in the list; those that changed are first." in section.points
    assert len(json.dumps(section.picker.data)) < 60_000
    assert paths.section(topology(net), Story(1.0)) == []


def test_lines_tell_what_protocols_made_of_it(story: Story) -> None:
    lines = happened.lines(story)
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    texts = [line.text for line in lines]
    assert "4 OSPF adjacencies are all up for the first time" in texts
    assert "1 BGP session is up for the first time; 1 more never came up" in texts
    begin = texts.index("Link a-b failed")
    assert texts[begin + 1 : begin + 6] == [
        "OSPF adjacency a - b was lost",
        "BFD session a - b went down: path down",
        "LDP session a - b ended: Hold Timer Expired",
        "Flow f is seen to be lost at a: port-down",
        "Flow f is seen to go a - c - d",
    ]
    assert "OSPF adjacency a - b is up again after 7 s" in texts
    assert "2 OSPF adjacencies were lost: c was away (a - c, c - d)" in texts
    assert not [text for text in texts if "{" in text]


def test_the_first_figure_has_events_of_all_protocols(net: tp.Network, story: Story) -> None:
    kinds = {one.what for one in story.told}
    assert {"BFD session lost", "BFD session back", "LDP session lost", "LDP session back"} <= kinds
    text = from_network.page(net, None)
    assert all(f"{kind} " in text for kind in kinds)


def test_a_results_folder_says_the_same(net: tp.Network, story: Story, tmp_path: Path) -> None:
    parameters = NetworkParameters(file="square.yaml", duration_s=60.0, drain_s=0.0)
    found = kept_in(tmp_path, net, parameters)
    kept = stories.of_results(found)
    assert kept is not None
    assert [one.name for one in kept.sessions] == [one.name for one in story.sessions]
    assert [len(one.spans) for one in kept.sessions] == [len(one.spans) for one in story.sessions]
    assert (kept.ways, kept.sizes) == (story.ways, story.sizes)
    assert [line.text for line in happened.lines(kept)] == [line.text for line in happened.lines(story)]
    text = of_results(found).read_text()
    for title in ("What happened", "Paths on the map", "Sessions over time", "Databases over time"):
        assert f"{title}</h2>" in text
    from twinplane.cli import story_lines

    story_lines.print_story(found)
