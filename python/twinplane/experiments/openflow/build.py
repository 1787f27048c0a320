"""The testbed: a switch, and the tester with its channel and two data ports."""

from __future__ import annotations

from ...network import Network
from . import model
from .parameters import OpenFlowParameters
from .rows import Row, rows

LINK_RATE, LINK_DELAY = "1 Gbit/s", "100 ns"
SETTLE_S = 1.0
"""So long a run goes on when the test is over: what comes then is late, and not lost."""
WAIT_S = 10.0
"""From the first packet of the stream to the first addition."""
REST_S = 60.0
"""So long beyond what they take a test of many entries on a slow switch is given, if 120 s are too few."""


def row_of(parameters: OpenFlowParameters) -> Row:
    """The row that a part of a run has."""
    (row,) = rows(parameters.model_copy(update={"quick": False, "part": "all"}))
    return row


def test_of(row: Row) -> str:
    """The test of the tester: flow maximum is flow_add with more entries."""
    return "flow-add" if row.part == "flow-maximum" else row.part


def duration_s(parameters: OpenFlowParameters, row: Row) -> float:
    """How long packets are sent."""
    duration = row.duration_s(parameters.durations)
    if row.part.startswith("flow"):
        if parameters.quick:
            duration = 40.0
        if parameters.profile is not None:
            duration = max(duration, model.write_s(parameters.profile, row.flows) + REST_S)
    return duration


def build(parameters: OpenFlowParameters, seed: int) -> Network:
    """A switch of the study's kind: of version 1.0, without buffers."""
    row = row_of(parameters)
    net = Network(seed=seed)
    switch = net.switch(
        "s1",
        "10.1.0.0/24",
        controller="tcp:10.9.0.2:6633",
        version="1.0",
        tables=1,
        buffers=0,
        profile=parameters.profile,
    )
    tester = net.openflow_tester(
        "tester",
        test=test_of(row),
        rate=f"{row.used_rate:g} Mbit/s",
        size=row.size,
        flows=row.flows,
        duration=duration_s(parameters, row),
        wait=WAIT_S,
        confirm=parameters.confirm and row.part.startswith("flow"),
        fill=parameters.fill and row.part == "data",
    )
    net.link(switch, tester, rate=LINK_RATE, delay=LINK_DELAY)
    net.link(switch, tester, rate=LINK_RATE, delay=LINK_DELAY)
    net.link(switch, tester, rate=LINK_RATE, delay=LINK_DELAY, addresses=("10.9.0.1/30", "10.9.0.2/30"))
    return net


def end_s(parameters: OpenFlowParameters) -> float:
    """When what is under way has arrived; a test of changes begins when its entries are written."""
    row = row_of(parameters)
    before = 0.0
    if row.part == "flow-mod" and parameters.profile is not None:
        before = model.write_s(parameters.profile, row.flows)
    return before + duration_s(parameters, row) + SETTLE_S
