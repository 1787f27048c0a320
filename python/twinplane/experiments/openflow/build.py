"""The testbed: a switch, and the tester with its channel and two data ports.

In real time the switch is beyond interfaces, and the tester is the same: its channel runs over its own TCP.
"""

from __future__ import annotations

from ...network import Network
from ...network.nodes import Node
from . import model, private
from .parameters import OpenFlowParameters
from .rows import Row, rows

CONTROLLER, ADDRESSES = "tcp:10.9.0.2:6633", ("10.9.0.1/30", "10.9.0.2/30")
LINK_RATE, LINK_DELAY = "1 Gbit/s", "100 ns"
SETTLE_S = 1.0
"""So long a run goes on when the test is over: what comes then is late, and not lost."""
CONNECT_S = 20.0
"""In real time a switch is given so long to connect."""
LEAD_S = 0.0005
"""From a packet of the stream to the additions that begin with it: published times are whole intervals of the
stream less 0.3 to 0.9 ms, whatever the switch is. So this is fitted, and only this experiment sets it."""
STEP_S = 0.5
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


def wait_s(parameters: OpenFlowParameters) -> float:
    """From the first packet of the stream to the first addition; less in a short run in real time."""
    return min(WAIT_S, parameters.sends_s) if parameters.is_real and parameters.sends_s else WAIT_S


def duration_s(parameters: OpenFlowParameters, row: Row) -> float:
    """How long packets are sent."""
    duration = row.duration_s(parameters.durations)
    if parameters.is_real:
        if row.part.startswith("flow"):
            return 3 * wait_s(parameters) if parameters.sends_s else duration
        return max(parameters.sends_s, 4 * row.interval_s) if parameters.sends_s else duration
    if row.part.startswith("flow"):
        if parameters.quick:
            duration = 40.0
        if parameters.profile is not None:
            duration = max(duration, model.write_s(parameters.profile, row.flows) + REST_S)
    return duration


def build(parameters: OpenFlowParameters, seed: int) -> Network:
    """A switch of the study's kind: of version 1.0, without buffers."""
    row = row_of(parameters)
    net = Network(seed=seed, clock="wall" if parameters.is_real else "virtual")
    if parameters.is_real:
        switch: Node = net.external("s1")
    else:
        switch = net.switch(
            "s1",
            "10.1.0.0/24",
            controller=CONTROLLER,
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
        wait=wait_s(parameters),
        lead=LEAD_S,
        confirm=parameters.confirm and row.part.startswith("flow"),
        fill=parameters.fill and row.part == "data",
    )
    for interface, addresses in (
        (private.DATA[0], None),
        (private.DATA[1], None),
        (private.CONTROL, ADDRESSES),
    ):
        link = net.link(switch, tester, rate=LINK_RATE, delay=LINK_DELAY, addresses=addresses)
        if parameters.is_real:
            net.attach(tester, link, f"t{interface}", netns=private.namespaces()[1])
    return net


def end_s(parameters: OpenFlowParameters) -> float:
    """When what is under way has arrived; a test begins when the switch is ready for it."""
    row = row_of(parameters)
    before = 0.0 if parameters.profile is None else model.prepare_s(parameters.profile, row)
    return before + duration_s(parameters, row) + SETTLE_S


def run_real(network: Network, parameters: OpenFlowParameters) -> None:
    """One row in real time: the switch is made for it, and ended behind it."""
    limit = end_s(parameters) + CONNECT_S
    with private.open_vswitch(CONTROLLER, ADDRESSES[0]):
        until = 0.0
        while until < limit:
            until += STEP_S
            network.run(until=until)
            if network.table("openflow_tests")["state"][0] in ("done", "reset"):
                break
