"""Real hosts over IPv6: through three routers natively, and over LSPs whose middle has no IPv6 (RFC 4798)."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, processes

from .conftest import NetworkFile
from .support import refused
from .test_captures import complaints, tshark

NATIVE = """\
name: {name}
nodes:
  left:  {kind: host,   address: 10.1.0.2/24}
  right: {kind: host,   address: 10.2.0.2/24}
  r1:    {kind: router, ipv6: "2001:db8:ff::1"}
  r2:    {kind: router, ipv6: "2001:db8:ff::2"}
  r3:    {kind: router, ipv6: "2001:db8:ff::3"}
links:
  - [left, r1, {ipv6: ["2001:db8:1::2/64", "2001:db8:1::1/64"]}]
  - [r1, r2, {rate: 1 Gbit/s, ipv6: ["2001:db8:12::1/64", "2001:db8:12::2/64"]}]
  - [r2, r3, {rate: 1 Gbit/s, ipv6: ["2001:db8:23::2/64", "2001:db8:23::3/64"]}]
  - [r3, right, {ipv6: ["2001:db8:2::1/64", "2001:db8:2::2/64"]}]
"""
LSPS = """\
name: {name}
nodes:
  left:  {kind: host,   address: 10.1.0.2/24}
  right: {kind: host,   address: 10.2.0.2/24}
  pe1:   {kind: router}
  p:     {kind: router}
  pe2:   {kind: router}
links:
  - [left, pe1, {ipv6: ["2001:db8:1::2/64", "2001:db8:1::1/64"]}]
  - [pe1, p, {rate: 1 Gbit/s}]
  - [p, pe2, {rate: 1 Gbit/s}]
  - [pe2, right, {ipv6: ["2001:db8:2::1/64", "2001:db8:2::2/64"]}]
lsps:
  - {name: east, from: pe1, to: pe2, route: [p, pe2], carries: ["2001:db8:2::/64", 10.2.0.0/24]}
  - {name: west, from: pe2, to: pe1, route: [p, pe1], carries: ["2001:db8:1::/64", 10.1.0.0/24]}
"""
RIGHT = "2001:db8:2::2"
FIRST = '"2001:db8:1::1/64"]'
ADVERTISED = NATIVE.replace(FIRST, FIRST + ", advertise: {interval: 4 s, mtu: true}")


def ping(lab: Lab, node: str, to: str, *more: str) -> str:
    need("ping")
    return lab.exec(node, "ping", "-6", "-c", "5", "-i", "0.05", "-W", "2", *more, to).stdout


@pytest.mark.parametrize("network", [NATIVE, LSPS], ids=["native", "lsp"])
def test_ping_and_iperf3(network_file: NetworkFile, network: str) -> None:
    need("iperf3")
    with Lab(network_file(network)) as lab:
        said = ping(lab, "left", RIGHT)
        assert " 0% packet loss" in said and "ttl=61" in said, said  # three routers
        assert " 0% packet loss" in ping(lab, "right", "2001:db8:1::1"), "the router beyond"
        server = lab.start("right", "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
        try:
            listening = lambda: ":1451 " in lab.exec("right", "sh", "-c", "cat /proc/net/tcp*").stdout  # noqa: E731
            assert processes.wait_until(listening, 10, 0.02)
            done = lab.exec("left", "iperf3", "-6", "-J", "-c", RIGHT, "-t", "1", timeout=60)
        finally:
            server.kill()
            server.wait()
        assert json.loads(done.stdout)["end"]["sum_received"]["bytes"] > 500_000
        balanced(lab, *(("r1", "r2", "r3") if network is NATIVE else ("pe1", "p", "pe2")))


def test_traceroute_natively(network_file: NetworkFile) -> None:
    need("traceroute")
    with Lab(network_file(NATIVE)) as lab:
        said = lab.exec("left", "traceroute", "-6", "-n", "-q", "1", "-w", "2", RIGHT).stdout
        hops = [line.split()[1] for line in said.splitlines()[1:]]
        assert hops == ["2001:db8:1::1", "2001:db8:12::2", "2001:db8:23::3", RIGHT], said
        # Neighbours are found on both sides, and the kernel's table has the router's address.
        known = lab.exec("left", "ip", "-6", "neighbor").stdout
        assert re.search(r"2001:db8:1::1 dev \S+ lladdr", known), known
        answer = lab.node("r1").ask("ping", {"to": RIGHT, "timeout_s": 2.0}, wait_s=2.0)
        assert answer["from"] == RIGHT


def test_traceroute_over_an_lsp(network_file: NetworkFile) -> None:
    need("traceroute")
    with Lab(network_file(LSPS)) as lab:
        said = lab.exec("left", "traceroute", "-6", "-n", "-e", "-q", "1", "-w", "1", RIGHT).stdout
        hops = [line.split()[1] for line in said.splitlines()[1:]]
        # The router in the middle has no IPv6 address to speak from.
        assert hops == ["2001:db8:1::1", "*", "2001:db8:2::1", RIGHT], said
        assert "L=2," in said, said


def test_a_packet_that_is_too_big(network_file: NetworkFile) -> None:
    """Only its source may cut a packet: the router says how long it may be, and Linux obeys."""
    small = NATIVE.replace("[r2, r3, {rate: 1 Gbit/s,", "[r2, r3, {rate: 1 Gbit/s, mtu: 1300,")
    with Lab(network_file(small)) as lab:
        ping(lab, "left", RIGHT, "-s", "1400")
        cached = lab.exec("left", "ip", "-6", "route", "get", RIGHT).stdout
        assert "mtu 1300" in cached, cached
        assert " 0% packet loss" in ping(lab, "left", RIGHT, "-s", "1400")


@pytest.mark.parametrize("network", [NATIVE, LSPS], ids=["native", "lsp"])
def test_tshark_finds_nothing(network_file: NetworkFile, tmp_path: Path, network: str) -> None:
    with Lab(network_file(network)) as lab:
        links = [":".join((pair[0].node, pair[0].name)) for pair in lab.plan.links]
        captures = [lab.capture(link, path=tmp_path / f"{at}.pcapng") for at, link in enumerate(links)]
        ping(lab, "left", RIGHT)
        for hops in ("1", "2", "3"):
            lab.exec("left", "ping", "-6", "-c", "1", "-t", hops, "-W", "1", RIGHT, check=False)
        lab.exec("left", "ping", "-6", "-c", "1", "-W", "4", "2001:db8:2::77", check=False)
        counts = [capture.stop() for capture in captures]
    assert min(counts) > 5, counts
    for at in range(len(links)):
        path = tmp_path / f"{at}.pcapng"
        assert complaints(path) == []
    assert tshark(tmp_path / "0.pcapng", "-Y", "icmpv6.type == 135")


def test_a_host_makes_its_address_of_what_a_router_advertises(
    network_file: NetworkFile, tmp_path: Path
) -> None:
    """RFC 4862: the kernel takes prefix and default route from our router; the address is as planned."""
    need("ping")
    assert "advertise" in ADVERTISED
    with Lab(network_file(ADVERTISED)) as lab:
        first = lab.plan.links[0]
        capture = lab.capture(":".join((first[0].node, first[0].name)), path=tmp_path / "advertised.pcapng")

        def shown(*words: str) -> str:
            return lab.exec("left", "ip", "-6", "-o", *words).stdout

        def made() -> bool:
            said = shown("address", "show", "scope", "global")
            return "2001:db8:1::2/64" in said and "tentative" not in said

        assert made(), "a lab is up when its hosts have their addresses"
        said = shown("address", "show", "scope", "global")
        assert said.count("inet6") == 1 and "dynamic" in said, said
        routes = shown("route", "show", "default")
        assert routes.count("default") == 1 and "via fe80::" in routes and "proto ra" in routes, routes
        assert " 0% packet loss" in ping(lab, "left", RIGHT)
        assert " 0% packet loss" in ping(lab, "right", "2001:db8:1::2")
        # Whoever comes up later asks, and is answered.
        name = first[0].name
        lab.exec("left", "ip", "link", "set", name, "down")
        lab.exec("left", "ip", "link", "set", name, "up")
        assert processes.wait_until(made, 30, 0.1), shown("address", "show")
        balanced(lab, "r1", "r2", "r3")
        assert capture.stop() > 5
    path = tmp_path / "advertised.pcapng"
    assert complaints(path) == []
    assert tshark(path, "-Y", "icmpv6.type == 133")
    assert tshark(path, "-Y", "icmpv6.type == 134 && icmpv6.opt.prefix == 2001:db8:1:: && icmpv6.opt.mtu")


def test_a_host_that_gets_no_address_is_named(network_file: NetworkFile) -> None:
    """RFC 4862, 5.5.3: no address is made of a prefix that is valid for no time."""
    gone = ADVERTISED.replace("mtu: true", "valid: 0 s, preferred: 0 s")
    said = refused("lab", "up", network_file(gone), "--timeout", "4")
    assert "host 'left' has no IPv6 address 2001:db8:1::2/64 in time: no router advertises its prefix" in said


def balanced(lab: Lab, *routers: str) -> None:
    """Every frame that a router has received was forwarded, made use of, dropped, or still waits."""
    for router in routers:
        columns = lab.node(router).columns("balance")
        row = {key: values[0] for key, values in columns.items()}
        accounted = row["forwarded"] + row["delivered"] + row["dropped"] + row["waiting"]
        assert row["received"] + row["fragments"] + row["copies"] == accounted, row


@contextmanager
def kernel_router(lab: Lab, beside: str) -> Iterator[str]:
    """Makes a router of the kernel of a host's namespace, with a host behind it: yields that one's namespace.

    The kernel router answers neighbour solicitations for that host on our link (proxy of RFC 4861, 7.2.8).
    """
    namespace = lab.node(beside).namespace
    behind = f"{namespace}-far"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def inside(where: str, *words: str) -> None:
        subprocess.run(["ip", "netns", "exec", where, *words], check=True, capture_output=True)

    ip("netns", "add", behind)
    try:
        ip(
            "-n",
            behind,
            "link",
            "add",
            "up0",
            "type",
            "veth",
            "peer",
            "name",
            "down0",
            "netns",
            str(namespace),
        )
        inside(str(namespace), "sysctl", "-q", "-w", "net.ipv6.conf.down0.disable_ipv6=0")
        for where, name, address in (
            (behind, "up0", "2001:db8:9::2/64"),
            (str(namespace), "down0", "2001:db8:9::1/64"),
        ):
            ip("-n", where, "address", "add", address, "dev", name, "nodad")
            ip("-n", where, "link", "set", name, "up")
        ip("-n", behind, "address", "add", f"{BEHIND}/128", "dev", "up0", "nodad")
        ip("-n", behind, "-6", "route", "add", "default", "via", "2001:db8:9::1", "src", BEHIND)
        ip("-n", str(namespace), "-6", "route", "add", f"{BEHIND}/128", "via", "2001:db8:9::2")
        inside(str(namespace), "sysctl", "-q", "-w", "net.ipv6.conf.all.forwarding=1")
        ours = subprocess.run(
            ["ip", "-n", str(namespace), "-o", "-6", "route", "get", "2001:db8:1::1"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        device = ours.split(" dev ")[1].split()[0]
        inside(str(namespace), "sysctl", "-q", "-w", f"net.ipv6.conf.{device}.proxy_ndp=1")
        ip("-n", str(namespace), "-6", "neighbor", "add", "proxy", BEHIND, "dev", device)
        yield behind
    finally:
        subprocess.run(["ip", "netns", "delete", behind], check=False, capture_output=True)


BEHIND = "2001:db8:1::99"


@pytest.mark.parametrize("network", [NATIVE, LSPS], ids=["native", "lsp"])
def test_a_kernel_router_beside_ours(network_file: NetworkFile, tmp_path: Path, network: str) -> None:
    """It answers our neighbour discovery, and forwards between its host and one beyond our routers."""
    need("ping")
    routers = ("r1", "r2", "r3") if network is NATIVE else ("pe1", "p", "pe2")
    with Lab(network_file(network)) as lab, kernel_router(lab, "left") as behind:
        first = lab.plan.links[0]
        capture = lab.capture(":".join((first[0].node, first[0].name)), path=tmp_path / "kernel.pcapng")

        def asked(count: str) -> str:
            words = ["ip", "netns", "exec", behind, "ping", "-6", "-c", count, "-i", "0.05", "-W", "2", RIGHT]
            return subprocess.run(words, check=False, capture_output=True, text=True).stdout

        # The kernel first looks whether its link-local addresses are free, and takes its time to answer for
        # others.
        assert processes.wait_until(lambda: " 0% packet loss" in asked("1"), 20, 0.1)
        said = asked("5")
        assert " 0% packet loss" in said and "ttl=60" in said, said  # three of our routers, and the kernel's
        assert " 0% packet loss" in ping(lab, "right", BEHIND)
        neighbors = lab.node(routers[0]).table("neighbors")
        assert BEHIND in str(neighbors.to_dicts()), neighbors
        balanced(lab, *routers)
        assert capture.stop() > 10
    path = tmp_path / "kernel.pcapng"
    assert complaints(path) == []
    solicited = tshark(path, "-Y", f"icmpv6.type == 135 && icmpv6.nd.ns.target_address == {BEHIND}")
    told = tshark(path, "-Y", f"icmpv6.type == 136 && icmpv6.nd.na.target_address == {BEHIND}")
    assert solicited and told
