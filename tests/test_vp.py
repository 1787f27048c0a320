"""Virtual paths of ATM as users meet them: in Python and in network files, captures, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError

from tests.lab.test_captures import tshark

OSPF = {"hello_interval": "1 s", "dead_interval": "4 s"}
LDP = {"hello_interval": "1 s", "hold_time": "4 s"}


def pair(**path: Any) -> tuple[tp.Network, tp.Link]:
    """Two routers with a host each, and a virtual path between them through two public switches."""
    net = tp.Network(seed=3)
    a, b = (net.router(name, ospf=OSPF, ldp=LDP) for name in "ab")
    for name, router in (("left", a), ("right", b)):
        net.host(name, f"10.{len(name)}.0.2/24")
        net.link(name, router, "100 Mbit/s", "1 us")
    public = [net.atm_switch(name) for name in ("rome", "bern")]
    net.link(*public, medium="atm", rate="20000 cells/s", delay="2 ms")
    return net, net.vp(a, b, public, pcr="4750 cells/s", **path)


def test_labels_cross_a_network_that_sees_none() -> None:
    net, _ = pair(vpi=[5, 300, 12])
    flow = net.flow("left", "right", rate="1 Mbit/s", size=1482, start="15 s", stop="17 s")
    net.run(until="18 s")
    row = flow.stats().row(0, named=True)
    assert row["sent"] == row["received"] > 100
    paths = net.table("atm_paths")
    assert paths.filter(node="rome")["vpi"].to_list() == [5, 300]
    # 32 cells a packet, at each of two switches.
    assert paths["passed"].sum() >= 2 * 32 * row["sent"]
    assert net.table("atm_channels").is_empty()
    assert net.table("label_ranges").sort("node")["vpi_min"].to_list() == [5, 12]


def test_a_path_shapes_what_it_is_given() -> None:
    net, _ = pair()
    flow = net.flow("left", "right", rate="4 Mbit/s", size=1482, start="15 s", stop="20 s")
    net.run(until="16 s")
    before = net.table("atm_paths").filter(node="rome", port=1)["passed"].sum()
    net.run(until="20 s")
    after = net.table("atm_paths").filter(node="rome", port=1)["passed"].sum()
    assert (after - before) / 4 == pytest.approx(4750, rel=0.001)
    row = flow.stats().row(0, named=True)
    assert row["received"] < row["sent"] / 2


FILE = """
name: paths
nodes:
  left: {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a: {kind: router}
  b: {kind: router}
  rome: {kind: atm-switch}
  bern: {kind: atm-switch}
  public: {kind: atm-switch}
links:
  - [left, a]
  - [right, b]
  - [rome, bern, {uni: true, vp: {through: [public], vpi: [200, 7], pcr: 4750 cells/s}}]
  - [a, b, {pvc: {through: [rome, bern], vci: 40}}]
flows:
  - {from: left, to: right, rate: 200 kbit/s, size: 500, stop: 1 s}
"""


@pytest.mark.needs("tshark")
def test_tshark_reads_cells_of_a_users_interface(tmp_path: Path) -> None:
    path = tmp_path / "paths.yaml"
    path.write_text(FILE)
    net = tp.Network.from_file(path)
    taps = [net.capture("rome", "bern"), net.capture("a", "b")]
    net.run(until="2 s")
    fields = ("-T", "fields", "-e", "erf.types.type", "-e", "atm.vpi", "-e", "atm.vci")
    for tap in taps:
        tap.save(tmp_path / "cells.pcapng")
        rows = {tuple(line.split("\t")[1:]) for line in tshark(tmp_path / "cells.pcapng", *fields)}
        assert rows == {("200", "40")}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[200, 7]", "[256, 7]", "VPI 256: 1 to 255 on link rome - bern"),
        ("[200, 7]", "[1, 2, 3]", "3 VPIs for 2 links"),
        (
            "vpi: [200, 7], pcr: 4750 cells/s",
            "vpi: 7",
            "service cbr needs a peak rate, such as 'pcr: 4750 cells/s'",
        ),
        ("through: [public]", "through: [publik]", "did you mean 'public'?"),
        ("through: [public]", "through: [bern]", "'bern' is on the way already"),
        ("{uni: true, vp", "{uni: true, delay: 1 ms, vp", "a virtual path has no 'delay' of its own"),
        ("[left, a]", "[left, a, {uni: true}]", "this link carries none"),
        ("pcr: 4750", "peak: 4750", "unknown field 'peak'"),
        ("vci: 40}", "vci: 40, peak: 10 cells/s}", "'peak' is called 'pcr' now"),
        ("vci: 40}", "vci: 40, service: cbr, pcr: 5000 cells/s}", "link rome - bern carries"),
    ],
)
def test_wrong_input_is_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "paths.yaml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(TwinplaneError) as error:
        tp.Network.from_file(path).run(until="1 ms")
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)
    assert "paths.yaml:" in str(error.value)


def test_two_owners_and_an_oversold_link_are_refused_by_name() -> None:
    net, _ = pair(vpi=[1, 7, 1])
    net.router("c")
    net.pvc("a", "c", through=["rome", "bern"], vpi=7)
    with pytest.raises(TwinplaneError, match="VPI 7 on link rome - bern is that of the virtual path a - b"):
        net.run(until="1 ms")
    net, _ = pair()
    net.router("c", ospf=OSPF)
    net.vp("a", "c", through=["rome", "bern"], pcr="16000 cells/s")
    with pytest.raises(TwinplaneError, match="is promised to others of service cbr"):
        net.run(until="1 ms")


def test_labels_for_a_circuit_without_room_are_warned_of() -> None:
    net = tp.Network(seed=3)
    a, b = (net.router(name, ospf=OSPF, ldp=LDP) for name in "ab")
    switches = [net.atm_switch(name) for name in ("rome", "bern")]
    net.link(*switches, medium="atm", rate="4750 cells/s", delay="2 ms")
    net.pvc(a, b, through=switches, encapsulation="vc-mux")
    assert any("every packet with a label is dropped there" in said for said in net.warnings)
