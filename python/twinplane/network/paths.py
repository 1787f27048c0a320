"""How LSPs of a network are described: each is checked when it is said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import core, units
from ..errors import TwinplaneError
from ..filters import filter_spec, prefixes
from ..units import Quantity
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
    bandwidth: Quantity,
    fallback: Sequence[Hop],
    count: int,
    loose: bool,
    setup_priority: int,
    holding_priority: int | None,
    style: str,
    record_route: bool,
    record_labels: bool,
    retry_first: Quantity | None,
    retry_max: Quantity | None,
    retry_limit: int | None,
    signal: bool,
    carries: Sequence[str] | str = (),
    filters: Sequence[Mapping[str, Any]] = (),
    diffserv: Any = None,
    classes: Sequence[str | int] | str | int = (),
) -> Lsp:
    """See `twinplane.network.nodes.HeadEnd.lsp`."""
    what = f"lsp '{name}'"
    tail = draft.node(to, what)
    if tail is head:
        raise TwinplaneError(f"{what}: it begins and ends at {tail.name}")
    if count < 1:
        raise TwinplaneError(f"{what}: count={count}: at least 1 is needed")
    holding = setup_priority if holding_priority is None else holding_priority
    if not 0 <= holding <= setup_priority <= 7:
        # RFC 3209, 4.7.3: the set-up priority should never be higher than the holding priority.
        raise TwinplaneError(
            f"{what}: priorities are 0 (highest) to 7, and holding must not be weaker than set-up"
            f" (set-up {setup_priority}, holding {holding})"
        )
    routes = [
        draft.route(head, hops, what, tail=tail, loose=loose) for hops in (route, fallback) if len(hops)
    ]
    spec: dict[str, Any] = {
        "name": name,
        "from": head.index,
        "to": tail.index,
        "count": count,
        "routes": routes,
        "loose": loose,
        "bandwidth_bps": units.rate_bps(bandwidth, "bandwidth"),
        "setup_priority": setup_priority,
        "holding_priority": holding,
        "style": style,
        "record_route": record_route,
        "record_labels": record_labels,
        "retry_limit": retry_limit,
        "auto": signal,
        "carries": prefixes(carries, what),
        "filters": [filter_spec(given, what) for given in filters],
    }
    for key, value in (("retry_first_ps", retry_first), ("retry_max_ps", retry_max)):
        if value is not None:
            spec[key] = units.span_ps(value, key[:-3])
    if diffserv is not None or classes != ():
        from ..diffserv import classes_spec, lsp_spec

        if diffserv is not None:
            spec["diffserv"] = lsp_spec(diffserv, f"{what}: diffserv")
        if classes != ():
            if not spec["carries"]:
                raise TwinplaneError(f"{what}: classes: 'carries' says to where packets of them take it")
            spec["classes"] = classes_spec(classes, f"{what}: classes")
    lsp = Lsp(owner, len(draft.lsps), spec)
    if engine.started:
        with core.translated():
            lsp.index = engine.running().add_lsp(json.dumps(spec))
    else:
        engine.require_unstarted(what)
        draft.description.lsps.append(spec)
    draft.lsps.append(lsp)
    return lsp
