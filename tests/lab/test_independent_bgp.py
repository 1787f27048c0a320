"""BGP beside a router that nobody here wrote (freeRtr).

    far -- c -- a --(f1) peer (f2)-- b -- right
         left -'

`peer` and `b` are in AS 65002, with a password between them; `a` is in AS 65001, `c` in AS 65003. So routes
of `c` pass two ASes before it learns them, and what it tells `a` of `b` has come to it by internal BGP. The
whole file is skipped where the router is not (tests/support/needs.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.needs import need
from twinplane.lab import Lab

from .independent import Peer, lab_beside, ping, rows, running, wait

NETWORK = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  far:   {kind: host, address: 10.3.0.2/24}
  a:
    kind: router
    router_id: 10.9.1.1
    bgp:
      asn: 65001
      hold_time: 6 s
      connect_retry: 1 s
      redistribute: [connected]
      neighbors:
        peer: {asn: 65002, import: all, export: all, advertisement_interval: 1 s}
        c: {asn: 65003, import: all, export: all, advertisement_interval: 1 s}
  b:
    kind: router
    router_id: 10.9.2.1
    bgp:
      asn: 65002
      hold_time: 6 s
      connect_retry: 1 s
      redistribute: [connected]
      neighbors: {peer: {asn: 65002, password: between-us, advertisement_interval: 1 s}}
  c:
    kind: router
    router_id: 10.9.3.1
    bgp:
      asn: 65003
      hold_time: 6 s
      connect_retry: 1 s
      redistribute: [connected]
      neighbors: {a: {asn: 65001, import: all, export: all, advertisement_interval: 1 s}}
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, a]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500}]
  - [b, right]
  - [a, c]
  - [c, far]
"""

SPEAKER = """\
int lo1
 vrf for v1
 ipv4 addr 192.0.2.1 255.255.255.255
 exit
router bgp4 1
 vrf v1
 no safe-ebgp
 address uni
 local-as 65002
 router-id 9.9.9.1
 neigh 10.0.3.1 remote-as 65001
 neigh 10.0.3.1 timer 2000 6000
 neigh 10.0.4.1 remote-as 65002
 neigh 10.0.4.1 password between-us
 neigh 10.0.4.1 next-hop-self
 red conn
 exit
"""
"""Its neighbours, to which it tells its own networks. Without `no safe-ebgp` it tells another AS nothing."""

OWN = {"9.9.9.1/32", "192.0.2.1/32"}
"""Networks that only it tells."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    addresses = ["10.0.3.2", "10.0.4.2"]
    with running(f"tpb-{os.getpid()}", tmp_path_factory.mktemp("peer"), addresses, SPEAKER) as made:
        yield made


@pytest.fixture
def lab(peer: Peer, tmp_path: Path) -> Iterator[Lab]:
    """A lab around it, whose sessions with it are established."""
    for made in lab_beside(peer, tmp_path, f"b{os.getpid()}", NETWORK):
        for node in "ab":
            established(made, node)
        yield made


def session(lab: Lab, node: str) -> dict[str, Any]:
    """A router's session with it."""
    (found,) = rows(lab, node, "bgp_neighbors", neighbor="peer")
    return found


def established(lab: Lab, node: str) -> None:
    """Wait for a router's session with it."""
    wait(lambda: session(lab, node)["state"] == "established", lambda: session(lab, node))


def learnt(lab: Lab, node: str) -> dict[str, str]:
    """The routes that a router has of it and takes: prefixes with their AS paths."""
    address = session(lab, node)["address"]
    found = rows(lab, node, "bgp_routes", **{"from": address}, is_best=True, is_reached=True)
    return {row["prefix"]: row["as_path"] for row in found}


def known(peer: Peer) -> dict[str, tuple[str, str]]:
    """The routes that it has of others: prefixes with next hops and AS paths."""
    said = peer.ask("show ipv4 bgp 1 unicast database")
    found = re.findall(r"^(\S+/\d+) +(\S+) +\S+ *([\d ]*)$", said, re.MULTILINE)
    return {prefix: (hop, path.strip()) for prefix, hop, path in found}


def states(peer: Peer) -> dict[str, str]:
    """Its sessions, by the neighbour's address."""
    said = peer.ask("show ipv4 bgp 1 summary")
    return dict(re.findall(r"^(\d\S+) +\d+ +(\S+) ", said, re.MULTILINE))


def test_routes_pass_through_it_both_ways(lab: Lab, peer: Peer) -> None:
    """By external BGP, by internal BGP, and from one to the other; packets take them."""
    wanted = {"10.1.0.0/24": ("10.0.3.1", "65001"), "10.3.0.0/24": ("10.0.3.1", "65001 65003")}
    wanted |= {"10.9.1.1/32": ("10.0.3.1", "65001"), "10.2.0.0/24": ("10.0.4.1", "")}
    wait(lambda: wanted.items() <= known(peer).items(), lambda: peer.ask("show ipv4 bgp 1 unicast database"))
    assert states(peer) == {"10.0.3.1": "up", "10.0.4.1": "up"}
    to_a = dict.fromkeys((*OWN, "10.2.0.0/24", "10.9.2.1/32"), "65002")
    wait(lambda: to_a.items() <= learnt(lab, "a").items(), lambda: learnt(lab, "a"))
    to_b = dict.fromkeys(OWN, "") | {"10.1.0.0/24": "65001", "10.3.0.0/24": "65001 65003"}
    wait(lambda: to_b.items() <= learnt(lab, "b").items(), lambda: learnt(lab, "b"))
    to_c = {"10.2.0.0/24": "65001 65002", "192.0.2.1/32": "65001 65002"}
    wait(lambda: to_c.items() <= paths(lab, "c").items(), lambda: paths(lab, "c"))
    # What comes by internal BGP has a preference and no discriminator of another AS.
    (row,) = rows(lab, "b", "bgp_routes", prefix="192.0.2.1/32")
    assert (row["next_hop"], row["local_pref"], row["origin"]) == ("10.0.4.2", 100, "igp")
    wait(lambda: ping(lab, "left", "10.2.0.2") == 20 == ping(lab, "far", "10.2.0.2"))
    assert ping(lab, "left", "192.0.2.1") == 20
    for node in "ab":
        assert (session(lab, node)["malformed"], session(lab, node)["refused"]) == (0, 0)


def paths(lab: Lab, node: str) -> dict[str, str]:
    """The AS paths of the routes that a router takes."""
    return {row["prefix"]: row["as_path"] for row in rows(lab, node, "bgp_routes", is_best=True)}


def test_what_is_withdrawn_is_gone(lab: Lab, peer: Peer) -> None:
    """Its own network by itself; one of `c` by `a`, after `c` was killed; both are told again."""
    assert peer.console is not None
    wait(lambda: "192.0.2.1/32" in learnt(lab, "b") and "10.3.0.0/24" in known(peer))
    peer.console.configure("int lo1", "shutdown")
    for node in "abc":
        wait(lambda node=node: "192.0.2.1/32" not in paths(lab, node), lambda node=node: paths(lab, node))
    peer.console.configure("int lo1", "no shutdown")
    wait(lambda: "192.0.2.1/32" in paths(lab, "c"))
    lab.kill("c")
    wait(lambda: "10.3.0.0/24" not in known(peer), lambda: known(peer))
    wait(lambda: "10.3.0.0/24" not in paths(lab, "b"), lambda: paths(lab, "b"))
    with peer.here():
        lab.restart("c")
    wait(lambda: known(peer).get("10.3.0.0/24") == ("10.0.3.1", "65001 65003"), lambda: known(peer))
    wait(lambda: ping(lab, "far", "10.2.0.2", 3) == 3)
    assert session(lab, "a")["state"] == session(lab, "b")["state"] == "established"


def again(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """What was there is there; more may have been on its way when that was written down."""
    return before.items() <= now.items()


def test_a_link_that_loses_everything_is_cut_and_comes_back(lab: Lab, peer: Peer) -> None:
    """Interfaces stay up: both ends give up by their hold timers, which others hear; then all is back."""
    need("tc")
    wait(lambda: OWN | {"10.1.0.0/24", "10.3.0.0/24"} <= learnt(lab, "b").keys())
    wait(lambda: OWN | {"10.2.0.0/24"} <= learnt(lab, "a").keys())

    def seen() -> list[dict[str, Any]]:
        # Networks of its links are its own, too: which of the two routes it shows has to do with no cut.
        others = {prefix: route for prefix, route in known(peer).items() if not prefix.endswith("/30")}
        return [learnt(lab, "a"), learnt(lab, "b"), others]

    before = seen()
    with peer.silent(1):
        wait(lambda: session(lab, "a")["state"] != "established", lambda: "the session stays")
        assert session(lab, "a")["last_end"] == "this router said: hold timer expired"
        wait(lambda: states(peer)["10.0.3.1"] != "up", lambda: states(peer))
        wait(lambda: "10.3.0.0/24" not in learnt(lab, "b"), lambda: learnt(lab, "b"))
        assert learnt(lab, "a") == {} and "10.2.0.0/24" not in paths(lab, "c")
        assert session(lab, "b")["state"] == "established"
    wait(lambda: all(map(again, before, seen())), lambda: (before, seen()))
    wait(lambda: ping(lab, "far", "10.2.0.2", 3) == 3)


def test_it_is_killed_and_starts_again(lab: Lab, peer: Peer) -> None:
    """Both sessions end by their hold timers, with all that it told; then they come up anew."""
    wanted = {"a": OWN | {"10.2.0.0/24"}, "b": OWN | {"10.3.0.0/24"}}
    wait(lambda: all(wanted[node] <= learnt(lab, node).keys() for node in "ab"))
    before = {node: learnt(lab, node) for node in "ab"}
    peer.kill()
    for node in "ab":
        wait(lambda node=node: session(lab, node)["state"] != "established", lambda: "the session stays")
        assert session(lab, node)["last_end"] == "this router said: hold timer expired"
        assert learnt(lab, node) == {}
    wait(lambda: "192.0.2.1/32" not in paths(lab, "c"), lambda: paths(lab, "c"))
    peer.start()
    for node in "ab":
        established(lab, node)
        wait(lambda node=node: again(before[node], learnt(lab, node)), lambda node=node: learnt(lab, node))
    wait(lambda: ping(lab, "far", "10.2.0.2", 3) == 3)


def test_ours_restarts(lab: Lab, peer: Peer) -> None:
    """A router that lost all state has a session again, and it takes the new one for the old."""
    wait(lambda: "10.1.0.0/24" in known(peer))
    lab.kill("a")
    with peer.here():
        lab.restart("a")
    established(lab, "a")
    wait(lambda: known(peer).get("10.3.0.0/24") == ("10.0.3.1", "65001 65003"), lambda: known(peer))
    wait(lambda: learnt(lab, "a").keys() >= OWN and ping(lab, "left", "10.2.0.2", 3) == 3)
