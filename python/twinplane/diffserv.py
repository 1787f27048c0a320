"""Differentiated services over MPLS (RFC 3270): what routers and LSPs know of per-hop behaviours (PHBs).

An E-LSP infers the PHB from TC, the three traffic-class bits of the label (RFC 5462; EXP in RFC 3270),
by a map that is preconfigured or signalled; an L-LSP infers the scheduling class from the label, and the drop
precedence from TC.
"""

from __future__ import annotations

from typing import Any

from . import core
from .errors import below
from .model.generated import DiffServ, ELsp, LLsp

__all__ = ["DiffServ", "ELsp", "LLsp"]


def node_spec(given: Any, what: str) -> dict[str, Any]:
    """What a router knows, as the core takes it; True is the preconfigured map and the pipe model."""
    found: dict[str, Any] = _checked("DiffServ", given, what)
    return found


def lsp_spec(given: Any, what: str) -> dict[str, Any]:
    """What an LSP is, as the core takes it: ``"e-lsp"``, ``"l-lsp AF1"``, a record or a mapping."""
    found: dict[str, Any] = _checked("LspDiffServ", given, what)
    return found


def classes_spec(given: Any, what: str) -> list[str]:
    """PHBs whose packets take an LSP."""
    found: list[str] = _checked("Phbs", given, what)
    return found


def _checked(type_name: str, given: Any, what: str) -> Any:
    with below(what):
        return core.check(type_name, given)
