"""The network of a file, with flows that end when the run does."""

from __future__ import annotations

from ... import core
from ...errors import TwinplaneError
from ...model.places import about, of_flow, of_tcp
from ...network import Network
from ...network.offered import LINE_BPS, offered
from ...units import format_time, span_ps
from .parameters import NetworkParameters

GAP = 20
"""Bytes of a link's time that go with every frame: preamble and gap (IEEE 802.3)."""


def build(p: NetworkParameters, seed: int) -> Network:
    """What the file says."""
    network = Network.from_file(p.file, seed, queue_bin=f"{p.series_bin_ms} ms")
    check(network, p)
    return network


def check(network: Network, p: NetworkParameters) -> None:
    """See that something is sent, and let it end with the run."""
    flows = network.described()["flows"]
    if network.draft.demands is not None:
        _end_demands(network, p)
    elif not flows and not network.tcp_flows:
        raise TwinplaneError(
            f"{p.file}: it has no flows, so that nothing would be measured: 'flows: [{{from: a, to: b}}]', or"
            " 'tcp: [{from: a, to: b, bytes: 10 MB}]'"
        )
    _end_tcp(network, p)
    for flow, said in zip(network.flows, flows, strict=True):
        start_s = span_ps(said["start"]) / 1e12
        if start_s >= p.duration_s:
            starts, ends = format_time(start_s), format_time(p.duration_s)
            words = f"it starts at {starts}, and the run is over at {ends} (--duration)"
            raise network.explain(of_flow(flow.index, flow.name, words))
        if "stop" not in said or span_ps(said["stop"]) > span_ps(p.duration_s):
            network.draft.change_flow(flow, {"stop": p.duration_s})
    try:
        with core.translated():
            network.draft.core.check_events(span_ps(p.duration_s))
    except TwinplaneError as error:
        raise network.explain(error) from None


def _end_tcp(network: Network, p: NetworkParameters) -> None:
    """Let programs stop writing when the run is over, if they have not written all by then."""
    said = list(network.described().get("tcp") or ())
    network.draft.core.keep_tcp(0)
    for flow, spec in zip(network.tcp_flows, said, strict=True):
        start_s = span_ps(spec["start"]) / 1e12
        if start_s >= p.duration_s:
            starts, ends = format_time(start_s), format_time(p.duration_s)
            words = f"it starts at {starts}, and the run is over at {ends} (--duration)"
            raise network.explain(of_tcp(flow.index, flow.name, words))
        if "stop" not in spec or span_ps(spec["stop"]) > span_ps(p.duration_s):
            spec = {**spec, "stop": p.duration_s}
        network.draft.core.add_tcp(spec)


def _end_demands(network: Network, p: NetworkParameters) -> None:
    said = network.described()["demands"]
    start_s = span_ps(said["start"]) / 1e12
    if start_s >= p.duration_s:
        starts, ends = format_time(start_s), format_time(p.duration_s)
        words = f"demands: they start at {starts}, and the run is over at {ends} (--duration)"
        raise network.explain(about(("demands", "start"), "", words))
    if "stop" not in said or span_ps(said["stop"]) > span_ps(p.duration_s):
        network.draft.core.set_demands({**said, "stop": p.duration_s})


def load(network: Network) -> tuple[int, float, float]:
    """Bytes of a mean frame, rate of all flows while they send, and the most that their link takes."""
    bits = packets = 0.0
    for flow in network.described()["flows"]:
        rate, size = offered(flow)
        bits += rate
        packets += rate / 8 / size
    size = round(bits / 8 / packets) if packets else 64
    return size, bits, int(LINE_BPS * size / (size + GAP) / 1e5) * 1e5
