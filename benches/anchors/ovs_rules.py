#!/usr/bin/env python3
"""Open vSwitch with DPDK as a switch of flow tables on one core: what `bench_openflow` does, Mpps.

    python3 benches/anchors/ovs_rules.py [--masks 1,100] [--seconds 3] [--runs 3] [--install]

- `cached_mpps`: 1,000 entries of five fields, a flow for each, with the exact-match cache, which every
  flow gets into at once (`emc-insert-inv-prob=1`).
- `masks_N_mpps`: ten entries each of N masks, prefixes of both addresses, all of one priority; a flow for
  each entry, in turn. Both caches are off. The entries are put into the datapath as they are, with the
  threads held that would make others of them, so that its classifier has N subtables; a run in which it
  has another number is refused. It searches those first that found most of late, and ends with the first
  that has the packet: half of them on average, which `detail` says.

Source and destination, and what is left behind (nothing), are those of `ovs.py`.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from anchorlib import (
    FRAME_BYTES,
    FailedError,
    parser,
    run_anchor,
    sleep_until,
    summary,
    two_processors,
)
from dpdk import DRAIN, workspace
from ovs import IN_PORT, OUT_PORT, PACKAGES, WARM_UP_S, Switch, add_port, check, daemons, keep_back_idle

ENTRIES = 1000
PER_MASK = 10
MASKS_MAX = 100
SOURCE = IPv4Address("192.0.2.1")
FIRST = IPv4Address("10.0.0.0")
PORTS = (1000, 2000)
PRIORITY = 100
DATAPATH = "netdev@ovs-netdev"


def frame(to: IPv4Address) -> bytes:
    """A UDP packet in an Ethernet frame of 64 bytes, without its check sequence."""
    ip = struct.pack(">BBHHHBBH", 0x45, 0, FRAME_BYTES - 14, 0, 0, 64, 17, 0) + SOURCE.packed + to.packed
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + ip[12:]
    udp = struct.pack(">HHHH", *PORTS, FRAME_BYTES - 34, 0)
    return (bytes.fromhex("0200000000020200000000010800") + ip + udp).ljust(FRAME_BYTES, b"\0")


def write_pcap(path: Path, frames: Sequence[bytes]) -> None:
    """A capture file of Ethernet frames."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for one in frames:
            out.write(struct.pack("<IIII", 0, 0, len(one), len(one)) + one)


def prefixes(mask: int, entry: int) -> tuple[IPv4Address, IPv4Network, IPv4Network]:
    """Where a flow goes to, and the prefixes of source and destination that its entry has."""
    to = FIRST + ((mask * PER_MASK + entry) << 10)
    lengths = (23 + mask % 10, 23 + mask // 10 % 10)
    source = IPv4Network((SOURCE, lengths[0]), strict=False)
    return to, source, IPv4Network((to, lengths[1]), strict=False)


@contextmanager
def switch_of(frames: Sequence[bytes], flows: Sequence[str], *, emc: bool) -> Iterator[Switch]:
    """A switch with these entries, into which these frames come once the source is there."""
    keeper, _ = two_processors()
    with workspace("ovs") as folder:
        switch = Switch(folder)
        with daemons(switch, emc=emc):
            write_pcap(folder / "frames.pcap", frames)
            switch.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")
            switch.ofctl("del-flows")
            (folder / "flows").write_text("".join(f"{flow}\n" for flow in flows))
            switch.ofctl("add-flows", str(folder / "flows"))
            add_port(switch, "drain", OUT_PORT, DRAIN, keeper)
            keep_back_idle(switch)
            yield switch


def add_source(switch: Switch) -> None:
    """Frames begin to come."""
    _, forwarder = two_processors()
    add_port(
        switch, "source", IN_PORT, f"net_pcap0,rx_pcap={switch.folder}/frames.pcap,infinite_rx=1", forwarder
    )


def rates_of(switch: Switch, options: argparse.Namespace) -> list[float]:
    """Mpps in each of several windows."""
    rates = []
    sleep_until(time.monotonic() + WARM_UP_S)
    switch.appctl("dpif-netdev/pmd-stats-clear")
    for _ in range(options.runs):
        before, begin = switch.sent(), time.monotonic()
        sleep_until(begin + options.seconds)
        after, stop = switch.sent(), time.monotonic()
        rates.append((after - before) / (stop - begin) / 1e6)
    if min(rates) <= 0:
        raise FailedError("Open vSwitch forwarded nothing.")
    return rates


def counted(switch: Switch, name: str) -> float:
    """A figure of the forwarding thread since its counters were cleared."""
    _, forwarder = two_processors()
    text = switch.appctl("dpif-netdev/pmd-stats-show").partition(f"core_id {forwarder}:")[2]
    found = re.search(rf"{name}: ([\d.]+)", text)
    if found is None:
        raise FailedError(f"Open vSwitch printed no {name!r}.")
    return float(found[1])


def cached(options: argparse.Namespace) -> dict[str, object]:
    """A flow for each of many entries, found in the exact-match cache."""
    addresses = [FIRST + number for number in range(ENTRIES)]
    flows = [
        f"priority={PRIORITY},udp,nw_src={SOURCE},nw_dst={to},tp_src={PORTS[0]},tp_dst={PORTS[1]},actions=output:{OUT_PORT}"
        for to in addresses
    ]
    with switch_of([frame(to) for to in addresses], flows, emc=True) as switch:
        switch.vsctl("set", "Open_vSwitch", ".", "other_config:emc-insert-inv-prob=1")
        add_source(switch)
        rates = rates_of(switch, options)
        received, hits = (counted(switch, name) for name in ("packets received", "emc hits"))
    if hits < 0.99 * received:
        raise FailedError(f"Only {hits / received:.1%} of the packets were found in the exact-match cache.")
    return summary(rates)


def masks(count: int, options: argparse.Namespace) -> dict[str, object]:
    """A flow for each entry of so many subtables of the datapath."""
    chosen = [prefixes(mask, entry) for entry in range(PER_MASK) for mask in range(count)]
    # Entries of OpenFlow say the same, should the datapath ask for one.
    flows = [
        f"priority={PRIORITY},udp,nw_src={source},nw_dst={to},actions=output:{OUT_PORT}"
        for _, source, to in chosen
    ]
    with switch_of([frame(to) for to, _, _ in chosen], flows, emc=False) as switch:
        switch.appctl("revalidator/pause")
        add_source(switch)
        ports = port_numbers(switch)
        switch.appctl("dpctl/del-flows", DATAPATH)
        for _, source, to in chosen:
            switch.appctl("dpctl/add-flow", DATAPATH, key(ports["source"], source, to), str(ports["drain"]))
        rates = rates_of(switch, options)
        looked_at = counted(switch, "avg. subtable lookups per megaflow hit")
        masks = set(
            re.findall(
                r"ipv4\(src=[\d.]+(/[^,]+)?,dst=[\d.]+(/[^,]+)?,", switch.appctl("dpctl/dump-flows", DATAPATH)
            )
        )
    if len(masks) != count:
        raise FailedError(f"Open vSwitch had entries of {len(masks)} masks instead of {count}.")
    return {**summary(rates), "subtables_per_packet": looked_at}


def key(port: int, source: IPv4Network, to: IPv4Network) -> str:
    """An entry of the datapath: UDP from one prefix to another, and nothing else of the packet."""
    anything = "00:00:00:00:00:00/00:00:00:00:00:00"
    return (
        f"recirc_id(0),in_port({port}),packet_type(ns=0,id=0),eth(src={anything},dst={anything}),eth_type(0x0800),"
        f"ipv4(src={source.network_address}/{source.netmask},dst={to.network_address}/{to.netmask},"
        "proto=17,tos=0/0,ttl=0/0,frag=no),udp(src=0/0,dst=0/0)"
    )


def port_numbers(switch: Switch) -> dict[str, int]:
    """Numbers of ports in the datapath by their names."""
    text = switch.appctl("dpctl/show", DATAPATH)
    return {name: int(number) for number, name in re.findall(r"port (\d+): (\S+)", text)}


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Each case in a switch of its own."""
    detail = {"cached": cached(options)}
    detail |= {f"masks_{count}": masks(count, options) for count in options.masks}
    figures = {f"{name}_mpps": found["median"] for name, found in detail.items()}
    return {"anchor": "Open vSwitch with DPDK", **figures, "detail": detail}


def numbers(text: str) -> list[int]:
    """Several numbers of masks."""
    found = [int(word) for word in text.split(",")]
    if not all(1 <= number <= MASKS_MAX for number in found):
        raise argparse.ArgumentTypeError(f"1 to {MASKS_MAX} each")
    return found


def main() -> int:
    """Command line."""
    options = parser("Measure Open vSwitch with DPDK as a switch of flow tables.", runs=3, seconds=2.0)
    options.add_argument("--masks", type=numbers, default=[1, MASKS_MAX], help="numbers of masks")
    return run_anchor(options.parse_args(), PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
