"""Our switch in real time: its process in a network namespace, beside that of the tester."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from ... import core
from ...lab.programs import router_program
from ...network import Network
from . import bench
from .bench import DATA, Bench


def check() -> None:
    """Refuse where it can't be made."""
    bench.check("twinplane-live", {})
    router_program()


def _config(controller: str, version: str) -> str:
    """What its process reads: the switch with hosts that are elsewhere, and the interfaces in their place."""
    net = Network()
    switch = net.switch("s1", "10.1.0.0/24", controller=controller, version=version, tables=1, buffers=0)
    for place, name in enumerate(DATA, 11):
        net.link(switch, net.host(name, f"10.1.0.{place}/24"))
    ports = [{"node": "s1", "link": link, "interface": name} for link, name in enumerate(DATA)]
    placement = {"local": ["s1"], "ports": ports}
    return json.dumps({"description": core.for_processes(net.described()), "placement": placement})


@contextmanager
def switch(controller: str, address: str, version: str = "1.0") -> Iterator[Bench]:
    """Runs one as long as the block lasts: ports 1 and 2, and its controller over the kernel's TCP."""
    with bench.bench("twinplane-live", address) as made:
        config, said = made.folder / "s1.json", made.folder / "said"
        config.write_text(_config(controller, version))
        process = made.start(router_program(), "--node", "s1", "--config", str(config))
        made.wait(lambda: b"is ready" in said.read_bytes(), process, "the switch")
        yield made
