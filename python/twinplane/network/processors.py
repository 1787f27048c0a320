"""How many threads may work on a network."""

from __future__ import annotations

import multiprocessing
import os

from ..errors import TwinplaneError

_most: int | None = None


def count() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked(asked: int, name: str) -> int:
    """A number of threads that this machine has processors for."""
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise TwinplaneError(f"{name}={asked!r}: a whole number from 1 on is needed")
    if asked > count():
        raise TwinplaneError(f"{name}={asked}: there are {count()} processors, so {count()} at most")
    return asked


def limit(most: int | None) -> None:
    """Let networks of this process that say nothing else have so many threads at most."""
    global _most
    _most = None if most is None else checked(most, "--threads")


def threads(asked: int | None) -> int:
    """How many threads may work on a network: as asked for, or as many as there are processors to be had."""
    if asked is not None:
        return checked(asked, "threads")
    if _most is not None:
        return _most
    # The workers of a campaign fill the processors already.
    return 1 if multiprocessing.parent_process() is not None else count()
