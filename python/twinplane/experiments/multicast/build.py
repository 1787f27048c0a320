"""The testbed of the study: PC2 sends, PC3 is the core, PC4 and its like receive."""

from __future__ import annotations

from random import Random
from typing import Any

from ...network import Network
from ...traffic import Trace
from .parameters import ETHERNET, LABEL, MTU, RATE, MulticastParameters, fragments, wire_bytes

GROUP = "239.1.1.1"
START_S = 0.2
"""By then routers have joined the tree, or set up the LSP."""
SETTLE_S = 0.3
"""So long queues are left to fill before arrivals are counted."""
OVERLOAD = 1.01
"""The sender sends a little more than the links carry: as fast as it can."""
LEAST_RECEIVERS = 3
"""PC4, PC5 and PC6 are there, whether or not they receive."""


def build(p: MulticastParameters, seed: int) -> Network:
    """Routers with the links of the study, and behind each a host that takes no time."""
    net = Network(seed=seed)
    count = max(p.receivers, LEAST_RECEIVERS)
    names = ["pc2", "pc3", *(f"pc{place + 4}" for place in range(count))]
    settings: dict[str, Any] = {}
    if p.forwarding == "group":
        settings = {"igmp": {}, "cbt": {"groups": [{"group": GROUP, "core": "192.0.2.3"}]}}
    if p.probing:
        settings["probing"] = {"period": f"{p.probe_period_ms} ms", "misses": p.misses}
    routers = [
        net.router(name, profile=p.profile, router_id=f"192.0.2.{place + 2}", **settings)
        for place, name in enumerate(names)
    ]
    sender, core, *leaves = routers
    for other in (sender, *leaves):
        net.link(core, other, rate=f"{RATE:.0f} bit/s", delay="5 us", mtu=MTU + LABEL)
    joins = [GROUP] if p.forwarding == "group" else []
    hosts = []
    for place, router in enumerate((sender, *leaves[: p.receivers])):
        host = net.host(f"host{router.name[2:]}", f"10.{place + 1}.0.2/24", join=joins)
        net.link(host, router, rate="10 Gbit/s", mtu=MTU + LABEL)
        hosts.append(host)
    source, first, *others = hosts
    if p.forwarding == "lsp":
        sender.lsp("unicast", to=leaves[0], carries=["10.2.0.0/24"])
    # Runs differ in when the sender begins: so packets meet probes at other moments.
    start = START_S + Random(seed).random() * 0.01
    sizes = [length + ETHERNET for length in fragments(p.size)]
    every = wire_bytes(p.size) * 8 / RATE / OVERLOAD
    gaps = [every, *(0 for _ in sizes[1:])]
    net.flow(
        source,
        first,
        name="stream",
        arrivals=Trace(gaps, sizes, repeat=True),
        start=start,
        group=GROUP if joins else None,
        receivers=others if joins else (),
    )
    return net


def window(p: MulticastParameters) -> tuple[float, float]:
    """From when to when arrivals are counted, in seconds."""
    return START_S + SETTLE_S, START_S + SETTLE_S + p.duration_s
