"""OSPF on the page: how far routers have come with each other, what they know, and who is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..charts.table import Table
from ..frames import Columns
from ..units import format_time
from .page import Section

if TYPE_CHECKING:
    from ..network import Network

ROWS_MAX = 50
BACKBONE = "0.0.0.0"


def of_network(network: Network) -> list[Section]:
    """A section if a router speaks OSPF."""
    routers = _rows(network.columns("ospf"))
    if not routers:
        return []
    interfaces = _rows(network.columns("ospf_interfaces"))
    heard: dict[tuple[str, str], int] = {}
    for one in interfaces:
        at = (one["node"], one["area"])
        heard[at] = heard.get(at, 0) + one["neighbors"]
    joined = _rows(network.columns("ospf_virtual_links"))
    for one in joined:
        at = (one["node"], BACKBONE)
        heard[at] = heard.get(at, 0) + (one["neighbor"] != "down")
    cells = [
        [
            one["node"],
            one["area"] if one["kind"] == "normal" else f"{one['area']} ({one['kind']})",
            one["role"],
            f"{one['adjacent']} of {heard.get((one['node'], one['area']), 0)}",
            f"{one['advertisements']}",
            f"{one['checksum']:x}",
            f"{one['routes']}",
            f"{one['computations']}",
        ]
        for one in routers[:ROWS_MAX]
    ]
    titles = ["router", "area", "role", "adjacent", "advertisements", "sum of checksums", "routes"]
    titles.append("computations")
    more = (
        f'The first {ROWS_MAX} of {len(routers):,}; Network.table("ospf") has all'
        if len(routers) > ROWS_MAX
        else ""
    )
    table = Table("Routers that speak OSPF", titles, cells, 2, note=more)
    said = [
        *_databases(routers),
        *stray(routers),
        *contested(routers),
        *_apart(network, joined),
        *_refused(network, interfaces),
    ]
    return [Section("OSPF", points=said, tables=[table])]


def _databases(routers: list[dict[str, Any]]) -> list[str]:
    """Do the routers of each area know the same?"""
    said = []
    for area in sorted({one["area"] for one in routers}):
        own = [one for one in routers if one["area"] == area]
        sums = {(one["advertisements"], one["checksum"]) for one in own}
        if len(sums) > 1:
            said.append(f"The {len(own)} routers of area {area} have {len(sums)} different databases.")
        elif len(own) > 1:
            said.append(f"All {len(own)} routers of area {area} have the same database.")
    return said


def stray(routers: list[dict[str, Any]]) -> list[str]:
    """Routers of several areas of which none joins the others, a sentence each; from rows of table `ospf`."""
    areas: dict[str, list[str]] = {}
    for one in routers:
        if one["role"] == "stray":
            areas.setdefault(one["node"], []).append(one["area"])
    return [
        f"{node} is in areas {' and '.join(own)} and not in the backbone, area 0.0.0.0: it finds no routes"
        " from one to the other."
        for node, own in areas.items()
    ]


def contested(routers: list[dict[str, Any]]) -> list[str]:
    """Router ids that another router seems to have, too, a sentence each; from rows of table `ospf`."""
    shared: dict[str, dict[str, float]] = {}
    for one in routers:
        if one["contested_ps"] is not None:
            shared.setdefault(one["router_id"], {})[one["node"]] = one["contested_ps"] / 1e12
    said = []
    for router_id, last in shared.items():
        words = (
            f"{' and '.join(last)} have the same router id, {router_id}"
            if len(last) > 1
            else f"{' '.join(last)} is not the only router with router id {router_id}"
        )
        said.append(f"{words}: others take them for one. Last noticed at {format_time(max(last.values()))}.")
    return said


def _apart(network: Network, joined: list[dict[str, Any]]) -> list[str]:
    """Virtual links whose ends are not adjacent, a sentence each."""
    apart = [one for one in joined if one["neighbor"] != "full"]
    said = []
    for one in apart:
        far = network.tables.named(one["router_id"])
        why = "" if one["state"] != "down" else ": no way through the area leads there"
        why = f": {one['refused_why']}" if one["refused"] else why
        said.append(f"The virtual link of {one['node']} to {far} through area {one['area']} is not up{why}.")
    return said


def _refused(network: Network, interfaces: list[dict[str, Any]]) -> list[str]:
    """Whose packets routers do not take, and why."""
    said = []
    for one in interfaces:
        if one["refused"]:
            source = network.tables.named(one["refused_from"])
            said.append(
                f"{one['node']} refused {one['refused']:,} packets at its link to {one['towards']}, the last"
                f" one of {source}: {one['refused_why']}."
            )
    shown = said[:ROWS_MAX]
    return shown + ([f"And at {len(said) - len(shown):,} more links."] if len(said) > len(shown) else [])


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
