"""P2MP LSPs (RFC 4875) beside a router that nobody here wrote: as branch node, leaf and root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from twinplane import Lab

from .independent import NO_TUNNEL, Peer, faultless, lab_beside, rows, running, wait

NETWORK = """\
name: {name}
nodes:
  left: {kind: host, address: 10.1.0.2/24}
  a: {kind: router, router_id: 10.9.1.1, rsvp: {refresh: 1 s}}
  b: {kind: router, router_id: 10.9.2.1, rsvp: {refresh: 1 s}}
  c: {kind: router, router_id: 10.9.3.1, rsvp: {refresh: 1 s}}
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, a]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500, rate: 1 Gbit/s}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500, rate: 1 Gbit/s}]
  - ['peer:x3', c, {addresses: [10.0.5.2/30, 10.0.5.1/30], mtu: 1500, rate: 1 Gbit/s}]
{trees}
"""

TREE = """\
p2mp:
  - {name: tree, root: a, leaves: [{leaves}], routes: {routes}, group: 239.1.1.1, signalling: separate,
     bandwidth: 10 Mbit/s, retry_first: 200 ms, retry_max: 1 s}
"""
"""It drops a Path without an explicit route, and one with several leaves."""

ROUTES = """\
int tun1
 tun sou lo0
 tun dest 9.9.9.9
 tun domain-name 10.9.2.1 10.9.3.1
 tun vrf v1
 vrf for v1
 ipv4 addr 2.2.3.1 255.255.255.252
 exit
ipv4 route v1 10.9.1.0 255.255.255.0 10.0.3.1
ipv4 route v1 10.9.2.0 255.255.255.0 10.0.4.1
ipv4 route v1 10.9.3.0 255.255.255.0 10.0.5.1
"""
"""Its tunnel ends at `b` and `c`."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    addresses = ["10.0.3.2", "10.0.4.2", "10.0.5.2"]
    with running(f"tpm-{os.getpid()}", tmp_path_factory.mktemp("peer"), addresses, ROUTES) as made:
        yield made


def lab_of(peer: Peer, folder: Path, *leaves: str) -> Iterator[Lab]:
    routes = ", ".join(f"{leaf}: [peer]" if leaf == "peer" else f"{leaf}: [peer, {leaf}]" for leaf in leaves)
    trees = TREE.replace("{leaves}", ", ".join(leaves)).replace("{routes}", f"{{{routes}}}") if leaves else ""
    yield from lab_beside(peer, folder, f"m{os.getpid()}", NETWORK.replace("{trees}", trees))


def arrived(lab: Lab, node: str) -> int:
    """Packets that came to a leaf by the tree."""
    labels = {row["in_label"] for row in rows(lab, node, "p2mp_lsps")}
    return sum(row["packets"] for row in rows(lab, node, "ilm") if row["label"] in labels)


def test_it_branches(peer: Peer, tmp_path: Path) -> None:
    """Ours is the root and both leaves; between them it copies."""
    for lab in lab_of(peer, tmp_path, "b", "c"):
        wait(lambda: len(rows(lab, "a", "s2ls", state="up")) == 2, lambda: peer.ask("show logging")[-6000:])  # noqa: B023
        assert rows(lab, "b", "p2mp_lsps")[0]["role"] == rows(lab, "c", "p2mp_lsps")[0]["role"] == "leaf"
        lab.exec(
            "left", "ping", "-c", "5", "-i", "0.1", "-t", "9", "-W", "1", "239.1.1.1", check=False, timeout=30
        )
        wait(lambda: min(arrived(lab, "b"), arrived(lab, "c")) >= 5, lambda: rows(lab, "b", "ilm"))  # noqa: B023
        assert max(arrived(lab, "b"), arrived(lab, "c")) == 5
        faultless(lab, "abc")


def test_it_is_a_leaf(peer: Peer, tmp_path: Path) -> None:
    """It, and `b` behind it: it is a leaf with a way on."""
    for lab in lab_of(peer, tmp_path, "peer", "b"):
        wait(lambda: len(rows(lab, "a", "s2ls", state="up")) == 2, lambda: peer.ask("show logging")[-6000:])  # noqa: B023
        faultless(lab, "abc")


def test_it_is_the_root(peer: Peer, tmp_path: Path) -> None:
    """Its tree leads to `b` and `c`; what it tears down is gone."""
    for lab in lab_of(peer, tmp_path):
        assert peer.console is not None
        peer.console.configure("int tun1", "tunnel mode p2mpte", "no tunnel shutdown")
        for node in "bc":
            wait(
                lambda node=node: rows(lab, node, "p2mp_lsps", role="leaf", reserved=1),  # type: ignore[misc]  # noqa: B023
                lambda: peer.ask("show logging")[-3000:],
            )
        peer.console.configure(*NO_TUNNEL)
        for node in "bc":
            wait(lambda node=node: not rows(lab, node, "p2mp_lsps"), lambda: "it keeps it")  # type: ignore[misc]  # noqa: B023
        faultless(lab, "abc")
