"""The testbed: a switch, and the tester with its channel and two data ports.

In real time the switch is beyond interfaces, and the tester is the same. To a switch that the run starts its
channel runs over its own TCP, and to one of somebody else's over that of the kernel.
"""

from __future__ import annotations

from ...network import Network
from ...network.nodes import Node
from . import bench, channel, live, model, ovs
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
    """A switch of the study's kind: of one version, without buffers."""
    row = row_of(parameters)
    net = Network(seed=seed, clock="wall" if parameters.is_real else "virtual")
    if parameters.is_real:
        switch: Node = net.external("s1")
    else:
        switch = net.switch(
            "s1",
            "10.1.0.0/24",
            controller=CONTROLLER,
            version=parameters.version,
            tables=1,
            buffers=0,
            profile=parameters.profile,
        )
    tester = net.openflow_tester(
        "tester",
        test=test_of(row),
        version=parameters.version,
        rate=f"{row.used_rate:g} Mbit/s",
        size=row.size,
        flows=row.flows,
        duration=duration_s(parameters, row),
        wait=wait_s(parameters),
        lead=LEAD_S,
        confirm=parameters.confirm and row.part.startswith("flow") and row.part != "flow-expiry",
        fill=parameters.fill and row.part == "data",
        from_port=parameters.from_port,
        to_port=parameters.to_port,
    )
    links = [net.link(switch, tester, rate=LINK_RATE, delay=LINK_DELAY) for _ in bench.DATA]
    if not parameters.is_outside:
        links.append(net.link(switch, tester, rate=LINK_RATE, delay=LINK_DELAY, addresses=ADDRESSES))
    if parameters.is_real:
        for link, (interface, netns) in zip(links, _interfaces(parameters), strict=True):
            net.attach(tester, link, interface, netns=netns)
    return net


def _interfaces(p: OpenFlowParameters) -> list[tuple[str, str | None]]:
    """Those of the tester, with their namespaces, in the order of its links."""
    if p.is_outside:
        return [(p.ingress_port, p.ingress_netns or None), (p.egress_port, p.egress_netns or None)]
    return [(f"t{name}", bench.namespaces()[1]) for name in (*bench.DATA, bench.CONTROL)]


def end_s(parameters: OpenFlowParameters) -> float:
    """When what is under way has arrived; a test begins when the switch is ready for it."""
    row = row_of(parameters)
    before = 0.0 if parameters.profile is None else model.prepare_s(parameters.profile, row)
    return before + duration_s(parameters, row) + SETTLE_S


def run_real(network: Network, parameters: OpenFlowParameters) -> None:
    """One row in real time. A switch that is started is made for it, and ended behind it."""
    if parameters.is_outside:
        # What the first table needs is loaded now: in the middle of a test packets would wait for it.
        network.table("openflow_tests")
        with channel.channel(parameters) as connection:
            network.carry_openflow(network.node("tester"), connection)
            _run(network, parameters)
        return
    started = live.switch(CONTROLLER, ADDRESSES[0], parameters.version)
    if parameters.sut == "ovs":
        version = "OpenFlow" + parameters.version.replace(".", "")
        started = ovs.open_vswitch([CONTROLLER], ADDRESSES[0], version)
    with started:
        _run(network, parameters)


def _run(network: Network, parameters: OpenFlowParameters) -> None:
    limit, until = end_s(parameters) + CONNECT_S, 0.0
    while until < limit:
        until += STEP_S
        network.run(until=until)
        state, errors = network.table("openflow_tests").select("state", "errors").row(0)
        if state in ("done", "reset"):
            break
        if parameters.is_outside:
            channel.check_state(parameters, state, errors, until)
