"""A soak run in real time: a lab of four routers, each a process in a namespace of its own."""

from __future__ import annotations

import os
import time
from types import TracebackType

from ..lab import Lab
from . import programme
from .programme import STATE, Sample


class Real:
    """A lab, up as long as this is used as a context."""

    def __init__(
        self, lsps: int, seed: int = 1, refresh: str = "30 s", reduction: bool = False, name: str = ""
    ) -> None:
        self.network = programme.network(lsps, seed, refresh, reduction)
        self.lab: Lab = self.network.lab(name or f"soak-{os.getpid()}")
        self.heads = {lsp.name: lsp.spec["from"] for lsp in self.network.lsps}
        self.seen_ps = dict.fromkeys("abcd", 0)
        self.begin = time.monotonic()

    def __enter__(self) -> Real:
        """Up."""
        self.lab.up(120.0)
        self.begin = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Down."""
        self.lab.down()

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(max(0.0, seconds))

    def now_s(self) -> float:
        """Since the lab was up."""
        return time.monotonic() - self.begin

    def disturb(self, seconds: float) -> None:
        """Cut b–c at both ends."""
        for end in "bc":
            self.lab.node(end).ask("fault", {"fault": "link-down", "link": ["b", "c"], "for_s": seconds})

    def command(self, group: str, do: str) -> None:
        """Tell a group of LSPs something, at its head end."""
        self.lab.node(self.heads[group]).command(group, do)

    def downs(self) -> int:
        """LSPs that went down since this was asked last."""
        found = 0
        for name in sorted(set(self.heads.values())):
            events = self.lab.node(name).columns("events")
            seen = self.seen_ps[name]
            for at, event in zip(events["time_ps"], events["event"], strict=True):
                found += at > seen and event["event"] == "lsp-down"
                self.seen_ps[name] = max(self.seen_ps[name], at)
        return found

    def lost(self) -> int:
        """There is no flow."""
        return 0

    def sample(self) -> list[Sample]:
        """All routers, each with memory and processor of its own."""
        return [self._sample(name) for name in "abcd"]

    def _sample(self, name: str) -> Sample:
        node = self.lab.node(name)
        status, state = node.status(), node.columns("state")
        place = state["node"].index(name)
        held = {key: state[key][place] for key in STATE}
        return Sample(name, held, status["tunnels"]["up"], status["rss_bytes"], status["cpu_s"])
