#!/usr/bin/env python3
"""dpdk-testpmd from memory to memory on one core: Mpps in io and macswap modes.

    python3 benches/anchors/testpmd.py [--way both|one|all] [--seconds 2] [--runs 3] [--install]

The source is `net_pcap` with `infinite_rx` (64-byte MPLS frames, each copied into a fresh buffer), the
destination `net_null,copy=1` (each copied out). testpmd forwards port pairs in both directions, and
`net_null` too receives without end, so the one forwarding core also carries as many packets back.

`both`: the set-up as it stands; the figure is packets per second in one direction, while the core
        carries the other direction as well. `io_mpps`, `macswap_mpps`.
`one`:  the way back runs on a second worker in the kernel's idle class on the same processor, so
        that the core does the way forth alone. `io_one_way_mpps`, `macswap_one_way_mpps`.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anchorlib import (
    FailedError,
    contained,
    end,
    hugepages,
    parser,
    positive,
    require_programs,
    require_root,
    run_anchor,
    run_idle,
    sleep_until,
    summary,
    threads,
    two_processors,
    write_mpls_pcap,
)

PACKAGES = ("dpdk-dev",)
PROMPT = "testpmd> "
MODES = ("io", "macswap")
START_LIMIT_S = 30.0
HUGEPAGES_MB = 1024
WARM_UP_S = 0.5
NULL_PORT = 1
TX_PPS = re.compile(r"Tx-pps:\s+(\d+)")


def check() -> None:
    """Raise `MissingError` in one sentence unless testpmd can run here."""
    require_programs({"dpdk-testpmd": "dpdk-dev", "unshare": "util-linux", "setpriv": "util-linux"})
    require_root("testpmd")
    two_processors()


class Testpmd:
    """A running testpmd and its prompt."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        """Take over a started process whose output arrives at `terminal`."""
        self.process = process
        self._terminal = terminal

    def read_to_prompt(self, limit_s: float) -> str:
        """Everything printed until the prompt is back."""
        text = ""
        deadline = time.monotonic() + limit_s
        while not text.endswith(PROMPT):
            left = deadline - time.monotonic()
            if left <= 0:
                raise FailedError(f"testpmd did not answer within {limit_s:.0f} s.")
            if not select.select([self._terminal], [], [], left)[0]:
                continue
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:
                chunk = b""  # the far side of the terminal is closed
            if not chunk:
                lines = [line for line in text.splitlines() if line.strip()] or ["no output"]
                raise FailedError(f"testpmd ended early: {lines[-1].strip()}")
            text += chunk.decode(errors="replace")
        return text

    def command(self, line: str, limit_s: float = 15.0) -> str:
        """Give one command and return what it printed."""
        if self.process.stdin is None:
            raise FailedError("testpmd has no input.")
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise FailedError("testpmd ended early.") from error
        return self.read_to_prompt(limit_s)

    def sent_mpps(self) -> float:
        """Rate into the null device since the last time this was asked (testpmd's own clock)."""
        found = TX_PPS.search(self.command(f"show port stats {NULL_PORT}"))
        if found is None:
            raise FailedError("testpmd printed no transmit rate.")
        return int(found[1]) / 1e6


@contextmanager
def running(folder: Path, labels: int, *, one_way: bool) -> Iterator[Testpmd]:
    """Start testpmd on the frames in `folder`, and end it whatever happens."""
    keeper, forwarder = two_processors()
    lcores = f"0@{keeper},1@{forwarder}" + (f",2@{forwarder}" if one_way else "")
    frames = folder / "frames.pcap"
    write_mpls_pcap(frames, labels)
    command = contained(
        [
            "dpdk-testpmd",
            *("--lcores", lcores, "--no-pci", "--in-memory", "--no-telemetry"),
            *("--vdev", f"net_pcap0,rx_pcap={frames},infinite_rx=1"),
            *("--vdev", "net_null0,copy=1"),
            *("--", "-i", f"--nb-cores={2 if one_way else 1}"),
        ]
    )
    ours, theirs = pty.openpty()  # a terminal, so that the prompt is not held in a buffer
    process = None
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "RUNTIME_DIRECTORY": str(folder)},
        )
        os.close(theirs)
        testpmd = Testpmd(process, ours)
        testpmd.read_to_prompt(START_LIMIT_S)
        if one_way:
            worker = threads(process.pid).get("rte-worker-2")
            if worker is None:
                raise FailedError("testpmd has no worker thread for the way back.")
            run_idle(worker, forwarder)
        yield testpmd
    finally:
        if process is not None:
            if process.stdin is not None:
                with suppress(BrokenPipeError):
                    process.stdin.close()
            end(process)
        os.close(ours)


def sample_modes(options: argparse.Namespace, *, one_way: bool) -> dict[str, list[float]]:
    """One testpmd, its modes alternated."""
    samples: dict[str, list[float]] = {mode: [] for mode in MODES}
    with (
        tempfile.TemporaryDirectory(prefix="twinplane-testpmd-") as name,
        running(Path(name), options.labels, one_way=one_way) as testpmd,
    ):
        for _ in range(options.runs):
            for mode in MODES:
                testpmd.command(f"set fwd {mode}")
                testpmd.command("start")
                sleep_until(time.monotonic() + WARM_UP_S)
                testpmd.sent_mpps()
                sleep_until(time.monotonic() + options.seconds)
                samples[mode].append(testpmd.sent_mpps())
                testpmd.command("stop")
    if min(min(values) for values in samples.values()) <= 0:
        raise FailedError("testpmd forwarded nothing.")
    return samples


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Medians of both modes, for the ways that were asked for."""
    result: dict[str, object] = {"anchor": "dpdk-testpmd", "labels": options.labels}
    detail: dict[str, object] = {}
    with hugepages(HUGEPAGES_MB):
        for one_way in (False, True):
            if options.way not in ("all", "one" if one_way else "both"):
                continue
            for mode, values in sample_modes(options, one_way=one_way).items():
                name = f"{mode}{'_one_way' if one_way else ''}_mpps"
                result[name] = summary(values)["median"]
                detail[name] = summary(values)
    result["detail"] = detail
    return result


def main() -> int:
    """Command line."""
    options = parser("Measure dpdk-testpmd from memory to memory.", runs=3, seconds=1.0)
    options.add_argument("--labels", type=positive, default=1000, help="frames in the source")
    options.add_argument("--way", choices=("both", "one", "all"), default="all")
    chosen = options.parse_args()
    if chosen.labels > 20_000:
        options.error("--labels must be 20000 or less (each takes a packet buffer)")
    return run_anchor(chosen, PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
