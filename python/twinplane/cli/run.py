"""``twinplane run``: progress while it runs, the table and where the report is afterwards."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Any

import typer

from ..errors import TwinplaneError
from ..experiments import load
from ..experiments.estimating import estimate
from ..experiments.parameters import limits
from ..experiments.plan import Plan, planned
from ..experiments.request import Request
from ..experiments.session import Session
from ..experiments.tasks import Done, Task
from ..measure.estimate import Estimate, seconds
from ..network import processors
from ..reports import of_results
from ..results.folder import Results
from ..results.repeats import seeds, told
from .check_tables import print_checks
from .loss_tables import print_losses
from .queue_tables import print_trees
from .story_lines import print_story
from .tables import print_table


def run_experiment(request: Request, as_json: bool, estimated: bool = False) -> int:
    """Run it; 1 when the verdict is bad. With `estimated` it is said before what that will take."""
    plan = planned(request)
    expected = estimate(plan, of_results) if estimated else None
    session = Session(plan)
    if not as_json:
        typer.echo(_headline(plan))
        if expected is not None:
            typer.echo(f"estimate {expected}")
    try:
        with Progress(_label(plan), plan.runs, quiet=as_json, expected=expected) as progress:
            one = plan.runs == 1 or plan.real is not None
            found = session.execute(progress.report, progress.tick if one else None)
    except KeyboardInterrupt:
        if plan.runs > 1:
            again = f"; finished runs are kept: the same command with --out {session.folder} goes on"
            raise SystemExit(_interrupted(again)) from None
        session.give_up()
        raise
    except (TwinplaneError, SystemExit):
        session.give_up()
        raise
    page = of_results(found)
    threads = _threads(plan, found)
    faults = [text for point in found.points for text in plan.experiment.faults(point, plan.real)]
    if as_json:
        said: dict[str, Any] = {"threads": threads} if threads else {}
        said |= {} if expected is None else {"estimate": expected.as_dict()}
        typer.echo(json.dumps({"folder": str(session.folder), **said, **found.summary}))
    else:
        print_points(found)
        for text in threads:
            typer.echo(f"threads  {text}")
        typer.echo(f"report   {page}\nrepeat   {found.manifest['command']}")
    for text in faults[:5]:
        typer.echo(f"twinplane: {plan.experiment.name}: {text}", err=True)
    return 1 if faults else 0


def _threads(plan: Plan, found: Results) -> list[str]:
    """What is to be said of threads: if some were asked for, or it is known whether they pay."""
    asked = processors.limited()
    if asked == 1:
        return []
    if asked is not None and plan.real is not None:
        return [processors.BY_THE_CLOCK]
    if asked is not None and plan.jobs > 1 and plan.runs > 1:
        return ["one thread for each run: several at a time fill the processors (--jobs 1: one at a time)"]
    told: list[str] = found.manifest["threads"]
    return told


def _interrupted(text: str) -> int:
    typer.echo(f"twinplane: interrupted{text}", err=True)
    return 130


def _headline(plan: Plan) -> str:
    """What is to run, in one line."""
    if plan.campaign:
        circumstances = f"campaign of {plan.runs} runs, {getattr(plan.points[0], 'profile', '')}"
    else:
        circumstances = plan.experiment.headline_of(plan.points, plan.real)
    clock = plan.experiment.clock(plan.points[0]) if plan.real is None else plan.real.words
    return f"{plan.called}  {circumstances}   {seeds(plan.seed, plan.repeat)}   {clock}"


def _label(plan: Plan) -> str:
    """What stands before the progress bar."""
    varied = [key for key, values in plan.settings.items() if len(values) > 1]
    if len(varied) == 1:
        values = plan.settings[varied[0]]
        return f"{varied[0]}={values[0]} ... {values[-1]}"
    return plan.called


def print_points(found: Results, most: int = 60) -> None:
    """The table of a run, a long one cut in the middle."""
    experiment = load(found.experiment)
    columns = experiment.columns(found.points)
    points = experiment.lines(found.points)
    cut = len(points) > most
    shown = [*points[: most // 2], *points[-most // 2 :]] if cut else points
    rows = [[column.text(point) for column in columns] for point in shown]
    if cut:
        rows.insert(most // 2, ["..."] * len(columns))
    if said := told(found.manifest["repeat"], experiment.extremes):
        typer.echo(f"{said}:")
    if rows:
        print_table([column.title for column in columns], rows, left=experiment.texts)
    for table in experiment.tables(found) if experiment.told else ():
        print_table(table.titles, table.rows, left=table.left, title=table.caption)
        if table.note:
            typer.echo(table.note)
    if experiment.trees:
        print_trees(found)
    print_checks(found)
    print_losses(found)
    print_story(found)
    typer.echo(experiment.answer(found.points))


def print_parameters(name: str, as_json: bool) -> None:
    """What an experiment can be told."""
    model = load(name).parameters
    entries = [
        {
            "name": key,
            "default": None if info.is_required() else info.default,
            "allowed": limits(model, key),
            "about": info.description or "",
        }
        for key, info in model.model_fields.items()
    ]
    if as_json:
        typer.echo(json.dumps(entries))
        return
    rows = [["none" if e[key] is None else str(e[key]) for key in e] for e in entries]
    print_table(["parameter", "default", "allowed", "meaning"], rows, left=4)


class Progress:
    """One bar on the standard error; it appears after two seconds."""

    def __init__(self, label: str, total: int, *, quiet: bool, expected: Estimate | None = None) -> None:
        if expected is not None:
            label = f"{label} (about {seconds(expected.time_s.value)})"
        self.label, self.total, self.quiet = label, total, quiet
        self.begin = time.monotonic()
        self.whole = 0
        self.finished = 0.0
        self.hops = 0.0
        self.bar: Any = None
        self.line: Any = None

    def __enter__(self) -> Progress:
        """Begin."""
        return self

    def report(self, task: Task, done: Done, old: bool) -> None:
        """A run is finished."""
        self.whole += 1
        self.finished = self.whole
        if not old:
            self.hops += done.metrics.get("packet_hops") or 0
        self._show()

    def step(self) -> None:
        """Another part of the work is done."""
        self.whole += 1
        self.finished = self.whole
        self._show()

    def tick(self, share: float) -> None:
        """So much of the run that is going on is done."""
        self.finished = self.whole + share
        self._show()

    def _show(self) -> None:
        passed = time.monotonic() - self.begin
        if self.quiet or (self.bar is None and passed < 2.0):
            return
        rate = self.hops / passed / 1e6
        speed = f"{rate:.1f} M packet-hops/s" if rate >= 0.05 else ""
        if self.bar is None:
            self._start()
        self.bar.update(self.line, completed=self.finished, speed=speed, count=self._count())

    def _count(self) -> str:
        return f"{self.whole}/{self.total}" if self.total > 1 else f"{self.finished:4.0%}"

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
        )
        self.line = self.bar.add_task(self.label, total=self.total, count="", speed="")
        self.bar.tasks[0].start_time = self.begin  # the time before the bar appeared counts
        self.bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""
        if self.bar is not None:
            self.bar.stop()
