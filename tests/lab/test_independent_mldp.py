"""Point-to-multipoint LSPs of LDP (RFC 6388) beside a router that nobody here wrote.

``left -- a --(f1) peer (f2)-- b``
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab

from .independent import OSPF, OSPF_PORT, Peer, lab_beside, rows, running, wait

NETWORK = """\
name: {name}
nodes:
  left: {kind: host, address: 10.1.0.2/24}
  a: {kind: router, router_id: 10.9.1.1, {ldp}, ospf: {{timers}}}
  b: {kind: router, router_id: 10.9.2.1, {ldp}, ospf: {{timers}}}
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, a]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500}]
p2mp:
  - {name: out, protocol: ldp, root: a, leaves: [b, peer], group: 239.1.1.1, lsp_id: 77}
  - {name: back, protocol: ldp, root: peer, leaves: [a, b], lsp_id: 78}
"""

TIMERS = "hello_interval: 1 s, dead_interval: 40 s, retransmit_interval: 1 s"
LABELS = "ldp: {hello_interval: 1 s, hold_time: 9 s}"

TUNNEL = """\
int tun{number}
 tun sou lo0
 tun dest {root}
 tun vrf v1
 tun key {lsp_id}
 tun mod p2mpldp
 vrf for v1
 ipv4 addr {address} 255.255.255.0
 exit
"""

SPEAKER = (
    OSPF
    + OSPF_PORT.format(number=1)
    + OSPF_PORT.format(number=2)
    + """\
vrf def v1
 label-mode per-prefix
 exit
int eth1
 mpls ldp4
 exit
int eth2
 mpls ldp4
 exit
"""
    + TUNNEL.format(number=7, root="10.9.1.1", lsp_id=77, address="3.3.7.1")
    + TUNNEL.format(number=8, root="9.9.9.1", lsp_id=78, address="3.3.8.1")
)
"""It is a leaf of `out`, on the way of which it lies, and the root of `back`."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    need("labs", "freertr")
    addresses = ["10.0.3.2", "10.0.4.2"]
    with running(f"tpt-{os.getpid()}", tmp_path_factory.mktemp("peer"), addresses, SPEAKER) as made:
        yield made


def arrived(lab: Lab, node: str, name: str) -> int:
    """Packets that came to a leaf by the tree of that name."""
    labels = {row["in_label"] for row in rows(lab, node, "ldp_p2mp_lsps", name=name)}
    return sum(row["packets"] for row in rows(lab, node, "ilm") if row["label"] in labels)


def test_trees_of_both(peer: Peer, tmp_path: Path) -> None:
    """Ours is the root, and it is a leaf with a way on; it is the root, and ours are the leaves."""
    network = NETWORK.replace("{timers}", TIMERS).replace("{ldp}", LABELS)
    for lab in lab_beside(peer, tmp_path, f"t{os.getpid()}", network):

        def known(lab: Lab = lab) -> object:
            tables = ("ldp_sessions", "ldp_p2mp_lsps", "ldp_p2mp_labels")
            return [(node, table, rows(lab, node, table)) for node in "ab" for table in tables]

        wait(lambda: rows(lab, "b", "ldp_p2mp_lsps", name="out", role="leaf", state="told"), known)  # noqa: B023
        wait(lambda: rows(lab, "a", "ldp_p2mp_labels", lsp_id=77), known)  # noqa: B023
        for node in "ab":
            wait(
                lambda node=node: rows(lab, node, "ldp_p2mp_lsps", name="back", state="told"),  # type: ignore[misc]  # noqa: B023
                known,
            )
        lab.exec(
            "left", "ping", "-c", "5", "-i", "0.1", "-t", "9", "-W", "1", "239.1.1.1", check=False, timeout=30
        )
        wait(lambda: arrived(lab, "b", "out") >= 5, known)  # noqa: B023
        assert arrived(lab, "b", "out") == 5
        peer.ask("ping 3.3.8.2 vrf v1 source tun8 repeat 5 timeout 100")
        wait(lambda: min(arrived(lab, node, "back") for node in "ab") >= 5, known)  # noqa: B023
        for node in "ab":
            assert rows(lab, node, "ldp_malformed") == []
