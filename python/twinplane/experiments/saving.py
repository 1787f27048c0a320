"""Writing what a plan gave: tables, summary, manifest and figures; everything but the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import write_text
from ..measure.statistics import combine, together
from ..results import folder as results
from ..results.manifest import manifest

if TYPE_CHECKING:
    from .parameters import Parameters
    from .plan import Plan
    from .tasks import Done

EVENTS = "events.yaml"
"""The events that a run was given beside its network, as they were."""


def save(plan: Plan, done: Sequence[Done], folder: Path, wall_s: float) -> results.Results:
    """Write all runs of a plan, which are in the order of its tasks and took so long, and read them again."""
    modelled = plan.real is not None and plan.real.place == "process"
    entries = [
        point(parameters, done[place * plan.repeat : (place + 1) * plan.repeat], modelled)
        for place, parameters in enumerate(plan.points)
    ]
    results.save_tables(
        folder,
        [run.tables for run in done],
        [{"point": place // plan.repeat} for place in range(len(done))],
    )
    for parameters in plan.points:
        for name, text in plan.experiment.keep(parameters).items():
            write_text(folder / name, text)
    if plan.events is not None:
        write_text(folder / EVENTS, Path(plan.events).read_text(encoding="utf-8"))
    listed = len(entries) > 1 or plan.campaign
    summary: dict[str, Any] = {"points": entries} if listed else dict(entries[0])
    summary["topology"] = done[-1].topology if done else {}
    summary["warnings"] = list(dict.fromkeys(text for run in done for text in run.warnings))
    results.save(folder, _manifest(plan, entries, wall_s, _threads(done)), summary)
    found = results.load(folder)
    _draw(plan, found)
    return found


def point(parameters: Parameters, runs: Sequence[Done], modelled: bool = False) -> dict[str, Any]:
    """The entry of a point in the summary: of repeated runs means, intervals, and each run's own.

    With `modelled` nothing outside the model was measured, so that a twin is equal by construction.
    """
    metrics, intervals = combine([run.metrics for run in runs])
    entry: dict[str, Any] = {"parameters": parameters.model_dump(mode="json"), "metrics": metrics}
    if runs[0].real:
        entry |= together([run.real for run in runs], entry, modelled)
    if len(runs) > 1:
        entry["intervals"] = intervals
        entry["repeats"] = [run.metrics for run in runs]
    return entry


def _threads(done: Sequence[Done]) -> list[str]:
    """What became of threads, of runs with as many of them only once: their other figures differ a little."""
    told = dict.fromkeys(text for run in done for text in run.threads)
    return list({text.partition("thread")[0]: text for text in reversed(told)}.values())[::-1]


def _manifest(
    plan: Plan, entries: Sequence[dict[str, Any]], wall_s: float, threads: list[str]
) -> dict[str, Any]:
    return manifest(
        plan.experiment.name,
        plan.seed,
        plan.repeat,
        plan.settings,
        [entry["parameters"] for entry in entries],
        campaign=plan.campaign,
        wall_s=wall_s,
        threads=threads,
        jobs=plan.jobs,
        real=plan.real,
        signals=plan.signals,
        pcap_packets=plan.pcap_packets,
        events=plan.events,
    )


def _draw(plan: Plan, found: results.Results) -> None:
    if not plan.figures:
        return
    from ..charts.static import save as save_chart

    for chart in [*plan.experiment.charts(found.points), *plan.experiment.plots(found)]:
        save_chart(chart, found.folder / "figures", plan.figures)
