"""Captures of links of a lab.

What one end of a veth sends is what the other end receives, so that a packet socket at either end, taking
what comes in there, sees everything that crosses the link; what a router sends past the kernel's queues is
not seen at its own end. Where the kernel does not see what comes in (AF_XDP) or an end is outside the lab,
the router's own tap writes the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import TwinplaneError, os_reason, suggest
from . import netns, pcapng, state
from .asking import ask

if TYPE_CHECKING:
    from .lab import Lab
    from .state import State

# linux/if_packet.h, linux/if_ether.h, asm-generic/socket.h
ETH_P_ALL, SOL_PACKET, PACKET_OUTGOING = 3, 263, 4
PACKET_STATISTICS, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 6, 8, 23
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
TP_STATUS_CSUMNOTREADY, TP_STATUS_VLAN_VALID, TP_STATUS_VLAN_TPID_VALID = 1 << 3, 1 << 4, 1 << 6

BUFFER_BYTES = 64 << 20
FRAME_MAX = 256 << 10
FLUSH_S = 0.2
BATCH = 64
SETTLED_NS = 1_000_000
"""So old is a frame, by its stamp, when no earlier one can come in at the other end any more."""

_Taken = tuple[int, int, bytes, int, str]
"""When, at which end, what, how long it was, and what is to be remarked."""

UNFINISHED = "checksum left unfinished by the sending kernel"
"""Comment on frames whose checksum a network interface would have filled in."""


def find_link(lab: State, given: str) -> int:
    """A link by its ends (``pe1:p`` or ``pe1-p``) or by one of its interfaces (``pe1:e1``)."""
    found = []
    for index, (a, b) in enumerate(lab.links):
        x, y = a.partition(":")[0], b.partition(":")[0]
        if given in (a, b, f"{a}-{b}", f"{b}-{a}", f"{x}-{y}", f"{y}-{x}", f"{x}:{y}", f"{y}:{x}"):
            found.append(index)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(lab.links[index][0] for index in found)
        raise TwinplaneError(f"link '{given}': there are {len(found)}: name one of its interfaces ({names})")
    known = [f"{a.partition(':')[0]}:{b.partition(':')[0]}" for a, b in lab.links]
    hint = suggest(given, known) or f" (one of {', '.join(known)})"
    raise TwinplaneError(f"lab '{lab.name}': there is no link '{given}'{hint}")


def find_lab(link: str, lab: str | None) -> Lab:
    """The lab with such a link: the one that is named, or the only one."""
    from .lab import Lab

    if lab is not None:
        return Lab.attached(lab)
    having = []
    up = [found for name in state.names() if (found := state.load(name)) is not None]
    for one in up:
        with contextlib.suppress(TwinplaneError):
            find_link(one, link)
            having.append(one.name)
    if len(having) > 1:
        raise TwinplaneError(
            f"link '{link}' is in {len(having)} labs: say which with --lab ({', '.join(having)})"
        )
    if not having:
        if len(up) == 1:
            find_link(up[0], link)
        raise TwinplaneError(
            f"no lab that is up has a link '{link}'" if up else "no lab is up: `twinplane lab up FILE`"
        )
    return Lab.attached(having[0])


class Capture:
    """A capture of a link; it begins at once, and ends when the context does, or with `stop`."""

    def __init__(
        self, lab: Lab, link: str, *, path: str | Path, at: str | None = None, packets: int | None = None
    ) -> None:
        self.path = Path(path)
        self.index = find_link(lab.state, link)
        ends = lab.state.links[self.index]
        self.name = f"{ends[0]} - {ends[1]}"
        names = [end.partition(":")[0] for end in ends]
        if at is not None and at not in names:
            raise TwinplaneError(f"link {self.name}: '{at}' is not at one of its ends{suggest(at, names)}")
        if not self.path.absolute().parent.is_dir():
            raise TwinplaneError(f"{self.path}: there is no folder {self.path.absolute().parent}")
        kept = [(end, name) for end, name in zip(ends, names, strict=True) if at in (None, name)]
        self.node = at or names[0]
        self._tap: _Kernel | _RouterTap
        if _kernel_sees(lab.state, names):
            self._tap = _Kernel(lab.state, kept, self.path, packets)
        else:
            self._tap = _RouterTap(lab.state, names, at, self.index, self.path, packets)

    @property
    def packets(self) -> int:
        """How many frames there are so far."""
        return self._tap.count()

    def wait(self, seconds: float | None = None) -> int:
        """Go on until there are as many packets as asked for, for so long, or until Ctrl-C; then end."""
        limit = None if seconds is None else time.monotonic() + seconds
        try:
            while not self._tap.full() and (limit is None or time.monotonic() < limit):
                time.sleep(0.02)
        except KeyboardInterrupt:
            pass
        return self.stop()

    def stop(self) -> int:
        """End it; how many frames are in the file."""
        return self._tap.stop()

    def __enter__(self) -> Capture:
        """It runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.stop()


def _kernel_sees(lab: State, names: list[str]) -> bool:
    """Are both ends inside, with no AF_XDP socket that takes frames before the kernel sees them?"""
    for name in names:
        node = lab.nodes[name]
        if node.namespace is None:
            return False
        if node.kind == "router":
            ports = json.loads(lab.config(name).read_text())["placement"]["ports"]
            if any(port["driver"] == "xdp" for port in ports):
                return False
    return True


class _Kernel:
    """Packet sockets at the ends of a link, and a thread that writes what comes in at them."""

    def __init__(self, lab: State, ends: list[tuple[str, str]], path: Path, limit: int | None) -> None:
        self.limit, self.error = limit, ""
        self.sockets = []
        for end, name in ends:
            with netns.inside(str(lab.nodes[name].namespace)):
                self.sockets.append(_listen(end.partition(":")[2]))
        try:
            self.file = path.open("wb")
        except OSError as error:
            raise TwinplaneError(f"{path}: it cannot be written: {os_reason(error)}") from None
        self.writer = pcapng.Writer(self.file, [end for end, _ in ends], "twinplane lab capture")
        self.lost = [0] * len(ends)
        self.ended, self.wake = os.pipe2(os.O_CLOEXEC)
        self.thread = threading.Thread(target=self._run, name="capture", daemon=True)
        self.thread.start()

    def count(self) -> int:
        return sum(self.writer.counts)

    def full(self) -> bool:
        return not self.thread.is_alive()

    def stop(self) -> int:
        if self.wake >= 0:
            os.close(self.wake)
            self.wake = -1
            self.thread.join()
            os.close(self.ended)
            self.writer.finish(time.time_ns(), self.lost)
            self.file.close()
            for one in self.sockets:
                one.close()
        if self.error:
            raise TwinplaneError(self.error)
        return self.count()

    def _run(self) -> None:
        try:
            self._receive()
        except OSError as error:
            self.error = f"capture: {os_reason(error)}"

    def _receive(self) -> None:
        places = {one.fileno(): place for place, one in enumerate(self.sockets)}
        view = memoryview(bytearray(FRAME_MAX))
        waiting = select.poll()
        for descriptor in (*places, self.ended):
            waiting.register(descriptor, select.POLLIN)
        flushed = time.monotonic()
        held: list[_Taken] = []
        while not self._enough():
            ready = [descriptor for descriptor, _ in waiting.poll(1 if held else int(FLUSH_S * 1000))]
            held = self._write_until(*self._take_all(view, held))
            if time.monotonic() - flushed > FLUSH_S:
                self.file.flush()
                flushed = time.monotonic()
            if self.ended in ready and not any(descriptor in places for descriptor in ready):
                break  # what had come before the end has been taken
        self._write_until(held, None)
        for place, one in enumerate(self.sockets):
            counted = one.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
            self.lost[place] = int(struct.unpack("II", counted)[1])

    def _enough(self) -> bool:
        return self.limit is not None and self.count() >= self.limit

    def _take_all(self, view: memoryview, held: list[_Taken]) -> tuple[list[_Taken], int]:
        """What waits at all ends, and until when that is all that there was."""
        until = time.time_ns() - SETTLED_NS
        taken = [*held]
        for place in range(len(self.sockets)):
            found = self._take(place, view)
            if len(found) == BATCH:
                until = min(until, found[-1][0])
            taken += found
        return taken, until

    def _write_until(self, taken: list[_Taken], until: int | None) -> list[_Taken]:
        """Write frames in the order of their times; those after `until` are left."""
        taken.sort(key=_time_of)
        for number, (at, place, data, length, comment) in enumerate(taken):
            if until is not None and at > until:
                return taken[number:]
            if self._enough():
                break
            self.writer.write(place, at, data, length, comment)
        return []

    def _take(self, place: int, view: memoryview) -> list[_Taken]:
        one = self.sockets[place]
        found: list[_Taken] = []
        while len(found) < BATCH:
            try:
                length, told, _, address = one.recvmsg_into(
                    [view], 256, socket.MSG_DONTWAIT | socket.MSG_TRUNC
                )
            except BlockingIOError:
                break
            if address[2] == PACKET_OUTGOING:
                continue
            at, status, tag = _told(told)
            data = bytes(view[: min(length, FRAME_MAX)])
            if status & TP_STATUS_VLAN_VALID:  # the kernel took the tag out of the frame
                data, length = data[:12] + tag + data[12:], length + 4
            unfinished = status & TP_STATUS_CSUMNOTREADY
            found.append((at, place, data, length, UNFINISHED if unfinished else ""))
        return found


def _time_of(taken: _Taken) -> int:
    return taken[0]


def _listen(interface: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    try:
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        with contextlib.suppress(OSError):  # since Linux 4.20
            made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        made.bind((interface, ETH_P_ALL))
    except OSError as error:
        made.close()
        raise TwinplaneError(f"interface '{interface}': {os_reason(error)}") from None
    return made


def _told(messages: list[tuple[int, int, bytes]]) -> tuple[int, int, bytes]:
    """Time of arrival, status and VLAN tag of a frame."""
    at, status, tag = 0, 0, b""
    for level, kind, data in messages:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            at = seconds * 1_000_000_000 + nanoseconds
        elif level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
            tag = struct.pack("!HH", tpid if status & TP_STATUS_VLAN_TPID_VALID else 0x8100, tci)
    return at or time.time_ns(), status, tag


class _RouterTap:
    """The tap of a router at one end."""

    def __init__(
        self, lab: State, names: list[str], at: str | None, link: int, path: Path, limit: int | None
    ) -> None:
        routers = [name for name in names if lab.nodes[name].kind == "router" and at in (None, name)]
        if not routers:
            raise TwinplaneError(f"'{at}' is no router: only at a router can this link be captured")
        self.lab, self.router = lab, routers[0]
        self.ended: int | None = None
        self.seen = 0
        asked = {"link": link, "path": str(path.absolute())}
        answer = ask(self.lab, self.router, "capture", {**asked, "max_packets": limit} if limit else asked)
        self.number = int(answer["capture"])

    def _progress(self) -> int | None:
        """How many packets, or nothing if it has ended by itself."""
        for one in ask(self.lab, self.router, "status")["captures"]:
            if one["capture"] == self.number:
                self.seen = int(one["packets"] or 0)
                return self.seen
        return None

    def count(self) -> int:
        if self.ended is None:
            self._progress()
        return self.seen if self.ended is None else self.ended

    def full(self) -> bool:
        return self.ended is not None or self._progress() is None

    def stop(self) -> int:
        if self.ended is None:
            last = self.count()
            self.ended = last
            if self._progress() is not None:
                self.ended = int(ask(self.lab, self.router, "capture-stop", self.number)["packets"])
        return self.ended
