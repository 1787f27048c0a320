"""What every anchor shares: packages, processes, hugepages, the frame source and the command line.

An anchor is another project's program measured on this machine, so that Twinplane's figures can be
given as ratios in the same run. Each anchor script prints one JSON object on stdout and leaves
nothing behind: its processes are ended by process id (and die with the script, should the script be
killed), its files live in a temporary directory, its hugepages are given back, and its daemons run in
a network namespace of their own.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 3 a package or a right is missing, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

HUGEPAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
POLICY = Path("/usr/sbin/policy-rc.d")
EXIT_MISSING = 3
EXIT_CTRL_C = 130
FIRST_LABEL = 16  # RFC 3032, 2.1: labels 0 to 15 are reserved
FRAME_BYTES = 60  # 64 bytes on the wire; a capture file does not hold the frame check sequence


class MissingError(Exception):
    """A package, a right or a processor that the anchor needs is not there. One sentence."""


class FailedError(Exception):
    """The anchor is there and did not give a figure. One sentence."""


# -- packages ---------------------------------------------------------------------------------------


def require_programs(programs: dict[str, str]) -> None:
    """Raise `MissingError` naming the Debian packages of the programs that are not installed.

    `programs` maps a command or an absolute path to the package that holds it.
    """
    absent = sorted({package for name, package in programs.items() if shutil.which(name) is None})
    if absent:
        one = len(absent) == 1
        raise MissingError(
            f"Debian package{'' if one else 's'} {' '.join(absent)} {'is' if one else 'are'} not "
            f"installed (run with --install as root, or apt-get install {' '.join(absent)})."
        )


def install(packages: Sequence[str]) -> None:
    """Install Debian packages without starting the daemons that they bring."""
    if os.geteuid() != 0:
        raise MissingError("--install needs root, since it runs apt-get.")
    if shutil.which("apt-get") is None:
        raise MissingError("--install needs Debian's apt-get, which is not here.")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    held = not POLICY.exists()
    if held:
        # invoke-rc.d asks this file; 101 means "do not start the service".
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        for command in (
            ["apt-get", "update", "-q"],
            ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages],
        ):
            done = subprocess.run(command, env=env, stdout=sys.stderr, check=False)
            if done.returncode != 0:
                raise MissingError(f"{' '.join(command)} ended with code {done.returncode}.")
    finally:
        if held:
            POLICY.unlink(missing_ok=True)


def require_root(what: str) -> None:
    """Raise `MissingError` unless the script runs as root."""
    if os.geteuid() != 0:
        raise MissingError(f"{what} needs root (hugepages and a network namespace of its own).")


def two_processors() -> tuple[int, int]:
    """Two processors that this process may use: one for house-keeping, one for forwarding."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        raise MissingError("two processors are needed: one forwards, one keeps house.")
    return usable[0], usable[1]


# -- hugepages --------------------------------------------------------------------------------------


@contextmanager
def hugepages(megabytes: int) -> Iterator[None]:
    """Reserve 2 MB hugepages for the block, and give the same number back whatever happens."""
    if not HUGEPAGES.exists():
        raise MissingError(f"this kernel offers no 2 MB hugepages ({HUGEPAGES} is not there).")
    added = 0
    try:
        added = _change_hugepages(megabytes // 2)
        if added < megabytes // 2:
            raise MissingError(f"only {added * 2} of {megabytes} MB of hugepages could be reserved.")
        yield
    finally:
        _change_hugepages(-added)


def _change_hugepages(pages: int) -> int:
    """Add (or take away) pages and return by how many the reservation grew."""
    # Read, add, write is not atomic: two anchors at once take turns.
    with HUGEPAGES.open(encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = int(HUGEPAGES.read_text())
        if pages:
            HUGEPAGES.write_text(f"{max(0, before + pages)}\n")
        return int(HUGEPAGES.read_text()) - before


# -- processes --------------------------------------------------------------------------------------


def contained(command: Sequence[str], *, own_network: bool = True) -> list[str]:
    """The command, made to die with this script and to see no network interface of the machine."""
    wrapped = ["setpriv", "--pdeathsig", "KILL", *command]
    return ["unshare", "--net", *wrapped] if own_network else wrapped


def compiled(name: str, command: Sequence[str], limit_s: float) -> None:
    """Carry out a step of the build of an anchor's program."""
    try:
        made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"{name} did not compile within {limit_s:g} s.") from error
    if made.returncode != 0:
        lines = [line for line in made.stderr.splitlines() if "error" in line] or ["no message"]
        raise FailedError(f"{name} does not compile: {lines[0]}")


def carried_out(name: str, command: Sequence[str], limit_s: float) -> dict[str, object]:
    """What a simulation of a workload, an anchor's own program, tells in its last line."""
    wrapped = contained(command, own_network=False)
    try:
        done = subprocess.run(wrapped, capture_output=True, text=True, check=False, timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"{name} took more than {limit_s:g} s; ask for fewer packet-hops.") from error
    if done.returncode != 0:
        raise FailedError(done.stderr.strip() or f"{name} lost packets: {done.stdout.strip()}")
    return {"anchor": name, **json.loads(done.stdout.splitlines()[-1])}


def end(process: subprocess.Popen[str] | subprocess.Popen[bytes], grace_s: float = 5.0) -> None:
    """End one process by its id: politely, then by force."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def threads(pid: int) -> dict[str, int]:
    """Thread ids of a process by name."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found[(task / "comm").read_text().strip()] = int(task.name)
        except OSError:
            continue  # it ended between the two lines
    return found


def run_idle(thread: int, processor: int) -> None:
    """Give a thread only what its processor has left over.

    Both `net_null` and `net_pcap` receive without end, so the way back is as busy as the way forth.
    Beside a busy thread the kernel's idle class gets about 0.3 % of a processor.
    """
    os.sched_setaffinity(thread, {processor})
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


# -- traffic ----------------------------------------------------------------------------------------


def write_mpls_pcap(path: Path, labels: int) -> None:
    """Write one 64-byte frame (60 without check sequence) for each label from 16 on.

    Ethernet II, one label stack entry (TC 0, bottom of stack, TTL 64), IPv4, UDP, zeros.
    """
    ip = struct.pack(">BBHHHBBH", 0x45, 0, FRAME_BYTES - 18, 0, 0, 64, 17, 0)
    ip += bytes((198, 18, 0, 1, 198, 19, 0, 1))  # RFC 2544, C.2.2: addresses for benchmarks
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + ip[12:]
    udp = struct.pack(">HHHH", 9, 9, FRAME_BYTES - 38, 0)
    ethernet = bytes.fromhex("0200000000010200000000028847")
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for label in range(FIRST_LABEL, FIRST_LABEL + labels):
            entry = struct.pack(">I", label << 12 | 1 << 8 | 64)  # RFC 3032, 2.1
            frame = (ethernet + entry + ip + udp).ljust(FRAME_BYTES, b"\0")
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


# -- command line -----------------------------------------------------------------------------------


def summary(samples: Sequence[float]) -> dict[str, float | list[float]]:
    """Median, extremes and samples of one figure."""
    return {
        "median": statistics.median(samples),
        "min": min(samples),
        "max": max(samples),
        "samples": list(samples),
    }


def sleep_until(deadline: float) -> None:
    """Sleep to a moment of the monotonic clock."""
    time.sleep(max(0.0, deadline - time.monotonic()))


def parser(description: str, *, runs: int, seconds: float | None = None) -> argparse.ArgumentParser:
    """The options that every anchor has."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--check", action="store_true", help="say what is missing and stop")
    made.add_argument("--install", action="store_true", help="install the Debian packages first")
    made.add_argument("--runs", type=positive, default=runs, help="samples, of which the median is given")
    if seconds is not None:
        made.add_argument("--seconds", type=positive_seconds, default=seconds, help="length of one sample")
    return made


def positive(text: str) -> int:
    """An integer from 1 on, for argparse."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def positive_seconds(text: str) -> float:
    """A duration of 0.5 s to 60 s, for argparse: shorter is noise, longer is waste."""
    value = float(text)
    if not 0.5 <= value <= 60.0:
        raise argparse.ArgumentTypeError("must be between 0.5 and 60")
    return value


def run_anchor(
    options: argparse.Namespace,
    packages: Sequence[str],
    check: Callable[[], None],
    measure: Callable[[argparse.Namespace], dict[str, object]],
) -> int:
    """Install, check, measure, print; turn every failure into one sentence and an exit code."""

    def stop(signum: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + signum)

    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)
    try:
        if options.install:
            install(packages)
        check()
        print(json.dumps({"available": True} if options.check else measure(options)))
    except MissingError as error:
        print(error, file=sys.stderr)
        return EXIT_MISSING
    except (FailedError, OSError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return EXIT_CTRL_C
    return 0
