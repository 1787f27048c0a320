"""TCP of a router beside the kernel's: a process in a host's namespace speaks `greet` to a router."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from twinplane.lab import Lab, processes

from .conftest import NetworkFile
from .test_captures import complaints, tshark

NETWORK = """\
name: {name}
nodes:
  left: {kind: host, address: 10.1.0.2/24}
  r1:   {kind: router, greet: {interval: 200 ms}}
  r2:   {kind: router, greet: {interval: 200 ms}}
links:
  - [left, r1]
  - [r1, r2]
"""

SPEAKER = """
import socket, struct, sys, threading, time
PORT, GROUP = 49407, "239.255.71.1"
router_id, label = socket.inet_aton(sys.argv[1]), int(sys.argv[2])

def message(kind, label=0xffffffff):
    return struct.pack(">BBH4sI", 1, kind, 2000, router_id, label)

def whole(session):
    data = b""
    while len(data) < 12:
        part = session.recv(12 - len(data))
        if not part:
            raise SystemExit("the router closed")
        data += part
    return struct.unpack(">BBH4sI", data)

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
udp.bind(("", PORT))
own = socket.inet_aton("10.1.0.2")
udp.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + own)
udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
listener = socket.create_server(("10.1.0.2", PORT))
listener.settimeout(20)

def hello():
    while True:
        udp.sendto(message(1), (GROUP, PORT))
        time.sleep(0.3)

data, (address, _) = udp.recvfrom(100)
other = struct.unpack(">BBH4sI", data)[3]
threading.Thread(target=hello, daemon=True).start()
if router_id < other:
    # The one with the smaller router id connects, as soon as it was heard.
    time.sleep(0.5)
    session = socket.create_connection((address, PORT), timeout=20)
else:
    session, _ = listener.accept()
session.settimeout(20)
session.sendall(message(3, label))
_, kind, _, who, given = whole(session)
print(kind, who == other, given, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("router_id", "begins"), [("1.0.0.1", "kernel"), ("250.0.0.1", "router")])
def test_greet_talks_to_a_socket_of_the_kernel(
    network_file: NetworkFile, tmp_path: Path, router_id: str, begins: str
) -> None:
    """Hello over UDP to a group, then a TCP session, begun by either end, over which both give a label."""
    with Lab(network_file(NETWORK)) as lab:
        link = lab.plan.links[0]
        capture = lab.capture(":".join((link[0].node, link[0].name)), path=tmp_path / "greet.pcapng")
        speaker = lab.start(
            "left", sys.executable, "-c", SPEAKER, router_id, "777", stdout=subprocess.PIPE, text=True
        )
        try:
            assert speaker.stdout is not None
            said = speaker.stdout.readline().split()

            def row() -> dict[str, object]:
                found = lab.node("r1").table("greet_neighbors").to_dicts()
                return next((row for row in found if row["router_id"] == router_id), {})

            assert processes.wait_until(lambda: row().get("given") == 777, 10, 0.05), row()
            assert row()["state"] == "labelled"
            assert said == ["3", "True", str(row()["label"])], said
            sessions = lab.node("r1").table("tcp").to_dicts()
            to_kernel = [session for session in sessions if "10.1.0.2" in str(session)]
            assert len(to_kernel) == 1, sessions
            # The routers speak it among themselves all the while.
            states = lab.node("r2").table("greet_neighbors")["state"].to_list()
            assert states == ["labelled"], states
        finally:
            speaker.kill()
            speaker.wait()
        # The kernel resets what the process leaves, and nobody says Hello any more.
        gone = lambda: not row()  # noqa: E731
        assert processes.wait_until(gone, 10, 0.05), row()
        assert capture.stop() > 10
    path = tmp_path / "greet.pcapng"
    assert complaints(path) == []
    opening = tshark(path, "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0", "-T", "fields", "-e", "ip.src")
    assert opening and (opening[0] == "10.1.0.2") == (begins == "kernel"), opening
