"""``twinplane soak``: a network that runs for long."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import typer

from ..errors import TwinplaneError
from ..soak import Round, Verdict, judge, soak
from ..soak.programme import DOWN_S, Subject
from ..soak.verdict import LEAST
from ..units import span_ps
from .tables import print_table


def run_soak(
    clock: str,
    duration: str,
    interval: str | None,
    lsps: int,
    refresh: str,
    reduction: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Run it, print a row for each interval and the verdict; 1 if the verdict is bad."""
    if clock not in ("virtual", "wall"):
        raise TwinplaneError(f"--clock {clock}: virtual or wall")
    if lsps < 1:
        raise TwinplaneError(f"--lsps {lsps}: at least 1 is needed")
    duration_s = span_ps(duration, "duration") / 1e12
    interval_s = duration_s / 24 if interval is None else span_ps(interval, "interval") / 1e12
    rounds = round(duration_s / interval_s) if interval_s > 0 else 0
    if rounds < LEAST or interval_s < 10 * DOWN_S:
        raise TwinplaneError(
            f"a duration of {duration_s:g} s has {rounds} intervals of {interval_s:g} s:"
            f" at least {LEAST} of {10 * DOWN_S:g} s are needed"
        )
    if clock == "virtual":
        from ..soak.virtual import Virtual

        return _follow(Virtual(lsps, seed, refresh, reduction), rounds, interval_s, as_json)
    from ..soak.real import Real

    with Real(lsps, seed, refresh, reduction) as subject:
        return _follow(subject, rounds, interval_s, as_json)


def _follow(subject: Subject, rounds: int, interval_s: float, as_json: bool) -> int:
    done: list[Round] = []
    try:
        for one in soak(subject, rounds, interval_s):
            done.append(one)
            if not as_json:
                _tell(one)
    except KeyboardInterrupt:
        if len(done) < LEAST:
            raise  # nothing can be said of leaks
        print("twinplane: interrupted: judged by what there is", file=sys.stderr)
    verdict = judge(done)
    if as_json:
        found = {**vars(verdict), "good": verdict.good, "rounds": [one.as_dict() for one in done]}
        typer.echo(json.dumps(found))
    else:
        _print(done, verdict)
    return 0 if verdict.good else 1


def _tell(one: Round) -> None:
    rss = max(sample.rss_bytes for sample in one.samples) / 1e6
    up = sum(sample.tunnels_up for sample in one.samples)
    states = sum(sample.state["lsps"] for sample in one.samples)
    print(
        f"{one.number:4}  {one.end_s:10.0f} s  {up} LSPs up  {states} states  {rss:7.1f} MB"
        f"  {one.downs} down by themselves",
        flush=True,
    )


def _print(done: Sequence[Round], verdict: Verdict) -> None:
    if verdict.cpu_share:
        last = {sample.node: sample for sample in done[-1].samples}
        rows = [
            (
                node,
                str(last[node].state["lsps"]),
                str(last[node].state["labels"]),
                f"{last[node].rss_bytes / 1e6:.1f} MB",
                f"{verdict.growth_bytes[node] / 1e6:+.2f} MB",
                f"{share:.2%}",
            )
            for node, share in verdict.cpu_share.items()
        ]
        print_table(["Router", "LSPs", "Labels", "Memory", "Growth", "Processor"], rows, left=1)
    for fault in verdict.faults:
        print(fault)
    print("verdict  " + ("no leak, no drift" if verdict.good else "LEAKS OR DRIFTS"))
