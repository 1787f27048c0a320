"""Open vSwitch in labs: as a switch between hosts, and as the forwarding plane of routers in a ring."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.needs import need
from twinplane.errors import TwinplaneError
from twinplane.lab import Lab, daemons, looking, openvswitch, processes

from .conftest import NetworkFile
from .support import left_behind, refused

SWITCH = """\
name: {name}
nodes:
  s1: {kind: ovs, prefix: 10.1.0.0/24, controllers: ["tcp:127.0.0.1:6699"], datapath_id: 18}
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
links:
  - [a, s1]
  - [s1, b]
"""

BESIDE_OURS = """\
name: {name}
nodes:
  s1: {kind: ovs, prefix: 10.1.0.0/24, fail: standalone}
  s2: {kind: switch, prefix: 10.1.0.0/24, fail: standalone}
  c:  {kind: host, address: 10.9.0.2/30}
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
links:
  - [a, s1]
  - [s1, s2]
  - {endpoints: [s1, c], addresses: [10.9.0.1/30, 10.9.0.2/30]}
  - [s2, b]
"""

RING = """\
name: {name}
nodes:
  r1: {kind: router, ospf: {}, rsvp: {ttl: pipe, egress_label: implicit-null}, table_driver: openflow}
  r2: {kind: router, ospf: {}, rsvp: {ttl: pipe, egress_label: implicit-null}, table_driver: openflow}
  r3:
    kind: router
    ospf: {}
    rsvp: {ttl: pipe, egress_label: implicit-null}
    table_driver: {openflow: {listen: 6640}}
  r4: {kind: router, ospf: {}, rsvp: {ttl: pipe, egress_label: implicit-null}, table_driver: openflow}
  a:  {kind: host, address: 10.1.0.2/24}
  b:  {kind: host, address: 10.3.0.2/24}
links:
  - [a, r1]
  - [b, r3]
  - [r1, r2]
  - [r2, r3]
  - [r3, r4]
  - [r4, r1]
lsps:
  - {name: there, from: r1, to: r3, route: [r2, r3], carries: [10.3.0.0/24]}
  - {name: back, from: r3, to: r1, route: [r2, r1], carries: [10.1.0.0/24]}
"""


def needed() -> None:
    need("ping", "ovs-ofctl", "ovs-appctl", *openvswitch.PROGRAMS)


def reached(lab: Lab, address: str) -> bool:
    said = lab.exec("a", "ping", "-c", "3", "-i", "0.05", "-W", "1", address, check=False).stdout
    return ", 0% packet loss" in said


def entries(lab: Lab, node: str) -> dict[str, float]:
    """How long each entry of a node's switch has been there, by cookie."""
    said = lab.exec(node, "ovs-ofctl", "-O", "OpenFlow13", "dump-flows", openvswitch.BRIDGE).stdout
    found = re.findall(r"cookie=(0x[0-9a-f]+), duration=([\d.]+)s", said)
    return {cookie: float(duration) for cookie, duration in found}


def plane(lab: Lab, node: str) -> dict[str, int | str]:
    return {name: column[0] for name, column in lab.node(node).columns("openflow_switches").items()}


@contextmanager
def stream(lab: Lab, to: str, said: Path) -> Iterator[None]:
    """Pings all the time, none of which may be lost; the last one may be on its way."""
    with said.open("w") as file:
        process = lab.start("a", "ping", "-i", "0.005", "-q", to, stdout=file)
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
    sent, received = map(int, re.findall(r"(\d+) (?:packets transmitted|received)", said.read_text()))
    assert sent > 50 and sent - received <= 1, said.read_text()


@pytest.mark.parametrize("text", [SWITCH, RING])
def test_a_missing_package_is_named(
    network_file: NetworkFile, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(daemons, "find", lambda program: None)
    lab = Lab(network_file(text))
    with pytest.raises(TwinplaneError, match=r"there is no program ovs.*: apt install openvswitch-switch$"):
        lab.up()
    assert left_behind(lab.name) == []


def test_it_is_in_labs_only_and_nobody_fails_it_or_queues_in_it(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(SWITCH.replace("{name}", "net"))
    assert "it is an Open vSwitch, which runs in labs only" in refused("run", file)
    for added, said in (
        ("events: [{at: 1 s, fail: s1}]\n", "an Open vSwitch"),
        ("lsps: [{name: x, from: s1, to: a}]\n", "s1"),
    ):
        file.write_text(SWITCH.replace("{name}", "net") + added)
        assert said in refused("lab", "check", file)
    queued = "  - {endpoints: [s1, b], queue: {s1: {discipline: pfifo}}}\n"
    file.write_text(SWITCH.replace("{name}", "net").replace("  - [s1, b]\n", queued))
    assert "'s1' is of kind ovs: its ports are not ours" in refused("lab", "check", file)
    secured = SWITCH.replace("{name}", "net").replace("tcp:127.0.0.1:6699", "ssl:127.0.0.1:6699")
    file.write_text(secured)
    assert "ssl:127.0.0.1:6699" in refused("lab", "check", file)
    files = "tls: {private_key: no.pem, certificate: no.pem, ca_cert: no.pem}"
    file.write_text(secured.replace("datapath_id: 18", files))
    assert "net.yaml:3:" in (said := refused("lab", "check", file)) and "no.pem" in said


def test_open_vswitch_is_a_switch_of_a_lab(network_file: NetworkFile) -> None:
    needed()
    with Lab(network_file(SWITCH)) as lab:
        shown = lab.exec("s1", "ovs-ofctl", "-O", "OpenFlow13", "show", "br0").stdout
        assert "dpid:0000000000000012" in shown and "2(e1)" in shown
        assert not reached(lab, "10.1.0.12"), "there is no entry, and fail is secure"
        lab.exec("s1", "ovs-ofctl", "-O", "OpenFlow13", "add-flow", "br0", "actions=FLOOD")
        assert processes.wait_until(lambda: reached(lab, "10.1.0.12"), 15, 0.1)
        problems = looking.details(lab.name)["problems"]
        assert [problem.split(":")[0] for problem in problems] == ["ovs s1 has no controller at tcp"]
        # Its daemon dies alone: the database has the bridge, and the entries are gone.
        lab.kill("s1", only=openvswitch.DAEMON)
        assert any("dead" in problem for problem in looking.details(lab.name)["problems"])
        lab.restart("s1", only=openvswitch.DAEMON)
        assert entries(lab, "s1") == {} and not reached(lab, "10.1.0.12")
        lab.restart("s1")
        assert entries(lab, "s1") == {}
        with pytest.raises(TwinplaneError, match="'s1' has no process 'ovs'"):
            lab.kill("s1", only="ovs")
        left = lab.state.node("s1").processes()
    assert not any(process.alive() for process in left)


def test_open_vswitch_and_ours_are_one_network_and_it_is_managed_by_a_link(network_file: NetworkFile) -> None:
    needed()
    with Lab(network_file(BESIDE_OURS)) as lab:
        assert processes.wait_until(lambda: reached(lab, "10.1.0.12"), 15, 0.1)
        shown = lab.exec("s1", "ovs-vsctl", "list-ports", "br0").stdout.split()
        assert shown == ["e0", "e1"], "the management port is none of the bridge's"
        lab.exec("s1", "ovs-vsctl", "set-controller", "br0", "ptcp:6653")
        said = lab.exec("c", "ovs-ofctl", "-O", "OpenFlow13", "show", "tcp:10.9.0.1:6653").stdout
        assert "OFPT_FEATURES_REPLY" in said


def test_routers_with_open_vswitch_outlive_kills_and_reconnects(
    network_file: NetworkFile, tmp_path: Path
) -> None:
    needed()
    with Lab(network_file(RING)) as lab:
        assert processes.wait_until(lambda: reached(lab, "10.3.0.2"), 15, 0.1)
        labelled = lab.exec("r2", "ovs-ofctl", "-O", "OpenFlow13", "dump-flows", "br0", "mpls").stdout
        assert len(re.findall("mpls_label=", labelled)) >= 2, "the switch has a label for each way"
        assert looking.settled(lab.name, 60)["problems"] == []
        # Who is on no way of the stream dies, and comes back.
        with stream(lab, "10.3.0.2", tmp_path / "kills"):
            for only in (openvswitch.DAEMON, "router", openvswitch.DAEMON, "router"):
                lab.kill("r4", only=only)
                lab.restart("r4", only=only)
                assert processes.wait_until(lambda: plane(lab, "r4")["state"] == "up", 15, 0.05)
        # Those that are on it lose the connection to their switch: what is right stays as it is.
        nodes = ("r1", "r2", "r3")
        before = {node: (entries(lab, node), plane(lab, node)) for node in nodes}
        with stream(lab, "10.3.0.2", tmp_path / "reconnects"):
            for node in nodes:
                lab.exec(node, "ovs-appctl", "bridge/reconnect", openvswitch.BRIDGE)

                def is_back(node: str = node) -> bool:
                    now = plane(lab, node)
                    return (
                        now["connections"] == int(before[node][1]["connections"]) + 1 and now["state"] == "up"
                    )

                assert processes.wait_until(is_back, 15, 0.05)
        for node in nodes:
            (had, was), (has, now) = before[node], (entries(lab, node), plane(lab, node))
            assert all(has[cookie] > had[cookie] for cookie in had.keys() & has.keys())
            assert now["stale"] == was["stale"] and now["errors"] == 0
        # Its own switch dies: packets are lost until it is back, and the LSPs outlive that.
        lab.kill("r2", only=openvswitch.DAEMON)
        assert not reached(lab, "10.3.0.2")
        lab.restart("r2", only=openvswitch.DAEMON)
        assert processes.wait_until(lambda: reached(lab, "10.3.0.2"), 15, 0.1)
        assert "did you mean 'ovs-vswitchd'" in refused(
            "lab", "kill", "r2", "--lab", lab.name, "--only", "ovs-vswitch"
        )
