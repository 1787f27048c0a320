#!/usr/bin/env python3
"""Frames a second through one device between two veth interfaces, 64 bytes each.

    python3 benches/anchors/live_forward.py --by kernel [--runs 5] [--seconds 2]

`kernel`:      IPv4 forwarding of UDP frames, as it comes, then with receive packet steering and with
               threaded polling on the device's processor; `mpps` is the best of the three.
`af-packet`:   dpdk-testpmd with `net_af_packet`, labelled frames, io and macswap in turn.
`af-xdp`:      the same with `net_af_xdp`.
`ports-af-packet`, `ports-af-xdp`: Twinplane's ports alone, frames handed from one to the other.
`twinplane-af-packet`, `twinplane-af-xdp`: a Twinplane router, a process of a lab, that swaps the label.

The set-up is that of `live_bed.py`. The source offers several times what any device carries; what arrives
at the sink is counted by its interface.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from anchorlib import FailedError, MissingError, hugepages, parser, run_anchor, summary, two_processors
from dpdk import EAL, testpmd
from live_bed import (
    AWAY_MAC,
    SINK_NET,
    SOURCE_NET,
    Bed,
    Counter,
    bed,
    check_bed,
    label_frame,
    pinned,
    run,
    running,
    udp_frame,
    weigh,
    weighed,
)
from live_lab import check_lab, lab

SOURCE = Path(__file__).with_name("live_source.py")
HUGEPAGES_MB = 512
WARM_UP_S = 0.3
START_LIMIT_S = 20.0
BEGUN_FRAMES = 10_000
DRIVERS = {"af-packet": "net_af_packet", "af-xdp": "net_af_xdp"}
PORTS = Path(__file__).resolve().parents[2] / "target/release/examples/bench_ports"
BY = ("kernel", *DRIVERS, *(f"{ours}-{name}" for ours in ("ports", "twinplane") for name in DRIVERS))


def deliver(wire: Bed, frame: bytes, seconds: float) -> tuple[float, float]:
    """Mpps at the sink and at the device, while the source sends `frame`."""
    keeper, _ = two_processors()
    command = [
        sys.executable,
        str(SOURCE),
        "g0",
        "--frame",
        frame.hex(),
        "--seconds",
        str(seconds + START_LIMIT_S),
    ]
    with running(wire.source.wrap(pinned(command, keeper))) as source:
        idle, limit = wire.offered.frames() + BEGUN_FRAMES, time.monotonic() + START_LIMIT_S
        while wire.offered.frames() < idle and source.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(WARM_UP_S)
        begin, out, into = time.monotonic(), wire.delivered.frames(), wire.offered.frames()
        time.sleep(seconds)
        stop, out, into = time.monotonic(), wire.delivered.frames() - out, wire.offered.frames() - into
        if source.poll() is not None:
            words = source.stderr.read().strip() if source.stderr else ""
            raise FailedError(words or f"The frame source ended early, with code {source.returncode}.")
    elapsed = (stop - begin) * 1e6
    return out / elapsed, into / elapsed


# -- devices ----------------------------------------------------------------------------------------


def route(wire: Bed) -> None:
    """Make the device's kernel a router."""
    do = wire.device.do
    do("sysctl", "-qw", "net.ipv4.ip_forward=1")
    do("ip", "address", "add", f"{SOURCE_NET}.1/24", "dev", "r0")
    do("ip", "address", "add", f"{SINK_NET}.1/24", "dev", "r1")
    do("ip", "neighbor", "add", f"{SINK_NET}.2", "lladdr", AWAY_MAC, "dev", "r1", "nud", "permanent")


def _write(wire: Bed, path: str, value: str) -> None:
    wire.device.do("sh", "-c", f"echo {value} > /sys/class/net/r0/{path}")


def threaded(wire: Bed) -> None:
    """Let a kernel thread on the device's processor poll r0."""
    _, forwarder = two_processors()
    before = set(_pollers())
    _write(wire, "threaded", "1")
    time.sleep(0.1)
    for thread in set(_pollers()) - before:
        run(["taskset", "--cpu-list", "--pid", str(forwarder), str(thread)])
        run(["renice", "--priority", "-20", "--pid", str(thread)])


def _pollers() -> list[int]:
    found = []
    for process in Path("/proc").iterdir():
        try:
            if (process / "comm").read_text().startswith("napi/r0"):
                found.append(int(process.name))
        except (OSError, ValueError):
            continue
    return found


def measure_kernel(options: argparse.Namespace) -> dict[str, object]:
    """IPv4 forwarding, its work placed in three ways."""
    _, forwarder = two_processors()
    ways: dict[str, list[float]] = {"as_it_comes": [], "steered": [], "threaded": []}
    with bed() as wire:
        route(wire)
        for _ in range(options.runs):
            ways["as_it_comes"].append(deliver(wire, udp_frame(), options.seconds)[0])
            _write(wire, "queues/rx-0/rps_cpus", f"{1 << forwarder:x}")
            ways["steered"].append(deliver(wire, udp_frame(), options.seconds)[0])
            _write(wire, "queues/rx-0/rps_cpus", "0")
            threaded(wire)
            ways["threaded"].append(deliver(wire, udp_frame(), options.seconds)[0])
            _write(wire, "threaded", "0")
    medians = {name: summary(values)["median"] for name, values in ways.items()}
    return {
        "anchor": "Linux IPv4 forwarding",
        "mpps": max(float(value) for value in medians.values() if isinstance(value, float)),
        **{f"{name}_mpps": value for name, value in medians.items()},
        "detail": {name: summary(values) for name, values in ways.items()},
    }


def measure_testpmd(options: argparse.Namespace, device: str) -> dict[str, object]:
    """Both modes of testpmd over two sockets of one kind."""
    keeper, forwarder = two_processors()
    samples: dict[str, list[float]] = {"io": [], "macswap": []}
    extra = ",qdisc_bypass=1,framecnt=4096,framesz=2048,blocksz=65536" if device == "net_af_packet" else ""
    with (
        hugepages(HUGEPAGES_MB),
        tempfile.TemporaryDirectory(prefix="twinplane-testpmd-") as folder,
        bed() as wire,
    ):
        command = [
            *("dpdk-testpmd", "--lcores", f"0@{keeper},1@{forwarder}", *EAL),
            *("--vdev", f"{device}0,iface=r0{extra}", "--vdev", f"{device}1,iface=r1{extra}"),
            *("--", "-i", "--nb-cores=1"),
        ]
        with testpmd(wire.device.wrap(weighed(command)), Path(folder)) as started:
            for _ in range(options.runs):
                for mode, values in samples.items():
                    started.command(f"set fwd {mode}")
                    started.command("start")
                    values.append(deliver(wire, label_frame(), options.seconds)[0])
                    started.command("stop")
    return {
        "anchor": f"dpdk-testpmd {device}",
        **{f"{mode}_mpps": summary(values)["median"] for mode, values in samples.items()},
        "detail": {mode: summary(values) for mode, values in samples.items()},
    }


LAB = """
nodes:
  pe1: {{kind: router}}
  p: {{kind: router, driver: {driver}, cpu: {cpu}, busy: true, rsvp: {{hello: none}}}}
  pe2: {{kind: router}}
links:
  - endpoints: ["pe1:g0", "p:r0"]
    mtu: 1500
  - endpoints: ["p:r1", "pe2:s0"]
    mtu: 1500
lsps:
  - {{name: east, from: pe1, to: pe2, route: [p, pe2]}}
"""


@contextmanager
def twinplane(driver: str) -> Iterator[tuple[Bed, bytes]]:
    """A router of a lab with an LSP through it, and the frames that take this LSP.

    Its neighbours signal the LSP and are then killed, so that nothing but the router is at work. The state
    that they left lasts for minutes (RFC 2205, 3.7), longer than the measurement.
    """
    _, forwarder = two_processors()
    with lab(LAB.format(driver=driver, cpu=forwarder)) as made:
        made.wait_for_lsps("p", 1)
        label = int(made.show("ilm", "p")[0]["label"])
        for neighbour in ("pe1", "pe2"):
            made.kill(neighbour)
        weigh(made.nodes()["p"]["pid"])
        source, device, sink = (made.namespace(node) for node in ("pe1", "p", "pe2"))
        device.do("ethtool", "-K", "r0", "gro", "on")
        mac = device.do("cat", "/sys/class/net/r0/address").strip()
        with closing(Counter(device, "r0")) as offered, closing(Counter(sink, "s0")) as delivered:
            yield Bed(source, device, sink, offered, delivered), label_frame(label, mac)


@contextmanager
def ports(driver: str) -> Iterator[tuple[Bed, bytes]]:
    """A program that hands frames from one port to the other, and any labelled frame."""
    _, forwarder = two_processors()
    command = [str(PORTS), "--ingress", "r0", "--egress", "r1", "--driver", driver]
    with bed() as wire, running(wire.device.wrap(pinned(command, forwarder))) as process:
        if process.stdout is None or process.stdout.readline().strip() != "ready":
            words = process.communicate()[1].strip()
            raise FailedError(words or f"{PORTS.name} did not start.")
        yield wire, label_frame()


def measure_ours(
    options: argparse.Namespace, name: str, device: AbstractContextManager[tuple[Bed, bytes]]
) -> dict[str, object]:
    """One of our devices, and what it was offered."""
    rates: list[float] = []
    offered: list[float] = []
    with device as (wire, frame):
        for _ in range(options.runs):
            out, into = deliver(wire, frame, options.seconds)
            rates.append(out)
            offered.append(into)
    if min(rates) <= 0:
        raise FailedError(f"{name} forwarded nothing.")
    return {
        "device": name,
        "mpps": summary(rates)["median"],
        "offered_mpps": summary(offered)["median"],
        "detail": {"mpps": summary(rates)},
    }


def measure(options: argparse.Namespace) -> dict[str, object]:
    """The device that was asked for."""
    if options.by == "kernel":
        return measure_kernel(options)
    if options.by in DRIVERS:
        return measure_testpmd(options, DRIVERS[options.by])
    driver = "xdp" if options.by.endswith("xdp") else "packet"
    device = twinplane(driver) if options.by.startswith("twinplane") else ports(driver)
    return measure_ours(options, f"{options.by.partition('-')[0]}, {driver}", device)


def check(by: str) -> None:
    """Raise `MissingError` in one sentence unless the device can run here."""
    check_bed({"dpdk-testpmd": "dpdk-dev"} if by in DRIVERS else {})
    if by.startswith("twinplane"):
        check_lab()
    if by.startswith("ports") and not PORTS.exists():
        raise MissingError(
            f"{PORTS.name} is not built (cargo build --release -p twinplane-engine --example {PORTS.name})."
        )


def main() -> int:
    """Command line."""
    options = parser("Measure forwarding between two veth interfaces.", runs=5, seconds=2.0)
    options.add_argument("--by", choices=BY, default="kernel", help="the device")
    chosen = options.parse_args()
    packages = ["iproute2", "ethtool", *(["dpdk-dev"] if chosen.by in DRIVERS else [])]
    return run_anchor(chosen, packages, lambda: check(chosen.by), measure)


if __name__ == "__main__":
    sys.exit(main())
