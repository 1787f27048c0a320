"""ATM as users meet it: circuits in Python and in network files, tables, captures, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError
from twinplane.experiments.tag_switching.links import ENCAPSULATIONS, cells_of

from tests.lab.test_captures import tshark


def triangle(**circuit: Any) -> tuple[tp.Network, tp.Link]:
    """Two routers with a host each, and a circuit between them over two switches."""
    net = tp.Network(seed=3)
    a, b = net.router("a"), net.router("b")
    left, right = net.host("left", "10.1.0.2/24"), net.host("right", "10.2.0.2/24")
    net.link(left, a, "100 Mbit/s", "1 us")
    net.link(right, b, "100 Mbit/s", "1 us")
    rome, bern = net.atm_switch("rome"), net.atm_switch("bern")
    net.link(rome, bern, medium="atm", rate="4750 cells/s", delay="2 ms")
    return net, net.pvc(a, b, through=[rome, bern], **circuit)


@pytest.mark.parametrize("encapsulation", sorted(ENCAPSULATIONS))
def test_packets_take_the_cells_of_their_encapsulation(encapsulation: str) -> None:
    net, _ = triangle(encapsulation=encapsulation)
    flow = net.flow("left", "right", rate="500 kbit/s", size=1482, start="1 s", stop="2 s")
    net.run(until="3 s")
    row = flow.stats().row(0, named=True)
    ends = net.table("atm_ends")
    assert row["sent"] == row["received"] == ends["packets_sent"].sum() == ends["packets_received"].sum()
    assert ends["cells_sent"].sum() == row["sent"] * cells_of(1464, encapsulation)
    ports = net.table("atm_ports")
    assert ports["received"].sum() == ports["sent_ubr"].sum() == ends["cells_received"].sum()
    assert ports["dropped"].sum() == ports["unknown"].sum() == ports["header_errors"].sum() == 0


def test_a_circuit_that_fails_goes_down_at_both_ends() -> None:
    net, circuit = triangle()
    net.at("1 s").fail("a", "b", for_="1 s")
    flow = net.flow("left", "right", rate="100 kbit/s", size=500, stop="3 s")
    net.run(until="4 s")
    events = net.table("events")
    down = [row["node"] for row in events.to_dicts() if "down" in str(row["event"]).lower()]
    assert {"a", "b"} <= set(down)
    row = flow.stats().row(0, named=True)
    assert 0.5 < row["received"] / row["sent"] < 0.8
    assert circuit.a.name == "a"


def test_a_link_of_cells_that_fails_is_noticed_by_no_router() -> None:
    net, _ = triangle()
    net.at("1 s").fail("rome", "bern", for_="1 s")
    flow = net.flow("left", "right", rate="100 kbit/s", size=500, stop="3 s")
    net.run(until="4 s")
    down = [row["node"] for row in net.table("events").to_dicts() if "down" in str(row["event"]).lower()]
    assert not {"a", "b"} & set(down)
    row = flow.stats().row(0, named=True)
    assert 0.5 < row["received"] / row["sent"] < 0.8


def test_what_stands_at_a_circuit_may_be_placed_later() -> None:
    net, circuit = triangle()
    meter = tp.queues.TokenBucket(rate="8 kbit/s", burst="2 kB")
    net.place("b", circuit, ingress=tp.queues.Conditioner(rules=[{"name": "all", "meter": meter}]))
    flow = net.flow("left", "right", rate="100 kbit/s", size=500, stop="1 s")
    net.run(until="2 s")
    row = flow.stats().row(0, named=True)
    assert 0 < row["received"] < row["sent"]


def test_ospf_runs_over_a_circuit() -> None:
    net = tp.Network(seed=3)
    a, b = (net.router(name, ospf={"area": 0}) for name in "ab")
    left, right = net.host("left", "10.1.0.2/24"), net.host("right", "10.2.0.2/24")
    net.link(left, a)
    net.link(right, b)
    rome, bern = net.atm_switch("rome"), net.atm_switch("bern")
    net.link(rome, bern, medium="atm", rate="4750 cells/s", delay="2 ms")
    net.pvc(a, b, through=[rome, bern])
    flow = net.flow(left, right, rate="100 kbit/s", size=500, start="60 s", stop="61 s")
    net.run(until="62 s")
    row = flow.stats().row(0, named=True)
    assert row["sent"] == row["received"] > 0


FILE = """
name: circuit
nodes:
  a: {kind: router}
  b: {kind: router}
  left: {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  rome: {kind: atm-switch, epd_cells: 100}
  bern: {kind: atm-switch}
links:
  - [left, a]
  - [right, b]
  - [rome, bern, {medium: atm, rate: 4750 cells/s, delay: 2 ms}]
  - [a, b, {pvc: {through: [rome, bern], vci: 40, service: cbr, pcr: 4000 cells/s}}]
flows:
  - {from: left, to: right, rate: 200 kbit/s, size: 500, stop: 1 s}
"""


def test_a_file_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "circuit.yaml"
    path.write_text(FILE)
    net = tp.Network.from_file(path)
    net.run(until="2 s")
    ends = net.table("atm_ends").to_dicts()
    assert [(row["node"], row["vci"]) for row in ends] == [("rome", 40), ("bern", 40)]
    assert net.table("atm_ports")["sent_cbr"].sum() > 0


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("vci: 40", "vci: 7", "VCI 7: 32 to 65535"),
        ("4000 cells/s", "5000 cells/s", "link rome - bern carries"),
        ("through: [rome, bern]", "through: [rome]", "a circuit passes two at least"),
        ("through: [rome, bern]", "through: [rome, a]", "'a' is no ATM switch"),
        ("through: [rome, bern]", "through: [rome, berne]", "no node has that name (did you mean 'bern'?)"),
        ("medium: atm, ", "", "'rome' is an ATM switch: its links have medium atm"),
        ("service: cbr, ", "service: abr, ", "'abr'"),
        (", pcr: 4000 cells/s", "", "service cbr needs a peak rate"),
        ("[left, a]", "[left, a, {medium: atm}]", "'left' is no ATM switch"),
        ("{pvc: {", "{rate: 1 Mbit/s, pvc: {", "have a 'rate'"),
        ("4750 cells/s", "4750 cell/s", "did you mean 'cells/s'?"),
        ("{pvc: {", "{clock_ppm: [1, 0], pvc: {", "have a 'clock_ppm'"),
        ("{pvc: {", "{driver: packet, pvc: {", "a circuit has no interface of this machine"),
        ("delay: 2 ms}", "delay: 2 ms, addresses: [10.8.0.1/30, 10.8.0.2/30]}", "has no 'addresses'"),
        ("epd_cells: 100", "epd_cells: 0", "epd_cells"),
        ("pcr: 4000 cells/s", "pcr: 0 cells/s", "a peak rate is more than nothing"),
        ("pcr: 4000 cells/s", "pcr: 4000 cells/s, shaped: false", "needs a 'tolerance'"),
        ("pcr: 4000 cells/s", "pcr: 4000 cells/s, tolerance: 1 ms", "needs a third switch"),
    ],
)
def test_wrong_input_is_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "circuit.yaml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(TwinplaneError) as error:
        tp.Network.from_file(path).run(until="1 ms")
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)
    assert "circuit.yaml:" in str(error.value)


def test_two_owners_of_a_channel_and_an_oversold_path_are_refused() -> None:
    net, _ = triangle(vci=40, service="cbr", pcr="3000 cells/s")
    net.pvc("b", "a", through=["bern", "rome"], vci=40)
    with pytest.raises(TwinplaneError, match="VCI 40 on link rome - bern is that of the circuit a - b"):
        net.run(until="1 ms")
    net, _ = triangle(service="cbr", pcr="3000 cells/s")
    net.pvc("b", "a", through=["bern", "rome"], service="cbr", pcr="2000 cells/s")
    with pytest.raises(TwinplaneError, match="is promised to others of service cbr"):
        net.run(until="1 ms")


@pytest.mark.needs("tshark")
def test_tshark_reads_the_pdus_of_a_circuit(tmp_path: Path) -> None:
    net, _ = triangle(vci=77)
    tap = net.capture("a", "b")
    net.tcp("left", "right", bytes="20 kB", start="1 s")
    net.run(until="10 s")
    path = tmp_path / "circuit.pcapng"
    tap.save(path)
    fields = ("-T", "fields", "-e", "atm.vci", "-e", "llc.dsap", "-e", "tcp.len", "-e", "_ws.malformed")
    rows = [line.split("\t") for line in tshark(path, *fields)]
    assert rows and all(row[0] == "77" and row[1] and not row[3] for row in rows), rows
    assert sum(int(row[2] or 0) for row in rows) == 20_000


@pytest.mark.needs("tshark")
def test_tshark_reads_cells(tmp_path: Path) -> None:
    net, _ = triangle(vci=77)
    tap = net.capture("rome", "bern")
    net.flow("left", "right", rate="100 kbit/s", size=500, start="1 s", stop="1.1 s")
    net.run(until="2 s")
    path = tmp_path / "cells.pcapng"
    tap.save(path)
    rows = [
        line.split("\t") for line in tshark(path, "-T", "fields", "-e", "erf.types.type", "-e", "atm.vci")
    ]
    assert rows and all(row[1] == "77" for row in rows), rows[:3]
