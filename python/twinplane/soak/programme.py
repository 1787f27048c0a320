"""What happens in every interval of a soak run, and what is sampled at its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ..network import Network

EAST, WEST, CHURN = "east", "west", "churn"
"""Groups of LSPs: over a link that goes down, over others, and one that is torn down and signalled again."""

DOWN_S = 2.0
"""How long the link is down."""

STATE = ("lsps", "sessions", "tunnels", "labels", "reserved_bps", "timers", "ilm", "ftn", "waiting")
"""What a router holds, as in its table `state`."""


@dataclass(frozen=True)
class Sample:
    """A router at the end of an interval."""

    node: str
    state: dict[str, int]
    tunnels_up: int
    rss_bytes: int
    """Resident memory of the process that it runs in."""
    cpu_s: float
    """Processor that this process has used so far."""


@dataclass(frozen=True)
class Round:
    """An interval."""

    number: int
    end_s: float
    """Since the beginning, by the clock of the run."""
    samples: list[Sample]
    downs: int
    """LSPs that went down while nobody disturbed them."""
    lost: int
    """Packets of a steady flow that got lost so far; of a run without one, none."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        samples = [{**vars(sample)} for sample in self.samples]
        return {**vars(self), "samples": samples}


class Subject(Protocol):
    """A network under one of the clocks."""

    def wait(self, seconds: float) -> None:
        """Let it run."""

    def now_s(self) -> float:
        """Since the beginning."""

    def disturb(self, seconds: float) -> None:
        """Cut the link that `EAST` takes, for so long."""

    def command(self, group: str, do: str) -> None:
        """Tell a group of LSPs something."""

    def downs(self) -> int:
        """How many LSPs went down since this was asked last."""

    def lost(self) -> int:
        """Packets lost so far."""

    def sample(self) -> list[Sample]:
        """All routers."""


def network(lsps: int, seed: int, refresh: str, reduction: bool, **options: Any) -> Network:
    """A ring of four routers; `lsps` LSPs begin at one of them, and as many end there."""
    net = Network(seed=seed, series_bin="10 min", loss_bin="10 min", **options)
    rsvp: dict[str, Any] = {"refresh": refresh, "refresh_reduction": reduction, "hello_interval": "1 s"}
    a, b, c, d = (net.router(name, **rsvp) for name in "abcd")
    for x, y in ((a, b), (b, c), (c, d), (d, a)):
        net.link(x, y, rate="1 Gbit/s", delay="50 us", detection="10 ms")
    part = max(1, lsps // 4)
    a.lsp(EAST, to=c, route=[b, c], fallback=[d, c], count=max(1, lsps - part), record_route=True)
    c.lsp(WEST, to=a, route=[d, a], count=lsps, record_route=True)
    a.lsp(CHURN, to=d, route=[d], count=part)
    return net


def soak(subject: Subject, rounds: int, interval_s: float) -> Iterator[Round]:
    """Run it; each interval has a quiet half, a disturbance, and a quiet rest."""
    settle = min(60.0, interval_s / 8)
    for number in range(1, rounds + 1):
        begin = subject.now_s()
        subject.downs()
        subject.wait(interval_s / 2)
        downs = subject.downs()
        # The link goes down: LSPs take their second route; and they go back when they are optimised again.
        subject.disturb(DOWN_S)
        subject.command(CHURN, "tear")
        subject.wait(DOWN_S + settle)
        subject.command(EAST, "reoptimise")
        subject.command(CHURN, "signal")
        subject.wait(settle)
        subject.downs()
        subject.wait(begin + interval_s - subject.now_s())
        downs += subject.downs()
        yield Round(number, subject.now_s(), subject.sample(), downs, subject.lost())
