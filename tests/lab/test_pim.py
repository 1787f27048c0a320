"""PIM between routers of ours and FRR's pimd: each is upstream and downstream of the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.needs import need
from twinplane.lab import Lab, processes

from .conftest import NetworkFile
from .end_state import vtysh
from .support import left_behind
from .test_captures import complaints, tshark

GROUP, SOURCE = "232.1.1.1", "10.1.0.2"
OURS = "kind: router, igmp: true, pim: {hello_interval: 1 s}"

BESIDE_FRR = f"""\
name: {{name}}
nodes:
  sender: {{kind: host, address: {SOURCE}/24}}
  near: {{kind: host, address: 10.3.0.2/24}}
  far: {{kind: host, address: 10.2.0.2/24}}
  a: {{{OURS}}}
  gw: {{kind: frr, config: gw.conf}}
  b: {{{OURS}, routes: [{{prefix: 10.1.0.0/24, via: gw}}]}}
links:
  - [sender, a]
  - [a, gw, {{addresses: [10.9.0.1/24, 10.9.0.2/24]}}]
  - [gw, b, {{addresses: [10.8.0.2/24, 10.8.0.1/24]}}]
  - [b, far]
  - [gw, near]
"""
"""A sender at a; a host that wants its packets behind b, and one at FRR itself."""

PIM = " ip pim\n ip pim hello 1 4\n"
GW = (
    f"interface e0\n ip address 10.9.0.2/24\n{PIM}exit\n"
    f"interface e1\n ip address 10.8.0.2/24\n{PIM}exit\n"
    f"interface e2\n ip address 10.3.0.1/24\n ip igmp\n{PIM}exit\n"
    "ip route 10.1.0.0/24 10.9.0.1\n"
)

COUNT = 200
# Without checksums of UDP (SO_NO_CHECK): the kernel leaves them to devices, which not every router has.
SEND = f"""
import socket, time
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.setsockopt(socket.SOL_SOCKET, 11, 1)
one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 16)
one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("{SOURCE}"))
for number in range({COUNT}):
    one.sendto(number.to_bytes(4, "big"), ("{GROUP}", 40123))
    time.sleep(0.003)
"""
# IP_ADD_SOURCE_MEMBERSHIP has no name in Python's socket module before 3.12.
TAKE = f"""
import socket, sys
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(("{GROUP}", 40123))
words = ("{GROUP}", sys.argv[1], "{SOURCE}")
one.setsockopt(socket.IPPROTO_IP, 39, b"".join(socket.inet_aton(word) for word in words))
one.settimeout(20)
print("joined", flush=True)
numbers = []
try:
    while not numbers or numbers[-1] < {COUNT - 1}:
        numbers.append(int.from_bytes(one.recv(100), "big"))
except TimeoutError:
    pass
print(len(numbers), len(set(numbers)), flush=True)
"""


def test_frr_is_joined_and_joins(network_file: NetworkFile, tmp_path: Path) -> None:
    """Hosts of the kernel join, every packet comes to each of them once, and then they leave."""
    need("vtysh", "tshark")
    file = network_file(BESIDE_FRR)
    (file.parent / "gw.conf").write_text(GW)
    with Lab(file) as lab:
        captures = {one: lab.capture(one, path=tmp_path / f"{one}.pcapng") for one in ("a-gw", "gw-b")}
        takers = {
            name: lab.start(name, sys.executable, "-c", TAKE, address, stdout=subprocess.PIPE, text=True)
            for name, address in (("near", "10.3.0.2"), ("far", "10.2.0.2"))
        }

        def trees(node: str) -> list[tuple[str, str | None, int]]:
            rows = lab.node(node).table("pim_trees").to_dicts()
            return [(row["state"], row["upstream"], row["outgoing"]) for row in rows]

        def routes() -> set[str]:
            shown = vtysh(lab, "gw", "show ip mroute json").get(GROUP, {}).get(SOURCE, {})
            return {shown.get("iif"), *shown.get("oil", {})}

        ready = lambda: (  # noqa: E731
            trees("a") == [("joined", None, 1)]
            and trees("b") == [("joined", "10.8.0.2", 1)]
            and routes() == {"e0", "e1", "e2"}
        )
        assert processes.wait_until(ready, 30, 0.1), (trees("a"), trees("b"), routes())
        # FRR knows us as we know FRR.
        shown = vtysh(lab, "gw", "show ip pim neighbor json")
        assert list(shown["e0"]) == ["10.9.0.1"] and list(shown["e1"]) == ["10.8.0.1"], shown
        assert lab.node("a").table("pim_neighbors")["neighbor"].to_list() == ["10.9.0.2"]
        lab.exec("sender", sys.executable, "-c", SEND)
        for name, taker in takers.items():
            said = taker.communicate(timeout=30)[0].split()
            assert said == ["joined", str(COUNT), str(COUNT)], (name, said)
        # The hosts have left with their programs: b prunes FRR, which sends nothing there any more. FRR
        # itself may stay on the tree for minutes, as long as packets could still come.
        gone = lambda: trees("b") == [] and "e1" not in routes()  # noqa: E731
        assert processes.wait_until(gone, 15, 0.1), (trees("b"), routes())
        assert lab.node("a").table("pim_discards").is_empty()
        for capture in captures.values():
            capture.stop()
    assert left_behind(lab.name) == []
    for link in captures:
        path = tmp_path / f"{link}.pcapng"
        assert complaints(path) == []
        by = [
            line.split("\t")
            for line in tshark(path, "-Y", "pim", "-T", "fields", "-e", "ip.src", "-e", "pim.type")
        ]
        assert {src for src, _ in by} == (
            {"10.9.0.1", "10.9.0.2"} if link == "a-gw" else {"10.8.0.1", "10.8.0.2"}
        )
        # Whoever is downstream joins and prunes.
        below = "10.9.0.2" if link == "a-gw" else "10.8.0.1"
        assert {src for src, kind in by if kind == "3"} == {below}
