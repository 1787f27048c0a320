"""Programs that give figures: how each is built, run, bounded in time and ended.

A probe is one program, ours or an anchor. It prints a JSON object as the last line of its standard
output, or its duration is the figure. A probe that can't be measured gives a reason, never a number.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from networks import CASES as NETWORKS
from networks import LONG, TOPOLOGIES, ZOO
from signalling import CASES as SIGNALLING

ROOT = Path(__file__).resolve().parents[1]
ANCHORS = Path(__file__).resolve().parent / "anchors"
TWINPLANE = ROOT / ".venv" / "bin" / "twinplane"
OUT = "{out}"  # stands for a temporary folder in a command
BUILD_LIMIT_S = 1800.0
TIDY_LIMIT_S = 20.0
STARTS = 10
EXIT_MISSING = 3  # an anchor's code for "a package or a right is missing"

Sample = dict[str, float]


class Kind(Enum):
    """What is taken from a run."""

    JSON = "the numbers of the JSON object that it prints"
    WALL = "wall_s, from start to end"
    FIRST_OUTPUT = "wall_s, from start to the first byte printed; median of ten starts"


@dataclass(frozen=True)
class Probe:
    """One program to be measured."""

    name: str
    group: str
    command: tuple[str, ...]
    limit_s: float
    kind: Kind = Kind.JSON
    build: tuple[str, ...] = ()
    once: bool = False
    long: bool = False
    example: str = ""  # the example of ours that is run, and its options
    options: tuple[str, ...] = ()
    anchor: str = ""  # the anchor's script, where another one runs it

    @property
    def install(self) -> tuple[str, ...]:
        """What installs the Debian packages of its anchor; nothing for a program of ours."""
        script = ANCHORS / self.anchor if self.anchor else Path(*self.command[1:2])
        if script.parent != ANCHORS:
            return ()
        options = () if self.anchor else self.command[2:]
        return (sys.executable, str(script), *options, "--install", "--check")


@dataclass(frozen=True)
class Unavailable:
    """Why there is no figure. `missing`: the program is not there, as against failed."""

    reason: str
    missing: bool = False


class ProbeError(Exception):
    """No figure came of a run."""

    def __init__(self, reason: str, *, missing: bool = False) -> None:
        super().__init__(reason)
        self.outcome = Unavailable(reason, missing)


def _anchor(name: str, group: str, *options: str, example: str = "", limit_s: float = 180.0) -> Probe:
    """What another one does; `example` of our control plane says what it is fed with."""
    build = _build("twinplane-control", example) if example else ()
    return Probe(name, group, (sys.executable, str(ANCHORS / f"{name}.py"), *options), limit_s, build=build)


def _example(
    name: str, group: str, crate: str, example: str, *options: str, once: bool = False, long: bool = False
) -> Probe:
    command = ("cargo", "run", *_target(crate, example), "--", *options)
    build = _build(crate, example)
    return Probe(name, group, command, 300.0, Kind.JSON, build, once, long, example, options)


def _target(crate: str, example: str) -> tuple[str, ...]:
    return ("--release", "-q", "-p", crate, "--example", example)


def _build(crate: str, example: str) -> tuple[str, ...]:
    return ("cargo", "build", *_target(crate, example))


def _live(what: str, by: str, limit_s: float, *options: str) -> Probe:
    """A measurement between interfaces, of one of those that are compared."""
    script = str(ANCHORS / f"live_{what}.py")
    build = _build(TESTER, "bench_live_pacing") if (what, by) == ("pacing", "twinplane") else ()
    return Probe(f"{what}_{by}", "live", (sys.executable, script, "--by", by, *options), limit_s, build=build)


def _ospf(by: str) -> Probe:
    """An OSPF daemon that is flooded our database."""
    return replace(
        _anchor("ospf", "ospf", "--by", by, example="bench_ospf", limit_s=600.0), name=f"ospf_{by}"
    )


def _networks(case: str) -> list[Probe]:
    """One network with many flows, in htsim, ours and ns-3."""
    script = (sys.executable, str(Path(__file__).resolve().parent / "networks.py"), case, "--by")
    build = _build(TESTER, "bench_networks")
    return [
        Probe(f"{case}_htsim", "networks", (*script, "htsim"), limit_s=900.0, anchor="htsim_networks.py"),
        Probe(f"{case}_twinplane", "networks", (*script, "twinplane"), limit_s=300.0, build=build),
        Probe(f"{case}_ns-3", "networks", (*script, "ns-3"), limit_s=300.0, anchor="ns3_networks.py"),
    ]


def _signalling(case: str) -> Probe:
    """Explicitly routed LSPs, with the bytes and the time that each takes at each node of its way."""
    script = str(Path(__file__).resolve().parent / "signalling.py")
    build = _build(TESTER, "bench_signalling")
    return Probe(f"signalling_{case}", "rsvp", (sys.executable, script, case), limit_s=600.0, build=build)


def _threads(case: str) -> list[Probe]:
    """One network by one thread, by two, and by what trials find: long enough that threads have begun."""
    script = (
        sys.executable,
        str(Path(__file__).resolve().parent / "networks.py"),
        case,
        "--hops",
        "10000000",
    )
    build = _build(TESTER, "bench_networks")
    return [
        Probe(f"{case}_threads_{count}", "networks", (*script, "--threads", count), 300.0, build=build)
        for count in ("1", "2", "tried")
    ]


def _routed(name: str, *options: str) -> Probe:
    """A network that finds its routes, from nothing."""
    script = str(Path(__file__).resolve().parent / "routed.py")
    return Probe(name, "routed", (sys.executable, script, *options), limit_s=1800.0, once=True, long=True)


def _connections(connections: int, seconds: float) -> Probe:
    """Bulk transfers over TCP in virtual time."""
    script = str(Path(__file__).resolve().parent / "tcp.py")
    size = ("--connections", str(connections), "--seconds", str(seconds))
    return Probe(f"tcp_{connections}", "sessions", (sys.executable, script, *size), limit_s=120.0)


def _openflow(sut: str) -> Probe:
    """A switch with a million entries, and its controller."""
    script = str(Path(__file__).resolve().parent / "openflow.py")
    return Probe(f"openflow_{sut}", "openflow", (sys.executable, script, sut), limit_s=400.0)


def _point(name: str, law: str, size: int) -> Probe:
    """A network of `growth.py`, described, built and run once."""
    script = str(Path(__file__).resolve().parent / "growth.py")
    command = (sys.executable, script, "--point", law, str(size))
    return Probe(name, "networks", command, limit_s=900.0, once=True, long=True)


LIVE_DEVICES = ("kernel", "af-packet", "twinplane-af-packet", "af-xdp", "twinplane-af-xdp")
LIVE_SOURCES = ("mgen", "mgen-precise", "d-itg", "twinplane")
QUIET_HOUR = ("--routers", "1000", "--links", "1200", "--from", "60", "--until", "3660")
COPIES = ("--labels", "16", "--buckets", "64", "--runs", "1", "--seconds", "2")
TESTER, FORWARDING = "twinplane-tester", "twinplane-forwarding"

# Anchor and candidate stand in turn, so that a slow minute of the machine meets both.
PROBES: tuple[Probe, ...] = (
    _anchor("ns3", "engine", "--runs", "1", "--nodes", "10", "--packets", "50000"),
    _example("chain", "engine", TESTER, "bench_chain", "--nodes", "10", "--packets", "5000000"),
    *(probe for case in NETWORKS for probe in _networks(case)),
    *(probe for case in (*LONG, "chain", "ring-100-200") for probe in _threads(case)),
    _point("large", "routers", 100_000),
    _point("built", "chords", 10_000),
    _anchor("ns3_tc", "queues", "--runs", "1", "--packets", "50000"),
    _example("classes", "queues", TESTER, "bench_classes", "--packets", "2000000"),
    _anchor("ovs", "forwarding", "--runs", "1", "--seconds", "2"),
    _example("forward_1k", "forwarding", FORWARDING, "bench_forward", "--labels", "1000"),
    _anchor("testpmd", "forwarding", "--runs", "1", "--seconds", "1", "--way", "all"),
    _example("forward_100k", "forwarding", FORWARDING, "bench_forward", "--labels", "100000"),
    _example("forward_1m", "forwarding", FORWARDING, "bench_forward", "--labels", "1000000"),
    replace(_anchor("ovs", "forwarding", *COPIES), name="ovs_copies"),
    _example("replicate", "forwarding", FORWARDING, "bench_replicate", "--branches", "64"),
    _anchor("ovs_rules", "forwarding", "--runs", "1"),
    _example("flow_table", "forwarding", FORWARDING, "bench_openflow"),
    _example("next_hops", "forwarding", FORWARDING, "bench_next_hops"),
    _example("routes", "forwarding", FORWARDING, "bench_routes", "--prefixes", "10000"),
    _anchor("dpdk_fib", "forwarding", "--runs", "1"),
    _example("fib", "forwarding", FORWARDING, "bench_fib"),
    _example("queues", "queues", FORWARDING, "bench_queues"),
    _example("tcp_sessions", "sessions", "twinplane-node", "bench_tcp"),
    _anchor("ns3_tcp", "sessions", "--runs", "1"),
    _connections(1000, 1.0),
    _connections(1, 2.0),
    _anchor("bird", "bgp", example="bench_bgp", limit_s=400.0),
    _example("bgp", "bgp", "twinplane-control", "bench_bgp"),
    _anchor("ldpd", "ldp", example="bench_ldp", limit_s=600.0),
    _example("ldp", "ldp", "twinplane-control", "bench_ldp"),
    *(_ospf(by) for by in ("frr", "bird")),
    _example("ospf", "ospf", "twinplane-control", "bench_ospf"),
    _routed("all_pairs", "zoo", str(TOPOLOGIES / ZOO["kdl"])),
    _example("quiet_hour", "routed", TESTER, "bench_routed", *QUIET_HOUR, once=True, long=True),
    _routed("large_area", "area", "10000", "12000"),
    _example("rsvp", "rsvp", TESTER, "bench_rsvp", "--lsps", "100000"),
    _example("rsvp_rr", "rsvp", TESTER, "bench_rsvp", "--lsps", "100000", "--refresh-reduction"),
    _example("tree", "rsvp", TESTER, "bench_tree", "--leaves", "1000", "--depth", "10"),
    *(_signalling(case) for case in SIGNALLING),
    _example("rsvp_hold", "rsvp", TESTER, "bench_rsvp", "--hold", "1000000", once=True, long=True),
    Probe(
        "campaign",
        "campaign",
        (str(TWINPLANE), "run", "lsp-flap", "--campaign", "--out", OUT),
        limit_s=1800.0,
        kind=Kind.WALL,
        once=True,
        long=True,
    ),
    *(_openflow(sut) for sut in ("ovs", "twinplane")),
    *(_live("forward", by, 180.0, "--runs", "1", "--seconds", "2") for by in LIVE_DEVICES),
    *(_live("tcp", by, 120.0, "--seconds", "10") for by in ("kernel", "twinplane")),
    *(_live("pacing", by, 120.0) for by in LIVE_SOURCES),
    Probe("shaping", "live", (sys.executable, str(ANCHORS / "live_shaping.py")), 300.0),
    Probe(
        "live_router", "live", (sys.executable, str(ANCHORS / "live_router.py")), 400.0, once=True, long=True
    ),
    Probe("startup", "startup", (str(TWINPLANE), "list"), 30.0, kind=Kind.FIRST_OUTPUT, once=True),
)


# -- running ----------------------------------------------------------------------------------------


@contextmanager
def _started(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A child in a session of its own, given time to tidy up before it is ended by force.

    Anchors give back hugepages and end daemons on SIGINT and SIGTERM. A Ctrl-C at the terminal reaches
    only this process, which passes it on once.
    """
    try:
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ProbeError(
            f"{Path(command[0]).name} can't be started: {error.strerror}.", missing=True
        ) from error
    try:
        yield child
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=TIDY_LIMIT_S)
        if child.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # the child leads its own group
            child.wait()
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def _reason(stderr: bytes, command: Sequence[str], code: int) -> str:
    """The line of an error output that says most, for one row of a table."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "thread '"))]
    for line in errors or lines[-1:]:
        return line
    return f"{Path(command[0]).name} ended with code {code}."


def finish(command: Sequence[str], limit_s: float) -> bytes:
    """Run to the end and return the standard output."""
    with _started(command) as child:
        try:
            stdout, stderr = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise ProbeError(f"no result within {limit_s:.0f} s.") from None
        if child.returncode != 0:
            reason = _reason(stderr, command, child.returncode)
            raise ProbeError(reason, missing=child.returncode == EXIT_MISSING)
        return stdout


def json_object(line: str) -> dict[str, object]:
    """The JSON object that a line of output is."""
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ProbeError("what it printed as its result is not a JSON object.")
    return value


def numbers(value: dict[str, object]) -> Sample:
    """What of an object is a finite number."""
    return {
        key: float(number)
        for key, number in value.items()
        if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    }


def output_lines(stdout: bytes) -> list[str]:
    """The lines of an output, one empty line if there is none."""
    return stdout.decode(errors="replace").strip().splitlines() or [""]


def parse(stdout: bytes) -> Sample:
    """The numbers of the JSON object in the last line."""
    return numbers(json_object(output_lines(stdout)[-1]))


def parse_keyed(stdout: bytes, key: str) -> Sample:
    """The numbers of all lines, where `key` identifies a line: {"kind": "flow", "ns": 7} gives `flow_ns`."""
    found: Sample = {}
    for line in output_lines(stdout):
        value = json_object(line)
        name = value.pop(key, None)
        if name is None:
            raise ProbeError(f"a line of its output has no {key!r}.")
        found.update({f"{name}_{field}": number for field, number in numbers(value).items()})
    return found


def _wall(command: Sequence[str], limit_s: float) -> Sample:
    with tempfile.TemporaryDirectory(prefix="twinplane-bench-") as folder:
        filled = [word.replace(OUT, str(Path(folder) / "out")) for word in command]
        begin = time.monotonic()
        finish(filled, limit_s)
        return {"wall_s": time.monotonic() - begin}


def _first_output(command: Sequence[str], limit_s: float) -> float:
    begin = time.monotonic()
    with _started(command) as child:
        if child.stdout is None or not select.select([child.stdout], [], [], limit_s)[0]:
            raise ProbeError(f"nothing printed within {limit_s:.0f} s.")
        first = os.read(child.stdout.fileno(), 1)
        elapsed = time.monotonic() - begin
        _, stderr = child.communicate(timeout=limit_s)
        if child.returncode != 0 or not first:
            raise ProbeError(_reason(stderr, command, child.returncode))
        return elapsed


def prepare(probe: Probe) -> Unavailable | None:
    """Build what the probe runs, so that no compilation falls into a measurement."""
    if probe.command[0] == str(TWINPLANE) and not TWINPLANE.exists():
        return Unavailable("the command line is not installed (make setup).", missing=True)
    if not probe.build:
        return None
    try:
        finish(probe.build, BUILD_LIMIT_S)
    except ProbeError as error:
        return error.outcome
    return None


def measure(probe: Probe) -> Sample | Unavailable:
    """One sample, or why there is none."""
    try:
        if probe.kind is Kind.WALL:
            return _wall(probe.command, probe.limit_s)
        if probe.kind is Kind.FIRST_OUTPUT:
            starts = [_first_output(probe.command, probe.limit_s) for _ in range(STARTS + 1)]
            return {"wall_s": statistics.median(starts[1:])}  # the first one fills the file cache
        return parse(finish(probe.command, probe.limit_s))
    except ProbeError as error:
        return error.outcome
