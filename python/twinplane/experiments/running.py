"""Running one task: build the network of its point, run it, summarise it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MachineWarning, TwinplaneWarning
from ..network import processors
from ..network.placing import is_here
from . import load
from .base import Experiment, Tick, of_part
from .events import add, end_of, with_actions
from .parameters import Parameters
from .tasks import Done, Task

if TYPE_CHECKING:
    from ..network import Network
    from ..network.handles import Capture
    from ..results.real import Real


@contextmanager
def quiet() -> Iterator[None]:
    """What is odd about networks is not said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinplaneWarning)
        yield


def run_task(task: Task, tick: Tick | None = None) -> Done:
    """Build, run and summarise one point; whoever asked for it says what it warns of.

    What is odd about the machine is said at once: it is no result.
    """
    said: list[str] = []
    outside = warnings.showwarning

    def hear(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, TwinplaneWarning) and not issubclass(category, MachineWarning):
            said.append(str(message))
        else:
            outside(message, category, *where, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TwinplaneWarning)
        warnings.showwarning = hear
        done = _run_task(task, tick)
    done.warnings = list(dict.fromkeys(said))
    return done


def _run_task(task: Task, tick: Tick | None) -> Done:
    experiment = load(task.experiment)
    parameters = experiment.parameters.model_validate(task.parameters)
    if task.real is not None:
        return _run_real(experiment, parameters, task, task.real, tick)
    outcomes, threads = {}, []
    parts = experiment.parts(parameters)
    for place, (name, part) in enumerate(parts.items()):
        network, taps = prepared(experiment, part, task)
        told = of_part(tick, place, len(parts))
        experiment.run(network, part, told and by_work(network, experiment, part, told))
        outcomes[name] = with_actions(experiment.summarise(network, part), network)
        if processors.limited() is not None or network.engine.threads_known:
            threads.append(network.threads)
        _save_captures(taps, task, name)
    done = Done.of(experiment.joined(parameters, outcomes), task.tables)
    if processors.limited() != 1:
        done.threads = list(dict.fromkeys(threads))
    return done


def prepared(experiment: Experiment[Any], part: Parameters, task: Task) -> tuple[Network, list[Capture]]:
    """The network of a part of a point, with the events and captures of a task: it has not run."""
    network = experiment.build(part, task.seed)
    add(network, task.events, end_of(part))
    if task.signals:
        network.log_signals()
    return network, _captures(network, task)


def by_work(network: Network, experiment: Experiment[Any], part: Parameters, tick: Tick) -> Tick:
    """Tells how much of the work of a run is done, and not of its time: traffic is more work than silence."""
    from ..network.trying import Work

    if (end_s := experiment.end_s(part)) is None:
        return tick
    work = Work(network, end_s)
    return lambda _: tick(work.share())


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
            runs[name] = run_point(experiment, part, real, ground, told, ready, finished, known, task.events)
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
