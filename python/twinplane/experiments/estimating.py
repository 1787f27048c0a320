"""What an experiment will take, from a trial: some of its runs are begun, and saved as they are then."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..frames import rows
from ..measure.estimate import Estimate
from ..measure.growth import Range, exactly, grown
from ..network import memory
from ..network.estimating import TRIAL_S
from ..network.trying import Trial, resident
from ..units import span_ps
from .base import Outcome
from .events import with_actions
from .running import prepared, quiet
from .saving import save
from .tasks import Done, Store, Task, tasks

if TYPE_CHECKING:
    from ..results.folder import Results
    from .base import Experiment
    from .parameters import Parameters
    from .plan import Plan

TRIALS_MAX = 4
"""So many runs of a plan are begun, spread over its points."""
PACKET = 48
"""Bytes that a captured frame has around it in a file, about."""

Page = Callable[["Results"], Path]
"""Writes the page of a results folder."""


@dataclass
class _Tried:
    """What the beginning of a run foretells of it."""

    before_s: float = 0.0
    """Seconds of the processor for describing and building."""
    run_s: Range = field(default_factory=lambda: exactly(0.0))
    after_s: float = 0.0
    """For figures and tables."""
    events: Range = field(default_factory=lambda: exactly(0.0))
    seen: int = 0
    """Events of the trial."""
    added: Range = field(default_factory=lambda: exactly(0.0))
    """Bytes of memory that come on top of what the trial took."""
    captured: Range = field(default_factory=lambda: exactly(0.0))
    """Bytes of captures."""
    rows_now: dict[str, float] = field(default_factory=dict)
    rows_then: dict[str, Range] = field(default_factory=dict)
    """Rows of tables, of the trial and of the whole run."""
    done: Done = field(default_factory=lambda: Done({}))

    def growth(self, table: str) -> Range:
        """How many times as large a table will be as it is after the trial."""
        now = self.rows_now.get(table, 0.0)
        return self.rows_then[table].times(1 / now) if now else exactly(1.0)


def estimate(plan: Plan, page: Page, seconds: float = TRIAL_S, events: int | None = None) -> Estimate:
    """What a plan will take; with `events` each trial ends after so many instead of by a clock."""
    if plan.real is not None:
        raise TwinplaneError(
            "--estimate: in real time a run takes as long as it lasts: there is no trial of it"
        )
    if any(plan.experiment.is_forked(point) for point in plan.points):
        raise TwinplaneError(
            f"--estimate: {plan.experiment.name} tries many cases, and its beginning says little of them"
        )
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_estimate, plan, page, seconds, events, time.process_time()).result()


def _estimate(plan: Plan, page: Page, seconds: float, events: int | None, before_s: float) -> Estimate:
    """In a process that has done nothing before: its memory and its seconds are those of the trial.

    `before_s` is what it took to come as far as this, and will take again.
    """
    start_s = time.process_time()
    with tempfile.TemporaryDirectory(prefix="twinplane-estimate-") as name, quiet():
        folder = Path(name)
        todo = tasks(plan, folder)
        firsts = todo[:: plan.repeat]
        places = sorted(
            {round(place * (len(firsts) - 1) / max(TRIALS_MAX - 1, 1)) for place in range(TRIALS_MAX)}
        )
        tried = [_tried(plan.experiment, firsts[place], seconds / len(places), events) for place in places]
        worker, end_begun = resident("VmHWM"), time.process_time()
        few = replace(plan, points=[plan.points[place] for place in places], repeat=1, pcap_packets=None)
        page(save(few, [one.done for one in tried], folder, 0.0))
        end_s, most = time.process_time() - end_begun, resident("VmHWM")
        results = _size(plan, todo, tried, folder)
    share = len(todo) / len(tried)
    each = [(exactly(one.before_s + one.after_s) + one.run_s).times(share) for one in tried]
    work = sum(each, exactly(0.0))
    jobs = min(plan.jobs, len(todo))
    time_s = exactly(before_s + end_s + (start_s if jobs > 1 else 0.0)) + work.times(1 / jobs)
    added = max((one.added for one in tried), key=lambda one: one.value)
    grown_worker = exactly(float(worker)) + added
    memory_used = exactly(float(most)) + (added if jobs == 1 else grown_worker.times(jobs))
    count = sum((one.events.times(share) for one in tried), exactly(0.0))
    return Estimate(
        time_s=time_s.within(0.15),
        processor_s=(exactly(before_s + (start_s * jobs if jobs > 1 else 0.0) + end_s) + work).within(0.15),
        memory=memory_used.within(0.1),
        results=results.within(0.1),
        events=count,
        reached=min(sum(one.seen for one in tried) * share / max(count.value, 1.0), 1.0),
        trial_s=time.process_time() - start_s,
    )


def _tried(experiment: Experiment[Any], task: Task, seconds: float, events: int | None) -> _Tried:
    """Begin a run, part by part."""
    parameters = experiment.parameters.model_validate(task.parameters)
    parts = experiment.parts(parameters)
    found, outcomes = _Tried(), dict[str, Outcome]()
    for name, part in parts.items():
        begun = time.process_time()
        network, taps = prepared(experiment, part, task)
        memory.check(network.draft)
        trial = Trial(network, _end_s(experiment, part, task.seed), experiment.pauses(network, part))
        found.before_s += time.process_time() - begun
        looks: dict[str, list[tuple[float, float]]] = {}
        for _ in range(2):
            trial.go(seconds / 2 / len(parts), None if events is None else events // 2)
            begun = time.process_time()
            with trial.apart():
                outcome = with_actions(experiment.summarise(network, part), network)
            last_s = time.process_time() - begun
            for table, columns in outcome.tables.items():
                looks.setdefault(table, [(0.0, 0.0)]).append((trial.now.at_s, float(rows(columns))))
            outcomes[name] = outcome
            if trial.done:
                break
        _note(found, trial, looks, last_s)
        for tap in taps:
            found.captured += _captured(trial, len(tap.bytes()), task.packets or 0)
    found.done = Done.of(experiment.joined(parameters, outcomes), True)
    return found


def _note(found: _Tried, trial: Trial, looks: Mapping[str, list[tuple[float, float]]], last_s: float) -> None:
    """Add what a part of a run foretells."""
    found.run_s += trial.processor_s()
    found.events += trial.events()
    found.seen += trial.now.events
    found.added = max(found.added, trial.added(), key=lambda one: one.value)
    before = sum(found.rows_now.values()), sum(one.value for one in found.rows_then.values())
    for table, seen in looks.items():
        found.rows_now[table] = found.rows_now.get(table, 0.0) + seen[-1][1]
        found.rows_then[table] = found.rows_then.get(table, exactly(0.0)) + trial.rows(seen)
    now = sum(found.rows_now.values()) - before[0]
    then = sum(one.value for one in found.rows_then.values()) - before[1]
    found.after_s += last_s * (then / now if now else 1.0)


def _captured(trial: Trial, size: int, packets: int) -> Range:
    """Bytes of a capture of so many packets at most."""
    whole = grown([(0.0, 0.0), (trial.now.at_s, float(size))], trial.end_s, trial.traffic.events)
    most = float(packets * (trial.mean_bytes + PACKET))
    return Range(*(min(one, max(most, size)) for one in vars(whole).values()))


def _size(plan: Plan, todo: Sequence[Task], tried: Sequence[_Tried], folder: Path) -> Range:
    """Bytes of the results folder."""
    kept = sum(task.tables for task in todo) / len(tried)
    points = len(plan.points) / len(tried)
    found = exactly(0.0)
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        size = exactly(float(path.stat().st_size))
        if path.suffix == ".parquet":
            growths = [one.growth(path.stem) for one in tried]
            mean = sum(growths, exactly(0.0)).times(1 / len(growths))
            size = Range(*(size.value * kept * one for one in vars(mean).values()))
        elif path.name == "summary.json":
            size = size.times(points * (1 if plan.repeat == 1 else plan.repeat + 1))
        found += size
    for one in tried:
        found += one.captured.times(points)
    return found + _stored(todo, tried, folder) if len(todo) > 1 else found


def _stored(todo: Sequence[Task], tried: Sequence[_Tried], folder: Path) -> Range:
    """Bytes of the single runs, which a plan of several keeps so that it can go on."""
    whole, bare = 0.0, 0.0
    store = Store(folder / "points")
    for place, one in enumerate(tried):
        for key, done in (("whole", one.done), ("bare", replace(one.done, tables={}))):
            task = replace(todo[0], key=f"{place}-{key}")
            store.put(task, done)
            size = float((store.folder / f"{task.key}.json").stat().st_size)
            whole, bare = (whole + size, bare) if key == "whole" else (whole, bare + size)
    kept = sum(task.tables for task in todo)
    now = sum(sum(one.rows_now.values()) for one in tried)
    then = sum((sum(one.rows_then.values(), exactly(0.0)) for one in tried), exactly(0.0))
    growth = then.times(1 / now) if now else exactly(1.0)
    tables = Range(*((whole - bare) * share for share in vars(growth).values()))
    return (tables.times(kept) + exactly(bare * len(todo))).times(1 / len(tried))


class _Asked(Exception):
    """How far a network was to run."""

    def __init__(self, until: Any) -> None:
        self.until = until


def _end_s(experiment: Experiment[Any], part: Parameters, seed: int) -> float:
    """To which time a part runs: as the experiment says, or as it first asks of a network."""
    if (said := experiment.end_s(part)) is not None:
        return said
    network = experiment.build(part, seed)

    def asked(until: Any = None, for_: Any = None, *_: Any, **__: Any) -> None:
        raise _Asked(for_ if until is None else until)

    setattr(network.engine, "run", asked)  # noqa: B010 - this one network only notes what is asked of it
    try:
        experiment.run(network, part, None)
    except _Asked as found:
        return span_ps(found.until) / 1e12
    raise TwinplaneError(f"{experiment.name}: --estimate: it does not say when it ends (Experiment.end_s)")
