#!/usr/bin/env python3
"""ns-3 on a network with many flows: packet-hops per second (an anchor of the engine).

    python3 benches/anchors/ns3_networks.py --workload FILE [--nix] [--install]

Point-to-point links without queue discipline, static routes. With `--nix` packets carry their route as nix
vectors, which ns-3 offers for large networks.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import ns3
from anchorlib import carried_out, parser, run_anchor

PROGRAM = "ns3_networks"
RUN_LIMIT_S = 170


def measure(options: argparse.Namespace) -> dict[str, object]:
    """One run of the workload."""
    program = [
        str(ns3.build(PROGRAM)),
        f"--workload={options.workload}",
        *(["--nix=true"] if options.nix else []),
    ]
    return carried_out("ns-3", program, RUN_LIMIT_S)


def main() -> int:
    """Command line."""
    options = parser("Run a workload in ns-3.", runs=1)
    options.add_argument("--workload", type=Path, help="file that networks.py wrote")
    options.add_argument("--nix", action="store_true", help="nix vectors instead of static routes")
    chosen = options.parse_args()
    if chosen.workload is None and not chosen.check:
        options.error("--workload is missing")
    return run_anchor(chosen, ns3.PACKAGES, ns3.check, measure)


if __name__ == "__main__":
    sys.exit(main())
