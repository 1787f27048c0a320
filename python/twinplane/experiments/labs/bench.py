"""Benches to calibrate on: the tester's two ports joined to each other, or no port at all.

A trial is a small network of its own: two emulated edge routers, one LSP of one hop between them, and a flow
over it. Sources, pacing, sockets, time stamps and sinks are those of any run in real time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import TwinplaneError
from ...measure.calibration import Spread, Trial
from ...network import Network
from ...network.handles import Lsp
from ...network.placing import delays, lateness, lateness_histogram

BEGIN_S = 0.3
"""From the first Path to the first packet."""
PATIENCE_S = 3.0
"""So long an answer to the Path is waited for."""
DRAIN_S = 0.1
"""From the last packet to the last look."""
RATE = "1 Gbit/s"
KEEPS_UP_S = 1e-2
"""Without ports nothing is lost: a rate is too high when half of all events are later than this."""


class LinkBench:
    """Two edges and a link between them, which may be two interfaces that are joined outside."""

    def __init__(self, placement: dict[str, Any] | None, described: dict[str, Any], rate: str = RATE) -> None:
        self.placement = placement
        self.described = described
        self.rate = rate
        self.lives = 0

    def describe(self) -> dict[str, Any]:
        """See `twinplane.measure.calibration.Bench`."""
        return self.described

    def trial(self, rate_bps: float, size: int, seconds: float) -> Trial:
        """See `twinplane.measure.calibration.Bench`."""
        self._fits(size)
        network = Network(1, phases=(0,))
        tx, rx = network.edge("tx"), network.edge("rx")
        network.link(tx, rx, rate=self.rate, delay=0)
        lsp = tx.lsp("probe", rx, [rx], signal=False)
        tx.programme(0, "signal", lsp, 1000.0)
        network.go_live({**(self.placement or {}), "incarnation": self.lives})
        self.lives += 1
        try:
            return self._measure(network, lsp, rate_bps, size, seconds)
        finally:
            network.close()

    def _fits(self, size: int) -> None:
        from ...lab.interfaces import HEADER_AND_FCS
        from ...model.network_file import MTU_XDP

        most = MTU_XDP + HEADER_AND_FCS
        if self.described.get("own") and self.described["driver"] == "xdp" and size > most:
            raise TwinplaneError(
                f"calibration: size={size}: on veth interfaces AF_XDP takes frames of {most} bytes at most"
            )

    def _measure(self, network: Network, lsp: Lsp, rate_bps: float, size: int, seconds: float) -> Trial:
        tx, rx = network.node("tx"), network.node("rx")
        begin = self._ready(network, lsp)
        network.forget_lateness()
        flow = network.flow(
            tx, rx, over=lsp, rate=rate_bps, size=size, start=begin, stop=begin + seconds, name="probe"
        )
        network.run(until=begin + seconds + DRAIN_S)
        return read_trial(network, flow.index, rate_bps, size, seconds, self.described["kind"] == "process")

    def _ready(self, network: Network, lsp: Lsp) -> float:
        """Wait until the LSP is up."""
        while not lsp.up:
            if network.now > PATIENCE_S:
                raise TwinplaneError(
                    f"calibration: no Resv came back within {PATIENCE_S:g} s over"
                    f" {' and '.join(self.described.get('interfaces', ['the link']))}:"
                    " are the two interfaces joined to each other, and up?"
                )
            network.run(for_=0.02)
        return max(BEGIN_S, network.now + 0.05)


def read_trial(
    network: Network, flow: int, rate_bps: float, size: int, seconds: float, in_process: bool
) -> Trial:
    """What a flow's streams say, all together."""
    streams = network.columns("streams")
    places = [place for place, number in enumerate(streams["flow"]) if number == flow]

    def total(key: str) -> int:
        return sum(streams[key][place] or 0 for place in places)

    late = lateness(network) or Spread()
    lost = total("lost")
    if in_process and late.p50_s > KEEPS_UP_S:
        lost += 1
    # Without ports a delay is exact in modelled time; what is late is the engine.
    spread, histogram = (late, lateness_histogram(network)) if in_process else delays(network, flow)
    return Trial(rate_bps, size, seconds, total("sent"), total("received"), lost, spread, late, histogram)


@contextmanager
def in_process() -> Iterator[LinkBench]:
    """The engine by the clock, without any interface."""
    yield LinkBench({}, {"kind": "process", "interfaces": [], "driver": None})


@contextmanager
def own_pair(driver: str = "packet", busy: bool = False, rate: str = RATE) -> Iterator[LinkBench]:
    """A veth pair made for this, like those of a lab, each end in a silent namespace of its own."""
    from ...lab import of_network, tester_placement

    network = Network(1)
    network.link(network.edge("tx"), network.edge("rx"), rate=rate, delay=0)
    with of_network(network, f"cal-{os.getpid()}", driver) as lab:
        placement = {**tester_placement(lab), "epoch_ns": None, "busy": busy}
        described = {
            "kind": "ports",
            "own": True,
            "interfaces": [port["interface"] for port in placement["ports"]],
            "driver": driver,
        }
        yield LinkBench(placement, described, rate)


@contextmanager
def given_pair(
    ports: Sequence[tuple[str, str | None]], driver: str = "packet", busy: bool = False, rate: str = RATE
) -> Iterator[LinkBench]:
    """Two interfaces that are there, joined to each other; each with its namespace, or None."""
    names = [interface if netns is None else f"{netns}:{interface}" for interface, netns in ports]
    placement = {
        "local": ["tx", "rx"],
        "ports": [
            {
                "node": node,
                "link": 0,
                "interface": interface,
                "netns": netns_path(netns),
                "driver": driver,
                "offload": False,
            }
            for node, (interface, netns) in zip(("tx", "rx"), ports, strict=True)
        ],
        "busy": busy,
        "fail_on_port_down": True,
    }
    yield LinkBench(placement, {"kind": "ports", "interfaces": names, "driver": driver}, rate)


def netns_path(name: str | None) -> str | None:
    """The path of a namespace given by name or by path."""
    if name is None:
        return None
    path = Path(name) if "/" in name else Path("/run/netns") / name
    if not path.exists():
        raise TwinplaneError(
            f"namespace '{name}': there is no such network namespace (`ip netns` lists them)"
        )
    return str(path)
