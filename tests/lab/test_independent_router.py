"""RSVP-TE beside a router that nobody here wrote (freeRtr): each is head, transit and tail of LSPs.

    left -- h -- a --(f1) peer (f2)-- b -- t -- right
                  `-------------------'

Whoever refreshes, restarts, moves an LSP or asks for too much: both sides say the same of it, and packets
arrive. The whole file is skipped where the router is not (tests/support/needs.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import campaign, warm
from twinplane.lab import Lab

from .independent import (
    NO_TUNNEL,
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
  h: {kind: router, router_id: 10.9.1.1, rsvp: {refresh: {refresh}, hello: 1 s}}
  a: {kind: router, router_id: 10.9.1.2, rsvp: {refresh: {refresh}, hello: 1 s}}
  b: {kind: router, router_id: 10.9.2.1, rsvp: {refresh: {refresh}, hello: 1 s}}
  t: {kind: router, router_id: 10.9.2.2, rsvp: {refresh: {refresh}, hello: 1 s}}
  peer: {kind: external, router_id: 9.9.9.1}
links:
  - [left, h]
  - [t, right]
  - [h, a, {rate: 1 Gbit/s}]
  - [a, 'peer:x1', {addresses: [10.0.3.1/30, 10.0.3.2/30], mtu: 1500, rate: 1 Gbit/s}]
  - ['peer:x2', b, {addresses: [10.0.4.2/30, 10.0.4.1/30], mtu: 1500, rate: 1 Gbit/s}]
  - [b, t, {rate: 1 Gbit/s, reservable: 100 Mbit/s}]
  - [a, b, {rate: 1 Gbit/s}]
lsps:
  - {name: east, from: a, to: t, route: [peer, b, t], carries: 10.2.0.0/24, signal: false,
     bandwidth: 10 Mbit/s, retry_first: 200 ms, retry_max: 1 s}
  - {name: down, from: h, to: peer, route: [a, peer], carries: 9.9.9.1/32, signal: false,
     bandwidth: 10 Mbit/s}
  - {name: wide, from: h, to: t, route: [a, peer, b, t], signal: false, bandwidth: 500 Mbit/s,
     retry_limit: 0}
"""

ROUTES = """\
int tun1
 tun sou lo0
 tun dest 10.9.2.2
 tun vrf v1
 vrf for v1
 ipv4 addr 2.2.3.1 255.255.255.252
 exit
ipv4 route v1 10.9.1.0 255.255.255.0 10.0.3.1
ipv4 route v1 10.9.2.0 255.255.255.0 10.0.4.1
ipv4 route v1 10.1.0.0 255.255.255.0 10.0.3.1
ipv4 route v1 10.2.0.0 255.255.255.0 2.2.3.2
"""
"""Its tunnel ends at `t`, and carries what goes to `right`."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """The router; it starts once, but for those tests that restart it."""
    folder = tmp_path_factory.mktemp("peer")
    with running(f"tpi-{os.getpid()}", folder, ["10.0.3.2", "10.0.4.2"], ROUTES) as made:
        yield made


@pytest.fixture
def lab(peer: Peer, tmp_path: Path) -> Iterator[Lab]:
    """A lab around it, in which no LSP is signalled yet."""
    yield from lab_of(peer, tmp_path, "1 s")


def lab_of(peer: Peer, folder: Path, refresh: str) -> Iterator[Lab]:
    yield from lab_beside(peer, folder, f"i{os.getpid()}", NETWORK.replace("{refresh}", refresh))


def held(lab: Lab, node: str, name: str, state: str = "up") -> list[dict[str, Any]]:
    """The LSPs of that name at a router."""
    return rows(lab, node, "lsps", name=name, state=state)


def tunnel(lab: Lab, node: str, name: str) -> dict[str, Any]:
    (found,) = rows(lab, node, "tunnels", name=name)
    return found


def signal(lab: Lab, node: str, name: str) -> None:
    lab.node(node).command(name, "signal")
    wait(lambda: tunnel(lab, node, name)["active"] is not None, lambda: f"{name} is not up")


def arrived(lab: Lab, node: str, name: str) -> int:
    """Packets that came to a router by an LSP."""
    labels = {row["in_label"] for row in held(lab, node, name)}
    return sum(row["packets"] for row in rows(lab, node, "ilm") if row["label"] in labels)


def tunnel_of(kbps: int) -> tuple[str, ...]:
    """Its tunnel, anew: it takes the bandwidth when the tunnel is made."""
    return (*NO_TUNNEL, f"bandwidth {kbps}", "tunnel mode p2pte", "no tunnel shutdown")


def test_it_is_transit(lab: Lab, peer: Peer) -> None:
    """From `a` through it to `b` and `t`; a PathTear goes the same way."""
    signal(lab, "a", "east")
    (first,), (second,) = held(lab, "a", "east"), held(lab, "b", "east")
    assert labels_of(peer)[first["out_label"]] == str(second["in_label"])
    assert (second["role"], second["bandwidth_bps"]) == ("transit", 10_000_000)
    assert held(lab, "t", "east")[0]["role"] == "egress"
    before = arrived(lab, "b", "east")
    assert ping(lab, "left", "10.2.0.2") == 20
    assert arrived(lab, "b", "east") - before == 20
    lab.node("a").command("east", "tear")
    for node in "abt":
        wait(
            lambda node=node: not rows(lab, node, "lsps"),
            lambda node=node: f"{node} keeps what was torn down",
        )  # type: ignore[misc]
    assert "rx ip4=true p2mp=false typ=pathTear" in peer.ask("show logging")
    faultless(lab, "habt")


def test_it_is_tail(lab: Lab, peer: Peer) -> None:
    """From `h` through `a` to it."""
    signal(lab, "h", "down")
    (transit,) = held(lab, "a", "down")
    assert transit["role"] == "transit" and transit["out_label"] in labels_of(peer)
    before = arrived(lab, "a", "down")
    assert ping(lab, "left", "9.9.9.1") == 20
    assert arrived(lab, "a", "down") - before == 20
    lab.node("h").command("down", "tear")
    wait(lambda: not rows(lab, "a", "lsps"))
    faultless(lab, "habt")


def test_it_is_head(lab: Lab, peer: Peer) -> None:
    """From it through `b` to `t`; it tears down what it has set up."""
    assert peer.console is not None
    peer.console.configure(*tunnel_of(20_000))
    wait(lambda: held(lab, "t", "peer:tunnel1"))
    (transit,), (tail,) = held(lab, "b", "peer:tunnel1"), held(lab, "t", "peer:tunnel1")
    assert (transit["role"], transit["from"], transit["bandwidth_bps"]) == ("transit", "9.9.9.1", 20_000_000)
    assert transit["out_label"] == tail["in_label"]
    before = arrived(lab, "b", "peer:tunnel1")
    assert ping_from(peer, "10.2.0.2") == 20
    assert arrived(lab, "b", "peer:tunnel1") - before == 20
    peer.console.configure(*NO_TUNNEL)
    for node in "bt":
        wait(
            lambda node=node: not rows(lab, node, "lsps"),
            lambda node=node: f"{node} keeps what was torn down",
        )  # type: ignore[misc]
    faultless(lab, "habt")


def test_both_sides_set_up_at_once(lab: Lab, peer: Peer) -> None:
    """Ours through it, its own through ours, in all roles together."""
    assert peer.console is not None
    peer.console.configure(*tunnel_of(20_000))
    signal(lab, "a", "east")
    signal(lab, "h", "down")
    wait(lambda: held(lab, "t", "peer:tunnel1"))
    reserved = [row["reserved_bps"] for row in rows(lab, "b", "bandwidth")]
    assert sorted(reserved)[-2:] == [0, 30_000_000]
    # It may lose a packet while it writes its tables.
    wait(lambda: ping(lab, "left", "10.2.0.2") == 20 == ping(lab, "left", "9.9.9.1"))
    faultless(lab, "habt")


def test_ours_moves_an_lsp_through_it(lab: Lab, peer: Peer) -> None:
    """Make before break, away from it and back, without a loss; nothing of the old LSP stays anywhere.

    Old and new LSP never both go through it: of a Resv in SE style it reads the first FILTER_SPEC only.
    """
    signal(lab, "a", "east")
    flow = lab.start("left", "ping", "-i", "0.02", "-W", "2", "-c", "400", "10.2.0.2", stdout=subprocess.PIPE)
    for route in (["b", "t"], ["peer", "b", "t"], ["b", "t"]):
        old = tunnel(lab, "a", "east")["active"]
        lab.node("a").command("east", "route", [route])
        wait(lambda old=old: tunnel(lab, "a", "east")["active"] not in (None, old))  # type: ignore[misc]
        for node in "bt":
            wait(lambda node=node: len(rows(lab, node, "lsps", name="east")) == 1)  # type: ignore[misc]
    out, _ = flow.communicate(timeout=60)
    assert "400 received" in out, out
    faultless(lab, "habt")


def test_it_signals_its_lsp_again(lab: Lab, peer: Peer) -> None:
    """Its way of moving an LSP: it tears the old one down, and takes a new session. Ours keep the new one."""
    assert peer.console is not None
    peer.console.configure(*tunnel_of(20_000))
    wait(lambda: held(lab, "b", "peer:tunnel1"))
    (old,) = held(lab, "b", "peer:tunnel1")
    peer.console.configure(*tunnel_of(30_000))

    def new() -> bool:
        found = held(lab, "t", "peer:tunnel1")
        return [row["lsp"] for row in found] not in ([], [old["lsp"]])

    wait(new)
    (row,) = held(lab, "b", "peer:tunnel1")
    assert row["lsp"] != old["lsp"] and row["bandwidth_bps"] == 30_000_000
    assert ping_from(peer, "10.2.0.2") == 20
    peer.console.configure(*tunnel_of(20_000))
    faultless(lab, "habt")


def test_its_lsp_is_refused_for_want_of_bandwidth(lab: Lab, peer: Peer) -> None:
    """Ours answers by PathErr 1/2, which it understands; with less bandwidth the LSP comes up."""
    assert peer.console is not None
    peer.console.configure(*tunnel_of(500_000))
    wait(lambda: rows(lab, "b", "rsvp_errors", direction="tx", code=1, value=2))
    assert rows(lab, "b", "lsps") == []
    # It shows flags, code and value as one number.
    wait(lambda: re.search(r"rx ip4=true .* typ=pathErr .* err=10.9.2.1/65538 ", peer.ask("show logging")))
    peer.console.configure(*tunnel_of(20_000))
    wait(lambda: held(lab, "t", "peer:tunnel1"))
    faultless(lab, "habt")


def test_our_lsp_is_refused_beyond_it(lab: Lab, peer: Peer) -> None:
    """`b` refuses; the PathErr comes back through it to `h`."""
    lab.node("h").command("wide", "signal")
    wait(lambda: rows(lab, "h", "rsvp_errors", direction="rx", code=1, value=2))
    assert rows(lab, "b", "rsvp_errors", direction="tx", code=1, value=2)
    assert re.search(r"rx ip4=true .* typ=pathErr .* err=10.9.2.1/65538 ", peer.ask("show logging"))
    assert tunnel(lab, "h", "wide")["active"] is None
    faultless(lab, "habt")


def test_ours_restarts(lab: Lab, peer: Peer) -> None:
    """The egress beyond `b` comes back without its state: `b` tells both head ends, which signal again."""
    assert peer.console is not None
    peer.console.configure(*tunnel_of(20_000))
    signal(lab, "a", "east")
    wait(lambda: held(lab, "t", "peer:tunnel1"))
    old = tunnel(lab, "a", "east")["active"]
    lab.kill("t")
    with peer.here():
        lab.restart("t")
    wait(lambda: tunnel(lab, "a", "east")["active"] not in (None, old))
    wait(lambda: held(lab, "t", "east") and held(lab, "t", "peer:tunnel1"))
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3)
    wait(lambda: ping_from(peer, "10.2.0.2", 3) == 3)
    faultless(lab, "habt")


def test_it_restarts(lab: Lab, peer: Peer) -> None:
    """It comes back without its state: our refreshes set up through it again what went through it."""
    signal(lab, "a", "east")
    signal(lab, "h", "down")
    before = labels_of(peer)
    peer.kill()
    peer.start()
    peer.ask("debug proto rsvp traffic")

    def through() -> bool:
        found = held(lab, "a", "east") + held(lab, "a", "down")
        labels = labels_of(peer)
        return len(found) == 2 and all(row["out_label"] in labels for row in found)

    wait(through)
    assert set(labels_of(peer)) != set(before)
    wait(lambda: ping(lab, "left", "10.2.0.2", 3) == 3 == ping(lab, "left", "9.9.9.1", 3))
    faultless(lab, "habt")


def test_refreshes_keep_lsps(peer: Peer, tmp_path: Path) -> None:
    """Many times longer than state lives without them; with `TWINPLANE_CAMPAIGN=long` for two minutes.

    Its own period is a minute and can't be changed, so its LSP is refreshed in the long run only.
    """
    assert peer.console is not None
    long = campaign.factor(os.environ.get(campaign.CAMPAIGN, "")) >= campaign.LONG
    for lab in lab_of(peer, tmp_path, "200 ms"):
        peer.console.configure(*tunnel_of(20_000))
        signal(lab, "a", "east")
        signal(lab, "h", "down")
        wait(lambda: held(lab, "t", "peer:tunnel1"))  # noqa: B023
        before = {node: lsps(lab, node) for node in "abt"}
        count = 1300 if long else 60
        flow = lab.start(
            *("left", "ping", "-q", "-i", "0.1", "-W", "2", "-c", str(count), "10.2.0.2"),
            stdout=subprocess.PIPE,
        )
        out, _ = flow.communicate(timeout=300)
        # Of 1300 one was lost, after the two minutes after which it computes its tables again.
        assert int(re.findall(r"(\d+) received", out)[0]) >= (count - 5 if long else count), out
        assert {node: lsps(lab, node) for node in "abt"} == before
        for node in "habt":
            (counted,) = rows(lab, node, "rsvp")
            assert counted["expired"] == 0
        assert ping_from(peer, "10.2.0.2") == 20
        refreshes = peer.ask("show logging").count("rx ip4=true p2mp=false typ=pathReq")
        assert refreshes >= 30
        faultless(lab, "habt")


def lsps(lab: Lab, node: str) -> list[tuple[object, ...]]:
    """What a router holds: names, ids and labels."""
    found = lab.node(node).table("lsps").to_dicts()
    return sorted((row["name"], row["lsp"], row["in_label"], row["out_label"]) for row in found)


def test_it_is_the_system_under_test(peer: Peer, tmp_path: Path) -> None:
    """`--sut external`: both LSPs carry, though it confuses tunnels of one sender that share an LSP id."""
    assert peer.console is not None
    words = ["--sut", "external", "--no-twin", "--json"]
    for number, side in ((3, "in"), (4, "e")):
        words += [f"--{side}gress-port", f"x{number - 2}", f"--{side}gress-netns", peer.field]
        words += [f"--{side}gress-address", f"10.0.{number}.1/30"]
    sets = {"n": 1, "m": 1, "size": 256, "rate_mbps": 1, "scenario": "single", "profile": "ideal"}
    sets |= {"settle_s": 1, "first_event_s": 1, "first_period_s": 2, "second_period_s": 2, "grace_s": 1}
    words += [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    # It would send to the Ethernet addresses of the lab before.
    peer.kill()
    peer.start()
    run = ["run", "lsp-flap", *words, "--out"]
    # It drops what waits for ARP, the first Path, too: the first run is there to make it learn the addresses.
    for name in ("first", "second"):
        done = warm.twinplane(*run, tmp_path / name, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["metrics"]
    assert (found["k"], found["failed"]) == (1, 0) and found["received"] > 0
