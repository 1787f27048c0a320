"""Published figures beside ours: every figure of every study that experiments repeat, as rows of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..experiments.execution import execute
from ..experiments.plan import Plan, planned
from ..experiments.request import Request
from ..experiments.saving import point
from ..experiments.scores import TITLES, Comparison, cells, headline, reasons
from ..experiments.tasks import Report, tasks
from ..results.folder import point_of
from .page import table, wrapped

INTRODUCTION = """# Published figures beside ours

This page shows how far Twinplane agrees with two published studies: each figure that they print is a row,
once. It is written by `twinplane validate --published {seeds} --page docs/models/published.md`. [Device
profile juniper-m10](juniper-m10.md) and [the tutorial on DiffServ](../tutorials/diffserv.md) discuss what
agrees and what does not. Nothing is tuned for a row of this page.

*Kind* says what a row is worth. A *fitted* figure decided a number of the model, or a choice between
readings of the paper: it had to come out. Nothing follows from a *predicted* figure. It is *inside the
fit's range* if its circumstances lie between those of fitted figures, and *outside* if they don't, or if
nothing was fitted. A figure that contradicts other published ones, or physics, is *contradictory by
itself*: below each table stands why. *Ours* are rows of which nothing is published.

*From* and *to* enclose the measured figures that agree. For a published figure they are its rounding, and
nothing else where the model has no chance in it. Where it has (`diffserv`), they are wider by the 95 %
interval of a single further run, because the published figure is a single run. So one row in twenty may be
missed by chance alone, and rows of one scenario are missed together.
"""


@dataclass(frozen=True)
class Study:
    """What came out for a published study."""

    title: str
    runs: int
    rows: Sequence[Comparison]


def plans(seeds: int) -> list[Plan]:
    """What is run: the matrix of one study, and the scenarios of the other with so many seeds."""
    return [
        planned(Request("lsp-flap", campaign=True)),
        planned(Request("diffserv", repeat=seeds)),
    ]


def measure(found: Sequence[Plan], report: Report | None = None) -> Iterator[Study]:
    """Run plans over all cores, and lay what they give beside what is published."""
    for plan in found:
        todo = [replace(task, tables=False) for task in tasks(plan, Path())]
        done = execute(todo, None, jobs=plan.jobs, report=report)
        points = [
            point_of(point(parameters, done[place * plan.repeat : (place + 1) * plan.repeat]))
            for place, parameters in enumerate(plan.points)
        ]
        yield Study(plan.experiment.title, plan.runs, plan.experiment.comparisons(points))


def markdown(studies: Sequence[Study], seeds: int) -> str:
    """The page."""
    parts = [INTRODUCTION.format(seeds=seeds)]
    for study in studies:
        parts += [
            f"## {study.title}\n",
            wrapped(f"{headline(study.rows)}, in {study.runs} runs.") + "\n",
        ]
        parts.append(table(TITLES, (cells(row) for row in study.rows)))
        parts.append("")
        parts += [wrapped(f"- {reason}", "  ") for reason in reasons(study.rows)]
        parts.append("")
    return "\n".join(parts).rstrip("\n") + "\n"
