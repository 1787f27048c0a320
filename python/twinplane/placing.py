"""Where the parts of a network are, as far as runs of experiments need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .calibration import Spread

if TYPE_CHECKING:
    from .frames import Columns
    from .handles import Link
    from .network import Network


def is_here(network: Network, link: Link) -> bool:
    """Has this process an end of a link?"""
    local = None if network.placement is None else network.placement["local"]
    if local is None:
        return all(node.kind != "external" for node in (link.a, link.b))
    return any(node.name in local for node in (link.a, link.b))


def signals(network: Network) -> Columns | None:
    """The signalling messages of the nodes here; None if none were to be kept."""
    if not any(node.get("log_signals") for node in network.description.nodes):
        return None
    found = network.columns("signals")
    keys = ("time_ps", "node", "neighbor", "direction", "type", "session", "lsp_id")
    return {key: found[key] for key in keys}


def delays(network: Network, flow: int) -> tuple[Spread, dict[str, list[float]]]:
    """Delays of a flow in the first phase: the distribution, and the histogram."""
    table = network.columns("delays")
    for place, (number, phase) in enumerate(zip(table["flow"], table["phase"], strict=True)):
        if (number, phase) == (flow, 0):
            values = {key: column[place] for key, column in table.items()}
            return Spread.of(values), {"upper_s": values["upper_s"], "count": values["count"]}
    return Spread(), {"upper_s": [], "count": []}


def lateness(network: Network) -> Spread | None:
    """How late the engine was in a run by the clock."""
    return None
