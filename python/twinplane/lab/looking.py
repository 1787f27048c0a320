"""What is known about labs that are up."""

from __future__ import annotations

import json
from typing import Any

from ..errors import TwinplaneError
from . import apart, kinds, netns, processes, state
from .apart import Problem, rows
from .asking import ask
from .state import NodeState, State


def overview() -> tuple[list[dict[str, Any]], list[str]]:
    """All labs, one entry each; and what is wrong with those that can't be read."""
    found: list[dict[str, Any]] = []
    every, wrong = state.readable()
    for name, one in every:
        if one is None:
            nothing = {"file": None, "since": None, "nodes": 0, "running": 0}
            found.append({"lab": name, "phase": "half made", "problems": [], **nothing})
            continue
        routers = [node for node in one.nodes.values() if kinds.of(node.kind).runs]
        wrong_here = _problems_of(one)
        found.append(
            {
                "lab": name,
                "phase": "degraded" if wrong_here else phase(one),
                "problems": wrong_here,
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


def _problems_of(one: State) -> list[str]:
    """What is wrong with a lab that is up. One that goes down just now has no problems."""
    if phase(one) != "up":
        return []
    try:
        found: list[str] = details(one.name)["problems"]
    except TwinplaneError:
        return []
    return found


def _alive(node: NodeState) -> bool:
    known = node.processes()
    return bool(known) and all(process.alive() for process in known)


def details(name: str) -> dict[str, Any]:
    """One lab: every node, every LSP as its head end sees it, and in `problems` what is not as the file says.

    The phase of a lab with problems is ``degraded``.
    """
    one = state.running(name)
    nodes, lsps = [], []
    lab = apart.View(one, _description(one))
    ours: list[Problem] = []
    others: list[Problem] = []
    watches: dict[str, apart.Watch] = {}
    for node_name, node in one.nodes.items():
        entry: dict[str, Any] = {
            "node": node_name,
            "kind": node.kind,
            "state": node_state(node),
            "address": node.address,
            "namespace": node.namespace,
            "interfaces": node.interfaces,
            "pid": next((process.pid for process in node.processes() if process.alive()), None),
            "restarts": node.incarnation,
        }
        if node.kind == "router" and entry["state"] != "up":
            lsps += unknown(one, node_name)
        elif node.kind == "router":
            try:
                entry["status"] = ask(one, node_name, "status")
                lsps += heads(one, node_name)
                ours += apart.of_router(lab, node_name)
                told_by_bfd = (lab.table(node_name, table) for table in ("bfd_sessions", "bfd_discards"))
                watches[node_name] = apart.Watch(*told_by_bfd)
                if lab.said(node_name, "bgp") is not None:
                    told = not_reached(node_name, lab.table(node_name, "bgp_routes"))
                    ours += [Problem(words) for words in told]
            except TwinplaneError as error:
                entry["state"], entry["why"] = "silent", str(error)
        else:
            others += kinds.of(node.kind).look(lab, node_name, entry)
        nodes.append(entry)
    wrong = problems(nodes, lsps, signalled(one)) + apart.merged(
        lab, apart.by_areas(lab) + ours + apart.by_bfd(lab, watches), others
    )
    now = phase(one)
    return {
        "lab": name,
        "phase": "degraded" if wrong and now == "up" else now,
        "problems": wrong,
        "file": one.file,
        "since": one.since or None,
        "nodes": nodes,
        "links": one.links,
        "lsps": lsps,
    }


def settled(name: str, wait_s: float) -> dict[str, Any]:
    """What `details` says as soon as the lab is not degraded, or after so many seconds."""
    found: dict[str, Any] = {}

    def whole() -> bool:
        nonlocal found
        found = details(name)
        return not found["problems"]

    processes.wait_until(whole, wait_s)
    return found


def problems(
    nodes: list[dict[str, Any]], lsps: list[dict[str, Any]], wanted: list[tuple[str, str, str, str]]
) -> list[str]:
    """What is not as it should be, a sentence each: nodes first, then LSPs whose head end can be asked.

    `wanted` are name, group, head end and tail end of the LSPs that the description has signalled at once.
    """
    said = []
    for node in nodes:
        if node["state"] not in ("up", "outside"):
            restart = f": `twinplane lab restart {node['node']}`" if node["state"] == "dead" else ""
            how = _WORDS.get(node["state"], node["state"])
            said.append(f"{node['kind']} {node['node']} is {how}{restart}")
    known = {(lsp["from"], lsp["lsp"]): lsp for lsp in lsps}
    asked = {node["node"] for node in nodes if node["state"] == "up"}
    for name, group, head, tail in wanted:
        lsp = known.get((head, name))
        which = f"lsp {name} from {head} to {tail}"
        if head not in asked:
            continue
        if lsp is None:
            said.append(f"{which} is torn down: `twinplane node lsp signal {group} {head}`")
        elif lsp["state"] != "up":
            said.append(f"{which} is {lsp['state']}")
        elif lsp["route"]:
            said.append(f"{which} takes its fallback route {lsp['route']}, not the preferred one")
    return said


_WORDS = {"silent": "running, but does not answer", "no namespace": "without its namespace"}
"""States of nodes that are no words of a sentence."""


def signalled(one: State) -> list[tuple[str, str, str, str]]:
    """Name, group, head end and tail end of each LSP that routers of the lab signal as soon as they run."""
    found = []
    for lsp in _described(one):
        if lsp["signal"] and one.nodes[lsp["from"]].kind == "router":
            found += [(name, lsp["name"], lsp["from"], lsp["to"]) for name in _names(lsp)]
    return found


def not_reached(name: str, routes: list[dict[str, Any]]) -> list[str]:
    """Next hops of BGP to which no route of a router leads, a sentence each: such routes are not used."""
    counted: dict[str, int] = {}
    for row in routes:
        if not row["is_reached"] and row["next_hop"] is not None:
            counted[row["next_hop"]] = counted.get(row["next_hop"], 0) + 1
    return [
        f"router {name} has no route to {hop}, next hop of BGP: {_not_used(count)}"
        for hop, count in sorted(counted.items())
    ]


def _not_used(count: int) -> str:
    return "the route with it is not used" if count == 1 else f"the {count} routes with it are not used"


def _described(one: State) -> list[dict[str, Any]]:
    """The LSPs of the description that the routers were started with; none if no router has one."""
    return [lsp for lsp in _description(one).get("lsps", []) if lsp["from"] in one.nodes]


def _description(one: State) -> dict[str, Any]:
    """The description that the routers were started with; nothing if no router has one."""
    for name, node in one.nodes.items():
        if node.kind == "router":
            try:
                found: dict[str, Any] = json.loads(one.config(name).read_text())["description"]
            except (OSError, ValueError, KeyError):
                continue
            return found
    return {}


def _names(lsp: dict[str, Any]) -> list[str]:
    """Of each LSP of a group of LSPs that are alike."""
    count = int(lsp["count"])
    return [lsp["name"]] if count == 1 else [f"{lsp['name']}-{number + 1}" for number in range(count)]


def node_state(node: NodeState) -> str:
    """``up``, or what is wrong."""
    if node.namespace is None:
        return "outside"
    if netns.identity(netns.path_of(node.namespace)) is None:
        return "no namespace"
    if kinds.of(node.kind).runs:
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
                "route": row["route"],
                "label": way.get("out_label"),
                "bandwidth_bps": way.get("bandwidth_bps"),
                "failures": row["failures"],
                "tunnel": row["tunnel"],
            }
        )
    return found


def unknown(one: State, name: str) -> list[dict[str, Any]]:
    """The LSPs that should begin at a router that can't be asked."""
    return [
        {
            "lsp": lsp["name"],
            "from": name,
            "to": lsp["to"],
            "state": "unknown",
            "route": None,
            "label": None,
            "bandwidth_bps": None,
            "failures": None,
        }
        for lsp in _described(one)
        if lsp["from"] == name
    ]


def owner(one: State, address: str) -> str:
    """The node that has an address, or the address."""
    return next((name for name, node in one.nodes.items() if node.address == address), address)
