"""Where the parts of a network are, as far as runs of experiments need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .calibration import Spread

if TYPE_CHECKING:
    from .handles import Link
    from .network import Network

SIGNALS_MAX = 1_000_000
"""So many signalling messages are kept of each node."""


def is_here(network: Network, link: Link) -> bool:
    """Has this process an end of a link?"""
    placement: dict[str, Any] | None = getattr(network, "placement", None)
    local = None if placement is None else placement.get("local")
    return local is None or any(node.name in local for node in (link.a, link.b))


def keep_signals(network: Network) -> None:
    """Keep every signalling message of the nodes here; say so before the network first runs."""


def lateness(network: Network) -> Spread | None:
    """How late the engine was in a run by the clock."""
    return None
