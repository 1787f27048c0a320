"""Networks by the clock on the wall: the same calls, real hosts beyond interfaces. No time is asserted."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from support.needs import need
from twinplane import Network, TwinplaneError, capture_interface, core
from twinplane.network.nodes import Host, Router

pytestmark = pytest.mark.live

NAME = f"tpt{os.getpid() % 100_000}"


def until(net: Network, so: Callable[[], bool], limit: int = 500) -> None:
    """Run until it is so."""
    for _ in range(limit):
        if so():
            return
        net.run(for_="20 ms")
    raise AssertionError("it never was so")


def line(net: Network, left: Host, right: Host) -> list[Router]:
    a, b, c = (net.router(name) for name in "abc")
    for x, y in [(a, b), (b, c), (left, a), (c, right)]:
        net.link(x, y, delay=0, mtu=1500)
    a.lsp("east", to=c, route=[b, c], carries="10.1.2.0/24")
    c.lsp("west", to=a, route=[b, a], carries="10.1.1.0/24")
    return [a, b, c]


def test_the_same_network_by_the_clock() -> None:
    net = Network(seed=7, clock="wall")
    left, right = net.host("left", "10.1.1.2/24"), net.host("right", "10.1.2.2/24")
    a, b, _ = line(net, left, right)
    east = net.lsps[0]
    until(net, lambda: all(lsp.up for lsp in net.lsps))
    assert net.now > 0
    begin = net.now + 0.05
    flow = net.flow(left, right, rate="4 Mbit/s", start=begin, stop=begin + 0.1)
    until(net, lambda: flow.stats()["sent"].sum() >= 97 and flow.stats()["lost"].sum() <= 1)
    until(net, lambda: left.ping(right, wait="20 ms") is not None)
    late = net.table("lateness")
    assert late["what"].to_list() == ["events"] and late["count"][0] > 0
    tap = net.capture(a, b)
    net.fail(a, b)
    until(net, lambda: east.state == "down")
    net.heal()
    until(net, lambda: east.up, 2000)
    net.forget_lateness()
    seen: list[float] = []
    net.run(for_="60 ms", progress=seen.append)
    assert seen == sorted(seen) and net.events_done > 300
    assert len(tap.bytes()) > 200
    assert net.interfaces().height == 0


@pytest.fixture
def namespaces() -> Iterator[list[str]]:
    """Two namespaces with a veth pair each; the near ends are NAME0 and NAME1."""
    need("root", "ip", "ping")
    spaces = [f"{NAME}{i}" for i in range(2)]

    def ip(words: str, check: bool = True) -> None:
        subprocess.run(["ip", *words.split()], check=check, capture_output=not check)

    try:
        for number, space in enumerate(spaces):
            net = f"10.1.{number + 1}"
            ip(f"netns add {space}")
            ip(f"link add {space} type veth peer name e0 netns {space}")
            ip(f"link set {space} up")
            ip(f"-n {space} addr add {net}.2/24 dev e0")
            ip(f"-n {space} link set e0 up")
            ip(f"-n {space} route add default via {net}.1")
        yield spaces
    finally:
        for space in spaces:
            ip(f"link del {space}", check=False)
            ip(f"netns del {space}", check=False)


def test_kernels_talk_through_lsps(namespaces: list[str], tmp_path: Path) -> None:
    net = Network(seed=7, clock="wall")
    left = net.host("left", "10.1.1.2/24", interface=namespaces[0])
    right = net.host("right", "10.1.2.2/24", interface=namespaces[1])
    _, b, _ = line(net, left, right)
    until(net, lambda: all(lsp.up for lsp in net.lsps))
    words = ["ip", "netns", "exec", namespaces[0], "ping", "-c", "3", "-i", "0.05", "-W", "5", "10.1.2.2"]
    ping = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    until(net, lambda: ping.poll() is not None, 1000)
    assert " 3 received" in ping.communicate()[0]
    assert b.ilm()["packets"].min() >= 3
    found = net.interfaces()
    assert found["state"].to_list() == ["up", "up"] and found["rx_frames"].min() >= 3
    with pytest.raises(TwinplaneError, match="'right' is a real host"):
        net.flow("a", right)
    # What happens beyond the interface is seen there too.
    out = subprocess.Popen([*words[:4], "ping", "-c", "1", "10.1.1.1"], stdout=subprocess.DEVNULL)
    net.run(for_="300 ms")
    out.wait()
    tapped = capture_interface(namespaces[0], tmp_path / "e0.pcapng", for_="50 ms")
    assert tapped.path.stat().st_size > 0
    subprocess.run(["ip", "link", "del", namespaces[1]], check=True)
    until(net, lambda: net.interfaces()["state"].to_list() == ["up", "gone"])
    events = net.events().filter(pl.col("node") == "c")["event"].to_list()
    assert any("port-down" in event for event in events)


def test_a_port_that_goes_away_ends_a_strict_run(namespaces: list[str]) -> None:
    net = Network(clock="wall", strict_ports=True)
    host = net.host("left", "10.1.1.2/24", interface=namespaces[0])
    net.link(net.router("a"), host)
    net.run(for_="20 ms")
    subprocess.run(["ip", "link", "del", namespaces[0]], check=True)
    with pytest.raises(TwinplaneError, match=f"node 'a': interface {namespaces[0]} is gone"):
        net.run(for_="5 s")


def test_mistakes_give_one_sentence() -> None:
    net = Network(clock="wall")
    net.link(net.router("a"), net.host("h", "10.1.1.2/24", interface="tpt-none"))
    with pytest.raises(TwinplaneError, match=r"node 'a': (no interface tpt-none|.* needs root)"):
        net.run(for_="1 ms")
    net = Network(clock="wall", local=["b"])
    net.router("a")
    with pytest.raises(TwinplaneError, match="placement: there is no node 'b'"):
        net.run(for_="1 ms")
    net = Network()
    net.link(net.router("a"), net.external("x"))
    with pytest.raises(TwinplaneError, match=r"node 'x': it is external: .* in real time only"):
        net.run(for_="1 ms")
    with pytest.raises(TwinplaneError, match="say how much to capture"):
        capture_interface("lo", "x.pcapng")
    assert core.load().Network is not None
