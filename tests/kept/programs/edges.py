"""Emulated edge routers with programmes, and hosts with several links."""

from __future__ import annotations

from typing import Any

from .. import api
from ..registry import program
from ..seen import Seen


def _programme(seen: Seen, edge: dict[str, Any], profile: Any, **options: Any) -> None:
    net = api.network(4, phases=("0 s", "300 ms", "500 ms"), **options)
    west, east = net.edge("west", **edge), net.edge("east", **edge)
    r1, r2 = net.router("r1", profile, **edge), net.router("r2", profile, **edge)
    net.link(west, r1, clock_ppm=(20.0, 0.0))
    net.link(r1, r2, rate="300 Mbit/s", delay="57 us")
    net.link(r2, east)
    stable = west.lsp("stable", to=east, route=[r1, r2, east], count=5)
    flapping = west.lsp(
        "flapping", to=east, route=[r1, r2, east], count=40, signal=False, retry_first="10 ms"
    )
    back = east.lsp("back", to=west, route=[r2, r1, west], count=3, bandwidth="1 Mbit/s")
    west.programme("5 ms", "signal", stable, 1000)
    east.programme("5 ms", "signal", back, 1000)
    west.programme("10 ms", "signal", flapping, 2000)
    west.programme("300 ms", "flap", flapping, 1000)
    west.programme("600 ms", "tear", flapping, 4000)
    net.flow(west, east, over=stable, rate="20 Mbit/s", size=512, start="100 ms", stop="700 ms", trace=True)
    net.flow(east, west, over=back, rate="5 Mbit/s", size=200, start="100 ms", stop="700 ms", log=True)
    net.log_signals()
    seen.tap(net)
    net.run(until="1 s")
    seen.network(net)


@program
def edges_ideal(seen: Seen) -> None:
    """Programmes that signal, flap and tear through ideal routers."""
    _programme(seen, {}, "ideal")


@program
def edges_m10(seen: Seen) -> None:
    """The same through routers that fall behind; delays from the last bit to the last bit."""
    _programme(seen, {"setup_timeout": "200 ms"}, "juniper-m10", convention="last-to-last")


@program
def edges_with_refresh_reduction(seen: Seen) -> None:
    """The same with refresh reduction and short refreshes."""
    _programme(seen, {"refresh_reduction": True, "refresh": "200 ms"}, "ideal", series_bin="50 ms")


@program
def stations(seen: Seen) -> None:
    """Hosts with several links, addresses and gateways of their own, pings and routes traced."""
    net = api.network(6, queue_bin="10 ms")
    a, b, c = (net.router(name, router_id=f"192.0.2.{place}") for place, name in enumerate("abc", 1))
    two = net.host("two")
    far = net.host("far", "10.9.0.7/24", gateway="10.9.0.254")
    near = net.host("near", "10.8.0.2/30")
    net.link(a, b, metric=3, addresses=("172.16.0.1/30", "172.16.0.2/30"))
    net.link(b, c, mtu=1500)
    net.link(a, c, metric=10, delay="2 ms")
    first = net.link(
        two, a, addresses=("10.4.0.2/24", "10.4.0.1/24"), queue={"two": {"discipline": "pfifo", "limit": 5}}
    )
    second = net.link(two, c, addresses=("10.5.0.2/24", "10.5.0.1/24"))
    net.link(far, c)
    net.link(b, near)
    a.lsp("far", to=c, route=[b, c], carries=["10.9.0.0/24", "10.5.0.0/24"])
    a.lsp(
        "web",
        to=c,
        route=[c],
        filters=[{"protocol": "udp", "dst_ports": "80-90", "dscp": "EF", "dst": "10.9.0.0/24"}],
    )
    net.flow(two, two, rate="2 Mbit/s", from_link=first, to_link=second, name="round", stop="300 ms")
    net.flow(two, far, rate="2 Mbit/s", from_link=first, name="web", dst_port=80, dscp="EF", stop="300 ms")
    net.flow(far, two, rate="1 Mbit/s", to_link="c", name="answer", src_port=5000, stop="300 ms", size=1400)
    net.flow(
        near, far, rate="1 Mbit/s", size=api.source("Exponential", 300), arrivals="poisson", stop="300 ms"
    )
    gaps = api.source("Trace", gaps=["1 ms", "2 ms", "500 us"], sizes=[100, 200, 300], repeat=True)
    net.flow(near, two, name="trace", arrivals=gaps, to_link=first, stop="200 ms", log=True)
    net.flow(
        far,
        near,
        name="mix",
        size=api.source("Empirical", (64, 1000), (1, 3)),
        rate="1 Mbit/s",
        stop="200 ms",
    )
    seen.tap(net)
    net.run(until="400 ms")
    seen.fact("ping", near.ping(far))
    seen.fact("ping of nobody", near.ping("10.77.0.1", wait="50 ms"))
    seen.table("traceroute", api.frame(two.traceroute(far)))
    seen.table("traceroute by address", api.frame(near.traceroute("10.9.0.7")))
    seen.fact("addresses of two", two.addresses)
    seen.network(net)
