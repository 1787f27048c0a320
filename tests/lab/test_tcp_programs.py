"""Programs of a host in the measuring process talk over TCP to sockets of the kernel, and these to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from twinplane.errors import TwinplaneError
from twinplane.lab import Lab
from twinplane.network import Network

from .conftest import NetworkFile

NETWORK = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  r1:    {kind: router}
  r2:    {kind: router}
links:
  - [left, r1, {mtu: 1500}]
  - [r1, r2, {rate: 10 Mbit/s, delay: 5 ms, mtu: 1500}]
  - [r2, right, {mtu: 1500}]
"""
SIZE = 300_000

BOTH_WAYS = """
import hashlib, json, socket, sys, threading
port, size = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(("", port))
print("ready", flush=True)
connection, _ = listener.accept()
pattern = bytes(number % 251 for number in range(size))
threading.Thread(target=lambda: (connection.sendall(pattern), connection.shutdown(socket.SHUT_WR))).start()
read = b""
while data := connection.recv(1 << 16):
    read += data
print(json.dumps({"bytes": len(read), "same": read == pattern}), flush=True)
"""
"""Listens, sends numbered bytes and reads as many, which should be numbered in the same way."""

ASKING = """
import json, socket, sys
address, port, count, request, response = sys.argv[1], *map(int, sys.argv[2:])
connection = socket.create_connection((address, port), timeout=10)
answers = []
for number in range(count):
    connection.sendall(bytes((number * request + place) % 251 for place in range(request)))
    answer = b""
    while len(answer) < response:
        answer += connection.recv(response - len(answer))
    answers.append(answer)
pattern = bytes(number % 251 for number in range(count * response))
print(json.dumps({"answers": len(answers), "same": b"".join(answers) == pattern}), flush=True)
"""
"""Connects, and sends one request after the other, each when the last answer has come."""


def run_until_said(network: Network, program: subprocess.Popen[str], limit_s: float) -> dict[str, object]:
    """Let the network run until a program in the lab has ended."""
    end = network.now + limit_s
    while program.poll() is None and network.now < end:
        network.run(for_="50 ms")
    assert program.poll() is not None, f"it has not ended within {limit_s} s"
    said, _ = program.communicate(timeout=10)
    found: dict[str, object] = json.loads(said.splitlines()[-1])
    return found


def test_programs_talk_to_the_kernel_as_client_and_as_server(network_file: NetworkFile) -> None:
    with Lab(network_file(NETWORK), measured=["left"]) as lab:
        network = lab.network()
        flow = network.tcp(
            "left", "right", bytes=SIZE, duplex="full", port=7000, buffer="32 kB", start="500 ms"
        )
        network.tcp("right", "left", application="request-response", request=100, response=3000, port=7001)
        network.run(for_="10 ms")
        program = lab.start(
            "right", sys.executable, "-c", BOTH_WAYS, "7000", str(SIZE), stdout=subprocess.PIPE
        )
        assert program.stdout is not None and program.stdout.readline() == "ready\n"
        # Ours begins, and both send at the same time.
        assert run_until_said(network, program, 20) == {"bytes": SIZE, "same": True}
        network.run(for_="200 ms")
        row = flow.stats().row(0, named=True)
        assert row["state"] == "done" and row["in_flight_max"] <= 32_001
        assert row["data_segments"] >= SIZE / 1460 and row["rtt_mean_s"] > 0.01
        # What only the other end knows is not here.
        assert (row["bytes"], row["completion_s"]) == (None, None)
        assert flow.series()["acknowledged"].sum() == SIZE + 2, "SYN and FIN are acknowledged, too"
        # The kernel begins, and ours answers.
        words = (sys.executable, "-c", ASKING, "10.1.0.2", "7001", "30", "100", "3000")
        asking = lab.start("right", *words, stdout=subprocess.PIPE)
        assert run_until_said(network, asking, 20) == {"answers": 30, "same": True}
        network.close()


def test_what_is_measured_is_a_host_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(NETWORK.replace("{name}", "x"))
    with pytest.raises(
        TwinplaneError, match=r"measured: 'lft': no host has that name \(did you mean 'left'\?\)"
    ):
        Lab(path, measured=["lft"])
    with pytest.raises(TwinplaneError, match="measured: 'r1': no host has that name"):
        Lab(path, measured=["r1"])
    with pytest.raises(TwinplaneError, match="lab 'x' is not up"):
        Lab(path, measured=["left"]).network()
    with pytest.raises(TwinplaneError, match="lab 'y': it has no file to read its network from"):
        net = Network()
        net.link(net.router("a"), net.router("b"))
        net.lab("y").network()
