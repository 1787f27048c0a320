"""Real hosts over LSPs: ping, traceroute with labels, files, iperf3; LSPs that move, routers that die."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, looking, processes

from .conftest import NetworkFile
from .support import TWO_SITES, left_behind

FILE_BYTES = int(os.environ.get("TWINPLANE_LAB_FILE_MB", "20")) * 1_000_000

QUICK = TWO_SITES.replace("{kind: router}", "{kind: router, rsvp: {refresh: 1 s, hello: 200 ms}}")
"""Routers that notice within a second that a neighbour was started again."""


def ping(lab: Lab, node: str, to: str, count: int = 3) -> str:
    need("ping")
    return lab.exec(node, "ping", "-c", str(count), "-i", "0.05", "-W", "2", to).stdout


def test_ping_between_hosts(network_file: NetworkFile) -> None:
    with Lab(network_file()) as lab:
        said = ping(lab, "left", "10.2.0.2", 20)
        assert "20 received, 0% packet loss" in said.replace("packets ", "").replace("transmitted, ", "")
        assert "ttl=61" in said  # three routers
        assert lab.node("p").table("ilm").height == 2


def test_ping_of_routers(network_file: NetworkFile) -> None:
    """Every address of every router answers, from beside it and over the LSP."""
    with Lab(network_file()) as lab:
        own = [end.address.partition("/")[0] for end in lab.plan.members["pe1"].interfaces]
        for address in [*own, *(lab.node(name).address for name in ("pe1", "p", "pe2"))]:
            assert " 0% packet loss" in ping(lab, "left", address, 2), address
        answer = lab.node("pe1").ask("ping", {"to": "10.1.0.2", "timeout_s": 2.0}, wait_s=2.0)
        assert answer["from"] == "10.1.0.2"


def test_traceroute_shows_the_label_stack(network_file: NetworkFile) -> None:
    need("traceroute")
    with Lab(network_file()) as lab:
        said = lab.exec("left", "traceroute", "-n", "-e", "-q", "1", "-w", "2", "10.2.0.2").stdout
        hops = [line.split() for line in said.splitlines()[1:]]
        assert [hop[0] for hop in hops] == ["1", "2", "3", "4"], said
        assert hops[0][1] == "10.1.0.1" and hops[-1][1] == "10.2.0.2"
        stacks = [re.findall(r"<MPLS:L=(\d+),E=0,S=1,T=1>", line) for line in said.splitlines()[1:]]
        east = lab.node("pe1").columns("lsps")
        place = east["name"].index("east")
        assert stacks[0] == [] and stacks[3] == [], said
        assert stacks[1] == [str(east["out_label"][place])], said
        assert len(stacks[2]) == 1, said


@contextmanager
def web_server(lab: Lab, node: str, folder: Path) -> Iterator[None]:
    child = lab.start(
        node,
        *(sys.executable, "-m", "http.server", "80", "--directory", str(folder)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        listening = lambda: ":0050 " in lab.exec(node, "cat", "/proc/net/tcp").stdout  # noqa: E731
        assert processes.wait_until(listening, 20, 0.05)
        yield
    finally:
        child.kill()
        child.wait()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    folder.mkdir()
    path = folder / "file"
    path.write_bytes(hashlib.shake_128(b"twinplane").digest(1 << 20) * (FILE_BYTES >> 20))
    return path


def digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def test_a_file_arrives_whole(network_file: NetworkFile, file: Path, tmp_path: Path) -> None:
    need("curl")
    with Lab(network_file()) as lab, web_server(lab, "right", file.parent):
        got = tmp_path / "got"
        lab.exec("left", "curl", "-sS", "-o", str(got), "http://10.2.0.2/file", timeout=120)
        assert digest(got) == digest(file)
        lsps = lab.node("p").columns("counters")
        assert sum(lsps["rx_bytes"]) > FILE_BYTES


def transfer(lab: Lab, got: Path, rate: int) -> subprocess.Popen[str]:
    """A download that takes its time."""
    words = ["curl", "-sS", "--limit-rate", str(rate), "-o", str(got), "http://10.2.0.2/file"]
    child = lab.start("left", *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert processes.wait_until(lambda: got.exists() and got.stat().st_size > 0, 10)
    return child


def finished(child: subprocess.Popen[str], seconds: float) -> None:
    said, _ = child.communicate(timeout=seconds)
    assert child.returncode == 0, said


def test_lsps_are_reoptimised_in_mid_transfer(network_file: NetworkFile, file: Path, tmp_path: Path) -> None:
    """Make before break: nothing is lost, so that TCP sends nothing again."""
    need("curl", "ping")
    with Lab(network_file()) as lab, web_server(lab, "right", file.parent):
        got = tmp_path / "got"
        child = transfer(lab, got, FILE_BYTES // 4)
        watch = lab.start(
            "left", "ping", "-c", "300", "-i", "0.01", "-W", "2", "10.2.0.2", stdout=subprocess.PIPE
        )
        for _ in range(5):
            time.sleep(0.5)
            lab.node("pe1").command("east", "reoptimise")
            lab.node("pe2").command("west", "reoptimise")
        finished(child, 60)
        assert digest(got) == digest(file)
        said, _ = watch.communicate(timeout=30)
        assert " 300 received" in said, said
        active = lab.node("pe1").columns("tunnels")["active"]
        assert active[0] >= 6  # LSP ids count up


def test_a_transit_router_dies_in_mid_transfer(network_file: NetworkFile, file: Path, tmp_path: Path) -> None:
    need("curl")
    with Lab(network_file(QUICK)) as lab, web_server(lab, "right", file.parent):
        got = tmp_path / "got"
        child = transfer(lab, got, FILE_BYTES // 4)
        time.sleep(0.5)
        lab.kill("p")
        time.sleep(1.0)
        lab.restart("p")
        finished(child, 90)
        assert digest(got) == digest(file)
        assert lab.state.node("p").incarnation == 1


def iperf(lab: Lab, *options: str) -> dict[str, object]:
    server = lab.start("right", "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
    try:
        listening = lambda: ":1451 " in lab.exec("right", "sh", "-c", "cat /proc/net/tcp*").stdout  # noqa: E731
        assert processes.wait_until(listening, 10, 0.02)
        said = lab.exec("left", "iperf3", "-J", "-c", "10.2.0.2", "-t", "1", *options, timeout=60).stdout
    finally:
        server.kill()
        server.wait()
    found: dict[str, object] = json.loads(said)["end"]
    return found


def test_iperf3_tcp(network_file: NetworkFile) -> None:
    need("iperf3")
    with Lab(network_file()) as lab:
        for options in ([], ["-R"]):
            found = iperf(lab, *options)
            assert found["sum_received"]["bytes"] > 500_000  # type: ignore[index]


def test_iperf3_udp(network_file: NetworkFile) -> None:
    need("iperf3")
    with Lab(network_file()) as lab:
        # Slow enough that the sockets on the way hold all of it, also if the machine stalls for a while.
        found = iperf(lab, "-u", "-b", "1M", "-l", "1200")["sum"]
        assert found["packets"] > 50 and found["lost_packets"] == 0  # type: ignore[index]


def test_two_labs_with_equal_addresses_do_not_meet(network_file: NetworkFile) -> None:
    with Lab(network_file()) as one, Lab(network_file()) as other:
        ping(one, "left", "10.2.0.2")
        ping(other, "left", "10.2.0.2")
        one.down()
        assert left_behind(one.name) == []
        ping(other, "right", "10.1.0.2")


def test_filters_choose_an_lsp(network_file: NetworkFile) -> None:
    """UDP to one port goes by another LSP than what the prefix says."""
    voice = "{name: voice, from: pe1, to: pe2, route: [p, pe2], filters: [{protocol: udp, dst_ports: 5004}]}"
    text = f"{TWO_SITES}  - {voice}\n"
    script = (
        "import socket, sys; s = socket.socket(2, 2);"
        "[s.sendto(b'x' * 100, ('10.2.0.2', int(sys.argv[1]))) for _ in range(50)]"
    )
    with Lab(network_file(text)) as lab:

        def counted() -> list[int]:
            rows = looking.rows(lab.node("pe1").columns("ftn"))
            voice = [row["packets"] for row in rows if row["filter"] is not None]
            east = [row["packets"] for row in rows if row["prefix"] == "10.2.0.0/24"]
            return voice + east

        assert counted() == [0, 0]
        lab.exec("left", sys.executable, "-c", script, "5004")
        assert processes.wait_until(lambda: counted() == [50, 0], 5), counted()
        lab.exec("left", sys.executable, "-c", script, "5005")
        assert processes.wait_until(lambda: counted() == [50, 50], 5), counted()
