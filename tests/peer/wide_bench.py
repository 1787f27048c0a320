"""A few Twinplane routers with naive neighbours at as many raw ports as a test needs.

A raw port has one link, so a naive router with several links is several ports with one router identifier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import codec as c
from .harness import DELAY, RATE, RouterPort, VirtualTime, mac_bytes
from .neighbour import ALERTED, Ends, Neighbour
from .ospf import Adjacency, TeLink, described

STEP = 0.002


@dataclass
class WideBench:
    """The network, its clock, and the naive end of each link that has one, by the name of the port."""

    net: Any
    clock: VirtualTime
    routers: dict[str, Any]
    links: dict[tuple[str, str], Any]
    sides: dict[str, Neighbour]
    ports: dict[str, RouterPort]
    # Whatever looks at ports as time passes: naive routers, or the sides alone.
    pumps: list[Callable[[], None]] = field(default_factory=list)
    adjacencies: list[Adjacency] = field(default_factory=list)

    def run(self, seconds: float, step: float = STEP) -> None:
        """Let time pass; all naive routers look at their ports every `step` seconds."""
        end = self.clock.seconds + seconds
        while True:
            for pump in [*(side.pump for side in self.sides.values()), *self.pumps]:
                pump()
            left = end - self.clock.seconds
            if left <= 1e-9:
                return
            self.clock.run(min(step, left))

    def until(self, what: Callable[[], object], seconds: float = 1.0, step: float = STEP) -> None:
        """Let time pass until something holds; it is a failure if that takes longer."""
        end = self.clock.seconds + seconds
        while not what():
            assert self.clock.seconds < end, f"it did not happen in {seconds} s"
            self.run(step, step)

    def routed(self, *links: TeLink) -> None:
        """Have these links of naive routers be known by OSPF at all ports whose routers speak it."""
        said = described(list(links))
        named = {link.address for link in links}
        for side in self.sides.values():
            if side.ends.address in named:
                self.adjacencies.append(Adjacency(side, said))
        self.until(lambda: all(adjacency.complete for adjacency in self.adjacencies), 30.0, 0.02)
        # RFC 2328, B: a router announces its new links at most each MinLSInterval, 5 s.
        self.run(6.0, 0.05)

    def te_link(self, port: str, metric: int = 1) -> TeLink:
        """The link at a port, as the naive router announces it."""
        ends = self.sides[port].ends
        return TeLink(ends.router_id, ends.address, ends.peer_router_id, ends.peer, metric)

    def forget(self) -> None:
        """Empty all inboxes, once what came holds what always holds."""
        self.assert_sound()
        for side in self.sides.values():
            for listed in (side.inbox, side.labelled, side.packets):
                listed.clear()

    def assert_sound(self) -> None:
        """What holds for each message that a router sent to its neighbour, and not through a tunnel."""
        for name, side in self.sides.items():
            assert side.undecodable == [], name
            for item in side.inbox:
                message, packet = item.message, item.packet
                what = f"{name}, message {message.kind} at {item.time:.6f} s"
                if message.kind == c.Type.RESV_ERR and packet.source != side.ends.peer:
                    # To a merge point, over other routers: its TTL is not that of the message (RFC 4090, 7).
                    assert message.need(c.RsvpHop).address == packet.source, what
                    continue
                # RFC 2205, 3.1.1, 3.1.3 and 3.3.
                assert packet.ttl == message.ttl, what
                assert packet.router_alert == (message.kind in ALERTED), what
                if message.kind in (c.Type.PATH, c.Type.PATH_TEAR):
                    assert message.need(c.RsvpHop).address == side.ends.peer, what
                elif message.kind != c.Type.RESV_CONF:
                    assert packet.destination == side.ends.address, what

    def leftovers(self) -> list[str]:
        """State, labels, bandwidth and timers that any router still holds."""
        found = []
        for row in self.net.table("state").to_dicts():
            found += [
                f"{row['node']} {name}: {count}" for name, count in row.items() if count and name != "node"
            ]
        return found

    def assert_clean(self, silence: float = 200.0) -> None:
        """After a silence longer than any lifetime (RFC 2205, 3.7) nothing is left anywhere."""
        self.assert_sound()
        self.pumps.clear()
        self.clock.run(silence)
        assert self.leftovers() == []


def build(
    tp: Any,
    routers: Mapping[str, Mapping[str, Any]],
    links: Sequence[tuple[str, str]],
    same: Mapping[str, str] | None = None,
    **ospf: Any,
) -> WideBench:
    """Routers with their options, and links; an end that is no router is a raw port of a naive one.

    `same` says of a port that it is another link of the naive router at an earlier one. `ospf` are settings
    of OSPF at all routers; without any there are static routes.
    """
    net = tp.Network(seed=1)
    ports = dict.fromkeys(name for link in links for name in link if name not in routers)
    nodes = {name: net.peer(name) for name in ports}
    # Greater router ids than those of naive routers: these are slaves in OSPF.
    for place, (name, has) in enumerate(routers.items(), 1):
        nodes[name] = net.router(name, **{"router_id": f"100.127.255.{place}", **has})
    made = {
        (one, other): net.link(nodes[one], nodes[other], rate=RATE, delay=DELAY, reservable=RATE)
        for one, other in links
    }
    if ospf:
        net.ospf(*routers, **ospf)
    clock = VirtualTime(net)
    raw = {name: RouterPort(clock, nodes[name]) for name in ports}
    sides = {}
    for (one, other), link in made.items():
        for port, router in ((one, other), (other, one)):
            if port in ports:
                owner = nodes[(same or {}).get(port, port)]
                addresses = str(link.address(port)), str(link.address(router))
                ends = Ends(
                    mac_bytes(link.mac(port)), *addresses, str(owner.loopback), str(nodes[router].loopback)
                )
                sides[port] = Neighbour(raw[port], ends)
                sides[port].refresh_reduction = False
    return WideBench(net, clock, {name: nodes[name] for name in routers}, made, sides, raw)
