#!/usr/bin/env python3
"""BIRD between two neighbours: what a table costs that passes through it (the anchor of BGP).

    python3 benches/anchors/bird.py [--prefixes 1000000] [--sets 150000] [--updates FILE] [--install]

BIRD runs in a network namespace of its own. One neighbour, a socket of this script, sends it the UPDATEs
that `bench_bgp --write` has written, by TCP over the loopback; another counts what BIRD tells it. Prints one
JSON object: seconds of the processor that BIRD took, the kernel's work for it among them, and bytes that its
resident memory grew by.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from anchorlib import (
    FailedError,
    compiled,
    contained,
    end,
    parser,
    positive,
    require_programs,
    require_root,
    run_anchor,
    summary,
)

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 300
BUILD_LIMIT_S = 900
OWN, FEEDER, SINK = "10.0.0.1", "10.0.0.2", "10.1.0.2"
CONFIG = f"""\
router id 192.0.2.1;
protocol device {{ }}
protocol static {{ ipv4; route {FEEDER}/32 via "lo"; }}
protocol bgp feeder {{
    local {OWN} as 65000; neighbor {FEEDER} as 65101; multihop 2; passive; hold time 0;
    ipv4 {{ import all; export none; }};
}}
protocol bgp sink {{
    local {OWN} as 65000; neighbor {SINK} as 65102; multihop 2; passive; hold time 0;
    ipv4 {{ import none; export where source = RTS_BGP; next hop self; }};
}}
"""
MARKER = b"\xff" * 16
KEEPALIVE = MARKER + struct.pack("!HB", 19, 4)


def check() -> None:
    """Raise `MissingError` in one sentence unless BIRD can be run."""
    require_programs({"/usr/sbin/bird": "bird2", "unshare": "util-linux", "ip": "iproute2"})
    require_root("a network namespace of its own")


def opened(asn: int, address: str) -> bytes:
    """An OPEN with numbers of four octets and IPv4 (RFC 4271, 4.2; RFC 5492, 4)."""
    capabilities = bytes([1, 4, 0, 1, 0, 1, 65, 4]) + struct.pack("!I", asn)
    parameter = bytes([2, len(capabilities)]) + capabilities
    body = struct.pack("!BHH", 4, asn, 0)
    body += socket.inet_aton(address) + bytes([len(parameter)]) + parameter
    return MARKER + struct.pack("!HB", 19 + len(body), 1) + body


def messages(connection: socket.socket) -> tuple[int, bytes]:
    """The next message of a connection: its type and what follows the header."""
    header = exactly(connection, 19)
    length, kind = struct.unpack("!HB", header[16:])
    return kind, exactly(connection, length - 19)


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes."""
    found = bytearray()
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            raise FailedError("BIRD has closed a session.")
        found += part
    return bytes(found)


def session(address: str, asn: int) -> socket.socket:
    """A session with BIRD, established."""
    deadline = time.monotonic() + 30
    while True:
        connection = socket.socket()
        connection.bind((address, 0))
        try:
            connection.connect((OWN, 179))
            break
        except OSError:
            connection.close()
            if time.monotonic() > deadline:
                raise FailedError("BIRD does not listen.") from None
            time.sleep(0.05)
    connection.sendall(opened(asn, address))
    kind, _ = messages(connection)
    if kind != 1:
        raise FailedError(f"BIRD answers an OPEN by a message of type {kind}.")
    connection.sendall(KEEPALIVE)
    return connection


def destinations(update: bytes) -> int:
    """How many prefixes an UPDATE tells: they are all of 24 bits."""
    (withdrawn,) = struct.unpack_from("!H", update)
    (attributes,) = struct.unpack_from("!H", update, 2 + withdrawn)
    return (len(update) - 4 - withdrawn - attributes) // 4


def spent(pid: int) -> tuple[float, int]:
    """Seconds of the processor that a process has had, and its resident bytes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")


def inside(updates: Path, prefixes: int) -> dict[str, object]:
    """The measurement, in the namespace."""
    for command in ("link set lo up", *(f"addr add {one}/32 dev lo" for one in (OWN, FEEDER, SINK))):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "bird.conf")
        config.write_text(CONFIG)
        command = ["bird", "-f", "-c", str(config), "-s", f"{folder}/ctl", "-P", f"{folder}/pid"]
        bird = subprocess.Popen(contained(command, own_network=False), stderr=subprocess.DEVNULL)
        try:
            sink = session(SINK, 65102)
            feeder = session(FEEDER, 65101)
            before = spent(bird.pid)
            sending = threading.Thread(target=feeder.sendall, args=(updates.read_bytes(),), daemon=True)
            sending.start()
            told, deadline = 0, time.monotonic() + LIMIT_S
            sink.settimeout(LIMIT_S)
            while told < prefixes:
                kind, body = messages(sink)
                told += destinations(body) if kind == 2 else 0
                if time.monotonic() > deadline:
                    raise FailedError(f"BIRD has told {told} of {prefixes} prefixes within {LIMIT_S} s.")
            after = spent(bird.pid)
        finally:
            end(bird)
    seconds, held = after[0] - before[0], after[1] - before[1]
    return {"prefixes": told, "seconds": round(seconds, 3), "bytes_per_prefix": round(held / told, 1)}


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Has the UPDATEs written, and runs itself in a namespace as often as there are samples."""
    with tempfile.TemporaryDirectory() as folder:
        updates = options.updates or Path(folder, "updates")
        if options.updates is None:
            counts = ["--prefixes", str(options.prefixes), "--sets", str(options.sets)]
            command = ["cargo", "run", "--release", "-q", "-p", "twinplane-control", "--example", "bench_bgp"]
            compiled("bench_bgp", [*command, "--", *counts, "--write", str(updates)], BUILD_LIMIT_S)
        own = [sys.executable, __file__, "--inside", "--updates", str(updates)]
        own += ["--prefixes", str(options.prefixes)]
        samples = []
        for _ in range(options.runs):
            done = subprocess.run(
                contained(own), capture_output=True, text=True, check=False, timeout=2 * LIMIT_S
            )
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines() or ["BIRD gave no figure."]
                raise FailedError(lines[-1])
            samples.append(json.loads(done.stdout.splitlines()[-1]))
    figures = {name: summary([one[name] for one in samples]) for name in ("seconds", "bytes_per_prefix")}
    medians = {name: one["median"] for name, one in figures.items()}
    return {"anchor": "bird", "prefixes": options.prefixes, **medians, "detail": figures}


def main() -> int:
    """Command line."""
    options = parser("Measure BIRD between two neighbours.", runs=1)
    options.add_argument("--prefixes", type=positive, default=1_000_000, help="prefixes of 24 bits")
    options.add_argument("--sets", type=positive, default=150_000, help="different sets of attributes")
    options.add_argument("--updates", type=Path, help="UPDATEs that are there already")
    options.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.inside:
        try:
            print(json.dumps(inside(chosen.updates, chosen.prefixes)))
        except (FailedError, OSError, subprocess.CalledProcessError) as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    return run_anchor(chosen, ["bird2"], check, measure)


if __name__ == "__main__":
    sys.exit(main())
