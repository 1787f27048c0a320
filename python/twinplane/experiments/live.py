"""A point of a run in real time, and what surrounds it: calibration, bounds, the twin in virtual time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..measure.bounds import TIME, bounds_of, own_share
from ..measure.calibration import (
    LEAST_PACKETS_PER_S,
    Bench,
    Calibration,
    Search,
    Spread,
    check_rate,
    floor,
    nothing_passes,
    read,
    search,
)
from ..network.placing import lateness
from ..results.real import Real
from .base import Outcome
from .urgency import urgent

if TYPE_CHECKING:
    from ..network import Network
    from .base import Experiment, Tick

TWIN_TABLES = ("signals", "series", "lsps_up")
"""Tables of the twin that are kept."""


class Ground(ABC):
    """What stands ready for one point of an experiment, and is taken down when the point is finished."""

    @abstractmethod
    def network(self, parameters: Any) -> Network:
        """The tester's part of the network (or all of it) by the clock; each time afresh."""

    @abstractmethod
    def virtual(self, parameters: Any) -> Network:
        """Its twin in virtual time."""

    def intact(self) -> None:
        """Refuse the figures of a run in which something that it needs ended."""
        return

    def gather(self, network: Network) -> None:
        """Take what only nodes in other processes know, before they end."""
        return

    def path(self, parameters: Any) -> Spread | None:
        """What probes along the idle path took beyond virtual time; asked for after the run."""
        return None

    @abstractmethod
    def bench(self) -> AbstractContextManager[Bench]:
        """Ports like those of the run, back to back."""

    @abstractmethod
    def through(self, parameters: Any, rate_bps: float) -> Search:
        """The highest rate without loss through the system under test, at most `rate_bps`."""


class OneProcess(Ground):
    """The network of an experiment in this process, whole, without interfaces and without a rate to find."""

    def __init__(self, experiment: Experiment[Any], seed: int) -> None:
        self.experiment, self.seed = experiment, seed

    def network(self, parameters: Any) -> Network:
        """See `Ground`."""
        made = self.experiment.build(parameters, self.seed)
        made.log_signals()
        made.go_live({})
        return made

    def virtual(self, parameters: Any) -> Network:
        """See `Ground`."""
        return self.experiment.build(parameters, self.seed)

    def bench(self) -> AbstractContextManager[Bench]:
        """See `Ground`."""
        from .benches import in_process

        return in_process()

    def through(self, parameters: Any, rate_bps: float) -> Search:
        """See `Ground`."""
        raise TwinplaneError(
            f"{self.experiment.name}: --rate auto: its parameters set no rate of all traffic"
        )


@dataclass
class Measured:
    """A point in real time with all that belongs to it."""

    parameters: Any
    outcome: Outcome
    bounds: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)
    twin: dict[str, Any] = field(default_factory=dict)
    known: Calibration | None = None
    """What was known of the tester's ports."""

    def as_dict(self) -> dict[str, Any]:
        """What is kept beside metrics and tables."""
        return {
            "parameters": self.parameters.model_dump(mode="json"),
            "bounds": self.bounds,
            "refused": self.refused,
            "calibration": self.calibration,
            "twin": {key: value for key, value in self.twin.items() if key != "tables"},
        }

    def twin_tables(self) -> dict[str, Any]:
        """The twin's tables that are laid beside this run's."""
        tables = self.twin.get("tables", {})
        return {f"twin_{name}": tables[name] for name in TWIN_TABLES if name in tables}


def prepare(
    experiment: Experiment[Any], parameters: Any, real: Real, ground: Ground
) -> tuple[Calibration, Search | None, Any]:
    """Calibrate, check or choose the rate; the parameters have it afterwards."""
    size, _, most_bps = experiment.load(parameters)
    if real.calibration is not None:
        kept = read(Path(real.calibration), size)
        parameters, through = choose(experiment, parameters, real, ground, kept.search)
        return kept, through, parameters
    begin = time.monotonic()
    with ground.bench() as bench:
        found = search(bench, size, most_bps)
        if found.rate_bps is None:
            raise TwinplaneError(nothing_passes(bench.describe(), size))
        parameters, through = choose(experiment, parameters, real, ground, found)
        calibration = floor(bench, found, experiment.load(parameters)[1], begin)
    return calibration, through, parameters


def choose(
    experiment: Experiment[Any], parameters: Any, real: Real, ground: Ground, found: Search
) -> tuple[Any, Search | None]:
    """Parameters with a rate that is free of loss, and the trials through the system under test."""
    size, rate_bps, most_bps = experiment.load(parameters)
    if not real.rate_auto:
        check_rate(found, rate_bps, experiment.name)
        return parameters, None
    through = ground.through(parameters, min(most_bps, found.rate_bps or 0.0))
    if through.rate_bps is None:
        raise TwinplaneError(
            f"{experiment.name}: no rate is free of loss through the system under test:"
            f" it loses even {LEAST_PACKETS_PER_S:g} frames of {size} bytes a second"
        )
    return experiment.at_rate(parameters, through.rate_bps), through


def run_point(
    experiment: Experiment[Any],
    parameters: Any,
    real: Real,
    ground: Ground,
    tick: Tick | None = None,
    ready: Callable[[Network], None] | None = None,
    finished: Callable[[], None] | None = None,
    known: Calibration | None = None,
) -> Measured:
    """Calibrate, choose or check the rate, run by the clock, bound the figures, run the twin.

    What is `known` of ports like these is not measured again.
    """
    with urgent() as is_urgent:
        if known is None:
            calibration, through, parameters = prepare(experiment, parameters, real, ground)
        else:
            calibration, through = known, None
        network = ground.network(parameters)
        if ready is not None:
            ready(network)
        experiment.run(network, parameters, tick)
        ground.intact()
        ground.gather(network)
    outcome = experiment.summarise(network, parameters)
    late = lateness(network)
    counts = experiment.count_bounds(network, parameters, outcome.metrics, own_share(calibration, late)[TIME])
    if finished is not None:
        finished()
    network.close()
    with urgent():
        path = ground.path(parameters)
    kinds = experiment.inexact_of(outcome.metrics)
    outcome.metrics, bounds, refused = bounds_of(outcome.metrics, kinds, calibration, late, path)
    bounds |= counts
    said = {**calibration.as_dict(), "run_lateness": None if late is None else asdict(late)}
    said["scheduling"] = "real-time" if is_urgent else "ordinary"
    if through is not None:
        said["through"] = through.as_dict()
    if path is not None:
        said["paths"] = {"": asdict(path)}
    twin = run_twin(experiment, parameters, ground.virtual(parameters)) if real.twin else {}
    return Measured(parameters, outcome, bounds, refused, said, twin, calibration)


def joined(experiment: Experiment[Any], parameters: Any, parts: Mapping[str, Measured]) -> Measured:
    """One of all parts: of the run's lateness the worst, which bounds them all."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    worst = max(parts.values(), key=lambda one: (one.calibration["run_lateness"] or {}).get("max_s") or 0.0)
    found = Measured(
        parameters,
        experiment.joined(parameters, {name: one.outcome for name, one in parts.items()}),
        calibration=dict(worst.calibration),
        known=worst.known,
    )
    if "paths" in worst.calibration:
        paths = {name: one.calibration["paths"][""] for name, one in parts.items()}
        found.calibration["paths"] = paths
    for one in parts.values():
        found.bounds |= one.bounds
        found.refused |= one.refused
    twins = {
        name: Outcome(one.twin["metrics"], one.twin["tables"]) for name, one in parts.items() if one.twin
    }
    if twins:
        whole = experiment.joined(parameters, twins)
        found.twin = {"metrics": whole.metrics, "tables": whole.tables}
    return found


def run_twin(experiment: Experiment[Any], parameters: Any, network: Network) -> dict[str, Any]:
    """The same point in virtual time."""
    network.log_signals()
    experiment.run(network, parameters, None)
    outcome = experiment.summarise(network, parameters)
    return {"metrics": outcome.metrics, "tables": outcome.tables}
