#!/usr/bin/env python3
"""FRR's ldpd with the labels of `bench_ldp`: what it takes to have an entry for each of its own.

    python3 benches/anchors/ldpd.py [--prefixes 100000] [--install]

ldpd and zebra run in a network namespace of their own, where the kernel has a route for each prefix by the
same neighbour. That neighbour, this script in another namespace at the other end of a veth, opens a session
and sends the PDUs that `bench_ldp --write` has written. Prints one JSON object: seconds of the processor
that the three processes of ldpd took from the first PDU until it has all labels and has handed its entries
to zebra, and `zebra_s`, those of zebra for them. This kernel may have no MPLS; ldpd asks for the entries
all the same.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
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

BUILD_LIMIT_S = 900
LIMIT_S = 500
SETTLE_S = 2.0
"""Nobody works for so long: all is done."""
OWN, FEEDER, OWN_ID, FEEDER_ID = "10.0.0.1", "10.0.0.2", "192.0.2.9", "192.0.2.1"
PORT = 646
HELLO, INITIALIZATION, KEEPALIVE, ADDRESS = 0x0100, 0x0200, 0x0201, 0x0300
CONFIG = f"""\
mpls ldp
 router-id {OWN_ID}
 discovery hello holdtime 600
 address-family ipv4
  discovery transport-address {OWN}
  label local allocate all
  session holdtime 600
  interface e0
  exit
 exit-address-family
"""


def check() -> None:
    """Raise `MissingError` in one sentence unless ldpd can be run."""
    require_programs({"/usr/lib/frr/ldpd": "frr", "vtysh": "frr", "unshare": "util-linux", "ip": "iproute2"})
    require_root("network namespaces of its own")


def message(kind: int, body: bytes) -> bytes:
    """A PDU with one message (RFC 5036, 3.1 and 3.5)."""
    text = struct.pack("!HHI", kind, 4 + len(body), 1) + body
    return struct.pack("!HH4sH", 1, 6 + len(text), socket.inet_aton(FEEDER_ID), 0) + text


def tlv(kind: int, value: bytes) -> bytes:
    """RFC 5036, 3.3."""
    return struct.pack("!HH", kind, len(value)) + value


def feed(pdus: Path) -> int:
    """The neighbour, in its namespace: opens a session, and sends the labels when it is told to."""
    hello = tlv(0x0400, struct.pack("!HH", 600, 0)) + tlv(0x0401, socket.inet_aton(FEEDER))
    greeting = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    greeting.bind((FEEDER, PORT))
    greeting.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(FEEDER))
    connection = None
    for _ in range(300):
        greeting.sendto(message(HELLO, hello), ("224.0.0.2", PORT))
        try:
            connection = socket.create_connection((OWN, PORT), 1, (FEEDER, 0))
            break
        except OSError:
            time.sleep(0.1)
    if connection is None:
        print("ldpd does not listen.", file=sys.stderr)
        return 1
    connection.settimeout(60)
    session = struct.pack("!HHBBH4sH", 1, 600, 0, 0, 4096, socket.inet_aton(OWN_ID), 0)
    addresses = tlv(0x0101, struct.pack("!H", 1) + socket.inet_aton(FEEDER) + socket.inet_aton(FEEDER_ID))
    connection.sendall(message(INITIALIZATION, tlv(0x0500, session)))
    # Who is connected to answers with its own, and a KeepAlive confirms each (RFC 5036, 2.5.3).
    if not connection.recv(4096):
        print("ldpd refuses the session.", file=sys.stderr)
        return 1
    connection.sendall(message(KEEPALIVE, b"") + message(ADDRESS, addresses))
    print("up", flush=True)
    data, is_asked = memoryview(pdus.read_bytes()), False
    connection.setblocking(False)
    while True:
        told = [connection] if is_asked and data else []
        heard = [connection] if is_asked else [connection, sys.stdin]
        readable, writable, _ = select.select(heard, told, [])
        if sys.stdin in readable:
            is_asked = bool(sys.stdin.readline())
        if connection in readable and not connection.recv(1 << 20):
            print("ldpd has closed the session.", file=sys.stderr)
            return 1
        if writable:
            data = data[connection.send(data) :]


def spent(pids: list[int]) -> float:
    """Seconds of the processor that processes have had, with all of their threads."""
    tasks = [task for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def ask(folder: Path, question: str) -> str:
    """What vtysh says."""
    command = ["vtysh", "--vty_socket", str(folder), "-c", question]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout


def children(pid: int) -> list[int]:
    """The processes that a process has begun."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def inside(pdus: Path, prefixes: int) -> dict[str, object]:
    """The measurement, in the namespace."""
    feeder = subprocess.Popen(
        contained(["sh", "-c", f"read go; exec {sys.executable} {__file__} --feed {pdus}"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert feeder.stdin is not None and feeder.stdout is not None
    processes = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            for _ in range(100):
                if Path(f"/proc/{feeder.pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink():
                    break
                time.sleep(0.05)
            for command in (
                "link set lo up",
                f"addr add {OWN_ID}/32 dev lo",
                f"link add e0 type veth peer name p0 netns {feeder.pid}",
                f"addr add {OWN}/24 dev e0",
                "link set e0 up",
            ):
                subprocess.run(["ip", *command.split()], check=True, capture_output=True)
            for command in (
                f"addr add {FEEDER}/24 dev p0",
                f"addr add {FEEDER_ID}/32 dev lo",
                "link set p0 up",
            ):
                into = ["nsenter", "-t", str(feeder.pid), "-n", "ip", *command.split()]
                subprocess.run(into, check=True, capture_output=True)
            first = 1 << 24
            routes = "".join(
                f"route add {socket.inet_ntoa(struct.pack('!I', first + (place << 8)))}/24 via {FEEDER}\n"
                for place in range(prefixes)
            )
            routes += f"route add {FEEDER_ID}/32 via {FEEDER}\n"
            subprocess.run(["ip", "-batch", "-"], input=routes, text=True, check=True, capture_output=True)
            folder.joinpath("zebra.conf").write_text("hostname anchor\n")
            folder.joinpath("ldpd.conf").write_text(CONFIG)
            subprocess.run(["chown", "-R", "frr:frr", str(folder)], check=True)
            for daemon in ("zebra", "ldpd"):
                options = ["-f", f"{folder}/{daemon}.conf", "-i", f"{folder}/{daemon}.pid", "-P", "0"]
                options += ["-z", f"{folder}/zserv.api", "--vty_socket", str(folder)]
                if daemon == "ldpd":
                    options += ["--ctl_socket", str(folder)]
                command = contained([f"/usr/lib/frr/{daemon}", *options], own_network=False)
                quiet = subprocess.DEVNULL
                processes.append(subprocess.Popen(command, stdout=quiet, stderr=quiet))
                deadline = time.monotonic() + 30
                while not folder.joinpath(f"{daemon}.vty").exists():
                    if time.monotonic() > deadline:
                        raise FailedError(f"{daemon} of FRR does not start.")
                    time.sleep(0.05)
            zebra, ldpd = processes[0].pid, processes[1].pid
            rest([zebra, ldpd, *children(ldpd)], 120)
            feeder.stdin.write("\n")
            feeder.stdin.flush()
            if feeder.stdout.readline() != "up\n":
                raise FailedError("there is no session with ldpd.")
            all_of_it = [ldpd, *children(ldpd)]
            # Its own labels for the neighbour are no part of what is measured.
            rest([zebra, *all_of_it], 120)
            before, of_zebra = spent(all_of_it), spent([zebra])
            feeder.stdin.write("\n")
            feeder.stdin.flush()
            begun = time.monotonic()
            rest([zebra, *all_of_it], 180)
            seconds, took = spent(all_of_it) - before, time.monotonic() - begun - SETTLE_S
            zebra_s = spent([zebra]) - of_zebra
            said = ask(folder, "show mpls ldp binding")
            known = len(re.findall(rf"^ipv4\s+\S+\s+{FEEDER_ID}\s+\S+\s+\d+", said, re.MULTILINE))
            if known < prefixes:
                raise FailedError(f"ldpd has {known} labels of {prefixes}.")
        finally:
            end(feeder)
            for process in reversed(processes):
                end(process)
    return {
        "prefixes": known,
        "seconds": round(seconds, 3),
        "zebra_s": round(zebra_s, 3),
        "wall_s": round(took, 2),
    }


def rest(pids: list[int], limit_s: float) -> None:
    """Waits until processes have done next to nothing for a while."""
    deadline = time.monotonic() + limit_s
    while True:
        before = spent(pids)
        time.sleep(SETTLE_S)
        if spent(pids) - before < 0.005:
            return
        if time.monotonic() > deadline:
            raise FailedError(f"FRR is still at work after {limit_s:g} s.")


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Has the PDUs written, and runs itself in a namespace as often as there are samples."""
    with tempfile.TemporaryDirectory() as folder:
        pdus = Path(folder, "pdus")
        command = ["cargo", "run", "--release", "-q", "-p", "twinplane-control", "--example", "bench_ldp"]
        counts = ["--prefixes", str(options.prefixes), "--write", str(pdus)]
        compiled("bench_ldp", [*command, "--", *counts], BUILD_LIMIT_S)
        own = [sys.executable, __file__, "--inside", str(pdus), "--prefixes", str(options.prefixes)]
        samples = []
        for _ in range(options.runs):
            done = subprocess.run(
                contained(own), capture_output=True, text=True, check=False, timeout=LIMIT_S
            )
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines() or ["ldpd gave no figure."]
                raise FailedError(lines[-1])
            samples.append(json.loads(done.stdout.splitlines()[-1]))
    figures = {name: summary([one[name] for one in samples]) for name in ("seconds", "zebra_s", "wall_s")}
    medians = {name: one["median"] for name, one in figures.items()}
    return {"anchor": "ldpd", "prefixes": options.prefixes, **medians, "detail": figures}


def main() -> int:
    """Command line."""
    options = parser("Measure FRR's ldpd with many labels.", runs=1)
    options.add_argument("--prefixes", type=positive, default=100_000)
    options.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--feed", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.feed:
        return feed(chosen.feed)
    if chosen.inside:
        try:
            print(json.dumps(inside(chosen.inside, chosen.prefixes)))
        except (FailedError, OSError, subprocess.SubprocessError) as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    return run_anchor(chosen, ["frr"], check, measure)


if __name__ == "__main__":
    sys.exit(main())
