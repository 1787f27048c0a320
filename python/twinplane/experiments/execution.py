"""Running the tasks of a plan: here, over all cores, or on a cluster; each finished run is kept."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from ..errors import TwinplaneError, warn
from ..network import processors
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
            _drain(pool, todo, left, finished, jobs)
    return [found[place] for place in range(len(todo))]


def _beside(task: Task, jobs: int) -> Done:
    """One of so many runs at a time."""
    processors.share(jobs)
    return run_task(task)


def _drain(
    pool: Executor,
    todo: Sequence[Task],
    left: Sequence[int],
    finished: Callable[[int, Done], None],
    jobs: int,
) -> None:
    with _ignoring_interrupts():  # inherited by the workers: Ctrl-C is for this process, which ends them
        waiting: dict[Future[Done], int] = {pool.submit(_beside, todo[place], jobs): place for place in left}
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
