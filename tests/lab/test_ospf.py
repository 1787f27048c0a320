"""OSPF between routers that are processes of their own, and what `lab status` says where they do not meet."""

from __future__ import annotations

from twinplane.lab import Lab, looking, processes

from .conftest import NetworkFile
from .support import command

NETWORK = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a: {kind: router, ospf: {hello_interval: 1 s}}
  b: {kind: router, ospf: {hello_interval: 1 s}}
  c: {kind: router, ospf: {hello_interval: 2 s}}
links:
  - [left, a]
  - [a, b]
  - [b, right]
  - [b, c]
"""


def test_routers_of_a_lab_find_their_routes_and_say_whom_they_refuse(network_file: NetworkFile) -> None:
    with Lab(network_file(NETWORK)) as lab:

        def states() -> list[str]:
            return list(lab.node("a").table("ospf_neighbors")["state"])

        assert processes.wait_until(lambda: states() == ["full"], 30, 0.1), states()
        routed = lambda: "10.2.0.0/24" in list(lab.node("a").table("ospf_routes")["prefix"])  # noqa: E731
        assert processes.wait_until(routed, 30, 0.1)
        # Packets of the kernels behind the routers take these routes, both ways.
        reached = lambda: lab.exec("left", "ping", "-c1", "-W1", "10.2.0.2", check=False).returncode == 0  # noqa: E731
        assert processes.wait_until(reached, 30, 0.1)
        apart = "router b is not adjacent by OSPF on its link to c"
        told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
        assert processes.wait_until(
            lambda: any("its hello interval is 2 s" in one for one in told()), 30, 0.1
        )
        assert any(one.startswith(apart) for one in told()), told()
        assert not any("link to a" in one or "link to right" in one for one in told()), told()


PIECES = """\
name: {name}
nodes:
  a: {kind: router, ospf: {hello_interval: 1 s}}
  b: {kind: router, ospf: {hello_interval: 1 s, interfaces: {c: {area: 1}}}}
  c: {kind: router, ospf: {hello_interval: 1 s, area: 1, interfaces: {d: {area: 2}}}}
  d: {kind: router, ospf: {hello_interval: 1 s, interfaces: {c: {area: 2}}}}
  e: {kind: router, ospf: {hello_interval: 1 s}}
links:
  - [a, b]
  - [b, c]
  - [c, d]
  - [d, e]
"""


def test_a_router_outside_the_backbone_and_its_pieces_are_named(network_file: NetworkFile) -> None:
    """All are neighbours, and c joins areas 1 and 2, but not the backbone of a and b to that of d and e."""
    wanted = [
        "ospf: area 0.0.0.0, which joins all others, is in pieces: no link inside of it joins 'a' and 'b' and"
        " 'd' and 'e'",
        "router c is in areas 0.0.0.1 and 0.0.0.2 of OSPF and not in the backbone, area 0.0.0.0",
    ]
    with Lab(network_file(PIECES)) as lab:
        told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
        assert processes.wait_until(lambda: told() == wanted, 30, 0.1), told()
        done = command("lab", "status", lab.name)
        assert done.returncode == 1 and all(one in done.stdout for one in wanted), done.stdout
