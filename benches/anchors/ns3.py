#!/usr/bin/env python3
"""ns-3 on a chain of nodes: packet-hops and events per second (the anchor of the engine).

    python3 benches/anchors/ns3.py [--nodes 10] [--packets 50000] [--runs 5] [--install]

Builds `ns3_chain.cc` against Debian's ns-3 once (under `target/`) and prints one JSON object. The
headline is ns-3 as it comes; `no_queue_disc` is the same chain without the FqCoDel that ns-3 puts on
every device by default.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from anchorlib import (
    FailedError,
    MissingError,
    compiled,
    contained,
    parser,
    positive,
    require_programs,
    run_anchor,
    summary,
)

PACKAGES = ("g++", "pkg-config", "libns3-dev", "libgsl-dev", "libxml2-dev", "libsqlite3-dev")
MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
MODULES += ("nix-vector-routing",)
CHAIN = "ns3_chain"
BINARIES = Path(__file__).resolve().parents[2] / "target" / "anchors"
RUN_LIMIT_S = 120
BUILD_LIMIT_S = 300


def check() -> None:
    """Raise `MissingError` in one sentence unless ns-3 can be built against and run."""
    require_programs({"g++": "g++", "pkg-config": "pkg-config", "setpriv": "util-linux"})
    try:
        _flags()
    except FailedError as error:
        absent = " ".join(PACKAGES[2:])
        raise MissingError(
            f"Debian packages {absent} are not all installed "
            f"(run with --install as root, or apt-get install {absent})."
        ) from error


def _flags() -> list[str]:
    command = ["pkg-config", "--cflags", "--libs", *(f"ns3-{module}" for module in MODULES)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise FailedError(f"pkg-config does not know ns-3: {found.stderr.strip().splitlines()[0]}")
    # Debian's files hold one malformed include directory, "-I/usr\;".
    return [flag for flag in found.stdout.split() if not flag.endswith("\\;")]


def build(name: str) -> Path:
    """Compile a simulation, unless the binary is newer than its source, and return the binary."""
    source, binary = Path(__file__).with_name(f"{name}.cc"), BINARIES / name
    if binary.exists() and binary.stat().st_mtime >= source.stat().st_mtime:
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    fresh = binary.with_suffix(".new")
    command = ["g++", "-std=c++17", "-O2", "-o", str(fresh), str(source), *_flags()]
    compiled(source.name, command, BUILD_LIMIT_S)
    fresh.replace(binary)
    return binary


def run_once(binary: Path, *options: str) -> dict[str, float]:
    """One simulation in a process of its own."""
    try:
        done = subprocess.run(
            contained([str(binary), *options], own_network=False),
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_LIMIT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"ns-3 took more than {RUN_LIMIT_S} s; ask for fewer packets.") from error
    if done.returncode != 0:
        raise FailedError(done.stderr.strip() or f"{binary.name} ended with {done.returncode}")
    result: dict[str, float] = json.loads(done.stdout)
    return result


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Alternate the two variants and give the medians."""
    binary = build(CHAIN)
    size = (f"--nodes={options.nodes}", f"--packets={options.packets}")
    hops: list[float] = []
    events: list[float] = []
    bare: list[float] = []
    for _ in range(options.runs):
        usual = run_once(binary, *size, "--queueDisc=true")
        hops.append(usual["packet_hops_per_s"])
        events.append(usual["events_per_s"])
        if not options.default_only:
            plain = run_once(binary, *size, "--queueDisc=false")
            bare.append(plain["packet_hops_per_s"])
    result: dict[str, object] = {
        "anchor": "ns-3",
        "nodes": options.nodes,
        "packets": options.packets,
        "packet_hops_per_s": summary(hops)["median"],
        "events_per_s": summary(events)["median"],
        "detail": {"packet_hops_per_s": summary(hops), "events_per_s": summary(events)},
    }
    if bare:
        result["no_queue_disc_packet_hops_per_s"] = summary(bare)["median"]
    return result


def main() -> int:
    """Command line."""
    options = parser("Measure ns-3 on a chain of nodes.", runs=3)
    options.add_argument("--nodes", type=positive, default=10, help="nodes in the chain, 2 to 200")
    options.add_argument("--packets", type=positive, default=50_000, help="packets of one run")
    options.add_argument(
        "--default-only", action="store_true", help="leave out the variant without queue discipline"
    )
    chosen = options.parse_args()
    if not 2 <= chosen.nodes <= 200:
        options.error("--nodes must be between 2 and 200")
    return run_anchor(chosen, PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
