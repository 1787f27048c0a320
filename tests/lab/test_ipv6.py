"""Real hosts over IPv6: through three routers natively, and over LSPs whose middle has no IPv6 (RFC 4798)."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, processes

from .conftest import NetworkFile
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
        assert complaints(path) == [] and tshark(path, "-Y", "icmpv6.checksum.status == 0") == []
    assert tshark(tmp_path / "0.pcapng", "-Y", "icmpv6.type == 135")
