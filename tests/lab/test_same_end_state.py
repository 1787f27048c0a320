"""Routers and links end and come back beside FRR and BIRD, on either side: the end state is the same."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from support.campaign import scaled
from support.needs import need
from twinplane.lab import Lab, looking, processes

from .end_state import State, comes, differences, of_bird, of_frr, of_ours, reached, steady
from .support import left_behind, removed

COUNT = itertools.count()

WATCHED = "bfd: {interval: 200 ms, multiplier: 4}"
OSPF = "ospf: {hello_interval: 1 s, dead_interval: 4 s, bfd: true"
NETWORK = f"""\
name: {{name}}
nodes:
  left:  {{kind: host, address: 10.1.0.2/24}}
  right: {{kind: host, address: 10.2.0.2/24}}
  a0: {{kind: router, {WATCHED}, {OSPF}}}{{ldp}}}}
  a:  {{kind: router, {WATCHED}, {OSPF}}}{{ldp}}}}
  d:  {{kind: router, {WATCHED}, {OSPF}{{broadcast}}}}{{ldp}}}}
  gw: {{kind: {{kind}}, router_id: 10.0.0.9}}
  b:
    kind: router
    {WATCHED}
    bgp:
      asn: 65001
      hold_time: 9 s
      connect_retry: 2 s
      redistribute: [connected]
      neighbors: {{gw: {{asn: 65002, import: all, export: all, advertisement_interval: 1 s, bfd: true}}}}
links:
  - [left, a0]
  - [a0, a]
  - [a, gw]
  - [gw, right]
  - [gw, b]
  - [gw, d]
"""
LDP = ", ldp: {hello_interval: 1 s, hold_time: 4 s}"
BROADCAST = ", interfaces: {gw: {network: broadcast, priority: 0}}"
"""Beside FRR the link to `d` is a network that elects, and the one to `a` is between two. Who is designated
stays so (RFC 2328, 9.4): with priority 0 here that is the same router after it was away. Beside BIRD it would
take a dead interval longer each time."""
MORE = {"frr": {"ldp": LDP, "broadcast": BROADCAST}, "bird": {"ldp": "", "broadcast": ""}}
SPOKEN = {"frr": ("ospf", "ldp", "bfd"), "bird": ("ospf", "bfd")}
NEEDED = {"frr": "vtysh", "bird": "bird"}


@dataclass
class Settled:
    """A lab that has settled, and what it had come to then."""

    lab: Lab
    kind: str
    state: dict[str, State]

    def now(self) -> dict[str, State]:
        """What it has come to."""
        return seen(self.lab, self.kind)


def seen(lab: Lab, kind: str) -> dict[str, State]:
    """All that is compared, by node."""
    theirs = of_frr if kind == "frr" else of_bird
    own = {node: of_ours(lab, node, SPOKEN[kind]) for node in ("a0", "a", "d")}
    return {**own, "b": of_ours(lab, "b", ("bgp", "bfd")), "gw": theirs(lab, "gw")}


def beside(often: str) -> pytest.MarkDecorator:
    """Beside both in longer campaigns, and beside one in continuous integration: that takes minutes less."""
    kinds = ["frr", "bird"] if scaled(1) > 1 else [often]
    return pytest.mark.parametrize("settled", kinds, indirect=True, scope="module")


@pytest.fixture(scope="module")
def settled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settled]:
    """One lab for all tests of a kind: each has to leave it as it was."""
    kind = str(request.param)
    need("labs", "ping", NEEDED[kind])
    name = f"s{os.getpid()}-{next(COUNT)}"
    file = tmp_path_factory.mktemp("settled") / f"{name}.yaml"
    text = NETWORK
    for key, said in {"name": name, "kind": kind, **MORE[kind]}.items():
        text = text.replace(f"{{{key}}}", said)
    file.write_text(text)
    try:
        with Lab(file) as lab:
            comes(lab)
            yield Settled(lab, kind, steady(lambda: seen(lab, kind), 40))
        assert left_behind(name) == []
    finally:
        removed(name)


def link(lab: Lab, end: str, state: str) -> None:
    """Set an interface, such as a:e1, up or down in its namespace."""
    node, _, interface = end.partition(":")
    lab.exec(node, "ip", "link", "set", interface, state)


def alone(settled: Settled) -> bool:
    """Has our router lost the other as a neighbour, and has it lost ours?"""
    met = [one["towards"] for one in settled.lab.node("a").table("ospf_neighbors").to_dicts()]
    sessions = settled.lab.node("b").table("bgp_neighbors")["state"].to_list()
    return "gw" not in met and "established" not in sessions and forgotten(settled)


def forgotten(settled: Settled) -> bool:
    """Has the other router lost those of ours that are away? `d` never is."""
    (gw,) = [one for one in looking.details(settled.lab.name)["nodes"] if one["node"] == "gw"]
    others = [one for one in gw["neighbors"] if one["neighbor"] != settled.lab.node("d").address]
    return not any(one["state"] in ("full", "established", "operational") for one in others)


def same_again(settled: Settled, what: str) -> None:
    """Wait for what the lab had come to before, and that it stays so."""
    comes(settled.lab)
    apart = lambda: differences(settled.state, settled.now())  # noqa: E731
    assert processes.wait_until(lambda: not apart(), 60, 0.5), (what, apart())
    assert not differences(settled.state, steady(settled.now, 20))


@beside("frr")
def test_our_routers_restart(settled: Settled) -> None:
    """They end as they are told to, and begin without anything that they knew."""
    for node in ("a", "b"):
        settled.lab.restart(node)
    same_again(settled, "restarted")


@beside("bird")
def test_our_routers_are_killed(settled: Settled) -> None:
    """With SIGKILL; they begin again when the others have noticed."""
    for node in ("a", "b"):
        settled.lab.kill(node)
    assert processes.wait_until(lambda: forgotten(settled), 30, 0.2)
    for node in ("a", "b"):
        settled.lab.restart(node)
    same_again(settled, "killed")


@beside("bird")
def test_the_other_router_restarts(settled: Settled) -> None:
    settled.lab.restart("gw")
    same_again(settled, "restarted there")


@beside("frr")
def test_the_other_router_is_killed(settled: Settled) -> None:
    """All its daemons with SIGKILL, so that nobody is told; its kernel keeps its routes meanwhile."""
    settled.lab.kill("gw")
    lost = lambda: [one for one in settled.lab.node("a").table("ospf_neighbors")["towards"] if one == "gw"]  # noqa: E731
    assert processes.wait_until(lambda: lost() == [], 30, 0.2)
    settled.lab.restart("gw")
    same_again(settled, "killed there")


@beside("bird")
@pytest.mark.parametrize("ends", [("a:e1", "b:e0"), ("gw:e0", "gw:e2")], ids=["ours", "theirs"])
def test_links_are_cut(settled: Settled, ends: tuple[str, str]) -> None:
    """The links to both of our routers, at our ends or at theirs, until both sides have noticed."""
    try:
        for end in ends:
            link(settled.lab, end, "down")
        assert processes.wait_until(lambda: alone(settled), 30, 0.2), settled.now()
        assert not reached(settled.lab)
    finally:
        for end in ends:
            link(settled.lab, end, "up")
    same_again(settled, "cut")
