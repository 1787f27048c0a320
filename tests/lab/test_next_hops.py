"""What `lab status` says of next hops that nothing leads to."""

from __future__ import annotations

from twinplane.lab import Lab, looking, processes
from twinplane.lab.looking import not_reached

from .conftest import NetworkFile
from .support import command

NETWORK = """\
name: {name}
nodes:
  a:
    kind: router
    bgp:
      asn: 65002
      networks: [203.0.113.0/24]
      neighbors: {b: {asn: 65001, export: all, advertisement_interval: 1 s}}
  b:
    kind: router
    bgp:
      asn: 65001
      connect_retry: 1 s
      neighbors: {a: {asn: 65002, import: all}, c: {asn: 65001, advertisement_interval: 1 s}}
  c: {kind: router, bgp: {asn: 65001, connect_retry: 1 s, neighbors: {b: {asn: 65001}}}}
links:
  - [a, b, {addresses: [10.9.1.1/30, 10.9.1.2/30]}]
  - [b, c]
"""
"""What b has of another AS it tells c with its next hop, and nobody tells c of that link."""


def test_a_next_hop_that_never_resolves_is_named_by_status(network_file: NetworkFile) -> None:
    wanted = "router c has no route to 10.9.1.1, next hop of BGP: the route with it is not used"
    with Lab(network_file(NETWORK)) as lab:
        told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
        assert processes.wait_until(lambda: told() == [wanted], 30, 0.1), told()
        done = command("lab", "status", lab.name)
        assert done.returncode == 1 and wanted in done.stdout, done.stdout


def test_a_next_hop_that_no_route_leads_to_is_named() -> None:
    def route(next_hop: str | None, is_reached: bool) -> dict[str, object]:
        return {"prefix": "10.9.0.0/16", "next_hop": next_hop, "is_reached": is_reached}

    told = [route("10.0.0.9", False), route("10.0.0.9", False), route("10.0.0.2", True), route(None, False)]
    assert not_reached("pe1", [*told, route("10.0.0.7", False)]) == [
        "router pe1 has no route to 10.0.0.7, next hop of BGP: the route with it is not used",
        "router pe1 has no route to 10.0.0.9, next hop of BGP: the 2 routes with it are not used",
    ]
    assert not_reached("pe1", told[2:]) == []
