"""Systems under test that stand outside: routers in processes of their own, as if somebody else's."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from twinplane import Network
from twinplane.lab import of_network

from . import warm

ENDS = ((1, "in"), (2, "e"))
BRIEF = [
    *("--set", "setup_rate=500", "--set", "settle_s=0.5", "--set", "signalling_rate=500"),
    *("--set", "first_event_s=0.6", "--set", "first_period_s=0.8", "--set", "second_period_s=0.6"),
    *("--set", "grace_s=0.3", "--set", "profile=ideal", "--set", "m=4"),
    *("--set", "scenario=single", "--set", "size=512"),
]
"""About three seconds a point."""
STARTED = {os.getpid()}


def command(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return warm.twinplane(*words, started=STARTED.add, **options)


def metrics(folder: Path) -> list[dict[str, Any]]:
    """Of every point of a results folder."""
    found = json.loads((folder / "summary.json").read_text())
    points = found.get("points") or [found]
    return [point["metrics"] for point in points]


def leftovers() -> set[str]:
    """Namespaces of what was started here: others may make some meanwhile."""
    found = {path.name for path in Path("/run/netns").glob("tp-*")}
    return {name for name in found if any(f"-{pid}-" in name for pid in STARTED)}


class System:
    """Two routers in processes of their own, and the options that test them as somebody else's."""

    def __init__(self, **signalling: Any) -> None:
        self.signalling = signalling

    def __enter__(self) -> list[str]:
        """The options."""
        network = Network(1)
        ingress, egress = (network.edge(f"{side}gress", router_id=f"10.254.{n}.1") for n, side in ENDS)
        first, second = (network.router(name, **self.signalling) for name in ("r1", "r2"))
        network.link(ingress, first, delay=0, addresses=("10.254.1.1/30", "10.254.1.2/30"))
        network.link(first, second, delay=0)
        network.link(egress, second, delay=0, addresses=("10.254.2.1/30", "10.254.2.2/30"))
        self.lab = of_network(network, f"ext-{os.getpid()}").up()
        words = ["--sut", "external"]
        for _, side in ENDS:
            (end,) = self.lab.plan.members[f"{side}gress"].interfaces
            words += [
                *(f"--{side}gress-port", end.name),
                *(f"--{side}gress-netns", f"tp-{self.lab.name}-{side}gress"),
            ]
        return words

    def __exit__(self, *_: object) -> None:
        """Remove everything."""
        self.lab.down()
