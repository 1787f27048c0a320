"""Shared segments in labs: a bridge of the kernel, with routers of ours and real hosts on links to it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, processes

from .conftest import NetworkFile
from .test_captures import complaints

LAN = """\
name: {name}
nodes:
  lan: {kind: bridge, prefix: 10.1.0.0/24, ageing: 20 s}
  a:   {kind: host, address: 10.1.0.11/24}
  b:   {kind: host, address: 10.1.0.12/24, gateway: 10.1.0.2}
  r1:  {kind: router}
  r2:  {kind: router}
  c:   {kind: host, address: 10.2.0.2/24}
links:
  - [a, lan]
  - [lan, b]
  - [r1, lan]
  - [lan, r2]
  - [r2, c]
"""


def lost(lab: Lab, node: str, to: str) -> str:
    said = lab.exec(node, "ping", "-c", "3", "-i", "0.05", "-W", "2", to, check=False).stdout
    return next((line.split(", ")[2] for line in said.splitlines() if "packet loss" in line), said)


def test_members_reach_each_other_and_what_is_behind_a_router(
    network_file: NetworkFile, tmp_path: Path
) -> None:
    need("ping")
    with Lab(network_file(LAN)) as lab:
        capture = lab.capture("lan:e0", path=tmp_path / "lan.pcapng")
        # Hosts with each other; hosts with both routers; out of the segment by either gateway, and back.
        pairs = [("a", "10.1.0.12"), ("a", "10.1.0.1"), ("b", "10.1.0.2"), ("b", "10.2.0.2")]
        for node, to in [*pairs, ("a", "10.2.0.2"), ("c", "10.1.0.11"), ("c", "10.1.0.12")]:
            assert lost(lab, node, to) == "0% packet loss", (node, to)
        # Router to router, by ARP over the bridge.
        answer = lab.node("r1").ask("ping", {"to": "10.1.0.2", "timeout_s": 2.0}, wait_s=2.0)
        assert answer["from"] == "10.1.0.2"
        neighbors = lab.node("r2").table("neighbors")
        assert {"10.1.0.1", "10.1.0.12"} <= set(neighbors["address"].to_list()), neighbors
        # It learns as a bridge does, forgets after the time that was said, and says nothing itself.
        (bridge,) = (
            one
            for one in json.loads(lab.exec("lan", "ip", "-j", "-d", "link").stdout)
            if one.get("linkinfo") and one["linkinfo"].get("info_kind") == "bridge"
        )
        settings = bridge["linkinfo"]["info_data"]
        assert (settings["ageing_time"], settings["stp_state"], settings["mcast_snooping"]) == (2000, 0, 0)
        shown = json.loads(lab.exec("lan", "ip", "-j", "address").stdout)
        assert all(one["addr_info"] == [] for one in shown)
        assert capture.stop() > 5
        assert lab.node("lan").kind == "bridge"
    assert complaints(tmp_path / "lan.pcapng") == []


def test_tcp_over_a_segment_with_and_without_offload(network_file: NetworkFile) -> None:
    """Frames that a kernel has not finished cross the bridge only if every member takes such."""
    need("iperf3")
    for text in (LAN, LAN.replace("r2:  {kind: router}", "r2:  {kind: router, offload: false}")):
        with Lab(network_file(text)) as lab:
            for server, client, to in [("c", "b", "10.2.0.2"), ("b", "a", "10.1.0.12")]:
                running = lab.start(server, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
                try:
                    listening = lambda name=server: (  # noqa: E731
                        ":1451 " in lab.exec(name, "sh", "-c", "cat /proc/net/tcp*").stdout
                    )
                    assert processes.wait_until(listening, 10, 0.02)
                    done = lab.exec(client, "iperf3", "-J", "-c", to, "-t", "1", timeout=60)
                finally:
                    running.kill()
                    running.wait()
                assert json.loads(done.stdout)["end"]["sum_received"]["bytes"] > 500_000


@pytest.mark.parametrize("down", ["a", "r1"])
def test_a_link_that_is_down_is_one_members_own(network_file: NetworkFile, down: str) -> None:
    need("ping")
    with Lab(network_file(LAN)) as lab:
        assert lost(lab, "b", "10.2.0.2") == "0% packet loss"
        port = {"a": "e0", "r1": "e2"}[down]
        lab.exec("lan", "ip", "link", "set", port, "down")
        assert lost(lab, "b", "10.2.0.2") == "0% packet loss"
        assert lost(lab, "b", {"a": "10.1.0.11", "r1": "10.1.0.1"}[down]) == "100% packet loss"
