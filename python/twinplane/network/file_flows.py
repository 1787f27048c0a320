"""Flows of a lab file, added to a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import units
from ..errors import TwinplaneError, suggest
from ..model import arrivals as sources
from ..model.flows import SIZE_KINDS, FlowSpec, OnOffSpec, TraceSpec

if TYPE_CHECKING:
    from .lowering import Lowering


def add(lowering: Lowering, index: int, flow: FlowSpec) -> None:
    """Add a flow to the network; errors have their line."""
    network = lowering.network
    name = flow.name or f"{flow.source}-{flow.sink}"
    what = f"flow '{name}'"
    place = ("flows", index)
    with lowering.at(*place, "name"):
        if any(other.name == name for other in network.flows):
            raise TwinplaneError(f"{what}: another has the same name")
    for key, end in (("from", flow.source), ("to", flow.sink)):
        with lowering.at(*place, key):
            node = network.node(end, f"{what}: {key} says")
            if node.kind == "external":
                raise TwinplaneError(
                    f"{what}: {key} says '{end}', which is external: nothing is measured there"
                )
    size: Any = flow.size
    with lowering.at(*place, "size"):
        size = sources.Imix() if size == "imix" else size.made() if isinstance(size, SIZE_KINDS) else size
        sources.size_spec(size, what)
    arrivals: Any = flow.arrivals
    with lowering.at(*place, "arrivals"):
        if isinstance(arrivals, (OnOffSpec, TraceSpec)):
            try:
                arrivals = arrivals.made(lowering.source.path.parent)
            except TwinplaneError as error:
                raise TwinplaneError(f"{what}: arrivals: {error}") from None
        sources.arrivals_spec(arrivals, what)
    over = None
    if flow.over is not None:
        with lowering.at(*place, "over"):
            over = next((lsp for lsp in network.lsps if lsp.name == flow.over), None)
            if over is None:
                known = [lsp.name for lsp in network.lsps]
                raise TwinplaneError(
                    f"{what}: over says '{flow.over}', no LSP has that name{suggest(flow.over, known)}"
                )
    ends: dict[str, Any] = {}
    for key, said in (("from_link", flow.from_link), ("to_link", flow.to_link)):
        if said is not None:
            with lowering.at(*place, key):
                ends[key] = lowering.hop(what, key, said)
    if flow.stop is not None:
        with lowering.at(*place, "stop"):
            if units.span_ps(flow.stop) <= units.span_ps(flow.start):
                raise TwinplaneError(f"{what}: stop: {flow.stop} is not after its start ({flow.start})")
    with lowering.at(*place):
        network.flow(
            flow.source,
            flow.sink,
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
