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
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anchorlib import (
    FailedError,
    contained,
    parser,
    run_anchor,
    run_idle,
    sleep_until,
    summary,
    threads,
    two_processors,
)
from dpdk import DRAIN, EAL, Testpmd, add_labels, check_dpdk, check_labels, label_source, testpmd, workspace

PACKAGES = ("dpdk-dev",)
MODES = ("io", "macswap")
WARM_UP_S = 0.5
NULL_PORT = 1


def check() -> None:
    """Raise `MissingError` in one sentence unless testpmd can run here."""
    check_dpdk("testpmd", {"dpdk-testpmd": "dpdk-dev"})


@contextmanager
def running(folder: Path, labels: int, *, one_way: bool) -> Iterator[Testpmd]:
    """Start testpmd between the source and the drain, and end it whatever happens."""
    keeper, forwarder = two_processors()
    lcores = f"0@{keeper},1@{forwarder}" + (f",2@{forwarder}" if one_way else "")
    command = contained(
        [
            "dpdk-testpmd",
            *("--lcores", lcores, *EAL),
            *("--vdev", label_source(folder, labels)),
            *("--vdev", DRAIN),
            *("--", "-i", f"--nb-cores={2 if one_way else 1}"),
        ]
    )
    with testpmd(command, folder) as started:
        if one_way:
            worker = threads(started.process.pid).get("rte-worker-2")
            if worker is None:
                raise FailedError("testpmd has no worker thread for the way back.")
            run_idle(worker, forwarder)
        yield started


def sample_modes(options: argparse.Namespace, folder: Path, *, one_way: bool) -> dict[str, list[float]]:
    """One testpmd, its modes alternated."""
    samples: dict[str, list[float]] = {mode: [] for mode in MODES}
    with running(folder, options.labels, one_way=one_way) as started:
        for _ in range(options.runs):
            for mode in MODES:
                started.command(f"set fwd {mode}")
                started.command("start")
                sleep_until(time.monotonic() + WARM_UP_S)
                started.sent_mpps(NULL_PORT)
                sleep_until(time.monotonic() + options.seconds)
                samples[mode].append(started.sent_mpps(NULL_PORT))
                started.command("stop")
    if min(min(values) for values in samples.values()) <= 0:
        raise FailedError("testpmd forwarded nothing.")
    return samples


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Medians of both modes, for the ways that were asked for."""
    result: dict[str, object] = {"anchor": "dpdk-testpmd", "labels": options.labels}
    detail: dict[str, object] = {}
    with workspace("testpmd") as folder:
        for one_way in (False, True):
            if options.way not in ("all", "one" if one_way else "both"):
                continue
            for mode, values in sample_modes(options, folder, one_way=one_way).items():
                name = f"{mode}{'_one_way' if one_way else ''}_mpps"
                result[name] = summary(values)["median"]
                detail[name] = summary(values)
    result["detail"] = detail
    return result


def main() -> int:
    """Command line."""
    options = parser("Measure dpdk-testpmd from memory to memory.", runs=3, seconds=1.0)
    add_labels(options, "frames in the source")
    options.add_argument("--way", choices=("both", "one", "all"), default="all")
    chosen = options.parse_args()
    check_labels(options, chosen)
    return run_anchor(chosen, PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
