"""Ten neighbours of an OSPF daemon on links between two, which flood it a database that is there already.

They speak as much of RFC 2328 as that takes: Hellos, an exchange of databases in which they have nothing to
describe, updates and acknowledgements. Frames are sent and read at the far ends of veth pairs.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence

from anchorlib import FailedError

LINKS = 10
HELLO_S, DEAD_S = 10_000, 40_000
"""In seconds: nobody is silent for so long while the measurement lasts."""
ROOT_ID = bytes((10, 0, 0, 0))
TO_ALL = bytes((224, 0, 0, 5))
"""AllSPFRouters (RFC 2328, A.1)."""
HELLO, DESCRIPTION, UPDATE, ACKNOWLEDGEMENT = 1, 2, 4, 5
INIT, MORE, MASTER = 4, 2, 1
HEADER_BYTES = 20
WINDOW = 1_000
"""Advertisements on their way: more would not fit into what a socket holds."""
AGAIN_S = 2.0
"""An advertisement that was not acknowledged is sent again so often."""


def on(link: int, end: int) -> str:
    """The address of the daemon (1) or of its neighbour (2) on a link, as `bench_ospf` has it."""
    return str(socket.inet_ntoa(struct.pack("!I", 0xAC100000 + 4 * link + end)))


def summed(data: bytes) -> int:
    """The checksum of RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data)) + (data[-1] << 8 if len(data) % 2 else 0)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def advertisements(data: bytes) -> Iterator[bytes]:
    """One by one: each says how long it is (RFC 2328, A.4.1)."""
    while data:
        length = struct.unpack("!H", data[18:20])[0]
        yield data[:length]
        data = data[length:]


def named(header: bytes) -> bytes:
    """What tells an instance from others: type, link state id, router, sequence number."""
    return header[3:16]


class Neighbours:
    """All ten, in one thread."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        for link in range(LINKS):
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            one.bind((f"p{link}", 0))
            self.sockets.append(one)
        self.full = [False] * LINKS
        self.waiting: dict[bytes, bytes] = {}
        """Advertisements that the daemon has not acknowledged."""

    def send(self, link: int, kind: int, body: bytes) -> None:
        """A packet to all routers of a link."""
        own = bytes((10, 0, 0, link + 1))
        header = struct.pack("!BBH4s4s", 2, kind, 24 + len(body), own, bytes(4))
        checksum = summed(header + bytes(4) + body)
        packet = header + struct.pack("!HH8x", checksum, 0) + body
        source = socket.inet_aton(on(link, 2))
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0xC0, 20 + len(packet), 0, 0, 1, 89, 0, source, TO_ALL)
        ip = ip[:10] + struct.pack("!H", summed(ip)) + ip[12:]
        ethernet = bytes.fromhex("01005e000005") + bytes((2, 0, 0, 0, 1, link)) + b"\x08\x00"
        self.sockets[link].send(ethernet + ip + packet)

    def greet(self, link: int) -> None:
        """A Hello that has heard the daemon, and an offer to describe the database (RFC 2328, A.3.2)."""
        mask, nobody = b"\xff\xff\xff\xfc", bytes(4)
        hello = struct.pack("!4sHBBI4s4s4s", mask, HELLO_S, 2, 1, DEAD_S, nobody, nobody, ROOT_ID)
        self.send(link, HELLO, hello)
        self.describe(link, INIT | MORE | MASTER, 1)

    def describe(self, link: int, flags: int, sequence: int) -> None:
        """A description of nothing."""
        self.send(link, DESCRIPTION, struct.pack("!HBBI", 1500, 2, flags, sequence))

    def hear(self, wait_s: float) -> None:
        """Answers what comes within a time."""
        ready, _, _ = select.select(self.sockets, [], [], wait_s)
        for one in ready:
            link = self.sockets.index(one)
            while True:
                try:
                    frame = one.recv(65535, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    break
                # From the daemon, not what was sent here.
                if frame[23] == 89 and frame[26:30] == socket.inet_aton(on(link, 1)):
                    begin = 14 + 4 * (frame[14] & 15)
                    length = struct.unpack("!H", frame[begin + 2 : begin + 4])[0]
                    self.answer(link, frame[begin + 1], frame[begin + 24 : begin + length])

    def answer(self, link: int, kind: int, body: bytes) -> None:
        """What a packet of the daemon asks for."""
        if kind == DESCRIPTION:
            _, _, flags, sequence = struct.unpack("!HBBI", body[:8])
            if flags & MASTER:
                self.describe(link, INIT | MORE | MASTER, 1)
            elif sequence == 1:
                self.describe(link, MASTER, 2)
            else:
                self.full[link] = True
        elif kind == UPDATE:
            headers = [one[:HEADER_BYTES] for one in advertisements(body[4:])]
            # The advertisement that is flooded back was received, too (RFC 2328, 13, step 7).
            for header in headers:
                self.waiting.pop(named(header), None)
            self.send(link, ACKNOWLEDGEMENT, b"".join(headers))
        elif kind == ACKNOWLEDGEMENT:
            for begin in range(0, len(body), HEADER_BYTES):
                self.waiting.pop(named(body[begin : begin + HEADER_BYTES]), None)

    def meet(self, limit_s: float) -> None:
        """All become adjacent to the daemon."""
        deadline = time.monotonic() + limit_s
        while not all(self.full):
            for link in range(LINKS):
                if not self.full[link]:
                    self.greet(link)
            until = time.monotonic() + 1
            while time.monotonic() < until and not all(self.full):
                self.hear(0.1)
            if time.monotonic() > deadline:
                raise FailedError(f"the daemon has {sum(self.full)} of {LINKS} adjacencies.")

    def flood(self, said: Sequence[bytes], limit_s: float) -> None:
        """Gives the daemon advertisements by the first link, until it has acknowledged all."""
        deadline, last = time.monotonic() + limit_s, time.monotonic()
        left = list(reversed(said))
        while left or self.waiting:
            begun = []
            while left and len(self.waiting) < WINDOW:
                one = left.pop()
                self.waiting[named(one)] = one
                begun.append(one)
            if not begun and time.monotonic() - last > AGAIN_S:
                begun = list(self.waiting.values())
            if begun:
                last = time.monotonic()
                self.update(begun)
            self.hear(0.05)
            if time.monotonic() > deadline:
                raise FailedError(f"the daemon has not taken {len(left) + len(self.waiting)} advertisements.")

    def update(self, said: Sequence[bytes]) -> None:
        """Updates with as many advertisements as packets have room for (RFC 2328, A.3.5)."""
        packet: list[bytes] = []
        for one in [*said, b""]:
            if packet and (not one or sum(map(len, packet)) + len(one) > 1_400):
                self.send(0, UPDATE, struct.pack("!I", len(packet)) + b"".join(packet))
                packet = []
            packet.append(one)

    def rest(self, seconds: float) -> None:
        """Lets time pass."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.hear(left)
