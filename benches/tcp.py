#!/usr/bin/env python3
"""Programs that send in bulk over TCP, on so many connections between two hosts, through three routers.

    .venv/bin/python benches/tcp.py [--connections 1000] [--seconds 1]

Links of 10 Gbit/s and 1 ms, segments of 1448 bytes, buffers of 8 MB in all, so that the links are nearly
full and nothing is lost: 8 kB for each of a thousand connections. Only the run is timed. One line of JSON:
bytes that arrived for each second of the processor, and nanoseconds for each segment. Exit code 1 if a
segment was sent twice. Build for use first (`make setup`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from typing import Any

BUFFERS = 8_192_000
"""Bytes that all connections together may have under way."""
MSS = 1448


def network(tp: Any, connections: int) -> tuple[Any, Any]:
    """Two hosts, three routers, and a flow with so many connections."""
    net = tp.Network(seed=1)
    nodes = [
        net.host("a", address="10.1.0.2/24"),
        *(net.router(f"r{place}") for place in range(3)),
        net.host("b", address="10.2.0.2/24"),
    ]
    for left, right in itertools.pairwise(nodes):
        net.link(left, right, rate="10 Gbit/s", delay="1 ms")
    size = BUFFERS // connections
    flow = net.tcp("a", "b", connections=connections, buffer=size, mss=MSS, congestion="reno", stop="1000 s")
    return net, flow


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="simulated")
    asked = parser.parse_args()
    import twinplane as tp

    net, flow = network(tp, asked.connections)
    net.run(until="1 ns", threads=1)
    begin = time.process_time()
    net.run(until=f"{asked.seconds} s", threads=1)
    took = time.process_time() - begin
    rows = flow.stats()
    arrived, again = int(rows["bytes"].sum()), int(rows["retransmitted"].sum())
    figures = {
        "connections": asked.connections,
        "run_s": took,
        "bytes": arrived,
        "bytes_per_s": arrived / took,
        "ns_per_segment": took * 1e9 / (arrived / MSS),
        "again": again,
    }
    print(json.dumps(figures))
    return 1 if again else 0


if __name__ == "__main__":
    sys.exit(main())
