"""Processes of a lab: told from others that have the same number later by when they started."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "TWINPLANE_LAB"
"""In the environment of whatever is started for a lab: the folder of the lab."""

TERM_S = 1.0
"""How long processes have to end by themselves."""

KILL_S = 5.0
"""How long the kernel has to end them."""

PAUSE_S = 0.05
"""Between two looks at something that takes no time to look at."""

LONG_PAUSE_S = 0.5
"""The longest pause after a look that took long itself."""


@dataclass(frozen=True)
class Process:
    """A process, by its number and its start in clock ticks since boot."""

    pid: int
    start: int

    def alive(self) -> bool:
        """Is it still this one, and not dead and only unburied?"""
        found = stat(self.pid)
        return found is not None and found[1] == self.start and found[0] not in "ZX"


def stat(pid: int) -> tuple[str, int] | None:
    """State and start of a process (proc(5), fields 3 and 22)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])


def of(pid: int) -> Process:
    """A process that has just been started."""
    found = stat(pid)
    return Process(pid, -1 if found is None else found[1])


def everyone() -> Iterator[int]:
    """All process numbers."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                yield int(entry.name)


def family() -> set[int]:
    """This process and those that wait for it."""
    found, pid = set(), os.getpid()
    while pid > 1 and pid not in found:
        found.add(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
    return found


def belonging(folder: Path, spaces: Iterable[tuple[int, int]]) -> set[Process]:
    """Processes that live in any of these namespaces, or were started for the lab with this folder."""
    known, mark = set(spaces), f"{MARK}={folder}".encode()
    found, ours = set(), family()
    for pid in everyone():
        if pid in ours:
            continue
        if _space(pid) in known or mark in _environment(pid):
            process = of(pid)
            if process.alive():
                found.add(process)
    return found


def _space(pid: int) -> tuple[int, int] | None:
    try:
        there = Path(f"/proc/{pid}/ns/net").stat()
    except OSError:
        return None
    return there.st_dev, there.st_ino


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def send(process: Process, number: int) -> None:
    """A signal to exactly this process: a number that was given to another in between is left alone."""
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(process.pid)
        try:
            if process.alive():
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def end(find: Callable[[], set[Process]], term_s: float = TERM_S) -> set[Process]:
    """End all that `find` finds: ask, then kill; those that are left are returned."""
    asked: set[Process] = set()
    begin = time.monotonic()
    while left := find():
        passed = time.monotonic() - begin
        if passed > term_s + KILL_S:
            return left
        for process in left:
            if passed > term_s:
                send(process, signal.SIGKILL)
            elif process not in asked:
                asked.add(process)
                send(process, signal.SIGTERM)
        wait_until(lambda: not any(process.alive() for process in left), min(0.25, term_s))
    return set()


def wait_until(true: Callable[[], bool], seconds: float, step: float = 0.002) -> bool:
    """Wait until something is true, at most so long.

    The pauses grow from `step` to :data:`PAUSE_S`, if they are not longer from the start. A pause takes twice
    as long as looking took: who waits leaves the processors to what is waited for.
    """
    limit = time.monotonic() + seconds
    begin = time.monotonic()
    while not true():
        now = time.monotonic()
        if now >= limit:
            return False
        time.sleep(min(max(step, 2 * (now - begin)), max(step, LONG_PAUSE_S)))
        step = max(step, min(step * 1.5, PAUSE_S))
        begin = time.monotonic()
    return True
