"""Small networks that several programs share."""

from __future__ import annotations

from typing import Any

from .. import api

GIGABIT: dict[str, Any] = {"rate": "1 Gbit/s", "delay": "50 us", "reservable": "900 Mbit/s"}


def square(seed: int = 7, link: dict[str, Any] | None = None, **router: Any) -> tuple[Any, list[Any]]:
    """Four routers in a ring of four links: a - b - c - d - a."""
    net = api.network(seed, queue_bin="10 ms")
    routers = [net.router(name, **router) for name in "abcd"]
    a, b, c, d = routers
    for x, y in [(a, b), (b, c), (c, d), (a, d)]:
        net.link(x, y, **(GIGABIT if link is None else link))
    return net, routers


def sites(seed: int = 1, routers: dict[str, Any] | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Two hosts and three routers in a row: left - a - p - b - right; links of 10 Mbit/s between routers.

    `routers` are options of all three; ``ap``, ``pb``, ``left_a`` and ``b_right`` are options of the links.
    """
    ends = {key: options.pop(key, {}) for key in ("left_a", "ap", "pb", "b_right")}
    net = api.network(seed, queue_bin="20 ms", **options)
    found = {name: net.router(name, **(routers or {})) for name in "apb"}
    found["left"] = net.host("left", "10.1.0.2/24")
    found["right"] = net.host("right", "10.2.0.2/24")
    net.link("left", "a", rate="100 Mbit/s", **ends["left_a"])
    net.link("a", "p", **{"rate": "10 Mbit/s", "delay": "200 us", **ends["ap"]})
    net.link("p", "b", **{"rate": "10 Mbit/s", "delay": "200 us", **ends["pb"]})
    net.link("b", "right", rate="100 Mbit/s", **ends["b_right"])
    return net, found


def arp(link: Any, peer: Any, router: Any, operation: int) -> list[dict[str, Any]]:
    """A request (1) or an answer (2) of a peer to a router at the other end of a link."""
    everybody = "ff:ff:ff:ff:ff:ff"
    return [
        {
            "layer": "ethernet",
            "src": link.mac(peer),
            "dst": everybody if operation == 1 else link.mac(router),
            "ethertype": 0x0806,
        },
        {
            "layer": "arp",
            "operation": operation,
            "sender_mac": link.mac(peer),
            "sender_ip": link.address(peer),
            "target_mac": "00:00:00:00:00:00" if operation == 1 else link.mac(router),
            "target_ip": link.address(router),
        },
    ]
