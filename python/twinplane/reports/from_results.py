"""The page of a results folder."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..charts import Chart, Mark
from ..charts.table import Table
from ..errors import TwinplaneError
from ..experiments import load, scores
from ..experiments.base import Experiment
from ..results.folder import Results
from ..results.manifest import time_of
from ..results.real import real_of
from ..results.repeats import seeds, told
from . import (
    checks,
    course,
    databases,
    demands,
    happened,
    kept_flows,
    kept_trees,
    losses,
    maps,
    outages,
    paths,
    sessions,
)
from .headline import headline
from .page import Page, Section, render
from .real import calibrations, real_bounds, twins
from .returns import returns
from .story import Story, of_results, whole_of_results
from .timeline import timeline

if TYPE_CHECKING:
    import polars as pl

TIMELINES_MAX = 3
DAMAGED = "{}: summary.json is damaged: the topology is incomplete"
ROWS_MAX = 60
"""A longer table of results stands behind what it shows."""


def page(found: Results) -> str:
    """Everything on one page."""
    experiment = load(found.experiment)
    story = of_results(found)
    charts = [*_courses(found, story), *experiment.charts(found.points), *experiment.plots(found)]
    manifest = found.manifest
    results, more = _results(experiment, found), Section("More figures", charts=charts[1:])
    long = len(found.points) > ROWS_MAX
    failed = story is not None and story.failures
    sections = [
        *(_failed(found, story) if story is not None else []),
        *([] if long else [results]),
        *([more] if len(charts) > 1 else []),
        *(_planes(found) if story is None else []),
        *_protocols(found),
        *_returns(found),
        *checks.of_results(found),
        *demands.of_results(found),
        *losses.of_results(found),
        *(kept_trees.of_results(found) if experiment.trees else []),
        *_published(experiment, found),
        *([results] if long else []),
        *_spread(found),
        *twins(found),
        *calibrations(found),
        Section("Error bounds", points=_bounds(experiment, found)),
        *([] if failed else _topology(found)),
        _repeat(manifest),
    ]
    which = seeds(manifest["seed"], manifest["repeat"])
    footer = f"twinplane {manifest['versions']['twinplane']}, {which}, {time_of(manifest)}"
    return render(
        Page(
            experiment.title_of(found.points),
            "What failed, and whom did it hurt?" if failed else experiment.question,
            (headline(story) if story is not None else None) or experiment.answer(found.points),
            sections,
            charts[0] if charts else None,
            footer,
            found.warnings,
        )
    )


def _courses(found: Results, story: Story | None) -> list[Chart]:
    """One axis for all that happened, of the first point; none where too little was kept."""
    if story is None:
        return []
    point = found.table("flow_accounts")["point"].min()
    names = found.tables()

    def part(name: str) -> pl.DataFrame | None:
        import polars as pl

        return found.table(name).filter(pl.col("point") == point) if name in names else None

    courses = kept_flows.courses(found, int(str(point)), story.groups)
    chart = course.chart(
        "planes",
        story,
        messages=part("messages"),
        up=part("lsps_up"),
        series=part("series"),
        courses=courses,
    )
    spread = course.distribution(story)
    return [one for one in (chart, spread) if one is not None]


def _failed(found: Results, story: Story) -> list[Section]:
    """Whom failures hurt, and the map as it changed."""
    sections = [*outages.sections(story, course.close_up(story)), *outages.lsp_section(story)]
    return [sections[0], *_topology(found, story), *sections[1:]] if story.failures and sections else sections


def _protocols(found: Results) -> list[Section]:
    """What routing protocols did in the first point, and which paths packets took."""
    if not {"sessions", "ways", "lsp_spans"} & set(found.tables()):
        return []
    story = whole_of_results(found)
    topology = found.summary.get("topology")
    with contextlib.suppress(KeyError, ValueError):
        drawn = paths.section(topology, story) if topology else []
        return [*happened.section(story), *drawn, *sessions.section(story), *databases.section(story)]
    raise TwinplaneError(DAMAGED.format(found.folder))


def _bounds(experiment: Experiment[Any], found: Results) -> list[str]:
    parameters = found.points[0].parameters
    if found.manifest.get("real") is None:
        return experiment.error_bounds(parameters)
    return [*real_bounds(parameters), *experiment.real_bounds(parameters)]


def _results(experiment: Experiment[Any], found: Results) -> Section:
    columns = experiment.columns(found.points)
    rows = [[column.text(point) for column in columns] for point in experiment.lines(found.points)]
    model = experiment.parameters
    real = real_of(found.manifest)
    points = [model.model_validate(point.parameters) for point in found.points]
    caption = experiment.headline_of(points, real)
    if found.manifest["campaign"]:
        caption = f"Campaign of {len(found.points)} points"
    if real is not None:
        caption = f"{caption}; {real.words}"
    which = seeds(found.manifest["seed"], found.manifest["repeat"])
    said = told(found.manifest["repeat"], experiment.extremes)
    caption = f"{caption}; {which}: {said}" if said else f"{caption}; {which}"
    table = Table(caption, [column.title for column in columns], rows, experiment.texts)
    return Section("Results", tables=[*([table] if rows else []), *experiment.tables(found)])


def _planes(found: Results) -> list[Section]:
    """Timelines of at most three points: the first, one in the middle and the last that kept tables."""
    tables = {
        name: found.table(name)
        for name in ("messages", "lsps_up", "series", "streams")
        if name in found.tables()
    }
    # Routers of a lab keep their messages to themselves: then what the tester saw tells the points.
    kept = next((table for table in tables.values() if table.height), None)
    if "messages" not in tables or kept is None:
        return []
    section = Section("The two planes over one time axis")
    for point in reversed(_chosen(kept)):
        parameters = found.points[point].parameters
        parts = {name: _of_point(table, point) for name, table in tables.items()}
        chart = timeline(
            f"planes-{point}",
            _title(found, parameters),
            messages=parts.get("messages"),
            up=parts.get("lsps_up"),
            series=parts.get("series"),
            loss=_loss(parts.get("streams"), parameters),
            marks=_marks(parameters),
            flows=kept_flows.courses(found, point),
        )
        if chart is not None:
            section.charts.append(chart)
    return [section] if section.charts else []


def _chosen(table: pl.DataFrame) -> list[int]:
    """The points of a table, or of many the first, one in the middle and the last."""
    kept = table["point"].unique().sort().to_list()
    return sorted({kept[0], kept[len(kept) // 2], kept[-1]}) if len(kept) > TIMELINES_MAX else kept


def _returns(found: Results) -> list[Section]:
    """How long LSPs were away, of the points that the timelines show."""
    if "re_established" not in found.tables():
        return []
    table = found.table("re_established")
    if not table.height:
        return []
    parts = {
        _said(found, found.points[point].parameters): _of_point(table, point) for point in _chosen(table)
    }
    return [returns(parts)]


def _of_point(table: pl.DataFrame, point: int) -> pl.DataFrame:
    import polars as pl

    return table.filter(pl.col("point") == point)


def _said(found: Results, parameters: Mapping[str, Any]) -> str:
    """A point by the parameters that differ between points."""
    first = found.points[0].parameters
    keys = [key for key in first if len({str(p.parameters[key]) for p in found.points}) > 1]
    return ", ".join(f"{key} = {parameters[key]}" for key in keys)


def _title(found: Results, parameters: Mapping[str, Any]) -> str:
    said = _said(found, parameters)
    return f"Both planes over time{': ' if said else ''}{said}"


def _marks(parameters: Mapping[str, Any]) -> list[Mark]:
    """Events that the parameters give times for."""
    if "first_event_s" not in parameters:
        return []
    first = parameters["first_event_s"]
    second = first + parameters["first_period_s"]
    end = second + parameters["second_period_s"]
    return [Mark(0.0, "traffic"), Mark(first, "1st event"), Mark(second, "2nd event"), Mark(end, "end")]


def _loss(streams: pl.DataFrame | None, parameters: Mapping[str, Any]) -> list[tuple[float, float, int]]:
    import polars as pl

    if streams is None or "first_event_s" not in parameters or "lost" not in streams.columns:
        return []
    marks = [mark.x for mark in _marks(parameters)]
    last = marks[3] - parameters["end_window_s"]
    spans = {"prior": (marks[0], marks[1]), "during": (marks[1], last), "end": (last, marks[3])}
    found = []
    for phase, (begin, end) in spans.items():
        total = streams.filter(pl.col("phase") == phase)["lost"].sum()
        found.append((begin, end, int(total or 0)))
    return found


def _published(experiment: Experiment[Any], found: Results) -> list[Section]:
    rows = experiment.comparisons(found.points)
    if not rows or found.manifest.get("real") is not None:
        return []  # what is published is judged by the model of the device that it was measured on
    text = (
        f"{scores.headline(rows)}. A row holds if the measured figure lies between the stated ends. Of a"
        " published figure these are its rounding and, of repeated runs, where 95 % of single runs lie: what"
        " chance does to one run alone counts as missed. A residual is measured less published."
    )
    return [
        Section(
            "Published, predicted and measured",
            [text],
            tables=[scores.table(rows)],
            points=[*scores.reasons(rows), *experiment.arithmetic(found.points)],
        )
    ]


def _spread(found: Results) -> list[Section]:
    """Intervals of repeated runs, of the first point where there are several."""
    entries = found.summary.get("points", [found.summary])
    tables = []
    for place, entry in enumerate(entries[:12]):
        intervals = entry.get("intervals") or {}
        rows = [
            [
                key,
                str(value["n"]),
                *(
                    "-" if value[part] is None else f"{value[part]:.6g}"
                    for part in ("mean", "sd", "low", "high")
                ),
            ]
            for key, value in intervals.items()
        ]
        if rows:
            tables.append(
                Table(
                    f"Point {place}: mean and 95 % confidence interval",
                    ["metric", "runs", "mean", "sd", "from", "to"],
                    rows,
                )
            )
    return [Section("Repeated runs", tables=tables)] if tables else []


def _topology(found: Results, story: Story | None = None) -> list[Section]:
    topology = found.summary.get("topology")
    if not topology:
        return []
    with contextlib.suppress(KeyError, ValueError):
        return [maps.section(topology, story or Story(0.0))]
    raise TwinplaneError(DAMAGED.format(found.folder))


def _repeat(manifest: Mapping[str, Any]) -> Section:
    parameters = [
        [key, "none" if value is None else str(value)] for key, value in manifest["parameters"].items()
    ]
    for key, values in manifest["settings"].items():
        if key not in manifest["parameters"]:
            parameters.append([key, ", ".join(values)])
    machine = manifest["machine"]
    origin = [
        ["seed", str(manifest["seed"])],
        ["repetitions", str(manifest["repeat"])],
        ["points", str(manifest["points"])],
        ["clock", time_of(manifest)],
        ["revision", manifest["revision"] or "-"],
        *([f"version of {name}", version] for name, version in manifest["versions"].items()),
        [
            "machine",
            f"{machine['processor']}, {machine['cpus']} CPUs, {machine['system']} {machine['release']}",
        ],
        ["time taken", f"{manifest['wall_s']:.1f} s"],
        *(["threads", text] for text in manifest.get("threads", ())),
    ]
    return Section(
        "Parameters and how to repeat it",
        tables=[
            Table("Parameters", ["parameter", "value"], parameters, 2),
            Table("Where it comes from", ["what", "value"], origin, 2),
        ],
        command=manifest["command"],
    )
