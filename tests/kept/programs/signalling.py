"""RSVP-TE: LSPs that come, go, are re-routed and preempted, with every option of its messages."""

from __future__ import annotations

from typing import Any

from .. import api
from ..registry import program
from ..seen import Seen
from .shapes import arp, square


@program
def failover(seen: Seen) -> None:
    """The fifteen lines of the README: a cut link and a fallback, then repair and teardown."""
    net, (a, b, c, d) = square()
    lsp = a.lsp("gold", to=c, route=[b, c], bandwidth="200 Mbit/s", fallback=[d, c])
    net.flow(a, c, over=lsp, rate="15 Mbit/s", size=512, arrivals="poisson", dscp="EF", start="10 ms")
    net.log_signals()
    seen.tap(net)
    net.run(until="0.2 s")
    net.fail(b, c)
    net.run(until="0.5 s")
    seen.fact("state after the cut", lsp.state)
    net.repair(b, c)
    net.run(until="0.7 s")
    seen.network(net)
    lsp.teardown()
    net.run(for_="1 s")
    seen.network(net, "torn down", ("state", "events", "lsps"))


def _options(seen: Seen, router: dict[str, Any], seconds: str = "3 s", **more: Any) -> None:
    """Two LSPs and a cut in a square whose routers have some options."""
    net, (a, b, c, d) = square(**router)
    gold = a.lsp("gold", to=c, route=[b, c], bandwidth="200 Mbit/s", fallback=[d, c], **more)
    a.lsp("silver", to=d, count=3, bandwidth="10 Mbit/s", **more)
    c.lsp("back", to=a, route=[b, a], **more)
    net.flow(a, c, over=gold, rate="2 Mbit/s", size=200, start="50 ms")
    net.log_signals()
    seen.tap(net)
    net.run(until="0.5 s")
    net.fail(a, b)
    net.run(until=seconds)
    seen.network(net)


@program
def refresh_reduction(seen: Seen) -> None:
    """Message ids, summary refresh and acknowledgements (RFC 2961)."""
    _options(seen, {"refresh_reduction": True, "refresh": "300 ms"})


@program
def hello(seen: Seen) -> None:
    """Hello between neighbours (RFC 3209), with short refreshes."""
    _options(seen, {"hello_interval": "50 ms", "refresh": "200 ms"}, "2 s")


@program
def integrity(seen: Seen) -> None:
    """INTEGRITY objects (RFC 2747), with the handshake."""
    _options(
        seen, {"rsvp_key": "a secret", "rsvp_key_id": 77, "rsvp_handshake": True, "refresh": "400 ms"}, "2 s"
    )


@program
def integrity_without_handshake(seen: Seen) -> None:
    """INTEGRITY objects from the first message on."""
    _options(seen, {"rsvp_key": "a secret", "hello_interval": "200 ms"}, "1 s")


@program
def two_keys(seen: Seen) -> None:
    """One router has another secret: nothing comes up through it."""
    net = api.network(3)
    a, b, c = (net.router(name, rsvp_key="other" if name == "b" else "one") for name in "abc")
    net.link(a, b)
    net.link(a, c)
    a.lsp("no", to=b)
    a.lsp("yes", to=c)
    seen.tap(net)
    net.run(until="2 s")
    seen.network(net)


@program
def implicit_null(seen: Seen) -> None:
    """Penultimate-hop popping, and TTLs of the pipe model."""
    _options(seen, {"egress_label": "implicit-null", "ttl": "pipe"}, "1 s")


@program
def explicit_null(seen: Seen) -> None:
    """Label 0 to the egress, TTLs of the short-pipe model, recorded labels, fixed-filter reservations."""
    router = {"egress_label": "explicit-null", "ttl": "short-pipe"}
    _options(seen, router, "1 s", record_labels=True, style="fixed-filter")


@program
def uniform_ttl(seen: Seen) -> None:
    """TTLs of the uniform model, no recorded route; traceroute and ping along LSPs."""
    net, (a, b, c, d) = square(ttl="uniform")
    lsp = a.lsp("gold", to=c, route=[b, c], record_route=False)
    net.run(until="100 ms")
    seen.fact("ping", a.ping(c))
    seen.table("traceroute", api.frame(a.traceroute(c)))
    seen.table("traceroute of the LSP", api.frame(a.traceroute(lsp=lsp, hops=4)))
    seen.table("traceroute to d", api.frame(d.traceroute("b")))
    seen.network(net)


@program
def preemption(seen: Seen) -> None:
    """Stronger LSPs take the bandwidth of weaker ones; what does not fit is refused."""
    net, (a, b, c, d) = square()
    weak = a.lsp("weak", to=c, route=[b, c], bandwidth="600 Mbit/s", setup_priority=6, fallback=[d, c])
    net.flow(a, c, over=weak, rate="5 Mbit/s", start="20 ms")
    net.run(until="100 ms")
    a.lsp("strong", to=c, route=[b, c], bandwidth="500 Mbit/s", setup_priority=2, holding_priority=1)
    net.run(until="300 ms")
    b.lsp("stronger", to=c, bandwidth="800 Mbit/s", setup_priority=0)
    a.lsp(
        "huge",
        to=c,
        route=[b, c],
        bandwidth="2 Gbit/s",
        retry_limit=2,
        retry_first="50 ms",
        retry_max="80 ms",
    )
    seen.tap(net)
    net.run(until="1.5 s")
    seen.network(net)


@program
def make_before_break(seen: Seen) -> None:
    """A group over parallel links is moved from one to the other under traffic."""
    net = api.network(1)
    a, b = net.router("a"), net.router("b")
    first = net.link(a, b, reservable="100 Mbit/s")
    second = net.link(a, b, reservable="100 Mbit/s")
    group = a.lsp("many", to=b, route=[second], count=5, bandwidth="15 Mbit/s")
    net.flow(a, b, over=group, rate="10 Mbit/s", start="10 ms", stop="400 ms")
    net.log_signals()
    seen.tap(net)
    net.run(until="100 ms")
    group.reoptimise([first])
    net.run(until="250 ms")
    group.reoptimise()
    net.run(until="600 ms")
    seen.network(net)


@program
def loose_and_late(seen: Seen) -> None:
    """Loose routes, an LSP that is signalled by hand and one that is added to a running network."""
    net, (a, b, c, d) = square()
    a.lsp("loose", to=c, route=[c], loose=True)
    later = a.lsp("by hand", to=d, route=[b, c, d], signal=False)
    net.run(until="50 ms")
    later.signal()
    late = d.lsp("late", to=b, route=[c, b], bandwidth="1 Mbit/s")
    net.run(until="100 ms")
    net.flow(d, b, over=late, rate="1 Mbit/s", arrivals="poisson", start="110 ms", name="late")
    seen.tap(net)
    net.run(until="400 ms")
    seen.network(net)


@program
def refused_routes(seen: Seen) -> None:
    """LSPs that cannot come up: their errors, and the attempts that follow."""
    net, (a, b, c, d) = square()
    net.run(until="1 ms")
    net.fail(b, c)
    a.lsp("cut", to=c, route=[b, c], retry_first="30 ms", retry_max="100 ms", retry_limit=4)
    a.lsp("around", to=c, route=[b, c], fallback=[d, c], retry_first="30 ms")
    seen.tap(net)
    net.run(until="1 s")
    net.repair(b, c)
    net.run(until="2 s")
    seen.network(net)


@program
def m10_profile(seen: Seen) -> None:
    """Routers whose control processor and forwarding take time."""
    _profile(seen, "juniper-m10")


@program
def slow_tables(seen: Seen) -> None:
    """A profile with `write_us` above zero: labels are there later than their messages."""
    _profile(
        seen,
        {
            "name": "slow",
            "forwarding": {"latency_ns": 3000.0, "latency_ns_per_byte": 1.5, "packets_per_s_max": 20000.0},
            "control": {
                **{"path_us": 400.0, "resv_us": 300.0, "tear_us": 100.0, "other_us": 50.0},
                **{"per_state_ns": 1000.0, "queue_messages": 12, "alert_queue_messages": 8},
            },
            "tables": {"write_us": 2000.0, "per_entry_ns": 500.0},
            "buffer_bytes": 20000,
            "clock_offset_ppb": 1500,
        },
    )


def _profile(seen: Seen, profile: Any) -> None:
    net = api.network(5)
    a, b, c = (net.router(name, profile) for name in "abc")
    net.link(a, b, rate="100 Mbit/s")
    net.link(b, c, rate="50 Mbit/s")
    group = a.lsp("many", to=c, route=[b, c], count=20, retry_first="200 ms")
    net.flow(a, c, over=group, rate="40 Mbit/s", size=1000, arrivals="poisson", start="100 ms", stop="500 ms")
    net.log_signals()
    seen.tap(net)
    net.run(until="250 ms")
    group.teardown()
    net.run(until="300 ms")
    group.signal()
    net.run(until="800 ms")
    seen.network(net)


@program
def default_timers(seen: Seen) -> None:
    """Ten minutes without traffic and without options: refreshes, expiry, set-up timeouts, retries."""
    net = api.network(12)
    a, b, c = (net.router(name) for name in "abc")
    silent = net.peer("silent")
    first = net.link(a, b)
    net.link(b, c)
    link = net.link(c, silent)
    a.lsp("kept up", to=c)
    a.lsp("unanswered", to=silent, route=[b, c, silent])
    c.lsp("back", to=a, route=[b, a], count=2)
    net.log_signals()
    seen.tap(net)
    net.run(until="1 ms")
    silent.send(api.encode(arp(link, silent, c, 2)))
    net.run(until="200 s")
    net.fault(first, loss=1.0)
    net.run(until="450 s")
    net.fault(first, loss=0.0)
    net.run(until="600 s")
    seen.table("received", {"time": [at for at, _ in silent.receive()]})
    seen.network(net)
