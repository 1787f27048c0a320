"""A wire on this machine: namespaces joined by veth pairs, and who computes what on which processor.

    [source] g0 ---- r0 [device] r1 ---- s0 [sink]

The source and the receive interrupt of r0 have the first processor (a veth's receive work runs where the
frame was sent), the device has the second one, with its transmit work and the arrival at s0. Nothing
else counts frames but the interfaces' own counters. Frames go to a MAC address that s0 does not have, so
that the kernel drops them at once, whoever sent them.

Programs run with the greatest weight, so that other work of the machine takes little of their processor.
"""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from anchorlib import (
    FRAME_BYTES,
    FailedError,
    contained,
    end,
    require_programs,
    require_root,
    two_processors,
)

SOURCE_MAC, INGRESS_MAC, EGRESS_MAC, SINK_MAC = (f"02:00:00:00:00:0{i}" for i in range(1, 5))
AWAY_MAC = "02:00:00:00:00:99"
"""The next hop of the device: not the address of s0."""
SOURCE_NET, SINK_NET = "198.18.0", "198.19.0"  # RFC 2544, C.2.2: addresses for benchmarks
LABEL_IN = 16
CLONE_NEWNET = 0x40000000
TOOLS = {
    "ip": "iproute2",
    "ethtool": "ethtool",
    "setpriv": "util-linux",
    "taskset": "util-linux",
}


def check_bed(programs: dict[str, str]) -> None:
    """Raise `MissingError` in one sentence unless interfaces can be made and `programs` are here."""
    require_programs({**programs, **TOOLS})
    require_root("A pair of interfaces")
    two_processors()


def run(command: Sequence[str], limit_s: float = 30.0) -> str:
    """Run a short program and return what it printed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise FailedError(f"{command[0]} took more than {limit_s:.0f} s.") from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"code {done.returncode}"]
        raise FailedError(f"{' '.join(command)}: {lines[-1]}")
    return done.stdout


def weighed(command: Sequence[str]) -> list[str]:
    """The command with all the weight that the ordinary scheduler gives.

    It must lead a session of its own: its weight is that of the session's group where the kernel groups.
    Real-time classes would starve the kernel's own threads, which then hold up everybody.
    """
    group = '{ echo -20 > /proc/self/autogroup; } 2> /dev/null; exec "$@"'
    return ["nice", "--adjustment=-20", "sh", "-c", group, "sh", *command]


def weigh(process: int) -> None:
    """Give a process that leads a session of its own the same weight."""
    os.setpriority(os.PRIO_PROCESS, process, -20)
    with suppress(OSError):
        Path(f"/proc/{process}/autogroup").write_text("-20")


def pinned(command: Sequence[str], processor: int) -> list[str]:
    """The same on one processor."""
    return ["taskset", "--cpu-list", str(processor), *weighed(command)]


@contextmanager
def running(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A program in a session, and so in a scheduling group, of its own; ended whatever happens."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end(process)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@dataclass(frozen=True)
class Namespace:
    """A network namespace that this process made."""

    name: str

    def wrap(self, command: Sequence[str]) -> list[str]:
        """The command, run inside and made to die with this script."""
        return ["ip", "netns", "exec", self.name, *contained(command, own_network=False)]

    def do(self, *command: str) -> str:
        """Run a short program inside."""
        return run(["ip", "netns", "exec", self.name, *command])

    def path(self) -> str:
        """Where it can be opened."""
        return f"/run/netns/{self.name}"


@contextmanager
def namespaces(*names: str) -> Iterator[list[Namespace]]:
    """Quiet namespaces (no IPv6) named after this process, deleted whatever happens."""
    made: list[Namespace] = []
    try:
        for name in names:
            space = Namespace(f"tp-bench-{os.getpid()}-{name}")
            run(["ip", "netns", "add", space.name])
            made.append(space)
            for scope in ("all", "default"):
                space.do("sysctl", "-qw", f"net.ipv6.conf.{scope}.disable_ipv6=1")
            space.do("ip", "link", "set", "lo", "up")
        yield made
    finally:
        for space in reversed(made):
            subprocess.run(["ip", "netns", "delete", space.name], check=False, capture_output=True)


def join(left: Namespace, left_port: str, right: Namespace, right_port: str) -> None:
    """A veth pair between two namespaces, both ends up."""
    run(
        [
            *("ip", "link", "add", left_port, "netns", left.name, "type", "veth"),
            *("peer", "name", right_port, "netns", right.name),
        ]
    )
    for space, port in ((left, left_port), (right, right_port)):
        space.do("ip", "link", "set", port, "up")


class Counter:
    """Frames that the interfaces of a namespace received; reading it starts no program."""

    def __init__(self, space: Namespace, port: str) -> None:
        """Open the namespace's table of interfaces, which stays that namespace's."""
        self._port = port
        with Path("/proc/thread-self/ns/net").open("rb") as home, Path(space.path()).open("rb") as there:
            enter(there.fileno())
            try:
                self._table = Path("/proc/thread-self/net/dev").open(encoding="ascii")  # noqa: SIM115
            finally:
                enter(home.fileno())

    def frames(self) -> int:
        """Frames received since the interface was made."""
        self._table.seek(0)
        for line in self._table:
            name, _, counts = line.partition(":")
            if name.strip() == self._port:
                return int(counts.split()[1])
        raise FailedError(f"The interface {self._port} is gone.")

    def close(self) -> None:
        """Let the namespace go."""
        self._table.close()


def enter(namespace: int) -> None:
    """Move this thread into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@dataclass(frozen=True)
class Bed:
    """Source, device and sink, and what arrives at the last two."""

    source: Namespace
    device: Namespace
    sink: Namespace
    offered: Counter
    delivered: Counter


@contextmanager
def bed() -> Iterator[Bed]:
    """Two veth pairs through a device."""
    with namespaces("source", "device", "sink") as (source, device, sink):
        join(source, "g0", device, "r0")
        join(device, "r1", sink, "s0")
        for space, port, mac in (
            (source, "g0", SOURCE_MAC),
            (device, "r0", INGRESS_MAC),
            (device, "r1", EGRESS_MAC),
            (sink, "s0", SINK_MAC),
        ):
            space.do("ip", "link", "set", port, "address", mac)
        # The source hands over frames without socket buffers, which a veth takes if its peer polls.
        device.do("ethtool", "-K", "r0", "gro", "on")
        with closing(Counter(device, "r0")) as offered, closing(Counter(sink, "s0")) as delivered:
            yield Bed(source, device, sink, offered, delivered)


# -- frames -----------------------------------------------------------------------------------------


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def _ipv4(length: int) -> bytes:
    header = struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0, 64, 17, 0)
    for net in (SOURCE_NET, SINK_NET):
        header += bytes(map(int, f"{net}.2".split(".")))
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    check = ~(total + (total >> 16)) & 0xFFFF
    return header[:10] + struct.pack(">H", check) + header[12:] + struct.pack(">HHHH", 9, 9, length - 20, 0)


def udp_frame() -> bytes:
    """A 64-byte UDP frame (60 without check sequence) for the device to route."""
    frame = _mac(INGRESS_MAC) + _mac(SOURCE_MAC) + b"\x08\x00" + _ipv4(FRAME_BYTES - 14)
    return frame.ljust(FRAME_BYTES, b"\0")


def label_frame(label: int = LABEL_IN, to: str = INGRESS_MAC, size: int = FRAME_BYTES) -> bytes:
    """The same with one label stack entry (RFC 3032, 2.1); of `size` bytes without check sequence."""
    entry = struct.pack(">I", label << 12 | 1 << 8 | 64)
    frame = _mac(to) + _mac(SOURCE_MAC) + b"\x88\x47" + entry + _ipv4(size - 18)
    return frame.ljust(size, b"\0")
