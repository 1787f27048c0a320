"""Hosts of the kernel join a group by IGMP, and get a stream that a point-to-multipoint LSP brings."""

from __future__ import annotations

import subprocess
import sys

from twinplane.lab import Lab, processes

from .conftest import NetworkFile

NETWORK = """\
name: {name}
nodes:
  sender: {kind: host, address: 10.1.0.2/24}
  one: {kind: host, address: 10.2.0.2/24}
  two: {kind: host, address: 10.3.0.2/24}
  root: {kind: router, igmp: true}
  p: {kind: router}
  pe1: {kind: router, igmp: true}
  pe2: {kind: router, igmp: true}
links:
  - [sender, root]
  - [root, p]
  - [p, pe1]
  - [p, pe2]
  - [pe1, one]
  - [pe2, two]
p2mp:
  - {name: tree, root: root, leaves: [pe1, pe2], group: 239.1.1.1}
"""

RECEIVER = """
import socket, sys
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("239.1.1.1", 5000))
mine = socket.inet_aton("239.1.1.1") + socket.inet_aton(sys.argv[1])
udp.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, mine)
print("joined", flush=True)
got = []
while not got or got[-1] != b"end":
    got.append(udp.recv(100))
numbers = [int(data) for data in got[:-1]]
print(len(numbers), len(set(numbers)), numbers == sorted(numbers), flush=True)
"""

SENDER = """
import socket, time
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.1.0.2"))
udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 9)
for number in range(500):
    udp.sendto(b"%d" % number, ("239.1.1.1", 5000))
    time.sleep(0.002)
time.sleep(0.2)
udp.sendto(b"end", ("239.1.1.1", 5000))
"""


def test_hosts_of_the_kernel_get_a_stream(network_file: NetworkFile) -> None:
    with Lab(network_file(NETWORK)) as lab:
        receivers = [
            lab.start(host, sys.executable, "-c", RECEIVER, address, stdout=subprocess.PIPE, text=True)
            for host, address in (("one", "10.2.0.2"), ("two", "10.3.0.2"))
        ]
        for receiver in receivers:
            assert receiver.stdout is not None and receiver.stdout.readline() == "joined\n"

        def is_ready() -> bool:
            up = lab.node("root").table("s2ls")["state"].to_list() == ["up", "up"]
            return up and all(len(lab.node(leaf).table("groups")) for leaf in ("pe1", "pe2"))

        assert processes.wait_until(is_ready, 30.0, 0.05)
        lab.exec("sender", sys.executable, "-c", SENDER, timeout=60)
        for receiver in receivers:
            assert receiver.stdout is not None and receiver.stdout.readline() == "500 500 True\n"
        for router in ("root", "p", "pe1", "pe2"):
            assert lab.node(router).table("rsvp_faults").is_empty()
