"""Running the points of an experiment: here, over all cores, or on a cluster; each finished point is kept."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError, TwinplaneWarning, warn
from ..files import write_json
from ..network.placing import is_here
from ..results.manifest import FORMAT
from . import load
from .base import Experiment, Outcome, Tick, of_part
from .parameters import Parameters

if TYPE_CHECKING:
    from ..network import Network
    from ..network.handles import Capture
    from ..results.real import Real

TABLES_MAX = 32
"""Of more points than this only some keep their tables."""
SAMPLES = 24


@dataclass(frozen=True)
class Task:
    """One run of one point."""

    experiment: str
    parameters: dict[str, Any]
    seed: int
    key: str
    tables: bool = True
    captures: str | None = None
    packets: int | None = None
    real: Real | None = None
    signals: bool = False


@dataclass
class Done:
    """What a run gave, as plain values."""

    metrics: dict[str, Any]
    tables: dict[str, Any] = field(default_factory=dict)
    topology: dict[str, Any] = field(default_factory=dict)
    real: dict[str, Any] = field(default_factory=dict)
    """Of a run in real time: parameters (its rate may have been found), bounds, calibration, twin."""
    warnings: list[str] = field(default_factory=list)
    """What is surprising about the networks that ran."""

    @classmethod
    def of(cls, outcome: Outcome, tables: bool) -> Done:
        """An outcome, with or without its tables."""
        return cls(outcome.metrics, outcome.tables if tables else {}, outcome.topology)


def key_of(
    experiment: Experiment[Any],
    parameters: Parameters,
    seed: int,
    real: Real | None = None,
    signals: bool = False,
) -> str:
    """A name for exactly this run: parameters, what they refer to, seed, where it runs, and the build."""
    parts = [experiment.name, parameters.model_dump(mode="json"), experiment.inputs(parameters), seed]
    if real is not None:
        parts.append(real.as_dict())
    if signals:
        parts.append("signals")
    text = json.dumps([*parts, FORMAT, core.fingerprint()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tasks(
    experiment: Experiment[Any],
    points: Sequence[Parameters],
    seed: int,
    repeat: int,
    captures: Path | None,
    packets: int | None,
    real: Real | None = None,
    signals: bool = False,
) -> list[Task]:
    """Every run: points in order, the repetitions of each with the seeds that follow."""
    stride = 1 if len(points) <= TABLES_MAX else -(-len(points) // SAMPLES)
    found = []
    for place, parameters in enumerate(points):
        for turn in range(repeat):
            first = turn == 0
            folder = None
            if captures is not None and first:
                folder = str(captures if len(points) == 1 else captures / f"point-{place:04d}")
            found.append(
                Task(
                    experiment.name,
                    parameters.model_dump(mode="json"),
                    seed + turn,
                    key_of(experiment, parameters, seed + turn, real, signals),
                    first and (len(points) - 1 - place) % stride == 0,
                    folder,
                    packets,
                    real,
                    signals,
                )
            )
    return found


def run_task(task: Task, tick: Tick | None = None) -> Done:
    """Build, run and summarise one point; whoever asked for it says what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TwinplaneWarning)
        done = _run_task(task, tick)
    for one in caught:
        if not issubclass(one.category, TwinplaneWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    ours = (str(one.message) for one in caught if issubclass(one.category, TwinplaneWarning))
    done.warnings = list(dict.fromkeys(ours))
    return done


def _run_task(task: Task, tick: Tick | None) -> Done:
    experiment = load(task.experiment)
    parameters = experiment.parameters.model_validate(task.parameters)
    if task.real is not None:
        return _run_real(experiment, parameters, task, task.real, tick)
    outcomes = {}
    parts = experiment.parts(parameters)
    for place, (name, part) in enumerate(parts.items()):
        network = experiment.build(part, task.seed)
        if task.signals:
            network.log_signals()
        taps = _captures(network, task)
        experiment.run(network, part, of_part(tick, place, len(parts)))
        outcomes[name] = experiment.summarise(network, part)
        _save_captures(taps, task, name)
    return Done.of(experiment.joined(parameters, outcomes), task.tables)


def _run_real(
    experiment: Experiment[Any], parameters: Parameters, task: Task, real: Real, tick: Tick | None
) -> Done:
    from .labs.point import Measured, joined, run_point

    runs: dict[str, Measured] = {}
    parts = experiment.parts(parameters)
    for place, (name, part) in enumerate(parts.items()):
        taps: list[Capture] = []

        def ready(network: Network, taps: list[Capture] = taps) -> None:
            taps.extend(_captures(network, task))

        def finished(taps: list[Capture] = taps, name: str = name) -> None:
            _save_captures(taps, task, name)

        known = next(iter(runs.values())).known if runs else None
        told = of_part(tick, place, len(parts))
        with experiment.ground(part, task.seed, real) as ground:
            runs[name] = run_point(experiment, part, real, ground, told, ready, finished, known)
    found = joined(experiment, parameters, runs)
    done = Done.of(found.outcome, task.tables)
    done.real = found.as_dict()
    if task.tables:
        done.tables |= found.twin_tables()
    return done


def _captures(network: Network, task: Task) -> list[Capture]:
    if task.captures is None:
        return []
    return [network.capture(link, packets=task.packets) for link in network.links if is_here(network, link)]


def _save_captures(taps: Sequence[Capture], task: Task, part: str) -> None:
    for place, tap in enumerate(taps):
        name = f"{place:02d}-{tap.link.a.name}-{tap.link.b.name}".replace("/", "_")
        tap.save(Path(str(task.captures)) / part / f"{name}.pcapng")


class Store:
    """Finished points on disk, one JSON file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, task: Task) -> Path:
        return self.folder / f"{task.key}.json"

    def get(self, task: Task) -> Done | None:
        """A finished run; None if there is none or it can't be used."""
        try:
            found = json.loads(self._path(task).read_text())
            if (
                found["format"] != FORMAT
                or found["parameters"] != task.parameters
                or found["seed"] != task.seed
            ):
                return None
            if task.tables and not found["tables"]:
                return None
            if task.captures is not None and not Path(task.captures).is_dir():
                return None
            return Done(
                found["metrics"], found["tables"], found["topology"], found["real"], found["warnings"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, task: Task, done: Done) -> None:
        """Keep a finished run."""
        value = {
            "format": FORMAT,
            "experiment": task.experiment,
            "seed": task.seed,
            "parameters": task.parameters,
            "metrics": done.metrics,
            "topology": done.topology,
            "tables": done.tables,
            "real": done.real,
            "warnings": done.warnings,
        }
        write_json(self._path(task), value, indent=None)


Report = Callable[[Task, Done, bool], None]
"""Told of every finished run; the last argument says whether it was finished before."""


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
            _drain(pool, todo, left, finished)
    return [found[place] for place in range(len(todo))]


def _drain(
    pool: Executor, todo: Sequence[Task], left: Sequence[int], finished: Callable[[int, Done], None]
) -> None:
    with _ignoring_interrupts():  # inherited by the workers: Ctrl-C is for this process, which ends them
        waiting: dict[Future[Done], int] = {pool.submit(run_task, todo[place]): place for place in left}
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


def default_jobs() -> int:
    """As many runs at a time as there are cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
