"""How many threads may work on a network."""

from __future__ import annotations

from .. import core
from ..errors import TwinplaneError

_most = 1


def count() -> int:
    """How many processors this process may use: within the quota of its control group."""
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
    """Let networks of this process that say nothing else have so many threads at most."""
    global _most
    _most = 1 if most is None else checked(most, "--threads")


def limited() -> int:
    """How many threads networks of this process that say nothing else have at most."""
    return _most


def threads(asked: int | None) -> int:
    """How many threads may work on a network: as asked for, or as the command line says, or one."""
    return _most if asked is None else checked(asked, "threads")
