"""What calls say of LSPs, in the form in which a file says it: the core reads and checks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError
from . import memory
from .handles import Lsp, Node, P2mp

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
    memory.check_growing(draft)
    return lsp


def _routes(draft: Draft, name: str, routes: Mapping[str, Sequence[Hop]]) -> dict[str, Any]:
    """Explicit routes by leaf, as the core reads them."""
    if not isinstance(routes, Mapping):
        raise TwinplaneError(
            f"p2mp '{name}': routes: {routes!r}: it should be a route for each leaf, by name"
        )
    return {leaf: draft.hops(hops) for leaf, hops in routes.items()}


def add_p2mp(
    owner: Owner,
    draft: Draft,
    engine: Engine,
    *,
    name: str,
    root: Node,
    leaves: Sequence[Node | str],
    routes: Mapping[str, Sequence[Hop]],
    **said: Any,
) -> P2mp:
    """See `twinplane.network.nodes.HeadEnd.p2mp`."""
    if isinstance(leaves, str) or not isinstance(leaves, Sequence):
        raise TwinplaneError(f"p2mp '{name}': leaves: {leaves!r}: it should be a list of nodes")
    names = [draft.node(leaf, f"p2mp '{name}': leaves:").name for leaf in leaves]
    spec: dict[str, Any] = {"name": name, "root": root.name, "leaves": names}
    if routes:
        spec["routes"] = _routes(draft, name, routes)
    spec |= {key: value for key, value in said.items() if value is not None and value != ()}
    if not engine.started:
        engine.require_unstarted(f"p2mp '{name}'")
    with core.translated():
        draft.core.add_p2mp(spec)
    tree = P2mp(owner, len(draft.p2mp), str(name))
    draft.p2mp.append(tree)
    if engine.started:
        try:
            with core.translated():
                engine.running().add_p2mp(spec)
        except TwinplaneError:
            draft.remove(tree)  # what is refused leaves nothing behind
            raise
    return tree


def set_leaves(
    draft: Draft,
    engine: Engine,
    tree: P2mp,
    leaves: Sequence[str],
    routes: Mapping[str, Sequence[Hop]],
) -> None:
    """See `twinplane.network.handles.Owner.set_leaves`."""
    kept = {leaf: route for leaf, route in tree.spec.get("routes", {}).items() if leaf in leaves}
    routed = kept | _routes(draft, tree.name, routes)
    change_p2mp(draft, engine, tree, {"leaves": list(leaves), "routes": routed})


def reroute_p2mp(
    draft: Draft,
    engine: Engine,
    tree: P2mp,
    said: Mapping[str, Any],
    routes: Mapping[str, Sequence[Hop]] | None,
) -> None:
    """See `twinplane.network.handles.Owner.change_p2mp`."""
    routed = tree.spec.get("routes", {}) | _routes(draft, tree.name, routes or {})
    change_p2mp(draft, engine, tree, {**said, **({"routes": routed} if routes else {})})


def change_p2mp(draft: Draft, engine: Engine, tree: P2mp, said: Mapping[str, Any]) -> None:
    """Say something else of a tree, and have its root do so if the network runs."""
    before = tree.spec
    whole = draft.change_p2mp(tree, dict(said))
    if engine.started:
        try:
            with core.translated():
                engine.running().change_p2mp(tree.index, whole)
        except TwinplaneError:
            draft.change_p2mp(tree, before)
            raise
