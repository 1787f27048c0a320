"""Links whose medium is IEEE 802.3 with LLC, between the routers of a lab: real hosts talk over them."""

from __future__ import annotations

from pathlib import Path

from twinplane.lab import Lab

from .conftest import NetworkFile
from .test_captures import complaints, tshark
from .test_ipv6 import balanced

NETWORK = """\
name: {name}
nodes:
  left:  {kind: host,   address: 10.1.0.2/24}
  right: {kind: host,   address: 10.2.0.2/24}
  pe1:   {kind: router}
  p:     {kind: router}
  pe2:   {kind: router}
links:
  - [left, pe1, {mtu: 1488}]  # 1492 bytes fit on a link with LLC, and a label takes four of them
  - [pe1, p, {rate: 1 Gbit/s, medium: llc}]
  - [p, pe2, {rate: 1 Gbit/s, medium: llc}]
  - [pe2, right, {mtu: 1488}]
lsps:
  - {name: east, from: pe1, to: pe2, route: [p, pe2], carries: 10.2.0.0/24}
"""


def test_hosts_talk_over_llc_and_tshark_finds_nothing(network_file: NetworkFile, tmp_path: Path) -> None:
    """One way takes an LSP, the other one routes: labels, IPv4 and ARP are all behind SNAP."""
    first, second = tmp_path / "first.pcapng", tmp_path / "second.pcapng"
    with Lab(network_file(NETWORK)) as lab:
        captures = [lab.capture("pe1-p", path=first), lab.capture("p-pe2", path=second)]
        for size in ("56", "1460"):
            said = lab.exec("left", "ping", "-c", "5", "-i", "0.05", "-W", "2", "-s", size, "10.2.0.2").stdout
            assert " 0% packet loss" in said and "ttl=61" in said, said
        counts = [capture.stop() for capture in captures]
        balanced(lab, "pe1", "p", "pe2")
    assert min(counts) >= 20, counts
    for path in (first, second):
        assert complaints(path) == []
        shown = ("-T", "fields", "-e", "frame.number")
        frames = len(tshark(path, *shown))
        assert (
            len(tshark(path, "-Y", "llc.dsap == 0xaa && llc.control == 3 && eth.len <= 1500", *shown))
            == frames
        )
        assert tshark(path, "-Y", "llc.type == 0x0800 && icmp", *shown)
    assert tshark(first, "-Y", "llc.type == 0x8847", *shown)
