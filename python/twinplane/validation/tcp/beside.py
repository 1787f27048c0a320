"""The same transfer by our TCP in virtual time and by the kernel's in a lab over the same links."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import TwinplaneError
from ...lab import Lab
from ...network import Network
from .settings import DEFER_S, INITIAL_SEGMENTS, LEAST_TIMEOUT_S, LOSSLESS_WITHIN, MSS, Setting

PORT = 5001
START_S = 1.0
"""When ours begins."""
PATIENCE_S = 120.0
ATTEMPTS = 5
"""So often the kernel's is measured until both agree: other work on the machine delays the lab."""
RIGHT = "10.2.0.2"
GATEWAYS = {"left": "10.1.0.1", "right": "10.2.0.1"}
SYSCTLS = {
    # Ours has no timestamps, no notification of congestion, and no recovery but that of RFC 5681.
    "tcp_timestamps": "0",
    "tcp_ecn": "0",
    "tcp_recovery": "0",
    "tcp_early_retrans": "0",
    "tcp_frto": "0",
    # The window is what the receiver says, and each write goes as it is.
    "tcp_moderate_rcvbuf": "0",
    "tcp_rmem": "4096 4194304 33554432",
    "tcp_autocorking": "0",
    "tcp_no_metrics_save": "1",
}
"""Settings of the kernel in the namespaces of the hosts."""


@dataclass(frozen=True)
class Course:
    """How a transfer went."""

    completion_s: float
    """From the first SYN to the last byte read."""
    retransmitted: int
    """Segments sent again."""
    round_trip_s: float
    """Mean round-trip time."""
    acknowledged: Sequence[tuple[float, float]] = field(repr=False)
    """Seconds since the first SYN, and bytes that have been acknowledged by then."""
    in_flight: Sequence[tuple[float, float]] = field(repr=False)
    """Seconds since the first SYN, and segments in flight."""

    def throughput_bps(self, size: int) -> float:
        """While the second and the third quarter of the bytes were acknowledged."""
        begin, end = (self._reached(size * share) for share in (0.25, 0.75))
        return size * 0.5 * 8 / (end - begin)

    def _reached(self, wanted: float) -> float:
        before = (0.0, 0.0)
        for at, acknowledged in self.acknowledged:
            if acknowledged >= wanted:
                share = (wanted - before[1]) / (acknowledged - before[1])
                return before[0] + share * (at - before[0])
            before = (at, acknowledged)
        raise TwinplaneError(f"only {before[1]:.0f} bytes were acknowledged")

    def most(self, parts: int, whole_s: float) -> list[float | None]:
        """The most segments in flight in each part of a time; absent where nothing is known."""
        found: list[float | None] = [None] * parts
        for at, count in self.in_flight:
            place = int(at / whole_s * parts)
            if place < parts:
                found[place] = max(found[place] or 0.0, count)
        return found


@dataclass(frozen=True)
class Pair:
    """Both."""

    setting: Setting
    ours: Course
    kernel: Course
    attempts: int = 1

    @property
    def completion(self) -> float:
        """By which share of the kernel's completion time ours is longer."""
        return self.ours.completion_s / self.kernel.completion_s - 1

    @property
    def throughput(self) -> float | None:
        """By which share of the kernel's throughput ours is higher; absent of short transfers."""
        if self.setting.bytes <= 100 * MSS:
            return None
        ours, kernel = (one.throughput_bps(self.setting.bytes) for one in (self.ours, self.kernel))
        return ours / kernel - 1

    @property
    def in_round_trips(self) -> float | None:
        """As `completion`, with time in round trips; only where these do not hang on what TCP does."""
        if self.setting.kind != "window":
            return None
        ours, kernel = (one.completion_s / one.round_trip_s for one in (self.ours, self.kernel))
        return ours / kernel - 1

    @property
    def disturbed(self) -> bool:
        """Were round trips of the lab much longer than the links make them? Then other work delayed it."""
        longer = self.kernel.round_trip_s / self.ours.round_trip_s - 1
        return self.setting.kind == "window" and longer > LOSSLESS_WITHIN

    @property
    def holds(self) -> bool:
        """Are both within the bound, if there is one?"""
        within = self.setting.within
        return within is None or max(abs(self.completion), abs(self.throughput or 0.0)) <= within


def compare(setting: Setting, attempts: int = ATTEMPTS) -> Pair:
    """Both, the kernel's again until they agree, at most so often. Needs root."""
    ours = by_ours(setting)
    for number in range(1, attempts + 1):
        found = Pair(setting, ours, by_kernel(setting), number)
        if found.holds:
            break
    return found


@contextlib.contextmanager
def _file(setting: Setting) -> Iterator[Path]:
    name = f"tcp-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(setting.network_file(name))
        yield path


def _with_loss(network: Network, setting: Setting) -> Network:
    if setting.share:
        network.at(0).loss("r1", "r2", share=setting.share, sender="r1")
    return network


def by_ours(setting: Setting) -> Course:
    """Ours, in virtual time."""
    with _file(setting) as path:
        network = _with_loss(Network.from_file(path), setting)
    flow = network.tcp(
        *("left", "right"),
        bytes=setting.bytes,
        congestion=setting.congestion,
        receive_buffer=setting.window,
        # What is written waits for room, so that the connection is closed late, as the kernel's is.
        send_buffer=2 * setting.window,
        mss=MSS,
        sack=setting.sack,
        window_scaling=setting.scaled,
        ack_delay=DEFER_S if setting.deferred else 0,
        start=START_S,
    )
    network.run(until=START_S + PATIENCE_S)
    row = flow.stats().row(0, named=True)
    if row["state"] != "done":
        raise TwinplaneError(f"{setting.name}: {row['bytes']} bytes came within {PATIENCE_S:g} s")
    series = flow.series().select("start_s", "acknowledged", "in_flight").rows()
    whole, acknowledged, in_flight = 0.0, [], []
    for start, count, most in series:
        at = start - START_S
        whole += count
        acknowledged.append((at + 0.01, whole))
        in_flight.append((at, most / MSS))
    return Course(row["completion_s"], row["retransmitted"], row["rtt_mean_s"], acknowledged, in_flight)


def by_kernel(setting: Setting) -> Course:
    """The kernel's, in a lab over the same links."""
    with _file(setting) as path, Lab(path) as lab:
        for host, gateway in GATEWAYS.items():
            _prepare(lab, host, gateway, setting)
        _lose(lab, setting)
        # Whoever is asked for by ARP is known before the transfer.
        lab.exec("left", sys.executable, "-c", REACH, RIGHT, timeout=PATIENCE_S)
        receiver = lab.start("right", *_program("receiver"), str(PORT), str(setting.window), **PIPED)
        try:
            assert receiver.stdout is not None
            if receiver.stdout.readline() != "ready\n":
                raise TwinplaneError(f"{setting.name}: the receiver did not start")
            words = (*_program("sender"), RIGHT, str(PORT), str(setting.bytes), setting.congestion)
            sent = json.loads(lab.exec("left", *words, timeout=PATIENCE_S).stdout)
            read = json.loads(receiver.stdout.readline())
        finally:
            receiver.kill()
            receiver.wait()
    if read["bytes"] != setting.bytes:
        raise TwinplaneError(f"{setting.name}: the kernel delivered {read['bytes']} bytes")
    rows = sent["rows"]
    measured = [row[4] for row in rows if row[4]]
    return Course(
        (read["last_ns"] - sent["begin_ns"]) / 1e9,
        int(rows[-1][3]),
        sum(measured) / len(measured) / 1e6,
        [(row[0], row[2]) for row in rows],
        [(row[0], row[1]) for row in rows],
    )


PIPED: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
REACH = """
import socket, sys
with socket.socket() as asking:
    asking.settimeout(10)
    try: asking.connect((sys.argv[1], 9))
    except ConnectionRefusedError: pass
"""
"""Connects to a port at which nobody listens, and waits for the refusal."""


def _program(name: str) -> tuple[str, ...]:
    return sys.executable, "-I", str(Path(__file__).with_name(f"{name}.py"))


def _prepare(lab: Lab, host: str, gateway: str, setting: Setting) -> None:
    """Set a host's TCP as ours is: what its kernel may do, and what it does on its route."""
    wanted = {
        **SYSCTLS,
        "tcp_sack": str(int(setting.sack)),
        "tcp_window_scaling": str(int(setting.scaled)),
    }
    lab.exec(host, "sysctl", "-q", "-w", *(f"net.ipv4.{name}={value}" for name, value in wanted.items()))
    route = {
        "advmss": MSS,
        "initcwnd": INITIAL_SEGMENTS,
        "initrwnd": setting.window // MSS,
        "rto_min": f"{LEAST_TIMEOUT_S:g}s",
        # Each segment is acknowledged, as by ours with no delay.
        **({} if setting.deferred else {"quickack": 1}),
    }
    words = [str(word) for item in route.items() for word in item]
    lab.exec(host, "ip", "route", "change", "default", "via", gateway, *words)


def _lose(lab: Lab, setting: Setting) -> None:
    """Let the router in front of the link lose packets as in virtual time."""
    if setting.share:
        network = _with_loss(Network.from_file(lab.plan.file or ""), setting)
        (due,) = json.loads(network.draft.core.agenda(10**12))
        lab.node("r1").ask(due["request"], due["argument"])
