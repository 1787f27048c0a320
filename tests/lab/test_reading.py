"""Network files: every error names the line, what is wrong and what would be right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from twinplane import core
from twinplane.errors import TwinplaneError
from twinplane.lab import plan
from twinplane.model import generate_schema, source
from twinplane.network import lowering

from .support import TWO_SITES

ROOT = Path(__file__).resolve().parents[2]
NODES = "name: x\nnodes:\n  a: {kind: router}\n  b: {kind: router}\n  p: {kind: router}\n"
LINKS = NODES + "links:\n  - [a, p]\n  - [p, b]\n"
HOSTS = LINKS.replace("links:", "  h: {kind: host, address: 10.1.0.2/24}\nlinks:\n  - [a, h]")

WRONG = [
    (
        "name: x\nnodes:\n  a: {kind: router}\n  d: {kind: external, interface: e}\nlinks:\n  - [a, d]\n"
        "lsps:\n  - {name: e, from: a, to: d}\n",
        "8",
        "'d' is external: say its router_id",
    ),
    # (text, line or line:column, what the sentence says)
    ("", None, "it is empty: a lab has a name, nodes and links"),
    ("- 1\n", "1", "a lab is a mapping"),
    ("name: x\n\tnodes: 1\n", "2:1", "indent with spaces, not with tabs"),
    ("name: x\nnodes: {a: {kind: router}\nlinks: []\n", "3:1", "expected ',' or '}'"),
    ("name: 'x\n", "2:1", "not well-formed YAML: while scanning a quoted scalar"),
    ("name: x\n---\nname: y\n", "2:1", "expected a single document"),
    ("a: &a [*a]\nname: x\n", "1:4", "an alias refers to what it is itself a part of"),
    (
        "name: x\nnodes:\n  a: {kind: router}\n  a: {kind: router}\n",
        "4:3",
        "'a' is given twice (first in line 3)",
    ),
    ("name: x\nnodes:\n  [1, 2]: 3\n", "3:3", "a key is a word"),
    ("name: !!python/object x\n", "1:7", "the tag"),
    ("nodes:\n  a: {kind: router}\n", "1", "name is missing"),
    ("name: x\n", "1", "a lab needs nodes"),
    ("name: a/b\nnodes: {a: {kind: router}}\n", "1", "name: 'a/b' is not a name"),
    ("name: x\nnode: {}\n", "2", "unknown field 'node' (did you mean 'nodes'?)"),
    (
        "name: x\nnodes:\n  a: {kind: ruter}\n",
        "3",
        "kind: 'ruter' is none of router, host, station, edge, external, peer, bridge, switch",
    ),
    (
        "name: x\nnodes:\n  a: {}\n",
        "3",
        "node 'a': kind is missing: router, host, station, edge, external, peer, bridge, switch",
    ),
    ("name: x\nnodes:\n  a: {kind: linux}\n", "3", "'linux' is containerlab's; nearest to it is 'host'"),
    (
        "name: x\nnodes:\n  a: {kind: host, address: 10.1.0.2/24, image: y}\n",
        "3",
        "'image' is containerlab's and is not used here",
    ),
    (
        "name: x\nnodes:\n  a:\n    kind: router\n    profil: y\n",
        "5",
        "unknown field 'profil' (did you mean 'profile'?)",
    ),
    (
        "name: x\nnodes:\n  a: {kind: router,\n    profile: idael}\n",
        "4",
        "node 'a': profile=idael: no such profile (did",
    ),
    ("name: x\nnodes:\n  a: {kind: router, rsvp: {refresh: 0}}\n", "3", "refresh: 0: it is not above zero"),
    (
        "name: x\nnodes:\n  a: {kind: router, rsvp: {helo: 1}}\n",
        "3",
        "unknown field 'helo' (did you mean 'hello'?)",
    ),
    ("name: x\nnodes:\n  a: {kind: host}\n", "3", "address is missing, such as 10.1.0.2/24"),
    (
        "name: x\nnodes:\n  a: {kind: host, address: 10.1.0.2}\n",
        "3",
        "address: '10.1.0.2' is not an IPv4 address with",
    ),
    (NODES + "links:\n  - [a, c]\n", "7", "link a - c: 'c', no node has that name (one of a, b, p)"),
    (NODES + "links:\n  - [a]\n", "7", "is not a link such as [a, b] or [a, b, {rate: 1 Gbit/s}]"),
    (NODES + "links:\n  - [a, a]\n", "7", "link a - a: the two ends are the same node"),
    (
        NODES + "links:\n  - [a, b]\n  - [a, b, {rate: 1 Gbits}]\n",
        "8",
        "unknown unit 'Gbits' (did you mean 'Gbit/s'?)",
    ),
    (NODES + "links:\n  - [a, b, {rate: 0}]\n", "7", "rate: 0: it is not above zero"),
    (NODES + "links:\n  - [a, b, {mtu: 12}]\n", "7", "mtu: 12: it should be 68 to 65535"),
    (NODES + "links:\n  - [a, b, {delay: -1 ms}]\n", "7", "delay: '-1 ms': it cannot be negative"),
    (NODES + "links:\n  - [a, b, {driver: dpdk}]\n", "7", "driver: 'dpdk' is none of packet or xdp"),
    (
        NODES + "links:\n  - endpoints: ['a:e', 'b:e']\n    dealy: 1\n",
        "8",
        "unknown field 'dealy' (did you mean 'delay'?)",
    ),
    (NODES + "links:\n  - ['a:e/0', b]\n", "7", "'a:e/0', no node has that name"),
    (NODES + "links:\n  - ['a:e', b]\n  - ['a:e', p]\n", "8", "'a' has an interface 'e' already"),
    (HOSTS + "  - [b, h]\n", "8", "host 'h' has several links: each must say"),
    (HOSTS.replace("[a, h]", "[a, b]"), "6", "it has no link: a host needs one"),
    (
        HOSTS.replace("10.1.0.2/24}", "10.1.0.2/24, gateway: 10.9.0.1}"),
        "6",
        "its gateway 10.9.0.1 is not an address",
    ),
    (HOSTS.replace("10.1.0.2/24}", "100.64.0.2/24}"), "6", "100.64.0.0/24 collides with"),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b,\n     route: [q, b]}\n",
        "11",
        "lsp 'e': route: 'q', no node has",
    ),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, route: [b]}\n",
        "10",
        "its route goes from 'a' to 'b', and no link does",
    ),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, route: [p]}\n",
        "10",
        "its route ends at 'p', not at 'b'",
    ),
    (LINKS + "lsps:\n  - {name: e, from: a, to: a}\n", "10", "lsp 'e': it begins and ends at a"),
    (LINKS + "lsps:\n  - {name: e, from: a}\n", "10", "lsp 'e': to is missing"),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b}\n  - {name: e, from: b, to: a}\n",
        "11",
        "'e' is given twice",
    ),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, carries: 10.2.0.1/24}\n",
        "10",
        "(did you mean '10.2.0.0/24'?)",
    ),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, bandwidth: 1 GB}\n",
        "10",
        "bandwidth: '1 GB': unknown unit 'GB'",
    ),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, setup_priority: 3, holding_priority: 5}\n",
        "10",
        "holding must not",
    ),
    (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, filters: [{dst_ports: 80}]}\n",
        "10",
        "ports need a protocol",
    ),
    (
        HOSTS + "lsps:\n  - {name: e, from: h, to: b}\n",
        "12",
        "'h' is a host, not a router",
    ),
    (
        "name: x\ntopology:\n  nodes:\n    a: {kind: router}\n    b: {kind: router, cpu: -1}\n",
        "5",
        "node 'b': cpu: -1",
    ),
    ("name: x\nnodes: {a: {kind: router}}\ntopology: {nodes: {}}\n", "2", "nodes are under 'topology', too"),
]


def refusal(text: str) -> str:
    with pytest.raises(TwinplaneError) as caught:
        read(text)
    return str(caught.value)


def read(text: str) -> plan.Plan:
    return plan.plan(lowering.of_source(source.parse(text, Path("x.yaml"))))


@pytest.mark.parametrize("text, line, said", WRONG, ids=[said[:40] for _, _, said in WRONG])
def test_what_is_wrong_is_said_with_its_line(text: str, line: str | None, said: str) -> None:
    sentence = refusal(text)
    assert said in sentence
    assert sentence.startswith("x.yaml: " if line is None else f"x.yaml:{line}:"), sentence
    assert "\n" not in sentence


def test_an_mtu_that_leaves_no_room_for_a_label() -> None:
    text = TWO_SITES.replace("{name}", "x").replace("[pe1, p, {rate: 1 Gbit/s}]", "[pe1, p, {mtu: 1500}]")
    sentence = refusal(text)
    assert sentence.startswith("x.yaml:10:") and "a label needs 4 more (1504, " in sentence


def test_an_mtu_that_xdp_cannot_have() -> None:
    sentence = refusal(LINKS.replace("[p, b]", "[p, b, {driver: xdp, mtu: 9000}]"))
    assert sentence.startswith("x.yaml:8:") and "with driver xdp" in sentence


def test_aliases_of_aliases_are_counted() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    assert "values" in refusal("\n".join(lines))


def test_words_are_words() -> None:
    """`no`, `on` and `12:30` are names here, as in YAML 1.2."""
    text = "name: no\nnodes:\n  on: {kind: router}\n  1: {kind: router}\nlinks:\n  - [on, 1]\n"
    made = read(text)
    assert made.name == "no" and list(made.members) == ["on", "1"]


def test_merge_keys() -> None:
    made = read(
        NODES.replace("a: {kind", "a: &r {kind").replace("b: {kind: router}", "b: {<<: *r, busy: true}")
    )
    assert made.members["b"].kind == "router" and made.members["b"].busy


def test_containerlab_form() -> None:
    made = read(
        "name: x\ntopology:\n  nodes:\n    a: {kind: router}\n    b: {kind: router, labels: {site: 1}}\n"
        "  links:\n    - endpoints: ['a:eth1', 'b:eth2']\n      mtu: 1500\n"
    )
    assert [(end.node, end.name, end.mtu) for end in made.links[0]] == [
        ("a", "eth1", 1500),
        ("b", "eth2", 1500),
    ]


def test_a_lab_is_lowered_to_the_description_of_networks() -> None:
    made = read(TWO_SITES.replace("{name}", "x"))
    assert [node["kind"] for node in made.description["nodes"].values()] == [
        "host",
        "host",
        "router",
        "router",
        "router",
    ]
    rates = [link["rate"] for link in made.description["links"]]
    assert rates == ["none", "1 Gbit/s", "1 Gbit/s", "none"]
    assert [ends[0].mtu for ends in made.links] == [1500, 9216, 9216, 1500]
    assert made.description["lsps"][0]["carries"] == ["10.2.0.0/24"]
    assert made.members["left"].gateway == "10.1.0.1"
    assert made.namespaces() == [f"tp-x-{name}" for name in ("left", "right", "pe1", "p", "pe2")]
    assert [end.name for end in made.members["p"].interfaces] == ["e0", "e1"]
    found = made.placement(["pe1"], None, 7)
    assert [(port["link"], port["interface"]) for port in found["ports"]] == [(0, "e0"), (1, "e1")]
    assert found["ports"][0]["netns"] == "/run/netns/tp-x-pe1" and found["epoch_ns"] == 7


def test_parallel_links_are_named_by_interface() -> None:
    text = (
        NODES
        + "links:\n  - ['a:x', 'b:x']\n  - ['a:y', 'b:y']\n"
        + "lsps:\n  - {name: e, from: a, to: b, route: ['b:y']}\n"
    )
    assert read(text).description["lsps"][0]["route"] == [{"link": 1}]
    assert "'b' has no interface 'z'" in refusal(text.replace("route: ['b:y']", "route: ['b:z']"))


def test_filters() -> None:
    text = (
        LINKS + "lsps:\n  - {name: e, from: a, to: b, filters: [{protocol: tcp, dst_ports: 80, dscp: EF}]}\n"
    )
    found = read(text).description["lsps"][0]["filters"]
    assert found == [{"protocol": "tcp", "dst_ports": 80, "dscp": "EF"}]


def test_external() -> None:
    nodes = "nodes:\n  a: {kind: router}\n  dut: {kind: external, interface: eth7}\n"
    text = f"name: x\n{nodes}links:\n  - [a, dut, {{mtu: 1400}}]\n"
    made = read(text)
    assert made.members["dut"].namespace is None
    port = made.placement(["a"], None, 0)["ports"][0]
    assert (port["interface"], port["netns"]) == ("eth7", None)
    assert "which interface 'dut' is behind" in refusal(text.replace(", interface: eth7", ""))


def test_the_schema_has_both_forms_of_a_link() -> None:
    made = json.loads(generate_schema.text(core.schema()))
    assert {"name", "nodes", "links", "lsps", "flows"} <= set(made["properties"])
    short, long = made["definitions"]["LinkSpec"]["anyOf"]
    assert set(short["items"][2]["properties"]) == set(long["properties"]) - {"endpoints"}
    assert "endpoints" in long["required"] and not long["additionalProperties"]


def test_examples_are_right() -> None:
    files = sorted((ROOT / "examples/labs").glob("*.yaml"))
    assert len(files) >= 3
    for file in files:
        first = file.read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=../../schemas/network.schema.json"
        assert plan.plan(lowering.lower(file)).members
        assert lowering.lower(file).name == file.stem
