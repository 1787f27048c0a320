"""Real-time scheduling, where the system allows it: other work on the machine shall not show in figures."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

PRIORITY = 10
"""Of SCHED_FIFO, 1 to 99: above all ordinary work, below the kernel's own threads."""


@contextlib.contextmanager
def urgent() -> Iterator[bool]:
    """Before all ordinary processes (SCHED_FIFO), with whatever is started meanwhile; says whether it is so.

    Needs root or CAP_SYS_NICE; without, it goes on as it was.
    """
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except (AttributeError, OSError):
        yield False
        return
    try:
        yield True
    finally:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, *before)
