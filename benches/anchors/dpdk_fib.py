#!/usr/bin/env python3
"""DPDK's rte_fib and rte_fib6: how fast they find the longest prefixes of random destinations.

    python3 benches/anchors/dpdk_fib.py [--prefixes 1000000] [--prefixes6 200000] [--runs 3] [--install]

Builds `dpdk_fib.c` against Debian's DPDK, has `bench_fib --write` write prefixes and destinations, and prints
one JSON object: millions of look-ups each second, 64 at a time, by the fastest way that the library has here
(dir24_8 and trie, next hops of four bytes), and microseconds of updates in between.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from anchorlib import (
    FailedError,
    compiled,
    contained,
    parser,
    positive,
    require_programs,
    run_anchor,
    summary,
)

SOURCE = Path(__file__).resolve().with_suffix(".c")
EAL = ("--no-huge", "--no-pci", "--no-telemetry", "--no-shconf", "-m", "2048")
"""Ordinary pages, as ours have: with hugepages the rate has been up to 6 % higher."""
ROUNDS = 5
LIMIT_S = 120
BUILD_LIMIT_S = 900
FIGURES = ("mlps", "update_p50_us", "update_p999_us")


def check() -> None:
    """Raise `MissingError` in one sentence unless the program can be built."""
    require_programs({"gcc": "gcc", "pkg-config": "pkg-config", "dpdk-testpmd": "dpdk-dev"})


def build(folder: Path) -> Path:
    """The program."""
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "libdpdk"], capture_output=True, text=True, check=False
    )
    if flags.returncode != 0:
        raise FailedError("libdpdk, of the Debian package dpdk-dev, is not known to pkg-config.")
    binary = folder / "dpdk_fib"
    command = ["gcc", "-O3", "-march=native", "-o", str(binary), str(SOURCE), *flags.stdout.split()]
    compiled("dpdk_fib", command, BUILD_LIMIT_S)
    return binary


def run_once(binary: Path, file: Path, family: str) -> dict[str, float]:
    """One run with one family's prefixes."""
    command = [str(binary), str(file), family, str(ROUNDS), *EAL]
    done = subprocess.run(
        contained(command, own_network=False), capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["DPDK gave no figure."]
        raise FailedError(lines[-1])
    return json.loads(done.stdout.splitlines()[-1])


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Medians of some runs of both families."""
    with tempfile.TemporaryDirectory(prefix="twinplane-fib-") as name:
        folder = Path(name)
        binary = build(folder)
        counts = ["--prefixes", str(options.prefixes), "--prefixes6", str(options.prefixes6)]
        example = ["cargo", "run", "--release", "-q", "-p", "twinplane-forwarding", "--example", "bench_fib"]
        compiled("bench_fib", [*example, "--", *counts, "--write", name], BUILD_LIMIT_S)
        figures: dict[str, object] = {"anchor": "rte_fib", "prefixes": options.prefixes}
        detail = {}
        for family in ("4", "6"):
            runs = [run_once(binary, folder / f"ipv{family}", family) for _ in range(options.runs)]
            for key in FIGURES:
                found = summary([run[key] for run in runs])
                figures[f"ipv{family}_{key}"] = found["median"]
                detail[f"ipv{family}_{key}"] = found
            figures[f"ipv{family}_check"] = runs[0]["check"]
    return {**figures, "detail": detail}


def main() -> int:
    """Command line."""
    options = parser("Measure DPDK's tables of prefixes.", runs=3)
    options.add_argument("--prefixes", type=positive, default=1_000_000, help="prefixes of IPv4")
    options.add_argument("--prefixes6", type=positive, default=200_000, help="prefixes of IPv6")
    return run_anchor(options.parse_args(), ["dpdk-dev", "gcc", "pkg-config"], check, measure)


if __name__ == "__main__":
    sys.exit(main())
