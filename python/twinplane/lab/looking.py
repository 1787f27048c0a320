"""What is known about labs that are up."""

from __future__ import annotations

import json
from typing import Any

from ..errors import TwinplaneError
from . import netns, state
from .asking import ask
from .state import NodeState, State


def overview() -> tuple[list[dict[str, Any]], list[str]]:
    """All labs, one entry each; and what is wrong with those that can't be read."""
    found: list[dict[str, Any]] = []
    every, wrong = state.readable()
    for name, one in every:
        if one is None:
            found.append(
                {"lab": name, "phase": "half made", "file": None, "since": None, "nodes": 0, "running": 0}
            )
            continue
        routers = [node for node in one.nodes.values() if node.kind == "router"]
        found.append(
            {
                "lab": name,
                "phase": phase(one),
                "file": one.file,
                "since": one.since or None,
                "nodes": len(one.nodes),
                "routers": len(routers),
                "running": sum(_alive(node) for node in routers),
            }
        )
    return found, wrong


def phase(one: State) -> str:
    """``up``, ``coming up``, or ``half made`` by a command that was killed."""
    if one.phase == "up":
        return "up"
    return "coming up" if one.maker.alive() else "half made"


def _alive(node: NodeState) -> bool:
    return node.process is not None and node.process.alive()


def details(name: str) -> dict[str, Any]:
    """One lab: every node, and every LSP as its head end sees it."""
    one = state.running(name)
    nodes, lsps = [], []
    for node_name, node in one.nodes.items():
        entry: dict[str, Any] = {
            "node": node_name,
            "kind": node.kind,
            "state": node_state(node),
            "address": node.address,
            "namespace": node.namespace,
            "interfaces": node.interfaces,
            "pid": None if node.process is None or not node.process.alive() else node.process.pid,
            "restarts": node.incarnation,
        }
        if node.kind == "router" and entry["state"] != "up":
            lsps += unknown(one, node_name)
        elif node.kind == "router":
            try:
                entry["status"] = ask(one, node_name, "status")
                lsps += heads(one, node_name)
            except TwinplaneError as error:
                entry["state"], entry["why"] = "silent", str(error)
        nodes.append(entry)
    return {
        "lab": name,
        "phase": phase(one),
        "file": one.file,
        "since": one.since or None,
        "nodes": nodes,
        "links": one.links,
        "lsps": lsps,
    }


def node_state(node: NodeState) -> str:
    """``up``, or what is wrong."""
    if node.namespace is None:
        return "outside"
    if netns.identity(netns.path_of(node.namespace)) is None:
        return "no namespace"
    if node.kind == "router":
        return "up" if _alive(node) else "dead"
    return "up"


def heads(one: State, name: str) -> list[dict[str, Any]]:
    """The LSPs that begin at a router."""
    every = rows(ask(one, name, "table", "lsps"))
    known = {(row["tunnel"], row["lsp"]): row for row in every if row["role"] == "head"}
    found = []
    for row in rows(ask(one, name, "table", "tunnels")):
        way = known.get((row["tunnel"], row["active"]), {})
        found.append(
            {
                "lsp": row["name"],
                "from": name,
                "to": owner(one, str(row["to"])),
                "state": "down" if row["active"] is None else "up",
                "label": way.get("out_label"),
                "bandwidth_bps": way.get("bandwidth_bps"),
                "failures": row["failures"],
                "tunnel": row["tunnel"],
            }
        )
    return found


def unknown(one: State, name: str) -> list[dict[str, Any]]:
    """The LSPs that should begin at a router that can't be asked."""
    try:
        description = json.loads(one.config(name).read_text())["description"]
    except (OSError, ValueError, KeyError):
        return []
    return [
        {
            "lsp": lsp["name"],
            "from": name,
            "to": lsp["to"],
            "state": "unknown",
            "label": None,
            "bandwidth_bps": None,
            "failures": None,
        }
        for lsp in description.get("lsps", [])
        if lsp["from"] == name
    ]


def rows(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """A table of columns by row."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def owner(one: State, address: str) -> str:
    """The node that has an address, or the address."""
    return next((name for name, node in one.nodes.items() if node.address == address), address)
