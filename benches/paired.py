#!/usr/bin/env python3
"""`make bench-paired`: the working tree and an older revision, in turn, in one run; is anything slower?

    python3 benches/paired.py [--base e97eafa] [--pairs 11] [--rows 'forward*'] [--core 1] [--out FILE]

Both revisions are built; then each program runs once of the old and once of the new build, the next pair
the other way round, all on one core. The ratio of speed is taken within a pair (above 1: the working
tree is faster), its median is held against 0.97. Exit code 0 if every row holds, 1 if one is below or a
program of the working tree fails, 2 wrong usage or no build, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from paired_rows import Program, chosen_rows, programs_of, row_id
from pairs import CONFIDENCE, FLOOR, Finding, Verdict, judge, speed_ratio
from probes import ROOT, ProbeError, Sample, finish, json_object, output_lines, parse, parse_keyed
from revisions import RevisionError, Tree, build, check_out, commit, current
from rows import Row
from run import human, lines, machine, note, revision

SIDES = ("old", "new")
EXTRA_ROUNDS = 3  # of as many pairs again, for rows that are undecided
RUN_LIMIT_S = 120.0


@dataclass
class Taken:
    """What came of the pairs of one program. `lacking`: why there are no more of them."""

    pairs: list[tuple[Sample, Sample]] = field(default_factory=list)
    lacking: str = ""
    failed: bool = False  # a program of the working tree did not run to its end
    same_program: bool = False
    same_digest: bool = True


@dataclass(frozen=True)
class Result:
    """A row after the last pair. Without a finding the remark says why it was not compared."""

    row: Row
    old: float | None
    new: float | None
    finding: Finding | None
    word: str
    remark: str = ""

    def as_json(self) -> dict[str, object]:
        """The row for a program to read."""
        found = self.finding
        return {
            "id": row_id(self.row),
            "name": self.row.name,
            "unit": self.row.unit,
            "less_is_better": self.row.at_most,
            "old": self.old,
            "new": self.new,
            "ratio": found.median if found else None,
            "interval": asdict(found.interval) if found else None,
            "ratios": found.ratios if found else [],
            "verdict": self.word,
            "remark": self.remark or None,
        }


# -- measuring --------------------------------------------------------------------------------------


def run_once(program: Program, path: Path, core: int) -> tuple[Sample, object]:
    """The figures of one run on one core, and the digest of what it did, if it prints one."""
    stdout = finish(("taskset", "-c", str(core), str(path), *program.options), RUN_LIMIT_S)
    if program.key:
        return parse_keyed(stdout, program.key), None
    return parse(stdout), json_object(output_lines(stdout)[-1]).get("digest")


def run_pair(program: Program, folder: Path, core: int, taken: Taken) -> None:
    """One run of each side, old first in every other pair."""
    order = SIDES if len(taken.pairs) % 2 == 0 else SIDES[::-1]
    found: dict[str, tuple[Sample, object]] = {}
    for side in order:
        try:
            found[side] = run_once(program, folder / side / program.example, core)
        except ProbeError as error:
            taken.lacking = f"{program.name} of the {side} revision: {error.outcome.reason}"
            taken.failed = side == "new"
            note(taken.lacking)
            return
    taken.pairs.append((found["old"][0], found["new"][0]))
    taken.same_digest = taken.same_digest and found["old"][1] == found["new"][1]


def run_pairs(
    programs: Sequence[Program], pairs: int, folder: Path, core: int, all_taken: dict[str, Taken]
) -> None:
    """Pairs of all programs in turn, so that a slow minute of the machine does not meet one alone."""
    for turn in range(pairs):
        begin, able = time.monotonic(), [one for one in programs if not all_taken[one.name].lacking]
        if not able:
            return
        for program in able:
            run_pair(program, folder, core, all_taken[program.name])
        note(f"pair {turn + 1} of {pairs}: {time.monotonic() - begin:.0f} s for {len(able)} programs")


def result(row: Row, taken: Taken, *, final: bool) -> Result:
    """A row out of the pairs of its program."""
    name = row.ours.field
    if taken.same_program:
        return Result(row, None, None, None, "same program", "both revisions give the same bytes")
    present = [any(name in pair[side] for pair in taken.pairs) for side in (0, 1)]
    if present.count(True) == 1:
        return Result(
            row, None, None, None, "not compared", f"only in the {SIDES[present.index(True)]} revision"
        )
    both = [(old[name], new[name]) for old, new in taken.pairs if name in old and name in new]
    ratios = [ratio for old, new in both if (ratio := speed_ratio(row, old, new)) is not None]
    if not ratios:
        return Result(row, None, None, None, "not compared", taken.lacking or "no figure above zero")
    finding = judge(ratios, final=final)
    old, new = (statistics.median(values) for values in zip(*both, strict=True))
    remark = taken.lacking if taken.same_digest else "the two did different work: their digests differ"
    return Result(row, old, new, finding, finding.verdict.value, remark)


def undecided(rows: Sequence[Row], all_taken: dict[str, Taken]) -> list[Row]:
    """The rows that need more pairs."""
    found = [(row, result(row, all_taken[row.ours.probe], final=False).finding) for row in rows]
    return [row for row, finding in found if finding and finding.verdict is Verdict.UNDECIDED]


def measure(
    rows: Sequence[Row], options: argparse.Namespace, folder: Path, all_taken: dict[str, Taken]
) -> None:
    """All pairs, then more of them for the programs whose rows are undecided."""
    run_pairs(programs_of(rows), options.pairs, folder, options.core, all_taken)
    for _ in range(EXTRA_ROUNDS):
        open_rows = undecided(rows, all_taken)
        programs = [one for one in programs_of(open_rows) if not all_taken[one.name].lacking]
        if not programs:
            return
        note(f"undecided: {'; '.join(row_id(row) for row in open_rows)}")
        run_pairs(programs, options.pairs, folder, options.core, all_taken)


# -- building ---------------------------------------------------------------------------------------


@contextmanager
def programs_built(
    programs: Sequence[Program], base: Tree, ours: Tree, cache: Path
) -> Iterator[tuple[Path, dict[str, Taken]]]:
    """A folder with both sides' programs, under paths of equal length, and what is known before any run.

    They are copies, so that a build in the meantime does not change what is measured.
    """
    wanted = list(dict.fromkeys(program.example for program in programs))
    built: dict[str, dict[str, Path]] = {}
    for side, tree in zip(SIDES, (base, ours), strict=True):
        note(f"building the {side} revision in {tree.target} ...")
        built[side] = build(tree, wanted)
    with tempfile.TemporaryDirectory(prefix="run-", dir=cache) as name:
        folder = Path(name)
        for side in SIDES:
            (folder / side).mkdir()
            for example, path in built[side].items():
                shutil.copy2(path, folder / side / example)
        yield folder, {program.name: _before(program, folder) for program in programs}


def _before(program: Program, folder: Path) -> Taken:
    paths = {side: folder / side / program.example for side in SIDES}
    there = [side for side in SIDES if paths[side].exists()]
    if len(there) == 1:
        return Taken(lacking=f"{program.example} is only in the {there[0]} revision")
    if not there:
        return Taken(lacking=f"{program.example} is in neither revision")
    old, new = (hashlib.sha256(paths[side].read_bytes()).digest() for side in SIDES)
    same = old == new
    return Taken(
        same_program=same, lacking=f"{program.name}: both revisions give the same program" if same else ""
    )


# -- telling ----------------------------------------------------------------------------------------


def table(results: Sequence[Result]) -> list[str]:
    """The rows for people."""
    header = ("row", "unit", "old", "new", "ratio", "range", "interval of the median", "pairs", "verdict")
    body = []
    for one in results:
        cells = ["-"] * 6
        if one.finding is not None and one.old is not None and one.new is not None:
            found, ratios = one.finding, one.finding.ratios
            span = f"{found.interval.low:.3f} to {found.interval.high:.3f}"
            cells = [
                human(one.old),
                human(one.new),
                f"{found.median:.3f}",
                f"{min(ratios):.3f} to {max(ratios):.3f}",
                f"{span} ({found.interval.confidence:.1%})",
                str(len(ratios)),
            ]
        body.append([one.row.name, one.row.unit, *cells, one.word])
    remarks = [f"{one.row.name}: {one.remark}." for one in results if one.remark]
    return [*lines(header, body), *(["", *remarks] if remarks else [])]


def summary(results: Sequence[Result]) -> str:
    """One sentence on the whole run."""
    compared = [one.finding for one in results if one.finding]
    below = sum(finding.verdict.is_below for finding in compared)
    same = sum(one.word == "same program" for one in results)
    ending = f", {same} are of the same program" if same else ""
    return f"{below} of {len(compared)} rows compared are below {FLOOR} of the old revision{ending}."


def exit_code(results: Sequence[Result], all_taken: dict[str, Taken]) -> int:
    """1 if a row is below, or the working tree failed where the old revision ran."""
    below = any(one.finding and one.finding.verdict.is_below for one in results)
    return 1 if below or any(taken.failed for taken in all_taken.values()) else 0


def write(path: Path, head: dict[str, object], results: Sequence[Result]) -> None:
    """The record of the run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {**head, "rows": [one.as_json() for one in results]}
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    note(f"written: {path}")


def arguments() -> argparse.Namespace:
    """The command line, checked."""
    cores = os.sched_getaffinity(0)

    def pairs(text: str) -> int:
        number = int(text)
        if not 1 <= number <= 1000:
            raise argparse.ArgumentTypeError("must be between 1 and 1000")
        return number

    def core(text: str) -> int:
        number = int(text)
        if number not in cores:
            raise argparse.ArgumentTypeError(f"{number} is none of {', '.join(map(str, sorted(cores)))}")
        return number

    parser = argparse.ArgumentParser(description="Compare the working tree's speed with an older revision's.")
    parser.add_argument("--base", default="e97eafa", help="the old revision (e97eafa)")
    parser.add_argument("--pairs", type=pairs, default=11, help="runs of each side (11)")
    parser.add_argument("--rows", action="append", help="rows whose name or id fits this pattern (all)")
    parser.add_argument(
        "--core", type=core, default=1 if 1 in cores else min(cores), help="the core to run on"
    )
    parser.add_argument("--out", type=Path, help="file for the JSON record (in the build folder's `paired`)")
    parser.add_argument("--list", action="store_true", help="print the rows and their ids, and end")
    return parser.parse_args()


def main() -> int:
    """Build, measure, judge, print, write."""

    def stop(_signum: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    options = arguments()
    rows = chosen_rows(options.rows or ["*"])
    if not rows:
        print(f"No row fits {' or '.join(map(repr, options.rows))}; --list shows them.", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(lines(("id", "row"), [(row_id(row), row.name) for row in rows])))
        return 0
    try:
        return compare(rows, options)
    except RevisionError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        note("Stopped before anything was measured.")
        return 130


def compare(rows: Sequence[Row], options: argparse.Namespace) -> int:
    """The run itself, once the command line is known to be right."""
    if shutil.which("taskset") is None:
        raise RevisionError("taskset is not installed (Debian package util-linux).")
    ours = current(ROOT)
    cache = ours.target / "paired"
    base = check_out(ROOT, options.base, cache)
    before, begin, stopped = machine(), time.monotonic(), False
    with programs_built(programs_of(rows), base, ours, cache) as (folder, all_taken):
        built = time.monotonic()
        try:
            measure(rows, options, folder, all_taken)
        except KeyboardInterrupt:
            note("Stopped; what follows was measured before.")
            stopped = True
    results = [result(row, all_taken[row.ours.probe], final=True) for row in rows]
    head = {
        "base": commit(ROOT, options.base),
        "revision": revision(),
        "machine": before,
        "core": options.core,
        "pairs": options.pairs,
        "floor": FLOOR,
        "confidence": CONFIDENCE,
        "build_s": round(built - begin, 1),
        "measure_s": round(time.monotonic() - built, 1),
        "complete": not stopped,
    }
    print(
        f"old {options.base}, new {head['revision']}, core {options.core}, load {before['load_average_1min']}"
    )
    print("\n".join([*table(results), "", summary(results)]))
    default = cache / f"{options.base.replace('/', '-')}-to-{head['revision'] or 'unknown'}.json"
    write(options.out or default, head, results)
    return 130 if stopped else exit_code(results, all_taken)


if __name__ == "__main__":
    sys.exit(main())
