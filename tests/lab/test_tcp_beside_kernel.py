"""TCP in virtual time beside the kernel's over the same links: a few settings, or all of them by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import campaign
from support.needs import need
from twinplane.errors import TwinplaneError
from twinplane.validation import tcp
from twinplane.validation.tcp import beside, figure, page, settings
from typer.testing import CliRunner

PAGE = Path(__file__).parents[2] / "docs" / "models" / "tcp-kernel.md"
KNOWN = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
QUICK = ("window of 16 segments", "10 segments", "100 segments")
"""Six seconds. With TWINPLANE_CAMPAIGN=long all settings that have a bound are taken: a minute and a half."""
SLOWER = 0.25
"""By so much the kernel may be slower on a machine that does other work; it has no reason to be faster."""


def is_near(seen: tcp.Pair) -> bool:
    """Are both within the bound, apart from longer round trips on a machine that does other work?"""
    within = seen.setting.within
    assert within is not None
    return abs(seen.in_round_trips or 0.0) <= within and -SLOWER <= seen.completion <= within


def chosen() -> list[tcp.Setting]:
    bound = [one for one in tcp.SETTINGS if one.within is not None]
    return bound if campaign.scaled(1) > 1 else [one for one in bound if one.name in QUICK]


@pytest.mark.parametrize("setting", chosen(), ids=lambda setting: setting.name)
def test_both_take_as_long(setting: tcp.Setting) -> None:
    need("labs")
    if setting.congestion not in KNOWN.read_text().split():
        pytest.skip(f"this kernel has no {setting.congestion}")
    for _ in range(beside.ATTEMPTS):
        seen = tcp.compare(setting, attempts=1)
        if is_near(seen):
            break
    assert is_near(seen), seen
    if setting.kind != "loss":
        assert (seen.ours.retransmitted, seen.kernel.retransmitted) == (0, 0)
    # The same windows: what was in flight at most, as often as the kernel was asked.
    ours, kernel = (max(count for _, count in one.in_flight) for one in (seen.ours, seen.kernel))
    assert kernel <= ours + 1 and kernel >= 0.5 * ours, (kernel, ours)


def test_the_settings_are_those_that_are_claimed() -> None:
    kinds = [setting.kind for setting in tcp.SETTINGS if setting.within is not None]
    assert len(kinds) == 10 and kinds.count("window") == 4 and kinds.count("loss") >= 2
    short = [setting for setting in tcp.SETTINGS if setting.kind == "short"]
    assert [setting.bytes // settings.MSS for setting in short] == [10, 100]
    bounds = {setting.kind: setting.within for setting in tcp.SETTINGS}
    assert bounds == {"window": 0.03, "short": 0.03, "link": 0.03, "loss": 0.15, "beyond": None}


def test_ours_follows_the_window_and_the_round_trip() -> None:
    """By arithmetic: a window in each round trip, and two segments in the first one."""
    limited = next(one for one in tcp.SETTINGS if one.name == "window of 8 segments")
    course = beside.by_ours(limited)
    rounds = limited.bytes / limited.window
    assert course.completion_s == pytest.approx(rounds * limited.round_trip_s, rel=0.1)
    assert course.throughput_bps(limited.bytes) == pytest.approx(
        limited.window * 8 / course.round_trip_s, rel=0.03
    )
    short = next(one for one in tcp.SETTINGS if one.name == "10 segments")
    # The handshake; 2, 4 and 4 segments; and half a round trip for the last ones.
    assert beside.by_ours(short).completion_s == pytest.approx(3.5 * short.round_trip_s, rel=0.05)


def made_up(completion_s: float, rate: float) -> beside.Course:
    points = [(at / 100, rate * at / 100) for at in range(1, 400)]
    return beside.Course(completion_s, 0, 0.04, points, [(0.1, 2), (0.6, 7), (0.7, 9)])


def test_when_both_are_near_enough() -> None:
    setting = replace(tcp.SETTINGS[0], bytes=300_000)
    pair = tcp.Pair(setting, made_up(3.0, 100_000), made_up(3.0, 100_000))
    assert pair.holds and pair.throughput == pytest.approx(0)
    assert tcp.Pair(setting, made_up(3.08, 100_000), pair.kernel).holds
    assert not tcp.Pair(setting, made_up(3.1, 100_000), pair.kernel).holds
    slow = tcp.Pair(setting, made_up(3.0, 96_000), pair.kernel)
    assert not slow.holds and slow.throughput == pytest.approx(-0.04)
    lossy = replace(setting, kind="loss")
    assert replace(slow, setting=lossy).holds and page.word(slow) == "DOES NOT HOLD"
    assert page.word(replace(slow, setting=replace(setting, kind="beyond"))) == "no bound"
    busy = replace(pair, kernel=replace(pair.kernel, completion_s=3.3, round_trip_s=0.044))
    assert busy.in_round_trips == pytest.approx(0) and page.word(busy) == "MACHINE TOO BUSY"
    assert is_near(busy) and not is_near(replace(busy, kernel=replace(busy.kernel, round_trip_s=0.04)))
    assert pair.kernel.most(4, 1.0) == [2, None, 9, None]
    assert page.verdict([slow, pair]) == "verdict  1 OF 2 SETTINGS DO NOT HOLD"
    assert page.as_dict(pair)["holds"] is True
    (ours,) = (one for one in figure.chart([pair, replace(slow, setting=lossy)]).curves if one.name == "ours")
    assert (list(ours.x), list(ours.y)) == (pytest.approx([0.1, 0.6, 0.7]), [2, 7, 9])


def test_the_page_claims_what_is_accepted() -> None:
    kept = PAGE.read_text()
    for text in (page.INTRODUCTION, page.IN_FLIGHT, page.FIGURE, page.DIFFERENCES):
        assert text.strip() in kept
    assert "](tcp-kernel.svg)" in kept
    drawn = PAGE.with_suffix(".svg").read_text()
    assert all(one.name in drawn for one in tcp.SETTINGS if one.kind == "loss")
    rows = [line for line in kept.splitlines() if line.endswith((" holds |", " no bound |"))]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [one.name for one in tcp.SETTINGS]
    assert "All 10 settings with a bound hold: 7 without loss within 3%, 3 with loss within 15%." in kept


def test_the_command_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    from twinplane.cli.app import app
    from twinplane.lab import netns

    monkeypatch.setattr(netns, "may_make", lambda: False)
    done = CliRunner().invoke(app, ["validate", "--tcp"])
    assert isinstance(done.exception, TwinplaneError) and "--tcp: making a lab needs root" in str(
        done.exception
    )
