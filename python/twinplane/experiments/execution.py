"""Running the tasks of a plan: here, over all cores, or on a cluster; each finished run is kept."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from ..errors import MachineWarning, TwinplaneError, warn
from ..network import memory, processors
from .base import Tick
from .running import run_task
from .tasks import Done, Report, Store, Task


def execute(
    todo: Sequence[Task],
    store: Store | None,
    *,
    jobs: int,
    scheduler: str | None = None,
    report: Report | None = None,
    tick: Tick | None = None,
) -> list[Done]:
    """Run what is not finished; results come in the order of the tasks, whatever the number of jobs."""
    found: dict[int, Done] = {}

    def finished(place: int, done: Done, old: bool = False) -> None:
        found[place] = done
        for text in done.warnings:
            warn(text)
        for text in done.asides:
            warn(text, MachineWarning)
        if store is not None and not old:
            store.put(todo[place], done)
        if report is not None:
            report(todo[place], done, old)

    left = []
    for place, task in enumerate(todo):
        kept = None if store is None else store.get(task)
        if kept is None:
            left.append(place)
        else:
            finished(place, kept, old=True)
    jobs = min(jobs, len(left))
    if scheduler is None and jobs <= 1:
        for place in left:
            finished(place, run_task(todo[place], tick))
    else:
        with _executor(jobs, scheduler) as pool:
            # What is free on the machines of a cluster is not known here.
            free = memory.free_bytes() if scheduler is None else None
            _drain(pool, todo, left, finished, (jobs, free))
    return [found[place] for place in range(len(todo))]


def _beside(task: Task, jobs: int, free: int | None) -> Done:
    """One of so many runs at a time, which have so much memory together."""
    processors.share(jobs)
    memory.share(jobs, free)
    with warnings.catch_warnings(record=True) as caught:
        done = run_task(task)
    for one in caught:
        if issubclass(one.category, MachineWarning):
            done.asides.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return done


def _drain(
    pool: Executor,
    todo: Sequence[Task],
    left: Sequence[int],
    finished: Callable[[int, Done], None],
    shared: tuple[int, int | None],
) -> None:
    with _ignoring_interrupts():  # inherited by the workers: Ctrl-C is for this process, which ends them
        waiting: dict[Future[Done], int] = {
            pool.submit(_beside, todo[place], *shared): place for place in left
        }
    while waiting:
        ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in sorted(ready, key=waiting.__getitem__):
            place = waiting.pop(future)
            try:
                finished(place, future.result())
            except BrokenProcessPool:
                raise TwinplaneError(
                    "a worker process ended unexpectedly (out of memory?); finished points are kept:"
                    " run the same command with --out to go on"
                ) from None


@contextmanager
def _executor(jobs: int, scheduler: str | None) -> Iterator[Executor]:
    if scheduler is not None:
        from .cluster import executor

        with executor(scheduler) as remote:
            yield remote
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context)
    try:
        yield pool
    except BaseException:
        # Whoever is interrupted or fails does not wait for runs whose results nobody will take.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    pool.shutdown()


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
