#!/usr/bin/env python3
"""Networks that find their routes by OSPF, from nothing until all is there.

    .venv/bin/python benches/routed.py area ROUTERS LINKS [--until SECONDS]
    .venv/bin/python benches/routed.py zoo FILE.graphml [--pairs N]

`area`: routers in one area, on a random tree with random links beside, OSPF alone; do all of them know
the same in the end? `zoo`: a network of the Internet Topology Zoo with OSPF and LDP; when labels are
there a packet is sent for each ordered pair of routers, or for so many pairs drawn at random. One line
of JSON: seconds of the processor to describe, to build and to run, the most memory in bytes, and what
arrived. Exit code 1 if a packet was lost or routers know different things, 2 if the network does not fit
into memory, 3 without the file. Build for use first (`make setup`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

EXIT_MISSING = 3
ROUTED_S = 60
"""When routes and labels are there, in seconds of the network's own time."""


def area(tp: Any, routers: int, links: int) -> Any:
    """Routers in one area."""
    chance = random.Random(f"{routers} {links}")
    net = tp.Network(seed=1)
    all_routers = [net.router(f"r{place}") for place in range(routers)]
    said = {(chance.randrange(place), place) for place in range(1, routers)}
    while len(said) < links:
        a, b = sorted(chance.sample(range(routers), 2))
        said.add((a, b))
    for a, b in sorted(said):
        net.link(all_routers[a], all_routers[b], rate="1 Gbit/s", delay="1 ms", metric=chance.randint(1, 100))
    net.ospf(area=0)
    return net


def zoo(tp: Any, path: Path, pairs: int | None) -> Any:
    """A network of the zoo, and a packet for each pair."""
    net = tp.Network.from_graphml(path)
    net.ospf(area=0)
    net.ldp()
    wanted = list(itertools.permutations(net.nodes, 2))
    if pairs is not None:
        wanted = random.Random(path.stem).sample(wanted, pairs)
    for place, (a, b) in enumerate(wanted):
        begin = ROUTED_S * 10**6 + place
        net.flow(
            a, b, rate="1 Mbit/s", size=128, start=f"{begin} us", stop=f"{begin + 1} us", name=f"f{place}"
        )
    return net


def arrived(net: Any) -> dict[str, Any]:
    """What the network has made of it."""
    if net.flows:
        streams = net.table("streams")
        return {
            "pairs": len(net.flows),
            "sent": int(streams["sent"].sum()),
            "lost": int(streams["lost"].sum()),
        }
    rows = net.table("ospf")
    return {"databases": rows["checksum"].n_unique(), "routes": net.table("ospf_routes").height}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cases = parser.add_subparsers(dest="case", required=True)
    of_area = cases.add_parser("area")
    of_area.add_argument("routers", type=int)
    of_area.add_argument("links", type=int)
    of_area.add_argument("--until", type=float, default=ROUTED_S)
    of_zoo = cases.add_parser("zoo")
    of_zoo.add_argument("file", type=Path)
    of_zoo.add_argument("--pairs", type=int)
    asked = parser.parse_args()
    if asked.case == "zoo" and not asked.file.is_file():
        print(f"error: {asked.file} is not there; TWINPLANE_TOPOLOGIES says where it is.", file=sys.stderr)
        return EXIT_MISSING
    import twinplane as tp

    begin = time.process_time()
    if asked.case == "area":
        net, until = area(tp, asked.routers, asked.links), asked.until
    else:
        net, until = zoo(tp, asked.file, asked.pairs), ROUTED_S + 10.0
    described = time.process_time()
    net.run(until="1 ns")
    built = time.process_time()
    net.run(until=f"{until} s")
    done = time.process_time()
    figures = {
        "describe_s": described - begin,
        "build_s": built - described,
        "run_s": done - built,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **arrived(net),
    }
    print(json.dumps(figures))
    return 1 if figures.get("lost") or figures.get("databases", 1) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
