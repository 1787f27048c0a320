"""Page and figure of `growth.py`: exponents with their intervals, and what more processors would give."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import growth
from twinplane.charts import SHADES
from twinplane.files import write_text, write_with
from twinplane.measure.estimate import of_bytes
from twinplane.measure.statistics import t_quantile

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "models" / "growth.md"
FIGURE = ROOT / "docs" / "images" / "growth.svg"
HEAD = PAGE.with_name("growth-head.txt")

SERIES = {"build_s": "build", "run_s": "run", "describe_s": "describe"}
"""Steps that are shown, and their words."""
LEAST_S = 0.05
"""Less is decided by the start of things, and is not told from noise."""
LONG_S = 0.5
"""In a shorter run much is over before devices are shared out by what they have to do."""
PROCESSORS = (1, 2, 4, 8, 16)
NOT_YET = """Not measured yet: threads are measured by the clock, which says nothing on a busy machine. On a
quiet one

```text
.venv/bin/python benches/growth.py --repeat 3
```

adds here what two threads gain over one, and what a model that is fitted to both says of up to 16. What has
been measured of two threads stands in the [decision about threads](../decisions/0038-threads.md)."""
ORDER = ("packet-hops", "routers", "flows", "lsps", "routes", "threads")

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Power:
    """A law: a figure is `unit_value` times the size to the power of `exponent`."""

    exponent: float
    half: float
    """Half of its interval of 95 %; not a number of two points."""
    unit_value: float
    last: float
    """The exponent between the two largest sizes."""
    count: int

    def at(self, size: float) -> float:
        """The figure of a size."""
        return float(self.unit_value * size**self.exponent)

    def words(self) -> str:
        """For a table."""
        around = "" if math.isnan(self.half) else f" ± {self.half:.2f}"
        return f"{self.exponent:.2f}{around}"


def power(sizes: Sequence[float], values: Sequence[float]) -> Power | None:
    """A line through logarithms, by least squares; None of fewer than two points."""
    if len(sizes) < 2:
        return None
    xs, ys = [math.log(size) for size in sizes], [math.log(value) for value in values]
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    around = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / around
    off = [y - mean_y - slope * (x - mean_x) for x, y in zip(xs, ys, strict=True)]
    freedom = len(xs) - 2
    half = math.nan
    if freedom > 0:
        half = t_quantile(freedom) * math.sqrt(sum(one**2 for one in off) / freedom / around)
    last = (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])
    return Power(slope, half, math.exp(mean_y - slope * mean_x), last, len(xs))


@dataclass(frozen=True)
class Rounds:
    """What several threads take: shared work, and meetings.

    What takes one thread so many seconds of work takes n threads work / n * imbalance + rounds * meeting.
    """

    imbalance: float
    """1 where all have the same to do. What each thread gains by a cache of its own is in it, too."""
    meeting_s: float
    work_s: float
    """What one thread takes for what is extrapolated."""
    spread: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Variances of half the imbalance, and of a meeting, and what they have in common."""
    freedom: int = 0
    """Measurements, less what was fitted to them."""

    def taken(self, threads: int, rounds: float, work_s: float | None = None) -> float:
        """As a share of what one thread takes; a meeting of more takes longer by their logarithm."""
        if threads == 1:
            return 1.0
        meetings = rounds / (self.work_s if work_s is None else work_s) * math.log2(threads)
        return self.imbalance / threads + meetings * self.meeting_s

    def speedup(self, threads: int, rounds: float, work_s: float | None = None) -> float:
        """How many times as fast as one thread."""
        return 1 / self.taken(threads, rounds, work_s)

    def interval(self, threads: int, rounds: float) -> tuple[float, float]:
        """Where the speed-up lies with 95 %, if the model holds; as wide as can be if nothing tells."""
        if threads == 1 or self.freedom < 1:
            return (1.0, 1.0) if threads == 1 else (0.0, math.inf)
        halves, meetings = 2 / threads, rounds / self.work_s * math.log2(threads)
        of_work, of_meeting, both = self.spread
        variance = halves**2 * of_work + meetings**2 * of_meeting + 2 * halves * meetings * both
        half = t_quantile(self.freedom) * math.sqrt(max(variance, 0.0))
        taken = self.taken(threads, rounds)
        return 1 / (taken + half), 1 / (taken - half) if taken > half else math.inf


@dataclass(frozen=True)
class Pair:
    """One network with one thread and with two, by the clock."""

    law: str
    size: int
    rounds: float
    one_s: float
    two_s: float
    same: bool
    """Were the digests the same?"""

    @property
    def counts(self) -> bool:
        """Is it so long that two threads have shared it out well?"""
        return self.one_s >= LONG_S


def pairs(points: Sequence[Point]) -> list[Pair]:
    """Links of several lengths, and runs of several lengths with links of 1 ms."""
    found = []
    for law, rounds in (("rounds", rounds_of), ("threads", rounds_of_run)):
        twos = {one["size"]: one for one in of_law(points, law, 2)}
        for one in of_law(points, law):
            if (two := twos.get(one["size"])) is not None:
                same = one["digest"] == two["digest"]
                size = one["size"]
                found.append(Pair(law, size, rounds(size), one["run_wall_s"], two["run_wall_s"], same))
    return found


def fitted(points: Sequence[Point]) -> Rounds | None:
    """The model, of all pairs that take long enough.

    Where rounds are few, what two threads take beyond half is imbalance; the slope over the number of rounds
    is a meeting. Two threads are set against one with the same links, for short links make both slower.
    """
    both = [pair for pair in pairs(points) if pair.counts]
    if len(both) < 3:
        return None
    xs = [pair.rounds / pair.one_s for pair in both]
    ys = [pair.two_s / pair.one_s for pair in both]
    # Relative errors count, or else the shortest links alone would decide.
    weights = [1 / y**2 for y in ys]
    whole = sum(weights)
    mean_x = sum(w * x for w, x in zip(weights, xs, strict=True)) / whole
    mean_y = sum(w * y for w, y in zip(weights, ys, strict=True)) / whole
    around = sum(w * (x - mean_x) ** 2 for w, x in zip(weights, xs, strict=True))
    slope = sum(w * (x - mean_x) * (y - mean_y) for w, x, y in zip(weights, xs, ys, strict=True)) / around
    off = [y - mean_y - slope * (x - mean_x) for x, y in zip(xs, ys, strict=True)]
    freedom = len(both) - 2
    noise = sum(w * one**2 for w, one in zip(weights, off, strict=True)) / freedom
    spread = (noise * (1 / whole + mean_x**2 / around), noise / around, -noise * mean_x / around)
    work = statistics.median(
        [pair.one_s for pair in both if pair.law == "rounds"] or [pair.one_s for pair in both]
    )
    return Rounds((mean_y - slope * mean_x) * 2, max(slope, 0.0), work, spread, freedom)


RUN_S = growth.ROUNDS_PACKETS * growth.PERIOD_S
"""Virtual seconds in which the networks of `rounds` send."""


def rounds_of(delay_us: float) -> float:
    """Exchanges of a run of `rounds` with links of so many microseconds: one for each that time passes by."""
    return RUN_S / (delay_us * 1e-6)


def rounds_of_run(packet_hops: int) -> float:
    """The same of a run of `threads` with so many packet-hops."""
    return growth.packets_of(packet_hops) * growth.PERIOD_S / 1e-3


def of_law(points: Sequence[Point], law: str, threads: int = 1) -> list[Point]:
    """Points of a law, by size."""
    found = [one for one in points if one["law"] == law and one["threads"] == threads]
    return sorted(found, key=lambda one: one["size"])


def base_of(chosen: Sequence[Point], key: str) -> float:
    """Memory that the smallest network takes as well; of seconds nothing."""
    return min((float(one[key]) for one in chosen), default=0.0) if key == "memory" else 0.0


def laws(points: Sequence[Point], law: str) -> dict[str, Power]:
    """The powers of a law by what grows: seconds of the steps, and memory."""
    found = {}
    chosen = of_law(points, law)
    for key in (*SERIES, "memory"):
        base = base_of(chosen, key)
        least = base if key == "memory" else LEAST_S
        used = [(one["size"], one[key] - base) for one in chosen if one[key] - base >= least]
        if (fit := power([size for size, _ in used], [value for _, value in used])) is not None:
            found[key] = fit
    return found


def draw(points: Sequence[Point]) -> None:
    """Small multiples: seconds of the processor over size, and the fitted powers; memory below."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})
    from growth import LAWS
    from matplotlib.figure import Figure

    shown = [law for law in ORDER[:5] if of_law(points, law)]
    figure = Figure(figsize=(2.5 * len(shown), 5.2), layout="constrained")
    axes = figure.subplots(2, len(shown), squeeze=False, sharey="row")
    for column, law in enumerate(shown):
        chosen, fits = of_law(points, law), laws(points, law)
        for row, keys in enumerate((tuple(SERIES), ("memory",))):
            axis = axes[row][column]
            axis.set(xscale="log", yscale="log")
            axis.grid(True, color="#dddddd", linewidth=0.6)
            for place, key in enumerate(keys):
                color, name = SHADES[place], SERIES.get(key, "memory")
                scale = 1e6 if key == "memory" else 1.0
                used = [(one["size"], one[key] / scale) for one in chosen if one[key] > 0]
                axis.plot(*zip(*used, strict=True), "osD"[place], color=color, markersize=4, label=name)
                if key in fits:
                    sizes = [one["size"] for one in chosen]
                    base = base_of(chosen, key)
                    line = [(base + fits[key].at(size)) / scale for size in sizes]
                    axis.plot(sizes, line, color=color, linewidth=0.9)
        axes[0][column].set_title(LAWS[law].told.replace(", ", ",\n", 1), fontsize=8)
        axes[0][column].axhline(LEAST_S, color="black", linewidth=0.7, linestyle=":")
        axes[1][column].set_xlabel(LAWS[law].unit)
    axes[0][0].set(ylabel="seconds of the processor", ylim=(1e-3, None))
    axes[1][0].set_ylabel("memory, MB")
    axes[0][0].legend(fontsize=7, frameon=False)

    def write(temporary: Path) -> None:
        figure.savefig(temporary, format="svg", metadata={"Date": None})

    write_with(FIGURE, write)


def page(found: Mapping[str, Any]) -> str:
    """The page in Markdown."""
    from growth import LAWS

    points, machine = found["points"], found["machine"]
    lines = [HEAD.read_text(encoding="utf-8").rstrip(), ""]
    lines += [
        f"Measured on {machine['cores']} processors ({machine['processor']}), load"
        f" {machine['load_average_1min']:.1f} at the start of what was measured last; {_revisions(points)}.",
        "",
        "![Seconds of the processor and memory over the size of networks](../images/growth.svg)",
        "",
        "| what grows | to | describe | build | run | memory | exponent of build | of run | of memory |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for law in ORDER[:5]:
        if not (chosen := of_law(points, law)):
            continue
        last, fits = chosen[-1], laws(points, law)
        cells = [LAWS[law].unit, f"{last['size']:,}"]
        cells += [f"{last[step]:.3g} s" for step in ("describe_s", "build_s", "run_s")]
        cells += [of_bytes(last["memory"])]
        cells += [fits[key].words() if key in fits else "-" for key in ("build_s", "run_s", "memory")]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *_steep(points), *_built(points), *_threads(points)]
    return "\n".join(lines).rstrip() + "\n"


def _steep(points: Sequence[Point]) -> list[str]:
    """Where the last step is steeper than linear."""
    found = []
    for law in ORDER[:5]:
        for key, fit in laws(points, law).items():
            if key != "memory" and fit.last > 1.15:
                found.append(f"{law}, {SERIES[key]}: {fit.last:.2f}")
    text = "; ".join(found) or "none"
    return [f"Exponents above 1.15 between the two largest sizes: {text}.", ""]


def _revisions(points: Sequence[Point]) -> str:
    """Which revision each law was measured of, and how often."""
    found: dict[str, list[str]] = {}
    for law in (*ORDER, "rounds", "chords"):
        for one in of_law(points, law)[:1]:
            said = f"medians of {one['repeat']} with revision {one['revision']}"
            found.setdefault(said, []).append(law)
    return "; ".join(f"{', '.join(laws)}: {said}" for said, laws in found.items())


def _built(points: Sequence[Point]) -> list[str]:
    """A network with more links than routers, built."""
    return [
        f"A ring of {one['size']:,} routers with {one['size'] * 6 // 5:,} links, built:"
        f" {one['build_s']:.2f} s of the processor, after {one['describe_s']:.2f} s to describe it, and"
        f" {of_bytes(one['memory'])} (floor 10 s and 2 GB, goal 1 s and 0.5 GB).\n"
        for one in of_law(points, "chords")
    ]


def _threads(points: Sequence[Point]) -> list[str]:
    """Two threads beside one, and the model of more."""
    lines, found, model = ["## Threads", ""], pairs(points), fitted(points)
    told = (
        (
            "threads",
            "packet-hops",
            ": links of 1 ms, 100 routers, 2,000 flows (floor of the ratio 1.7, goal 1.9)",
        ),
        ("rounds", "links of, us", ": 9.3 million packet-hops, links of other lengths"),
    )
    for law, unit, what in told:
        own = [pair for pair in found if pair.law == law]
        if not own:
            continue
        lines += [
            f"**Measured**{what}:",
            "",
            f"| {unit} | one thread, clock | two threads, clock | ratio | model | same digest |",
            "|---:|---:|---:|---:|---:|---|",
        ]
        for pair in own:
            fits = model is not None and pair.counts
            said = f"{model.speedup(2, pair.rounds, pair.one_s):.2f}" if model and fits else "-"
            clocks = f"{pair.one_s:.3g} s | {pair.two_s:.3g} s | {pair.one_s / pair.two_s:.2f}"
            lines.append(f"| {pair.size:,} | {clocks} | {said} | {'yes' if pair.same else 'NO'} |")
        lines.append("")
    if model is None:
        return [*lines, NOT_YET]
    lines += [
        "**Model.** A run of n threads takes work / n * imbalance + rounds * meeting. Fitted to all runs"
        f" above that take one thread {LONG_S:g} s at least: imbalance {model.imbalance:.2f}, a meeting"
        f" {model.meeting_s * 1e6:.1f} us. A shorter run is over before two threads can gain as much. What"
        " each thread gains by a cache of its own is in the imbalance, too.",
        "",
        f"**Extrapolated, not measured**: speed-up of the same network, of {model.work_s:.2f} s of work, if"
        " meetings take longer with the logarithm of the number of threads, and imbalance stays as it is. In"
        " brackets the interval of 95 % that follows from how the measurements of two threads spread around"
        " the model; whether the model holds for 16 is not in it.",
        "",
        f"| links | rounds | {' | '.join(f'{n} threads' for n in PROCESSORS)} |",
        f"|---|---:|{'---:|' * len(PROCESSORS)}",
    ]
    for delay in (1_000, 100, 10):
        cells = [f"{model.speedup(n, rounds_of(delay)):.1f}" for n in PROCESSORS]
        low, high = model.interval(PROCESSORS[-1], rounds_of(delay))
        cells[-1] += f" ({low:.1f} to {high:.1f})"
        lines.append(f"| {delay:,} us | {rounds_of(delay):,.0f} | {' | '.join(cells)} |")
    return lines


def local(points: Sequence[Point], law: str, key: str) -> list[tuple[int, float]]:
    """Exponents between neighbouring sizes, by the larger one."""
    return [
        (b["size"], math.log(b[key] / a[key]) / math.log(b["size"] / a["size"]))
        for a, b in pairwise(of_law(points, law))
        if a[key] >= LEAST_S
    ]


def write(found: Mapping[str, Any]) -> None:
    """Figure and page."""
    draw(found["points"])
    write_text(PAGE, page(found))
