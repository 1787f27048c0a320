#!/usr/bin/env python3
"""Laws of growth: what building and running takes as networks get larger, over three decades.

    .venv/bin/python benches/growth.py [--laws routers,flows] [--repeat 3] [--most 100000] [--out FILE.json]
                                                                  all of it: about 2 minutes for each repeat
    .venv/bin/python benches/growth.py --point routers 100000     one network, as JSON
    .venv/bin/python benches/growth.py --page                     figure and page of what was measured

Each network is described, built and run in a process of its own, which says how many seconds of the
processor each step took and how much memory the process had at most. Seconds of the processor are what other
work changes least; of several rounds the median counts. Build for use first (`make setup`). The result goes
to `docs/models/growth.json`, from which `growth_page.py` makes page and figure. Threads are measured by the
clock, too, and only on a quiet machine that says something.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run import machine, revision

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "models" / "growth.json"
LIMIT_S = 3600
BEGIN_S = 0.01
"""When flows begin."""
PERIOD_S = 1.024e-3
"""Between two packets of a flow of 1 Mbit/s and 128 bytes."""
ROUNDS_PACKETS = 300
"""Packets of each flow where threads meet more or less often: enough for a run of about a second. In one of a
tenth of that, much is over before devices are shared out by what they have to do."""
STEPS = ("describe_s", "build_s", "run_s")


@dataclass(frozen=True)
class Law:
    """What is made larger, how large, and how a network of a size is described."""

    unit: str
    sizes: tuple[int, ...]
    make: Callable[[Any, int], tuple[Any, float]]
    """Takes the package and a size, and returns a network and the time in seconds that it is run to."""
    told: str


def decades(first: int, last: int) -> tuple[int, ...]:
    """1, 3, 10, 30, and so on, from the first to the last."""
    found, size = [], first
    while size <= last:
        found.append(size)
        size = size * 3 if str(size)[0] == "1" else size // 3 * 10
    return tuple(found)


def ring(tp: Any, count: int, delay: str = "100 us") -> tuple[Any, list[Any]]:
    """Routers in a ring."""
    net = tp.Network(seed=1)
    routers = [net.router(f"r{place}") for place in range(count)]
    for place, router in enumerate(routers):
        net.link(router, routers[(place + 1) % count], rate="10 Gbit/s", delay=delay)
    return net, routers


def send(net: Any, routers: list[Any], flows: int, hops: Callable[[int], int], packets: float) -> float:
    """Flows from routers in turn, so many links long, of about so many packets; returns when all arrived."""
    stop = BEGIN_S + packets * PERIOD_S
    for place in range(flows):
        source = place * 7 % len(routers)
        sink = routers[(source + hops(place)) % len(routers)]
        start = BEGIN_S + PERIOD_S * place / flows
        net.flow(routers[source], sink, name=f"f{place}", rate="1 Mbit/s", size=128, start=start, stop=stop)
    return stop + 0.1


def packet_hops(tp: Any, size: int) -> tuple[Any, float]:
    """200 flows, 1 to 30 links long, send as long as it takes."""
    net, routers = ring(tp, 100)
    return net, send(net, routers, 200, lambda place: 1 + place % 30, size / 200 / 15.5)


def many_routers(tp: Any, size: int) -> tuple[Any, float]:
    """A flow from each router to the next, of two packets."""
    net, routers = ring(tp, size)
    return net, send(net, routers, size, lambda _: 1, 2)


def chords(tp: Any, size: int) -> tuple[Any, float]:
    """A ring with a link across for every fifth router, and nothing to do."""
    net, routers = ring(tp, size)
    for place in range(0, size, 5):
        net.link(routers[place], routers[(place + size // 2) % size], rate="10 Gbit/s", delay="100 us")
    return net, BEGIN_S


def many_flows(tp: Any, size: int) -> tuple[Any, float]:
    """Flows 1 to 30 links long, of two packets each."""
    net, routers = ring(tp, 100)
    return net, send(net, routers, size, lambda place: 1 + place % 30, 2)


def many_lsps(tp: Any, size: int) -> tuple[Any, float]:
    """LSPs of five links, signalled at once."""
    net, routers = ring(tp, 100)
    for place in range(size):
        route = [routers[(place + hop) % 100] for hop in range(1, 6)]
        routers[place % 100].lsp(f"l{place}", route[-1], route=route, record_route=False)
    return net, 5.0


def many_routes(tp: Any, size: int) -> tuple[Any, float]:
    """Static routes at one of two routers, and traffic to one of the prefixes beyond."""
    net = tp.Network(seed=1)
    prefixes = (f"20.{place >> 16 & 255}.{place >> 8 & 255}.{place & 255}/32" for place in range(size))
    a = net.router("a", routes=[{"prefix": prefix, "via": "b"} for prefix in prefixes])
    b = net.router("b")
    net.link(a, b)
    net.flow(a, b, rate="1 Mbit/s", size=128, start=BEGIN_S, stop=BEGIN_S + 1)
    return net, 1.1


def long_links(tp: Any, size: int) -> tuple[Any, float]:
    """100 routers, links of 1 ms, 2,000 flows: what two threads are good for."""
    net, routers = ring(tp, 100, "1 ms")
    return net, send(net, routers, 2_000, lambda place: 1 + place % 30, packets_of(size))


def packets_of(packet_hops: int) -> float:
    """Packets of each of 2,000 flows, 15.5 links long on average, that make so many packet-hops."""
    return packet_hops / 2_000 / 15.5


def short_links(tp: Any, size: int) -> tuple[Any, float]:
    """The same with links of as many microseconds: the shorter, the more often threads meet."""
    net, routers = ring(tp, 100, f"{size} us")
    return net, send(net, routers, 2_000, lambda place: 1 + place % 30, ROUNDS_PACKETS)


PACKET_HOPS = (40_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 40_000_000)
"""From as many as give each flow a packet to as many as take some seconds."""

LAWS = {
    "packet-hops": Law("packet-hops", decades(10_000, 10_000_000), packet_hops, "100 routers, 200 flows"),
    "routers": Law("routers", decades(100, 100_000), many_routers, "a ring, a flow from each to the next"),
    "flows": Law("flows", decades(100, 100_000), many_flows, "100 routers, flows of two packets"),
    "lsps": Law("LSPs", decades(100, 100_000), many_lsps, "100 routers, LSPs of five links"),
    "routes": Law("routes", decades(100, 100_000), many_routes, "static routes of one router"),
    "threads": Law("packet-hops", PACKET_HOPS, long_links, "links of 1 ms"),
    "rounds": Law("microseconds", decades(1, 1_000), short_links, "9.3 million hops, links of so long"),
    "chords": Law("routers", (10_000,), chords, "a ring with links across, built"),
}
THREADED = ("threads", "rounds")
"""Laws that are measured with one thread and with two, whether or not two pay."""


def point(law: str, size: int, threads: int) -> dict[str, Any]:
    """Describe, build and run one network in this process."""
    import twinplane as tp
    from twinplane.network.trying import resident

    before = resident()
    marks = [time.process_time()]
    net, end_s = LAWS[law].make(tp, size)
    marks.append(time.process_time())
    core = net.engine.start()
    marks.append(time.process_time())
    clock = time.monotonic()
    core.set_threads(threads, True)
    core.run_until(round(end_s * 1e12))
    wall_s = time.monotonic() - clock
    marks.append(time.process_time())
    found: dict[str, Any] = {step: b - a for step, a, b in zip(STEPS, marks, marks[1:], strict=False)}
    return {
        **found,
        "law": law,
        "size": size,
        "threads": core.threads()[0],
        "run_wall_s": wall_s,
        "memory": resident("VmHWM") - before,
        "events": core.events_done(),
        "digest": core.digest(),
    }


def asked(law: str, size: int, threads: int) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--point", law, str(size), "--threads", str(threads)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise SystemExit(f"error: {law} of {size:,}: {why}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def middle(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """One entry of several: medians of what was measured."""
    first = rounds[0]
    keys = (*STEPS, "run_wall_s", "memory")
    return {**first, **{key: statistics.median(one[key] for one in rounds) for key in keys}}


def measure(laws: Iterable[str], repeat: int, most: int | None) -> list[dict[str, Any]]:
    """All points of the laws, round by round, so that a slow minute meets all of them."""
    points = [
        (law, size, threads)
        for law in laws
        for size in LAWS[law].sizes
        if most is None or size <= most
        for threads in ((1, 2) if law in THREADED else (1,))
    ]
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for turn in range(repeat):
        for one in points:
            found.setdefault(one, []).append(asked(*one))
            spent = sum(found[one][-1][step] for step in STEPS)
            print(
                f"{turn + 1}/{repeat} {one[0]} {one[1]:,} x{one[2]}: {spent:.2f} s",
                file=sys.stderr,
                flush=True,
            )
    return [middle(rounds) for rounds in found.values()]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Laws of growth.")
    parser.add_argument("--laws", default=",".join(LAWS), help=f"of {','.join(LAWS)}")
    parser.add_argument("--repeat", type=int, default=3, help="times that each network is run (3)")
    parser.add_argument("--most", type=int, help="leave out what is larger")
    parser.add_argument("--out", type=Path, default=OUT, help="where the figures go")
    parser.add_argument("--point", nargs=2, metavar=("LAW", "SIZE"), help="run one network in this process")
    parser.add_argument("--threads", type=int, default=1, help="of --point: threads that work on it")
    parser.add_argument("--page", action="store_true", help="measure nothing: make figure and page")
    options = parser.parse_args()
    laws = options.laws.split(",") if options.point is None else options.point[:1]
    if unknown := [law for law in laws if law not in LAWS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(LAWS)}")
    if options.point is not None:
        begin = time.monotonic()
        found = point(options.point[0], int(options.point[1]), options.threads)
        made_s = found["describe_s"] + found["build_s"]
        print(json.dumps({**found, "made_s": made_s, "wall_s": time.monotonic() - begin}))
        return 0
    if not options.page:
        kept = json.loads(options.out.read_text()) if options.out.exists() else {"points": []}
        points = [one for one in kept["points"] if one["law"] not in laws]
        of_now = {"revision": revision(), "repeat": options.repeat}
        points += [{**one, **of_now} for one in measure(laws, options.repeat, options.most)]
        whole = {"machine": machine(), "points": points}
        options.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    if options.page or options.out == OUT:
        import growth_page

        growth_page.write(json.loads(options.out.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
