"""What routers of ours, FRR and BIRD put on the wire: labels beside bindings, bytes of advertisements."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, kernels, processes

from .advertisements import Instance, flooded
from .conftest import NetworkFile
from .end_state import IMPLICIT_NULL, birdc, comes, vtysh
from .support import left_behind
from .test_captures import complaints, tshark

OSPF = "ospf: {hello_interval: 1 s, dead_interval: 4 s}"
LDP = "ldp: {hello_interval: 1 s, hold_time: 4 s}"

LABELLED = f"""\
name: {{name}}
nodes:
  left:  {{kind: host, address: 10.1.0.2/24}}
  right: {{kind: host, address: 10.2.0.2/24}}
  a0: {{kind: router, {OSPF}, {LDP}}}
  a1: {{kind: router, {OSPF}, {LDP}}}
  a:  {{kind: router, {OSPF}, {LDP}}}
  gw: {{kind: frr, router_id: 10.0.0.9}}
links:
  - [left, a0]
  - [a0, a1]
  - [a1, a]
  - [a, gw]
  - [gw, right]
"""


def given(lab: Lab, node: str) -> dict[str, int]:
    """The labels that a router of ours has given its neighbours, by prefix."""
    table = lab.node(node).table("ldp_bindings")
    return dict(zip(table["prefix"], table["label"], strict=True))


def told(lab: Lab, node: str, router_id: str) -> dict[str, int]:
    """The labels that a neighbour has given a router of ours, by prefix."""
    rows = lab.node(node).table("ldp_labels").to_dicts()
    return {row["prefix"]: row["label"] for row in rows if row["router_id"] == router_id}


def label_of_frr(said: str) -> int:
    return IMPLICIT_NULL if said == "imp-null" else int(said)


PING_BYTES = 300
"""What echo requests carry that are looked at: others are sent before labels are known."""


def stacks(path: Path, source: str, request: int) -> set[str]:
    """The label stacks that echo requests (8) or answers (0) of a host have in a capture; none is empty."""
    which = f"ip.src == {source} && icmp.type == {request} && ip.len == {PING_BYTES + 28}"
    return set(tshark(path, "-Y", which, "-T", "fields", "-e", "mpls.label"))


def stack(label: int) -> set[str]:
    """One label, or none where the next router wants none."""
    return {"" if label == IMPLICIT_NULL else str(label)}


def test_labels_on_the_wire_are_those_of_the_bindings(network_file: NetworkFile, tmp_path: Path) -> None:
    """From host to host through three routers of ours and FRR, which is egress and wants no label."""
    need("vtysh", "ping", "tshark")
    with Lab(network_file(LABELLED)) as lab:
        links = ("a0-a1", "a1-a", "a-gw")
        captures = {one: lab.capture(one, path=tmp_path / f"{one}.pcapng") for one in links}
        comes(lab)
        known = lambda: all(  # noqa: E731
            len(lab.node(node).table("ldp_labels")) == count * len(given(lab, node))
            for node, count in (("a0", 1), ("a1", 2), ("a", 2))
        )
        assert processes.wait_until(known, 30, 0.2)
        lab.exec("left", "ping", "-c", "5", "-i", "0.2", "-s", str(PING_BYTES), "10.2.0.2")
        for capture in captures.values():
            capture.stop()
        bound = {node: given(lab, node) for node in ("a0", "a1", "a")}
        of_gw = told(lab, "a", "10.0.0.9")
        ftn = {row["prefix"]: row["push"] for row in lab.node("a0").table("ftn").to_dicts()}
        # Bindings, both ways: what one has given the other keeps.
        shown = vtysh(lab, "gw", "show mpls ldp binding json")["bindings"]
        assert {one["neighborId"] for one in shown} == {lab.node("a").address}
        theirs = {one["prefix"]: label_of_frr(one["localLabel"]) for one in shown}
        ours = {one["prefix"]: label_of_frr(one["remoteLabel"]) for one in shown}
        assert theirs == of_gw and ours == bound["a"]
        assert told(lab, "a1", lab.node("a").address) == bound["a"]
        assert told(lab, "a0", lab.node("a1").address) == bound["a1"]
    assert left_behind(lab.name) == []

    there, back = "10.2.0.0/24", "10.1.0.0/24"
    assert of_gw[there] == IMPLICIT_NULL and bound["a0"][back] == IMPLICIT_NULL
    assert min(bound[node][there] for node in ("a1", "a")) > IMPLICIT_NULL
    assert ftn[there] == str(bound["a1"][there])
    files = [tmp_path / f"{link}.pcapng" for link in links]
    # Each link has the label that the router at its far end has given: pushed, swapped, taken off before FRR.
    wanted = [stack(bound["a1"][there]), stack(bound["a"][there]), stack(of_gw[there])]
    assert [stacks(file, "10.1.0.2", 8) for file in files] == wanted
    # On the way back FRR's kernel pushes the first label if it knows labels, else our first router does.
    first = stack(bound["a"][back]) if kernels.MPLS.exists() else {""}
    wanted = [stack(bound["a0"][back]), stack(bound["a1"][back]), first]
    assert [stacks(file, "10.2.0.2", 0) for file in files] == wanted
    for file in files:
        assert complaints(file) == []


ADVERTISED = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a0:
    kind: router
    routes: [{prefix: 203.0.113.0/24, via: left}]
    ospf: {area: 1, hello_interval: 1 s, dead_interval: 4 s, redistribute: [{from: static}]}
  a:
    kind: router
    ospf:
      hello_interval: 1 s
      dead_interval: 4 s
      interfaces: {a0: {area: 1}, gw: {network: broadcast}}
  gw: {kind: {kind}}
  c: {kind: router, ospf: {hello_interval: 1 s, dead_interval: 4 s}}
links:
  - [left, a0]
  - [a0, a]
  - [a, gw]
  - [gw, c]
  - [c, right]
"""
"""Both kinds of networks beside the other router, and every kind of advertisement: of routers, a broadcast
network, networks of another area, the boundary router there, and the network outside that it announces."""

KINDS = {"router": 1, "network": 2, "summary": 3, "summary-router": 4, "external": 5}

Row = tuple[int, str, str, int, int]
"""Type, link state id, router, sequence number and checksum."""


def database(lab: Lab, node: str) -> set[Row]:
    """What a router of ours has of the backbone and of what all areas share."""
    return {
        (KINDS[row["type"]], row["id"], row["router"], int(row["sequence"], 16), int(row["checksum"], 16))
        for row in lab.node(node).table("ospf_database").to_dicts()
        if row["area"] in (None, "0.0.0.0")
    }


FRR_KINDS = {
    "routerLinkStates": 1,
    "networkLinkStates": 2,
    "summaryLinkStates": 3,
    "asbrSummaryLinkStates": 4,
    "asExternalLinkStates": 5,
}


def database_of_frr(lab: Lab) -> set[Row]:
    """The same of FRR."""
    shown = vtysh(lab, "gw", "show ip ospf database json")
    found = [*shown["areas"]["0.0.0.0"].items(), *shown.items()]
    return {
        (kind, one["lsId"], one["advertisedRouter"], int(one["sequenceNumber"], 16), int(one["checksum"], 16))
        for key, rows in found
        if (kind := FRR_KINDS.get(key)) is not None
        for one in rows
    }


BIRD_LINE = re.compile(r"^\s*(\d{4})\s+([\d.]+)\s+([\d.]+)\s+([0-9a-f]{8})\s+\d+\s+([0-9a-f]{4})\s*$")
"""A line of `show ospf lsadb`: type, link state id, router, sequence number, age, checksum."""


def database_of_bird(lab: Lab) -> set[Row]:
    """The same of BIRD, which numbers types as OSPF for IPv6 has them, but for the scope."""
    lines = map(BIRD_LINE.match, birdc(lab, "gw", "show", "ospf", "lsadb").splitlines())
    found = [one for one in lines if one is not None]
    return {(int(one[1]) % 1000, one[2], one[3], int(one[4], 16), int(one[5], 16)) for one in found}


NEEDED = {"frr": "vtysh", "bird": "bird"}
DATABASES = {"frr": database_of_frr, "bird": database_of_bird}


Routes = dict[str, tuple[str, int]]
"""By prefix: type of path and cost, as far as that is said to all (of type 2 that of the boundary router)."""

FRR_TYPES = {"N": "intra-area", "N IA": "inter-area", "N E1": "external-1", "N E2": "external-2"}


def routes_of_frr(lab: Lab) -> Routes:
    """All that OSPF of FRR leads to, but for routers."""
    shown = vtysh(lab, "gw", "show ip ospf route json").items()
    return {
        prefix: (FRR_TYPES[one["routeType"]], one.get("type2cost", one["cost"]))
        for prefix, one in shown
        if "/" in prefix
    }


BIRD_TYPES = {"I": "intra-area", "IA": "inter-area", "E1": "external-1", "E2": "external-2"}
BIRD_ROUTE = re.compile(r"^(\S*) +unicast \[ospf\S+ \S+\] (?:\* )?(\w+) \(150/(?:\d+/)?(\d+)\)", re.MULTILINE)
"""A line of `show route`: prefix (none where another protocol has a route to it), type of path and cost."""


def routes_of_bird(lab: Lab) -> Routes:
    """The same of BIRD, which has a direct route to its loopback address instead."""
    found, prefix = {}, ""
    for line in birdc(lab, "gw", "show", "route").splitlines():
        prefix = line.split()[0] if line[:1].isdigit() else prefix
        if (one := BIRD_ROUTE.match(line)) is not None:
            found[prefix] = (BIRD_TYPES[one[2]], int(one[3]))
    return found | {f"{lab.node('gw').address}/32": ("intra-area", 0)}


ROUTES = {"frr": routes_of_frr, "bird": routes_of_bird}


def routes_by_gw(lab: Lab) -> Routes:
    """The routes that it has if it agrees with ours: theirs that lead to it, less what the link to it costs.

    What lies behind one of ours only the other one reaches by it, so both are asked.
    """
    found: Routes = {}
    for node, port in (("a", "e0"), ("c", "e1")):
        (link,) = lab.node(node).table("ospf_interfaces").filter(towards="gw")["cost"]
        for row in lab.node(node).table("ospf_routes").to_dicts():
            if row["next_hops"] == [address(lab, port)]:
                is_added = row["type"] != "external-2"
                route = (row["type"], row["cost"] - link * is_added)
                assert found.setdefault(row["prefix"], route) == route, (node, row)
    return found


def agreed(lab: Lab, kind: str) -> set[Row]:
    """What the three routers of the backbone have, as soon as it is the same."""
    look = lambda: [database(lab, "a"), DATABASES[kind](lab), database(lab, "c")]  # noqa: E731
    assert processes.wait_until(lambda: (all_ := look())[0] == all_[1] == all_[2], 30, 0.5), look()
    return database(lab, "c")


def address(lab: Lab, interface: str) -> str:
    """The address of the other router on a link."""
    shown = lab.exec("gw", "ip", "-4", "-o", "addr", "show", "dev", interface).stdout
    return shown.split()[3].partition("/")[0]


@pytest.mark.parametrize("kind", ["frr", "bird"])
def test_databases_are_the_same_byte_for_byte_but_for_age(
    kind: str, network_file: NetworkFile, tmp_path: Path
) -> None:
    """A router of FRR or BIRD between two of ours passes on the bytes that it was given, and has them all.

    And from the same databases it has the same routes, of the same types and costs.
    """
    need(NEEDED[kind], "ping", "tshark")
    links = ("a-gw", "gw-c")
    files = [tmp_path / f"{link}.pcapng" for link in links]
    with Lab(network_file(ADVERTISED.replace("{kind}", kind))) as lab:
        captures = [lab.capture(link, path=file) for link, file in zip(links, files, strict=True)]
        comes(lab)
        rows = agreed(lab, kind)
        for capture in captures:
            capture.stop()
        own = [address(lab, port) for port in ("e0", "e1")]
        same = lambda: routes_by_gw(lab) == ROUTES[kind](lab)  # noqa: E731
        assert processes.wait_until(same, 15, 0.2), (routes_by_gw(lab), ROUTES[kind](lab))
        assert {one for one, _ in routes_by_gw(lab).values()} == {"intra-area", "inter-area", "external-2"}
    assert left_behind(lab.name) == []

    assert {row[0] for row in rows} == {1, 2, 3, 4, 5}, rows
    bytes_of: dict[Instance, set[bytes]] = defaultdict(set)
    passed_on: set[Instance] = set()
    for file, theirs in zip(files, own, strict=True):
        assert complaints(file) == []
        for source, instances in flooded(file).items():
            for instance, found in instances.items():
                bytes_of[instance] |= found
            if source == theirs:
                passed_on |= set(instances)
    # Whoever sends an instance sends the same bytes; only the age differs.
    assert all(len(found) == 1 for found in bytes_of.values()), bytes_of
    # What all three have in the end was sent with that checksum, and the other router has sent all of it.
    for *instance, checksum in rows:
        (lsa,) = bytes_of[tuple(instance)]  # type: ignore[index]
        assert int.from_bytes(lsa[14:16], "big") == checksum, instance
    assert {row[:4] for row in rows} <= passed_on, {row[:4] for row in rows} - passed_on


@pytest.mark.parametrize("kind", ["frr", "bird"])
def test_a_border_router_that_restarts_is_believed_again(kind: str, network_file: NetworkFile) -> None:
    """It is given what it said before, takes back what it does not know yet, and says it again.

    It is believed also while the other router keeps what was taken back, as FRR does for a minute: numbers
    go on from those that it hears (RFC 2328, 13.4).
    """
    need(NEEDED[kind], "ping")
    with Lab(network_file(ADVERTISED.replace("{kind}", kind))) as lab:
        comes(lab)
        before = {row[:3] for row in agreed(lab, kind)}
        lab.restart("a")
        comes(lab)
        after = lambda: {row[:3] for row in database(lab, "c")}  # noqa: E731
        assert processes.wait_until(lambda: after() == before, 30, 0.2), before ^ after()
        assert {row[:3] for row in agreed(lab, kind)} == before
    assert left_behind(lab.name) == []
