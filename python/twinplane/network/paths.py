"""What calls say of LSPs, in the form in which a file says it: the core reads and checks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import core
from .handles import Lsp, Node

if TYPE_CHECKING:
    from .draft import Draft
    from .engine import Engine
    from .handles import Hop, Owner


def add_lsp(
    owner: Owner,
    draft: Draft,
    engine: Engine,
    *,
    name: str,
    head: Node,
    to: Node | str,
    route: Sequence[Hop],
    fallback: Sequence[Hop],
    **said: Any,
) -> Lsp:
    """See `twinplane.network.nodes.HeadEnd.lsp`."""
    tail = draft.node(to, f"lsp '{name}'")
    spec: dict[str, Any] = {"name": name, "from": head.name, "to": tail.name}
    spec |= {key: draft.hops(hops) for key, hops in (("route", route), ("fallback", fallback)) if len(hops)}
    spec |= {key: value for key, value in said.items() if value is not None and value != ()}
    lsp = Lsp(owner, len(draft.lsps), name, int(said.get("count", 1)))
    if not engine.started:
        engine.require_unstarted(f"lsp '{name}'")
    with core.translated():
        draft.core.add_lsp(spec)
        if engine.started:
            lsp.index = engine.running().add_lsp(spec)
    draft.lsps.append(lsp)
    return lsp
