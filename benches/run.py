#!/usr/bin/env python3
"""`make bench`: Twinplane and what it is measured against, in turn, in one run.

    python3 benches/run.py [--rounds 3] [--quick] [--only engine,forwarding] [--install] [--json]

Each round runs every program once (A B A B ...), so that a slow minute of the machine meets both sides;
ratios are taken within a round. A program that is missing or fails gives a row that says so. Exit code
0 whatever was found (with --strict: 1 if a floor was missed), 2 wrong usage, 130 Ctrl-C, after which
what was measured is still printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from probes import PROBES, ROOT, Probe, Sample, Unavailable, measure, prepare
from rows import ANCHOR_FIGURES, ROWS, Samples, Spread, Verdict, judge, spread, values

GROUPS = tuple(dict.fromkeys(probe.group for probe in PROBES))


def note(text: str) -> None:
    """Progress goes to the error output: the standard output holds the result alone."""
    print(text, file=sys.stderr, flush=True)


def schedule(probes: Sequence[Probe], rounds: int, samples: dict[str, list[Sample | Unavailable]]) -> None:
    """Run the probes round by round into `samples`; one that failed is not tried again."""
    given_up: set[str] = set()
    for probe in probes:
        lacking = prepare(probe)
        if lacking is not None:
            samples[probe.name] = [lacking]
            given_up.add(probe.name)
            note(f"{probe.name}: {lacking.reason}")
    for turn in range(rounds):
        for probe in probes:
            if probe.name in given_up or (probe.once and turn > 0):
                continue
            begin = time.monotonic()
            outcome = measure(probe)
            samples.setdefault(probe.name, []).append(outcome)
            if isinstance(outcome, Unavailable):
                given_up.add(probe.name)
                note(f"{probe.name}: {outcome.reason}")
                continue
            turns = 1 if probe.once else rounds
            note(f"{probe.name}: round {turn + 1} of {turns}, {time.monotonic() - begin:.1f} s")


def human(value: float) -> str:
    """Three digits and a prefix: 235764 is 236 k."""
    for size, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.{3 - len(str(int(abs(value) / size)))}f}{prefix}"
    return f"{value:.3g}"


def _cell(found: Spread | None) -> str:
    return "-" if found is None else human(found.median)


def _bound(row_bound: float | None, *, ratio: bool, at_most: bool) -> str:
    if row_bound is None:
        return "-"
    return f"{'<= ' if at_most else ''}{row_bound:,.10g}{' x' if ratio else ''}"


def lines(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """A table for people, columns as wide as their widest cell."""
    widths = [max(len(row[i]) for row in (header, *body)) for i in range(len(header))]
    rows = [header, ["-" * width for width in widths], *body]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _table(verdicts: Sequence[Verdict]) -> list[str]:
    body = []
    for found in verdicts:
        row, against = found.row, found.row.anchor
        ratio = "-"
        if found.ratio is not None:
            ratio = f"{found.ratio.median:.3g} ({found.ratio.low:.3g} to {found.ratio.high:.3g})"
        body.append(
            [
                row.name,
                row.unit,
                _cell(found.ours),
                _cell(found.anchor),
                against.label if against else "-",
                ratio,
                _bound(row.floor, ratio=against is not None, at_most=row.at_most),
                _bound(row.goal, ratio=against is not None, at_most=row.at_most),
                found.verdict,
            ]
        )
    header = ("name", "unit", "ours", "anchor", "anchor is", "ratio (range)", "floor", "goal", "verdict")
    reasons = dict.fromkeys(found.reason for found in verdicts if found.reason)
    return [*lines(header, body), *(["", *(f"not measured: {text}" for text in reasons)] if reasons else [])]


def _anchor_table(samples: Samples) -> list[str]:
    body = []
    for figure, unit in ANCHOR_FIGURES:
        found = spread([value for value in values(figure, samples) if value is not None])
        if found is not None:
            body.append(
                [figure.label, unit, human(found.median), f"{human(found.low)} to {human(found.high)}"]
            )
    return ["", *lines(("anchor", "unit", "median", "range"), body)] if body else []


def machine() -> dict[str, object]:
    """What a reader needs to know about the machine, and nothing that names it."""
    model = "unknown"
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as info:
            names = [line.partition(":")[2].strip() for line in info if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": model,
        "kernel": platform.release(),
        "load_average_1min": os.getloadavg()[0],
    }


def revision() -> str | None:
    """The commit that was measured, if this is a checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def arguments() -> argparse.Namespace:
    """The command line, checked."""

    def groups(text: str) -> list[str]:
        chosen = [name.strip() for name in text.split(",")]
        for name in chosen:
            if name not in GROUPS:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(GROUPS)}")
        return chosen

    def rounds(text: str) -> int:
        number = int(text)
        if not 1 <= number <= 100:
            raise argparse.ArgumentTypeError("must be between 1 and 100")
        return number

    parser = argparse.ArgumentParser(description="Measure Twinplane against its anchors.")
    parser.add_argument("--rounds", type=rounds, default=3, help="times that each program runs (3)")
    parser.add_argument("--quick", action="store_true", help="one round, without the long programs")
    parser.add_argument("--only", type=groups, default=list(GROUPS), help=f"of {','.join(GROUPS)}")
    parser.add_argument("--install", action="store_true", help="install the anchors' Debian packages first")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--htsim", type=Path, help="folder with the source of htsim, or its archive")
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 if a measured figure misses its floor"
    )
    return parser.parse_args()


def main() -> int:
    """Measure, judge, print."""

    def stop(_signum: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    options = arguments()
    probes = [p for p in PROBES if p.group in options.only and not (options.quick and p.long)]
    if options.htsim is not None:
        os.environ["TWINPLANE_HTSIM"] = str(options.htsim.resolve())
    before = machine()
    samples: dict[str, list[Sample | Unavailable]] = {}
    code = 0
    try:
        if options.install:
            for command in dict.fromkeys(probe.install for probe in probes if probe.install):
                subprocess.run(command, stdout=sys.stderr, check=False)
        schedule(probes, 1 if options.quick else options.rounds, samples)
    except KeyboardInterrupt:
        note("Stopped; what follows was measured before.")
        code = 130
    wanted = {probe.name for probe in probes}
    verdicts = [judge(row, samples) for row in ROWS if row.ours.probe in wanted]
    if options.json:
        raw = {
            name: [{"reason": s.reason} if isinstance(s, Unavailable) else s for s in taken]
            for name, taken in samples.items()
        }
        result = {
            "revision": revision(),
            "machine": before,
            "rows": [v.as_json() for v in verdicts],
            "samples": raw,
        }
        print(json.dumps(result, indent=2))
    else:
        load = before["load_average_1min"]
        print(
            f"revision {revision() or 'unknown'}, {before['cores']} cores, {before['processor']}, load {load}"
        )
        print("\n".join([*_table(verdicts), *_anchor_table(samples)]))
        if isinstance(load, float) and load > 0.5:
            print("\nThe machine was busy before the start: take the figures as rough.")
    if code == 0 and options.strict and any(v.verdict == "BELOW FLOOR" for v in verdicts):
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
