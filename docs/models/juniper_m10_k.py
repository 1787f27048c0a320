"""The control plane of the profile `juniper-m10`: what the published thresholds of K identify, and what not.

    python docs/models/juniper_m10_k.py             the profile as it is: one row for each published N
    python docs/models/juniper_m10_k.py --bounds    between which lengths of the queue the thresholds hold
    python docs/models/juniper_m10_k.py --scan      the same for other times and testers: what fits as well
    python docs/models/juniper_m10_k.py --timeout   other times after which the tester signals an LSP again
    python docs/models/juniper_m10_k.py --smooth    a cost per LSP with no bound on the queue: what cannot fit
    python docs/models/juniper_m10_k.py --quick     a few rows of the first table, for tests

The runs are those of `lsp-flap` with next to no traffic, which the control plane does not notice.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from twinplane.experiments import load
from twinplane.experiments.lsp_flap.build import FLAPPING, STABLE
from twinplane.experiments.lsp_flap.parameters import FlapParameters
from twinplane.network import Network
from twinplane.network.history import up_now
from twinplane.profiles import resolve

EXPERIMENT = load("lsp-flap")
SCENARIOS = ("ring", "single")
MATRIX = {1: range(100, 901, 100), 2: range(100, 501, 50)}
PASS = ((300, 100), (250, 250))
"""N and M up to which the paper has K = N."""
FAIL = ((400, 100), (300, 300))
"""N and M from which on it has K < N."""


@dataclass(frozen=True)
class Result:
    """What one run gave; times in seconds after the first flapping event."""

    k: int
    up_second: int
    up_end: int
    last_s: float | None
    failed: int
    lost: int
    peak: int


def flap(
    n: int,
    m: int,
    scenario: str,
    control: Mapping[str, Any] | None = None,
    until_s: float = 47.0,
    **more: Any,
) -> Result:
    """One run to `until_s` after t = 0, with the control section of the profile changed as given."""
    given = FlapParameters(n=n, m=m, scenario=scenario, rate_mbps=0.01, **more)
    profile = resolve(given.profile)
    changed = {**profile, "control": {**profile["control"], **(control or {})}}
    p = given.model_copy(update={"profile": changed})
    network = EXPERIMENT.build(p, 1)
    network.run(until=p.begin_s + until_s)
    return _look(network, p)


def _look(network: Network, p: FlapParameters) -> Result:
    log = network.columns("lsp_log")
    messages = network.columns("messages")
    processors = network.columns("processors")
    zero_ps, first_ps, second_ps, end_ps = (
        round((p.begin_s + seconds) * 1e12) for seconds in (0, p.first_event_s, p.second_event_s, p.end_s)
    )
    tears = sum(
        count
        for node, start, way, kind, count in zip(
            *(messages[key] for key in ("node", "start_ps", "direction", "type", "count")), strict=True
        )
        if node in ("egress", network.node("egress").index)
        and way == "rx"
        and kind == "PathTear"
        and start >= zero_ps
    )
    routers = {name for node in network.nodes if node.kind == "router" for name in (node.name, node.index)}
    mine = [place for place, node in enumerate(processors["node"]) if node in routers]
    both = (STABLE, FLAPPING)
    return Result(
        k=tears - p.n,
        up_second=len(up_now(log, FLAPPING, second_ps)),
        up_end=sum(len(up_now(log, group, end_ps)) for group in both),
        last_s=max(_last_up(log, first_ps), default=None),
        failed=p.n + p.stable - sum(len(up_now(log, group)) for group in both),
        lost=sum(processors["queue_drops"][place] for place in mine),
        peak=max((processors["queue_peak"][place] for place in mine), default=0),
    )


def _last_up(log: Mapping[str, list[Any]], from_ps: int) -> Iterable[float]:
    """When LSPs came up after a time, in seconds from then."""
    for at, is_up in zip(log["time_ps"], log["up"], strict=True):
        if is_up and at >= from_ps:
            yield (at - from_ps) / 1e12


def table(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    head = list(titles)
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def profile_rows(points: Iterable[tuple[str, int, int]]) -> str:
    """K of the profile as it is."""
    rows = []
    for scenario, family, n in points:
        m = 100 if family == 1 else n
        found = flap(n, m, scenario)
        last = "-" if found.last_s is None else f"{10 + found.last_s:.2f}"
        rows.append(
            [scenario, n, m, found.k, found.up_second, m + n - found.up_end, last, found.failed, found.lost]
        )
    titles = [
        "scenario",
        "N",
        "M",
        "K",
        "up at 15 s",
        "down at 17 s",
        "last up at (s)",
        "failed",
        "Paths lost",
    ]
    return table(titles, rows)


def least_queue(n: int, m: int, scenario: str, control: Mapping[str, Any], rate: float) -> int | None:
    """The shortest queue that loses nothing before the second event; None if no queue is long enough."""
    until = 14.999
    free = flap(n, m, scenario, {**control, "alert_queue_messages": None}, until, signalling_rate=rate)
    if free.up_second < n and (n, m) in PASS:
        return None
    length = max(1, free.peak)
    while length > 1:
        shorter = {**control, "alert_queue_messages": length - 1}
        if flap(n, m, scenario, shorter, until, signalling_rate=rate).lost:
            break
        length -= 1
    return length


def bounds(control: Mapping[str, Any], rate: float) -> dict[str, tuple[int, int] | None]:
    """For each scenario the shortest and the longest queue with which the published thresholds come out."""
    found: dict[str, tuple[int, int] | None] = {}
    for scenario in SCENARIOS:
        passing = [least_queue(n, m, scenario, control, rate) for n, m in PASS]
        if None in passing:
            found[scenario] = None
            continue
        failing = [least_queue(n, m, scenario, control, rate) for n, m in FAIL]
        low = max(length for length in passing if length is not None)
        high = min(length for length in failing if length is not None) - 1
        found[scenario] = (low, high)
    return found


def in_time(control: Mapping[str, Any], rate: float) -> bool:
    """Is everything up at 17 s at the published thresholds, as it was in the second period of the study?"""
    return all(
        flap(n, m, scenario, control, 17.0, signalling_rate=rate).up_end == n + m
        for n, m in PASS
        for scenario in SCENARIOS
    )


def shared(both: Mapping[str, tuple[int, int] | None]) -> str:
    """The range that suits both scenarios, in words."""
    ranges = [item for item in both.values() if item is not None]
    if len(ranges) < len(SCENARIOS):
        return "none: too slow"
    low, high = max(item[0] for item in ranges), min(item[1] for item in ranges)
    return f"{low} to {high}" if low <= high else "none"


def bounds_rows() -> str:
    """The bounds for the profile's own times."""
    found = bounds({}, 1000.0)
    rows = [[scenario, *(item or ("-", "-"))] for scenario, item in found.items()]
    return table(["scenario", "shortest queue", "longest queue"], [*rows, ["both", shared(found), ""]])


def scan_rows() -> str:
    """The bounds for other times; in brackets where 300 LSPs take longer than the second period."""
    rows = []
    states_ns = (1000, 2000, 4000, 6000)
    for rate in (1000.0, 1500.0, 2000.0):
        for path_us in (1000, 1500, 2000, 2500):
            cells = []
            for state_ns in states_ns:
                control = {"path_us": path_us, "per_state_ns": state_ns}
                found = shared(bounds(control, rate))
                late = not in_time({**control, "alert_queue_messages": None}, rate)
                cells.append(f"({found})" if late else found)
            rows.append([f"{rate:g}/s", path_us, *cells])
    return table(["tester", "path_us", *(f"per_state_ns {state_ns}" for state_ns in states_ns)], rows)


def timeout_rows() -> str:
    """Other times after which the tester signals again an LSP that did not come up."""
    rows = []
    for timeout in (1.0, 3.0, 4.0, 4.5, 5.0, 5.5, 8.0, 12.0, 20.0):
        cells = []
        for n, m in ((400, 100), (900, 100)):
            found = flap(n, m, "ring", setup_timeout_s=timeout)
            last = "-" if found.last_s is None else f"{10 + found.last_s:.1f} s"
            cells += [found.k, last, found.failed]
        rows.append([f"{timeout:g} s", *cells])
    heads = [f"{what}, N={n}" for n in (400, 900) for what in ("K", "last up at", "failed")]
    return table(["tester waits", *heads], rows)


def smooth_rows() -> str:
    """No bound on the queue: a cost per message and per LSP held only."""
    rows = []
    for path_us, state_ns in ((1000, 2000), (5000, 2000), (10_000, 0), (2000, 20_000)):
        control = {"path_us": path_us, "per_state_ns": state_ns, "alert_queue_messages": None}
        cells = []
        for n, m in (*PASS, *FAIL, (900, 100)):
            found = flap(n, m, "ring", control, 17.0)
            cells.append(f"{found.up_second} / {m + n - found.up_end}")
        rows.append([path_us, state_ns, *cells])
    pairs = [f"N={n}, M={m}" for n, m in (*PASS, *FAIL, (900, 100))]
    return table(["path_us", "per_state_ns", *pairs], rows)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description="K of the profile juniper-m10.")
    for option in ("--bounds", "--scan", "--smooth", "--timeout", "--quick"):
        parser.add_argument(option, action="store_true")
    asked = parser.parse_args()
    if asked.bounds:
        print(bounds_rows())
    elif asked.scan:
        print(scan_rows())
    elif asked.timeout:
        print(timeout_rows())
    elif asked.smooth:
        print(smooth_rows())
    else:
        every = [(s, f, n) for s in SCENARIOS for f, points in MATRIX.items() for n in points]
        few = [(s, f, n) for s in SCENARIOS for f, n in ((1, 300), (1, 400), (2, 250), (2, 300))]
        print(profile_rows(few if asked.quick else every))


if __name__ == "__main__":
    main()
