#!/usr/bin/env python3
"""How evenly a source of small packets sends: |gap - nominal gap| of successive packets over a veth.

    python3 benches/anchors/live_pacing.py --by mgen [--rates 1000,10000,100000] [--seconds 3] [--runs 1]

`mgen`:      MGEN as it comes; `mgen-precise` with its `precise on`, which spins.
`d-itg`:     ITGSend to ITGRecv.
`twinplane`: the source of the tester under the wall clock, spinning.

One receiver for all: tcpdump at the far end of the veth, on the other processor, with the kernel's receive
stamps in nanoseconds (a veth's are made on the sender's processor as the frame is handed over). Medians and
99th percentiles are of all gaps of a run; the first tenth is left out, since programs start up in it.
"""

from __future__ import annotations

import argparse
import re
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from anchorlib import FailedError, MissingError, end, parser, run_anchor, summary, two_processors
from live_bed import AWAY_MAC, SINK_MAC, SINK_NET, Namespace, check_bed, join, namespaces, pinned, running

BY = {
    "mgen": {"mgen": "mgen"},
    "mgen-precise": {"mgen": "mgen"},
    "d-itg": {"ITGSend": "d-itg", "ITGRecv": "d-itg"},
    "twinplane": {},
}
SOURCE = Path(__file__).resolve().parents[2] / "target/release/examples/bench_live_pacing"
PAYLOAD_BYTES = 64
PORT = 5000
SNAP_BYTES = 64
MAGIC_NS = 0xA1B23C4D
START_S, DRAIN_S = 0.7, 0.5
DROPPED = re.compile(r"(\d+) packets? dropped by kernel")


@contextmanager
def capture(space: Namespace, path: Path, what: str = f"(udp and dst port {PORT}) or mpls") -> Iterator[None]:
    """Capture what arrives at s0, and refuse a capture with holes."""
    keeper, _ = two_processors()
    command = [
        *("tcpdump", "-i", "s0", "-Q", "in", "-n", "-w", str(path), "-s", str(SNAP_BYTES), "-B", "262144"),
        *("--time-stamp-precision=nano", what),
    ]
    with running(space.wrap(pinned(command, keeper))) as process:
        time.sleep(START_S)
        yield
        time.sleep(DRAIN_S)
        end(process)
        words = process.stderr.read() if process.stderr else ""
    found = DROPPED.search(words)
    if found is None or int(found[1]):
        raise FailedError(f"tcpdump lost {found[1] if found else 'all'} packets.")


def records(path: Path) -> Iterator[tuple[int, int]]:
    """Receive stamps of a capture file, in nanoseconds, and lengths of the frames."""
    data = path.read_bytes()
    if len(data) < 24 or struct.unpack_from("<I", data)[0] != MAGIC_NS:
        raise FailedError("tcpdump wrote no capture with nanoseconds.")
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, held, length = struct.unpack_from("<IIII", data, at)
        yield seconds * 1_000_000_000 + fraction, length
        at += 16 + held


def arrivals(path: Path) -> list[int]:
    """Receive stamps of a capture file, in nanoseconds."""
    return [stamp for stamp, _ in records(path)]


def errors(stamps: list[int], rate: int) -> dict[str, float]:
    """Median and 99th percentile of |gap - nominal|, in microseconds, and the rate that was reached."""
    steady = stamps[len(stamps) // 10 :]
    if len(steady) < 100:
        raise FailedError(f"Only {len(stamps)} packets arrived.")
    nominal = 1e9 / rate
    ordered = sorted(abs(b - a - nominal) / 1e3 for a, b in pairwise(steady))
    return {
        "p50_us": ordered[len(ordered) // 2],
        "p99_us": ordered[len(ordered) * 99 // 100],
        "kpps": (len(steady) - 1) / (steady[-1] - steady[0]) * 1e6,
    }


def send_mgen(source: Namespace, rate: int, seconds: float, *, precise: bool) -> None:
    """MGEN with one periodic flow."""
    _, sender = two_processors()
    flow = f"ON 1 UDP DST {SINK_NET}.2/{PORT} PERIODIC [{rate} {PAYLOAD_BYTES}]"
    mode = ["precise", "on"] if precise else []
    command = ["mgen", "ipv4", *mode, "output", "/dev/null", "event", flow]
    with running(source.wrap(pinned(command, sender))) as process:
        time.sleep(seconds)
        if process.poll() is not None:
            raise FailedError(f"mgen ended early with code {process.returncode}.")


def send_ditg(source: Namespace, sink: Namespace, rate: int, seconds: float) -> None:
    """ITGSend with one constant flow to ITGRecv."""
    keeper, sender = two_processors()
    flow = ["-T", "UDP", "-C", str(rate), "-c", str(PAYLOAD_BYTES), "-rp", str(PORT)]
    command = ["ITGSend", "-a", f"{SINK_NET}.2", *flow, "-t", str(int(seconds * 1000))]
    with tempfile.TemporaryDirectory(prefix="twinplane-ditg-") as folder:
        receiver = ["sh", "-c", f"cd {folder} && exec ITGRecv"]
        with running(sink.wrap(pinned(receiver, keeper))):
            time.sleep(START_S)
            with running(
                source.wrap(pinned(["sh", "-c", f"cd {folder} && exec {' '.join(command)}"], sender))
            ):
                time.sleep(seconds + DRAIN_S)


def send_twinplane(source: Namespace, sink: Namespace, rate: int, seconds: float) -> None:
    """Our source under the wall clock; the far end signals the LSP and is gone before the first packet."""
    _, sender = two_processors()
    command = [str(SOURCE), "--interface", "g0", "--rate", str(rate), "--seconds", str(seconds)]
    command += ["--far-netns", sink.path(), "--far-interface", "s0"]
    with running(source.wrap(pinned(command, sender))) as process:
        try:
            _, words = process.communicate(timeout=seconds + 20)
        except subprocess.TimeoutExpired:
            raise FailedError("The source did not end.") from None
        if process.returncode != 0:
            raise FailedError(words.strip() or f"The source ended with code {process.returncode}.")


def sample(by: str, rate: int, seconds: float) -> dict[str, float]:
    """One run at one rate."""
    with (
        namespaces("source", "sink") as (source, sink),
        tempfile.TemporaryDirectory(prefix="twinplane-pacing-") as folder,
    ):
        join(source, "g0", sink, "s0")
        sink.do("ip", "link", "set", "s0", "address", SINK_MAC)
        source.do("ip", "address", "add", f"{SINK_NET}.1/24", "dev", "g0")
        path = Path(folder) / "gaps.pcap"
        if by == "d-itg":
            sink.do("ip", "address", "add", f"{SINK_NET}.2/24", "dev", "s0")
        else:
            source.do("ip", "neighbor", "add", f"{SINK_NET}.2", "lladdr", AWAY_MAC, "dev", "g0")
        with capture(sink, path):
            if by == "d-itg":
                send_ditg(source, sink, rate, seconds)
            elif by == "twinplane":
                send_twinplane(source, sink, rate, seconds)
            else:
                send_mgen(source, rate, seconds, precise=by == "mgen-precise")
        return errors(arrivals(path), rate)


def measure(options: argparse.Namespace) -> dict[str, object]:
    """All rates, `runs` times each."""
    result: dict[str, object] = {"source": options.by}
    for rate in options.rates:
        taken = [sample(options.by, rate, options.seconds) for _ in range(options.runs)]
        for key in taken[0]:
            name = f"{key.partition('_')[0]}_{rate}" + ("_us" if key.endswith("_us") else "")
            result[name] = summary([one[key] for one in taken])["median"]
    return result


def check(by: str) -> None:
    """Raise `MissingError` in one sentence unless the source can run here."""
    check_bed({**BY[by], "tcpdump": "tcpdump"})
    if by == "twinplane" and not SOURCE.exists():
        raise MissingError(f"{SOURCE.name} is not built (cargo build --release --examples).")


def main() -> int:
    """Command line."""

    def rates(text: str) -> list[int]:
        values = [int(word) for word in text.split(",")]
        if not values or min(values) < 10 or max(values) > 1_000_000:
            raise argparse.ArgumentTypeError("10 to 1000000 packets a second each")
        return values

    options = parser("Measure how evenly a source sends.", runs=1, seconds=3.0)
    options.add_argument("--by", choices=tuple(BY), default="mgen", help="the source")
    options.add_argument("--rates", type=rates, default=[1000, 10_000, 100_000], help="packets a second")
    chosen = options.parse_args()
    packages = ["iproute2", "ethtool", "tcpdump", *sorted(set(BY[chosen.by].values()))]
    return run_anchor(chosen, packages, lambda: check(chosen.by), measure)


if __name__ == "__main__":
    sys.exit(main())
