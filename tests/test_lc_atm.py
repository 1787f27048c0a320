"""Labels that are channels of ATM (RFC 3035): in Python and in network files.

How many there are is counted against paper in `test_tag_vcs.py`.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError

from tests.lab.test_captures import tshark

OSPF = {"hello_interval": "1 s", "dead_interval": "4 s"}
LDP = {"hello_interval": "1 s", "hold_time": "4 s"}


def row(encapsulation: str = "shim", merge: bool = False) -> tuple[tp.Network, list[tp.Link]]:
    """Two edges with a host each, and three ATM-LSRs in a row between them."""
    net = tp.Network(seed=5)
    names = ["italy", "rome", "milan", "bern", "switzerland"]
    for name in names:
        make = net.router if name in (names[0], names[-1]) else net.atm_lsr
        make(name, **({"merge": True} if merge and make == net.atm_lsr else {}), ospf=OSPF, ldp=LDP)
    labels = {"encapsulation": encapsulation}
    links = [
        net.link(a, b, medium="atm", rate="4750 cells/s", delay="1 ms", lc_atm=labels)
        for a, b in pairwise(names)
    ]
    for name, edge in (("left", "italy"), ("right", "switzerland")):
        net.host(name, f"10.{len(name)}.0.2/24")
        net.link(name, edge, "100 Mbit/s", "1 us")
    return net, links


@pytest.mark.parametrize("encapsulation", ["shim", "bare"])
def test_packets_of_hosts_go_as_cells_of_labels(encapsulation: str) -> None:
    net, _ = row(encapsulation)
    flow = net.flow("left", "right", rate="500 kbit/s", size=1482, start="20 s", stop="22 s")
    net.run(until="23 s")
    stats = flow.stats().row(0, named=True)
    assert stats["sent"] == stats["received"] > 80
    cells = -(-(1464 + {"shim": 4, "bare": 0}[encapsulation] + 8) // 48)
    assert net.table("atm_channels")["passed"].sum() == 3 * cells * stats["sent"]


@pytest.mark.parametrize("encapsulation", ["shim", "bare"])
def test_time_to_live_counts_switches(encapsulation: str) -> None:
    """Five routers take five of it, though three of them see no packet."""
    net, _ = row(encapsulation)
    net.run(until="20 s")
    hops = net.node("left").traceroute("right")
    assert hops["hop"].max() == 6
    assert hops.filter(hop=6)["address"].to_list() == ["10.5.0.2"]


def test_tshark_finds_cells_of_the_control_channel(tmp_path: Path) -> None:
    net, links = row()
    taps = [net.capture(link.a, link.b) for link in links]
    net.run(until="12 s")
    taps[1].save(tmp_path / "cells.pcapng")
    read = tshark(tmp_path / "cells.pcapng", "-Y", "atm.vci == 32", "-T", "fields", "-e", "atm.vci")
    assert "32" in "".join(map(str, read)), "cells of the channel of unlabelled packets"


def test_a_filter_sends_cells_along_an_explicit_route() -> None:
    """RFC 3209, 4.2.2: traffic of the filter goes by Switzerland and back, and loses nothing by moving."""
    net = tp.Network(seed=7)
    ospf = {**OSPF, "te": True}
    rome, vienna, bern = (net.atm_lsr(name, ospf=ospf, ldp=LDP) for name in ("rome", "vienna", "bern"))
    italy, austria = (net.router(name, ospf=ospf, ldp=LDP) for name in ("italy", "austria"))
    for a, b in [(rome, vienna), (rome, bern), (bern, vienna), (italy, rome), (austria, vienna)]:
        net.link(a, b, medium="atm", rate="4750 cells/s", delay="1 ms")
    here = net.host("here", "192.168.43.3/24")
    net.link(here, italy, "100 Mbit/s", "1 us")
    flows = {}
    for name, network in (("there", 33), ("other", 34)):
        net.host(name, f"192.168.{network}.2/24")
        net.link(name, austria, "100 Mbit/s", "1 us")
        flows[name] = net.flow(here, name, rate="300 kbit/s", size=1000, start="20 s", stop="32 s")
    tunnel = italy.lsp(
        "by-bern",
        austria,
        route=[rome, bern, vienna, austria],
        filters=[{"dst": "192.168.33.0/24"}],
        signal=False,
    )
    net.at("24 s").signal(tunnel)
    net.at("28 s").tear(tunnel)

    def by_bern() -> int:
        return int(net.table("atm_channels").filter(node="bern")["passed"].sum())

    passed = []
    for second in (24, 28, 34):
        net.run(until=f"{second} s")
        passed.append(by_bern())
    packets = 4 * 300e3 / 8000
    # 982 bytes of IP, a shim and the trailer of AAL5 are 21 cells.
    assert (passed[2] - passed[0]) / 21 == pytest.approx(packets, abs=2)
    assert passed[2] - passed[1] < 21 * 2
    for flow in flows.values():
        row = flow.stats().row(0, named=True)
        assert row["sent"] == row["received"] > 400


FILE = """
name: cells
nodes:
  a: {kind: router, ospf: {area: 0}, ldp: true}
  s: {kind: atm-lsr, merge: true, ospf: {area: 0}, ldp: true}
  b: {kind: router, ospf: {area: 0}, ldp: true}
links:
  - [a, s, {medium: atm, rate: 4750 cells/s, lc_atm: {vci: [100, 200]}}]
  - [s, b, {medium: atm, rate: 4750 cells/s, lc_atm: {vpi: [4, 5], vci: [300, 400]}}]
"""


def test_a_file_says_which_channels_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "cells.yaml"
    path.write_text(FILE)
    net = tp.Network.from_file(path)
    net.run(until="60 s")
    ranges = net.table("label_ranges").filter(node="s").sort("port")
    assert ranges["vci_min"].to_list() == [100, 300]
    assert ranges["vpi_max"].to_list() == [0, 5]
    table = net.table("label_vcs").filter(node="b")
    assert table.height > 0
    assert table["vpi"].is_between(4, 5).all()
    assert table["vci"].is_between(300, 400).all()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("vci: [100, 200]", "vci: [10, 200]", "VCI 10: 33 to 65535"),
        ("vci: [100, 200]", "vci: [200, 100]", "the first is the lesser one"),
        ("vci: [100, 200]", "control_vci: 40", "can't be a label too"),
        ("vci: [100, 200]", "encapsulation: bare", "the same on all"),
        ("vpi: [4, 5]", "vpi: [4, 50]", "at most 16 of them"),
        ("rate: 4750 cells/s, lc_atm: {vci: [100, 200]}", "driver: packet", "has no 'driver'"),
        ("medium: atm, rate: 4750 cells/s, lc_atm: {vci: [100", "lc_atm: {vci: [100", "links of medium atm"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FILE
    path = tmp_path / "cells.yaml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(TwinplaneError, match=said.replace("[", r"\[")):
        tp.Network.from_file(path).run(until="1 s")
