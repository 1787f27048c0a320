"""The disciplines of the kernel on this machine beside ours: the same packets through both.

A veth pair between two namespaces carries packets at known times through a qdisc of Linux; a packet socket
behind it notes when each came out. What went in, at the times at which it really did, then goes through our
discipline in virtual time.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .. import traffic
from ..errors import TwinplaneError
from ..lab import netns
from ..network import Network
from .bed import queues
from .verdict import ATTEMPTS, Compared

MAC_A, MAC_B = "02:00:00:00:be:0a", "02:00:00:00:be:0b"
# asm-generic/socket.h; linux/if_packet.h
SO_PRIORITY, SO_TIMESTAMPNS, SO_RCVBUFFORCE = 12, 35, 33
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
ETHERTYPE = 0x88B5
"""For local experiments (IEEE 802): the kernel's stack passes it by."""
HEADER = 14
MBIT = 1_000_000
RATE_BPS = 8 * MBIT
SECONDS = 2.0
DRAIN_S = 0.6


@dataclass(frozen=True)
class Case:
    """A qdisc of the kernel, as tc is told it, and ours."""

    name: str
    tc: tuple[str, ...]
    """Commands for tc; DEV stands for the interface."""
    ours: Callable[[], Any]
    classes: tuple[tuple[str, int, str | int], ...] = (("all", 0, "BE"),)
    """Name, priority of the socket (a class of the qdisc), behaviour of ours."""
    load: float = 1.3


def _tbf(limit: int) -> str:
    return f"qdisc add dev DEV root handle 1: tbf rate {RATE_BPS}bit burst 5000 limit {limit}"


def _htb_class(number: int, parent: str, rate: int) -> str:
    return (
        f"class add dev DEV parent {parent} classid 1:{number} htb rate {rate}bit ceil {RATE_BPS}bit"
        " burst 5000 cburst 5000 quantum 1514"
    )


def _htb() -> Any:
    def leaf(rate: int) -> Any:
        return queues.HtbClass(
            parent="all",
            rate=rate,
            ceil=RATE_BPS,
            burst=5000,
            cburst=5000,
            quantum=1514,
            queue=queues.Pfifo(limit=30),
        )

    return queues.Htb(
        classes={
            "all": queues.HtbClass(rate=RATE_BPS, ceil=RATE_BPS, burst=5000, cburst=5000, quantum=1514),
            "gold": leaf(RATE_BPS * 3 // 4),
            "rest": leaf(RATE_BPS // 4),
        },
        filters=[{"phb": "EF", "class": "gold"}],
        default="rest",
    )


CASES = (
    Case("tbf", (_tbf(30_000),), lambda: queues.Tbf(rate=RATE_BPS, burst=5000, limit=30_000)),
    Case(
        "tbf over pfifo",
        (_tbf(30_000), "qdisc add dev DEV parent 1:1 handle 10: pfifo limit 25"),
        lambda: queues.Tbf(rate=RATE_BPS, burst=5000, queue=queues.Pfifo(limit=25)),
    ),
    Case(
        "tbf over bfifo",
        (_tbf(30_000), "qdisc add dev DEV parent 1:1 handle 10: bfifo limit 20000"),
        lambda: queues.Tbf(rate=RATE_BPS, burst=5000, queue=queues.Bfifo(limit=20_000)),
    ),
    Case(
        "htb, two classes",
        (
            "qdisc add dev DEV root handle 1: htb default 20",
            _htb_class(1, "1:", RATE_BPS),
            _htb_class(10, "1:1", RATE_BPS * 3 // 4),
            _htb_class(20, "1:1", RATE_BPS // 4),
            "qdisc add dev DEV parent 1:10 handle 110: pfifo limit 30",
            "qdisc add dev DEV parent 1:20 handle 120: pfifo limit 30",
        ),
        _htb,
        classes=(("gold", 0x10010, "EF"), ("rest", 0x10020, "BE")),
    ),
)


@dataclass(frozen=True)
class Passage:
    """What went through the kernel, and how well the machine kept up."""

    sent: list[Sent]
    came: list[float | None]
    """When each packet came out of the qdisc (s); absent if it was dropped."""
    late_s: float
    """By how much 99 of 100 packets at most went in later than planned."""


@dataclass(frozen=True)
class Sent:
    """A packet that went into the kernel: when, of which class, how long as the kernel counts it."""

    at: float
    place: int
    size: int


def compare(case: Case, seed: int, attempts: int = ATTEMPTS) -> Compared:
    """Both with the same packets, again until they agree, at most so often. Needs root."""
    for number in range(1, attempts + 1):
        found = replace(_once(case, seed), attempts=number)
        if found.holds:
            break
    return found


def _once(case: Case, seed: int) -> Compared:
    passage = _through_kernel(case, seed)
    sent, came = passage.sent, passage.came
    ours = _through_ours(case, sent)
    both = [(k, o) for k, o in zip(came, ours, strict=True) if k is not None and o is not None]
    if len(both) < 10:
        raise TwinplaneError(f"{case.name}: only {len(both)} packets came through both")
    offsets = sorted(abs(o - k) for k, o in both)
    same = sum((k is None) == (o is None) for k, o in zip(came, ours, strict=True))
    return Compared(
        case.name,
        len(sent),
        came.count(None),
        ours.count(None),
        same / len(sent),
        _rate(sent, came),
        _rate(sent, ours),
        offsets[len(offsets) // 2],
        offsets[int(0.99 * (len(offsets) - 1))],
        late_s=passage.late_s,
        stalled=_stalled(came),
    )


def _stalled(came: Sequence[float | None]) -> float:
    """Share of time in which the kernel sent nothing for longer than a packet takes, though some waited."""
    begin, end = SECONDS / 4, SECONDS
    there = sorted(at for at in came if at is not None and begin <= at < end)
    longest = 2 * 1514 * 8 / RATE_BPS  # two frames of the greatest length at the rate
    return math.fsum(max(y - x - longest, 0) for x, y in pairwise([begin, *there, end])) / (end - begin)


def _rate(sent: Sequence[Sent], came: Sequence[float | None]) -> float:
    """While there was always something to send: after the first quarter, until the last packet went in."""
    begin, end = SECONDS / 4, SECONDS
    there = [one.size for one, at in zip(sent, came, strict=True) if at is not None and begin <= at < end]
    return sum(there) * 8 / (end - begin)


def _plan(case: Case, seed: int) -> list[Sent]:
    """Poisson arrivals of sizes between short and long, each class with its part of the load."""
    draw = random.Random(seed)
    planned: list[Sent] = []
    for place in range(len(case.classes)):
        mean = 800
        rate = case.load * RATE_BPS / 8 / mean / len(case.classes)
        at = draw.expovariate(rate)
        while at < SECONDS:
            planned.append(Sent(at, place, draw.randrange(100, 1501)))
            at += draw.expovariate(rate)
    return sorted(planned, key=lambda one: one.at)


@contextmanager
def _pair(name: str) -> Iterator[tuple[str, str]]:
    """Two namespaces with an end of a veth in each, gone afterwards."""
    spaces = (f"tpt-{name}-a", f"tpt-{name}-b")
    made = []
    try:
        for space in spaces:
            _do("ip", "netns", "add", space)
            made.append(space)
            netns.plain_host(space)
        _do(
            *("ip", "-n", spaces[0], "link", "add", "v0", "address", MAC_A, "type", "veth"),
            *("peer", "name", "v1", "address", MAC_B, "netns", spaces[1]),
        )
        for space, end in zip(spaces, ("v0", "v1"), strict=True):
            _do("ip", "-n", space, "link", "set", end, "up")
        yield spaces
    finally:
        for space in made:
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


def _do(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TwinplaneError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")


def _socket(space: str, interface: str, protocol: int) -> socket.socket:
    with netns.inside(space):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    made.bind((interface, protocol))
    return made


def _through_kernel(case: Case, seed: int) -> Passage:
    """What went in when, and when it came out."""
    with _pair(str(os.getpid())) as (a, b):
        for command in case.tc:
            _do("tc", "-n", a, *command.replace("DEV", "v0").split())
        out, into = _socket(a, "v0", 0), _socket(b, "v1", ETHERTYPE)
        try:
            return _send(case, seed, out, into)
        finally:
            out.close()
            into.close()


def _send(case: Case, seed: int, out: socket.socket, into: socket.socket) -> Passage:
    ethernet = bytes.fromhex((MAC_B + MAC_A).replace(":", "")) + struct.pack("!H", ETHERTYPE)
    planned, sent = _plan(case, seed), []
    begin = time.time_ns() + 20_000_000
    priority = None
    for number, one in enumerate(planned):
        due = begin + int(one.at * 1e9)
        while (left := due - time.time_ns()) > 0:
            if left > 200_000:
                time.sleep((left - 150_000) / 1e9)
        if priority != case.classes[one.place][1]:
            priority = case.classes[one.place][1]
            out.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, priority)
        frame = ethernet + struct.pack("!I", number) + bytes(one.size - HEADER - 4)
        at = time.time_ns()
        with contextlib.suppress(OSError):  # dropped at once: the packet does not come out
            out.send(frame)
        sent.append(Sent((at - begin) / 1e9, one.place, one.size))
    time.sleep(DRAIN_S)
    came: list[float | None] = [None] * len(sent)
    into.setblocking(False)
    while True:
        try:
            data, told, _, _ = into.recvmsg(2048, 256)
        except BlockingIOError:
            break
        stamp = next(body for _, kind, body in told if kind == SO_TIMESTAMPNS)
        seconds, nanoseconds = struct.unpack("qq", stamp[:16])
        came[struct.unpack_from("!I", data, HEADER)[0]] = (seconds * 10**9 + nanoseconds - begin) / 1e9
    late = sorted(did.at - one.at for did, one in zip(sent, planned, strict=True))
    return Passage(sent, came, late[int(0.99 * (len(late) - 1))])


def _through_ours(case: Case, sent: Sequence[Sent]) -> list[float | None]:
    """The same packets at the same times through our discipline, on a link that is as fast as a veth."""
    net = Network(seed=1)
    a, b = net.router("a"), net.router("b")
    # Linux counts frames without their check sequence: so does the default accounting.
    net.link(a, b, rate="100 Gbit/s", delay=0, queue={"a": case.ours()})
    start = 0.01
    flows = []
    for place, (name, _, behaviour) in enumerate(case.classes):
        own = [one for one in sent if one.place == place]
        gaps = [own[0].at, *(y.at - x.at for x, y in pairwise(own))]
        trace = traffic.Trace(gaps=gaps, sizes=[one.size + 4 for one in own])
        flows.append(net.flow(a, b, arrivals=trace, dscp=behaviour, name=name, start=start, log=True))
    net.run(until=start + max(SECONDS, sent[-1].at) + DRAIN_S)  # a busy machine sends the last ones late
    left = [iter(_departures(flow, start)) for flow in flows]
    return [next(left[one.place]) for one in sent]


def _departures(flow: Any, start: float) -> list[float | None]:
    rows = flow.packets().sort("sequence").iter_rows(named=True)
    return [None if row["arrival_s"] is None else row["arrival_s"] - start for row in rows]
