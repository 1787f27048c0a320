"""What a page says of a run in real time: calibration, error bounds, and the twin in virtual time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..charts import Chart, Curve, Mark
from ..charts.table import Table
from ..measure.alignment import TITLES, align, messages_of
from ..measure.calibration import Calibration, Spread, sentences
from ..measure.metrics import flat
from ..units import format_time
from .page import Section

if TYPE_CHECKING:
    from ..results.folder import Results

POINTS_MAX = 12
WITHIN = {True: "yes", False: "no", None: "modelled"}
"""Does a residual lie within its bound? In one process one model makes both runs: equal by construction."""


def entries(found: Results) -> list[Mapping[str, Any]]:
    """The entry of each point in the summary."""
    listed: list[Mapping[str, Any]] = found.summary.get("points", [found.summary])
    return listed


def calibrations(found: Results) -> list[Section]:
    """What the tester's ports did by themselves, before each point."""
    known = [
        (place, entry["calibration"])
        for place, entry in enumerate(entries(found))
        if entry.get("calibration")
    ][:POINTS_MAX]
    if not known:
        return []
    first = Calibration.of(known[0][1])
    section = Section("Calibration", points=[*sentences(first), *idle_paths(known)], charts=[delays(first)])
    rows = []
    for place, values in known:
        one = Calibration.of(values)
        free, run = one.search.rate_bps, values.get("run_lateness") or {}
        through = values.get("through") or {}
        rows.append(
            [
                _label(found, place),
                str(one.floor.size),
                f"{one.floor.rate_bps / 1e6:.4g}",
                "-" if free is None else f"{free / 1e6:.4g}",
                "-" if not through.get("rate_bps") else f"{through['rate_bps'] / 1e6:.4g}",
                format_time(one.floor.delay.mean_s),
                format_time(one.floor_s),
                format_time(one.floor.delay.max_s),
                format_time(one.floor.lateness.p99_s),
                format_time(run.get("p99_s")),
                format_time(run.get("max_s")),
            ]
        )
    titles = ["point", "size (B)", "rate (Mbit/s)", "loss-free back to back", "loss-free through the system"]
    titles += [
        "mean delay back to back",
        "floor (99 %)",
        "most",
        "pacing 99 %",
        "in the run 99 %",
        "in the run, most",
    ]
    section.tables.append(Table("Before each point, ports back to back", titles, rows))
    return [section]


def idle_paths(known: Sequence[tuple[int, Mapping[str, Any]]]) -> list[str]:
    """What probes took through idle routers beyond virtual time, after each run, in a sentence each."""
    paths = [
        (name, Spread.of(path)) for _, values in known for name, path in (values.get("paths") or {}).items()
    ]
    return [
        f"Probes through the idle routers after the run{f' ({name})' if name else ''} took longer than in"
        f" virtual time by {format_time(one.min_s)} at least, {format_time(one.mean_s)} on average, 99 %"
        f" by less than {format_time(one.p99_s)}, at most {format_time(one.max_s)}."
        for name, one in paths
    ]


def _label(found: Results, place: int) -> str:
    parameters = found.points[place].parameters
    keys = [k for k in parameters if len({str(p.parameters.get(k)) for p in found.points}) > 1]
    return ", ".join(f"{key} = {parameters[key]}" for key in keys[:4]) or str(place)


def delays(one: Calibration) -> Chart:
    """The histogram of back-to-back delay."""
    histogram = one.floor.histogram
    upper = [float(value) * 1e6 for value in histogram.get("upper_s", [])]
    counts = list(histogram.get("count", []))
    x, y = binned(upper, counts)
    return Chart(
        "back-to-back-delay",
        "Delay of the tester itself, back to back",
        f"Histogram of {one.floor.received:,} delays back to back: half below"
        f" {format_time(one.floor.delay.p50_s)}, 99 % below {format_time(one.floor_s)}, which is the noise"
        " floor.",
        "delay back to back (us)",
        ["packets"],
        [Curve("packets", x, y, 0, "bars", 1)],
        [Mark(one.floor_s * 1e6, "noise floor")],
    )


def binned(
    upper: Sequence[float], counts: Sequence[float], bins: int = 60
) -> tuple[list[float], list[float]]:
    """Equal bins up to half as far again as 99 % lie; what is longer is counted in the last."""
    total = sum(counts)
    if not total:
        return [], []
    passed, most = 0.0, upper[-1]
    for value, count in zip(upper, counts, strict=True):
        passed += count
        if passed >= 0.99 * total:
            most = 1.5 * value
            break
    width = most / (bins - 1) or 1.0
    found = [0.0] * bins
    for value, count in zip(upper, counts, strict=True):
        found[min(bins - 1, int(value / width))] += count
    return [width * (place + 0.5) for place in range(bins)], found


def twins(found: Results) -> list[Section]:
    """Residuals against the runs in virtual time."""
    known = [(place, entry) for place, entry in enumerate(entries(found)) if entry.get("twin")][:POINTS_MAX]
    if not known:
        return []
    rows = []
    for place, entry in known:
        measured, twin = flat(entry["metrics"]), flat(entry["twin"]["metrics"])
        for key, value in entry["twin"]["residuals"].items():
            real, virtual = measured.get(key), twin.get(key)
            rows.append(
                [
                    _label(found, place),
                    key,
                    _text(key, virtual),
                    _text(key, real),
                    _text(key, value["residual"]),
                    "-" if value["relative"] is None else f"{value['relative']:+.2%}",
                    "exact" if value["bound"] is None else _text(key, value["bound"]),
                    WITHIN[value["within"]],
                ]
            )
        rows += [
            [_label(found, place), key, _text(key, twin.get(key)), reason.split(":")[0]] + ["-"] * 4
            for key, reason in entry.get("refused", {}).items()
        ]
    titles = ["point", "metric", "virtual", "real", "residual", "relative", "bound", "within"]
    text = (
        "The same parameters and seed in virtual time, where routers cost what their profile says and"
        " nothing else."
        " A residual is real less virtual: beyond the bound it is what the real system adds, or what the"
        " model leaves out."
    )
    if any(one["within"] is None for _, entry in known for one in entry["twin"]["residuals"].values()):
        text += (
            " In one process nothing outside the model is measured: figures are equal by construction"
            " (modelled), which is no agreement with anything. What the machine did is its lateness: see"
            " Calibration."
        )
    section = Section(
        "Residual against the virtual run", [text], tables=[Table("By metric", titles, rows, 2)]
    )
    if messages := _messages(found, [place for place, _ in known]):
        section.tables.append(messages)
    return [section]


def _messages(found: Results, places: Sequence[int]) -> Table | None:
    import polars as pl

    if not {"signals", "twin_signals"} <= set(found.tables()):
        return None
    tables = [found.table(name) for name in ("twin_signals", "signals")]
    rows = []
    for place in places:
        parts = [table.filter(pl.col("point") == place).to_dict(as_series=False) for table in tables]
        if not all(part["point"] for part in parts):
            continue
        nodes = set(parts[1]["node"])
        virtual = [message for message in messages_of(parts[0]) if message.node in nodes]
        for one in align(virtual, messages_of(parts[1])):
            rows.append([_label(found, place), f"{one.node} - {one.neighbor}", *one.cells()])
    titles = ["point", "neighbour", *TITLES]
    return Table("Order of signalling messages, virtual / real", titles, rows, 2) if rows else None


def _text(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key.endswith("_s"):
        return format_time(float(value)) if value else "0 s"
    return f"{value:g}" if isinstance(value, float) else str(value)


def real_bounds(parameters: Mapping[str, Any]) -> list[str]:
    """Where the bounds of a run in real time come from."""
    convention = parameters.get("convention", "first-to-first")
    return [
        "Counts (sent, received, lost, duplicated, reordered, P, failed) are exact: every packet has a"
        " number.",
        "A mean delay is too great by at most its bound: the mean delay of the tester's ports back to back,"
        " and what"
        " departures were later in the run than then. It is not subtracted, since the machine is busier in"
        " the run.",
        "A least delay is too great by at most the 99.9th percentile back to back; so is a greatest one, or"
        " by the"
        " latest departure of the run if that is more.",
        "Where probes through idle routers took more (see Calibration), their mean and their 99.9th"
        " percentile take the place of those back to back: a process for each router costs time that the"
        " model of a router does not have.",
        "A time of signalling is known to the 99.9th percentile back to back; a count at a time (LSPs up"
        " after the"
        " first period) may be off by the LSPs that changed within that time of it.",
        "A delay below the 99th percentile back to back is refused: one packet in a hundred would show that"
        " much with"
        " nothing between the ports.",
        f"Delay is measured {convention} bit (RFC 1242), at nominal rates of the ports.",
        "Departures are those of the schedule: a packet that left late counts from when it was due.",
    ]
