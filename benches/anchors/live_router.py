#!/usr/bin/env python3
"""What a Twinplane router process costs: start, memory, processor time, and fifty of them at once.

    python3 benches/anchors/live_router.py [--lsps 1000] [--many 50] [--seconds 10]

`start_ms`:        from starting the program until it says that it is ready, with its network described.
`resident_mb`:     memory of the transit router with all LSPs up.
`idle_percent`:    processor time of a router without LSPs, of one processor.
`refresh_percent`: the same of the transit router while every LSP is refreshed (RFC 2205: 30 s).
`many_*`:          a ring of routers with an LSP from each to the one across: seconds until all are ready
                   and all LSPs up, the sum of resident memory, and of processor time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from anchorlib import FailedError, end, parser, positive, run_anchor
from live_bed import check_bed
from live_lab import COMMAND, Lab, check_lab, lab

CHAIN = """
nodes:
  pe1: {kind: router}
  p: {kind: router}
  pe2: {kind: router}
links:
  - [pe1, p]
  - [p, pe2]
"""
STARTS = 10
SETTLE_S = 3.0
READY_LIMIT_S = 20.0


def resident_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise FailedError(f"Process {pid} has no memory.")


def processor_s(pid: int) -> float:
    """Processor time that the threads of a process used, to the nanosecond."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def load_percent(pids: Iterable[int], seconds: float) -> list[float]:
    """What share of a processor each process used for a while."""
    watched = list(pids)
    before, begin = [processor_s(pid) for pid in watched], time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - begin
    return [(processor_s(pid) - used) / elapsed * 100 for pid, used in zip(watched, before, strict=True)]


def start_ms(made: Lab) -> list[float]:
    """Start the transit router again and again, in its own namespace, in place of the lab's."""
    made.kill("p")
    config = Path(f"/run/twinplane/labs/{made.name}/nodes/p.json")
    program = str(COMMAND.with_name("twinplane-router"))
    taken = []
    with tempfile.TemporaryDirectory(prefix="twinplane-start-") as folder:
        command = [program, "--node", "p", "--config", str(config), "--socket", f"{folder}/p.sock"]
        for _ in range(STARTS + 1):
            begin = time.monotonic()
            process = subprocess.Popen(
                [*command, "--ready-fd", "1"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            try:
                if process.stdout is None or not os.read(process.stdout.fileno(), 1):
                    words = process.communicate(timeout=READY_LIMIT_S)[1].decode().strip()
                    raise FailedError(words or "The router did not start.")
                taken.append((time.monotonic() - begin) * 1e3)
            finally:
                end(process)
                for stream in (process.stdout, process.stderr):
                    if stream is not None:
                        stream.close()
    return taken[1:]  # the first one fills the file cache


def pids(made: Lab) -> dict[str, int]:
    """Router processes by node."""
    return {name: node["pid"] for name, node in made.nodes().items() if node["pid"]}


def one(lsps: int, seconds: float) -> dict[str, float]:
    """A router between two others, first without LSPs and then with many."""
    with lab(CHAIN) as made:
        time.sleep(SETTLE_S)
        transit = pids(made)["p"]
        idle = load_percent([transit], seconds)[0]
        bare = resident_mb(transit)
        starts = start_ms(made)
    text = f"{CHAIN}lsps:\n  - {{name: many, from: pe1, to: pe2, route: [p, pe2], count: {lsps}}}\n"
    with lab(text) as made:
        made.wait_for_lsps("p", lsps)
        time.sleep(SETTLE_S)
        processes = pids(made)
        busy = load_percent([processes["p"]], max(seconds, 30.0))[0]
        resident = {node: resident_mb(pid) for node, pid in processes.items()}
    return {
        "start_ms": statistics.median(starts),
        "idle_percent": idle,
        "bare_mb": bare,
        "refresh_percent": busy,
        "resident_mb": resident["p"],
        "head_resident_mb": resident["pe1"],
    }


def many(count: int, seconds: float) -> dict[str, float]:
    """A ring of routers, all on this machine."""
    names = [f"r{i}" for i in range(count)]
    lines = ["nodes:", *(f"  {name}: {{kind: router}}" for name in names), "links:"]
    lines += [f"  - [{name}, {names[(i + 1) % count]}]" for i, name in enumerate(names)]
    lines += ["lsps:"]
    for i, name in enumerate(names):
        lines.append(f"  - {{name: across-{i}, from: {name}, to: {names[(i + count // 2) % count]}}}")
    begin = time.monotonic()
    with lab("\n".join(lines) + "\n") as made:
        up = time.monotonic() - begin
        found = made.ask("lab", "status", made.name)
        while sum(lsp["state"] == "up" for lsp in found["lsps"]) < count:
            if time.monotonic() - begin > 60 + up:
                raise FailedError("Not all LSPs of the ring came up within 60 s.")
            time.sleep(0.5)
            found = made.ask("lab", "status", made.name)
        signalled = time.monotonic() - begin
        time.sleep(SETTLE_S)
        processes = pids(made)
        if len(processes) < count:
            raise FailedError(f"Only {len(processes)} of {count} routers run.")
        loads = load_percent(processes.values(), seconds)
        memory = [resident_mb(pid) for pid in processes.values()]
    return {
        "many_up_s": up,
        "many_lsps_up_s": signalled,
        "many_resident_mb": sum(memory),
        "many_percent": sum(loads),
        "many_running": len(processes),
    }


def measure(options: argparse.Namespace) -> dict[str, object]:
    """One router, then many."""
    return {
        "lsps": options.lsps,
        "many": options.many,
        **one(options.lsps, options.seconds),
        **many(options.many, options.seconds),
    }


def check() -> None:
    """Raise `MissingError` in one sentence unless labs can be made here."""
    check_bed({})
    check_lab()


def main() -> int:
    """Command line."""
    options = parser("Measure what a router process costs.", runs=1, seconds=10.0)
    options.add_argument("--lsps", type=positive, default=1000, help="LSPs through the transit router")
    options.add_argument("--many", type=positive, default=50, help="routers of the ring")
    return run_anchor(options.parse_args(), ["iproute2", "ethtool"], check, measure)


if __name__ == "__main__":
    sys.exit(main())
