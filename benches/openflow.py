#!/usr/bin/env python3
"""A switch as its controller sees it: flow mods, echoes, packets without an entry, and memory for each entry.

    .venv/bin/python benches/openflow.py twinplane|ovs [--entries 100000] [--memory 1000000] [--probes 10000]

Our switch as a process, or a private userspace Open vSwitch, in a network namespace, and the tester in
another, over veths and the kernel's TCP: the same bytes for both, encoded before time runs. OpenFlow 1.0;
an entry has five fields (addresses and ports of UDP, protocol) and one output. One line of JSON:

- `flow_mods_per_s`: entries until the reply to a barrier behind them, in an empty table; the switch then
  says how many entries it has, and `probes` of them, drawn at random, must let their packet through.
- `flow_mods_per_s_full`, `bytes_per_entry`: the same up to `--memory` entries, and what the process grew by.
- `echo_idle_p50_us`, `..._p99_us`: an echo at a time; `echo_busy_...`: beside 50,000 flow mods a second, in
  bunches of 50, on the same connection.
- `packet_in_per_s`: packets of 64 bytes without an entry, as fast as one process sends them.

Root only. Build for use first (`make setup`).
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

CONTROL = ("192.0.2.1", "192.0.2.2")
"""Of the tester and of the switch."""
PORT = 6653
SOURCE, UDP_FROM, UDP_TO = 0xC000_0201, 1000, 2000
FIRST = 0x0A00_0000
"""Where the packets of the first entry go: 10.0.0.0."""
HELLO, ERROR, ECHO, ECHO_REPLY, FEATURES, FLOW_MOD, STATS, BARRIER = 0, 1, 2, 3, 5, 14, 16, 18
PACKET_IN, STATS_REPLY, BARRIER_REPLY = 10, 17, 19
WILDCARDS = 0x0030_000F  # all but type, protocol, addresses and ports
ADD, DELETE = 0, 3
BUSY_PER_S, BUNCH, BUSY_S = 50_000, 50, 4.0
ECHOES, PACKET_IN_S = 1000, 3.0
PATIENCE_S = 300.0
FLOOD = """
import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("td0", 0))
frame, until = bytes.fromhex("{frame}"), time.monotonic() + {seconds}
while time.monotonic() < until:
    for _ in range(256):
        try:
            s.send(frame)
        except OSError:
            pass
"""


def message(kind: int, body: bytes = b"", xid: int = 0) -> bytes:
    """A message of version 1.0."""
    return struct.pack("!BBHI", 1, kind, 8 + len(body), xid) + body


def entry(number: int, command: int = ADD) -> bytes:
    """The flow mod of an entry; of the table if it deletes."""
    wildcards, address = (WILDCARDS, FIRST + number) if command == ADD else (0x003F_FFFF, 0)
    match = struct.pack(
        "!IH12xHBxHBB2xIIHH", wildcards, 0, 0, 0, 0x0800, 0, 17, SOURCE, address, UDP_FROM, UDP_TO
    )
    what = struct.pack("!QHHHHIHH", number, command, 0, 0, 100, 0xFFFF_FFFF, 0xFFFF, 0)
    output = struct.pack("!HHHH", 0, 8, 2, 0) if command == ADD else b""
    return message(FLOW_MOD, match + what + output)


def frame(number: int) -> bytes:
    """The packet of an entry: 64 bytes with the checksum of the frame, which nobody sends here."""
    head = struct.pack("!BBHHHBBHII", 0x45, 0, 46, number & 0xFFFF, 0, 64, 17, 0, SOURCE, FIRST + number)
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:]
    udp = struct.pack("!HHHH", UDP_FROM, UDP_TO, 26, 0)
    return (
        bytes.fromhex("020000000002020000000001")
        + b"\x08\x00"
        + head
        + udp
        + struct.pack("!I", number)
        + bytes(14)
    )


class Channel:
    """The connection that the switch makes, and a thread that reads it."""

    def __init__(self, listening: socket.socket) -> None:
        """Wait for a switch, and greet it."""
        self.socket, _ = listening.accept()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.came: dict[int, float] = {}
        self.count: dict[int, int] = {}
        self.stats = b""
        self.errors: list[bytes] = []
        self.changed = threading.Condition()
        self.sending = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        self.send(message(HELLO))
        self.ask(FEATURES)

    def send(self, data: bytes) -> None:
        """Messages that no other thread puts its own between."""
        with self.sending:
            self.socket.sendall(data)

    def _read(self) -> None:
        left = b""
        while part := self.socket.recv(1 << 18):
            now, left, at = time.perf_counter(), left + part, 0
            with self.changed:
                while len(left) - at >= 8:
                    _, kind, length, xid = struct.unpack_from("!BBHI", left, at)
                    if len(left) - at < length:
                        break
                    self.count[kind] = self.count.get(kind, 0) + 1
                    if kind == PACKET_IN:
                        # Alike in length: they are counted, and not looked at.
                        more = (len(left) - at) // length - 1
                        first = left[at : at + 4]
                        while more > 0 and left[at + length : at + length + 4] == first:
                            self.count[kind] += 1
                            at, more = at + length, more - 1
                    elif kind == ECHO:
                        self.send(message(ECHO_REPLY, left[at + 8 : at + length], xid))
                    else:
                        self.came[xid] = now
                        if kind == STATS_REPLY:
                            self.stats = left[at + 12 : at + length]
                        if kind == ERROR:
                            self.errors.append(left[at : at + length])
                    at += length
                self.changed.notify_all()
            left = left[at:]

    def ask(self, kind: int, body: bytes = b"", before: bytes = b"") -> float:
        """Seconds from the first byte of what is sent until the answer to the last of it."""
        xid = random.getrandbits(31) + 1
        begun = time.perf_counter()
        self.send(before + message(kind, body, xid))
        with self.changed:
            if not self.changed.wait_for(lambda: xid in self.came, PATIENCE_S):
                raise SystemExit(f"no answer to a message of type {kind} in {PATIENCE_S:.0f} s")
            if self.errors:
                raise SystemExit(f"the switch says error {self.errors[0][8:12].hex()}")
            return self.came[xid] - begun

    def entries(self) -> int:
        """As many as the switch says that it has."""
        body = (
            struct.pack("!HH", 2, 0) + struct.pack("!I36x", 0x003F_FFFF) + struct.pack("!BxH", 0xFF, 0xFFFF)
        )
        self.ask(STATS, body)
        return int(struct.unpack_from("!I", self.stats, 16)[0])

    def clear(self) -> None:
        """No entry is left."""
        self.ask(BARRIER, before=entry(0, DELETE))


def added(channel: Channel, first: int, count: int) -> float:
    """Seconds for entries, encoded before."""
    mods = b"".join(entry(first + number) for number in range(count))
    return channel.ask(BARRIER, before=mods)


def probed(numbers: list[int]) -> int:
    """Of so many entries the packets came through; each has three attempts."""
    away, back = (socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)) for _ in range(2))
    away.bind(("td0", 0))
    back.bind(("td1", 0x0800))
    back.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    back.settimeout(0.05)
    missing = set(numbers)
    for _ in range(3):
        for bunch in bunches(sorted(missing), 64):
            for number in bunch:
                away.send(frame(number))
            came = 0
            try:
                while came < len(bunch):
                    missing.discard(struct.unpack_from("!I", back.recv(2048), 42)[0])
                    came += 1
            except TimeoutError:
                pass
    return len(numbers) - len(missing)


def bunches(numbers: list[int], size: int) -> Iterator[list[int]]:
    """So many at a time."""
    return (numbers[at : at + size] for at in range(0, len(numbers), size))


def quantiles(delays: list[float], name: str) -> dict[str, float]:
    """Microseconds."""
    ordered = sorted(delays)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return {f"{name}_p50_us": statistics.median(ordered) * 1e6, f"{name}_p99_us": p99 * 1e6}


def busy(channel: Channel) -> tuple[list[float], float]:
    """Delays of echoes beside flow mods, and how many of these were sent each second."""
    mods = [b"".join(entry(at + number) for number in range(BUNCH)) for at in range(0, 50_000, BUNCH)]
    sent: dict[int, float] = {}
    begun, done, xid = time.perf_counter(), 0, 1 << 31
    while (now := time.perf_counter()) < begun + BUSY_S:
        due = begun + done * BUNCH / BUSY_PER_S
        if due > now:
            time.sleep(due - now)
        data = mods[done % len(mods)]
        done += 1
        if done % 5 == 0:
            xid += 1
            data += message(ECHO, b"", xid)
            sent[xid] = time.perf_counter()
        channel.send(data)
    rate = done * BUNCH / (time.perf_counter() - begun)
    channel.ask(BARRIER)
    return [channel.came[xid] - at for xid, at in sent.items()], rate


def packet_in(channel: Channel) -> float:
    """Packets that the controller hears of each second, while a process sends all it can."""
    flood = FLOOD.format(frame=frame(0x00FF_FFFF).hex(), seconds=PACKET_IN_S + 1)
    process = subprocess.Popen([sys.executable, "-c", flood])
    time.sleep(0.5)
    before, begun = channel.count.get(PACKET_IN, 0), time.perf_counter()
    time.sleep(PACKET_IN_S)
    rate = (channel.count.get(PACKET_IN, 0) - before) / (time.perf_counter() - begun)
    process.wait()
    return rate


def resident(pid: int) -> int:
    """Bytes of a process in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def confirm(channel: Channel, count: int, probes: int) -> int:
    """The switch has so many entries, and as many as are drawn at random let their packet through."""
    if (told := channel.entries()) != count:
        raise SystemExit(f"the switch has {told} entries of {count} after the reply to a barrier")
    wanted = random.Random(1).sample(range(count), min(probes, count))
    if (passed := probed(wanted)) != len(wanted):
        raise SystemExit(f"packets of {len(wanted) - passed} of {len(wanted)} entries do not come through")
    return passed


def measure(asked: argparse.Namespace) -> dict[str, float]:
    """All figures, from within the namespace of the tester."""
    with socket.create_server((CONTROL[0], PORT)) as listening:
        listening.settimeout(20.0)
        channel = Channel(listening)
    channel.clear()
    channel.socket.settimeout(None)
    before = resident(asked.pid)
    found: dict[str, float] = {}
    idle = [channel.ask(ECHO) for _ in range(ECHOES)]
    found |= quantiles(idle, "echo_idle")
    seconds = []
    for _ in range(3):
        channel.clear()
        seconds.append(added(channel, 0, asked.entries))
    found["flow_mods_per_s"] = asked.entries / statistics.median(seconds)
    found["probes"] = confirm(channel, asked.entries, asked.probes)
    channel.clear()
    delays, found["busy_per_s"] = busy(channel)
    found |= quantiles(delays, "echo_busy")
    channel.clear()
    found["packet_in_per_s"] = packet_in(channel)
    if asked.memory:
        channel.clear()
        step = 100_000
        for first in range(0, asked.memory, step):
            last = added(channel, first, min(step, asked.memory - first))
        found["flow_mods_per_s_full"] = min(step, asked.memory) / last
        found["bytes_per_entry"] = (resident(asked.pid) - before) / asked.memory
        found["probes_full"] = confirm(channel, asked.memory, asked.probes)
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sut", choices=("twinplane", "ovs"))
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--memory", type=int, default=1_000_000, help="entries, or 0 to leave that out")
    parser.add_argument("--probes", type=int, default=10_000)
    parser.add_argument("--pid", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.pid:
        print(json.dumps(measure(asked)))
        return 0
    from twinplane.experiments.openflow import live, ovs
    from twinplane.experiments.openflow.bench import namespaces

    where, address = f"tcp:{CONTROL[0]}:{PORT}", f"{CONTROL[1]}/30"
    made = live.switch(where, address) if asked.sut == "twinplane" else ovs.open_vswitch([where], address)
    (live if asked.sut == "twinplane" else ovs).check()
    with made as bench:
        tester = namespaces()[1]
        bench.do("ip", "-n", tester, "addr", "add", f"{CONTROL[0]}/30", "dev", "tc0")
        name = "twinplane-router" if asked.sut == "twinplane" else "ovs-vswitchd"
        pids = subprocess.run(
            ["ip", "netns", "pids", namespaces()[0]], capture_output=True, text=True, check=True
        ).stdout.split()
        pid = next(pid for pid in pids if name.startswith(Path(f"/proc/{pid}/comm").read_text().strip()))
        words = [sys.executable, __file__, asked.sut, "--pid", pid]
        for option in ("entries", "memory", "probes"):
            words += [f"--{option}", str(getattr(asked, option))]
        return subprocess.run(["ip", "netns", "exec", tester, *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
