"""OpenFlow switches in labs: ovs-ofctl reads and writes them, and real hosts talk through them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, looking, processes

from .conftest import NetworkFile

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


def reached(lab: Lab) -> bool:
    said = lab.exec("a", "ping", "-c", "3", "-i", "0.05", "-W", "1", "10.1.0.12", check=False).stdout
    return ", 0% packet loss" in said


def soon(lab: Lab) -> bool:
    """Is it reached, once the kernel has given up an older question for its Ethernet address?"""
    return processes.wait_until(lambda: reached(lab), 15, 0.1)


def of(lab: Lab, version: str, *words: str) -> str:
    """What ovs-ofctl says, as a controller in the namespace of the switch."""
    command, *rest = words
    return lab.exec("s1", "ovs-ofctl", "-O", version, command, "tcp:127.0.0.1:6653", *rest).stdout


@pytest.mark.parametrize("version", ["OpenFlow10", "OpenFlow13"])
def test_ovs_ofctl_reads_and_writes_a_switch(network_file: NetworkFile, version: str) -> None:
    need("ovs-ofctl", "ping")
    with Lab(network_file(SWITCH)) as lab:
        shown = of(lab, version, "show")
        assert "dpid:0000000000000012" in shown and "2(s1-eth2)" in shown
        assert not reached(lab), "there is no entry"
        of(lab, version, "add-flow", "priority=1,actions=FLOOD")
        assert soon(lab)
        of(
            lab,
            version,
            "add-flow",
            "priority=7,cookie=0x5,ip,nw_dst=10.1.0.12,actions=mod_nw_tos:184,output:2",
        )
        assert soon(lab), "its checksum is right"
        flows = of(lab, version, "dump-flows")
        (entry,) = (line for line in flows.splitlines() if "cookie=0x5" in line)
        assert re.search(r"n_packets=[1-9]", entry), flows
        of(lab, version, "mod-port", "2", "down")
        assert "PORT_DOWN" in of(lab, version, "show")
        assert not reached(lab)
        of(lab, version, "mod-port", "2", "up")
        assert soon(lab)
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


QUEUED = SWITCH.replace(
    "  - [s1, b]\n",
    """\
  - endpoints: [s1, b]
    rate: 100 Mbit/s
    queue:
      s1:
        discipline: htb
        classes:
          link: {rate: 100 Mbit/s}
          slow: {parent: link, rate: 10 Mbit/s, ceil: 50 Mbit/s}
          rest: {parent: link, rate: 1 Mbit/s, ceil: 100 Mbit/s}
        filters: [{mark: 1, class: slow}]
        default: rest
""",
)


@pytest.mark.parametrize(
    ("version", "action"), [("OpenFlow10", "enqueue:2:1"), ("OpenFlow13", "set_queue:1,output:2")]
)
def test_ovs_ofctl_reads_and_chooses_queues(network_file: NetworkFile, version: str, action: str) -> None:
    need("ovs-ofctl", "ping")
    with Lab(network_file(QUEUED)) as lab:
        told = of(lab, version, "queue-get-config", "2")
        assert re.search(r"queue 1:.*min_rate:10.0%", told, re.DOTALL), told
        assert version == "OpenFlow10" or "max_rate:50.0%" in told
        of(lab, version, "add-flow", "priority=1,actions=FLOOD")
        assert soon(lab)
        of(lab, version, "add-flow", f"priority=7,ip,nw_dst=10.1.0.12,actions={action}")
        shown = of(lab, version, "dump-flows")
        assert action in shown, shown
        assert soon(lab)
        counted = of(lab, version, "queue-stats", "2", "1")
        found = re.search(r"queue 1: bytes=(\d+), pkts=(\d+), errors=0", counted)
        assert found and int(found[2]) >= 3 and int(found[1]) > int(found[2]) * 90, counted
        refused = lab.exec(
            "s1", "ovs-ofctl", "-O", version, "queue-stats", "tcp:127.0.0.1:6653", "2", "9", check=False
        )
        assert "OFPQOFC_BAD_QUEUE" in refused.stderr + refused.stdout


def bundled(lab: Lab, command: str, file: Path, check: bool = True) -> str:
    """What ovs-ofctl says as it changes entries in a bundle."""
    words = ("ovs-ofctl", "-O", "OpenFlow13", "--bundle", command, "tcp:127.0.0.1:6653", str(file))
    return lab.exec("s1", *words, check=check).stderr


def test_ovs_ofctl_changes_entries_in_a_bundle(network_file: NetworkFile, tmp_path: Path) -> None:
    need("ovs-ofctl", "ping")
    version = "OpenFlow13"
    with Lab(network_file(SWITCH)) as lab:
        good, wrong = tmp_path / "good", tmp_path / "wrong"
        good.write_text("priority=1,actions=FLOOD\npriority=2,arp,actions=FLOOD\n")
        wrong.write_text("delete\npriority=3,actions=FLOOD\npriority=4,actions=group:99\n")
        bundled(lab, "add-flows", good)
        assert soon(lab)
        before = of(lab, version, "dump-flows")
        assert "priority=2,arp" in before
        refused = bundled(lab, "add-flows", wrong, check=False)
        assert "OFPBAC_BAD_OUT_GROUP" in refused and "OFPBFC_MSG_FAILED" in refused, refused
        flows = of(lab, version, "dump-flows")
        assert "priority=2,arp" in flows and "priority=3" not in flows, "all is as it was"
        bundled(lab, "replace-flows", good)
        assert soon(lab)


ROW = """\
name: {name}
nodes:
  s1: {kind: switch, prefix: 10.1.0.0/24, controllers: ["ptcp:6653"]}
  s2: {kind: switch, prefix: 10.1.0.0/24, fail: standalone}
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
links:
  - [a, s1]
  - [s1, s2]
  - [s2, b]
"""


def test_two_switches_with_a_link_are_one_network(network_file: NetworkFile) -> None:
    need("ovs-ofctl", "ping")
    with Lab(network_file(ROW)) as lab:
        assert not reached(lab)
        of(lab, "OpenFlow13", "add-flow", "priority=1,actions=FLOOD")
        assert soon(lab)


def test_a_switch_without_a_controller_learns_if_it_is_to(network_file: NetworkFile) -> None:
    need("ping")
    with Lab(network_file(SWITCH.replace("datapath_id: 18", "fail: standalone"))) as lab:
        assert soon(lab)


MANAGED = """\
name: {name}
nodes:
  s1: {kind: switch, prefix: 10.1.0.0/24, controllers: ["ptcp:6653", "tcp:10.9.0.2:6633"]}
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
  c:  {kind: host, address: 10.9.0.2/30}
links:
  - [a, s1]
  - [s1, b]
  - {endpoints: [s1, c], addresses: [10.9.0.1/30, 10.9.0.2/30]}
"""


def test_controllers_are_beyond_a_management_port_and_one_that_is_not_is_told_of(
    network_file: NetworkFile,
) -> None:
    need("ovs-ofctl", "ping")
    with Lab(network_file(MANAGED)) as lab:
        ofctl = ("ovs-ofctl", "-O", "OpenFlow13")
        lab.exec("c", *ofctl, "add-flow", "tcp:10.9.0.1:6653", "priority=1,actions=FLOOD")
        assert soon(lab)
        shown = lab.exec("c", *ofctl, "show", "tcp:10.9.0.1:6653").stdout
        assert "2(s1-eth2)" in shown and "3(" not in shown, "the management port is none of the datapath"

        def problems() -> list[str]:
            return list(looking.details(lab.name)["problems"])

        assert processes.wait_until(lambda: bool(problems()), 15, 0.2)
        (said,) = problems()
        assert re.match(
            r"switch s1 has no controller at tcp:10.9.0.2:6633: \d+ attempts in a row failed", said
        )
        rows = lab.node("s1").ask("table", "controllers")
        assert rows["controller"] == ["tcp:10.9.0.2:6633"] and rows["state"][0] in ("waiting", "connecting")
