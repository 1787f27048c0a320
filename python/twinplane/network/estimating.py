"""What a run of a network will take, from a trial in a process of its own."""

from __future__ import annotations

import json
import time
import warnings
from typing import TYPE_CHECKING

from .. import units
from ..declared import tables
from ..errors import TwinplaneError, TwinplaneWarning
from ..measure.estimate import Estimate, read
from ..measure.growth import Range, exactly
from ..units import Quantity
from . import memory
from .forks import forked
from .trying import Trial, resident

if TYPE_CHECKING:
    from .network import Network

TRIAL_S = 1.0
"""Seconds of the processor that a trial runs the network for."""
CELL = 8
"""Bytes of a cell of a table, as good as all: numbers of 64 bits, or a text of a few letters."""


def estimate(
    network: Network, until: Quantity, seconds: float = TRIAL_S, events: int | None = None
) -> Estimate:
    """See `twinplane.Network.estimate`; with `events` the trial ends after so many instead of by a clock."""
    end_s = units.span_ps(until, "until") / 1e12
    if network.clock != "virtual":
        raise TwinplaneError(
            "estimate: in real time a run takes as long as it lasts: there is no trial of it"
        )
    if network.engine.started:
        raise TwinplaneError("estimate: it is made before the network first runs")
    if not network.nodes:
        raise TwinplaneError("the network has no nodes")
    memory.check(network.draft)

    def tried(_: str) -> bytes:
        return json.dumps(_tried(network, end_s, seconds, events).as_dict()).encode()

    ((_, answer),) = forked(["the trial"], tried, 1)
    return read({**json.loads(answer), "what": "tables"})


def _tried(network: Network, end_s: float, seconds: float, events: int | None) -> Estimate:
    """What a trial foretells; the most memory is that of the end, when tables are asked for."""
    begun, before = time.process_time(), resident()
    network.engine.require_unstarted("a trial")  # what was built is built again, to see what that takes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinplaneWarning)  # the run itself says what is odd
        trial = Trial(network, end_s)
    seen: dict[str, list[tuple[float, float]]] = {}
    for _ in range(2):
        trial.go(seconds / 2, None if events is None else events // 2)
        with trial.apart():
            for table in tables():
                if table.scope == "network":
                    count = len(trial.core.table(table.name))
                    seen.setdefault(table.name, [(0.0, 0.0)]).append((trial.now.at_s, float(count)))
        if trial.done:
            break
    widths = {table.name: CELL * len(table.columns) for table in tables()}
    rows = [trial.rows(looks).times(widths[name]) for name, looks in seen.items()]
    run_s = trial.processor_s()
    whole = (exactly(trial.build_s) + run_s).within(0.1)
    most = exactly(float(max(trial.now.resident, before))) + trial.added()
    whole_events = trial.events()
    return Estimate(
        time_s=whole,
        processor_s=whole,
        memory=most.within(0.1),
        results=sum(rows, Range(0.0, 0.0, 0.0)),
        events=whole_events,
        reached=1.0 if trial.done else trial.now.events / max(whole_events.value, 1.0),
        trial_s=time.process_time() - begun,
    )
