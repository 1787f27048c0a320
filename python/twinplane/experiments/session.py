"""One run of an experiment from settings to a finished results folder."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..files import write_text
from ..measure.statistics import combine, together
from ..results import folder as results
from ..results.manifest import PCAP_PACKETS, manifest
from . import load
from .base import Experiment, Tick
from .execution import Done, Report, Store, Task, default_jobs, execute, tasks
from .parameters import Parameters, parse_settings, points

if TYPE_CHECKING:
    from ..results.real import Real


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    experiment: str
    settings: tuple[str, ...] = ()
    seed: int = 1
    repeat: int = 1
    out: Path | None = None
    pcap: bool = False
    pcap_packets: int = PCAP_PACKETS
    campaign: bool = False
    jobs: int | None = None
    scheduler: str | None = None
    real: Real | None = None
    signals: bool = False
    file: Path | None = None
    """Of a network of the user's own."""


class Session:
    """A checked request: the points are known, nothing has run."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.experiment: Experiment[Any] = load(request.experiment)
        self.new = True
        name = self.experiment.name
        self.settings = parse_settings(name, request.settings)
        if request.file is not None:
            self.settings = {"file": [str(request.file)], **self.settings}
        self.real = self._real(request.real)
        if not 0 <= request.seed < 2**64:
            raise TwinplaneError(f"{name}: seed={request.seed}: a seed is 0 to 2^64 - 1")
        if request.repeat < 1:
            raise TwinplaneError(f"{name}: repeat={request.repeat}: at least 1 is needed")
        if request.jobs is not None and request.jobs < 1:
            raise TwinplaneError(f"{name}: jobs={request.jobs}: at least 1 is needed")
        if request.scheduler is not None:
            from .cluster import dask

            dask()
        self.points: list[Parameters] = self._points()
        for parameters in self.points:
            self.experiment.check(parameters)
            if self.real is not None:
                self.experiment.check_real(parameters, self.real)
        self.jobs = 1 if self.real is not None else request.jobs or default_jobs()
        self.folder: Path | None = None

    def _real(self, real: Real | None) -> Real | None:
        """Where it runs; ``--set rate_mbps=auto`` is the same as ``--rate auto``."""
        name, request = self.experiment.name, self.request
        given = self.settings.get("rate_mbps")
        if given is not None and "auto" in given:
            if real is None:
                raise TwinplaneError(
                    f"{name}: rate_mbps=auto: only a run in real time finds its rate (--clock wall, --lab)"
                )
            if len(given) > 1:
                raise TwinplaneError(f"{name}: rate_mbps={','.join(given)}: auto stands alone")
            del self.settings["rate_mbps"]
            real = replace(real, rate_auto=True)
        if real is None:
            return None
        if real.rate_auto and "rate_mbps" in self.settings:
            raise TwinplaneError(
                f"{name}: --rate auto and rate_mbps={','.join(self.settings['rate_mbps'])}: one of them"
            )
        if request.scheduler is not None:
            raise TwinplaneError(f"{name}: --scheduler: a run in real time is on this machine")
        if request.jobs not in (None, 1):
            raise TwinplaneError(f"{name}: jobs={request.jobs}: in real time one run at a time")
        return real

    def _points(self) -> list[Parameters]:
        name = self.experiment.name
        if not self.request.campaign:
            return list(points(name, self.experiment.parameters, self.settings))
        points(name, self.experiment.parameters, self.settings)
        several = [key for key, values in self.settings.items() if len(values) > 1]
        if several:
            raise TwinplaneError(
                f"{name}: --campaign has its own points: {several[0]} can have only one value"
            )
        found = self.experiment.campaign(self.settings)
        if not found:
            raise TwinplaneError(f"{name}: there is no published matrix to run (--campaign)")
        return list(found)

    @property
    def called(self) -> str:
        """What the run is called."""
        return self.experiment.called(self.points[0].model_dump(mode="json"))

    @property
    def total(self) -> int:
        """How many runs there are."""
        return len(self.points) * self.request.repeat

    def prepare(self) -> Path:
        """Make the results folder, or see that the given one can be used."""
        if self.folder is None:
            if self.request.out is None:
                self.folder = results.new_folder(self.called)
            else:
                results.check_taken(
                    self.request.out,
                    self.experiment.name,
                    self.request.seed,
                    self.request.repeat,
                    [parameters.model_dump(mode="json") for parameters in self.points],
                    None if self.real is None else self.real.as_dict(),
                )
                self.new = not self.request.out.exists()
                self.folder = results.open_folder(self.request.out)
        return self.folder

    def give_up(self) -> None:
        """Take away the folder that was made, if nothing is in it."""
        if self.folder is None or not self.new:
            return
        with contextlib.suppress(OSError):
            self.folder.rmdir()
            if self.request.out is None:
                self.folder.parent.rmdir()

    def execute(self, report: Report | None = None, tick: Tick | None = None) -> results.Results:
        """Run what is not finished, and write everything but the page."""
        folder = self.prepare()
        begin = time.monotonic()
        captures = folder / "captures" if self.request.pcap else None
        todo = tasks(
            self.experiment,
            self.points,
            self.request.seed,
            self.request.repeat,
            captures,
            self.request.pcap_packets,
            self.real,
            self.request.signals or self.real is not None,
        )
        store = Store(folder / "points") if len(todo) > 1 else None
        done = execute(
            todo, store, jobs=self.jobs, scheduler=self.request.scheduler, report=report, tick=tick
        )
        self._save(folder, todo, done, time.monotonic() - begin)
        return results.load(folder)

    def _save(self, folder: Path, todo: Sequence[Task], done: Sequence[Done], wall_s: float) -> None:
        repeat = self.request.repeat
        entries = []
        for place, parameters in enumerate(self.points):
            runs = done[place * repeat : (place + 1) * repeat]
            metrics, intervals = combine([run.metrics for run in runs])
            entry: dict[str, Any] = {"parameters": parameters.model_dump(mode="json"), "metrics": metrics}
            if self.real is not None:
                entry |= together([run.real for run in runs], entry)
            if repeat > 1:
                entry["intervals"] = intervals
                entry["repeats"] = [run.metrics for run in runs]
            entries.append(entry)
        results.save_tables(
            folder,
            [run.tables for run in done],
            [{"point": place // repeat} for place in range(len(done))],
        )
        listed = len(entries) > 1 or self.request.campaign
        summary: dict[str, Any] = {"points": entries} if listed else dict(entries[0])
        summary["topology"] = done[-1].topology if done else {}
        summary["warnings"] = list(dict.fromkeys(text for run in done for text in run.warnings))
        whole = manifest(
            self.experiment.name,
            self.request.seed,
            repeat,
            self.settings,
            [entry["parameters"] for entry in entries],
            campaign=self.request.campaign,
            wall_s=wall_s,
            jobs=self.jobs,
            real=self.real,
            signals=self.request.signals,
            pcap=self.request.pcap,
            pcap_packets=self.request.pcap_packets,
        )
        for parameters in self.points:
            for name, text in self.experiment.keep(parameters).items():
                write_text(folder / name, text)
        results.save(folder, whole, summary)
        self._draw(folder)

    def _draw(self, folder: Path) -> None:
        from ..charts.static import save

        found = results.load(folder)
        for chart in [*self.experiment.charts(found.points), *self.experiment.plots(found)]:
            save(chart, folder / "figures")
