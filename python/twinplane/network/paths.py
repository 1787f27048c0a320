"""What calls say of LSPs, in the form in which a file says it: the core reads and checks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError
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
    tail = draft.node(to, f"lsp '{name}': to:")
    spec: dict[str, Any] = {"name": name, "from": head.name, "to": tail.name}
    for key, hops in (("route", route), ("fallback", fallback)):
        if isinstance(hops, str) or not isinstance(hops, Sequence):
            raise TwinplaneError(f"lsp '{name}': {key}: {hops!r}: it should be a list of nodes or links")
        if len(hops):
            spec[key] = draft.hops(hops)
    bypass = said.pop("bypass", None)
    if bypass is not None:
        (spec["bypass"],) = draft.hops([bypass])
    spec |= {key: value for key, value in said.items() if value is not None and value != ()}
    if not engine.started:
        engine.require_unstarted(f"lsp '{name}'")
    place = len(draft.lsps)
    with core.translated():
        draft.core.add_lsp(spec)
    lsp = Lsp(owner, place, str(name), int(said.get("count", 1)))
    draft.lsps.append(lsp)
    if engine.started:
        try:
            with core.translated():
                lsp.index = engine.running().add_lsp(spec)
        except TwinplaneError:
            draft.remove(lsp)  # what is refused leaves nothing behind
            raise
    return lsp
