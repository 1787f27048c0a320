"""Demands: many flows as one call, from a matrix of rates between nodes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import twinplane as tp
from twinplane.model import demands as files
from twinplane.network import Network

from tests.lab.support import good, refused

NODES = "abcd"
CLASSES = {"gold": {"dscp": "EF", "share": 0.25, "size": 200}, "best": {}}
XML = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <networkStructure><nodes><node id="a"/><node id="b"/></nodes></networkStructure>
 <demands>
  <demand id="D1">
   <source>a</source>
   <target>b</target>
   <demandValue>1.5</demandValue>
  </demand>
  <demand id="D2"><source>a</source><target>c</target><demandValue> 2.0 </demandValue></demand>
  <demand id="D3"><source>a</source><target>c</target><demandValue>1.0</demandValue></demand>
  <demand id="D4"><source>b</source><target>c</target><demandValue>0</demandValue></demand>
 </demands>
</network>
"""
NATIVE = """\
?SNDlib native format; type: network; version: 1.0
# a comment
NODES (
  a ( 1.00 2.00 )
)
LINKS (
  L1 ( a b ) 0.00 0.00 0.00 0.00 ( 40000.00 930.00 )
)
DEMANDS (
  D1 ( a b ) 1 1.50 UNLIMITED
  D2 ( a c ) 1 2.00 UNLIMITED
  D3 ( a c ) 1 1.00 UNLIMITED
)
"""
RING = """\
name: ring
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}}
links:
  - [a, b, {rate: 10 Gbit/s}]
  - [b, c, {rate: 1 Gbit/s}]
  - [c, d, {rate: 1 Gbit/s}]
  - [d, a, {rate: 1 Gbit/s}]
"""


def ring(**options: Any) -> Network:
    """Four routers in a ring."""
    net = Network(**options)
    for name in NODES:
        net.router(name)
    for x, y in zip(NODES, NODES[1:] + NODES[:1], strict=True):
        net.link(x, y)
    return net


def test_a_matrix_is_flows_by_class_and_pair() -> None:
    net = ring()
    flow = net.flow("a", "c")
    demands = net.demands({("a", "b"): "3 Mbit/s", ("c", "a"): 1e6}, classes=CLASSES)
    net.run(until="1 s")
    pairs = demands.stats(by="pair")
    assert pairs.select("class", "from", "to", "rate_bps").rows() == [
        ("gold", "a", "b", 750_000),
        ("best", "a", "b", 2_250_000),
        ("gold", "c", "a", 250_000),
        ("best", "c", "a", 750_000),
    ]
    assert pairs["flow"].to_list() == [1, 2, 3, 4] and flow.index == 0
    classes = demands.stats()
    assert classes.select("class", "demands", "rate_bps").rows() == [
        ("gold", 2, 1_000_000),
        ("best", 2, 3_000_000),
    ]
    for key in ("sent", "received", "lost"):
        both = pairs.group_by("class", maintain_order=True).agg(pl.col(key).sum())
        assert both[key].to_list() == classes[key].to_list()
    # A Poisson process of so many packets in a second, give or take five standard deviations.
    for row in classes.iter_rows(named=True):
        expected = row["rate_bps"] / 8 / (200 if row["class"] == "gold" else 512)
        assert abs(row["sent"] - expected) < 5 * expected**0.5
    assert net.table("flow_accounts")["unknown"].sum() == 0
    assert net.flows == [flow]


def test_the_same_demands_as_rows_frames_and_files(tmp_path: Path) -> None:
    file = tmp_path / "tm.csv"
    file.write_text("from,to,rate,class\na,b,3 Mbit/s,gold\n# a comment\n\nb,c,1e6,best\n")
    rows = [("a", "b", "3 Mbit/s", "gold"), ("b", "c", 1e6, "best")]
    mappings = [dict(zip(("from", "to", "rate", "class"), row, strict=True)) for row in rows]
    frame = pl.DataFrame(
        {"to": ["b", "c"], "from": ["a", "b"], "rate": [3e6, 1e6], "class": ["gold", "best"]}
    )
    digests = set()
    for matrix in (rows, mappings, frame, file, str(file)):
        net = ring()
        demands = net.demands(matrix, classes=CLASSES)
        net.run(until="100 ms")
        assert demands.stats(by="pair")["rate_bps"].to_list() == [3_000_000, 1_000_000]
        digests.add(net.digest())
    assert len(digests) == 1


def test_gravity_gives_the_total_by_weights() -> None:
    net = ring()
    found = net.demands(gravity={"total": "12 Mbit/s", "weights": {"a": 2, "b": 1, "c": 1}}).stats(by="pair")
    rates = {(row["from"], row["to"]): row["rate_bps"] for row in found.iter_rows(named=True)}
    assert rates == {
        **{("a", "b"): 2_400_000, ("a", "c"): 2_400_000, ("b", "a"): 2_400_000, ("c", "a"): 2_400_000},
        **{("b", "c"): 1_200_000, ("c", "b"): 1_200_000},
    }
    net = ring()
    both = net.demands({("a", "b"): 5e6}, gravity={"total": "12 Mbit/s"}).stats(by="pair")
    assert both["rate_bps"].to_list() == [5_000_000] + [1_000_000] * 11  # listed pairs are as listed
    all_alike = ring().demands(gravity="12 Mbit/s").stats(by="pair")
    assert all_alike["rate_bps"].to_list() == [1_000_000] * 12


@pytest.mark.parametrize(("name", "text"), [("tm.xml", XML), ("tm.txt", NATIVE)])
def test_files_of_sndlib_are_read(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert files.read(file).rows == [["a", "b", 1_500_000], ["a", "c", 3_000_000]]
    assert files.read(file, 1e3).rows == [["a", "b", 1500], ["a", "c", 3000]]


def test_xml_with_entities_is_refused_and_nothing_outside_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("1")
    file = tmp_path / "tm.xml"
    for entity in (f'SYSTEM "{tmp_path / "secret"}"', '"1"'):
        file.write_text(f"<!DOCTYPE network [\n<!ENTITY x {entity}>\n]>\n{XML.split('?>')[1]}")
        with pytest.raises(tp.TwinplaneError, match=r"tm\.xml:2: it declares entities"):
            files.read(file)


CSV = "from,to,rate\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CSV + "a,b,1e6\na,x,1e6\n", "tm.csv:3: 'x', no node has that name"),
        (CSV + "a,b,-5\n", "tm.csv:2: demand a->b of -5: a rate is zero or more"),
        (CSV + "\na,b,0\n", "tm.csv:1: it has no demands"),
        (CSV + "a,b,20 Gbit/s\n", "tm.csv:2: demand a->b of 20 Gbit/s: the fastest link has 10 Gbit/s"),
        (CSV + "a,b,fast\n", "tm.csv:2: rate"),
        (CSV + "a,b,1e6\na,b\n", "tm.csv:3: 2 columns, and 3 in the first line"),
        (CSV + "a,b,1e6\nb,c,1e6\na,b,2e6\n", "tm.csv:4: demand a->b is given twice, first in line 2"),
        (CSV.replace("\n", ",class\n") + "a,b,1e6,\na,b,2e6,gold\n", "tm.csv:3: demand a->b is given twice"),
        (CSV + "a,a,1e6\n", "tm.csv:2: it begins and ends at 'a'"),
        (CSV.replace("\n", ",class\n") + "a,b,1e6,god\n", "did you mean 'gold'"),
        ("a,b,1e6\n", "tm.csv:1: the first line of CSV names its columns"),
        (CSV, "tm.csv:1: it has no demands"),
        ("", "tm.csv:1:"),
        (CSV + 'a,b,"1e6\n', "tm.csv:2: it is not CSV"),
        ("<network><demands>\n<demand>", "tm.csv:2: it is not well-formed XML"),
        ("<network><demand>\n<source>a</source></demand></network>", "tm.csv:1: a demand without target"),
        (NATIVE.replace("D2 ( a c ) 1 2.00", "D2 a c 1 2.00"), "tm.csv:11: it is no demand of SNDlib"),
    ],
)
def test_wrong_files_are_one_sentence_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tm.csv").write_text(text)
    file = tmp_path / "net.yaml"
    file.write_text(f"{RING}demands: {{file: tm.csv, classes: {{gold: {{dscp: EF}}}}}}\n")
    said = refused("run", file, "--out", tmp_path / "out")
    assert words in said and said.count(str(tmp_path)) == 1
    net = ring()
    net.link("a", "b", rate="10 Gbit/s")
    with pytest.raises(tp.TwinplaneError) as error:
        net.demands(tmp_path / "tm.csv", classes={"gold": {"dscp": "EF"}})
        net.run(until="1 ms")
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("{}", "there are none"),
        ("{file: none.csv}", "demands: file: there is no file"),
        ("{matrix: [[a, b]]}", "a demand: [FROM, TO, RATE]"),
        ("{matrix: [[a, b, 1 Mbit/s]], file: tm.csv}", "listed already"),
        ("{matrix: [[a, b, 1 Mbit/s]], scale: 0}", "scale: 0: it is not above zero"),
        ("{gravity: {total: 1 Mbit/s, weights: {a: -1}}}", "-1: a weight is zero or more"),
        ("{gravity: {total: 1 Mbit/s, weights: {a: 1}}}", "two nodes at least"),
        ("{gravity: {total: 1 Mbit/s, weights: {q: 1, a: 2}}}", "'q', no node has that name"),
        ("{gravity: 5}", "gravity"),
        ("{matrix: [[a, b, 1]], classes: {x: {share: 0.7}, y: {share: 0.4}}}", "the shares add up to 1.1"),
        ("{matrix: [[a, b, 1]], classes: {x: {share: 1.5}}}", "1.5: a share is 0 to 1"),
        ("{matrix: [[a, b, 1]], classes: {x: {dscp: EFF}}}", "dscp"),
        ("{matrix: [[a, b, 1]], classes: {x: {size: 5}}}", "size"),
        ("{matrix: [[a, b, 1]], start: 2 s, stop: 1 s}", "1 s is not after its start (2 s)"),
        ("{matrix: [[a, b, 1]], start: 9 s}", "they start at 9 s, and the run is over at"),
    ],
)
def test_wrong_demands_are_refused_with_their_line(tmp_path: Path, said: str, words: str) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(f"{RING}demands: {said}\n")
    found = refused("run", file, "--out", tmp_path / "out", "--duration", "2")
    assert f"{file}:{RING.count(chr(10)) + 1}:" in found and words in found


def test_calls_refuse_what_is_no_matrix() -> None:
    for matrix, words in (
        (5, "a data frame with columns"),
        ([("a", "b")], "row 1"),
        ({"ab": 1}, "two ends"),
        ([("a", "b", float("nan"))], "not zero or more"),
        ([{"from": "a", "to": "b", "speed": 5}], "'speed' is none of them"),
        ([{"from": "a", "to": "b"}], "'rate' is missing"),
        ([("a", "b", None)], "no number"),
        (pl.DataFrame({"from": ["a"], "too": ["b"], "rate": [1]}), "no column 'to'"),
        ("no-such-file.csv", "no-such-file.csv: it cannot be read"),
    ):
        with pytest.raises(tp.TwinplaneError, match=words):
            ring().demands(matrix)
    net = ring()
    demands = net.demands({("a", "b"): 1e6})
    with pytest.raises(tp.TwinplaneError, match="some already"):
        net.demands({("a", "c"): 1e6})
    with pytest.raises(tp.TwinplaneError, match="class or pair"):
        demands.stats(by="node")
    net.run(until="1 ms")
    with pytest.raises(tp.TwinplaneError, match="before the network first runs"):
        net.demands({("a", "c"): 1e6})


def test_rows_that_name_their_cells_may_have_them_in_any_order_and_zero_is_no_demand() -> None:
    for matrix in (
        [{"rate": 2e6, "to": "b", "from": "a"}, {"to": "c", "from": "b", "rate": 0}],
        pl.DataFrame({"demand": [2e6, 0.0], "Target": ["b", "c"], "source": ["a", "b"]}),
        [("a", "b", 2e6), ("b", "c", 0)],
    ):
        net = ring()
        demands = net.demands(matrix)
        net.run(until="10 ms")
        pairs = demands.stats(by="pair")
        assert pairs.select("from", "to", "rate_bps").rows() == [("a", "b", 2_000_000)]


def test_a_network_file_with_demands_runs_and_its_page_has_aggregates(tmp_path: Path) -> None:
    (tmp_path / "tm.csv").write_text("from,to,rate\na,b,5 Mbit/s\nb,c,2 Mbit/s\n")
    file = tmp_path / "net.yaml"
    file.write_text(
        f"{RING}flows: [{{from: a, to: c}}]\n"
        "demands: {file: tm.csv, scale: 0.5, classes: {gold: {dscp: EF, share: 0.1}, best: {}}}\n"
    )
    out = tmp_path / "out"
    said = good("run", file, "--out", out, "--duration", "1")
    assert "demands gold" in said and "demands best" in said
    page = next(out.rglob("*.html")).read_text()
    assert "Demands by class" in page and "demands gold" in page
    net = Network.from_file(file)
    assert net.draft.demands is not None and net.draft.demands.classes == ["gold", "best"]
    net.run(until="100 ms")
    shown = tp.report(net, tmp_path / "page.html").read_text()
    assert "Demands by class" in shown and "Demands that lost most" in shown


def test_many_demands_do_not_slow_the_page(tmp_path: Path) -> None:
    """A row for each class and for the worst pairs, whatever their number."""
    sizes = []
    for count in (5, 12):
        net = Network()
        names = [f"r{n}" for n in range(count)]
        for name in names:
            net.router(name)
        for x, y in pairwise(names):
            net.link(x, y, rate="2 Mbit/s")
        net.demands(gravity="8 Mbit/s", classes=CLASSES)
        net.run(until="200 ms")
        page = tp.report(net, tmp_path / f"{count}.html").read_text()
        sizes.append(page.count("<tr"))
    # More nodes have more queues and ports; not a row for each of 264 demands.
    assert sizes[1] - sizes[0] < 100
