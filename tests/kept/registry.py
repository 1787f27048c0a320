"""The list of programs."""

from __future__ import annotations

import fnmatch
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from .seen import Seen

Program = Callable[[Seen], None]

PROGRAMS: dict[str, Program] = {}
"""By name, in the order in which they are written down."""

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the repository."""


def program(function: Program) -> Program:
    """Enter a function as a program; its name with hyphens is the program's."""
    name = function.__name__.replace("_", "-")
    if name in PROGRAMS:
        raise ValueError(f"program {name!r} is there twice")
    PROGRAMS[name] = function
    return function


def names(pattern: str = "*") -> list[str]:
    """The programs that match a pattern, in order."""
    from . import programs  # noqa: F401  (enters them)

    return [name for name in PROGRAMS if fnmatch.fnmatch(name, pattern)]


def run(name: str) -> Seen:
    """Run a program."""
    names()
    with tempfile.TemporaryDirectory(prefix="kept-") as folder:
        seen = Seen(Path(folder).resolve())
        PROGRAMS[name](seen)
        seen.finish()
    return seen


def attempt(name: str) -> tuple[Seen | None, str, float]:
    """Run a program: what it shows, or why it could not, and the seconds that it took."""
    begin = time.monotonic()
    try:
        return run(name), "", time.monotonic() - begin
    except Exception:
        return None, traceback.format_exc(limit=-3), time.monotonic() - begin
