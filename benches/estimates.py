#!/usr/bin/env python3
"""Estimates beside runs: what `twinplane run --estimate` says, and what the run then takes.

    .venv/bin/python benches/estimates.py [--only lsp-flap] [--repeat 1] [--topologies FOLDER]

Each case is run with an estimate, and again without one: then processor seconds, the most memory and the size
of the results folder are measured. Prints a table in Markdown: what was said, what was measured, the ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from networks import ROOT, TOPOLOGIES

TWINPLANE = ROOT / ".venv" / "bin" / "twinplane"
FIGURES = (
    ("processor_s", "processor", 1.0, "s"),
    ("memory", "memory", 1e6, "MB"),
    ("results", "results", 1e6, "MB"),
)


@dataclass(frozen=True)
class Case:
    """A run, as it is typed behind ``twinplane run``."""

    name: str
    words: tuple[str, ...]


def cases(topologies: Path) -> list[Case]:
    """Those that are compared."""
    mesh = ("lsp-mesh", "--set", f"topology={topologies / 'Abilene.graphml'}", "--set", "probes=1000")
    large = ("lsp-mesh", "--set", f"topology={topologies / 'UsCarrier.graphml'}", "--set", "pairs_max=4000")
    return [
        Case("lsp-flap", ("lsp-flap",)),
        Case("lsp-flap, n=900", ("lsp-flap", "--set", "n=900")),
        Case("lsp-flap, n=100, 300, 500", ("lsp-flap", "--set", "n=100,300,500", "--jobs", "1")),
        Case("diffserv", ("diffserv",)),
        Case("diffserv, 300 s", ("diffserv", "--set", "duration_s=300")),
        Case("failover.yaml, 60 s", (str(ROOT / "examples" / "failover.yaml"), "--duration", "60 s")),
        Case("lsp-mesh, Abilene", mesh),
        Case("lsp-mesh, UsCarrier, 4,000 LSPs", large),
        Case("protection", ("protection",)),
        Case("tag-switching", ("tag-switching",)),
        Case("tag-switching, UDP", ("tag-switching", "--set", "part=udp")),
        Case("multicast", ("multicast",)),
        Case("openflow, quick", ("openflow", "--set", "quick=true")),
    ]


def estimated(case: Case, folder: Path) -> dict[str, Any]:
    """What is said before."""
    command = [str(TWINPLANE), "run", *case.words, "--estimate", "--json", "--out", str(folder / "said")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"error: {case.name}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)["estimate"]
    return found


def measured(case: Case, folder: Path) -> dict[str, float]:
    """What the run takes."""
    out = folder / "run"
    command = [str(TWINPLANE), "run", *case.words, "--json", "--out", str(out)]
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        raise SystemExit(f"error: {case.name}: the run ended with exit code {child.returncode}")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return {
        "processor_s": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * 1024.0,
        "results": float(size),
    }


def row(case: Case, repeat: int) -> list[str]:
    """Said and measured, and their ratio."""
    said, took = [], []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(prefix="twinplane-bench-") as name:
            said.append(estimated(case, Path(name)))
            took.append(measured(case, Path(name)))
    cells = [case.name, f"{statistics.median(one['reached'] for one in said):.0%}"]
    for key, _, scale, unit in FIGURES:
        foretold = statistics.median(one[key]["value"] for one in said) / scale
        real = statistics.median(one[key] for one in took) / scale
        cells.append(f"{foretold:.3g} / {real:.3g} {unit} = {foretold / real:.2f}")
    return cells


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Estimates beside runs.")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--repeat", type=int, default=1, help="times, of which medians are taken (1)")
    parser.add_argument("--topologies", type=Path, default=TOPOLOGIES, help="folder of GraphML files")
    options = parser.parse_args()
    print(f"| run | seen | {' | '.join(title for _, title, _, _ in FIGURES)} |")
    print(f"|---|---:|{'---|' * len(FIGURES)}")
    for case in cases(options.topologies):
        if options.only in case.name:
            print(f"| {' | '.join(row(case, options.repeat))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
