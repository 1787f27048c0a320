#!/usr/bin/env python3
"""ns-3 with its traffic-control layer: four flows through three routers with RED (the anchor of classes).

    python3 benches/anchors/ns3_tc.py [--packets 50000] [--runs 3] [--install]

Builds `ns3_tc.cc` against Debian's ns-3 once (under `target/`) and prints one JSON object. ns-3 has no
CBQ: its ports have RED alone, so that it does less than what it is compared with.
"""

from __future__ import annotations

import argparse
import sys

from anchorlib import parser, positive, run_anchor, summary
from ns3 import PACKAGES, build, check, run_once

LEAST = 1000  # fewer would be over before a queue fills


def measure(options: argparse.Namespace) -> dict[str, object]:
    """The median of some runs."""
    binary = build("ns3_tc")
    runs = [run_once(binary, f"--packets={options.packets}") for _ in range(options.runs)]
    hops = summary([run["packet_hops_per_s"] for run in runs])
    events = summary([run["events_per_s"] for run in runs])
    return {
        "anchor": "ns-3, traffic control",
        "packets": options.packets,
        "dropped": runs[0]["dropped"],
        "packet_hops_per_s": hops["median"],
        "events_per_s": events["median"],
        "detail": {"packet_hops_per_s": hops, "events_per_s": events},
    }


def main() -> int:
    """Command line."""
    options = parser("Measure ns-3 with RED at three routers.", runs=3)
    options.add_argument("--packets", type=positive, default=50_000, help="packets of one run")
    chosen = options.parse_args()
    if chosen.packets < LEAST:
        options.error(f"--packets must be {LEAST} or more")
    return run_anchor(chosen, PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
