"""A soak run in virtual time."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from ..network import Network
from ..units import PS_PER_S
from . import programme
from .programme import STATE, Sample


class Virtual:
    """A network of this process."""

    def __init__(self, lsps: int, seed: int = 1, refresh: str = "30 s", reduction: bool = False) -> None:
        self.network: Network = programme.network(lsps, seed, refresh, reduction)
        # A steady flow over an LSP of its own, which nothing disturbs.
        a, d, c = (self.network.node(name) for name in ("a", "d", "c"))
        steady = a.lsp("steady", to=c, route=[d, c])  # type: ignore[attr-defined]
        self.flow = self.network.flow(a, c, over=steady, rate="8 kbit/s", size=100, start="5.05 s")
        self.seen_ps = 0

    def wait(self, seconds: float) -> None:
        """Run the network."""
        if seconds > 0:
            self.network.run(for_=seconds)

    def now_s(self) -> float:
        """Virtual time."""
        return self.network.now

    def disturb(self, seconds: float) -> None:
        """Cut b–c."""
        running = self.network.running()
        link = self.network.engine.link_info(self.network.draft.find_link("b", "c").index)["link"]
        now = running.now_ps()
        until = now + round(seconds * PS_PER_S)
        running.fault(json.dumps({"fault": "link-down", "link": link, "at": now, "until": until}))

    def command(self, group: str, do: str) -> None:
        """Tell a group of LSPs something."""
        lsp = next(lsp for lsp in self.network.lsps if lsp.name == group)
        self.network.engine.lsp_command(lsp, do, None)

    def downs(self) -> int:
        """LSPs that went down; what was asked for before is forgotten."""
        events = self.network.columns("events")
        pairs = zip(events["time_ps"], events["event"], strict=True)
        found = sum(1 for at, event in pairs if at >= self.seen_ps and event["event"] == "lsp-down")
        self.seen_ps = self.network.running().now_ps()
        self.network.running().forget_before(self.seen_ps)
        return found

    def lost(self) -> int:
        """Packets of the steady flow that are missing."""
        return sum(self.network.columns("streams")["lost"])

    def sample(self) -> list[Sample]:
        """All routers; memory and processor are those of this process."""
        state = self.network.columns("state")
        lsps = self.network.columns("lsps")
        rss = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        used = time.process_time()
        up = [name for name, state in zip(lsps["from"], lsps["state"], strict=True) if state == "up"]
        return [
            Sample(str(name), {key: state[key][place] for key in STATE}, up.count(name), rss, used)
            for place, name in enumerate(state["node"])
        ]
