#!/usr/bin/env python3
"""Networks with many flows, the same for Twinplane, htsim and ns-3.

    python3 benches/networks.py CASE --by twinplane|htsim|ns-3 [--htsim FOLDER] [--topologies FOLDER]
    python3 benches/networks.py CASE --threads 2
    python3 benches/networks.py CASE --write FILE

Cases: a chain of ten routers with one flow; rings of 100 and 1,000 routers (links of 10 Gbit/s and 100 us)
with flows of 1 Mbit/s and 128 bytes, 1 to 30 links long; and UsCarrier and Kdl of the Internet Topology Zoo
with 10,000 Poisson flows. Threads are measured on rings with links of 1 ms. All three programs read one file
(`anchors/workload.h` says what is in it), send packets for as long, and run until the last one has arrived;
only that is timed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ANCHORS = Path(__file__).resolve().parent / "anchors"
TOPOLOGIES = Path(os.environ.get("TWINPLANE_TOPOLOGIES") or ROOT.parent / "shared" / "data" / "topologies")
EXIT_MISSING = 3

US, MS, S = 10**6, 10**9, 10**12
BEGIN_PS = MS
"""When flows begin: routers have settled before."""
SIZE = 128
PERIOD_PS = 1_024_000_000
"""Between two packets of a flow: 1 Mbit/s."""
LONGEST = 30
"""Links of the longest flow of a ring."""
POISSON_FLOWS = 10_000


class AbsentError(Exception):
    """What a case needs and is not there. One sentence."""


@dataclass
class Workload:
    """A network and its flows."""

    nodes: int
    stop_ps: int
    end_ps: int
    links: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Ends, bits per second, delay in picoseconds."""
    flows: list[tuple[int, int, int, str, list[int]]] = field(default_factory=list)
    """Period and start in picoseconds, size in bytes, arrivals, and the nodes of the way."""

    def text(self) -> str:
        """As the programs read it."""
        lines = [f"nodes {self.nodes}", f"begin {BEGIN_PS}", f"stop {self.stop_ps}", f"end {self.end_ps}"]
        lines += [f"link {a} {b} {rate} {delay}" for a, b, rate, delay in self.links]
        lines += [
            f"flow {period} {start} {size} {arrivals} {len(way)} {' '.join(map(str, way))}"
            for period, start, size, arrivals, way in self.flows
        ]
        return "\n".join(lines) + "\n"


def chain(packets: int) -> Workload:
    """Ten routers in a row, links of 1 Gbit/s and 1 us, a packet of 94 bytes each microsecond."""
    stop = BEGIN_PS + packets * US
    made = Workload(10, stop, stop + MS)
    made.links = [(i, i + 1, 10**9, US) for i in range(9)]
    made.flows = [(US, BEGIN_PS, 94, "constant", list(range(10)))]
    return made


def ring(nodes: int, flows: int, hops: int, delay_ps: int = 100 * US) -> Workload:
    """A ring whose flows make so many packet-hops, evenly spread over routers, lengths and time."""
    lengths = [1 + i % LONGEST for i in range(flows)]
    stop = BEGIN_PS + max(2, round(hops / sum(lengths))) * PERIOD_PS
    made = Workload(nodes, stop, stop + (LONGEST + 1) * delay_ps + MS)
    made.links = [(i, (i + 1) % nodes, 10**10, delay_ps) for i in range(nodes)]
    for i, length in enumerate(lengths):
        way = [(i * 7 + hop) % nodes for hop in range(length + 1)]
        made.flows.append((PERIOD_PS, BEGIN_PS + i * PERIOD_PS // flows, SIZE, "constant", way))
    return made


def zoo(path: Path, hops: int) -> Workload:
    """The largest part of a GraphML file, with Poisson flows between nodes drawn at random."""
    if not path.is_file():
        raise AbsentError(f"{path.name} is not in {path.parent} (--topologies names its folder)")
    neighbors = largest_part(path)
    nodes = len(neighbors)
    chance = random.Random(path.stem)
    ways: list[list[int]] = []
    trees: dict[int, list[int]] = {}
    while len(ways) < POISSON_FLOWS:
        a, b = chance.sample(range(nodes), 2)
        towards = trees.setdefault(b, tree(neighbors, b))
        way = [a]
        while way[-1] != b:
            way.append(towards[way[-1]])
        ways.append(way)
    total = sum(len(way) - 1 for way in ways)
    longest = max(len(way) - 1 for way in ways)
    stop = BEGIN_PS + max(2, round(hops / total)) * PERIOD_PS
    made = Workload(nodes, stop, stop + (longest + 1) * 100 * US + MS)
    made.links = [(a, b, 10**10, 100 * US) for a, far in enumerate(neighbors) for b in far if a < b]
    made.flows = [(PERIOD_PS, BEGIN_PS, SIZE, "poisson", way) for way in ways]
    return made


def largest_part(path: Path) -> list[list[int]]:
    """By node, its neighbours; parallel links count once."""
    pairs = re.findall(r'<edge[^>]*?source="([^"]*)"[^>]*?target="([^"]*)"', path.read_text(encoding="utf-8"))
    near: dict[str, set[str]] = {}
    for a, b in pairs:
        if a != b:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
    parts: list[set[str]] = []
    left = set(near)
    while left:
        part, ahead = set(), [min(left)]
        while ahead:
            one = ahead.pop()
            if one not in part:
                part.add(one)
                ahead += near[one]
        parts.append(part)
        left -= part
    names = sorted(max(parts, key=len), key=lambda name: (len(name), name))
    place = {name: number for number, name in enumerate(names)}
    return [sorted(place[other] for other in near[name]) for name in names]


def tree(neighbors: list[list[int]], root: int) -> list[int]:
    """By node, the next one on a shortest way to the root."""
    towards = [-1] * len(neighbors)
    towards[root] = root
    ahead = deque([root])
    while ahead:
        one = ahead.popleft()
        for other in neighbors[one]:
            if towards[other] < 0:
                towards[other] = one
                ahead.append(other)
    return towards


ZOO = {"uscarrier": "UsCarrier.graphml", "kdl": "Kdl.graphml"}
CASES = ("chain", "ring-100-200", "ring-100-2000", "ring-1000-2000", "ring-1000-20000", *ZOO)
"""Those that all programs run."""
LONG = ("ring-100-2000-1ms", "ring-1000-2000-1ms")
"""Rings with links of so many milliseconds, which pay for several threads."""
PROGRAMS = ("twinplane", "htsim", "ns-3")
HOPS = 1_000_000
"""Packet-hops of a run, about: the same for all programs, of which the slowest takes some 20 s."""


def workload(case: str, hops: int = HOPS, topologies: Path = TOPOLOGIES) -> Workload:
    """The network and the flows of a case, for about so many packet-hops."""
    if case == "chain":
        return chain(hops // 9)
    if case in ZOO:
        return zoo(topologies / ZOO[case], hops)
    _, nodes, flows, *delay = case.split("-")
    return ring(int(nodes), int(flows), hops, int(delay[0].removesuffix("ms")) * MS if delay else 100 * US)


def command(by: str, file: Path, options: argparse.Namespace) -> list[str]:
    """What runs a workload."""
    if by == "twinplane":
        cargo = ["cargo", "run", "--release", "-q", "-p", "twinplane-tester", "--example", "bench_networks"]
        return [*cargo, "--", "--workload", str(file), "--threads", options.threads]
    script = [sys.executable, str(ANCHORS / f"{by.replace('-', '')}_networks.py"), "--workload", str(file)]
    if by == "ns-3" and options.case in ZOO:
        script += ["--nix"]  # the faster of the two there; static routes are in a ring
    if by == "htsim" and options.htsim is not None:
        script += ["--htsim", str(options.htsim)]
    return script


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Run a network with many flows.")
    parser.add_argument("case", choices=(*CASES, *LONG))
    parser.add_argument("--by", choices=PROGRAMS, default="twinplane")
    parser.add_argument("--hops", type=int, default=HOPS, help=f"packet-hops, about ({HOPS})")
    parser.add_argument(
        "--threads", default="1", help="of Twinplane, at most (1), or 'tried': as many as pay"
    )
    parser.add_argument("--write", type=Path, help="write the workload into this file, and run nothing")
    parser.add_argument("--htsim", type=Path, help="folder with the source of htsim, or its archive")
    parser.add_argument("--topologies", type=Path, default=TOPOLOGIES, help="folder of GraphML files")
    options = parser.parse_args()
    try:
        made = workload(options.case, options.hops, options.topologies)
    except AbsentError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_MISSING
    if options.write is not None:
        options.write.write_text(made.text(), encoding="ascii")
        return 0
    with tempfile.TemporaryDirectory(prefix="twinplane-bench-") as folder:
        file = Path(folder) / "workload"
        file.write_text(made.text(), encoding="ascii")
        return subprocess.run(command(options.by, file, options), cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
