#!/usr/bin/env python3
"""ns-3 with bulk transfers over TCP, through three routers (the anchor of hosts with applications).

    python3 benches/anchors/ns3_tcp.py [--connections 1000] [--seconds 0.3] [--runs 3] [--install]

Builds `ns3_tcp.cc` against Debian's ns-3 once (under `target/`) and prints one JSON object: bytes that
reached programs for each second of the run.
"""

from __future__ import annotations

import argparse
import sys

from anchorlib import parser, positive, run_anchor, summary
from ns3 import PACKAGES, build, check, run_once


def measure(options: argparse.Namespace) -> dict[str, object]:
    """The median of some runs."""
    binary = build("ns3_tcp")
    size = (f"--connections={options.connections}", f"--seconds={options.seconds}")
    runs = [run_once(binary, *size) for _ in range(options.runs)]
    rate = summary([run["bytes_per_s"] for run in runs])
    return {
        "anchor": "ns-3, TCP",
        "bytes": runs[0]["bytes"],
        "bytes_per_s": rate["median"],
        "ns_per_segment": summary([run["ns_per_segment"] for run in runs])["median"],
        "detail": rate,
    }


def main() -> int:
    """Command line."""
    options = parser("Measure ns-3 with bulk transfers over TCP.", runs=3)
    options.add_argument("--connections", type=positive, default=1000, help="connections at once")
    options.add_argument("--seconds", type=float, default=0.3, help="seconds that are simulated")
    return run_anchor(options.parse_args(), PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
