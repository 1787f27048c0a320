"""A point of a run in real time, with what surrounds it: calibration, bounds, the twin in virtual time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...measure.bounds import TIME, bounds_of, own_share
from ...measure.calibration import (
    LEAST_PACKETS_PER_S,
    Calibration,
    Search,
    check_rate,
    floor,
    nothing_passes,
    read,
    search,
)
from ...network.placing import lateness
from ...results.real import Real
from ..base import Outcome
from ..events import add, end_of, with_actions
from .urgency import urgent

if TYPE_CHECKING:
    from ...network import Network
    from ..base import Experiment, Tick
    from .ground import Ground

TWIN_TABLES = ("signals", "series", "lsps_up")
"""Tables of the twin that are kept."""


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
    with ground.place.bench() as bench:
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
    events: str | None = None,
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
        add(network, events, end_of(parameters))
        if ready is not None:
            ready(network)
        try:
            ground.place.schedule(network, end_of(parameters))
            experiment.run(network, parameters, tick)
            ground.place.intact()
            ground.place.gather(network)
        except BaseException:
            with contextlib.suppress(TwinplaneError):
                ground.end(network, parameters)
            raise
    outcome = with_actions(experiment.summarise(network, parameters), network)
    with urgent():
        outcome.metrics |= ground.end(network, parameters)
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
    twin = {}
    if real.twin:
        virtual = ground.virtual(parameters)
        add(virtual, events, end_of(parameters))
        twin = run_twin(experiment, parameters, virtual)
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
