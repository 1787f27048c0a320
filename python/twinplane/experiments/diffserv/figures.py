"""The tables and the figures of `diffserv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve
from ...charts.table import Table
from ...measure.metrics import inside
from ...results.points import Point
from ...results.repeats import first, plus_minus
from ...units import format_time
from ..base import Column
from .parameters import FLOWS, SCENARIOS, DiffservParameters
from .published import as_published, published

if TYPE_CHECKING:
    import polars as pl

    from ...results.folder import Results

POINTS_MAX = 2
"""Of more points than this only some are drawn packet by packet."""

BOTTLENECK = ("gaia", "zeus")
"""The output where queues build up: whatever comes after it is limited to the same."""


def scenarios_of(metrics: Mapping[str, Any]) -> list[str]:
    """Those that were run, in the paper's order."""
    return [scenario for scenario in SCENARIOS if scenario in metrics]


def varying(points: Sequence[Point]) -> list[str]:
    """Parameters that differ between points; the scenario has a column of its own."""
    keys = points[0].parameters
    return [key for key in keys if key != "scenario" and len({str(p.parameters[key]) for p in points}) > 1]


def said(points: Sequence[Point], point: Point) -> str:
    """A point by what varies, to stand before a title."""
    return "".join(f"{key}={point.parameters[key]}, " for key in varying(points))


def lines(points: Sequence[Point]) -> list[Point]:
    """A line for each flow in each scenario."""
    return [
        replace(
            point,
            parameters={**point.parameters, "scenario": scenario, "flow": flow},
            metrics=figures,
            bounds=inside(point.bounds, f"{scenario}.{flow}"),
            refused=inside(point.refused, f"{scenario}.{flow}"),
            intervals=inside(point.intervals, f"{scenario}.{flow}"),
        )
        for point in points
        for scenario in scenarios_of(point.metrics)
        for flow, figures in point.metrics[scenario].items()
    ]


def columns(points: Sequence[Point]) -> list[Column]:
    """The published figures of each flow, ours and theirs."""

    def parameter(key: str) -> Column:
        return Column(key, lambda line: line.parameters[key])

    def metric(title: str, key: str, form: Any = format_time) -> Column:
        return Column(title, lambda line: line.metrics.get(key), form, key, form is count)

    def told(title: str, key: str, form: Any) -> Column:
        def value(line: Point) -> Any:
            if not as_published(DiffservParameters.model_validate(_plain(line.parameters))):
                return None
            flows = published().get(line.parameters["scenario"], {})
            return flows.get(line.parameters["flow"], {}).get(key)

        return Column(title, value, form)

    # A column of repeated runs holds means, also of what is the greatest or the least of each run.
    of = "mean " if any(point.intervals for point in points) else ""
    return [
        parameter("scenario"),
        parameter("flow"),
        *(parameter(key) for key in varying(points)),
        metric("mean", "mean_s"),
        metric(f"{of}max", "max_s"),
        metric(f"{of}min", "min_s"),
        metric(f"{of}delay range", "delay_range_s"),
        metric("sent", "sent", count),
        metric("dropped", "dropped", count),
        told("published mean", "mean_s", _seconds),
        told("max", "max_s", _seconds),
        told("dropped", "dropped", count),
    ]


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key != "flow"}


def _seconds(value: float) -> str:
    return f"{value:.3f} s"


def count(value: float) -> str:
    """Packets: of repeated runs a mean."""
    return f"{value:.1f}" if isinstance(value, float) and value != int(value) else f"{value:.0f}"


def plots(found: Results) -> list[Chart]:
    """Delay by packet of each scenario, and the backlog at the bottleneck over time, of a few points."""
    tables = found.tables()
    if "packets" not in tables:
        return []
    packets = found.table("packets")
    kept = packets["point"].unique().sort().to_list()
    chosen = [kept[0], kept[-1]] if len(kept) > POINTS_MAX else kept
    charts = []
    for place in chosen:
        point = found.points[place]
        more = _which(found, point)
        suffix = f"-{place}" if len(found.points) > 1 else ""
        charts.append(_over_time(packets, place, point, more, suffix))
    for place in chosen:
        point = found.points[place]
        more = _which(found, point)
        suffix = f"-{place}" if len(found.points) > 1 else ""
        for scenario in scenarios_of(point.metrics):
            charts.append(_by_packet(packets, place, point, scenario, more, suffix))
        if "queue_series" in tables:
            charts.append(_backlog(found.table("queue_series"), place, point, more, suffix))
    return charts


def _which(found: Results, point: Point) -> str:
    """What varies, and the seed if there were several: tables are those of the first."""
    alone = first(found.manifest["seed"], found.manifest["repeat"])
    return ", ".join(text for text in (said(found.points, point).removesuffix(", "), alone) if text)


def _of(table: pl.DataFrame, place: int, scenario: str, **more: Any) -> pl.DataFrame:
    import polars as pl

    found = table.filter((pl.col("point") == place) & (pl.col("scenario") == scenario))
    for key, value in more.items():
        found = found.filter(pl.col(key) == value)
    return found


def _with(title: str, more: str) -> str:
    return f"{title} ({more})" if more else title


def _over_time(packets: pl.DataFrame, place: int, point: Point, more: str, suffix: str) -> Chart:
    """The lead: mean delay of each flow in every half second, a panel for each scenario."""
    import polars as pl

    scenarios = scenarios_of(point.metrics)
    curves, told = [], []
    for panel, scenario in enumerate(scenarios):
        means = []
        for style, flow in enumerate(point.metrics[scenario]):
            one = _of(packets, place, scenario, flow=flow).filter(pl.col("delay_s").is_not_null())
            binned = (
                one.with_columns((pl.col("departure_s") * 2).floor() / 2)
                .group_by("departure_s")
                .agg(pl.col("delay_s").mean())
                .sort("departure_s")
            )
            x, y = binned["departure_s"].to_list(), binned["delay_s"].to_list()
            curves.append(Curve(flow, x, y, panel, "line", style))
            mean = point.metrics[scenario][flow]["mean_s"]
            means.append(f"{flow} {'-' if mean is None else f'{mean:.3f}'}")
        told.append(f"{scenario}: {', '.join(means)}")
    return Chart(
        f"delay-over-time{suffix}",
        _with("Mean delay of packets by time of departure", more),
        f"A panel for each scenario, means over half a second. Mean delay in seconds: {'; '.join(told)}.",
        "departure (s)",
        [f"{scenario} (s)" for scenario in scenarios],
        curves,
    )


def _by_packet(
    packets: pl.DataFrame, place: int, point: Point, scenario: str, more: str, suffix: str
) -> Chart:
    """As the paper draws it: delay against the number of the packet."""
    curves, reach = [], []
    for style, flow in enumerate(point.metrics[scenario]):
        one = _of(packets, place, scenario, flow=flow).sort("sequence")
        numbers, delays = one["sequence"].to_list(), one["delay_s"].to_list()
        kept = [(number, delay) for number, delay in zip(numbers, delays, strict=True) if delay is not None]
        curves.append(Curve(flow, [n for n, _ in kept], [d for _, d in kept], 0, "line", style))
        if kept:
            reach.append(f"{flow} up to {max(d for _, d in kept):.3f} s")
    return Chart(
        f"delay-by-packet-{scenario}{suffix}",
        _with(f"Delay by packet: {scenario}", more),
        f"Delay of every packet that arrived against its number in its flow: {', '.join(reach)}.",
        "packet",
        ["delay (s)"],
        curves,
    )


def _backlog(series: pl.DataFrame, place: int, point: Point, more: str, suffix: str) -> Chart:
    """What waits at Gaia's output, a panel for each scenario."""
    scenarios = scenarios_of(point.metrics)
    curves, peaks = [], []
    for panel, scenario in enumerate(scenarios):
        here = _of(series, place, scenario, node=BOTTLENECK[0], neighbor=BOTTLENECK[1])
        leaves = _leaves(here["path"].unique(maintain_order=True).to_list())
        for path in leaves:
            one = _of(here, place, scenario, path=path).sort("start_s")
            y = [None if value is None else value / 1000 for value in one["mean_bytes"].to_list()]
            name = path.rpartition("/")[2]
            style = FLOWS.index(name) if name in FLOWS else len(FLOWS)
            curves.append(Curve(name, one["start_s"].to_list(), y, panel, "line", style))
            most = one["max_bytes"].max()
            peaks.append(f"{scenario} {name} {float(most or 0) / 1000:.0f} kB")  # type: ignore[arg-type]
    return Chart(
        f"backlog{suffix}",
        _with("Backlog at Gaia's output over time", more),
        f"Mean backlog by class in each bin, a panel for each scenario. At most: {', '.join(peaks)}.",
        "time (s)",
        [f"{scenario} (kB)" for scenario in scenarios],
        curves,
    )


def _leaves(paths: Sequence[str]) -> list[str]:
    """Classes that have none below them."""
    return [path for path in paths if not any(other.startswith(f"{path}/") for other in paths)]


def tables(found: Results) -> list[Table]:
    """Quantiles of delay, and what the queues at the bottleneck and Gaia's policers did."""
    made = [_quantiles(point, said(found.points, point)) for point in found.points[:3]]
    names = found.tables()
    more = _which(found, found.points[0])
    if "queues" in names:
        made.append(_queues(found.table("queues"), more))
    if "conditioners" in names and found.table("conditioners").height:
        made.append(_policers(found.table("conditioners"), more))
    return made


QUANTILES = (("p50_s", "50 %"), ("p90_s", "90 %"), ("p99_s", "99 %"), ("p999_s", "99.9 %"))
VARIATION = (("jitter_rfc3550_s", "jitter (RFC 3550)"), ("ipdv_mean_s", "mean IPDV (RFC 3393)"))


def _quantiles(point: Point, lead: str) -> Table:
    def cell(scenario: str, flow: str, key: str, form: Any = format_time) -> str:
        value = point.metrics[scenario][flow].get(key)
        if value is None:
            return "-"
        half = point.half(f"{scenario}.{flow}.{key}")
        return str(form(value)) if half is None else plus_minus(form, value, half)

    rows = [
        [
            scenario,
            flow,
            cell(scenario, flow, "mean_s"),
            *(cell(scenario, flow, key) for key, _ in (*QUANTILES, *VARIATION)),
            cell(scenario, flow, "dropped", count),
            cell(scenario, flow, "policed", count),
        ]
        for scenario in scenarios_of(point.metrics)
        for flow in point.metrics[scenario]
    ]
    runs = max((known["n"] for known in point.intervals.values()), default=1)
    how = f"means of {runs} seeds and their 95 % intervals" if runs > 1 else "one seed"
    titles = [
        "scenario",
        "flow",
        "mean",
        *(word for _, word in (*QUANTILES, *VARIATION)),
        "dropped",
        "by policers",
    ]
    return Table(f"{lead}Quantiles of delay, {how}", titles, rows, 2)


def _queues(table: pl.DataFrame, more: str) -> Table:
    import polars as pl

    here = table.filter((pl.col("node") == BOTTLENECK[0]) & (pl.col("neighbor") == BOTTLENECK[1]))
    # A class in which others are holds nothing itself.
    here = here.filter((pl.col("point") == table["point"].min()) & (pl.col("discipline") != "class"))
    keys = [key for key in ("given_packets", "sent_packets", "dropped_packets") if key in here.columns]
    rows = [
        [
            str(row["scenario"]),
            str(row["path"]),
            str(row["discipline"]),
            *(str(row[key]) for key in keys),
            f"{row['mean_packets']:.2f}" if row["mean_packets"] is not None else "-",
            format_time(row["mean_wait_s"]),
            f"{row['backlog_bytes_max'] / 1000:.1f} kB",
            str(row["overlimits"]),
        ]
        for row in here.to_dicts()
    ]
    titles = ["scenario", "queue", "discipline", *(key.removesuffix("_packets") for key in keys)]
    titles += ["mean packets", "mean wait", "most", "overlimits"]
    return Table(_with("Queues at Gaia's output to Zeus", more), titles, rows, 3)


def _policers(table: pl.DataFrame, more: str) -> Table:
    import polars as pl

    rows = [
        [str(row[key]) for key in ("scenario", "rule", "colour", "action", "packets", "bytes")]
        for row in table.filter(
            (pl.col("point") == table["point"].min()) & (pl.col("packets") > 0)
        ).to_dicts()
    ]
    titles = ["scenario", "policer", "colour", "action", "packets", "bytes"]
    return Table(_with("What Gaia's policers did", more), titles, rows, 4)


SENTENCES_MAX = 4
"""Of more points than this the answer tells of the first and the last."""


def answer(points: Sequence[Point]) -> str:
    """Delays and losses of the scenarios of every point in one sentence."""
    cut = len(points) > SENTENCES_MAX
    parts = []
    for point in (points[0], points[-1]) if cut else points:
        more = said(points, point).removesuffix(", ")
        for scenario in scenarios_of(point.metrics):
            if text := _told(point.metrics[scenario], point.metrics["totals"][scenario]):
                parts.append(f"{_with(scenario, more)}: {text}")
    text = "; ".join(parts)
    lead = f"Of {len(points)} points the first and the last: " if cut else ""
    return f"{lead}{text if cut else text[:1].upper() + text[1:]}."


def _told(flows: Mapping[str, Mapping[str, Any]], total: Mapping[str, Any]) -> str:
    """Who waits and who loses in a scenario."""
    means = {flow: one["mean_s"] for flow, one in flows.items() if one["mean_s"] is not None}
    if not means:
        return ""
    low, high = min(means, key=lambda flow: means[flow]), max(means, key=lambda flow: means[flow])
    if means[high] - means[low] < 0.1 * means[high]:
        waits = f"all flows wait about {format_time(means[high], 3)}"
    else:
        waits = f"{low} waits {format_time(means[low], 3)} and {high} {format_time(means[high], 3)}"
    losers = [flow for flow, one in flows.items() if one["dropped"] >= 0.005 * one["sent"]]
    lost = ", ".join(losers) if losers else "none"
    return f"{waits}, {total['dropped'] / total['sent']:.1%} of packets are lost ({lost})"
