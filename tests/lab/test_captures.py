"""Captures of links: what Wireshark's dissectors make of them, and what they were told to hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.needs import need
from twinplane.errors import TwinplaneError
from twinplane.lab import Lab, processes
from twinplane.lab.capturing import find_link

from .conftest import NetworkFile
from .support import TWO_SITES, command, refused

STRICT = (
    *("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"),
)


SINK = "import socket, time; s = socket.socket(2, 2); s.bind(('', 9)); print(1, flush=True); time.sleep(99)"
"""Without it the host's kernel would quote what another kernel had left unfinished."""

SEND = """
import socket
for ttl in (64, 3, 2, 1):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
    for size in (1, 100, 1400):
        s.sendto(bytes(size), ("10.2.0.2", 9))
"""


def tshark(path: Path, *options: str) -> list[str]:
    need("tshark")
    words = ["tshark", "-n", "-r", str(path), *STRICT, *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


END_OF_LIB = "ldp.msg.tlv.status.data == 0x2f"
"""All labels have been told (RFC 5919); tshark 4.0 can't read the typed wildcard in it (RFC 5918)."""


def complaints(path: Path) -> list[str]:
    """Malformed packets, experts' errors, wrong checksums."""
    bad = "_ws.malformed || _ws.expert.severity == error || " + " || ".join(
        f"{layer}.checksum.status == 0" for layer in ("ip", "icmp", "icmpv6", "tcp", "udp")
    )
    shown = [word for name in ("frame.number", "_ws.col.Info", "_ws.expert.message") for word in ("-e", name)]
    return tshark(path, "-Y", f"({bad}) && !({END_OF_LIB})", "-T", "fields", *shown)


def test_every_capture_is_clean(network_file: NetworkFile, tmp_path: Path) -> None:
    """All links of a lab while LSPs are signalled, pinged through, moved and torn down."""
    quick = TWO_SITES.replace("{kind: router}", "{kind: router, rsvp: {refresh: 300 ms, hello: 100 ms}}")
    with Lab(network_file(quick)) as lab:
        captures = {
            link: lab.capture(link, path=tmp_path / f"{link}.pcapng")
            for link in ("left-pe1", "pe1-p", "p-pe2", "pe2-right")
        }
        lab.restart("pe1")
        lab.exec("left", "ping", "-c", "5", "-i", "0.1", "10.2.0.2", check=False)
        lab.exec("left", "ping", "-c", "2", "-i", "0.1", "-t", "2", "10.2.0.2", check=False)
        sink = lab.start("right", sys.executable, "-c", SINK, stdout=subprocess.PIPE)
        assert sink.stdout is not None and sink.stdout.readline()
        # However busy the machine is, the datagrams go by the LSP.
        assert processes.wait_until(lambda: lab.node("pe1").status()["tunnels"]["up"] == 1, 30, 0.1)
        lab.exec("left", sys.executable, "-c", SEND)
        lab.node("pe1").command("east", "reoptimise")
        lab.exec("left", "ping", "-c", "3", "-i", "0.2", "10.2.0.2", check=False)
        lab.node("pe2").command("west", "tear")
        counts = {link: capture.stop() for link, capture in captures.items()}
    assert all(count > 5 for count in counts.values()), counts
    for link in captures:
        path = tmp_path / f"{link}.pcapng"
        assert complaints(path) == []
        apart_s = [float(line) for line in tshark(path, "-T", "fields", "-e", "frame.time_delta")]
        assert len(apart_s) == counts[link]
        assert min(apart_s) >= 0  # both ends in the order of their times
    fields = ("frame.interface_name", "frame.protocols", "rsvp.msg", "icmp.type", "udp.length")
    shown = [word for name in fields for word in ("-e", name)]
    rows = [line.split("\t") for line in tshark(tmp_path / "pe1-p.pcapng", "-T", "fields", *shown)]
    packets = [(set(layers.split(":")), *rest) for _, layers, *rest in rows]
    messages = [message for layers, message, _, _ in packets if "rsvp" in layers]
    assert {"1", "2"} <= set(messages) and len(messages) > 10  # Path and Resv
    labelled = [rest for layers, *rest in packets if "mpls" in layers]
    assert any("8" in types.split(",") for _, types, _ in labelled)
    assert any("1408" in lengths.split(",") for _, _, lengths in labelled)
    # Quoted by routers, with whole checksums.
    assert any("11" in types.split(",") and "udp" in layers for layers, _, types, _ in packets)
    assert {name for name, *_ in rows} == {"pe1:e1", "p:e0"}


def test_limits_and_ends(network_file: NetworkFile, tmp_path: Path) -> None:
    with Lab(network_file()) as lab:
        path = tmp_path / "x.pcapng"
        capture = lab.capture("left:pe1", path=path, at="pe1", packets=3)
        lab.exec("left", "ping", "-c", "5", "-i", "0.05", "-W", "1", "10.1.0.1", check=False)
        assert capture.wait(10) == 3
        assert set(tshark(path, "-T", "fields", "-e", "frame.interface_name")) == {"pe1:e0"}
        with lab.capture("pe1:e0", path=path, at="left") as capture:
            lab.exec("left", "ping", "-c", "2", "-i", "0.05", "-W", "1", "10.1.0.1", check=False)
            assert capture.index == 0
        done = command(
            "lab", "capture", "left-pe1", "--lab", lab.name, "--seconds", "0.1", "-o", path, "--json"
        )
        assert done.returncode == 0 and json.loads(done.stdout)["path"] == str(path)
        assert "(did you mean 'left:pe1'?)" in refused("lab", "capture", "lft:pe1", "--lab", lab.name)
        assert "'p' is not at one of its ends" in refused(
            "lab", "capture", "left:pe1", "--at", "p", "--lab", lab.name
        )
        folder = tmp_path / "no" / "x.pcapng"
        assert "there is no folder" in refused("lab", "capture", "left:pe1", "-o", folder, "--lab", lab.name)


def test_links_are_found_by_their_ends(network_file: NetworkFile) -> None:
    nodes = "nodes:\n  a: {kind: router}\n  b-c: {kind: router}\n"
    text = "name: {name}\n" + nodes + "links:\n  - ['a:x', 'b-c:x']\n  - ['a:y', 'b-c:y']\n"
    with Lab(network_file(text)) as lab:
        assert find_link(lab.state, "a:y") == 1 and find_link(lab.state, "b-c:x") == 0
        with pytest.raises(TwinplaneError, match=r"there are 2: name one of its interfaces \(a:x, a:y\)"):
            find_link(lab.state, "a-b-c")
        with pytest.raises(TwinplaneError, match="there is no link 'a:z'"):
            find_link(lab.state, "a:z")
