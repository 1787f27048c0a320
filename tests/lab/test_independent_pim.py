"""Trees of PIM (RFC 7761, 4.8) beside a router that nobody here wrote.

``left -- a --(f1) peer (f2)-- b -- far``
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab

from .independent import Peer, lab_beside, rows, running, wait
from .test_captures import complaints
from .test_pim import COUNT, SEND, TAKE

NETWORK = """\
name: {name}
nodes:
  left: {kind: host, address: 10.1.0.2/24}
  far: {kind: host, address: 10.2.0.2/24}
  a: {kind: router, router_id: 10.9.1.1, igmp: true, pim: {hello_interval: 1 s}}
  b:
    kind: router
    router_id: 10.9.2.1
    igmp: true
    pim: {hello_interval: 1 s}
    routes: [{prefix: 10.1.0.0/24, via: peer}]
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, a]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500}]
  - [b, far]
"""

SPEAKER = """\
int eth1
 ipv4 pim enable
 ipv4 pim hello-time 1000
 exit
int eth2
 ipv4 pim enable
 ipv4 pim hello-time 1000
 exit
ipv4 route v1 10.1.0.0 255.255.255.0 10.0.3.1
ipv4 mroute v1 10.1.0.0 255.255.255.0 10.0.3.1
"""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    need("labs", "freertr")
    addresses = ["10.0.3.2", "10.0.4.2"]
    with running(f"tpt-{os.getpid()}", tmp_path_factory.mktemp("peer"), addresses, SPEAKER) as made:
        yield made


def test_a_tree_leads_through_it(peer: Peer, tmp_path: Path) -> None:
    """It is joined by ours, and joins ours: a host gets every packet once."""
    for lab in lab_beside(peer, tmp_path, f"t{os.getpid()}", NETWORK):
        captures = {one: lab.capture(one, path=tmp_path / f"{one}.pcapng") for one in ("a-peer", "peer-b")}

        def known(lab: Lab = lab) -> object:
            tables = ("pim_neighbors", "pim_trees", "pim_joins", "pim_discards")
            return peer.ask("show ipv4 mroute v1"), [
                (node, table, rows(lab, node, table)) for node in "ab" for table in tables
            ]

        taker = lab.start("far", sys.executable, "-c", TAKE, "10.2.0.2", stdout=subprocess.PIPE, text=True)
        wait(lambda: rows(lab, "b", "pim_trees", upstream="10.0.4.2", outgoing=1), known)  # noqa: B023
        wait(lambda: rows(lab, "a", "pim_trees", state="joined", outgoing=1), known)  # noqa: B023
        lab.exec("left", sys.executable, "-c", SEND)
        assert taker.communicate(timeout=30)[0].split() == ["joined", str(COUNT), str(COUNT)]
        # The host has left: b prunes the peer, which sends nothing there any more. It stays on the tree.
        pruned = lambda: "ifc=0" in peer.ask("show ipv4 mroute v1")  # noqa: E731
        wait(lambda: not rows(lab, "b", "pim_trees") and pruned(), known)  # noqa: B023
        assert rows(lab, "a", "pim_discards") == rows(lab, "b", "pim_discards") == []
        for link, capture in captures.items():
            capture.stop()
            assert complaints(tmp_path / f"{link}.pcapng") == []
