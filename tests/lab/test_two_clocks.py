"""OSPF, LDP and BGP of one file by both clocks: in virtual time and as a lab all comes to the same."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import twinplane as tp
from support.needs import need
from twinplane.experiments.convergence.timers import Timers
from twinplane.failing.cases import Case
from twinplane.failing.graph import Graph
from twinplane.lab import Lab, looking, processes

from .advertisements import BGP_UPDATE, last_contents, mapped, said_by_bgp
from .conftest import NetworkFile
from .end_state import TABLES, State, differences, of_rows, reached
from .support import good, left_behind
from .test_captures import complaints

SPF = {"initial": "50 ms", "short": "200 ms", "long": "5 s", "learn": "500 ms", "hold_down": "2 s"}
OSPF = f"ospf: {{hello_interval: 1 s, dead_interval: 4 s, spf: {str(SPF).replace(chr(39), '')}}}"
LDP = "ldp: {hello_interval: 1 s, hold_time: 4 s}"
RING = f"""\
name: {{name}}
nodes:
  left:  {{kind: host, address: 10.1.0.2/24}}
  right: {{kind: host, address: 10.2.0.2/24}}
  a:
    kind: router
    router_id: 192.0.2.1
    {OSPF}
    {LDP}
    bgp:
      asn: 65001
      connect_retry: 2 s
      networks: [203.0.113.0/24]
      neighbors: {{192.0.2.3: {{asn: 65001, advertisement_interval: 1 s}}}}
  b: {{kind: router, router_id: 192.0.2.2, {OSPF}, {LDP}}}
  c:
    kind: router
    router_id: 192.0.2.3
    {OSPF}
    {LDP}
    bgp:
      asn: 65001
      connect_retry: 2 s
      networks: [198.51.100.0/24]
      neighbors: {{192.0.2.1: {{asn: 65001, advertisement_interval: 1 s}}}}
  d: {{kind: router, router_id: 192.0.2.4, {OSPF}, {LDP}}}
links:
  - [left, a]
  - [a, b, {{rate: 1 Gbit/s, metric: 1}}]
  - [b, c, {{rate: 1 Gbit/s, metric: 1}}]
  - [c, d, {{rate: 1 Gbit/s, metric: 2}}]
  - [d, a, {{rate: 1 Gbit/s, metric: 2}}]
  - [c, right]
"""
"""A ring: when the link between a and b fails, packets from one host to the other have to go the long way."""

ROUTERS = ("a", "b", "c", "d")
LINKS = ("da", "ab")
"""The links that are looked at, by their ends. Messages of BGP take the short way, by b."""

COMPARED = [table for protocol in ("ospf", "ldp", "bgp") for table in TABLES[protocol]] + ["rib"]

PS = 1e12
QUIET_S = 2 + 5
"""HOLDDOWN_INTERVAL of the file (RFC 8405), and MinLSInterval (RFC 2328, B)."""
SCHEDULING_S = 2.0
"""So much later than timers say routers of a lab may be done. Each is a process that waits for a processor,
and both ends of a link are told one after the other that it fails; where little else runs this takes 2 ms."""


def virtual(net: tp.Network) -> dict[str, State]:
    """What each router has come to in virtual time."""
    tables = {name: net.table(name).to_dicts() for name in COMPARED}
    return {node: kept(tables, node) for node in ROUTERS}


def kept(tables: dict[str, list[dict[str, Any]]], node: str) -> State:
    return {
        name: of_rows(name, (row for row in rows if row["node"] == node)) for name, rows in tables.items()
    }


def real(lab: Lab) -> dict[str, State]:
    """The same of a lab."""
    return {
        node: kept({name: lab.node(node).table(name).to_dicts() for name in COMPARED}, node)
        for node in ROUTERS
    }


def quiet(lab: Lab) -> bool:
    """Has nothing changed for so long that all timers begin anew?"""
    last = max(lab.node(node).table("ospf_database")["since_s"].max() for node in ROUTERS)
    now = min(lab.node(node).status()["now_ps"] for node in ROUTERS) / PS
    return bool(now - last > QUIET_S)


def recovered(tables: Iterable[pl.DataFrame], failed_s: float) -> float:
    """How long after a failure the last router was given its last new route by OSPF."""
    return max(table["changed_s"].max() for table in tables) - failed_s


def test_both_clocks_come_to_the_same(network_file: NetworkFile, tmp_path: Path) -> None:
    """Databases, routes, labels and BGP before a link fails, while it is down, and when it is back."""
    need("ping", "tshark")
    file = network_file(RING)
    net = tp.Network.from_file(file)
    captured = {link: net.capture(*link) for link in LINKS}
    states = []
    net.run(until="60 s")
    files = {
        link: (one.save(tmp_path / f"virtual-{link}.pcapng"), tmp_path / f"real-{link}.pcapng")
        for link, one in captured.items()
    }
    states.append(virtual(net))
    net.fail("a", "b")
    net.run(until="120 s")
    states.append(virtual(net))
    done_s = recovered([net.table("ospf")], 60.0)
    net.heal()
    net.run(until="180 s")
    states.append(virtual(net))
    assert differences(states[0], states[2]) == {} and differences(states[0], states[1]) != {}
    for table in COMPARED:
        assert any(states[0][node][table] for node in ROUTERS), table

    # The timers of both ends, flooding and RFC 8405 say when the control plane is done.
    links = net.described()["links"]
    timers = Timers.of(
        Graph(net), links, {"hello_interval": "1 s", "dead_interval": "4 s", "spf": SPF}, False
    )
    (failed,) = [one.index for one in net.links if {one.a.name, one.b.name} == {"a", "b"}]
    said = timers.predict(Case("a-b", "link", (failed,))).control
    assert said.low is not None and said.high is not None
    low_s, high_s = said.low / PS, said.high / PS
    assert low_s - 1e-4 <= done_s <= high_s + 1e-4, (low_s, done_s, high_s)

    with Lab(file) as lab:

        def comes(which: int) -> None:
            apart = lambda: differences(states[which], real(lab))  # noqa: E731
            assert processes.wait_until(lambda: not apart(), 60, 0.2), (which, apart())
            assert processes.wait_until(lambda: reached(lab), 10, 0.2)
            assert processes.wait_until(lambda: quiet(lab), 30, 0.2)
            assert differences(states[which], real(lab)) == {}

        # Routers that begin anew are told everything once more, and tell it.
        captures = [lab.capture("-".join(link), path=files[link][1]) for link in LINKS]
        for node in ("d", "c"):
            lab.restart(node)
        comes(0)
        for one in captures:
            one.stop()
        assert looking.details(lab.name)["problems"] == []
        good("node", "fault", "fail", "a:b", "--lab", lab.name)
        comes(1)
        first_s = min(lab.node(node).table("actions")["time_s"][0] for node in ("a", "b"))
        took_s = recovered((lab.node(node).table("ospf") for node in ROUTERS), first_s)
        assert low_s <= took_s <= high_s + SCHEDULING_S, (low_s, took_s, high_s)
        good("node", "fault", "heal", "a:b", "--lab", lab.name)
        comes(2)
    assert left_behind(lab.name) == []

    # What routers say of links, networks and prefixes is the same, byte for byte where nothing is numbered.
    for pair in files.values():
        assert [complaints(one) for one in pair] == [[], []]
    contents = [last_contents(one) for one in files["da"]]
    assert contents[0] == contents[1] and len(contents[0]) == len(ROUTERS)
    labelled = [mapped(one) for one in files["da"]]
    assert labelled[0] == labelled[1] and labelled[0]
    # And so is what a and c say to each other by b: OPENs, and UPDATEs with prefix, next hop and path.
    told = [said_by_bgp(one) for one in files["ab"]]
    assert told[0] == told[1]
    updates = [(source, message) for source, message in told[0] if message[18] == BGP_UPDATE]
    for source, prefix in (("192.0.2.1", bytes([24, 203, 0, 113])), ("192.0.2.3", bytes([24, 198, 51, 100]))):
        assert [one for one, message in updates if message.endswith(prefix)] == [source], updates
