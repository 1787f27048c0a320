"""Experiments: each a module that answers one question. This list loads none of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError, suggest

if TYPE_CHECKING:
    from .base import Experiment

CATALOGUE: dict[str, tuple[str, str]] = {
    "lsp-flap": ("lsp_flap", "does tearing down and setting up LSPs disturb forwarding, and the reverse?"),
    "lsp-mesh": ("lsp_mesh", "does every LSP of a full mesh on a real topology follow its explicit route?"),
    "convergence": (
        "convergence",
        "how long do both planes take after each failure, and what do timers say?",
    ),
    "tag-switching": (
        "tag_switching",
        "how long does a tag-switching network take to recover, and what do timers alone say?",
    ),
    "protection": (
        "protection",
        "how long are LSPs interrupted when a link or a router fails that they are led around?",
    ),
    "multicast": (
        "multicast",
        "what does each member of a group get over a label-switched tree, and what do copies cost?",
    ),
    "diffserv": ("diffserv", "who waits and who loses at a bottleneck, with and without classes of service?"),
    "openflow": ("openflow", "what do packets to controllers and changes of flow tables take in a switch?"),
    "network": ("network", "what do flows and queues of your own network do? (twinplane run FILE.yaml)"),
}
"""By name: the module, and the question in one line."""


def load(name: str) -> Experiment[Any]:
    """An experiment by its name."""
    if name not in CATALOGUE:
        hint = suggest(name, CATALOGUE) or f" (one of {', '.join(CATALOGUE)})"
        raise TwinplaneError(f"unknown experiment '{name}'{hint}")
    module = importlib.import_module(f".{CATALOGUE[name][0]}", __name__)
    found: Experiment[Any] = module.EXPERIMENT
    return found
