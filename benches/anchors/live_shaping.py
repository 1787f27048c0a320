#!/usr/bin/env python3
"""The rate that a shaper enforces in real time, ours and the kernel's: the same frames, the same wire.

    python3 benches/anchors/live_shaping.py [--disciplines htb,tbf] [--rates 1,10,100] [--seconds 3]

    [source] g0 ---- r0 [device] r1 ---- s0 [sink]

The source offers a quarter more than the rate, in labelled frames of 1000 bytes (without check sequence, as
Linux counts them). `ours`: a router of a lab that swaps the label, with the discipline at its egress port.
`kernel`: what arrives at r0 is redirected to r1 as it is, where the kernel has the same discipline with the
same rate, bucket and queue. The bucket holds what comes in 4 ms, a tick of a kernel with HZ=250, and two
frames at least.

Beside the rates asked for, in Mbit/s, the highest that calibration allows (`top`): what both devices carry
without a discipline and without loss, from this source, less the quarter that is offered in excess.

Of each: the rate that arrives once the bucket is spent, by the kernel's receive stamps at s0; how far it is
off (`error_percent`); median and 99th percentile of how far a gap is off (`gap_p50_us`, `gap_p99_us`), and
the standard deviation of gaps.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path

from anchorlib import FailedError, parser, run_anchor, summary, two_processors
from live_bed import Bed, Counter, bed, check_bed, label_frame, pinned, running, weigh
from live_forward import threaded
from live_lab import check_lab, lab
from live_pacing import capture, records

SOURCE = Path(__file__).with_name("live_paced.py")
SIZE = 1000
MBIT = 1_000_000
LOAD = 1.25
"""What is offered, of the rate."""
ENOUGH, TRIALS = 1.05, 4
"""What the source must really offer, of the rate, and how often it may try."""
BUCKET_S = 0.004
LIMIT_PACKETS = 200
DISCIPLINES = ("htb", "tbf")
SEARCH_FROM_MBPS, SEARCH_STEP, SEARCH_LEAST_MBPS = 10_000.0, 0.85, 10.0
SEARCH_S, CONFIRM_S = 0.4, 1.5
SETTLE_S = 0.3
START_LIMIT_S = 10.0
CLASS_BURST = "burst {bucket} cburst {bucket} quantum 1514"
KERNEL = {
    "htb": (
        "qdisc add dev r1 root handle 1: htb default 1",
        f"class add dev r1 parent 1: classid 1:1 htb rate {{rate}}bit ceil {{rate}}bit {CLASS_BURST}",
        f"qdisc add dev r1 parent 1:1 handle 10: pfifo limit {LIMIT_PACKETS}",
    ),
    "tbf": (
        f"qdisc add dev r1 root handle 1: tbf rate {{rate}}bit burst {{bucket}} limit {LIMIT_PACKETS * SIZE}",
        f"qdisc add dev r1 parent 1:1 handle 10: pfifo limit {LIMIT_PACKETS}",
    ),
}
REDIRECT = (
    "qdisc add dev r0 clsact",
    "filter add dev r0 ingress protocol all u32 match u32 0 0 action mirred egress redirect dev r1",
)
Queue = Mapping[str, object] | None


def bucket(rate: int) -> int:
    """Bytes that may go at once."""
    return max(2 * SIZE, int(rate / 8 * BUCKET_S))


def shaper(discipline: str, rate: int) -> dict[str, object]:
    """Ours, as a lab says it."""
    burst, queue = bucket(rate), {"discipline": "pfifo", "limit": LIMIT_PACKETS}
    if discipline == "tbf":
        return {"discipline": "tbf", "rate": rate, "burst": burst, "queue": queue}
    limits = {"rate": rate, "ceil": rate, "burst": burst, "cburst": burst, "quantum": 1514}
    return {"discipline": "htb", "default": "all", "classes": {"all": {**limits, "queue": queue}}}


# -- devices ----------------------------------------------------------------------------------------


Devices = dict[str, tuple[Bed, bytes]]
"""Wires through a device by name, and the frames that take them."""


def description(driver: str, queues: Mapping[str, Queue]) -> dict[str, object]:
    """A lab: a router with a port for each queue, to a neighbour of that name, and an LSP to each."""
    _, forwarder = two_processors()
    router = {"kind": "router", "rsvp": {"hello": "none"}}  # nobody shall miss the neighbours
    device = {**router, "driver": driver, "cpu": forwarder, "busy": True}
    links: list[dict[str, object]] = [{"endpoints": ["pe1:g0", "p:r0"], "mtu": 1500}]
    for at, (name, queue) in enumerate(queues.items(), 1):
        wanted = {"queue": {"p": queue}} if queue else {}
        links.append({"endpoints": [f"p:r{at}", f"{name}:s0"], "mtu": 1500, **wanted})
    return {
        "nodes": {"pe1": router, "p": device, **dict.fromkeys(queues, router)},
        "links": links,
        "lsps": [{"name": f"to-{name}", "from": "pe1", "to": name, "route": ["p", name]} for name in queues],
    }


@contextmanager
def ours(driver: str, queues: Mapping[str, Queue]) -> Iterator[Devices]:
    """The router of a lab, once its neighbours have signalled the LSPs and are gone."""
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in description(driver, queues).items())
    with lab(text) as made, ExitStack() as opened:
        made.wait_for_lsps("p", len(queues))
        labels = {str(row["to"]): int(row["label"]) for row in made.show("ilm", "p")}
        for name, process in {name: node["pid"] for name, node in made.nodes().items()}.items():
            if name == "p":
                weigh(process)
            else:
                os.kill(process, signal.SIGKILL)
        source, device = made.namespace("pe1"), made.namespace("p")
        mac = device.do("cat", "/sys/class/net/r0/address").strip()
        into = opened.enter_context(closing(Counter(device, "r0")))
        found = {}
        for name in queues:
            sink = made.namespace(name)
            out = opened.enter_context(closing(Counter(sink, "s0")))
            found[name] = (Bed(source, device, sink, into, out), label_frame(labels[name], mac, SIZE))
        yield found


@contextmanager
def kernel(discipline: str | None = None, rate: int = 0) -> Iterator[tuple[Bed, bytes]]:
    """The kernel as the device: a thread of it, with the place and weight of our router, polls r0."""
    with bed() as wire:
        threaded(wire)
        for command in (*REDIRECT, *(KERNEL[discipline] if discipline else ())):
            wire.device.do("tc", *command.format(rate=rate, bucket=bucket(rate)).split())
        yield wire, label_frame(size=SIZE)


# -- one measurement --------------------------------------------------------------------------------


def offer(wire: Bed, frame: bytes, mbps: float, seconds: float) -> float:
    """Send so much for so long. Returns what the source says that it sent, in Mbit/s."""
    keeper, _ = two_processors()
    command = [sys.executable, str(SOURCE), "g0", "--frame", frame.hex(), "--seconds", str(seconds)]
    command += ["--packets-per-s", str(mbps * MBIT / 8 / SIZE)]
    with running(wire.source.wrap(pinned(command, keeper))) as source:
        try:
            told, words = source.communicate(timeout=seconds + START_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise FailedError("The frame source did not end.") from None
        if source.returncode:
            raise FailedError(words.strip() or f"The frame source ended with code {source.returncode}.")
    return float(told) * SIZE * 8 / MBIT


def passes(wire: Bed, frame: bytes, mbps: float, seconds: float) -> tuple[float, bool]:
    """What was really offered, in Mbit/s, and whether all of it arrived."""
    into, out = wire.offered.frames(), wire.delivered.frames()
    sent = offer(wire, frame, mbps, seconds)
    time.sleep(SETTLE_S)
    return sent, 0 < wire.offered.frames() - into <= wire.delivered.frames() - out


def loss_free(wire: Bed, frame: bytes) -> float:
    """The highest rate in Mbit/s that a device without a discipline carries and loses nothing."""
    mbps = SEARCH_FROM_MBPS
    while mbps > SEARCH_LEAST_MBPS:
        sent, whole = passes(wire, frame, mbps, SEARCH_S)
        if whole:
            sent, whole = passes(wire, frame, sent, CONFIRM_S)
        if whole:
            return sent
        mbps = min(mbps, sent) * SEARCH_STEP
    raise FailedError("The device loses frames at any rate.")


def calibrate(driver: str) -> dict[str, float]:
    """What each device carries."""
    with kernel() as (wire, frame):
        found = {"kernel_calibrated_mbps": loss_free(wire, frame)}
    with ours(driver, {"free": None}) as devices:
        return found | {"ours_calibrated_mbps": loss_free(*devices["free"])}


def found_of(taken: Sequence[tuple[int, int]], rate: int) -> dict[str, float]:
    """What the stamps (nanoseconds) and lengths of the frames that arrived say of a rate (bit/s)."""
    steady = taken[len(taken) // 4 :]  # the bucket is spent
    if len(steady) < 50:
        raise FailedError(f"Only {len(taken)} frames arrived.")
    stamps = [stamp for stamp, _ in steady]
    measured = sum(length for _, length in steady[1:]) * 8e9 / (stamps[-1] - stamps[0])
    gaps = [(after - before) / 1e3 for before, after in pairwise(stamps)]
    nominal = SIZE * 8e6 / rate
    off = sorted(abs(gap - nominal) for gap in gaps)
    return {
        "mbps": measured / MBIT,
        "residual_percent": (measured / rate - 1) * 100,
        "error_percent": abs(measured / rate - 1) * 100,
        "gap_p50_us": off[len(off) // 2],
        "gap_p99_us": off[len(off) * 99 // 100],
        "gap_deviation_us": statistics.pstdev(gaps),
    }


def sample(name: str, wire: Bed, frame: bytes, rate: int, seconds: float) -> dict[str, float]:
    """One device at one rate, once more if the machine did not let the source offer enough."""
    for _ in range(TRIALS):
        with tempfile.TemporaryDirectory(prefix="twinplane-shaping-") as folder:
            path = Path(folder) / "frames.pcap"
            with capture(wire.sink, path, "ip or mpls"):
                sent = offer(wire, frame, LOAD * rate / MBIT, seconds)
            try:
                found = found_of(list(records(path)), rate)
            except FailedError as error:
                raise FailedError(f"{name}: {error}") from error
        if sent >= ENOUGH * rate / MBIT:
            break
    else:
        if name.startswith("ours"):
            raise FailedError(f"{name}: the source offered no more than {sent:.0f} Mbit/s.")
    return {**found, "offered_mbps": sent}


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Both devices with each discipline at each rate."""
    rates: dict[str, int] = {f"{mbps:g}": int(mbps * MBIT) for mbps in options.rates}
    result: dict[str, object] = {"frame_bytes": SIZE}
    if not options.no_top:
        calibrated = calibrate(options.driver)
        rates["top"] = int(min(calibrated.values()) / LOAD * MBIT)
        result |= {**calibrated, "top_mbps": rates["top"] / MBIT}
    cases = {f"{one}-{name}": (one, rate) for one in options.disciplines for name, rate in rates.items()}
    taken: dict[str, list[dict[str, float]]] = {}

    def take(name: str, wire: Bed, frame: bytes, rate: int) -> None:
        taken.setdefault(name, []).append(sample(name, wire, frame, rate, options.seconds))

    for _ in range(options.runs):
        # One after the other: our router, which polls, would be in the kernel's way.
        for case, (discipline, rate) in cases.items():
            with kernel(discipline, rate) as (wire, frame):
                take(f"kernel-{case}", wire, frame, rate)
        with ours(options.driver, {case: shaper(*told) for case, told in cases.items()}) as devices:
            for case, (_, rate) in cases.items():
                take(f"ours-{case}", *devices[case], rate)
    for name, samples in taken.items():
        for key in samples[0]:
            value = summary([one[key] for one in samples])["median"]
            result[f"{name}-{key}".replace("-", "_")] = value
    return result


def check() -> None:
    """Raise `MissingError` in one sentence unless interfaces and labs can be made here."""
    check_bed({"tcpdump": "tcpdump", "tc": "iproute2"})
    check_lab()


def main() -> int:
    """Command line."""

    def rates(text: str) -> list[float]:
        values = [float(word) for word in text.split(",")]
        if not values or min(values) < 0.5 or max(values) > 100_000:
            raise argparse.ArgumentTypeError("0.5 to 100000 Mbit/s each")
        return values

    def disciplines(text: str) -> list[str]:
        for word in text.split(","):
            if word not in DISCIPLINES:
                raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(DISCIPLINES)}")
        return text.split(",")

    options = parser("Measure the rate that a shaper enforces.", runs=1, seconds=3.0)
    options.add_argument("--disciplines", type=disciplines, default=list(DISCIPLINES), help="of htb,tbf")
    options.add_argument("--rates", type=rates, default=[1.0, 10.0, 100.0], help="Mbit/s each")
    options.add_argument("--no-top", action="store_true", help="leave the calibrated rate away")
    options.add_argument("--driver", choices=("packet", "xdp"), default="packet", help="of our router")
    chosen = options.parse_args()
    return run_anchor(chosen, ["iproute2", "ethtool", "tcpdump"], check, measure)


if __name__ == "__main__":
    sys.exit(main())
