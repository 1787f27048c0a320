"""The network of a file, with flows that end when the run does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...model.arrivals import FCS
from ...model.places import of_flow
from ...network import Network
from ...units import format_time
from .parameters import NetworkParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

ETHERNET = 14
"""Bytes of the header of a frame."""
GAP = 20
"""Bytes of a link's time that go with every frame: preamble and gap (IEEE 802.3)."""
LINE_BPS = 1e9
"""Rate of the link on which the tester's own ports are measured."""


def build(p: NetworkParameters, seed: int) -> Network:
    """What the file says."""
    network = Network.from_file(p.file, seed, queue_bin=f"{p.series_bin_ms} ms")
    check(network, p)
    return network


def check(network: Network, p: NetworkParameters) -> None:
    """See that something is sent, and let it end with the run."""
    flows = network.description.flows
    if not flows:
        raise TwinplaneError(
            f"{p.file}: it has no flows, so that nothing would be measured: 'flows: [{{from: a, to: b}}]'"
        )
    end = round(p.duration_s * 1e12)
    for index, flow in enumerate(flows):
        if flow["start_ps"] >= end:
            starts, ends = (format_time(value / 1e12) for value in (flow["start_ps"], end))
            words = f"it starts at {starts}, and the run is over at {ends} (--duration)"
            raise network.explain(of_flow(index, flow["name"], words))
        flow["stop_ps"] = end if flow["stop_ps"] is None else min(flow["stop_ps"], end)


def load(network: Network) -> tuple[int, float, float]:
    """Bytes of a mean frame, rate of all flows while they send, and the most that their link takes."""
    bits = packets = 0.0
    for flow in network.description.flows:
        rate_bps, size = offered(flow)
        bits += rate_bps
        packets += rate_bps / 8 / size
    size = round(bits / 8 / packets) if packets else 64
    return size, bits, int(LINE_BPS * size / (size + GAP) / 1e5) * 1e5


def offered(flow: Mapping[str, Any]) -> tuple[float, float]:
    """Bits of frames per second while a flow sends, and bytes of a mean frame."""
    arrivals = flow["arrivals"]
    size = _mean(flow["size"])
    if isinstance(arrivals, dict) and arrivals["kind"] == "trace":
        sizes, span_s = arrivals["sizes"], sum(arrivals["gaps_ps"]) / 1e12
        size = sum(sizes) / len(sizes) if sizes else size
        return (len(arrivals["gaps_ps"]) * size * 8 / span_s if span_s else LINE_BPS), size
    rate: float = flow["rate_bps"]
    if flow["rate_counts"] == "ip":
        rate *= size / max(size - ETHERNET - FCS, 1)
    return rate, size


def _mean(size: Any) -> float:
    if not isinstance(size, dict):
        return float(size)
    if size["kind"] == "uniform":
        return float(size["min"] + size["max"]) / 2
    if size["kind"] == "exponential":
        return float(min(max(size["mean"], size["min"]), size["max"]))
    weights = size["weights"] or [1.0] * len(size["sizes"])
    return float(sum(a * b for a, b in zip(size["sizes"], weights, strict=True)) / sum(weights))
