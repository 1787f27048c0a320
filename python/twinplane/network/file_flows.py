"""Flows of a network file, added to a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError, suggest
from ..model import arrivals as sources
from ..model import generated as model

if TYPE_CHECKING:
    from .handles import Link
    from .lowering import Lowering
    from .nodes import Node


def add(lowering: Lowering, index: int, flow: model.FlowSpec) -> None:
    """Add a flow to the network; errors have their line."""
    network = lowering.network
    name = flow.name or f"{flow.from_}-{flow.to}"
    what = f"flow '{name}'"
    place = ("flows", index)
    size = sizes(flow.size)
    with lowering.at(*place, "arrivals"):
        try:
            arrivals = arrivals_of(flow.arrivals, lowering.source.path.parent)
        except TwinplaneError as error:
            raise TwinplaneError(f"{what}: arrivals: {error}") from None
    over = next((lsp for lsp in network.lsps if lsp.name == flow.over), None)
    ends: dict[str, Any] = {}
    for key, said in (("from_link", flow.from_link), ("to_link", flow.to_link)):
        if said is not None:
            with lowering.at(*place, key):
                ends[key] = link_of(lowering, what, key, said)
    with lowering.at(*place):
        network.flow(
            flow.from_,
            flow.to,
            over,
            flow.rate,
            size,
            arrivals,
            flow.dscp,
            start=flow.start,
            stop=flow.stop,
            trace=flow.trace,
            name=name,
            rate_counts=flow.rate_counts,
            log=flow.log,
            src_port=flow.src_port,
            dst_port=flow.dst_port,
            **ends,
        )


def link_of(lowering: Lowering, what: str, key: str, said: str) -> Node | Link:
    """The link that a neighbour or an interface of either end names."""
    node, _, interface = said.partition(":")
    if not interface:
        return lowering.network.node(node, f"{what}: {key} says")
    known = [end for ends in lowering.extras.ends for end in ends if end.node == node]
    for place, ends in enumerate(lowering.extras.ends):
        if any((end.node, end.interface) == (node, interface) for end in ends):
            return lowering.network.links[place]
    hint = suggest(interface, [end.interface for end in known])
    raise TwinplaneError(f"{what}: {key} says '{said}': '{node}' has no such interface{hint}")


def sizes(given: Any) -> Any:
    """How long frames are, as `Network.flow` takes it."""
    if given == "imix":
        return sources.Imix()
    if isinstance(given, model.UniformSizes):
        return sources.Uniform(given.min, given.max)
    if isinstance(given, model.EmpiricalSizes):
        return sources.Empirical(tuple(given.sizes), tuple(given.weights))
    if isinstance(given, model.ExponentialSizes):
        return sources.Exponential(given.mean, given.min, given.max)
    return given


def arrivals_of(given: Any, folder: Path) -> Any:
    """When packets are due, as `Network.flow` takes it; captures are beside the file."""
    if isinstance(given, model.OnOff):
        on, off = (sources.Period(half.mean, half.kind, half.shape) for half in (given.on, given.off))
        return sources.OnOff(on, off, rate_is_mean=given.rate_is_mean)
    if isinstance(given, model.Trace):
        if given.pcap is not None:
            return sources.Trace.from_pcap(folder / given.pcap, repeat=given.repeat, limit=given.limit)
        return sources.Trace(tuple(given.gaps), tuple(given.sizes), given.repeat)  # type: ignore[arg-type]
    return given
