#!/usr/bin/env python3
"""`make build-report`: what it takes to build a revision from nothing, and how much of it there is.

    python3 benches/build_report.py [REVISION ...] [--json]

Of each revision: seconds (of the clock and of the processor) of a cold build of the wheel and of the
router's binary, each in an empty folder; their sizes; the number of crates compiled; lines of Rust and
of Python. With several revisions they stand side by side. Packages are fetched before the clock starts.
On a busy machine the seconds of the processor are what counts. Exit code 2 if a revision can't be built.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from probes import ROOT
from revisions import RevisionError, check_out, commit, current, output
from run import lines, machine, note

Facts = dict[str, float]

UNITS: dict[str, str] = {
    "wheel_wall_s": "wheel, cold build: clock, s",
    "wheel_cpu_s": "wheel, cold build: processor, s",
    "wheel_mb": "wheel, size, MB",
    "wheel_crates": "wheel, crates compiled",
    "router_wall_s": "router, cold build: clock, s",
    "router_cpu_s": "router, cold build: processor, s",
    "router_mb": "router, size, MB",
    "router_crates": "router, crates compiled",
    "rust_lines": "lines of Rust in crates",
    "python_lines": "lines of Python in python",
    "rust_test_lines": "lines of Rust in folders of tests, examples and benches",
    "python_test_lines": "lines of Python in tests and benches",
}
TEST_FOLDERS = frozenset({"tests", "examples", "benches"})


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processor that a piece of work took, its child processes included."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begin, before = time.monotonic(), spent()
    work()
    return time.monotonic() - begin, spent() - before


def count_lines(folder: Path, suffix: str, *, tests: bool) -> int:
    """Lines of the files with this suffix that are, or are not, in a folder of tests, examples or benches."""
    total = 0
    for path in folder.rglob(f"*{suffix}"):
        if tests == bool(TEST_FOLDERS & set(path.relative_to(folder).parts[:-1])):
            total += len(path.read_text(encoding="utf-8").splitlines())
    return total


def crates(tree: str) -> int:
    """Different packages in what `cargo tree --prefix none` prints: the first two words of a line."""
    return len({tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()})


def find_maturin() -> str:
    """The maturin of the project's environment, or any."""
    beside = ROOT / ".venv" / "bin" / "maturin"
    found = str(beside) if beside.exists() else shutil.which("maturin")
    if found is None:
        raise RevisionError("maturin is not installed (make setup).")
    return found


def megabytes(path: Path) -> float:
    """Size of a file."""
    return path.stat().st_size / 1e6


def built(source: Path, name: str, command: Sequence[str], product: str) -> Facts:
    """Build one thing in an empty folder; `product` is a pattern for its file in there."""
    with tempfile.TemporaryDirectory(prefix="twinplane-build-") as folder:
        filled = [word.replace("{target}", folder) for word in command]
        environment = {**os.environ, "CARGO_TARGET_DIR": folder}
        for wrapper in (
            "RUSTC_WRAPPER",
            "CARGO_BUILD_RUSTC_WRAPPER",
        ):  # a cache of compilations is no cold build
            environment.pop(wrapper, None)
        wall, processor = timed(lambda: output(filled, source, environment))
        files = list(Path(folder).glob(product))
        if len(files) != 1:
            raise RevisionError(f"the build of the {name} in {source} left {len(files)} files {product}.")
        note(f"{name}: {wall:.0f} s, {processor:.0f} s of the processor")
        return {f"{name}_wall_s": wall, f"{name}_cpu_s": processor, f"{name}_mb": megabytes(files[0])}


def measure(source: Path, maturin: str) -> Facts:
    """All facts of one source tree."""
    facts: Facts = {
        "rust_lines": count_lines(source / "crates", ".rs", tests=False),
        "rust_test_lines": count_lines(source / "crates", ".rs", tests=True),
        "python_lines": count_lines(source / "python", ".py", tests=False),
        "python_test_lines": sum(
            len(path.read_text(encoding="utf-8").splitlines())
            for folder in ("tests", "benches")
            for path in (source / folder).rglob("*.py")
        ),
    }
    output(["cargo", "fetch", "--quiet", "--locked"], source)
    for name, package in (("wheel", "twinplane-py"), ("router", "twinplane-router")):
        command = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none", "-p", package]
        facts[f"{name}_crates"] = crates(output(command, source))
    wheel = [maturin, "build", "--release", "--locked", "--quiet", "--out", "{target}/out"]
    facts |= built(source, "wheel", [*wheel, "--interpreter", sys.executable], "out/*.whl")
    router = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "twinplane-router"]
    return facts | built(source, "router", router, "release/twinplane-router")


def table(found: dict[str, Facts]) -> list[str]:
    """A line for each fact, a column for each revision."""
    body = []
    for key, name in UNITS.items():
        digits = 2 if key.endswith("_mb") else 0
        body.append([name, *(f"{facts[key]:,.{digits}f}" for facts in found.values())])
    return lines(("what", *found), body)


def main() -> int:
    """Check out, build, count, print."""
    parser = argparse.ArgumentParser(description="Time and size of a build of some revisions, from nothing.")
    parser.add_argument("revisions", nargs="*", default=["HEAD"], help="what git calls it (HEAD)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    before, found = machine(), {}
    try:
        maturin, cache = find_maturin(), current(ROOT).target / "paired"
        for name in options.revisions:
            note(f"building {name} ...")
            found[name] = measure(check_out(ROOT, name, cache).source, maturin)
    except RevisionError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.json:
        commits = {name: commit(ROOT, name) for name in found}
        print(json.dumps({"machine": before, "commits": commits, "facts": found}, indent=2))
    else:
        print(f"{before['cores']} cores, {before['processor']}, load {before['load_average_1min']}")
        print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
