#!/usr/bin/env python3
"""A source of equal frames at a rate, through a packet socket.

    live_paced.py INTERFACE --frame HEX --packets-per-s N [--seconds 2]

It sends what is due and sleeps for a while: several frames go at once at high rates. It is for devices that
have something to wait in; how evenly frames leave it is not the question. What the interface refuses is not
sent again. It prints how many frames a second it sent.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import sys
import time

SOL_PACKET, QDISC_BYPASS = 263, 20  # linux/if_packet.h
SO_SNDBUFFORCE, SNDBUF = 32, 64 << 20  # asm-generic/socket.h; the device's queue is shorter
SLEEP_S = 0.0005


def send(out: socket.socket, frame: bytes, packets_per_s: float, seconds: float) -> float:
    """Send until the time is over; returns frames a second: less than asked for if it can't keep up."""
    begin = time.monotonic()
    sent = 0
    while (elapsed := time.monotonic() - begin) < seconds:
        due = int(elapsed * packets_per_s) + 1
        if due <= sent:
            time.sleep(max(SLEEP_S, (sent + 1) / packets_per_s - elapsed))
        # Now and then the clock is looked at: one that can't keep up still ends in time.
        for _ in range(min(due - sent, 1000)):
            with contextlib.suppress(OSError):
                out.send(frame)
            sent += 1
    return sent / elapsed


def main() -> int:
    """Command line."""
    options = argparse.ArgumentParser(description="Send one frame again and again at a rate.")
    options.add_argument("interface")
    options.add_argument("--frame", type=bytes.fromhex, required=True, help="hexadecimal, no check sequence")
    options.add_argument("--packets-per-s", type=float, required=True)
    options.add_argument("--seconds", type=float, default=2.0)
    chosen = options.parse_args()
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as out:
            out.setsockopt(SOL_PACKET, QDISC_BYPASS, 1)
            out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, SNDBUF)
            out.bind((chosen.interface, 0))
            print(send(out, chosen.frame, chosen.packets_per_s, chosen.seconds))
    except OSError as error:
        print(f"The frame source can't run: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
