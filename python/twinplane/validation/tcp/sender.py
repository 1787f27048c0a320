"""Sends bytes over TCP of the kernel, and notes what the kernel knows of the connection meanwhile.

python sender.py ADDRESS PORT BYTES CONGESTION

It is a program of its own, which runs in a host's namespace. At the end it prints when it began, on the
monotonic clock, and a row for each look: seconds since then, segments in flight, bytes acknowledged, segments
sent again, the smoothed round-trip time in microseconds.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time

TCP_INFO, TCP_CONGESTION = 11, 13
# Places in struct tcp_info (linux/tcp.h).
UNACKED, RTT, TOTAL_RETRANS, BYTES_ACKED = 24, 68, 100, 120
EACH_S = 0.005
BLOCK = 16_384


def look(connection: socket.socket, begin_ns: int) -> list[float]:
    """A row."""
    info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    unacked, rtt, again = (struct.unpack_from("I", info, place)[0] for place in (UNACKED, RTT, TOTAL_RETRANS))
    (acked,) = struct.unpack_from("Q", info, BYTES_ACKED)
    return [(time.monotonic_ns() - begin_ns) / 1e9, unacked, acked, again, rtt]


def main(address: str, port: str, size: str, congestion: str) -> None:
    """See the module."""
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, congestion.encode())
    done = threading.Event()
    rows: list[list[float]] = []

    def watch() -> None:
        while not done.wait(EACH_S):
            rows.append(look(connection, begin_ns))

    begin_ns = time.monotonic_ns()
    connection.connect((address, int(port)))
    watching = threading.Thread(target=watch)
    watching.start()
    block, left = bytes(BLOCK), int(size)
    while left > 0:
        left -= connection.send(block[: min(left, BLOCK)])
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)  # the other end closes when it has read all
    done.set()
    watching.join()
    rows.append(look(connection, begin_ns))
    print(json.dumps({"begin_ns": begin_ns, "rows": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
