"""LSPs on the page: where they go, and what they do with per-hop behaviours (PHBs) (RFC 3270)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import core
from ..charts.table import Table
from ..diffserv import DiffServ
from ..units import format_rate, rate_bps

if TYPE_CHECKING:
    from ..network import Network

ROWS_MAX = 50


def table(network: Network) -> Table:
    """All LSPs; how they carry PHBs where any does."""
    shown, described = network.lsps[:ROWS_MAX], network.described()
    specs = described["lsps"][:ROWS_MAX]
    classes = [behaviours(spec, described["nodes"][spec["from"]].get("diffserv")) for spec in specs]
    told = any(kind != NOTHING for kind, _, _ in classes) or any(spec.get("classes") for spec in specs)
    rows = [
        [
            lsp.name,
            spec["from"],
            spec["to"],
            *(of_lsp if told else ()),
            format_rate(rate_bps(spec["bandwidth"])),
            lsp.state,
        ]
        for lsp, spec, of_lsp in zip(shown, specs, classes, strict=True)
    ]
    titles = ["name", "from", "to", *(("kind", "takes", "TC means") if told else ()), "bandwidth", "state"]
    many = len(network.lsps) > ROWS_MAX
    more = f'The first {ROWS_MAX} of {len(network.lsps):,}; Network.table("lsps") has all' if many else ""
    return Table("LSPs", titles, rows, len(titles) - 2, note=more)


NOTHING = "-"


def behaviours(lsp: Mapping[str, Any], head: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """E-LSP or L-LSP, the PHBs that take it, and what its TC means.

    `head` is what the router that it begins at knows of RFC 3270.
    """
    given, takes = lsp.get("diffserv"), ", ".join(lsp.get("classes") or ()) or "all"
    if given is None and head is None:
        return NOTHING, takes, NOTHING
    # RFC 3270, 2.6: its own tunnelling model, or that of the routers.
    told = (given or {}).get("model") or (head or {}).get("model")
    model = f", {told}" if told else ""
    if given is not None and given["kind"] == "l-lsp":
        group = core.check("Phbs", given["class"])
        # RFC 3270, 4.2: TC is the drop precedence, and 0 where there is none.
        return f"L-LSP {given['class']}{model}", takes, _tc(group, 1 if len(group) > 1 else 0)
    signalled = (given or {}).get("map")
    # Kept runs of earlier versions call the map by its earlier name.
    own = (head or {}).get("tc_map") or (head or {}).get("exp_map")
    mapping = signalled or own or DiffServ().described()["tc_map"]
    return f"{'' if signalled else 'preconfigured '}E-LSP{model}", takes, _tc(mapping, 0)


def _tc(names: Sequence[str], first: int) -> str:
    return ", ".join(f"{tc} {name}" for tc, name in enumerate(names, first))
