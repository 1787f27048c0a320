"""The clock on the wall in one process: only what does not depend on when things happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import api
from ..registry import program
from ..seen import Seen

STEPS = 500
"""Steps of 20 ms after which what did not come about never will."""

EXACT: dict[str, tuple[str, ...]] = {
    "lsps": ("lsps", "index", "name", "from", "to", "state", "hops"),
    "flows": (),
    "state": ("node", "lsps", "sessions", "tunnels", "labels", "reserved_bps", "ilm", "ftn"),
    "fib": (),
    "bandwidth": (),
}
"""Tables, and columns of them, that are the same in every run; of a table without columns, all.

Left out are times, counts of messages and packets that refreshes and ARP add to, digests and captures (they
hold times), and labels (in the order in which requests arrive).
"""


def _until(net: Any, so: Callable[[], bool]) -> None:
    for _ in range(STEPS):
        if so():
            return
        net.run(for_="20 ms")
    raise RuntimeError("by the clock on the wall it never came about")


@program
def wall_clock(seen: Seen) -> None:
    """Hosts, routers, LSPs and a flow that sends a known number of packets, by the clock on the wall."""
    net = api.network(7, clock="wall")
    left, right = net.host("left", "10.1.1.2/24"), net.host("right", "10.1.2.2/24")
    a, b, c = (net.router(name) for name in "abc")
    for x, y in [(a, b), (b, c), (left, a), (c, right)]:
        net.link(x, y, delay=0, mtu=1500, reservable="100 Mbit/s")
    a.lsp("east", to=c, route=[b, c], carries="10.1.2.0/24", bandwidth="3 Mbit/s")
    c.lsp("west", to=a, route=[b, a], carries="10.1.1.0/24")
    _until(net, lambda: all(lsp.up for lsp in net.lsps))
    begin = net.now + 0.1
    net.flow(left, right, rate="1 Mbit/s", size=500, start=begin, stop=begin + 0.1)
    _until(net, lambda: net.now > begin + 0.3)
    seen.fact("sent", net.flows[0].stats()["sent"].sum())
    seen.fact("duplicated", net.flows[0].stats()["duplicated"].sum())
    seen.fact("addresses", api.places(net))
    for name, columns in EXACT.items():
        if name in api.ONLY_OF_A_NODE:
            seen.stack(name, ((node.name, api.columns(net, name, node)) for node in net.nodes))
        else:
            found = api.columns(net, name) or {}
            seen.table(name, {key: found[key] for key in columns or found})
    net.fail(a, b)
    _until(net, lambda: net.lsps[0].state == "down")
    net.heal()
    _until(net, lambda: all(lsp.up for lsp in net.lsps))
    seen.fact("up after the cut", [lsp.state for lsp in net.lsps])
    net.close()
