"""The single runs of a plan, and what each of them gives, as plain values: they cross to other processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core
from ..files import write_json
from ..results.manifest import FORMAT
from .base import Outcome
from .parameters import Parameters

if TYPE_CHECKING:
    from ..results.real import Real
    from .base import Experiment
    from .plan import Plan

TABLES_MAX = 32
"""Of more points than this only some keep their tables."""
SAMPLES = 24
"""So many do then."""


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
    events: str | None = None
    """A file with events beside those of the network."""


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
    asides: list[str] = field(default_factory=list)
    """What another process found odd about the machine that it ran on; it is not kept."""
    threads: list[str] = field(default_factory=list)
    """How many threads worked on its networks, and why not more, if that is known; it is not kept."""

    @classmethod
    def of(cls, outcome: Outcome, tables: bool) -> Done:
        """An outcome, with or without its tables."""
        return cls(outcome.metrics, outcome.tables if tables else {}, outcome.topology)


Report = Callable[[Task, Done, bool], None]
"""Told of every finished run; the last argument says whether it was finished before."""


def key_of(
    experiment: Experiment[Any],
    parameters: Parameters,
    seed: int,
    real: Real | None = None,
    signals: bool = False,
    events: str | None = None,
) -> str:
    """A name for exactly this run: parameters, what they refer to, seed, where it runs, and the build."""
    parts = [experiment.name, parameters.model_dump(mode="json"), experiment.inputs(parameters), seed]
    if real is not None:
        parts.append(real.as_dict())
    if signals:
        parts.append("signals")
    if events is not None:
        parts.append(Path(events).read_text(encoding="utf-8"))
    text = json.dumps([*parts, FORMAT, core.fingerprint()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tasks(plan: Plan, folder: Path) -> list[Task]:
    """Every run: points in order, the repetitions of each with the seeds that follow.

    Captures, if there are any, are kept in a folder of `folder`.
    """
    signals = plan.signals or plan.real is not None
    many = len(plan.points)
    stride = 1 if many <= TABLES_MAX else -(-many // SAMPLES)
    found = []
    for place, parameters in enumerate(plan.points):
        captures = folder / "captures" if many == 1 else folder / "captures" / f"point-{place:04d}"
        for seed in range(plan.seed, plan.seed + plan.repeat):
            first = seed == plan.seed
            found.append(
                Task(
                    plan.experiment.name,
                    parameters.model_dump(mode="json"),
                    seed,
                    key_of(plan.experiment, parameters, seed, plan.real, signals, plan.events),
                    first and (many - 1 - place) % stride == 0,
                    str(captures) if first and plan.pcap_packets is not None else None,
                    plan.pcap_packets,
                    plan.real,
                    signals,
                    plan.events,
                )
            )
    return found


class Store:
    """Finished runs on disk, one JSON file each."""

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
