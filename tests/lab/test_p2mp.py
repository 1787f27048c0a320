"""Hosts of the kernel join groups by IGMP and MLD, and get streams that a point-to-multipoint LSP brings."""

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
  root: {kind: router, igmp: true, mld: true}
  p: {kind: router}
  pe1: {kind: router, igmp: true, mld: true}
  pe2: {kind: router, igmp: true, mld: true}
links:
  - [sender, root, {ipv6: ["2001:db8:1::2/64", "2001:db8:1::1/64"]}]
  - [root, p]
  - [p, pe1]
  - [p, pe2]
  - [pe1, one, {ipv6: ["2001:db8:2::1/64", "2001:db8:2::2/64"]}]
  - [pe2, two, {ipv6: ["2001:db8:3::1/64", "2001:db8:3::2/64"]}]
p2mp:
  - {name: tree, root: root, leaves: [pe1, pe2], group: [239.1.1.1, "ff3e::1"]}
"""

RECEIVER = """
import socket, sys
group = sys.argv[1]
port = socket.if_nametoindex("e0")
if ":" in group:
    udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    udp.bind((group, 5000))
    mine = socket.inet_pton(socket.AF_INET6, group) + port.to_bytes(4, sys.byteorder)
    udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, mine)
else:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((group, 5000))
    mine = socket.inet_aton(group) + bytes(4) + port.to_bytes(4, sys.byteorder)
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
four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
four.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.1.0.2"))
four.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 9)
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("e0"))
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 9)
def send(data):
    four.sendto(data, ("239.1.1.1", 5000))
    six.sendto(data, ("ff3e::1", 5000))
for number in range(500):
    send(b"%d" % number)
    time.sleep(0.002)
time.sleep(0.2)
send(b"end")
"""


def test_hosts_of_the_kernel_get_streams_of_both_families(network_file: NetworkFile) -> None:
    with Lab(network_file(NETWORK)) as lab:
        receivers = [
            lab.start(host, sys.executable, "-c", RECEIVER, group, stdout=subprocess.PIPE, text=True)
            for host in ("one", "two")
            for group in ("239.1.1.1", "ff3e::1")
        ]
        for receiver in receivers:
            assert receiver.stdout is not None and receiver.stdout.readline() == "joined\n"

        def is_ready() -> bool:
            up = lab.node("root").table("s2ls")["state"].to_list() == ["up", "up"]
            tables = [
                lab.node(leaf).table(table) for leaf in ("pe1", "pe2") for table in ("groups", "mld_groups")
            ]
            return up and all(len(table) for table in tables)

        assert processes.wait_until(is_ready, 30.0, 0.05)
        lab.exec("sender", sys.executable, "-c", SENDER, timeout=60)
        for receiver in receivers:
            assert receiver.stdout is not None and receiver.stdout.readline() == "500 500 True\n"
        for router in ("root", "p", "pe1", "pe2"):
            assert lab.node(router).table("rsvp_faults").is_empty()
