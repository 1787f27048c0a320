"""What flows offer: bits and packets per second while they send, by their descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.arrivals import FCS, Imix
from ..units import rate_bps, size_bytes, span_ps

if TYPE_CHECKING:
    from collections.abc import Mapping

ETHERNET = 14
"""Bytes of the header of a frame."""
LINE_BPS = 1e9
"""Rate of the link on which the tester's own ports are measured."""


def offered(flow: Mapping[str, Any]) -> tuple[float, float]:
    """Bits of frames per second while a flow sends, and bytes of a mean frame."""
    arrivals = flow["arrivals"]
    size = mean_size(flow["size"])
    if isinstance(arrivals, dict) and arrivals["kind"] == "trace":
        sizes = [size_bytes(one) for one in arrivals["sizes"]]
        span_s = sum(span_ps(gap) for gap in arrivals["gaps"]) / 1e12
        size = sum(sizes) / len(sizes) if sizes else size
        return (len(arrivals["gaps"]) * size * 8 / span_s if span_s else LINE_BPS), size
    rate = float(rate_bps(flow["rate"]))
    if flow["rate_counts"] == "ip":
        rate *= size / max(size - ETHERNET - FCS, 1)
    return rate, size


def mean_size(size: Any) -> float:
    """Bytes of a mean frame, of a size as a file says it."""
    if size == "imix":
        return mean_size(Imix().described())
    if not isinstance(size, dict):
        return float(size_bytes(size))
    if size["kind"] == "uniform":
        return float(size_bytes(size["min"]) + size_bytes(size["max"])) / 2
    if size["kind"] == "exponential":
        mean, least, most = (size_bytes(size[key]) for key in ("mean", "min", "max"))
        return float(min(max(mean, least), most))
    sizes = [size_bytes(one) for one in size["sizes"]]
    weights = size["weights"] or [1.0] * len(sizes)
    return float(sum(a * b for a, b in zip(sizes, weights, strict=True)) / sum(weights))
