"""A router whose forwarding plane is Open vSwitch: hosts talk through it, also while the router is gone."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import twinplane as tp
from support.needs import need
from twinplane import core
from twinplane.experiments.openflow import bench, ovs
from twinplane.lab import netns, processes
from twinplane.lab.programs import router_program

HOSTS = {"a": ("td0", "10.1.0.2/24", "10.1.0.1"), "b": ("td1", "10.2.0.2/24", "10.2.0.1")}


def config() -> str:
    net = tp.Network()
    router = net.router("r", table_driver={"openflow": {"listen": 6653}})
    for name, (_, address, _) in HOSTS.items():
        net.link(net.host(name, address), router)
    described = core.for_processes(net.described())
    return json.dumps({"description": described, "placement": {"local": ["r"]}})


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextmanager
def hosts() -> Iterator[dict[str, str]]:
    """Each host has the tester's end of a veth in a namespace of its own."""
    tester = bench.namespaces()[1]
    with ExitStack() as stack:
        found = {name: f"{tester}{name}" for name in HOSTS}
        for name, (interface, address, gateway) in HOSTS.items():
            run("ip", "netns", "add", found[name])
            stack.callback(run, "ip", "netns", "del", found[name])
            run("ip", "-n", tester, "link", "set", interface, "netns", found[name])
            run("ip", "-n", found[name], "addr", "add", address, "dev", interface)
            run("ip", "-n", found[name], "link", "set", interface, "up")
            run("ip", "-n", found[name], "route", "add", "default", "via", gateway)
        yield found


def router(file: Path) -> subprocess.Popen[bytes]:
    """The process of the router, in the namespace that the switch connects to."""
    words = [router_program(), "--node", "r", "--config", str(file)]
    with netns.inside(bench.namespaces()[1]):
        return subprocess.Popen(words, stdout=subprocess.DEVNULL)


def lost(namespace: str, count: int) -> str:
    words = ("ping", "-c", str(count), "-i", "0.05", "-W", "1", "10.2.0.2")
    said = subprocess.run(["ip", "netns", "exec", namespace, *words], capture_output=True, text=True).stdout
    return next((part for part in said.split(", ") if "packet loss" in part), said).split()[0]


def test_hosts_talk_through_open_vswitch_and_go_on_without_the_router(tmp_path: Path) -> None:
    need("root", "ping", *ovs.PROGRAMS, *bench.PROGRAMS)
    file = tmp_path / "r.json"
    file.write_text(config())
    with ovs.open_vswitch(["tcp:10.9.0.2:6653"], "10.9.0.1/30", "OpenFlow13") as made, hosts() as names:
        made.do("ip", "-n", bench.namespaces()[1], "addr", "add", "10.9.0.2/30", "dev", "tc0")
        process = router(file)
        try:
            assert processes.wait_until(lambda: lost(names["a"], 1) == "0%", 20, 0.2)
            assert lost(names["a"], 10) == "0%"
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert lost(names["a"], 10) == "0%", "entries go on forwarding"
            process = router(file)
            assert lost(names["a"], 40) == "0%", "the switch connects again, and nothing is lost"
        finally:
            process.kill()
            process.wait()
