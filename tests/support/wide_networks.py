"""Random networks with what a run can have: disciplines, hosts, traces, bursts, restarts, captures."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

from twinplane.model.arrivals import Trace
from twinplane.network import Network

from tests.test_events_drawn import DISTURBING, by_calls, drawn

ON_OFF = (
    {"kind": "on-off", "on": "30 ms", "off": "20 ms"},
    {"kind": "on-off", "on": {"mean": "10 ms", "kind": "pareto", "shape": 1.5}, "off": {"mean": "40 ms"}},
)

QUEUES: tuple[dict[str, Any], ...] = (
    {"discipline": "pfifo", "limit": 20},
    {"discipline": "red", "limit": "60 kB", "min": "5 kB", "max": "20 kB", "avpkt": 700, "burst": "14 kB"},
    {"discipline": "fq-codel", "target": "2 ms"},
    {
        "discipline": "drr",
        "classes": {"fast": {"quantum": 500}, "slow": {}},
        "filters": [{"phb": "EF", "class": "fast"}],
    },
    {"discipline": "tbf", "rate": "3 Mbit/s", "burst": "6 kB", "latency": "20 ms"},
    {
        "discipline": "prio",
        "classes": {"fast": {"queue": {"discipline": "bfifo", "limit": "10 kB"}}, "slow": {}},
        "filters": [{"phb": "EF", "class": "fast"}],
    },
    {
        "discipline": "htb",
        "classes": {
            "all": {"rate": "4 Mbit/s"},
            "gold": {"parent": "all", "rate": "1 Mbit/s", "ceil": "4 Mbit/s", "prio": 1},
            "rest": {
                "parent": "all",
                "rate": "3 Mbit/s",
                "queue": {"discipline": "fq-codel"},
            },
        },
        "filters": [{"phb": "EF", "class": "gold"}],
        "default": "rest",
    },
)

LARGE = 4
"""One network of so many has routers enough for eight threads."""

FEATURES = {
    *("faults", "a node that restarts", "disciplines", "hosts", "captures", "a trace", "poisson", "on-off"),
}
"""What has to occur among networks that are drawn."""


def wide(seed: int, folder: Path) -> dict[str, Any]:
    """As `drawn`, and more: `capture` is the place of a link that is captured, or None."""
    said = drawn(seed)
    chance = random.Random(f"wide {seed}")
    for _, _, more in said["links"]:
        if chance.random() < 0.4:
            more["queue"] = chance.choice(QUEUES)
    routers = list(said["nodes"])
    for place in range(chance.choice([0, 2, 3])):
        name, near = f"h{place}", chance.choice(routers)
        said["nodes"][name] = {"kind": "host", "address": f"10.9.{place}.2/24"}
        said["links"].append([name, near, {"rate": "20 Mbit/s", "delay": chance.choice(["20 us", "2 ms"])}])
    hosts = [name for name in said["nodes"] if name not in routers]
    for place, name in enumerate(hosts):
        to = chance.choice([other for other in [*hosts, *routers[:1]] if other != name])
        flow = {"name": f"g{place}", "from": name, "to": to, "size": 300, "rate": "1 Mbit/s"}
        said["flows"].append(flow | {"dscp": chance.choice(["EF", "BE"])})
    for place, flow in enumerate(said["flows"]):
        file = captured(folder / f"{seed}-{place}.pcap", chance)
        trace = Trace.from_pcap(file, repeat=chance.random() < 0.8)
        flow["arrivals"] = chance.choice(["constant", "poisson", *ON_OFF, trace, trace])
    if seed % LARGE == 0:
        widen(said, routers, chance)
    said["capture"] = chance.randrange(len(said["links"])) if chance.random() < 0.25 else None
    return said


def widen(said: dict[str, Any], routers: list[str], chance: random.Random) -> None:
    """More routers, in a chain of long links, and flows to and fro: enough of them for eight threads."""
    more = [f"x{place}" for place in range(chance.randint(9, 12))]
    for a, b in zip([routers[0], *more], more, strict=False):
        said["nodes"][b] = {"kind": "router"}
        said["links"].append([a, b, {"rate": "20 Mbit/s", "delay": chance.choice(["2 ms", "5 ms"])}])
    for place in range(6):
        a, b = chance.sample([*routers, *more], 2)
        flow = {"name": f"x{place}", "from": a, "to": b, "size": 500, "rate": "800 kbit/s"}
        said["flows"].append(flow | {"arrivals": chance.choice(["constant", "poisson"])})


def captured(path: Path, chance: random.Random) -> Path:
    """A capture (pcap) of frames of any length at random times."""
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    at_us = 0
    for _ in range(chance.randint(3, 60)):
        length = chance.randint(60, 1_514)
        file += struct.pack("<IIII", at_us // 10**6, at_us % 10**6, length, length) + bytes(length)
        at_us += int(chance.expovariate(1 / 2_000))
    path.write_bytes(file)
    return path


def features(said: dict[str, Any]) -> set[str]:
    """Which of `FEATURES` a network has."""
    kinds = {kind for one in said["events"] for kind in one}
    arrivals = [flow["arrivals"] for flow in said["flows"]]
    found = {
        "faults": kinds & {"fail", "flap", *DISTURBING},
        "a node that restarts": "restart" in kinds,
        "disciplines": any("queue" in more for _, _, more in said["links"]),
        "hosts": any(node["kind"] == "host" for node in said["nodes"].values()),
        "captures": said["capture"] is not None,
        "a trace": any(isinstance(one, Trace) for one in arrivals),
        "poisson": "poisson" in arrivals,
        "on-off": any(isinstance(one, dict) for one in arrivals),
    }
    return {feature for feature, has in found.items() if has}


def built(said: dict[str, Any]) -> Network:
    """The network, with its capture."""
    net = by_calls(said)
    if said["capture"] is not None:
        net.capture(net.links[said["capture"]])
    return net
