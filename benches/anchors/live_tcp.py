#!/usr/bin/env python3
"""TCP between two hosts over three routers: one iperf3 stream, Gbit/s at the receiver.

    python3 benches/anchors/live_tcp.py --by kernel [--seconds 10] [--runs 1]

`kernel`:    the routers are namespaces whose kernel forwards IPv4.
`twinplane`: the same hops are three router processes of a lab, and the stream crosses an LSP; so does what
             comes back.
Hosts and links are veth pairs with an MTU of 1500 towards the hosts in both cases, and all offloads of the
hosts are as they come. Nothing is pinned: the processes share the processors as the kernel thinks fit; all
of them have the greatest weight, so that other work of the machine takes little.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from anchorlib import FailedError, parser, run_anchor, summary
from live_bed import Namespace, check_bed, join, namespaces, running, weigh, weighed
from live_lab import check_lab, lab

LAB = """
nodes:
  left: {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  pe1: {kind: router}
  p: {kind: router}
  pe2: {kind: router}
links:
  - [left, pe1]
  - [pe1, p]
  - [p, pe2]
  - [pe2, right]
lsps:
  - {name: east, from: pe1, to: pe2, route: [p, pe2], carries: 10.2.0.0/24}
  - {name: west, from: pe2, to: pe1, route: [p, pe1], carries: 10.1.0.0/24}
"""
SERVER = "10.2.0.2"
START_S = 0.5
BY = ("kernel", "twinplane")


@contextmanager
def kernel_hops() -> Iterator[tuple[Namespace, Namespace]]:
    """Two hosts and three routers of the kernel's own."""
    with namespaces("left", "pe1", "p", "pe2", "right") as spaces:
        for index, (near, far) in enumerate(pairwise(spaces)):
            join(near, f"e{index}", far, f"w{index}")
        left, first, middle, last, right = spaces
        for space, port, address in (
            (left, "e0", "10.1.0.2/24"),
            (first, "w0", "10.1.0.1/24"),
            (first, "e1", "10.0.1.1/30"),
            (middle, "w1", "10.0.1.2/30"),
            (middle, "e2", "10.0.2.1/30"),
            (last, "w2", "10.0.2.2/30"),
            (last, "e3", "10.2.0.1/24"),
            (right, "w3", "10.2.0.2/24"),
        ):
            space.do("ip", "address", "add", address, "dev", port)
        for space, prefix, gateway in (
            (left, "default", "10.1.0.1"),
            (right, "default", "10.2.0.1"),
            (first, "10.2.0.0/24", "10.0.1.2"),
            (middle, "10.2.0.0/24", "10.0.2.2"),
            (middle, "10.1.0.0/24", "10.0.1.1"),
            (last, "10.1.0.0/24", "10.0.2.1"),
        ):
            space.do("ip", "route", "add", prefix, "via", gateway)
        for space in (first, middle, last):
            space.do("sysctl", "-qw", "net.ipv4.ip_forward=1")
        yield left, right


@contextmanager
def label_hops() -> Iterator[tuple[Namespace, Namespace]]:
    """Two hosts and three routers of ours, with both LSPs up."""
    with lab(LAB) as made:
        made.wait_for_lsps("p", 2)
        for node in made.nodes().values():
            if node["pid"]:
                weigh(node["pid"])
        yield made.namespace("left"), made.namespace("right")


def stream(left: Namespace, right: Namespace, seconds: float) -> tuple[float, float]:
    """Gbit/s that one stream carries, and its retransmissions."""
    with running(right.wrap(weighed(["iperf3", "--server", "--one-off"]))):
        time.sleep(START_S)
        client = ["iperf3", "--client", SERVER, "--time", f"{seconds:.0f}", "--json"]
        with running(left.wrap(weighed(client))) as process:
            found = json.loads(process.communicate(timeout=seconds + 30)[0] or '{"error": "it said nothing"}')
    if "error" in found:
        raise FailedError(f"iperf3: {found['error']}")
    end = found["end"]
    return end["sum_received"]["bits_per_second"] / 1e9, end["sum_sent"].get("retransmits", 0)


def measure(options: argparse.Namespace) -> dict[str, object]:
    """The hops that were asked for."""
    rates, again = [], []
    with kernel_hops() if options.by == "kernel" else label_hops() as (left, right):
        for _ in range(options.runs):
            rate, retransmits = stream(left, right, options.seconds)
            rates.append(rate)
            again.append(retransmits)
    return {
        "hops": options.by,
        "gbps": summary(rates)["median"],
        "retransmits": summary(again)["median"],
        "detail": {"gbps": summary(rates), "retransmits": summary(again)},
    }


def check(by: str) -> None:
    """Raise `MissingError` in one sentence unless the hops can be made here."""
    check_bed({"iperf3": "iperf3"})
    if by != "kernel":
        check_lab()


def main() -> int:
    """Command line."""
    options = parser("Measure TCP over three routers.", runs=1, seconds=10.0)
    options.add_argument("--by", choices=BY, default="kernel", help="whose routers")
    chosen = options.parse_args()
    return run_anchor(chosen, ["iproute2", "ethtool", "iperf3"], lambda: check(chosen.by), measure)


if __name__ == "__main__":
    sys.exit(main())
