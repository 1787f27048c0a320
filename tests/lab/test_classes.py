"""Classes of service in network files: what is described reaches the core, and every mistake has its line."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError, TwinplaneWarning
from twinplane.lab import Lab, testing
from twinplane.model import source
from twinplane.model.places import about
from twinplane.network import lowering

from .conftest import NetworkFile
from .support import command, good

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "labs" / "classes.yaml"
HEAD = "name: x\nnodes:\n  a: {kind: router}\n  b: {kind: router}\nlinks:\n  - [a, b, {LINK}]\n"
HTB = "queues:\n  gold:\n    discipline: htb\n    classes:\n"  # lines 7 to 10


def htb(*lines: str, link: str = "queue: gold") -> str:
    return HEAD.replace("LINK", link) + HTB + "".join(f"      {line}\n" for line in lines)


def with_(*lines: str, link: str = "queue: gold") -> str:
    """A tree with two classes, and these lines."""
    text = htb("x: {rate: 1 Mbit/s}", "y: {rate: 1 Mbit/s}", link=link)
    return text + "".join(f"    {line}\n" for line in lines)


WRONG = [
    (
        htb("x: {rate: 1, parent: z}", "y: {rate: 1}"),
        11,
        "queue 'gold': class 'x': parent: there is no class 'z'",
    ),
    (
        htb("x: {rate: 1, parent: y}", "y: {rate: 1, parent: x}"),
        11,
        "queue 'gold': class 'x': parent: the classes are a cycle: 'x' is in 'y', 'y' is in 'x'",
    ),
    (
        htb("x:", "  rate: 1 Mbit/s", "  ciel: 1"),
        13,
        "class 'x': unknown field 'ciel' (did you mean 'ceil'?)",
    ),
    (htb("x: {rate: fast}"), 11, "queue 'gold': class 'x': rate: 'fast': a number and a unit are needed"),
    (
        htb(
            "x:",
            "  rate: 1",
            "  queue:",
            "    discipline: red",
            "    limit: 9 kB",
            "    min: 8 kB",
            "    max: 7 kB",
        ),
        16,
        "queue 'gold': class 'x': min: thresholds out of order: min=8000 has to be below max=7000",
    ),
    (with_("filters:", "  - {phb: EFF, class: x}"), 14, "filter 1: phb: 'EFF' is not a "),
    (with_("filters:", "  - {dscp: 64, class: x}"), 14, "filter 1: dscp: 64 is not a code point: EF, "),
    (
        with_("filters:", "  - {dscp: 4, class: z}"),
        14,
        "filter 1: class: there is no class 'z' (one of x, y)",
    ),
    (
        with_("filters:", "  - {dscp: 4, class: x}", "  - {dscp: 4, class: y}"),
        15,
        "filter 2: it can take nothing: filter 1 before it takes all of its packets",
    ),
    (with_("default: z"), 13, "queue 'gold': default: there is no class 'z'"),
    (with_(link="queue: golt"), 6, "link a - b: queue: 'golt' is not under 'queues' (did you mean 'gold'?)"),
    (with_(link="queue: {c: gold}"), 6, "link a - b: queue: 'c' is no end of it, a and b are"),
    (
        with_(link="queue: {a: {discipline: pfifo, limit: 0}}"),
        6,
        "link a - b: queue at a: limit: 0: it should",
    ),
    (with_(link="queue: {a: {discipline: pfivo}}"), 6, "queue at a: discipline: 'pfivo' is none of pfifo, "),
    (with_(link="ingress: {a: gold}"), 6, "link a - b: ingress at a: 'gold' is not under 'conditioners'"),
    (with_("conditioner: police"), 13, "queue 'gold': conditioner: 'police' is not under 'conditioners'"),
    (
        HEAD.replace("LINK", "ingress: police")
        + "conditioners:\n  police:\n    rules:\n      - {name: ef, rde: drop}\n",
        10,
        "conditioner 'police': rule 'ef': unknown field 'rde' (did you mean 'red'?)",
    ),
    (
        HEAD.replace("LINK", "").replace("a: {kind: router}", "a: {kind: router, diffserv: {model: pipes}}"),
        3,
        "node 'a': diffserv: model: 'pipes' is none of pipe, short-pipe or uniform (did you mean 'pipe'?)",
    ),
    (
        HEAD.replace("LINK", "") + "lsps:\n  - {name: e, from: a, to: b, diffserv: m-lsp}\n",
        8,
        "lsp 'e': diffserv: 'm-lsp' is none of e-lsp or l-lsp",
    ),
    (
        "name: x\nnodes:\n  a: {kind: router}\n  s: {kind: station}\nlinks:\n  - [s, a]\n",
        6,
        "link s - a: 's' is a station: addresses are needed",
    ),
]


@pytest.mark.parametrize(("text", "line", "said"), WRONG)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        lowering.of_source(source.parse(text, Path("x.yaml")))
    assert str(caught.value).startswith(f"x.yaml:{line}:") and said in str(caught.value), caught.value


X = "x: {rate: 1 Mbit/s}"
FILTERS = "    filters:\n"
WALK = {
    "no parent": (htb("x: {rate: 1, parent: al}", "all: {rate: 2}"), 2, 11, "there is no class 'al'"),
    "cycle": (htb("x: {rate: 1, parent: y}", "y: {rate: 1, parent: x}"), 2, 11, "the classes are a cycle"),
    "rates": (htb("all: {rate: 1}", "x: {rate: 3, parent: all}"), 0, 11, "2 bit/s more than the 1 bit/s"),
    "phb": (f"{htb(X)}{FILTERS}      - {{phb: AF14, class: x}}\n", 2, 13, "'AF14' is not a "),
    "dscp": (f"{htb(X)}{FILTERS}      - {{dscp: 64, class: x}}\n", 2, 13, "64 is not a code point"),
    "nothing": (
        f"{htb(X)}{FILTERS}      - {{phb: EF, class: x}}\n      - {{dscp: 46, phb: EF, class: x}}\n",
        2,
        14,
        "it can take nothing: filter 1 before it takes all of its packets",
    ),
    "thresholds": (
        f"{HEAD.replace('LINK', 'queue: gold')}queues:\n  gold:\n"
        "    {discipline: red, limit: 60 kB, min: 30 kB, max: 20 kB}\n",
        2,
        9,
        "thresholds out of order: min=30000 has to be below max=20000",
    ),
}


@pytest.mark.parametrize("case", WALK)
def test_bad_input_at_the_command_line(case: str, tmp_path: Path) -> None:
    """Said once, with the line; 2 where it can't run."""
    text, code, line, said = WALK[case]
    file = tmp_path / "x.yaml"
    file.write_text(text)
    done = command("lab", "check", file)
    assert done.returncode == code
    lines = [one for one in done.stderr.splitlines() if said in one]
    assert len(lines) == 1 and f"{file}:{line}:" in lines[0], done.stderr
    assert code == 0 or len(done.stderr.splitlines()) == 1


def test_rates_that_do_not_add_up_are_said_once_with_their_line(tmp_path: Path) -> None:
    text = htb(
        "all: {rate: 2 Mbit/s}", "x: {rate: 2 Mbit/s, parent: all}", "y: {rate: 1 Mbit/s, parent: all}"
    )
    found = lowering.of_source(source.parse(text, Path("x.yaml")))
    said = (
        "the rates of x and y add up to 3 Mbit/s, 1 Mbit/s more than the 2 Mbit/s of 'all', which they are in"
    )
    with pytest.warns(TwinplaneWarning):
        assert any(
            text.startswith("x.yaml:11:") and text.endswith(f": queue 'gold': class 'all': {said}")
            for text in found.network.warnings
        )
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.warns(TwinplaneWarning, match="1 Mbit/s more than the 2 Mbit/s"):
        made = Lab(file)
    assert made.plan.warnings[0] == f"{file}:11:12: queue 'gold': class 'all': {said}"
    done = command("lab", "check", file)
    assert done.returncode == 0
    assert (
        done.stderr.splitlines()[0] == f"twinplane: warning: {file}:11:12: queue 'gold': class 'all': {said}"
    )
    assert done.stderr.count(said) == 1


def test_what_the_core_says_of_filters_and_rules_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        HEAD.replace("LINK", "queue: {a: gold}, ingress: {b: police}")
        + "conditioners:\n  police:\n    rules:\n      - {name: all, phb: EF}\n"
        + "      - {name: ef, yellow: drop}\n"
        + "queues:\n  gold:\n    conditioner: police\n    root:\n      discipline: htb\n"
        + "      classes:\n        x: {rate: 1 Mbit/s, burst: 100}\n      default: x\n"
    )
    with pytest.warns(TwinplaneWarning):
        said = Lab(file).plan.warnings
    assert [text.removeprefix(str(file))[:44] for text in said] == [
        ":11:20: conditioner 'police': rule 'ef': wit",
        ":18:29: queue 'gold': class 'x': burst=100 i",
    ]


def test_what_stands_nowhere_is_said_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        HEAD.replace("LINK", "queue: {a: gold}")
        + "conditioners:\n  police:\n    rules:\n      - {name: all, phb: EF}\n"
        + "  idle:\n    rules:\n      - {name: all, phb: EF}\n"
        + "queues:\n  gold: {discipline: pfifo, conditioner: police}\n  old: {discipline: pfifo}\n"
    )
    with pytest.warns(TwinplaneWarning):
        said = Lab(file).plan.warnings
    assert [text.removeprefix(str(file)) for text in said] == [
        ":16:8: queue 'old': it is not used: no link names it in 'queue'",
        ":11:3: conditioner 'idle': it is not used: no link names it in 'ingress', and no queue in"
        " 'conditioner'",
    ]


def test_what_only_the_core_finds_has_its_line_too() -> None:
    found = source.parse(htb("x: {rate: 1 Mbit/s}", "y: {rate: 1 Mbit/s}"), Path("x.yaml"))
    lowered = lowering.of_source(found)
    error = about(("links", 0, "queue", "a", "classes", "y"), "", "the quantum is too small")
    assert str(lowered.error(error)) == "x.yaml:12:10: queue 'gold': class 'y': the quantum is too small"
    found = source.parse(HEAD.replace("LINK", "queue: {a: {discipline: pfifo}}"), Path("x.yaml"))
    error = about(("links", 0, "queue", "a"), "", "no")
    assert str(lowering.of_source(found).error(error)) == "x.yaml:6:24: link a - b: queue at a: no"


def test_the_example_is_what_it_says() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lowering.lower(EXAMPLE)
    placed = found.network.draft.at_ends()
    assert [(link, key) for link, _, key in placed] == [
        (0, "ingress"),
        (1, "queue"),
        (1, "queue"),
        (2, "queue"),
        (2, "queue"),
        (3, "ingress"),
    ]
    assert placed[1, found.network.links[1].a.name, "queue"]["classes"]["voice"]["rate"] == "1 Mbit/s"
    assert found.description["lsps"][0]["diffserv"] == {"kind": "e-lsp", "signal": False}


def test_a_station_is_a_host_with_several_links() -> None:
    text = (
        "name: x\nnodes:\n  s: {kind: station}\n  a: {kind: router}\n  b: {kind: router}\nlinks:\n"
        "  - [s, a, {addresses: [10.1.0.2/24, 10.1.0.1/24]}]\n  - [a, b, {rate: 10 Mbit/s}]\n"
        "  - [b, s, {addresses: [10.2.0.1/24, 10.2.0.2/24]}]\n"
    )
    net = lowering.of_source(source.parse(text, Path("x.yaml"))).network
    station = net.node("s")
    assert isinstance(station, tp.Host)
    flow = net.flow("s", "s", from_link="a", to_link="b", rate="1 Mbit/s")
    net.run(until="100 ms")
    assert flow.stats()["received"].to_list()[0] > 0


STATION = """\
name: {name}
nodes:
  s:   {kind: station}
  pe1: {kind: router, diffserv: true}
  p:   {kind: router, diffserv: true}
  pe2: {kind: router, diffserv: true}
links:
  - [s, pe1, {addresses: [10.1.0.2/24, 10.1.0.1/24]}]
  - [pe1, p, {rate: 100 Mbit/s}]
  - [p, pe2, {rate: 100 Mbit/s}]
  - [pe2, s, {addresses: [10.2.0.1/24, 10.2.0.2/24]}]
lsps:
  - {name: voice, from: pe1, to: pe2, route: [p, pe2], carries: 10.2.0.0/24, diffserv: e-lsp, classes: [EF]}
"""


def test_a_flow_waits_for_its_network(network_file: NetworkFile) -> None:
    """It begins at once, which is before its host knows the router beside it: nothing is lost by that."""
    file = network_file(STATION)
    with Lab(file) as lab:
        net = testing.network_of(file)
        net.flow("s", "s", from_link="pe1", to_link="pe2", rate="4 Mbit/s", dscp="EF", stop="500 ms")
        net.go_live(testing.tester_placement(lab) | {"epoch_ns": None})
        net.run(until="1 s")
        stats = net.flows[0].stats()
        assert stats["sent"].sum() == stats["received"].sum() > 0
        assert net.table("drops").height == 0
        net.close()


VOICE = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  pe1:   {kind: router}
  pe2:   {kind: router}
links:
  - [left, pe1, {ingress: {pe1: edge}}]
  - [pe1, pe2, {rate: 100 Mbit/s, queue: services}]
  - [pe2, right]
conditioners:
  edge:
    rules:
      - {name: voice, dscp: EF, green: mark 7}
queues:
  services:
    discipline: htb
    classes:
      link:  {rate: 4 Mbit/s}
      voice: {parent: link, rate: 1 Mbit/s, ceil: 4 Mbit/s}
      rest:  {parent: link, rate: 3 Mbit/s, ceil: 4 Mbit/s}
    filters:
      - {mark: 7, class: voice}
    default: rest
"""


def test_a_lab_has_its_classes(network_file: NetworkFile) -> None:
    file = network_file(VOICE)
    with Lab(file) as lab:
        lab.exec("left", "ping", "-c", "3", "-i", "0.1", "-Q", "0xb8", "10.2.0.2")
        lab.exec("left", "ping", "-c", "2", "-i", "0.1", "10.2.0.2")
        columns = lab.node("pe1").columns("queues")
        sent = dict(zip(columns["path"], columns["sent_packets"], strict=True))
        # What the routers themselves send has no mark, and is in the rest.
        assert sent["root/voice"] == 3 and sent["root/rest"] >= 2
        said = good("node", "show", "queues", "pe1", "--lab", lab.name)
        assert "towards pe2" in said and "─ voice" in said and "waiting" in said
        whole = json.loads(good("node", "show", "queues", "pe1", "--lab", lab.name, "--json"))
        assert {row["neighbor"] for row in whole} == {"pe2"} and {"drops", "extra"} <= set(whole[0])
        said = good("node", "show", "conditioners", "pe1", "--lab", lab.name)
        assert "voice" in said and "mark 7" in said and "left" in said


def test_the_example_comes_up(network_file: NetworkFile) -> None:
    text = EXAMPLE.read_text().replace("name: classes\n", "name: {name}\n")
    with Lab(network_file(text)) as lab:
        lab.exec("left", "ping", "-c", "2", "-i", "0.1", "-Q", "0x28", "10.2.0.2")
        columns = lab.node("pe1").columns("queues")
        sent = dict(zip(columns["path"], columns["sent_packets"], strict=True))
        assert sent["root/business"] == 2
