"""How many threads may work on a network."""

from __future__ import annotations

import os
from functools import cache

from .. import core
from ..errors import TwinplaneError

BY_THE_CLOCK = "one thread: in real time a network goes by the clock"
"""What comes of threads that are asked for there."""

_most: int | None = None
_share: int | None = None


def count() -> int:
    """How many processors this process may use: within the quota of its control group."""
    return _within_quota(len(os.sched_getaffinity(0)))


@cache
def _within_quota(_allowed: int) -> int:
    """The same, found once for so many processors that it may run on: the quota is read from files.

    A program that runs a network in small steps asks at each of them.
    """
    found: int = core.load().processors()
    return found


def checked(asked: int, name: str) -> int:
    """A number of threads that this machine has processors for."""
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise TwinplaneError(f"{name}={asked!r}: a whole number from 1 on is needed")
    if asked > count():
        raise TwinplaneError(f"{name}={asked}: there are {count()} processors, so {count()} at most")
    return asked


def limit(most: int | None) -> None:
    """Let networks of this process that say nothing else have so many threads at most, or as many as pay."""
    global _most
    _most = None if most is None else checked(most, "--threads")


def limited() -> int | None:
    """How many threads networks of this process that say nothing else have at most; None: as many as pay."""
    return _most


def share(jobs: int) -> None:
    """So many processes work beside each other: networks of this one try no more threads than its part."""
    global _share
    _share = max(count() // jobs, 1)


def threads(asked: int | None) -> int | None:
    """How many threads may work on a network: as asked for, or by the command line; None: as many as pay."""
    return _most if asked is None else checked(asked, "threads")


def tried() -> int:
    """Up to so many threads are tried on a network that nothing is said of."""
    return count() if _share is None else _share
