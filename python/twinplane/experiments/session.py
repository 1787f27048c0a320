"""A plan and its results folder: made, filled, or taken away again."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..results import folder as results
from .execution import execute
from .saving import save
from .tasks import Store, tasks

if TYPE_CHECKING:
    from .base import Tick
    from .plan import Plan
    from .tasks import Report


class Session:
    """The execution of a plan into one results folder, which is there from now on."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.new = plan.out is None or not plan.out.exists()
        """Was there no folder before?"""
        self.folder: Path = results.new_folder(plan.called) if plan.out is None else _given(plan, plan.out)

    def execute(self, report: Report | None = None, tick: Tick | None = None) -> results.Results:
        """Run what is not finished, and write everything but the page."""
        begin = time.monotonic()
        todo = tasks(self.plan, self.folder)
        store = Store(self.folder / "points") if len(todo) > 1 else None
        done = execute(
            todo, store, jobs=self.plan.jobs, scheduler=self.plan.scheduler, report=report, tick=tick
        )
        return save(self.plan, done, self.folder, time.monotonic() - begin)

    def give_up(self) -> None:
        """Take away the folder that was made, if nothing is in it."""
        if not self.new:
            return
        with contextlib.suppress(OSError):
            self.folder.rmdir()
            if self.plan.out is None:
                self.folder.parent.rmdir()


def _given(plan: Plan, folder: Path) -> Path:
    """A folder that was asked for, if it can be used."""
    results.check_taken(
        folder,
        plan.experiment.name,
        plan.seed,
        plan.repeat,
        [parameters.model_dump(mode="json") for parameters in plan.points],
        None if plan.real is None else plan.real.as_dict(),
    )
    return results.open_folder(folder)


def run(plan: Plan, report: Report | None = None, tick: Tick | None = None) -> results.Results:
    """Run a plan into its folder, in one call."""
    return Session(plan).execute(report, tick)
