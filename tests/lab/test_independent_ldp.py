"""LDP beside a router that nobody here wrote (freeRtr), over routes of OSPF.

    left -- a --(f1) peer (f2)-- b -- t -- right

Labels of `a` and `b` are not connected but by it. The whole file is skipped where the router is not
(tests/support/needs.py).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.needs import need
from twinplane.lab import Lab

from .independent import OSPF, OSPF_PORT, Peer, lab_beside, labels_of, ping, ping_from, rows, running, wait

NETWORK = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a: {kind: router, router_id: 10.9.1.1, {ldp}, ospf: {{timers}}}
  b: {kind: router, router_id: 10.9.2.1, {ldp}, ospf: {{timers}, interfaces: {t: {dead_interval: 4 s}}}}
  t: {kind: router, router_id: 10.9.3.1, {ldp}, ospf: {{timers}, interfaces: {b: {dead_interval: 4 s}}}}
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, a]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500}]
  - [b, t]
  - [t, right]
"""

TIMERS = "hello_interval: 1 s, dead_interval: 40 s, retransmit_interval: 1 s"
LABELS = "ldp: {hello_interval: 1 s, hold_time: 9 s}"
"""It sends a Hello each 5 s, however short the hold time is that both agree on."""

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
)
"""It gives a label for each prefix; usually it has one for all that is not its own."""

IMPLICIT_NULL = 3


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    addresses = ["10.0.3.2", "10.0.4.2"]
    with running(f"tpl-{os.getpid()}", tmp_path_factory.mktemp("peer"), addresses, SPEAKER) as made:
        yield made


@pytest.fixture
def lab(peer: Peer, tmp_path: Path) -> Iterator[Lab]:
    """A lab around it, in which labels lead from end to end."""
    network = NETWORK.replace("{timers}", TIMERS).replace("{ldp}", LABELS)
    for made in lab_beside(peer, tmp_path, f"l{os.getpid()}", network):
        labelled(made, peer)
        yield made


def labelled(lab: Lab, peer: Peer) -> None:
    """Wait until packets to both hosts are labelled on all of the way, and both ends know all bindings."""
    for node in "ab":
        wait(
            lambda node=node: session(lab, node).get("state") == "operational",
            lambda node=node: session(lab, node),
        )
    for node, prefix in (("a", "10.2.0.0/24"), ("t", "10.1.0.0/24")):
        wait(
            lambda node=node, prefix=prefix: bound(lab, node, prefix)["out_labels"],
            lambda: peer.ask("show ipv4 ldp v1 database"),
        )
    for node, address in (("a", "10.0.3.1"), ("b", "10.0.4.1")):
        wait(
            lambda node=node, address=address: (
                given(lab, node) == learnt(peer, address) and taken(lab, node) == told(peer)
            ),
            lambda node=node, address=address: (
                given(lab, node),
                learnt(peer, address),
                taken(lab, node),
                told(peer),
            ),
        )


def session(lab: Lab, node: str) -> dict[str, Any]:
    """A router's session with it, which knows itself by the address of the link."""
    found = [row for row in rows(lab, node, "ldp_sessions") if row["remote"] in ("10.0.3.2", "10.0.4.2")]
    return found[0] if found else {}


def bound(lab: Lab, node: str, prefix: str) -> dict[str, Any]:
    """What a router does with a prefix."""
    found = rows(lab, node, "ldp_bindings", prefix=prefix)
    return found[0] if found else {"label": None, "out_labels": []}


def given(lab: Lab, node: str) -> dict[str, int]:
    """The labels that a router gives."""
    return {
        row["prefix"]: row["label"] for row in rows(lab, node, "ldp_bindings") if row["label"] is not None
    }


def taken(lab: Lab, node: str) -> dict[str, int]:
    """The labels that a router has been given by the other one."""
    found = rows(lab, node, "ldp_labels")
    return {row["prefix"]: row["label"] for row in found if row["router_id"] in ("10.0.3.2", "10.0.4.2")}


def learnt(peer: Peer, address: str) -> dict[str, int]:
    """The labels that it has been given by a neighbour."""
    said = peer.ask(f"show ipv4 ldp v1 neighbor {address} learned")
    found = re.findall(r"^(\S+/\d+) +\S+ +(\d+) ", said, re.MULTILINE)
    return {prefix: int(label) for prefix, label in found}


def told(peer: Peer) -> dict[str, int]:
    """The labels that it gives."""
    said = peer.ask("show ipv4 ldp v1 database")
    found = re.findall(r"^(\S+/\d+) +(\d+) ", said, re.MULTILINE)
    return {prefix: int(label) for prefix, label in found}


def stacks(path: Path, where: str) -> list[tuple[int, ...]]:
    """The label stacks of the packets of a capture that a filter lets pass."""
    need("tshark")
    words = ["tshark", "-n", "-r", str(path), "-Y", where, "-T", "fields", "-e", "mpls.label"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [tuple(int(label) for label in line.split(",") if label) for line in done.stdout.splitlines()]


def test_labels_of_both_are_on_the_wire(lab: Lab, peer: Peer, tmp_path: Path) -> None:
    """On each link the label that the next router has given, ours or it; none on the way to the last hop."""
    files = {name: lab.capture(name, path=tmp_path / f"{name}.pcapng") for name in ("a-peer", "peer-b")}
    wait(lambda: ping(lab, "left", "10.2.0.2") == 20)
    assert ping_from(peer, "10.2.0.2") == 20
    for one in files.values():
        one.stop()
    there, back = "icmp.type == 8 && ip.src == 10.1.0.2", "icmp.type == 0 && ip.dst == 10.1.0.2"
    out, onward = told(peer)["10.2.0.0/24"], given(lab, "b")["10.2.0.0/24"]
    assert labels_of(peer)[out] == str(onward)
    assert set(stacks(files["a-peer"].path, there)) == {(out,)}
    assert set(stacks(files["peer-b"].path, there)) == {(onward,)}
    home = told(peer)["10.1.0.0/24"]
    assert given(lab, "a")["10.1.0.0/24"] == IMPLICIT_NULL
    assert set(stacks(files["peer-b"].path, back)) == {(home,)}
    assert set(stacks(files["a-peer"].path, back)) == {()}
    # What begins at it has the label of `b`, too.
    assert set(stacks(files["peer-b"].path, "icmp.type == 8 && ip.src == 9.9.9.1")) == {(onward,)}
    for one in files.values():
        assert stacks(one.path, "_ws.malformed") == []


def test_what_is_withdrawn_is_gone(lab: Lab, peer: Peer) -> None:
    """`t` is killed: `b` tells it, it tells `a`. When `t` comes back, the link to `a` is cut.

    The interface of `a` stays up: Hellos that stay away end that session with all labels, not the other one.
    Then all is back.
    """
    lab.kill("t")
    wait(lambda: "10.2.0.0/24" not in learnt(peer, "10.0.4.1"), lambda: learnt(peer, "10.0.4.1"))
    wait(lambda: "10.2.0.0/24" not in taken(lab, "a"), lambda: taken(lab, "a"))
    assert session(lab, "a").get("state") == session(lab, "b").get("state") == "operational"
    with peer.changed("int eth1", "shutdown", "no shutdown"):
        with peer.here():
            lab.restart("t")
        wait(lambda: session(lab, "a").get("state") != "operational", lambda: "the session stays")
        wait(lambda: taken(lab, "a") == {}, lambda: taken(lab, "a"))
        assert learnt(peer, "10.0.3.1") == {}
        wait(lambda: "10.2.0.0/24" in learnt(peer, "10.0.4.1"), lambda: learnt(peer, "10.0.4.1"))
        wait(lambda: "10.1.0.0/24" not in taken(lab, "b"), lambda: taken(lab, "b"))
        assert session(lab, "b").get("state") == "operational"
    labelled(lab, peer)
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)


def test_it_is_killed_and_starts_again(lab: Lab, peer: Peer) -> None:
    """Sessions end when its Hellos stay away, with all that it gave; then they come up with other labels."""
    before = told(peer)
    peer.kill()
    for node in "ab":
        wait(lambda node=node: session(lab, node).get("state") != "operational", lambda: "the session stays")
        wait(lambda node=node: taken(lab, node) == {}, lambda node=node: taken(lab, node))
    peer.start()
    labelled(lab, peer)
    assert told(peer) != before
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)


def test_ours_restarts(lab: Lab, peer: Peer) -> None:
    """A router that lost all state is given all labels again."""
    lab.kill("b")
    with peer.here():
        lab.restart("b")
    labelled(lab, peer)
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)
