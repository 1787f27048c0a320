"""From a checked network file to a network, and to what only a lab needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..model import generated as model
from ..model import network_file, reading, source
from ..model.arrivals import Trace
from ..model.places import in_file
from ..model.source import Source
from . import tls_files
from .demands import Demands
from .describing import host_profile, profiled
from .handles import Flow, Link, Lsp, P2mp, TcpFlow
from .network import Network
from .nodes import handle

if TYPE_CHECKING:
    from .. import _core


@dataclass(frozen=True)
class End:
    """Where a link meets a node."""

    node: str
    interface: str

    @classmethod
    def of(cls, written: str) -> End:
        """From ``NODE:INTERFACE``."""
        node, _, interface = written.partition(":")
        return cls(node, interface)


@dataclass
class Extras:
    """What a lab needs to know beside the description, for nodes by name and links by place."""

    ends: list[tuple[End, End]] = field(default_factory=list)
    drivers: list[str | None] = field(default_factory=list)
    nodes: dict[str, model.NodeSpec] = field(default_factory=dict)

    @classmethod
    def of(cls, lab: model.NetworkSpec) -> Extras:
        """What a file says of it."""
        ends = [(End.of(link.endpoints[0]), End.of(link.endpoints[1])) for link in lab.links]
        return cls(ends, [link.driver for link in lab.links], dict(lab.nodes))


@dataclass(frozen=True)
class Lowered:
    """A lab, ready to be planned."""

    name: str
    description: dict[str, Any]
    extras: Extras
    network: Network
    source: Source | None = None

    def error(self, error: TwinplaneError) -> TwinplaneError:
        """The same error with the line of what it is about, or with the name of a lab that is in no file."""
        if self.source is None:
            return error.told(f"lab '{self.name}': {error}")
        return in_file(error, self.source)


def lower(path: Path) -> Lowered:
    """Read a lab file, and make a network of it."""
    return of_source(source.read(path))


def of_source(found: Source) -> Lowered:
    """A network of what was read."""
    lab, described, checked = network_file.checked(found)
    network = Network(lab.seed)
    adopt(network, lab, described, checked)
    return Lowered(lab.name, network.described(), Extras.of(lab), network, checked)


def adopt(network: Network, lab: model.NetworkSpec, described: _core.Draft, found: Source) -> None:
    """Let a network that is empty yet be what a file says: handles here, everything else is in the core."""
    draft = network.draft
    draft.core = described
    draft.explain = lambda error: in_file(error, found)
    owner = network.answers
    for index, (name, said) in enumerate(lab.nodes.items()):
        kind = "node" if said.WORD is None else said.WORD[1]
        draft.note(handle(owner, name, index, kind, getattr(said, "address", None)))
    for index, link in enumerate(lab.links):
        a, b = (draft.by_name[end.partition(":")[0]] for end in link.endpoints)
        draft.links.append(Link(owner, index, a, b))
    for index, lsp in enumerate(lab.lsps):
        draft.lsps.append(Lsp(owner, index, lsp.name, lsp.count))
    for index, tree in enumerate(lab.p2mp):
        draft.p2mp.append(P2mp(owner, index, tree.name))
    for index, flow in enumerate(lab.flows):
        name = flow.name or f"{flow.from_}-{flow.to}"
        ends = (draft.by_name[flow.from_].index, draft.by_name[flow.to].index)
        routed = flow.over is None and flow.group is None
        draft.note_flow(Flow(owner, index, name, ends, routed=routed, logged=flow.log))
    for index, tcp in enumerate(lab.tcp):
        draft.tcp.append(TcpFlow(owner, index, tcp.name or f"{tcp.from_}-{tcp.to}"))
    if (classes := described.demands()) is not None:
        draft.demands, draft.matrix = Demands(owner, classes), found.matrix
    _read_files(network, lab, found)
    for place, why in described.unused():
        draft.asides.append(str(found.error(tuple(place), f"{reading.whose(found.data, tuple(place))}{why}")))


def _read_files(network: Network, lab: model.NetworkSpec, found: Source) -> None:
    """Device profiles, captures, keys and certificates, which a file only names."""
    folder = found.path.parent
    for node, said in zip(network.nodes, lab.nodes.values(), strict=True):
        if isinstance(said, model.SwitchSpec | model.OvsSpec) and said.tls is not None:
            try:
                files = tls_files.looked_at(vars(said.tls), folder)
            except TwinplaneError as error:
                place = ("nodes", node.name, "tls", *error.path)
                raise found.error(place, f"node '{node.name}': {error}") from None
            network.draft.change_node(node, {"tls": files})
        if not isinstance(said, model.RouterSpec | model.HostSpec) or not isinstance(said.profile, str):
            continue
        path = said.profile
        found_as = profiled if isinstance(said, model.RouterSpec) else host_profile
        try:
            made = found_as(str(folder / path) if path.endswith(".toml") else path)
        except TwinplaneError as error:
            raise found.error(("nodes", node.name, "profile"), f"node '{node.name}': {error}") from None
        if made != path:
            network.draft.change_node(node, {"profile": made})
    for flow, written in zip(network.flows, lab.flows, strict=True):
        arrivals = written.arrivals
        if not isinstance(arrivals, model.Trace) or arrivals.pcap is None:
            continue
        try:
            read = Trace.from_pcap(folder / arrivals.pcap, repeat=arrivals.repeat, limit=arrivals.limit)
        except TwinplaneError as error:
            place = ("flows", flow.index, "arrivals")
            raise found.error(place, f"flow '{flow.name}': arrivals: {error}") from None
        network.draft.change_flow(flow, {"arrivals": read})
