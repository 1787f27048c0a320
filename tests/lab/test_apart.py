"""What `lab status` says of sessions of BGP, LDP and BFD that should be up and are not."""

from __future__ import annotations

from typing import Any

from support.needs import need
from twinplane.lab import Lab, apart, looking, processes
from twinplane.lab.apart import Problem, Watch
from twinplane.lab.state import NodeState, State

from .conftest import NetworkFile
from .support import command

OURS = """\
name: {name}
nodes:
  a:
    kind: router
    ospf: {hello_interval: 1 s}
    ldp: {password: one}
    bgp: {asn: 65001, connect_retry: 1 s, neighbors: {b: {asn: 65002}, c: {asn: 65001, password: x}}}
  b:
    kind: router
    ospf: {hello_interval: 1 s, bfd: true}
    ldp: {password: two}
    bgp: {asn: 65003, connect_retry: 1 s, neighbors: {a: {asn: 65001}}}
  c:
    kind: router
    ospf: {hello_interval: 1 s, bfd: true}
    bfd: {authentication: {kind: sha1, key: secret}}
    ldp: {password: two}
    bgp: {asn: 65001, neighbors: {a: {asn: 65001}}}
links:
  - [a, b]
  - [b, c]
  - [c, a]
"""
BESIDE_FRR = """\
name: {name}
nodes:
  a:
    kind: router
    ospf: {hello_interval: 1 s}
    bgp: {asn: 65001, connect_retry: 1 s, neighbors: {gw: {asn: 65002}}}
  gw: {kind: frr, config: gw.conf}
links:
  - [a, gw, {mtu: 1400, addresses: [10.9.0.1/24, 10.9.0.2/24]}]
"""

SAME_NUMBER = """\
name: {name}
nodes:
  a: {kind: router, ospf: {router_id: 192.0.2.1, hello_interval: 1 s}}
  b: {kind: router, ospf: {hello_interval: 1 s}}
  gw: {kind: frr, config: gw.conf}
links:
  - [a, b]
  - [b, gw, {addresses: [10.9.0.1/24, 10.9.0.2/24]}]
"""


def test_sessions_between_our_routers_that_are_down_are_named(network_file: NetworkFile) -> None:
    with Lab(network_file(OURS)) as lab:

        def told() -> list[str]:
            return [one.partition(" packets")[0] for one in looking.details(lab.name)["problems"]]

        passwords = "the two have different passwords"
        wanted = [
            "router a has no session of BGP with b: the neighbour has AS 65003, not 65002",
            "router b has no session of BGP with a: the neighbour said: bad peer AS",
            f"router a has no session of BGP with c: {passwords}",
            f"router c has no session of BGP with a: {passwords}",
            *(f"router a has no session of LDP with {far}: {passwords}" for far in "bc"),
            *(f"router {near} has no session of LDP with a: {passwords}" for near in "bc"),
        ]
        bfd = [f"router {near} has no session of BFD with {far} for OSPF: " for near, far in ("bc", "cb")]

        def all_said() -> bool:
            found = looking.details(lab.name)["problems"]
            others = [one for one in found if one not in wanted]
            return (
                len(others) == 2
                and all(
                    any(one.startswith(lead) and "of its packets were not taken" in one for one in others)
                    for lead in bfd
                )
                and set(wanted) <= set(found)
            )

        assert processes.wait_until(all_said, 60, 0.2), told()
        done = command("lab", "status", lab.name)
        assert done.returncode == 1 and "degraded" in done.stdout and wanted[0] in done.stdout, done.stdout


def test_what_a_router_of_ours_says_stands_beside_what_a_daemon_says(network_file: NetworkFile) -> None:
    need("vtysh")
    file = network_file(BESIDE_FRR)
    (file.parent / "gw.conf").write_text(
        "interface e0\n ip address 10.9.0.2/24\n ip ospf area 0\n ip ospf network point-to-point\n"
        " ip ospf hello-interval 1\n ip ospf dead-interval 4\nexit\nrouter ospf\nexit\n"
        "router bgp 65005\n neighbor 10.9.0.1 remote-as 65001\n neighbor 10.9.0.1 timers connect 1\nexit\n"
    )
    with Lab(file) as lab:
        # Its kernel now takes longer packets than the link has, and OSPF tells so when it begins anew.
        lab.exec("gw", "ip", "link", "set", "e0", "mtu", "1500")
        lab.restart("gw")
        mtu = (
            "frr gw is not adjacent by OSPF on its link to a: router a says: 10.9.0.2: it sends packets of"
            " up to 1500 bytes (MTU), and here 1400 is the most"
        )

        def told() -> list[str]:
            return list(looking.details(lab.name)["problems"])

        def all_said() -> bool:
            found = told()
            bgp = [one for one in found if one.startswith("frr gw has no session of BGP with 10.9.0.1: ")]
            why = "; router a says: the neighbour has AS 65005, not 65002"
            return len(found) == 2 and mtu in found and any(one.endswith(why) for one in bgp)

        assert processes.wait_until(all_said, 60, 0.2), told()


def test_a_router_id_that_another_has_and_packets_too_long_for_it_are_named(
    network_file: NetworkFile,
) -> None:
    need("root", "vtysh")
    file = network_file(SAME_NUMBER)
    (file.parent / "gw.conf").write_text(
        "router ospf\n ospf router-id 192.0.2.1\n network 10.9.0.0/24 area 0\n!\n"
        "interface e0\n ip ospf network point-to-point\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n"
    )
    with Lab(file) as lab:

        def told() -> list[str]:
            return list(looking.details(lab.name)["problems"])

        def is_said(part: str) -> bool:
            return processes.wait_until(lambda: any(part in one for one in told()), 60, 0.2)

        assert is_said("router a is not the only one with router id 192.0.2.1 of OSPF"), told()
        lab.exec("gw", "ip", "link", "set", "e0", "mtu", "1400")
        lab.restart("gw")
        assert is_said(
            "10.9.0.2: it takes packets of up to 1400 bytes (MTU), and here they have up to 9216"
        ), told()


def lab_of(*names: str) -> apart.View:
    """A lab of which nothing runs; addresses of nodes are 10.0.0.1 and so on."""
    nodes = {
        name: NodeState("bridge" if name == "lan" else "router", None, f"10.0.0.{number}")
        for number, name in enumerate(names, 1)
    }
    state = State("net", None, processes.of(1), nodes, [])
    return apart.View(state, {})


def bfd_row(**other: Any) -> dict[str, Any]:
    usual = {"local": "10.0.0.1", "neighbor": "10.0.0.2", "state": "down", "remote_state": "down"}
    usual |= {"path": "unknown", "diagnostic": "control detection time expired"}
    return {**usual, "clients": ["bgp", "ospf"], "lsp": None, **other}


def test_a_session_of_bfd_that_was_never_up_is_no_error() -> None:
    lab = lab_of("a", "b")
    found = lambda *rows: [  # noqa: E731
        one.sentence() for one in apart.by_bfd(lab, {"a": Watch(list(rows), [])})
    ]
    assert found(bfd_row()) == []
    lost = "router a has no session of BFD with b for BGP and OSPF: control detection time expired"
    assert found(bfd_row(path="dead")) == [lost]
    assert found(bfd_row(path="dead", remote_state="admin-down")) == []
    assert found(bfd_row(path="dead", state="admin-down")) == []
    assert found(bfd_row(path="dead", clients=[])) == []
    assert found(bfd_row(state="up", path="alive")) == []
    over = "router a has no session of BFD with b over the LSP to 10.0.0.2/32 for LDP"
    lsp = {"lsp": "10.0.0.2/32", "clients": ["ldp"]}
    assert found(bfd_row(**lsp, path="dead")) == [f"{over}: control detection time expired"]
    # Both ends ask for it, so that both speak BFD.
    back = Watch([bfd_row(local="10.0.0.2", neighbor="10.0.0.1", state="up")], [])
    untaken = [{"from": "10.0.0.2", "packets": 3, "reason": "authenticated"}]
    told = apart.by_bfd(lab, {"a": Watch([bfd_row(), bfd_row(**lsp)], untaken), "b": back})
    why = "3 of its packets were not taken (authenticated)"
    assert [one.sentence() for one in told] == [
        f"router a has no session of BFD with b for BGP and OSPF: {why}"
    ]


def test_both_ends_of_a_link_are_said_once() -> None:
    lab = lab_of("a", "b", "lan", "gw")
    ours = [
        Problem("router a has no session of BGP with gw", "connection refused", "a", "BGP", "gw"),
        Problem("router b has no session of BGP with gw", "no route to the neighbour", "b", "BGP", "gw"),
        Problem("router b is not adjacent by OSPF on its link to lan", "10.0.0.4: why", "b", "OSPF", "lan"),
        Problem("router b has no route to 10.0.0.9"),
    ]
    others = [
        Problem("frr gw has no session of BGP with 10.0.0.1", "idle", "gw", "BGP", "a"),
        Problem("frr gw is not adjacent by OSPF on its link to lan", "", "gw", "OSPF", "lan"),
        Problem("ospfd of frr gw is dead", "`twinplane lab restart gw`"),
    ]
    assert apart.merged(lab, ours, others) == [
        "router b has no session of BGP with gw: no route to the neighbour",
        "router b has no route to 10.0.0.9",
        "frr gw has no session of BGP with 10.0.0.1: idle; router a says: connection refused",
        "frr gw is not adjacent by OSPF on its link to lan: router b says: 10.0.0.4: why",
        "ospfd of frr gw is dead: `twinplane lab restart gw`",
    ]
