#!/usr/bin/env python3
"""htsim on a network with many flows: packet-hops per second (an anchor of the engine).

    python3 benches/anchors/htsim_networks.py --workload FILE [--htsim FOLDER]

htsim is a packet simulator written for speed by University College London and others: public source in
C++, BSD 2-clause (github.com/Broadcom/csg-htsim). It is not part of this project. FOLDER, or the variable
TWINPLANE_HTSIM, holds its source (with `sim/Makefile`), or an archive `htsim*.tar.gz` of it; it is copied
and built under `target/` once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tarfile
from pathlib import Path

from anchorlib import FailedError, MissingError, carried_out, compiled, parser, require_programs, run_anchor

PACKAGES = ("g++", "make")
PROGRAM = "htsim_networks"
BINARIES = Path(__file__).resolve().parents[2] / "target" / "anchors"
RUN_LIMIT_S = 170
BUILD_LIMIT_S = 600


def source_of(folder: Path | None) -> Path:
    """The folder or archive that the source is taken from."""
    said = folder or (Path(os.environ["TWINPLANE_HTSIM"]) if os.environ.get("TWINPLANE_HTSIM") else None)
    if said is None:
        raise MissingError("htsim is not here: --htsim FOLDER names its source.")
    if (said / "sim" / "Makefile").is_file():
        return said
    archives = sorted(said.glob("htsim*.tar.gz")) if said.is_dir() else []
    if not archives:
        raise MissingError(f"{said} holds neither sim/Makefile nor an archive htsim*.tar.gz.")
    return archives[-1]


def build(folder: Path | None) -> Path:
    """Copy the source, make its library and our program, unless the binary is newer than ours."""
    ours, binary = Path(__file__).with_name(f"{PROGRAM}.cc"), BINARIES / PROGRAM
    if binary.exists() and binary.stat().st_mtime >= ours.stat().st_mtime:
        return binary
    source, copy = source_of(folder), BINARIES / "htsim"
    shutil.rmtree(copy, ignore_errors=True)
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        with tarfile.open(source) as archive:
            archive.extractall(copy, filter="data")
    makefile = next(iter(sorted(copy.rglob("sim/Makefile"))), None)
    if makefile is None:
        raise FailedError(f"{source} has no sim/Makefile.")
    sim = makefile.parent
    compiled("htsim", ["make", "-C", str(sim), "-j2", "libhtsim.a"], BUILD_LIMIT_S)
    fresh = binary.with_suffix(".new")
    flags = ["-std=c++17", "-O3", "-I", str(sim), "-o", str(fresh)]
    compiled(ours.name, ["g++", *flags, str(ours), str(sim / "libhtsim.a")], BUILD_LIMIT_S)
    fresh.replace(binary)
    return binary


def check() -> None:
    """Raise `MissingError` in one sentence unless there is a compiler."""
    require_programs({"g++": "g++", "make": "make", "setpriv": "util-linux"})


def measure(options: argparse.Namespace) -> dict[str, object]:
    """One run of the workload."""
    return carried_out("htsim", [str(build(options.htsim)), str(options.workload)], RUN_LIMIT_S)


def main() -> int:
    """Command line."""
    options = parser("Run a workload in htsim.", runs=1)
    options.add_argument("--workload", type=Path, help="file that networks.py wrote")
    options.add_argument("--htsim", type=Path, help="folder with the source of htsim, or its archive")
    chosen = options.parse_args()
    if chosen.workload is None and not chosen.check:
        options.error("--workload is missing")
    return run_anchor(chosen, PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
