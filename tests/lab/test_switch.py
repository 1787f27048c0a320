"""OpenFlow switches in labs: ovs-ofctl reads and writes them, and real hosts talk through them."""

from __future__ import annotations

import re
import subprocess

import pytest
from support.needs import need
from twinplane.lab import Lab, processes

from .conftest import NetworkFile
from .test_segments import lost

SWITCH = """\
name: {name}
nodes:
  s1: {kind: switch, prefix: 10.1.0.0/24, controllers: ["ptcp:6653"], datapath_id: 18}
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
links:
  - [a, s1]
  - [s1, b]
"""


def of(lab: Lab, version: str, *words: str) -> str:
    """What ovs-ofctl says, as a controller in the namespace of the switch."""
    command, *rest = words
    return lab.exec("s1", "ovs-ofctl", "-O", version, command, "tcp:127.0.0.1:6653", *rest).stdout


@pytest.mark.parametrize("version", ["OpenFlow10", "OpenFlow13"])
def test_ovs_ofctl_reads_and_writes_a_switch(network_file: NetworkFile, version: str) -> None:
    need("ovs-ofctl", "ping")
    with Lab(network_file(SWITCH)) as lab:
        assert "dpid:0000000000000012" in of(lab, version, "show")
        assert "s1-eth2" in of(lab, version, "dump-ports-desc")
        assert lost(lab, "a", "10.1.0.12") != "0% packet loss", "there is no entry"
        of(lab, version, "add-flow", "priority=1,actions=FLOOD")
        assert lost(lab, "a", "10.1.0.12") == "0% packet loss"
        of(
            lab,
            version,
            "add-flow",
            "priority=7,cookie=0x5,ip,nw_dst=10.1.0.12,actions=mod_nw_tos:184,output:2",
        )
        assert lost(lab, "a", "10.1.0.12") == "0% packet loss", "its checksum is right"
        flows = of(lab, version, "dump-flows")
        (entry,) = (line for line in flows.splitlines() if "cookie=0x5" in line)
        assert re.search(r"n_packets=[1-9]", entry), flows
        of(lab, version, "mod-port", "2", "down")
        assert "PORT_DOWN" in of(lab, version, "show")
        assert lost(lab, "a", "10.1.0.12") != "0% packet loss"
        of(lab, version, "mod-port", "2", "up")
        assert lost(lab, "a", "10.1.0.12") == "0% packet loss"
        of(lab, version, "del-flows", "cookie=0x5/-1" if version == "OpenFlow13" else "ip")
        assert "cookie=0x5" not in of(lab, version, "dump-flows")
        assert "rx pkts=" in of(lab, version, "dump-ports")
        # A frame by hand leaves by the port that it is sent to.
        before = of(lab, version, "dump-ports", "2")
        of(
            lab,
            version,
            "packet-out",
            "in_port=CONTROLLER,packet=" + "ff" * 12 + "88b5" + "00" * 46 + ",actions=2",
        )
        sent = re.compile(r"tx pkts=(\d+)")
        pairs = [sent.search(text) for text in (before, of(lab, version, "dump-ports", "2"))]
        counts = [int(found[1]) for found in pairs if found]
        assert len(counts) == 2 and counts[1] > counts[0]
        assert lab.node("s1").ask("status")["node"] == "s1"


def test_a_switch_without_a_controller_learns_if_it_is_to(network_file: NetworkFile) -> None:
    need("ping", "ovs-ofctl")
    with Lab(network_file(SWITCH.replace("datapath_id: 18", "fail: standalone"))) as lab:
        assert lost(lab, "a", "10.1.0.12") == "0% packet loss"
        with lab.start(
            "s1",
            "ovs-ofctl",
            "monitor",
            "tcp:127.0.0.1:6653",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as monitor:
            try:
                silent = lambda: lost(lab, "a", "10.1.0.12") != "0% packet loss"  # noqa: E731
                assert processes.wait_until(silent, 10, 0.1), "with a controller it has no entry"
            finally:
                monitor.kill()
        again = lambda: lost(lab, "a", "10.1.0.12") == "0% packet loss"  # noqa: E731
        assert processes.wait_until(again, 10, 0.1)
