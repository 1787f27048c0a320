"""Who of those that should be neighbours is not, and what routers and daemons say of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .. import core
from ..errors import TwinplaneError
from .asking import ask
from .state import State


@dataclass(frozen=True)
class Problem:
    """Something that is not as it should be."""

    words: str
    """A sentence, without the reason."""
    why: str = ""
    """The reason, if it is known."""
    node: str = ""
    """The node that lacks a neighbour; nothing if the sentence is of something else."""
    protocol: str = ""
    far: str = ""
    """The neighbour: a node, a segment, or the address of a neighbour that is no node of the lab."""

    def sentence(self) -> str:
        """The whole of it."""
        return f"{self.words}: {self.why}" if self.why else self.words


@dataclass
class View:
    """A lab as it is looked at, and what its routers were started with."""

    state: State
    description: Mapping[str, Any]
    owners: dict[str, str] = field(default_factory=dict, repr=False)
    """Nodes by address, as planned; made when it is asked for."""
    plan: tuple[dict[str, Any], list[TwinplaneError]] | None = field(default=None, repr=False)
    """Addresses and warnings; made when it is asked for."""

    def said(self, name: str, protocol: str) -> Mapping[str, Any] | None:
        """What the description says of a protocol of a node; nothing if that does not speak it."""
        found: Mapping[str, Any] | None = self.description.get("nodes", {}).get(name, {}).get(protocol)
        return found if name in self.state.nodes else None

    def speakers(self, protocol: str) -> set[str]:
        """The nodes of the lab that speak a protocol, as the description says."""
        return {name for name in self.state.nodes if self.said(name, protocol) is not None}

    def table(self, node: str, name: str) -> list[dict[str, Any]]:
        """A table of a router by row."""
        return rows(ask(self.state, node, "table", name))

    def now_ps(self, node: str) -> int:
        """What the clock of a router says."""
        found: int = ask(self.state, node, "status")["now_ps"]
        return found

    def owner(self, address: str) -> str:
        """The node that has an address by the plan, or the address."""
        if not self.owners:
            self.owners = self._planned()
        return self.owners.get(address, address)

    def planned(self) -> tuple[dict[str, Any], list[TwinplaneError]]:
        """What the description means: addresses of nodes and links, and warnings of it."""
        if self.plan is None:
            try:
                self.plan = core.plan(dict(self.description))
            except TwinplaneError:  # nobody of ours was started with a description
                self.plan = {"links": []}, []
        return self.plan

    def _planned(self) -> dict[str, str]:
        found = {node.address: name for name, node in self.state.nodes.items()}
        for info, ends in zip(self.planned()[0]["links"], self.state.links, strict=False):
            for side, end in enumerate(ends):
                node = end.partition(":")[0]
                found[_plain(info["addresses"][side])] = node
                if info["ipv6"] is not None:
                    found[_plain(info["ipv6"][side])] = node
        return found

    def beside(self, name: str) -> set[str]:
        """Who is at the other ends of a node's links; at a segment all of its members."""
        found: set[str] = set()
        for far in self._linked(name):
            found |= set(self._linked(far)) - {name} if self._is_segment(far) else {far}
        return found

    def _linked(self, name: str) -> list[str]:
        pairs = [[end.partition(":")[0] for end in link] for link in self.state.links]
        return [far for pair in pairs for near, far in (pair, pair[::-1]) if near == name]

    def is_other_end(self, mine: Problem, other: Problem) -> bool:
        """Do a router of ours and one of somebody else lack each other, on a link or on one segment?"""
        if not other.far or mine.protocol != other.protocol:
            return False
        if self._is_segment(other.far):
            return mine.far in (other.far, other.node)
        return (mine.node, mine.far) == (other.far, other.node)

    def _is_segment(self, name: str) -> bool:
        return name in self.state.nodes and self.state.nodes[name].kind in ("bridge", "switch")


def rows(table: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """A table of columns by row."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _plain(address: Any) -> str:
    return str(ipaddress.ip_interface(str(address)).ip)


def of_router(lab: View, name: str) -> list[Problem]:
    """What a router of ours that answers lacks by OSPF, LDP and BGP."""
    found: list[Problem] = []
    if lab.said(name, "ospf") is not None:
        found += by_ospf(lab, name)
    if lab.said(name, "ldp") is not None:
        found += by_ldp(lab, name)
    if lab.said(name, "bgp") is not None:
        found += by_bgp(lab, name)
    return found


NOT_JOINED = ("apart", "pieces")
"""Warnings of a description: an area that does not touch the backbone, and a backbone in pieces."""


def by_areas(lab: View) -> list[Problem]:
    """Areas of OSPF that the backbone does not join: no router by itself can know it."""
    if not lab.speakers("ospf"):
        return []
    return [Problem(one.words) for one in lab.planned()[1] if one.code in NOT_JOINED]


def by_ospf(lab: View, name: str) -> list[Problem]:
    """Links by which OSPF finds no neighbour though there should be one."""
    speakers = lab.speakers("ospf")
    known = lab.table(name, "ospf")
    areas = [row for row in known if row["role"] == "stray"]
    found = by_router_id(lab, name, known)
    if areas:
        own = " and ".join(row["area"] for row in areas)
        found.append(
            Problem(f"router {name} is in areas {own} of OSPF and not in the backbone, area 0.0.0.0")
        )
    for row in lab.table(name, "ospf_interfaces"):
        bridge = row["network"] == "broadcast" and row["neighbors"] > 1
        wanted = row["towards"] in speakers or row["neighbors"] or row["refused"]
        if row["passive"] or row["adjacent"] or not wanted or bridge:
            continue
        # What was refused may be long ago; whose Hellos are taken has another reason.
        refused = f"{row['refused_from']}: {row['refused_why']}" if row["refused"] else ""
        why = _of_mtu(lab, name, row) or refused
        state, far = "down" if row["state"] == "down" else "not adjacent", str(row["towards"])
        found.append(
            Problem(f"router {name} is {state} by OSPF on its link to {far}", why, name, "OSPF", far)
        )
    for row in lab.table(name, "ospf_virtual_links"):
        if row["neighbor"] != "full":
            over = f"its virtual link to {row['router_id']} through area {row['area']}"
            why = str(row["refused_why"]) if row["refused"] else ""
            found.append(Problem(f"router {name} is not adjacent by OSPF over {over}", why))
    return found


CONTESTED_S = 60.0
"""Another router has the same router id if it has been heard under it within this time: both say something
new each 5 s."""


def by_router_id(lab: View, name: str, areas: list[dict[str, Any]]) -> list[Problem]:
    """That another router has the router's own router id, if one does."""
    contested = [row for row in areas if row["contested_ps"] is not None]
    if not contested:
        return []
    since_s = (lab.now_ps(name) - contested[0]["contested_ps"]) / 1e12
    if since_s > CONTESTED_S:
        return []
    router_id = contested[0]["router_id"]
    return [Problem(f"router {name} is not the only one with router id {router_id} of OSPF")]


def _of_mtu(lab: View, name: str, interface: Mapping[str, Any]) -> str:
    """Why a neighbour on a link may refuse what this router describes: its packets are too long for it."""
    for row in lab.table(name, "ospf_neighbors"):
        if row["port"] == interface["port"] and row["mtu"] is not None and row["mtu"] < interface["mtu"]:
            return (
                f"{row['address']}: it takes packets of up to {row['mtu']} bytes (MTU), and here they have up"
                f" to {interface['mtu']}"
            )
    return ""


def by_ldp(lab: View, name: str) -> list[Problem]:
    """Routers without a session of LDP that should have one, or that are heard."""
    said = {"targets": [], **(lab.said(name, "ldp") or {})}
    heard = {row["router_id"] for row in lab.table(name, "ldp_neighbors")}
    states = {row["router_id"] or row["remote"]: row["state"] for row in lab.table(name, "ldp_sessions")}
    wanted = {lab.state.nodes[far].address: far for far in lab.beside(name) & lab.speakers("ldp")}
    wanted |= {one: lab.owner(one) for one in (*heard, *said["targets"])}
    found = []
    for router_id, far in sorted(wanted.items(), key=lambda item: item[1]):
        if states.get(router_id) == "operational":
            continue
        other = lab.said(far, "ldp")
        if other is not None and other.get("password") != said.get("password"):
            why = "the two have different passwords"
        elif router_id not in heard and router_id not in said["targets"]:
            why = "it hears no Hello of it"
        else:
            why = "it hears its Hellos, and no session comes up" if router_id in heard else ""
        found.append(Problem(f"router {name} has no session of LDP with {far}", why, name, "LDP", far))
    return found


def by_bgp(lab: View, name: str) -> list[Problem]:
    """Neighbours without a session of BGP, and how the last one ended or why there is none."""
    found = []
    for row in lab.table(name, "bgp_neighbors"):
        if row["state"] == "established":
            continue
        far = lab.owner(row["address"])
        # The reason is that of the last attempt: while another one is made it may have gone.
        now = f" (now {row['state']})" if row["state"] != "idle" else ""
        last = f"{row['last_end']}{now}" if row["last_end"] else row["state"]
        why = _of_passwords(lab, name, far, row) or last
        found.append(Problem(f"router {name} has no session of BGP with {far}", why, name, "BGP", far))
    return found


def _of_passwords(lab: View, name: str, far: str, row: Mapping[str, Any]) -> str:
    """Nobody hears of segments that were signed otherwise: they are dropped silently (RFC 2385, 4.5)."""
    own, other = ((lab.said(node, "bgp") or {}).get("neighbors", {}) for node in (name, far))
    ours = own.get(row["neighbor"]) or own.get(row["address"])
    theirs = next((said for key, said in other.items() if name in (key, lab.owner(key))), None)
    if ours is None or theirs is None or ours.get("password") == theirs.get("password"):
        return ""
    return "the two have different passwords"


def by_bfd(lab: View, watches: Mapping[str, Watch]) -> list[Problem]:
    """Sessions of BFD that were up, or that both ends ask for, and are not up; `watches` by router.

    A neighbour that has never answered may not speak BFD, which is no error (RFC 5882, 3.2); nor is a session
    that was shut down at either end.
    """
    asked = {
        (row["local"], row["neighbor"])
        for watch in watches.values()
        for row in watch.sessions
        if row["clients"] and row["lsp"] is None and row["state"] != "admin-down"
    }
    found = []
    for name, watch in watches.items():
        for row in watch.sessions:
            is_shut = "admin-down" in (row["state"], row["remote_state"])
            is_mutual = row["lsp"] is None and (row["neighbor"], row["local"]) in asked
            is_due = row["path"] == "dead" or is_mutual
            if row["state"] == "up" or not row["clients"] or is_shut or not is_due:
                continue
            far = lab.owner(row["neighbor"])
            lsp = "" if row["lsp"] is None else f" over the LSP to {row['lsp']}"
            clients = " and ".join(client.upper() for client in row["clients"])
            words = f"router {name} has no session of BFD with {far}{lsp} for {clients}"
            found.append(Problem(words, watch.why(row), name, "BFD", far))
    return found


@dataclass(frozen=True)
class Watch:
    """What a router says of BFD."""

    sessions: list[dict[str, Any]]
    discards: list[dict[str, Any]]

    def why(self, session: Mapping[str, Any]) -> str:
        """Why a session is not up, as far as the router knows."""
        if session["path"] == "dead":
            return str(session["diagnostic"])
        untaken = [one for one in self.discards if one["from"] == session["neighbor"]]
        told = (f"{one['packets']} of its packets were not taken ({one['reason']})" for one in untaken)
        return " and ".join(told) or str(session["state"])


def merged(lab: View, ours: list[Problem], others: list[Problem]) -> list[str]:
    """Sentences: what only routers of ours lack, then what daemons of others do, and what ours say of it."""
    said, told = [], set()
    for one in others:
        known = [mine for mine in ours if lab.is_other_end(mine, one)]
        told.update(known)
        reasons = [f"router {mine.node} says: {mine.why}" for mine in known if mine.why]
        why = "; ".join([*([one.why] if one.why else []), *reasons])
        said.append(replace(one, why=why).sentence())
    return [mine.sentence() for mine in ours if mine not in told] + said
