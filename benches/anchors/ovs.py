#!/usr/bin/env python3
"""Open vSwitch with DPDK as a label switch on one core: Mpps and cycles per packet.

    python3 benches/anchors/ovs.py [--labels 1000] [--seconds 3] [--runs 3] [--emc] [--install]
    python3 benches/anchors/ovs.py --buckets 64

The same source and destination as `testpmd.py`; one OpenFlow entry for each label:
`set_mpls_label, dec_mpls_ttl, output`. With `--buckets` the entry of each label leads to one group that
sends so many copies, each with these actions and a label of its own; then Mpps are copies. It runs an
ovsdb-server and an ovs-vswitchd of its own, in a temporary directory and a network namespace, and ends
both by process id; an Open vSwitch that serves the machine is not touched.

Open vSwitch is shown at its best: the way back (`net_null` receives without end) runs in the kernel's
idle class, and the exact-match cache is off, since its hash covers IP flows only and gives every
labelled frame the same bucket (`--emc` leaves it on, as Open vSwitch comes).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from anchorlib import (
    FIRST_LABEL,
    FailedError,
    MissingError,
    contained,
    end,
    parser,
    run_anchor,
    run_idle,
    sleep_until,
    summary,
    threads,
    two_processors,
)
from dpdk import (
    DRAIN,
    EAL,
    START_LIMIT_S,
    add_labels,
    check_dpdk,
    check_labels,
    label_source,
    workspace,
)

PACKAGES = ("openvswitch-switch-dpdk", "librte-meta-net", "librte-meta-mempool")
DAEMON = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
COMMAND_LIMIT_S = 30
WARM_UP_S = 1.0
OUT_LABEL = 100_000
IN_PORT, OUT_PORT = 1, 2


def check() -> None:
    """Raise `MissingError` in one sentence unless Open vSwitch with DPDK can run here."""
    package = PACKAGES[0]
    programs = (DAEMON, "ovsdb-server", "ovsdb-tool", "ovs-vsctl")
    check_dpdk("Open vSwitch with DPDK", dict.fromkeys(programs, package))
    for driver in ("net_null", "net_pcap", "mempool_ring"):
        if not any(Path("/usr/lib").glob(f"*/dpdk/pmds-*/librte_{driver}.so*")):
            raise MissingError(
                f"DPDK's driver {driver} is not installed (run with --install as root, or apt-get install "
                f"{' '.join(PACKAGES[1:])})."
            )


class Switch:
    """A private Open vSwitch: where its sockets are and how to ask it."""

    def __init__(self, folder: Path) -> None:
        """Nothing is started yet."""
        self.folder = folder
        self.pid = 0
        names = ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR", "RUNTIME_DIRECTORY")
        self.env = {**os.environ, **{name: str(folder) for name in names}}

    def run(self, command: Sequence[str]) -> str:
        """Run one of the small tools and return what it printed."""
        try:
            done = subprocess.run(
                command,
                env=self.env,
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=COMMAND_LIMIT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise FailedError(f"{command[0]} took more than {COMMAND_LIMIT_S} s.") from error
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
            raise FailedError(f"{command[0]}: {lines[-1]}")
        return done.stdout

    def vsctl(self, *words: str) -> str:
        """Change or read the configuration."""
        return self.run(["ovs-vsctl", f"--db=unix:{self.folder}/db.sock", "--timeout=20", *words])

    def appctl(self, *words: str) -> str:
        """Ask the running daemon."""
        return self.run(["ovs-appctl", "-t", f"{self.folder}/vswitchd.ctl", *words])

    def ofctl(self, verb: str, *words: str) -> str:
        """Speak OpenFlow to the bridge."""
        return self.run(["ovs-ofctl", "-O", "OpenFlow13", verb, f"unix:{self.folder}/br0.mgmt", *words])

    def sent(self) -> int:
        """Packets that left through the destination."""
        found = re.search(r"tx pkts=(\d+)", self.ofctl("dump-ports", str(OUT_PORT)))
        if found is None:
            raise FailedError("Open vSwitch printed no transmit counter.")
        return int(found[1])

    def cycles_per_packet(self, core: int) -> float:
        """Cycles per packet of the forwarding core since its counters were cleared."""
        text = self.appctl("dpif-netdev/pmd-stats-show")
        block = text.partition(f"core_id {core}:")[2]
        found = re.search(r"avg cycles per packet: ([\d.]+)", block)
        if found is None:
            raise FailedError("Open vSwitch printed no cycles per packet.")
        return float(found[1])


def _wait_for(path: Path, process: subprocess.Popen[bytes], name: str) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not path.exists():
        if process.poll() is not None:
            raise FailedError(f"{name} ended at once with code {process.returncode}.")
        if time.monotonic() > deadline:
            raise FailedError(f"{name} did not start within {START_LIMIT_S:.0f} s.")
        time.sleep(0.05)


@contextmanager
def daemons(switch: Switch, *, emc: bool) -> Iterator[None]:
    """Start the database and the switch; end both, in reverse order, whatever happens."""
    keeper, forwarder = two_processors()
    folder = switch.folder
    started: list[subprocess.Popen[bytes]] = []

    def start(command: list[str], socket: str) -> int:
        process = subprocess.Popen(
            contained(command),
            env=switch.env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        _wait_for(folder / socket, process, Path(command[0]).name)
        return process.pid

    try:
        switch.run(["ovsdb-tool", "create", "conf.db", SCHEMA])
        start(
            [
                "ovsdb-server",
                "conf.db",
                f"--remote=punix:{folder}/db.sock",
                f"--unixctl={folder}/db.ctl",
                f"--log-file={folder}/db.log",
            ],
            "db.sock",
        )
        switch.vsctl("--no-wait", "init")
        switch.vsctl(
            *("--no-wait", "set", "Open_vSwitch", "."),
            "other_config:dpdk-init=true",
            f"other_config:dpdk-lcore-mask={1 << keeper:#x}",
            f"other_config:pmd-cpu-mask={1 << keeper | 1 << forwarder:#x}",
            "other_config:dpdk-socket-mem=512",
            f"other_config:dpdk-extra={' '.join(EAL)}",
            *(() if emc else ("other_config:emc-insert-inv-prob=0",)),
        )
        switch.pid = start(
            [
                DAEMON,
                f"unix:{folder}/db.sock",
                f"--unixctl={folder}/vswitchd.ctl",
                f"--log-file={folder}/vswitchd.log",
            ],
            "vswitchd.ctl",
        )
        yield
    finally:
        for process in reversed(started):
            end(process)


def configure(switch: Switch, labels: int, buckets: int) -> None:
    """Two ports, one flow for each label, perhaps a group of copies, and the way back out of the way."""
    keeper, forwarder = two_processors()
    switch.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")
    ports = (
        ("source", IN_PORT, label_source(switch.folder, labels), forwarder),
        ("drain", OUT_PORT, DRAIN, keeper),
    )
    switch.ofctl("del-flows")
    swaps = [
        f"set_mpls_label:{OUT_LABEL + i},dec_mpls_ttl,output:{OUT_PORT}" for i in range(buckets or labels)
    ]
    if buckets:
        group = ",".join(f"bucket=actions={branch}" for branch in swaps)
        switch.ofctl("add-group", f"group_id=1,type=all,{group}")
        swaps = ["group:1"] * labels
    flows = switch.folder / "flows"
    flows.write_text(
        "".join(
            f"in_port={IN_PORT},eth_type=0x8847,mpls_label={FIRST_LABEL + i},actions={swap}\n"
            for i, swap in enumerate(swaps)
        )
    )
    switch.ofctl("add-flows", str(flows))
    for name, number, devargs, core in reversed(ports):
        add_port(switch, name, number, devargs, core)
    keep_back_idle(switch)


def add_port(switch: Switch, name: str, number: int, devargs: str, core: int) -> None:
    """A port of DPDK that one core serves."""
    switch.vsctl(
        *("add-port", "br0", name, "--", "set", "Interface", name, "type=dpdk"),
        f"ofport_request={number}",
        f'options:dpdk-devargs="{devargs}"',
        f'other_config:pmd-rxq-affinity="0:{core}"',
    )
    error = switch.vsctl("get", "Interface", name, "error").strip()
    if error != "[]":
        raise FailedError(f"Open vSwitch refused the port {name}: {error}")


def keep_back_idle(switch: Switch) -> None:
    """Let the thread that receives from the drain, which has frames without end, not disturb the other."""
    keeper, forwarder = two_processors()
    # Threads are named by core, as in "pmd-c00/id:8".
    prefix = f"pmd-c{keeper:02d}"
    back = [thread for name, thread in threads(switch.pid).items() if name.startswith(prefix)]
    if len(back) != 1:
        raise FailedError(f"Open vSwitch has {len(back)} threads named {prefix}, not one.")
    run_idle(back[0], forwarder)


def swapped_labels(switch: Switch) -> int:
    """Entries in the datapath that really swap a label and send it on."""
    lines = switch.appctl("dpctl/dump-flows").splitlines()
    return sum("set(mpls(label=" in line and "actions:drop" not in line for line in lines)


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Medians over several windows of one running switch."""
    _, forwarder = two_processors()
    rates: list[float] = []
    cycles: list[float] = []
    with workspace("ovs") as folder:
        switch = Switch(folder)
        with daemons(switch, emc=options.emc):
            configure(switch, options.labels, options.buckets)
            sleep_until(time.monotonic() + WARM_UP_S)
            for _ in range(options.runs):
                switch.appctl("dpif-netdev/pmd-stats-clear")
                before, begin = switch.sent(), time.monotonic()
                sleep_until(begin + options.seconds)
                after, stop = switch.sent(), time.monotonic()
                cycles.append(switch.cycles_per_packet(forwarder))
                rates.append((after - before) / (stop - begin) / 1e6)
            installed = swapped_labels(switch)
    if min(rates) <= 0:
        raise FailedError("Open vSwitch forwarded nothing.")
    if installed != options.labels:
        raise FailedError(f"Open vSwitch swapped {installed} labels instead of {options.labels}.")
    return {
        "anchor": "Open vSwitch with DPDK",
        "labels": options.labels,
        "buckets": options.buckets,
        "emc": options.emc,
        "mpps": summary(rates)["median"],
        "cycles_per_packet": summary(cycles)["median"],
        "detail": {"mpps": summary(rates), "cycles_per_packet": summary(cycles)},
    }


def main() -> int:
    """Command line."""
    options = parser("Measure Open vSwitch with DPDK as a label switch.", runs=3, seconds=3.0)
    add_labels(options, "labels, one flow each")
    options.add_argument("--buckets", type=int, default=0, help="copies of each frame, by a group")
    options.add_argument("--emc", action="store_true", help="leave the exact-match cache on")
    chosen = options.parse_args()
    check_labels(options, chosen)
    return run_anchor(chosen, PACKAGES, check, measure)


if __name__ == "__main__":
    sys.exit(main())
