"""What each thing that the paper leaves open does to each published figure: tables of the tutorial.

The tables of the default command come first.

    python docs/models/diffserv_alternatives.py           print them
    python docs/models/diffserv_alternatives.py --check   and see that the page has them
    python docs/models/diffserv_alternatives.py --quick   the same with a few of the rows, for tests

Every figure of the others is the mean over seeds 1 to 10, which every row shares. A published figure is never
an input.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from twinplane.experiments import load
from twinplane.experiments.diffserv.parameters import FLOWS
from twinplane.experiments.diffserv.published import FIGURES, published

PAGE = Path(__file__).parents[1] / "tutorials" / "diffserv.md"
SEEDS = range(1, 11)

SINGLE: dict[str, dict[str, Any]] = {
    "defaults": {},
    "`size_counts=ip accounting=ip` (1000 B)": {"size_counts": "ip", "accounting": "ip"},
    "`size_counts=ip` (1014 B)": {"size_counts": "ip"},
    "`accounting=ip` (1028 B)": {"accounting": "ip"},
    "`accounting=frame` (1046 B)": {"accounting": "frame"},
    "`accounting=wire` (1066 B)": {"accounting": "wire"},
    "`queue_packets=50`": {"queue_packets": 50},
    "`queue_packets=1000`": {"queue_packets": 1000},
    "`maxburst=20`": {"maxburst": 20},
    "`offered=0.955`": {"offered": 0.955},
    "`arrivals=constant`": {"arrivals": "constant"},
}
"""Of scenario 1."""

CLASSES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "`af1_rate_mbps=2`": {"af1_rate_mbps": 2.0},
    "`size_counts=ip accounting=ip` (1000 B)": {"size_counts": "ip", "accounting": "ip"},
    "`size_counts=ip` (1014 B)": {"size_counts": "ip"},
    "`accounting=ip` (1028 B)": {"accounting": "ip"},
    "`accounting=frame` (1046 B)": {"accounting": "frame"},
    "`accounting=wire` (1066 B)": {"accounting": "wire"},
    "`borrowing=none`": {"borrowing": "none"},
    "`borrowing=all-but-ef`": {"borrowing": "all-but-ef"},
    "`borrowing=de-only`": {"borrowing": "de-only"},
    "`priorities=equal`": {"priorities": "equal"},
    "`red_probability=exact`": {"red_probability": "exact"},
    "`out_of_profile=drop`": {"out_of_profile": "drop"},
    "`out_of_profile=remark`": {"out_of_profile": "remark"},
    "`out_of_profile=pass`": {"out_of_profile": "pass"},
    "`maxburst=20`": {"maxburst": 20},
    "`offered=0.955`": {"offered": 0.955},
    "`af1_rate_mbps=2 size_counts=ip accounting=ip`": {
        "af1_rate_mbps": 2.0,
        "size_counts": "ip",
        "accounting": "ip",
    },
}
"""Of scenario 2."""

QUICK = ("defaults", "`size_counts=ip accounting=ip` (1000 B)", "`af1_rate_mbps=2`")

Figures = Mapping[str, Mapping[str, float]]


def run(task: tuple[str, dict[str, Any], int]) -> dict[str, dict[str, float]]:
    """One scenario with one seed."""
    scenario, changed, seed = task
    experiment = load("diffserv")
    p = experiment.parameters(scenario=scenario, **changed)
    network = experiment.build(p, seed)
    experiment.run(network, p)
    found: dict[str, dict[str, float]] = experiment.summarise(network, p).metrics[scenario]
    return found


def mean(runs: list[dict[str, dict[str, float]]], flow: str, key: str) -> float:
    """Over seeds."""
    return sum(one[flow][key] for one in runs) / len(runs)


def single_row(name: str, found: Figures) -> str:
    """All flows share one queue: delays of DE, which has most packets, and all losses."""
    lost = [f"{found[flow]['dropped']:.0f}" for flow in FLOWS]
    total = sum(found[flow]["dropped"] for flow in FLOWS)
    delays = " | ".join(
        f"{found['DE'][key]:.{digits}f}" for key, digits in (("mean_s", 3), ("max_s", 3), ("min_s", 4))
    )
    return f"| {name} | {delays} | {' | '.join(lost)} | {total:.0f} |"


def classes_row(name: str, found: Figures) -> str:
    """Mean, greatest delay and losses of each flow."""
    cells = [
        f"{found[flow]['mean_s']:.3f} / {found[flow]['max_s']:.3f} / {found[flow]['dropped']:.0f}"
        for flow in FLOWS
    ]
    return f"| {name} | {' | '.join(cells)} |"


TABLES = {
    "best-effort": (
        SINGLE,
        single_row,
        "| best effort | mean (s) | max (s) | min (s) | EF dropped | AF11 | AF12 | DE | all |",
    ),
    "diffserv": (CLASSES, classes_row, "| DiffServ: mean / max (s) / dropped | EF | AF11 | AF12 | DE |"),
}


def default_tables() -> list[str]:
    """The four tables of the default command: ours, and published where there is one."""
    experiment = load("diffserv")
    p = experiment.parameters()
    found: list[str] = []
    for scenario, part in experiment.parts(p).items():
        network = experiment.build(part, 1)
        experiment.run(network, part)
        ours = experiment.summarise(network, part).metrics[scenario]
        told = published().get(scenario)
        found += ["", f"| {scenario} | {' | '.join(FLOWS)} |", "|" + " --- |" * (len(FLOWS) + 1)]
        for key, word in FIGURES:
            cells = []
            for flow in FLOWS:
                text = f"{ours[flow][key]:.0f}" if key == "dropped" else f"{ours[flow][key]:.4f}"
                cells.append(text if told is None else f"{text} ({told[flow][key]:g})")
            found.append(f"| {word} | {' | '.join(cells)} |")
        found.append(f"| sent | {' | '.join(str(ours[flow]['sent']) for flow in FLOWS)} |")
    return found[1:]


def lines(quick: bool) -> list[str]:
    """Both tables of alternatives."""
    rows = [
        (scenario, name, changed)
        for scenario, (alternatives, _, _) in TABLES.items()
        for name, changed in alternatives.items()
        if not quick or name in QUICK
    ]
    tasks = [(scenario, changed, seed) for scenario, _, changed in rows for seed in SEEDS]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        done = list(pool.map(run, tasks, chunksize=len(SEEDS)))
    found: list[str] = []
    for scenario, (_, row, titles) in TABLES.items():
        if found:
            found.append("")
        found += [titles, "|" + " --- |" * (titles.count("|") - 1), row("published", published()[scenario])]
        for place, (of, name, _) in enumerate(rows):
            if of == scenario:
                runs = done[place * len(SEEDS) : (place + 1) * len(SEEDS)]
                figures = {flow: {key: mean(runs, flow, key) for key in KEYS} for flow in FLOWS}
                found.append(row(name, figures))
    return found


KEYS = ("mean_s", "max_s", "min_s", "dropped")


def main() -> None:
    """Print, and compare with the page."""
    quick = "--quick" in sys.argv
    made = [*default_tables(), "", *lines(quick)]
    print("\n".join(made))
    if quick or "--check" in sys.argv:
        page = PAGE.read_text().splitlines()
        missing = [line for line in made if line not in page]
        if missing:
            sys.exit(f"{PAGE}: it does not have this line:\n{missing[0]}")


if __name__ == "__main__":
    main()
