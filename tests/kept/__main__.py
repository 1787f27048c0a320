"""``python -m tests.kept``: repeat the programs, compare them with what is written down, or write it down."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from . import comparing, explanations, goldens, registry
from .comparing import Verdict
from .seen import Seen

SHOWN = 40
"""Differences of one program that are printed; of more, their number."""


def check(names: list[str], jobs: int, whole: bool, accept: bool = False) -> int:
    """Compare every program; with `accept`, write down what mends explain."""
    known = explanations.load()
    verdicts: list[Verdict] = []
    for name, (seen, trouble, seconds) in zip(names, each(names, jobs), strict=True):
        if seen is None:
            verdicts.append(Verdict(name, trouble=trouble))
        else:
            verdicts.append(comparing.verdict(name, seen, known))
        if accept and seen is not None:
            verdicts[-1].accept()
            goldens.save(goldens.MENDED, name, verdicts[-1].changed)
        progress(len(verdicts), len(names), verdicts[-1], seconds)
    bad = [found for found in verdicts if not found.good]
    for found in bad:
        tell(found)
    needless = known.needless() if whole else []
    for text in needless:
        print(f"explains nothing: {text}")
    equal, renamed, mended = (
        sum(values) for values in zip(*((v.equal, v.renamed, len(v.mended)) for v in verdicts), strict=True)
    )
    differs = sum(len(found.differs) for found in verdicts)
    print(
        f"{len(verdicts)} programs: {equal} items equal, {renamed} renamed, {mended} mended, {differs} differ"
    )
    return 1 if bad or needless else 0


def progress(done: int, total: int, found: Verdict, seconds: float) -> None:
    """One line on a program."""
    said = "could not run" if found.trouble else f"{len(found.differs)} differ" if found.differs else "equal"
    more = "".join(
        f", {count} {word}"
        for count, word in ((found.renamed, "renamed"), (len(found.mended), "mended"))
        if count
    )
    print(
        f"[{done:2}/{total}] {found.program:32} {said}{more} ({found.equal} items, {seconds:.1f} s)",
        flush=True,
    )


def tell(found: Verdict) -> None:
    """Every difference of a program."""
    if found.trouble:
        print(f"{found.program}: {found.trouble}")
    for difference in found.differs[:SHOWN]:
        print(difference)
    if len(found.differs) > SHOWN:
        print(f"{found.program}: {len(found.differs) - SHOWN} more")


def record(names: list[str], jobs: int) -> int:
    """Write down what every program shows."""
    bad = 0
    for place, (name, (seen, trouble, seconds)) in enumerate(zip(names, each(names, jobs), strict=True), 1):
        if seen is None:
            print(f"{name}: {trouble}")
            bad += 1
            continue
        found = goldens.items(seen)
        goldens.save(goldens.GOLDEN, name, found)
        size = sum(len(table) for table in found.values())
        print(f"[{place:2}/{len(names)}] {name:32} {size} items, {seconds:.1f} s", flush=True)
    return 1 if bad else 0


def each(names: list[str], jobs: int) -> Iterator[tuple[Seen | None, str, float]]:
    """Results in the order of the names."""
    if jobs == 1:
        yield from map(registry.attempt, names)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(registry.attempt, names)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.kept", description=__doc__)
    parser.add_argument("what", choices=("check", "record", "accept", "list"))
    parser.add_argument("--only", metavar="GLOB", default="*", help="programs whose name matches")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time [default: 1]")
    given = parser.parse_args()
    names = registry.names(given.only)
    if not names:
        print(f"--only {given.only}: no program has such a name", file=sys.stderr)
        return 2
    try:
        if given.what == "list":
            print("\n".join(names))
            return 0
        if given.what == "record":
            return record(names, given.jobs)
        return check(names, given.jobs, given.only == "*", given.what == "accept")
    except explanations.ExplanationError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
