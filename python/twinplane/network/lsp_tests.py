"""Tests of LSPs (LSP ping and traceroute, RFC 8029): the network runs until a test has ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .. import core

if TYPE_CHECKING:
    from .engine import Engine
    from .handles import Lsp, Node, P2mp

STEP_S = 0.05
"""How long the network runs before it is looked whether the test has ended."""
LONGEST_S = 100_000.0


def run(engine: Engine, node: Node, to: Lsp | P2mp | Node | str, options: dict[str, Any]) -> int:
    """Test an LSP from a router: the number of its rows in table `lsp_probes`."""
    engine.start()
    named = to if isinstance(to, str) else to.name
    asked = {"to": named, **{key: _plain(value) for key, value in options.items()}}
    running = engine.running()
    with core.translated():
        number = running.test_lsp(node.index, json.dumps(asked))
    begin_ps = running.now_ps()
    while not running.is_lsp_tested(node.index, number) and running.now_ps() - begin_ps < LONGEST_S * 1e12:
        engine.run(for_=STEP_S)
    return number


def _plain(value: Any) -> Any:
    """A value as a description has it: quantities are texts."""
    return value if isinstance(value, (bool, int, str)) or value is None else str(value)
