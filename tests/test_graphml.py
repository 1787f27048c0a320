"""Topology Zoo files: the real ones, and broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from twinplane import Network, TwinplaneError, units
from twinplane.errors import UnknownNameError
from twinplane.network import graphml

TOPOLOGIES = Path(__file__).resolve().parents[2] / "shared" / "data" / "topologies"
NODES = {
    "Abilene": (11, 14),
    "Aconet": (23, 31),
    "Dfn": (58, 87),
    "Garr199905": (23, 25),
    "Geant2001": (27, 38),
    "Geant2012": (40, 61),
    "Kdl": (754, 899),
    "RedBestel": (84, 101),
    "Renater2008": (33, 43),
    "SwitchL3": (42, 63),
    "Uninett2011": (69, 98),
    "UsCarrier": (158, 189),
}

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = (
    '<key attr.name="label" for="node" id="l"/><key attr.name="Latitude" for="node" id="y"/>'
    '<key attr.name="Longitude" for="node" id="x"/><key attr.name="LinkSpeedRaw" for="edge" id="s"/>'
)


def document(body: str) -> str:
    return f'{HEAD}{KEYS}<graph edgedefault="undirected">{body}</graph></graphml>'


def place(key: str, label: str = "", at: tuple[float, float] | None = None) -> str:
    data = f'<data key="l">{label}</data>' if label else ""
    if at is not None:
        data += f'<data key="y">{at[0]}</data><data key="x">{at[1]}</data>'
    return f'<node id="{key}">{data}</node>'


@pytest.mark.parametrize("name", sorted(NODES))
def test_real_files(name: str) -> None:
    path = TOPOLOGIES / f"{name}.graphml"
    if not path.exists():
        pytest.skip("the topologies are not here")
    topology = graphml.read(path)
    assert (len(topology.places), len(topology.edges)) == NODES[name]
    names = graphml.node_names(topology.places)
    assert len(set(names)) == len(names)
    net = Network.from_graphml(path)
    assert (len(net.nodes), len(net.links)) == NODES[name]
    links = net.described()["links"]
    assert all(units.span_ps(link["delay"]) >= 1_000_000 and link["rate"] != "none" for link in links)


def test_an_option_that_there_is_not_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "t.graphml"
    file.write_text(document(place("0") + place("1") + '<edge source="0" target="1"/>'))
    for options, sentence in (
        ({"osfp": True}, "from_graphml: unknown option 'osfp' (did you mean 'ospf'?)"),
        ({"queue_bins": "1 ms"}, "from_graphml: unknown option 'queue_bins' (did you mean 'queue_bin'?)"),
        ({"weight": 3}, "from_graphml: unknown option 'weight' (one of profile, default_rate, "),
    ):
        with pytest.raises(UnknownNameError) as caught:
            Network.from_graphml(file, **options)
        assert str(caught.value).startswith(sentence)
    assert len(Network.from_graphml(file, 3, ospf=True, loss_bin="1 ms").links) == 1


def test_speeds_distances_and_defaults(tmp_path: Path) -> None:
    file = tmp_path / "t.graphml"
    file.write_text(
        document(
            place("0", "Pisa", (43.72, 10.40))
            + place("1", "Rome", (41.90, 12.50))
            + place("2", "Rome")
            + place("3")
            + '<edge source="0" target="1"><data key="s">2500000000.0</data></edge>'
            + '<edge source="1" target="0"/><edge source="1" target="2"/><edge source="2" target="3"/>'
            + '<edge source="3" target="3"/>'
        )
    )
    net = Network.from_graphml(file, seed=3, default_rate="100 Mbit/s")
    assert [node.name for node in net.nodes] == ["Pisa", "Rome#1", "Rome#2", "#3"]
    rates = [units.rate_bps(link["rate"]) for link in net.described()["links"]]
    assert rates == [2_500_000_000, 100_000_000, 100_000_000, 100_000_000]
    # Pisa to Rome is 266 km as the crow flies; 5 us a kilometre.
    delays = [units.span_ps(link["delay"]) / 1e6 for link in net.described()["links"]]
    assert delays[0] == pytest.approx(5 * 266, rel=0.01)
    assert delays[2:] == [1000.0, 1000.0]
    assert len(net.draft.between(net.node("Pisa"), net.node("Rome#1"))) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not well-formed XML: no element found: line 1, column 0"),
        ("<graphml>", "not well-formed XML: no element found: line 1, column 9"),
        ("<html></html>", "not GraphML: a <graphml> element with a <graph> in it is needed"),
        (document(""), "it has 0 nodes: a topology needs at least two"),
        (document("<node/>"), "malformed: a node has no id"),
        (document(place("0") + place("0")), "malformed: the node id '0' occurs twice"),
        (
            document(place("0") + place("1") + '<edge source="0" target="9"/>'),
            "malformed: an edge's target '9' is not the id of a node",
        ),
        (
            document(place("0") + place("1") + place("2") + '<edge source="0" target="1"/>'),
            "the topology is disconnected: 1 of 3 nodes cannot be reached from node '0', node '2' for one;"
            " component 'largest' takes the largest of its 2 parts, the name of a node that node's",
        ),
        (
            document('<node id="0"><data key="y">north</data></node>' + place("1")),
            "malformed: node '0' has the coordinate 'north'",
        ),
        (
            document(
                place("0") + place("1") + '<edge source="0" target="1"><data key="s">fast</data></edge>'
            ),
            "malformed: an edge has the LinkSpeedRaw 'fast'",
        ),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><graphml/>',
            "not read: it declares XML entities, which no topology needs",
        ),
    ],
)
def test_broken_files_give_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "broken.graphml"
    file.write_text(text)
    with pytest.raises(TwinplaneError) as caught:
        graphml.read(file)
    assert str(caught.value) == f"{file}: {sentence}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TwinplaneError, match="cannot be read: no such file or directory"):
        graphml.read(tmp_path / "none.graphml")


def test_a_part_of_a_file_that_is_not_connected(tmp_path: Path) -> None:
    file = tmp_path / "parts.graphml"
    edges = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ["01", "23", "34", "01"])
    file.write_text(document("".join(place(str(n), name) for n, name in enumerate("abcdef")) + edges))

    def nodes(component: str) -> tuple[list[str], int]:
        net = Network.from_graphml(file, component=component)
        return [node.name for node in net.nodes], len(net.links)

    assert nodes("largest") == nodes("d") == nodes("4") == (["c", "d", "e"], 2)
    assert nodes("a") == (["a", "b"], 2)
    for component, sentence in [
        ("f", "component 'f': it has one node, and a topology at least two"),
        ("x", "component: there is no node 'x'; 'largest', a node's id or its name is meant"),
    ]:
        with pytest.raises(TwinplaneError) as caught:
            nodes(component)
        assert str(caught.value) == f"{file}: {sentence}"


def test_queues_on_links_of_a_file(tmp_path: Path) -> None:
    """At both ends of every link, at a node's, towards a neighbour; and afterwards at one end."""
    from twinplane import queues as q

    file = tmp_path / "t.graphml"
    ends = [("0", "1"), ("1", "2"), ("1", "2")]
    edges = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ends)
    file.write_text(document("".join(place(key, key * 2) for key in "012") + edges))
    tree, other = q.Pfifo(limit=7), q.Pfifo(limit=9)

    def placed(net: Network) -> dict[tuple[int, str], int]:
        standing = net.draft.at_ends().items()
        return {(link, node): said["limit"] for (link, node, key), said in standing if key == "queue"}

    names = [("00", "11"), ("11", "22"), ("11", "22")]
    both = {(link, node): 7 for link in range(3) for node in names[link]}
    net = Network.from_graphml(file, queue=tree, diffserv=True)
    assert placed(net) == both and "diffserv" in net.draft.element("nodes", 0)
    assert placed(Network.from_graphml(file, queue={"discipline": "pfifo", "limit": 7})) == both
    some = Network.from_graphml(file, queue={("11", "22"): other, "11": tree})
    assert placed(some) == {(0, "11"): 7, (1, "11"): 9, (2, "11"): 9}
    net.place("11", "00", queue=other)
    net.place("22", net.links[2], queue=other)
    assert placed(net) == both | {(0, "11"): 9, (2, "22"): 9}
    net.place("11", "00", ingress=q.Conditioner(rules=[{"name": "x", "dscp": "EF"}]))
    assert (0, "11", "ingress") in net.draft.at_ends()
    net.flow("00", "22", rate="1 Mbit/s")
    net.run(until="100 ms")
    assert net.queues("00")["sent_packets"].sum() > 0 and net.conditioners("11")["packets"].sum() > 0
    refused = [
        (lambda: net.place("11", "00", queue=tree), "has to be added before the network first runs"),
        (lambda: some.place("00", "22", queue=tree), "00: place: there is no link between 00 and 22"),
        (
            lambda: some.place("11", "22", queue=tree),
            "there are 2 links between 11 and 22: give the link its",
        ),
        (
            lambda: Network.from_graphml(file, queue={"9": tree}),
            "t.graphml: queue: '9', no node has that name",
        ),
        (
            lambda: Network.from_graphml(file, queue={("00", "22"): tree}),
            "there is no link between 00 and 22",
        ),
    ]
    for make, sentence in refused:
        with pytest.raises(TwinplaneError, match=sentence):
            make()
