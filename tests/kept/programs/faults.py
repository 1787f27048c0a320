"""Faults of every kind, restarts, recording and replay."""

from __future__ import annotations

from typing import Any

from .. import api
from ..registry import program
from ..seen import Seen
from .shapes import square


def _disturbed(seen: Seen, **fault: Any) -> None:
    """An LSP and a flow over a link that is disturbed while it is set up and while it carries."""
    net, (a, b, c, d) = square(refresh="100 ms")
    net.log_signals()
    net.run(until="1 us")
    net.fault(a, b, **fault)
    lsp = a.lsp("gold", to=c, route=[b, c], fallback=[d, c])
    net.flow(a, c, over=lsp, rate="4 Mbit/s", size=300, start="50 ms", stop="400 ms", name="forth")
    net.flow(c, a, rate="1 Mbit/s", size=300, arrivals="poisson", stop="400 ms", name="back")
    seen.tap(net)
    net.run(until="300 ms")
    net.heal()
    net.run(until="600 ms")
    seen.network(net)


@program
def fault_loss(seen: Seen) -> None:
    """Lost frames, both ways."""
    _disturbed(seen, loss=0.3)


@program
def fault_loss_one_way(seen: Seen) -> None:
    """Lost frames one way, for a time."""
    _disturbed(seen, loss=0.2, direction="back", until="200 ms")


@program
def fault_corruption(seen: Seen) -> None:
    """Flipped bits."""
    _disturbed(seen, corruption=2e-4)


@program
def fault_duplication(seen: Seen) -> None:
    """Frames that come twice."""
    _disturbed(seen, duplication=0.2, direction="forth")


@program
def fault_reordering(seen: Seen) -> None:
    """Frames that are held back."""
    _disturbed(seen, reordering=0.2, by="2 ms")


@program
def fault_delay(seen: Seen) -> None:
    """A delay with jitter."""
    _disturbed(seen, delay="3 ms", jitter="2 ms")


@program
def fault_mixture(seen: Seen) -> None:
    """All at once."""
    _disturbed(seen, loss=0.1, corruption=1e-5, duplication=0.1, reordering=0.1, by="500 us", delay="1 ms")


@program
def link_down_and_up(seen: Seen) -> None:
    """A link that is cut and mended, with a time until its ends notice."""
    link = {"rate": "100 Mbit/s", "delay": "1 ms", "detection": "5 ms", "buffer": "20 kB", "mtu": 1500}
    net, (a, b, c, d) = square(link=link, hello_interval="20 ms")
    lsp = a.lsp("gold", to=c, route=[b, c], fallback=[d, c])
    net.flow(a, c, over=lsp, rate="80 Mbit/s", size=1000, arrivals="poisson", start="50 ms", stop="300 ms")
    net.flow(d, b, rate="20 Mbit/s", size=100, start="50 ms", stop="300 ms")
    seen.tap(net)
    for at, what in (
        ("100 ms", net.fail),
        ("150 ms", net.repair),
        ("200 ms", net.fail),
        ("220 ms", net.repair),
    ):
        net.run(until=at)
        what(b, c)
    net.run(until="600 ms")
    seen.network(net)


@program
def restart(seen: Seen) -> None:
    """A transit router and a head end restart, with Hello and without traffic at first."""
    net, (a, b, c, d) = square(hello_interval="10 ms", refresh="100 ms")
    lsp = a.lsp("gold", to=c, route=[b, c], fallback=[d, c], bandwidth="1 Mbit/s")
    d.lsp("other", to=b, route=[a, b])
    net.flow(a, c, over=lsp, rate="2 Mbit/s", start="20 ms", stop="700 ms")
    net.log_signals()
    seen.tap(net)
    net.run(until="100 ms")
    net.restart(b, down="20 ms")
    net.run(until="400 ms")
    net.restart("a", down="50 ms")
    net.run(until="900 ms")
    seen.network(net)


@program
def restart_without_hello(seen: Seen) -> None:
    """A router restarts with refresh reduction only: its new epoch says so."""
    net, (a, b, c, _) = square(refresh_reduction=True, refresh="100 ms")
    lsp = a.lsp("gold", to=c, route=[b, c])
    net.flow(a, c, over=lsp, rate="1 Mbit/s", start="20 ms", stop="900 ms")
    seen.tap(net)
    net.run(until="200 ms")
    net.restart(b)
    net.run(until="2.5 s")
    seen.network(net)


OTHERWISE: dict[str, Any] = {"egress_label": "implicit-null", "refresh": "10 ms"}
"""Options with which a router answers a recording otherwise."""


@program
def recording_and_replay(seen: Seen) -> None:
    """A recorded router, the recording itself, and what other routers answer to it."""
    net, (a, b, c, d) = square()
    lsp = a.lsp("gold", to=c, route=[b, c], fallback=[d, c])
    net.flow(a, c, over=lsp, rate="10 Mbit/s", stop="25 ms")
    net.record(b)
    net.run(until="20 ms")
    net.fail(b, c)
    net.run(until="200 ms")
    made = net.recording("b")
    seen.fact("inputs", len(made))
    seen.content("recording", made.text.encode())
    seen.network(net)
    for name, options in (("same", {}), ("another", OTHERWISE)):
        fresh, _ = square(**options)
        replay = fresh.replay(api.recording(made.text))
        for key in ("outputs", "digest", "same"):
            seen.fact(f"replay by {name}: {key}", getattr(replay, key))
