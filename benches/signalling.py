#!/usr/bin/env python3
"""Networks with many explicitly routed LSPs.

    python3 benches/signalling.py three|kdl [--lsps 100000] [--topologies FOLDER]
    python3 benches/signalling.py CASE --write FILE

Cases: three transit routers between head ends and tail ends, and Kdl of the Internet Topology Zoo, where LSPs
join nodes drawn at random by a shortest way. What an LSP takes at each node of its way, in bytes and in time,
is told by the example `bench_signalling`.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import networks

LSPS = 100_000
ENDS = 100
"""Pairs of head end and tail end around the three routers."""
RATE, DELAY_PS = 10**11, 100 * networks.US


def three(lsps: int) -> tuple[int, list[tuple[int, int]], list[list[int]]]:
    """Nodes, links and ways: three routers in a row, and LSPs between pairs of edges."""
    links = [(0, 1), (1, 2)]
    for end in range(ENDS):
        links += [(3 + 2 * end, 0), (2, 4 + 2 * end)]
    ways = [[3 + 2 * (i % ENDS), 0, 1, 2, 4 + 2 * (i % ENDS)] for i in range(lsps)]
    return 3 + 2 * ENDS, links, ways


def zoo(path: Path, lsps: int) -> tuple[int, list[tuple[int, int]], list[list[int]]]:
    """The same of the largest part of a GraphML file."""
    if not path.is_file():
        raise networks.AbsentError(f"{path.name} is not in {path.parent} (--topologies names its folder)")
    neighbors = networks.largest_part(path)
    chance = random.Random(path.stem)
    ways: list[list[int]] = []
    trees: dict[int, list[int]] = {}
    for _ in range(lsps):
        a, b = chance.sample(range(len(neighbors)), 2)
        towards = trees.get(b) or trees.setdefault(b, networks.tree(neighbors, b))
        way = [a]
        while way[-1] != b:
            way.append(towards[way[-1]])
        ways.append(way)
    return len(neighbors), [(a, b) for a, far in enumerate(neighbors) for b in far if a < b], ways


CASES = ("three", "kdl")


def workload(case: str, lsps: int, topologies: Path) -> str:
    """As the program reads it."""
    made = three(lsps) if case == "three" else zoo(topologies / networks.ZOO[case], lsps)
    nodes, links, ways = made
    lines = [f"nodes {nodes}"]
    lines += [f"link {a} {b} {RATE} {DELAY_PS}" for a, b in links]
    lines += [f"lsp {' '.join(map(str, way))}" for way in ways]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Signal many LSPs.")
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--lsps", type=int, default=LSPS, help=f"LSPs ({LSPS})")
    parser.add_argument("--write", type=Path, help="write the workload into this file, and run nothing")
    parser.add_argument(
        "--topologies", type=Path, default=networks.TOPOLOGIES, help="folder of GraphML files"
    )
    options = parser.parse_args()
    try:
        made = workload(options.case, options.lsps, options.topologies)
    except networks.AbsentError as error:
        print(f"error: {error}", file=sys.stderr)
        return networks.EXIT_MISSING
    if options.write is not None:
        options.write.write_text(made, encoding="ascii")
        return 0
    with tempfile.TemporaryDirectory(prefix="twinplane-bench-") as folder:
        file = Path(folder) / "workload"
        file.write_text(made, encoding="ascii")
        cargo = ["cargo", "run", "--release", "-q", "-p", "twinplane-tester", "--example", "bench_signalling"]
        return subprocess.run(
            [*cargo, "--", "--workload", str(file)], cwd=networks.ROOT, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
