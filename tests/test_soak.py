"""A network that runs for long: what is left after each interval is what there was after the first."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
from typing import Any

import pytest
from support import children, warm
from twinplane.soak import Round, judge, soak
from twinplane.soak.programme import STATE, Sample
from twinplane.soak.virtual import Virtual


@pytest.mark.parametrize("reduction", [False, True])
def test_nothing_leaks_or_drifts_in_two_hours(reduction: bool) -> None:
    rounds = list(soak(Virtual(40, reduction=reduction), 6, 1200.0))
    verdict = judge(rounds)
    assert verdict.good, verdict.faults
    assert [round(one.end_s) for one in rounds] == [1200 * n for n in range(1, 7)]
    states = [{sample.node: sample.state for sample in one.samples} for one in rounds]
    assert states[0]["a"]["lsps"] > 80 and states[0]["b"]["ilm"] >= 30
    assert {sample.node: sample.tunnels_up for sample in rounds[-1].samples} == {
        "a": 41,
        "b": 0,
        "c": 40,
        "d": 0,
    }


def made(count: int, **changes: Any) -> list[Round]:
    sample = Sample("r", dict.fromkeys(STATE, 7), 7, 20_000_000, 0.0)
    rounds = [
        Round(n, 60.0 * n, [dataclasses.replace(sample, cpu_s=0.6 * n)], 0, 0) for n in range(1, count + 1)
    ]
    if changes:
        last = dataclasses.replace(rounds[-1].samples[0], **changes)
        rounds[-1] = dataclasses.replace(rounds[-1], samples=[last])
    return rounds


def test_verdicts() -> None:
    good = judge(made(6))
    assert good.good and good.cpu_share["r"] == pytest.approx(0.01) and good.growth_bytes == {"r": 0}
    for rounds, sentence in (
        (made(2), "2 intervals are too few to judge by: at least 3 are needed"),
        (made(6, rss_bytes=22_000_000), "router 'r': memory grows: 20.0 to 22.0 MB"),
        (made(6, tunnels_up=6), "router 'r', interval 6: 6 LSPs up, 7 before"),
        (
            made(6, state={**dict.fromkeys(STATE, 7), "labels": 8}),
            "router 'r', interval 6: labels is 8, 7 at first",
        ),
        (
            made(6, state={**dict.fromkeys(STATE, 7), "timers": 99}),
            "router 'r': timers grows: up to 99 in the last third, 7 before",
        ),
        (
            [*made(5), Round(6, 360.0, made(6)[-1].samples, 2, 0)],
            "interval 6: 2 LSPs went down by themselves",
        ),
        ([*made(5), Round(6, 360.0, made(6)[-1].samples, 0, 3)], "3 packets of the steady flow got lost"),
    ):
        assert judge(rounds).faults == [sentence]


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return warm.twinplane("soak", *words)


def test_the_command() -> None:
    done = command("--duration", "30 min", "--interval", "10 min", "--lsps", "4", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["good"] and len(found["rounds"]) == 3
    for words, sentence in (
        (("--clock", "sun"), "--clock sun: virtual or wall"),
        (("--lsps", "0"), "--lsps 0: at least 1 is needed"),
        (("--duration", "10 s"), "at least 3 of 20 s are needed"),
        (("--duration", "soon"), "duration 'soon': a number and a unit are needed"),
    ):
        done = command(*words)
        assert done.returncode == 2 and sentence in done.stderr and len(done.stderr.splitlines()) == 1


def test_interrupted_before_anything_can_be_judged() -> None:
    child = children.twinplane("soak", "--lsps", "200", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert child.returncode == 130 and said == b"twinplane: interrupted\n"
