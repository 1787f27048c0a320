"""Reads what a connection of the kernel's TCP brings, with a window of so many bytes.

python receiver.py PORT WINDOW

It is a program of its own, which runs in a host's namespace. It says `ready` when it listens, and at the end
how many bytes it has read, and when it read the last, on the monotonic clock.
"""

from __future__ import annotations

import json
import socket
import sys
import time

TCP_WINDOW_CLAMP, SO_RCVBUFFORCE = 10, 33
ROOM = 1 << 22
"""Bytes of the receive buffer: so much that only the clamp bounds the window."""


def main(port: str, window: str) -> None:
    """See the module."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    listener.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, int(window))
    listener.bind(("", int(port)))
    listener.listen()
    print("ready", flush=True)
    connection, _ = listener.accept()
    read = last_ns = 0
    while data := connection.recv(1 << 16):
        last_ns = time.monotonic_ns()
        read += len(data)
        # The kernel forgets the clamp when it has learnt how much memory the bytes of a segment take.
        connection.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, int(window))
    print(json.dumps({"bytes": read, "last_ns": last_ns}), flush=True)
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
