"""Where the parts of a network are, as far as runs of experiments need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import core
from ..measure.calibration import Spread
from .handles import Link
from .nodes import Edge, handle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..frames import Columns
    from .network import Network


def is_here(network: Network, link: Link) -> bool:
    """Has this process an end of a link?"""
    local = None if network.placement is None else network.placement["local"]
    if local is None:
        return all(node.kind != "external" for node in (link.a, link.b))
    return any(node.name in local for node in (link.a, link.b))


def signals(network: Network) -> Columns | None:
    """The signalling messages of the nodes here; None if none were to be kept."""
    if not any(node.get("log_signals") for node in network.described()["nodes"].values()):
        return None
    found = network.columns("signals")
    keys = ("time_ps", "node", "neighbor", "direction", "type", "session", "lsp_id")
    kept = {key: found[key] for key in keys}
    # Where tunnels are not counted from 1, since others were before, they are here: runs can be compared.
    before = network.outside.settings.get("tunnels_from") or 0
    if before:
        kept["session"] = [_counted(session, before) for session in kept["session"]]
    return kept


def _counted(session: str | None, before: int) -> str | None:
    """A session, END/TUNNEL, with the number of its tunnel in this network."""
    end, _, tunnel = (session or "").rpartition("/")
    return f"{end}/{int(tunnel) - before}" if end else session


def delays(network: Network, flow: int) -> tuple[Spread, dict[str, list[float]]]:
    """Delays of a flow in the first phase: the distribution, and the histogram."""
    table = network.columns("delays")
    for place, (number, phase) in enumerate(zip(table["flow"], table["phase"], strict=True)):
        if (number, phase) == (flow, 0):
            values = {key: column[place] for key, column in table.items()}
            return Spread.of(values), {"upper_s": values["upper_s"], "count": values["count"]}
    return Spread(), {"upper_s": [], "count": []}


def lateness(network: Network) -> Spread | None:
    """How late the first measuring interface got its frames; without interfaces, how late events happened."""
    found = _lateness(network)
    return None if found is None else Spread.of(found)


def lateness_histogram(network: Network) -> dict[str, list[float]]:
    """The same as a histogram."""
    found = _lateness(network) or {"upper_s": [], "n": []}
    return {"upper_s": found["upper_s"], "count": found["n"]}


def _lateness(network: Network) -> dict[str, Any] | None:
    placement = network.placement
    if placement is None:
        return None
    table = network.columns("lateness")
    ports = [port["node"] for port in placement["ports"]]
    edge = next((node.name for node in network.nodes if isinstance(node, Edge)), None)
    first = edge if edge is not None else next(iter(ports), None)
    # The first row is that of events; then come the interfaces in their order.
    row = 1 + ports.index(first) if first in ports else 0
    return {key: column[row] for key, column in table.items()}


def adopt(network: Network, description: Mapping[str, Any]) -> None:
    """Take the nodes and links of a description; its LSPs and flows stay where they are."""
    draft = network.draft
    for index, (name, said) in enumerate(description["nodes"].items()):
        network.require_unstarted(f"{said['kind']} '{name}'")
        made = handle(network.answers, name, index, said["kind"], said.get("address"))
        fields = {key: value for key, value in said.items() if key != "programme"}
        draft.add_node(made, fields)
    for index, said in enumerate(description["links"]):
        a, b = (network.node(end.partition(":")[0]) for end in said["endpoints"])
        with core.translated():
            draft.core.add_link(said)
        network.links.append(Link(network.answers, index, a, b))
