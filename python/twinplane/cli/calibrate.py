"""``twinplane calibrate``: what the tester's ports do by themselves."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import typer

from ..errors import TwinplaneError
from ..experiments.labs.bench import LinkBench, given_pair, own_pair
from ..experiments.labs.urgency import urgent
from ..experiments.lsp_flap.parameters import line_rate_mbps
from ..measure.calibration import Calibration, floor, name_of, search, write
from ..results.real import DRIVERS
from ..units import format_rate, format_time
from .tables import print_table


def sizes_of(text: str) -> list[int]:
    """``64,512`` as numbers."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise TwinplaneError(f"--size {text}: bytes of a frame, or several as in 64,512,1500") from None


def calibrate_ports(
    interfaces: Sequence[str],
    netns: Sequence[str],
    sizes: Sequence[int],
    rate_mbps: float | None,
    link_gbps: float,
    driver: str,
    busy: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Calibrate for each size of frame; one line for each."""
    if driver not in DRIVERS:
        raise TwinplaneError(f"--driver {driver}: one of {', '.join(DRIVERS)}")
    for size in sizes:
        if not 64 <= size <= 9018:
            raise TwinplaneError(f"--size {size}: an Ethernet frame has at least 64 bytes (64 to 9018)")
    found: list[Calibration] = []
    with _bench(interfaces, netns, driver, busy, link_gbps) as bench, urgent():
        if not as_json:
            typer.echo(f"calibrate  {name_of(bench.describe())}, back to back")
        for size in sizes:
            begin = time.monotonic()
            most = line_rate_mbps(size) * 1e6 * link_gbps
            wanted = None if rate_mbps is None else rate_mbps * 1e6
            found.append(floor(bench, search(bench, size, most), wanted, begin))
    if out is not None:
        write(out, found)
    if as_json:
        typer.echo(json.dumps([one.as_dict() for one in found]))
    else:
        _print(found)
        if out is not None:
            typer.echo(f"kept     {out}  (twinplane run ... --calibration {out})")
    return 0


def _bench(
    interfaces: Sequence[str], netns: Sequence[str], driver: str, busy: bool, link_gbps: float
) -> AbstractContextManager[LinkBench]:
    rate = f"{link_gbps} Gbit/s"
    if not interfaces:
        if netns:
            raise TwinplaneError("--netns says where interfaces are: none is given")
        return own_pair(driver, busy, rate)
    if len(interfaces) != 2:
        raise TwinplaneError(
            "calibrate: two interfaces that are joined to each other, or none (a veth pair is made)"
        )
    if interfaces[0] == interfaces[1] and len(netns) < 2:
        raise TwinplaneError(
            f"calibrate: {interfaces[0]} is named twice: two interfaces joined to each other"
        )
    if len(netns) not in (0, 1, 2):
        raise TwinplaneError("--netns: one for both interfaces, or one for each")
    places = [None, None] if not netns else list(netns) * (1 if len(netns) == 2 else 2)
    return given_pair(list(zip(interfaces, places, strict=True)), driver, busy, rate)


def _print(found: Sequence[Calibration]) -> None:
    titles = ["size (B)", "loss-free", "frames/s", "measured at", "delay mean", "50 %", "99 % (floor)", "max"]
    titles += ["pacing 50 %", "99 %", "max"]
    print_table(titles, [_row(one) for one in found])


def _row(one: Calibration) -> list[str]:
    free, per_s = one.search.rate_bps, one.search.packets_per_s
    delay, late = one.floor.delay, one.floor.lateness
    times = [
        delay.mean_s,
        delay.p50_s,
        delay.p99_s,
        delay.max_s,
        late.p50_s,
        late.p99_s,
        late.max_s,
    ]
    return [
        str(one.floor.size),
        format_rate(free),
        "-" if per_s is None else f"{per_s:,.0f}",
        format_rate(one.floor.rate_bps),
        *(format_time(value) for value in times),
    ]
