"""OSPF beside a router that nobody here wrote (freeRtr): BFD, traffic engineering, LSPs along computed paths.

    left -- a --(f1) peer (f2)-- b -- t -- right
            `-------------------'

The link from `a` to `b` costs more than the way through the other router. Between that and `b` packets are
signed with SHA-512. The whole file is skipped where the router is not (tests/support/needs.py).
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

from .independent import (
    NO_TUNNEL,
    OSPF,
    OSPF_PORT,
    Peer,
    faultless,
    lab_beside,
    labels_of,
    ping,
    ping_from,
    rows,
    running,
    wait,
)

NETWORK = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a:
    kind: router
    router_id: 10.9.1.1
    rsvp: {refresh: 1 s, distinct_lsp_ids: true}
    bfd: {interval: 200 ms, multiplier: 5}
    ospf: {{timers}, interfaces: {peer: {bfd: {bfd}}}}
  b:
    kind: router
    router_id: 10.9.2.1
    rsvp: {refresh: 1 s}
    ospf:
      {{timers}, interfaces: {peer: {authentication: {kind: sha512, key: between-us, key_id: 7}}}}
  t: {kind: router, router_id: 10.9.3.1, rsvp: {refresh: 1 s}, ospf: {{timers}}}
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, a]
  - [t, right]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500, rate: 1 Gbit/s, reservable: 200 Mbit/s}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500, rate: 1 Gbit/s}]
  - [b, t, {rate: 1 Gbit/s}]
  - [a, b, {rate: 1 Gbit/s, metric: 100, addresses: [10.0.5.1/30, 10.0.5.2/30]}]
lsps:
  - {name: through, from: a, to: t, signal: false, bandwidth: 50 Mbit/s, carries: 10.2.0.0/24,
     retry_first: 200 ms, retry_max: 1 s}
  - {name: down, from: a, to: peer, signal: false, bandwidth: 10 Mbit/s, carries: 9.9.9.1/32}
  - {name: wide, from: a, to: t, signal: false, bandwidth: 180 Mbit/s}
  - {name: around, from: a, to: t, signal: false, bandwidth: 50 Mbit/s, path: {exclude_any: 4}}
"""

TIMERS = "te: true, hello_interval: 1 s, dead_interval: 40 s, retransmit_interval: 1 s"
"""It drops a Database Description that comes before it has taken in the Hello; it gets the next one."""

SPEAKER = (
    OSPF
    + OSPF_PORT.format(number=1)
    + OSPF_PORT.format(number=2)
    + """\
int eth1
 ipv4 bfd 200 200 5
 exit
int eth2
 router ospf4 1 authen-type sha512
 router ospf4 1 authen-id 7
 router ospf4 1 password between-us
 router ospf4 1 traffeng metric 5
 router ospf4 1 traffeng affinity 4
 router ospf4 1 traffeng bandwidth 150000000
 router ospf4 1 traffeng srlg 77
 exit
int tun1
 tun sou lo0
 tun dest 10.9.3.1
 tun vrf v1
 vrf for v1
 ipv4 addr 2.2.3.1 255.255.255.252
 exit
ipv4 route v1 10.2.0.2 255.255.255.255 2.2.3.2
"""
)
"""What it says of its link to `b` is unusual. Its tunnel ends at `t`, and carries what goes to `right`."""

Advertisement = tuple[str, str, str, str]
"""Link state id, advertising router, sequence number and checksum."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    addresses = ["10.0.3.2", "10.0.4.2"]
    with running(f"tpo-{os.getpid()}", tmp_path_factory.mktemp("peer"), addresses, SPEAKER) as made:
        yield made


@pytest.fixture
def lab(peer: Peer, tmp_path: Path) -> Iterator[Lab]:
    """A lab around it, whose databases are the same."""
    yield from lab_of(peer, tmp_path, "false")


def lab_of(peer: Peer, folder: Path, bfd: str) -> Iterator[Lab]:
    for made in lab_beside(
        peer, folder, f"o{os.getpid()}", NETWORK.replace("{timers}", TIMERS).replace("{bfd}", bfd)
    ):
        synchronised(made, peer)
        yield made


def neighbors(peer: Peer) -> dict[str, str]:
    """Its neighbours by router id, with their states."""
    said = peer.ask("show ipv4 ospf 1 neighbor")
    return dict(re.findall(r"^ethernet\d+ +0 +\S+ +(\S+) +(\S+)", said, re.MULTILINE))


def state_of(lab: Lab, node: str) -> str:
    """How far a router has come with it."""
    found = rows(lab, node, "ospf_neighbors", router_id="9.9.9.1")
    return found[0]["state"] if found else "none"


def database(lab: Lab, node: str) -> set[Advertisement]:
    found = rows(lab, node, "ospf_database")
    return {(row["id"], row["router"], row["sequence"], row["checksum"]) for row in found}


def its_database(peer: Peer) -> set[Advertisement]:
    """What it holds, from the bytes that it shows of each advertisement."""
    listed = re.findall(r"^(\d\S+) +(\d\S+) +[89]", peer.ask("show ipv4 ospf 1 database 0"), re.MULTILINE)
    return {one for router, number in set(listed) for one in advertisements(peer, router, number)}


def advertisements(peer: Peer, router: str, number: str) -> set[Advertisement]:
    """Those of a router that have this link state id, whatever their type."""
    said = peer.ask(f"show ipv4 ospf 1 database 0 {router} {number}")
    heads = re.findall(r"^00000000: ([^\n]+)\n00000010: ([^\n]+)", said, re.MULTILINE)
    found = set()
    for lines in heads:
        head = bytes.fromhex("".join(lines))
        found.add((dotted(head[4:8]), dotted(head[8:12]), head[12:16].hex(), head[16:18].hex()))
    return found


def dotted(octets: bytes) -> str:
    return ".".join(map(str, octets))


def synchronised(lab: Lab, peer: Peer) -> None:
    """Wait until all are full neighbours that hold the same advertisements."""

    def same() -> bool:
        if not (state_of(lab, "a") == state_of(lab, "b") == "full"):
            return False
        if neighbors(peer) != {"10.9.1.1": "full", "10.9.2.1": "full"}:
            return False
        return database(lab, "a") == database(lab, "b") == database(lab, "t") == its_database(peer)

    wait(same, lambda: (neighbors(peer), database(lab, "a") ^ its_database(peer)))


def route(lab: Lab, node: str, prefix: str) -> tuple[int, list[str]] | None:
    """What a path to a destination costs, and the next routers on it."""
    found = rows(lab, node, "ospf_routes", prefix=prefix)
    return (found[0]["cost"], found[0]["next_hops"]) if found else None


def its_routes(peer: Peer) -> dict[str, tuple[int, str]]:
    """The routes that it has found: prefixes with costs and next hops."""
    said = peer.ask("show ipv4 route v1")
    found = re.findall(r"^O +(\S+) +110/(\d+) +\S+ +(\S+)", said, re.MULTILINE)
    return {prefix: (int(cost), hop) for prefix, cost, hop in found}


def held(lab: Lab, node: str, name: str) -> list[dict[str, Any]]:
    """The LSPs of that name at a router."""
    return rows(lab, node, "lsps", name=name, state="up")


def signal(lab: Lab, name: str) -> dict[str, Any]:
    """The LSP of `a` of that name, once it is up."""
    lab.node("a").command(name, "signal")
    wait(lambda: held(lab, "a", name), lambda: rows(lab, "a", "tunnels", name=name))
    return held(lab, "a", name)[0]


def refused(lab: Lab) -> list[int]:
    """Packets of its that our two routers did not take."""
    return [rows(lab, node, "ospf_interfaces", towards="peer")[0]["refused"] for node in "ab"]


def test_databases_and_routes_agree(lab: Lab, peer: Peer) -> None:
    """The same advertisements to the checksum, routes of the cost that they have, packets by these routes."""
    assert len(its_database(peer)) >= 12
    before = refused(lab)
    ours = {
        "9.9.9.1/32": (2, ["10.0.3.2"]),
        "10.0.4.0/30": (4, ["10.0.3.2"]),
        "10.2.0.0/24": (6, ["10.0.3.2"]),
        "10.9.3.1/32": (5, ["10.0.3.2"]),
    }
    wait(
        lambda: all(route(lab, "a", prefix) == found for prefix, found in ours.items()),
        lambda: rows(lab, "a", "ospf_routes"),
    )
    its = {
        "10.1.0.0/24": (4, "10.0.3.1"),
        "10.2.0.0/24": (5, "10.0.4.1"),
        "10.9.1.1/32": (3, "10.0.3.1"),
        "10.9.3.1/32": (4, "10.0.4.1"),
    }
    wait(lambda: its.items() <= its_routes(peer).items(), lambda: its_routes(peer))
    # What came while it was configured may have been refused, and nothing since.
    assert refused(lab) == before
    wait(lambda: ping(lab, "left", "10.2.0.2") == 20)
    assert ping(lab, "right", "9.9.9.1") == 20 == ping_from(peer, "10.1.0.2")


def test_what_changes_behind_it_is_known(lab: Lab, peer: Peer) -> None:
    """Its link to `b` costs more than the other one: it tells `a`, and traffic goes there; then back."""
    with peer.changed("int eth2", "router ospf4 1 cost 1000", "router ospf4 1 cost 3"):
        direct = (102, ["10.0.5.2"])
        wait(lambda: route(lab, "a", "10.2.0.0/24") == direct, lambda: rows(lab, "a", "ospf_routes"))
        wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)
    wait(lambda: route(lab, "a", "10.2.0.0/24") == (6, ["10.0.3.2"]), lambda: rows(lab, "a", "ospf_routes"))
    synchronised(lab, peer)


def test_ours_restarts(lab: Lab, peer: Peer) -> None:
    """It comes back without its database, and takes over what is still known of it (RFC 2328, 13.4)."""
    lab.kill("a")
    with peer.here():
        lab.restart("a")
    synchronised(lab, peer)
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)


def test_it_restarts(lab: Lab, peer: Peer) -> None:
    """It comes back without its database: both neighbours lose it, and exchange databases with it again."""
    before = {node: since(lab, node) for node in "ab"}
    peer.kill()
    peer.start()
    for node in "ab":
        wait(lambda node=node: since(lab, node) > before[node], lambda node=node: state_of(lab, node))
    synchronised(lab, peer)
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)


def since(lab: Lab, node: str) -> float:
    """Since when a router's neighbourship with it is as it is; 0 if there is none."""
    found = rows(lab, node, "ospf_neighbors", router_id="9.9.9.1")
    return float(found[0]["since_s"]) if found else 0.0


def test_bfd_finds_a_silent_link(peer: Peer, tmp_path: Path) -> None:
    """Interfaces stay up, and the dead interval is 40 s: BFD ends the neighbour. Then it comes back."""
    need("tc")
    with peer.changed("int eth1", "router ospf4 1 bfd", "no router ospf4 1 bfd"):
        for lab in lab_of(peer, tmp_path, "true"):
            wait(lambda: bfd(lab)["state"] == "up", lambda: rows(lab, "a", "bfd_sessions"))  # noqa: B023
            wait(lambda: its_bfd(peer) == {"10.0.3.1": "up"}, lambda: peer.ask("show ipv4 bfd v1 neighbor"))
            found = bfd(lab)
            assert (found["interval_s"], found["detection_s"], found["clients"]) == (0.2, 1.0, ["ospf"])
            with peer.silent(1):
                wait(lambda: bfd(lab)["state"] == "down", lambda: bfd(lab))  # noqa: B023
                assert bfd(lab)["diagnostic"] == "control detection time expired"
                wait(lambda: state_of(lab, "a") == "none", lambda: rows(lab, "a", "ospf_neighbors"))  # noqa: B023
                wait(lambda: "10.9.1.1" not in neighbors(peer), lambda: neighbors(peer))
                wait(lambda: route(lab, "a", "10.2.0.0/24") == (102, ["10.0.5.2"]))  # noqa: B023
                wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)  # noqa: B023
            synchronised(lab, peer)
            wait(lambda: bfd(lab)["state"] == "up", lambda: rows(lab, "a", "bfd_sessions"))  # noqa: B023
            wait(lambda: route(lab, "a", "10.2.0.0/24") == (6, ["10.0.3.2"]))  # noqa: B023


def bfd(lab: Lab) -> dict[str, Any]:
    """The session of `a` with it."""
    (found,) = rows(lab, "a", "bfd_sessions", neighbor="10.0.3.2")
    return found


def its_bfd(peer: Peer) -> dict[str, str]:
    """Its sessions by the neighbour's address."""
    said = peer.ask("show ipv4 bfd v1 neighbor")
    return dict(re.findall(r"^ethernet\d+ +(\S+) +(\S+)", said, re.MULTILINE))


def test_links_are_known_for_traffic_engineering(lab: Lab, peer: Peer) -> None:
    """It reads what ours say of links; ours read what it says, and `t` behind `b` by its flooding."""
    said = peer.ask(f"show ipv4 ospf 1 database 0 10.9.1.1 {link(lab, 'a', '10.0.3.1')['id']}")
    for line in (
        *("link type=1", "link id=9.9.9.1", "local ipv4=10.0.3.1", "remote ipv4=10.0.3.2", "te metric=1"),
        *("max bandwidth: 125000000", "reservable bandwidth: 25000000", "unreserved bandwidth: 25000000"),
    ):
        assert line in said, said
    for node in "at":
        found = link(lab, node, "10.0.4.2")
        assert (found["router"], found["router_address"], found["link"]) == ("9.9.9.1", "9.9.9.1", "10.9.2.1")
        assert (found["type"], found["remote"], found["metric"]) == ("point-to-point", ["10.0.4.1"], 5)
        assert found["maximum"] == found["reservable"] == 150_000_000
        assert found["unreserved"] == [150_000_000] * 8
        assert (found["groups"], found["srlgs"]) == (4, [77])


def link(lab: Lab, node: str, local: str) -> dict[str, Any]:
    """What a router knows of the link by which that address sends."""
    (found,) = [row for row in rows(lab, node, "ospf_te_links") if row["local"] == [local]]
    return found


def test_computed_paths_lead_through_it_and_around_it(lab: Lab, peer: Peer) -> None:
    """Nobody says a hop. Where it has too little bandwidth, or a group is excluded, the other link is taken.

    What is reserved on the link to it is announced, and comes to `t` by its flooding.
    """
    for name in ("wide", "around"):
        assert signal(lab, name)["recorded_downstream"][0] == "10.0.5.2"
    through = signal(lab, "through")
    (tail,) = held(lab, "t", "through")
    assert through["recorded_downstream"][0] == "10.0.3.2" and "10.0.4.1" in through["recorded_downstream"]
    assert tail["role"] == "egress" and tail["recorded_upstream"][-1] == "10.0.3.1"
    assert labels_of(peer)[through["out_label"]] == str(held(lab, "b", "through")[0]["in_label"])
    left = lambda: link(lab, "t", "10.0.3.1")["unreserved"][7]  # noqa: E731
    wait(lambda: left() == 150_000_000, left)
    before = arrived(lab, "b", "through")
    wait(lambda: ping(lab, "left", "10.2.0.2") == 20)
    assert arrived(lab, "b", "through") - before >= 20
    faultless(lab, "abt")


def arrived(lab: Lab, node: str, name: str) -> int:
    """Packets that came to a router by an LSP."""
    labels = {row["in_label"] for row in held(lab, node, name)}
    return sum(row["packets"] for row in rows(lab, node, "ilm") if row["label"] in labels)


def test_lsps_lead_to_it_and_from_it(lab: Lab, peer: Peer) -> None:
    """Ours by a computed path; its own by the routes of OSPF, as it computes no paths itself."""
    assert peer.console is not None
    down = signal(lab, "down")
    assert down["recorded_downstream"] == ["10.0.3.2"] and down["out_label"] in labels_of(peer)
    assert ping(lab, "left", "9.9.9.1") == 20
    peer.console.configure(*NO_TUNNEL, "bandwidth 20000", "tunnel mode p2pte", "no tunnel shutdown")
    wait(lambda: held(lab, "t", "peer:tunnel1"), lambda: peer.ask("show logging")[-3000:])
    assert held(lab, "b", "peer:tunnel1")[0]["role"] == "transit"
    before = arrived(lab, "b", "peer:tunnel1")
    wait(lambda: ping_from(peer, "10.2.0.2") == 20)
    assert arrived(lab, "b", "peer:tunnel1") - before >= 20
    faultless(lab, "abt")


def test_an_lsp_moves_where_its_link_costs_more_or_fails(lab: Lab, peer: Peer) -> None:
    """By command to a path that has become better, and back; at once when the link is announced no more.

    Without an interface it can't pass on the PathTear: `b` keeps the old LSP until it times out.
    """
    signal(lab, "through")
    said = "router ospf4 1 traffeng metric"
    with peer.changed("int eth2", f"{said} 500", f"{said} 5"):
        moves(lab, 500, "10.0.5.2")
    moves(lab, 5, "10.0.3.2")
    with peer.changed("int eth2", "shutdown", "no shutdown"):
        wait(lambda: first_hops(lab) == ["10.0.5.2"], lambda: held(lab, "a", "through"))
        wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)
    faultless(lab, "abt")


def moves(lab: Lab, metric: int, hop: str) -> None:
    """LSP `through` goes another way when the link behind the other router costs so much."""
    wait(lambda: link(lab, "a", "10.0.4.2")["metric"] == metric, lambda: link(lab, "a", "10.0.4.2"))
    lab.node("a").command("through", "reoptimise")
    wait(lambda: first_hops(lab) == [hop], lambda: held(lab, "a", "through"))
    for node in "bt":
        wait(lambda node=node: len(held(lab, node, "through")) == 1, lambda: "the old LSP is kept")
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)


def first_hops(lab: Lab) -> list[str]:
    """Where LSP `through` goes first; of each LSP that there is."""
    return [
        row["recorded_downstream"][0]
        for row in rows(lab, "a", "lsps", name="through")
        if row["recorded_downstream"]
    ]
