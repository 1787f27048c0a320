"""Work in forked processes: each begins with all that this process has in memory, and answers in bytes.

A child calls nothing but `work`: other threads of this process do not exist in it, so that whatever takes
locks they may hold, such as the threads of data frames, is not for it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..errors import FailedError, one_line
from . import processors

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
WELL, ILL = b"+", b"-"


@dataclass
class _Child(Generic[T]):
    """A process at work."""

    task: T
    pid: int
    pipe: int
    parts: list[bytes] = field(default_factory=list)


def forked(
    tasks: Sequence[T], work: Callable[[T], bytes], jobs: int, waiting: Callable[[], object] | None = None
) -> Iterator[tuple[T, bytes]]:
    """The answers of `work` to all tasks, in the order in which they are ready; so many `jobs` at a time.

    Whoever stops taking answers ends the processes that are still at work. `waiting` is called about twice a
    second.
    """
    left = list(reversed(tasks))
    running: dict[int, _Child[T]] = {}
    gc.collect()
    gc.freeze()  # what is there now is neither collected nor written to by children
    with selectors.DefaultSelector() as ready:
        try:
            while left or running:
                while left and len(running) < jobs:
                    child = _begin(left.pop(), work, running)
                    ready.register(child.pipe, selectors.EVENT_READ)
                found = ready.select(0.5)
                for key, _ in found:
                    child = running[key.fd]
                    if data := os.read(child.pipe, 1 << 16):
                        child.parts.append(data)
                        continue
                    ready.unregister(child.pipe)
                    answer = _end(child, running)
                    yield child.task, answer
                if waiting is not None:
                    waiting()
        finally:
            gc.unfreeze()
            for child in list(running.values()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGKILL)
                _reap(child, running)


def _begin(task: T, work: Callable[[T], bytes], running: dict[int, _Child[T]]) -> _Child[T]:
    """Fork a child; no signal comes between the fork and the note of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        read, write = os.pipe()
        with warnings.catch_warnings():
            # What Python says of threads does not matter to children that do without them.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            _be_child(task, work, write)
        os.close(write)
        child = running[read] = _Child(task, pid, read)
        return child
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_child(task: T, work: Callable[[T], bytes], pipe: int) -> None:
    """Do the work of a child, and end."""
    code = 1
    try:
        gc.disable()
        # Children fill the processors already.
        processors.limit(1)
        # Ctrl-C is for the parent, which ends its children.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        try:
            answer = WELL + work(task)
        except Exception as error:
            answer = ILL + one_line(error).encode()
        view = memoryview(answer)
        while view:
            view = view[os.write(pipe, view) :]
        code = 0
    finally:
        os._exit(code)


def _reap(child: _Child[T], running: dict[int, _Child[T]]) -> int:
    running.pop(child.pipe, None)
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    return os.waitstatus_to_exitcode(status)


def _end(child: _Child[T], running: dict[int, _Child[T]]) -> bytes:
    """The answer of a child that is done."""
    code = _reap(child, running)
    answer = b"".join(child.parts)
    if answer[:1] == WELL and code == 0:
        return answer[1:]
    if answer[:1] == ILL:
        raise FailedError(f"{child.task}: {answer[1:].decode(errors='replace')}")
    why = f"signal {-code}; out of memory?" if code < 0 else f"exit code {code}"
    raise FailedError(f"{child.task}: its process ended unexpectedly ({why})")
