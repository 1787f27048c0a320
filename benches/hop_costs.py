#!/usr/bin/env python3
"""Where the time of a packet-hop goes: instructions and cache misses by function.

    python3 benches/hop_costs.py [--cases chain,ring-100-2000] [--hops 100000] [--top 15] [--json]

Runs `bench_networks` (see networks.py) and `bench_mesh` under callgrind of valgrind (Debian package
`valgrind`), which counts instructions and simulates two levels of cache (32 kB and 2 MB by default), so
that the figures are those of the program and not of a busy machine. Counted is only what happens while time
passes: building is left out. Misses are of data; a miss of the second cache is one that waits for memory or
a larger cache behind it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import networks

ROOT = networks.ROOT
TARGET = ROOT / "target" / "hop-costs"
CASES = ("chain", "ring-100-2000", "ring-1000-2000", "ring-1000-20000", "signalling")
RUN = "*World*::step"
"""What is counted: everything below this function."""
EVENTS = ("Ir", "D1mr", "D1mw", "DLmr", "DLmw")
MESH = ("--nodes", "200", "--lsps", "1000")


class FailedError(Exception):
    """Why there are no figures. One sentence."""


@dataclass
class Cost:
    """Of a function, per packet-hop (or per LSP-hop)."""

    function: str
    instructions: float = 0.0
    misses: float = 0.0
    """Of the first cache."""
    far: float = 0.0
    """Of the second one."""


@dataclass
class Found:
    """What a case costs."""

    case: str
    hops: int
    total: Cost
    functions: list[Cost]


def build() -> None:
    """Build the two programs with the names of their functions."""
    program = ["cargo", "build", "--release", "-q", "-p", "twinplane-tester"]
    examples = ["--example", "bench_networks", "--example", "bench_mesh"]
    env = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CARGO_PROFILE_RELEASE_DEBUG": "line-tables-only"}
    if subprocess.run([*program, *examples], cwd=ROOT, env=env, check=False).returncode != 0:
        raise FailedError("the programs do not compile")


def run(case: str, hops: int, caches: Sequence[str]) -> Found:
    """Count one case."""
    with tempfile.TemporaryDirectory(prefix="twinplane-bench-") as name:
        folder = Path(name)
        examples = TARGET / "release" / "examples"
        if case == "signalling":
            program, key = [str(examples / "bench_mesh"), *MESH], "hops"
        else:
            file = folder / "workload"
            file.write_text(networks.workload(case, hops).text(), encoding="ascii")
            program, key = [str(examples / "bench_networks"), "--workload", str(file)], "packet_hops"
        counted = folder / "callgrind"
        command = ["valgrind", "--tool=callgrind", "--cache-sim=yes", f"--toggle-collect={RUN}", *caches]
        command += [f"--callgrind-out-file={counted}", *program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise FailedError(f"{case}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        number = int(json.loads(done.stdout.splitlines()[-1])[key])
        rows = list(read(counted.read_text(encoding="utf-8", errors="replace").splitlines()))
    if not rows:
        raise FailedError(f"{case}: nothing was counted; is there no function {RUN} in the program any more?")
    total = Cost("all")
    for row in rows:
        row.instructions, row.misses, row.far = (x / number for x in (row.instructions, row.misses, row.far))
        total.instructions += row.instructions
        total.misses += row.misses
        total.far += row.far
    return Found(case, number, total, sorted(rows, key=lambda row: -row.instructions))


def read(lines: Iterable[str]) -> Iterable[Cost]:
    """The own costs of each function of a file of callgrind (its format 1).

    A line of numbers is a position and the counts of what was spent there; the one behind `calls=` has the
    costs of what was called, which are counted there. Names are given once, `fn=(7) name`, and then by their
    number.
    """
    names: dict[str, str] = {}
    costs: dict[str, Cost] = {}
    order: list[str] = []
    places: list[int] = []
    current, called = "", False
    for line in lines:
        if line.startswith("events:"):
            order = line.split()[1:]
            places = [order.index(event) for event in EVENTS]
        elif line.startswith("positions:"):
            skip = len(line.split()) - 1
        elif match := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            number, name = match.groups()
            if name is not None:
                names[number] = name
            if line.startswith("fn="):
                current = short(names[number])
        elif line.startswith("calls="):
            called = True
        elif line and (line[0].isdigit() or line[0] in "+-*"):
            if called:
                called = False
                continue
            counts = [int(word) for word in line.split()[skip:]]
            counts += [0] * (len(order) - len(counts))
            ir, d1r, d1w, dlr, dlw = (counts[place] for place in places)
            cost = costs.setdefault(current, Cost(current))
            cost.instructions += ir
            cost.misses += d1r + d1w
            cost.far += dlr + dlw
    return costs.values()


def short(name: str) -> str:
    """A function's name as people say it: without hash, crate prefix and repeated paths."""
    name = re.sub(r"'\d+$", "", re.sub(r"::h[0-9a-f]{16}$", "", name))
    inner = re.fullmatch(r"<(.+) as (.+)>::(\w+)", name)
    if inner:
        name = f"{inner[1]}::{inner[3]}"
    name = re.sub(r"::<impl [^>]*>", "", name).replace("twinplane_", "")
    return re.sub(r"(core|alloc|std)::", "", name)


def table(found: Found, top: int) -> str:
    """A table in Markdown."""
    unit = "LSP-hop" if found.case == "signalling" else "packet-hop"
    lines = [
        f"**{found.case}**, {found.hops:,} {unit}s",
        "",
        f"| function | instructions per {unit} | misses of the first cache | of the second |",
        "|---|---:|---:|---:|",
    ]

    def line(cost: Cost, name: str) -> str:
        return f"| {name} | {cost.instructions:,.1f} | {cost.misses:.2f} | {cost.far:.3f} |"

    shown = found.functions[:top]
    rest = Cost("")
    for cost in found.functions[top:]:
        rest.instructions += cost.instructions
        rest.misses += cost.misses
        rest.far += cost.far
    lines += [line(found.total, "all")]
    lines += [line(cost, f"`{cost.function}`") for cost in shown]
    lines += [line(rest, f"{len(found.functions) - len(shown)} others")] if found.functions[top:] else []
    return "\n".join(lines)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Where the time of a packet-hop goes.")
    known = (*networks.CASES, "signalling")
    parser.add_argument("--cases", default=",".join(CASES), help=f"of {','.join(known)}")
    parser.add_argument("--hops", type=int, default=100_000, help="packet-hops of each case, about (100000)")
    parser.add_argument("--top", type=int, default=15, help="functions to show (15)")
    parser.add_argument("--first", default="32768,8,64", help="first cache: bytes, ways, bytes of a line")
    parser.add_argument("--second", default="2097152,16,64", help="second cache, in the same form")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    cases = options.cases.split(",")
    for case in cases:
        if case not in known:
            parser.error(f"{case!r} is none of {', '.join(known)}")
    if shutil.which("valgrind") is None:
        print("error: Debian package valgrind is not installed (apt-get install valgrind)", file=sys.stderr)
        return networks.EXIT_MISSING
    try:
        build()
        for case in cases:
            print(f"{case} ...", file=sys.stderr, flush=True)
            found = run(case, options.hops, [f"--D1={options.first}", f"--LL={options.second}"])
            if options.json:
                whole: dict[str, object] = {"case": case, "hops": found.hops, "all": vars(found.total)}
                print(
                    json.dumps({**whole, "functions": [vars(cost) for cost in found.functions]}), flush=True
                )
            else:
                print(table(found, options.top), end="\n\n", flush=True)
    except (FailedError, networks.AbsentError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
