#!/usr/bin/env python3
"""A source of equal frames that costs 0.1 us a frame: the kernel runs an XDP program that redirects each.

    live_source.py INTERFACE --frame HEX [--seconds 2]

BPF_PROG_TEST_RUN with BPF_F_TEST_XDP_LIVE_FRAMES (Linux 5.18) makes frames and hands them to the
program, which writes the 60 bytes anew (the pages come back as the device left them) and redirects them
out of the interface. No socket buffer is made, and no system call for each frame: the source is never the
bottleneck. The other end of a veth must poll (`ethtool -K ... gro on`, or an XDP program there). It ends
after the time given, or on SIGTERM.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import signal
import socket
import struct
import sys
from types import FrameType

SYS_BPF = {"x86_64": 321, "aarch64": 280}
PROG_LOAD, PROG_TEST_RUN = 5, 10
PROG_TYPE_XDP = 6
LIVE_FRAMES = 1 << 1
HELPER_REDIRECT = 23
BATCH = 64
FOREVER = 2**31 - 1
ATTRIBUTE_BYTES = 144
LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command: int, attribute: bytes) -> int:
    """One bpf(2) call."""
    buffer = ctypes.create_string_buffer(attribute.ljust(ATTRIBUTE_BYTES, b"\0"), ATTRIBUTE_BYTES)
    number = SYS_BPF.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOSYS, f"bpf(2) has no known number on {os.uname().machine}")
    result = int(LIBC.syscall(number, command, buffer, ATTRIBUTE_BYTES))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def instruction(code: int, destination: int, source: int, offset: int, immediate: int) -> bytes:
    """One instruction of the BPF machine."""
    return struct.pack("<BBhi", code, source << 4 | destination, offset, immediate)


def program(frame: bytes, interface: int) -> bytes:
    """`if (data + N <= data_end) { write N bytes } return bpf_redirect(interface, 0);`"""
    words = struct.unpack(f"<{len(frame) // 4}i", frame)
    return b"".join(
        (
            instruction(0x61, 2, 1, 0, 0),  # r2 = ctx->data
            instruction(0x61, 3, 1, 4, 0),  # r3 = ctx->data_end
            instruction(0xBF, 4, 2, 0, 0),  # r4 = r2
            instruction(0x07, 4, 0, 0, len(frame)),  # r4 += N
            instruction(0x2D, 4, 3, len(words), 0),  # if r4 > r3 skip the writes
            *(instruction(0x62, 2, 0, 4 * i, word) for i, word in enumerate(words)),
            instruction(0xB7, 1, 0, 0, interface),
            instruction(0xB7, 2, 0, 0, 0),
            instruction(0x85, 0, 0, 0, HELPER_REDIRECT),
            instruction(0x95, 0, 0, 0, 0),  # return r0
        )
    )


def load(code: bytes) -> int:
    """Load an XDP program and return its descriptor."""
    text, licence = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"MIT")
    attribute = struct.pack(
        "<IIQQ", PROG_TYPE_XDP, len(code) // 8, ctypes.addressof(text), ctypes.addressof(licence)
    )
    return bpf(PROG_LOAD, attribute)


def send(descriptor: int, frame: bytes) -> bool:
    """Send without end. True if it was interrupted, which the kernel does to itself now and then."""
    data = ctypes.create_string_buffer(frame, len(frame))
    attribute = struct.pack(
        "<IIIIQQIIIIQQIII",
        *(descriptor, 0, len(frame), 0, ctypes.addressof(data), 0),
        *(FOREVER, 0, 0, 0, 0, 0, LIVE_FRAMES, 0, BATCH),
    )
    try:
        bpf(PROG_TEST_RUN, attribute)
    except OSError as error:
        if error.errno != errno.EINTR:
            raise
        return True
    return False


def main() -> int:
    """Command line."""
    options = argparse.ArgumentParser(description="Send one frame again and again out of an interface.")
    options.add_argument("interface")
    options.add_argument("--frame", type=bytes.fromhex, required=True, help="hexadecimal, no check sequence")
    options.add_argument("--seconds", type=float, default=2.0)
    chosen = options.parse_args()
    if len(chosen.frame) % 4 or not 16 <= len(chosen.frame) <= 256:
        options.error("--frame must have 16 to 256 bytes, a multiple of 4")

    stopped: list[int] = []

    def stop(signum: int, _frame: FrameType | None) -> None:
        """Interrupts the system call."""
        stopped.append(signum)

    for name in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)
        signal.siginterrupt(name, True)
    try:
        descriptor = load(program(chosen.frame, socket.if_nametoindex(chosen.interface)))
        signal.setitimer(signal.ITIMER_REAL, chosen.seconds)
        while send(descriptor, chosen.frame) and not stopped:
            pass
    except OSError as error:
        print(f"The frame source can't run: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
