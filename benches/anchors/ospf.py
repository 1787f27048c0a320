#!/usr/bin/env python3
"""FRR's ospfd and BIRD with the database of `bench_ospf`: what they take to find all routes again.

    python3 benches/anchors/ospf.py --by frr|bird [--routers 10000] [--links 50000] [--changes 10] [--install]

The daemon runs in a network namespace of its own, as the first router of the area, with ten neighbours on
links between two (`ospf_neighbours.py`), which flood it what `bench_ospf --write` has written. Then the
cost of the link changes by which most routes lead, up and down again, and links of other routers change one
at a time. Both daemons compute all routes after each. Prints one JSON object, time of the processor in ms,
without what the daemon takes when nothing changes: `own_link_ms` (the least of six) and `one_link_ms`
(median), as `bench_ospf` has them. ospfd says itself by the clock on the wall how long its computation took
(`debug ospf event`): `said_ms`, and `spf_ms` for paths and the networks of the area, the least of each.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anchorlib import (
    FailedError,
    compiled,
    contained,
    end,
    parser,
    positive,
    require_programs,
    require_root,
    run_anchor,
)
from ospf_neighbours import DEAD_S, HELLO_S, LINKS, Neighbours, advertisements, on

BUILD_LIMIT_S = 900
FLOOD_LIMIT_S = 180
LIMIT_S = 500
OWN_CHANGES = 6
SETTLE_LIMIT_S = 20
LEAST_INTERVAL_S = 5.5
"""A router announces itself anew after MinLSInterval, 5 s, at the earliest (RFC 2328, B)."""
UNUSED_COST = 65_535
PROGRAMS = {
    "frr": {"/usr/lib/frr/ospfd": "frr", "vtysh": "frr", "runuser": "util-linux"},
    "bird": {"/usr/sbin/bird": "bird2", "/usr/sbin/birdc": "bird2"},
}
PACKAGES = {"frr": ["frr"], "bird": ["bird2"]}


def check(by: str) -> None:
    """Raise `MissingError` in one sentence unless the daemon can be run."""
    require_programs({**PROGRAMS[by], "unshare": "util-linux", "ip": "iproute2"})
    require_root("a network namespace of its own")


def spent_ms(pid: int) -> float:
    """Time of the processor that a process has had, with all of its threads."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


class Bird:
    """BIRD, which computes routes at its next tick, a second later at most."""

    def __init__(self, folder: Path, costs: list[int]) -> None:
        self.folder, self.costs = folder, costs
        self.write(costs)
        command = ["bird", "-f", "-c", f"{folder}/bird.conf", "-s", f"{folder}/ctl", "-P", f"{folder}/pid"]
        self.process = subprocess.Popen(contained(command, own_network=False), stderr=subprocess.DEVNULL)
        self.processes = [self.process]
        self.wait_s = 2.5

    def write(self, costs: list[int]) -> None:
        """Its configuration, with the costs of its links."""
        timers = f"type ptp; hello {HELLO_S}; dead {DEAD_S}; retransmit 3600;"
        links = "".join(
            f'interface "e{link}" {{ {timers} cost {cost}; }};' for link, cost in enumerate(costs)
        )
        self.folder.joinpath("bird.conf").write_text(
            "router id 10.0.0.0; protocol device { scan time 3600; }\n"
            f"protocol ospf v2 o {{ ipv4 {{ import all; export none; }}; area 0 {{ {links} }}; }}\n"
        )

    def routes(self) -> int:
        """How many it has."""
        said = subprocess.run(
            ["birdc", "-s", f"{self.folder}/ctl", "show", "route", "count"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        found = re.search(r"(\d+) of \d+ routes", said)
        return int(found[1]) if found else 0

    def filled(self) -> None:
        """All is there."""

    def set_cost(self, link: int, cost: int) -> None:
        """Another cost of a link."""
        self.costs = [*self.costs[:link], cost, *self.costs[link + 1 :]]
        self.write(self.costs)
        subprocess.run(
            ["birdc", "-s", f"{self.folder}/ctl", "configure"], capture_output=True, check=True, timeout=60
        )

    def begin(self) -> float:
        """What is compared with after a change."""
        return spent_ms(self.process.pid)

    def took(self, begun: float) -> dict[str, float]:
        """What the change took."""
        return {"total": spent_ms(self.process.pid) - begun}


class Frr:
    """FRR's ospfd, and zebra, without which it knows no interface."""

    def __init__(self, folder: Path, costs: list[int]) -> None:
        self.folder, self.processes, self.read = folder, [], 0
        timers = f" ip ospf hello-interval {HELLO_S}\n ip ospf dead-interval {DEAD_S}\n"
        timers += " ip ospf retransmit-interval 3600\n ip ospf network point-to-point\n"
        links = "".join(
            f"interface e{link}\n{timers} ip ospf cost {cost}\n" for link, cost in enumerate(costs)
        )
        router = "router ospf\n ospf router-id 10.0.0.0\n timers throttle spf 9000 9000 9000\n"
        router += " timers lsa min-arrival 0\n network 172.16.0.0/16 area 0\n"
        folder.joinpath("zebra.conf").write_text("hostname anchor\n")
        folder.joinpath("ospfd.conf").write_text(f"log file {folder}/log debugging\n{links}{router}")
        subprocess.run(["chown", "-R", "frr:frr", str(folder)], check=True)
        for daemon in ("zebra", "ospfd"):
            options = ["-f", f"{folder}/{daemon}.conf", "-i", f"{folder}/{daemon}.pid", "-P", "0"]
            options += ["-z", f"{folder}/zserv.api", "--vty_socket", str(folder)]
            command = contained([f"/usr/lib/frr/{daemon}", *options], own_network=False)
            self.processes.append(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
            deadline = time.monotonic() + 30
            while not folder.joinpath(f"{daemon}.vty").exists():
                if time.monotonic() > deadline:
                    raise FailedError(f"{daemon} of FRR does not start.")
                time.sleep(0.05)
        self.process = self.processes[-1]
        self.wait_s = 1.0

    def ask(self, *questions: str) -> str:
        """What vtysh says."""
        asked = [part for question in questions for part in ("-c", question)]
        return subprocess.run(
            ["vtysh", "--vty_socket", str(self.folder), *asked],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        ).stdout

    def routes(self) -> int:
        """How many ospfd has."""
        said = self.ask("show ip ospf route")
        return len(re.findall(r"^N ", said, re.MULTILINE))

    def filled(self) -> None:
        """All is there: from now on routes are computed at once."""
        self.ask("configure terminal", "router ospf", "timers throttle spf 0 1 1")

    def set_cost(self, link: int, cost: int) -> None:
        """Another cost of a link."""
        self.ask("configure terminal", f"interface e{link}", f"ip ospf cost {cost}")

    def begin(self) -> float:
        """What is compared with after a change."""
        self.ask("debug ospf event")
        self.read = len(self.log())
        return spent_ms(self.process.pid)

    def log(self) -> str:
        """What ospfd has written of itself."""
        path = self.folder.joinpath("log")
        return path.read_text(errors="replace") if path.exists() else ""

    def took(self, begun: float) -> dict[str, float]:
        """What the change took, and what ospfd says of the last computation."""
        spent = spent_ms(self.process.pid) - begun
        said = self.log()[self.read :]
        total = re.findall(r"SPF Processing Time\(usecs\): (\d+)", said)
        paths = re.findall(r"\s SPF Time: (\d+)", said)
        if not total or not paths:
            return {"total": spent}
        return {"total": spent, "said": int(total[-1]) / 1e3, "spf": int(paths[-1]) / 1e3}


@contextmanager
def daemon(by: str, folder: Path, costs: list[int]) -> Iterator[Bird | Frr]:
    """The daemon, as long as it is needed."""
    made = Bird(folder, costs) if by == "bird" else Frr(folder, costs)
    try:
        yield made
    finally:
        for process in reversed(made.processes):
            end(process)


def settle(one: Bird | Frr, neighbours: Neighbours) -> None:
    """Lets time pass until the daemon has next to nothing to do."""
    deadline = time.monotonic() + SETTLE_LIMIT_S
    while True:
        before = spent_ms(one.process.pid)
        neighbours.rest(one.wait_s)
        if spent_ms(one.process.pid) - before < 8 * one.wait_s:
            return
        if time.monotonic() > deadline:
            raise FailedError(f"the daemon does not come to rest within {SETTLE_LIMIT_S:.0f} s.")


def inside(by: str, written: Path, told: dict[str, object], changes: int) -> dict[str, object]:
    """The measurement, in the namespace."""
    costs, port = told["costs"], told["port"]
    assert isinstance(costs, list) and isinstance(port, int)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for link in range(LINKS):
        for command in (
            f"link add e{link} type veth peer name p{link}",
            f"addr add {on(link, 1)}/30 dev e{link}",
            f"link set e{link} up",
            f"link set p{link} up",
            f"neigh replace {on(link, 2)} lladdr 02:00:00:00:01:{link:02x} dev e{link}",
        ):
            subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    said = list(advertisements(written.read_bytes()))
    count = int(str(told["routers"])) - 1
    base, others = said[:count], said[count:][:changes]
    with tempfile.TemporaryDirectory() as folder, daemon(by, Path(folder), costs) as one:
        neighbours = Neighbours()
        neighbours.meet(60)
        neighbours.flood(base, FLOOD_LIMIT_S)
        one.filled()
        wanted = int(str(told["prefixes"])) - 1
        deadline = time.monotonic() + 60
        while (routes := one.routes()) < wanted:
            if time.monotonic() > deadline:
                raise FailedError(f"the daemon has {routes} routes of {wanted}.")
            neighbours.rest(1)
        own, idle = [], []
        settle(one, neighbours)
        for place in range(OWN_CHANGES):
            begun = one.begin()
            one.set_cost(port, UNUSED_COST if place % 2 == 0 else costs[port])
            neighbours.rest(LEAST_INTERVAL_S)
            settle(one, neighbours)
            own.append(one.took(begun))
        single = []
        for instance in others:
            begun = one.begin()
            settle(one, neighbours)
            idle.append(one.took(begun)["total"])
            begun = one.begin()
            neighbours.update([instance])
            settle(one, neighbours)
            single.append(one.took(begun))
    nothing = statistics.median(idle)
    changed = [*own, *single]
    # One that was not taken would be the least of all.
    if min(found["total"] for found in changed) <= 2 * nothing:
        raise FailedError("the daemon did no more for a change than for none.")
    if by == "frr" and not all("said" in found for found in changed):
        raise FailedError("ospfd does not say of each change how long its computation took.")
    figures = {
        "own_link_ms": min(found["total"] for found in own) - nothing,
        "one_link_ms": statistics.median(found["total"] for found in single) - nothing,
        "idle_ms": nothing,
    }
    if by == "frr":
        figures |= {f"{name}_ms": min(found[name] for found in own) for name in ("said", "spf")}
    return {"anchor": by, "routes": routes, **{name: round(one, 3) for name, one in figures.items()}}


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Has the database written, and runs itself in a namespace."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "database")
        example = ["cargo", "run", "--release", "-q", "-p", "twinplane-control", "--example", "bench_ospf"]
        compiled("bench_ospf", [example[0], "build", *example[2:]], BUILD_LIMIT_S)
        counts = ["--routers", str(options.routers), "--links", str(options.links)]
        command = [*example, "--", *counts, "--changes", str(options.changes), "--write", str(written)]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_S)
        own = [sys.executable, __file__, "--by", options.by, "--inside", str(written)]
        own += ["--told", told.stdout.splitlines()[-1], "--changes", str(options.changes)]
        done = subprocess.run(contained(own), capture_output=True, text=True, check=False, timeout=LIMIT_S)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"{options.by} gave no figure."]
            raise FailedError(lines[-1])
        return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    """Command line."""
    options = parser("Measure an OSPF daemon with a large area.", runs=1)
    options.add_argument("--by", choices=sorted(PROGRAMS), required=True, help="the daemon")
    options.add_argument("--routers", type=positive, default=10_000)
    options.add_argument("--links", type=positive, default=50_000)
    options.add_argument("--changes", type=positive, default=10, help="links of others that change")
    options.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--told", type=json.loads, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.inside:
        try:
            print(json.dumps(inside(chosen.by, chosen.inside, chosen.told, chosen.changes)))
        except (FailedError, OSError, subprocess.SubprocessError) as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    return run_anchor(chosen, PACKAGES[chosen.by], lambda: check(chosen.by), measure)


if __name__ == "__main__":
    sys.exit(main())
