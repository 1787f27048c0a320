"""From a request to a plan: every check that can be made before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..charts.static import KINDS
from ..errors import TwinplaneError
from ..network import processors
from . import events, load
from .base import Experiment
from .parameters import Parameters, parse_settings, points

if TYPE_CHECKING:
    from ..results.real import Real
    from .request import Request

Settings = Mapping[str, Sequence[str]]
"""The values of each parameter that was set, as texts."""


@dataclass(frozen=True)
class Plan:
    """What is to run, checked: its points and the circumstances. Nothing of it has run."""

    experiment: Experiment[Any]
    settings: Settings
    points: Sequence[Parameters]
    seed: int
    """Of the first repetition of each point; the seeds that follow are those of the others."""
    repeat: int
    jobs: int
    """Runs at a time."""
    scheduler: str | None
    real: Real | None
    campaign: bool
    signals: bool
    """Was it asked to keep every signalling message? In real time they are always kept."""
    pcap_packets: int | None
    """Frames that are kept of each link; None captures nothing."""
    out: Path | None
    """The results folder; None for a new one."""
    events: str | None = None
    """A file with events beside those of the network."""
    figures: tuple[str, ...] = KINDS
    """Files that are made of each chart."""

    @property
    def called(self) -> str:
        """What the run is called."""
        return self.experiment.called(self.points[0].model_dump(mode="json"))

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.points) * self.repeat


def planned(request: Request) -> Plan:
    """The plan of a request, or one sentence on what is wrong with the request."""
    experiment = load(request.experiment)
    name = experiment.name
    settings = parse_settings(name, request.settings, experiment.parameters)
    if request.file is not None:
        settings = {"file": [str(request.file)], **settings}
    _check_counts(name, request)
    real = _real(name, request, settings)
    if real is not None and real.rate_auto:
        settings = {key: values for key, values in settings.items() if key != "rate_mbps"}
    found = (
        _campaign(experiment, settings)
        if request.campaign
        else list(points(name, experiment.parameters, settings))
    )
    for parameters in found:
        experiment.check(parameters)
        if real is not None:
            experiment.check_real(parameters, real)
        if request.events is not None:
            events.check(experiment, parameters, request.events)
    is_alone = any(experiment.is_alone(parameters) for parameters in found)
    if is_alone:
        _check_alone(name, request)
    return Plan(
        experiment=experiment,
        settings=settings,
        points=found,
        seed=request.seed,
        repeat=request.repeat,
        jobs=1 if real is not None or is_alone else request.jobs or processors.count(),
        scheduler=request.scheduler,
        real=real,
        campaign=request.campaign,
        signals=request.signals,
        pcap_packets=request.pcap_packets if request.pcap else None,
        out=request.out,
        events=None if request.events is None else str(request.events),
        figures=request.figures,
    )


def _check_counts(name: str, request: Request) -> None:
    """Refuse seeds, repetitions, jobs and clusters that cannot be."""
    if not 0 <= request.seed < 2**64:
        raise TwinplaneError(f"{name}: seed={request.seed}: a seed is 0 to 2^64 - 1")
    if request.repeat < 1:
        raise TwinplaneError(f"{name}: repeat={request.repeat}: at least 1 is needed")
    if request.jobs is not None and request.jobs < 1:
        raise TwinplaneError(f"{name}: jobs={request.jobs}: at least 1 is needed")
    if request.scheduler is not None:
        from .cluster import dask

        dask()


def _real(name: str, request: Request, settings: Settings) -> Real | None:
    """Where it runs; ``--set rate_mbps=auto`` is the same as ``--rate auto``."""
    real, rates = request.real, settings.get("rate_mbps")
    if rates is not None and "auto" in rates:
        if real is None:
            raise TwinplaneError(
                f"{name}: rate_mbps=auto: only a run in real time finds its rate (--clock wall, --lab)"
            )
        if len(rates) > 1:
            raise TwinplaneError(f"{name}: rate_mbps={','.join(rates)}: auto stands alone")
        real = replace(real, rate_auto=True)
    elif rates is not None and real is not None and real.rate_auto:
        raise TwinplaneError(f"{name}: --rate auto and rate_mbps={','.join(rates)}: one of them")
    if real is not None:
        _check_alone(name, request)
    return real


def _check_alone(name: str, request: Request) -> None:
    """Refuse other places and several runs at a time: in real time they would be measured, too."""
    if request.scheduler is not None:
        raise TwinplaneError(f"{name}: --scheduler: a run in real time is on this machine")
    if request.jobs not in (None, 1):
        raise TwinplaneError(f"{name}: jobs={request.jobs}: in real time one run at a time")


def _campaign(experiment: Experiment[Any], settings: Settings) -> list[Parameters]:
    """The points of the published matrix, with what was set the same for all."""
    name = experiment.name
    points(name, experiment.parameters, settings)
    several = [key for key, values in settings.items() if len(values) > 1]
    if several:
        raise TwinplaneError(f"{name}: --campaign has its own points: {several[0]} can have only one value")
    found = experiment.campaign(settings)
    if not found:
        raise TwinplaneError(f"{name}: there is no published matrix to run (--campaign)")
    return list(found)
