"""The bench with a Twinplane router on it, over the Python interface.

Everything that depends on how that interface is spelt is in this file, and only here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .bench import Bench, HeadEnd, Options
from .neighbour import Ends

RATE = "1 Gbit/s"
DELAY = "10 us"


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Networks have one thread meanwhile, and try no more."""
    from twinplane.network import processors

    before = processors.limited()
    processors.limit(1)
    try:
        yield
    finally:
        processors.limit(before)


class VirtualTime:
    """The clock of one network, counted in whole nanoseconds so that steps don't drift."""

    def __init__(self, net: Any) -> None:
        self.net = net
        self.passed_ns = 0

    @property
    def seconds(self) -> float:
        """What has passed since the network was built."""
        return self.passed_ns / 1e9

    def run(self, seconds: float) -> None:
        """Let the network run for this long, rounded to a nanosecond."""
        step_ns = max(1, round(seconds * 1e9))
        self.net.run(for_=f"{step_ns} ns")
        self.passed_ns += step_ns


class RouterPort:
    """A raw port of a network in virtual time, as the naive peer wants it."""

    def __init__(self, clock: VirtualTime, peer: Any) -> None:
        self.clock = clock
        self.peer = peer
        # All that the router ever sent here, for a referee.
        self.received: list[tuple[float, bytes]] = []

    def send(self, frame: bytes) -> None:
        """Put a frame on the link at the current virtual time."""
        self.peer.send(frame)

    def receive(self) -> list[tuple[float, bytes]]:
        """Every frame that arrived since the last call."""
        frames = [(float(time), bytes(frame)) for time, frame in self.peer.receive()]
        self.received += frames
        return frames

    def now(self) -> float:
        """The network's clock."""
        return self.clock.seconds

    def run(self, seconds: float) -> None:
        """Let virtual time pass in the whole network."""
        self.clock.run(seconds)


def mac_bytes(mac: str | bytes) -> bytes:
    """`02:00:...` or six bytes, as six bytes."""
    return bytes(mac) if isinstance(mac, bytes) else bytes.fromhex(mac.replace(":", ""))


def router_options(options: Options) -> dict[str, Any]:
    """Arguments of `Network.router`; empty unless a scenario needs more than the defaults."""
    found: dict[str, Any] = {}
    if options.refresh_reduction:
        found["refresh_reduction"] = True
    if options.hello_interval_s is not None:
        found["hello_interval"] = f"{options.hello_interval_s * 1000:g} ms"
    if options.key is not None:
        found["rsvp_key"] = options.key
        found["rsvp_key_id"] = options.key_id
        # RFC 2747, 4.3: the naive peer answers challenges, and asks for answers.
        found["rsvp_handshake"] = True
    return found


def build(tp: Any, options: Options, mtu: int = 9216, **router_has: str) -> Bench:
    """West, the router and east, with one link each side; `mtu` is that of the link in the east."""
    net = tp.Network(seed=1)
    clock = VirtualTime(net)
    dut = net.router("dut", **router_options(options), **router_has)
    west, east = net.peer("west"), net.peer("east")
    left = net.link(west, dut, rate=RATE, delay=DELAY, reservable=RATE)
    right = net.link(dut, east, rate=RATE, delay=DELAY, reservable=RATE, mtu=mtu)
    router = str(dut.loopback)

    def ends(link: Any, peer: Any) -> Ends:
        mac = mac_bytes(link.mac(peer))
        own, other = str(link.address(peer)), str(link.address(dut))
        return Ends(mac, own, other, str(peer.loopback), router)

    def originate(name: str, bandwidth: float) -> HeadEnd:
        lsp = dut.lsp(name, to=east, bandwidth=f"{bandwidth / 1e6:g} Mbit/s")
        return HeadEnd(up=lambda: bool(lsp.up), tear=lsp.teardown)

    def leftovers() -> list[str]:
        tables = {"lsps": dut.lsps(), "ilm": dut.ilm(), "tunnels": dut.tunnels()}
        found = [f"{name}: {table}" for name, table in tables.items() if len(table)]
        # State blocks, sessions, labels, bandwidth, timers, table entries and writes that wait.
        for left in net.table("state").drop("node").to_dicts():
            found += [f"{name}: {count}" for name, count in left.items() if count]
        return found

    return Bench(
        RouterPort(clock, west),
        RouterPort(clock, east),
        ends(left, west),
        ends(right, east),
        options,
        originate=originate,
        leftovers=leftovers,
    )
