"""What a lab has come to: of routers of ours and of others all that is the same whenever it has settled.

Numbers that a new life makes anew are left out: ages, sequence numbers, checksums, times, and labels but for
implicit null, which says that none is wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from twinplane.lab import Lab, looking, processes
from twinplane.lab.kinds.frr.told import documents

IMPLICIT_NULL = 3

State = dict[str, list[Any]]

COLUMNS: dict[str, tuple[str, ...]] = {
    "ospf_neighbors": ("towards", "router_id", "address", "state"),
    "ospf_database": ("area", "type", "id", "router", "length"),
    "ospf_routes": ("prefix", "type", "area", "cost", "next_hops"),
    "ldp_sessions": ("router_id", "state"),
    "ldp_bindings": ("prefix", "label", "told", "next_hops", "out_labels"),
    "ldp_labels": ("prefix", "router_id", "label", "is_used"),
    "bgp_neighbors": ("address", "asn", "state", "received", "sent"),
    "bgp_routes": ("prefix", "from", "is_best", "is_reached", "next_hop", "as_path", "origin"),
    "bfd_sessions": ("neighbor", "state", "clients"),
    "rib": ("prefix", "source", "preference", "metric", "next_hops", "active"),
}
"""What is compared of tables of our routers."""

TABLES = {
    "ospf": ("ospf_neighbors", "ospf_database", "ospf_routes"),
    "ldp": ("ldp_sessions", "ldp_bindings", "ldp_labels"),
    "bgp": ("bgp_neighbors", "bgp_routes"),
    "bfd": ("bfd_sessions",),
}
"""The tables of a protocol."""


def plain(column: str, value: Any) -> Any:
    """A value without the number that a label happens to have."""
    if column == "out_labels":
        return [plain("label", one) for one in value]
    if column == "label" and value is not None and value != IMPLICIT_NULL:
        return "a label"
    return value


def of_rows(table: str, rows: Iterable[dict[str, Any]]) -> list[Any]:
    """What is compared of a table, in an order of its own."""
    kept = [tuple(plain(name, row[name]) for name in COLUMNS[table]) for row in rows]
    return sorted(kept, key=repr)


def of_ours(lab: Lab, node: str, protocols: Iterable[str]) -> State:
    """A router of ours that speaks some protocols."""
    tables = [table for protocol in protocols for table in TABLES[protocol]]
    return {table: of_rows(table, lab.node(node).table(table).to_dicts()) for table in [*tables, "rib"]}


def vtysh(lab: Lab, node: str, question: str) -> Any:
    """What FRR answers to a question that ends in `json`."""
    return json.loads(lab.exec(node, "vtysh", "-c", question).stdout or "{}")


def answers(lab: Lab, node: str, *questions: str) -> list[Any]:
    """What it answers to several, by one vtysh: starting takes that longer than asking."""
    words = [word for question in questions for word in ("-c", question)]
    try:
        return documents(lab.exec(node, "vtysh", *words, check=False).stdout, len(questions))
    except ValueError:  # one of them has no answer
        return [vtysh(lab, node, question) for question in questions]


def birdc(lab: Lab, node: str, *question: str) -> str:
    """What BIRD answers."""
    return lab.exec(node, "birdc", *question).stdout


CHANGING = {"lsaAge", "lsaSeqNumber", "checksum", "lsaFlags"}
"""What of an advertisement that FRR shows is another in each life, or says whose it is."""


def content(shown: Any) -> Any:
    """Advertisements of FRR without what changes, their links in an order that does not."""
    if isinstance(shown, dict):
        if "link0" in shown:
            return sorted((content(one) for one in shown.values()), key=repr)
        return {key: content(value) for key, value in shown.items() if key not in CHANGING}
    return sorted((content(one) for one in shown), key=repr) if isinstance(shown, list) else shown


def frr_label(said: str) -> str:
    """A label of FRR's without its number."""
    return said if said in ("imp-null", "-") else "a label"


def of_frr(lab: Lab, node: str) -> State:
    """A router of FRR that speaks OSPF, LDP, BGP and BFD."""
    met, routes, bindings, sessions, peers, paths, watched, *advertised = answers(
        lab,
        node,
        "show ip ospf neighbor json",
        "show ip route json",
        "show mpls ldp binding json",
        "show mpls ldp neighbor json",
        "show bgp ipv4 unicast summary json",
        "show bgp ipv4 unicast json",
        "show bfd peers json",
        "show ip ospf database router json",
        "show ip ospf database network json",
    )
    return {
        "neighbors": sorted(
            (router, one["nbrState"], one["ifaceAddress"])
            for router, all in met["neighbors"].items()
            for one in all
        ),
        "advertisements": [content(one) for one in advertised],
        "routes": sorted(
            (
                (one["prefix"], one["protocol"], one.get("selected", False), one["metric"], hop.get("ip"))
                for found in routes.values()
                for one in found
                for hop in one["nexthops"]
            ),
            key=repr,
        ),
        "bindings": sorted(
            (one["prefix"], one["neighborId"], *map(frr_label, (one["localLabel"], one["remoteLabel"])))
            for one in bindings.get("bindings", [])
        ),
        "sessions": sorted((one["neighborId"], one["state"]) for one in sessions.get("neighbors", [])),
        "peers": sorted(
            (peer, one["state"], one["pfxRcd"], one["pfxSnt"]) for peer, one in peers.get("peers", {}).items()
        ),
        "paths": sorted(
            (one["network"], one["peerId"], one["path"], one.get("bestpath", False), one["origin"])
            for found in paths.get("routes", {}).values()
            for one in found
        ),
        "watched": sorted((one["peer"], one["status"]) for one in watched),
    }


TIME = re.compile(r"\d\d:\d\d:\d\d\.\d+")


def of_bird(lab: Lab, node: str) -> State:
    """A router of BIRD that speaks OSPF, BGP and BFD."""
    state = [line.strip() for line in birdc(lab, node, "show", "ospf", "state", "all").splitlines()]
    found: list[tuple[str, str]] = []
    destination = ""
    for line in TIME.sub("", birdc(lab, node, "show", "route")).splitlines():
        words = line.split()
        if not words or line.startswith("Table"):
            continue
        if line.startswith("\t"):  # where the route before it leads
            found[-1] = (destination, f"{found[-1][1]} {' '.join(words)}")
            continue
        if not line.startswith(" "):  # further routes to a destination do not name it again
            destination = words.pop(0)
        found.append((destination, " ".join(words)))
    (met,) = [one for one in looking.details(lab.name)["nodes"] if one["node"] == node]
    met_by = ((one["protocol"], one["neighbor"], one["state"]) for one in met["neighbors"])
    return {"advertisements": sorted(state), "routes": sorted(found), "neighbors": sorted(met_by)}


def reached(lab: Lab) -> bool:
    """Do packets pass from host left to host right and back?"""
    return lab.exec("left", "ping", "-c1", "-W1", "10.2.0.2", check=False).returncode == 0


def routes(lab: Lab) -> dict[str, str]:
    """What routers next to each other would do with packets: kernels of others, forwarding tables of ours."""
    return {
        name: str(lab.node(name).columns("fib"))
        if node.kind == "router"
        else lab.exec(name, "ip", "route").stdout
        for name, node in lab.state.nodes.items()
    }


def comes(lab: Lab) -> None:
    """Wait until all neighbours have met, and packets pass."""
    told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
    assert processes.wait_until(lambda: told() == [], 60, 0.2), told()
    # BIRD looks every minute whether the kernel has its routes, and writes those again that are missing.
    assert processes.wait_until(lambda: reached(lab), 75, 0.2), routes(lab)


def differences(before: dict[str, State], after: dict[str, State]) -> dict[str, Any]:
    """What of a state is not as in another one: by node and table what is gone and what is new."""
    return {
        f"{node}: {table}": {
            "gone": [row for row in rows if row not in after[node][table]],
            "new": [row for row in after[node][table] if row not in rows],
        }
        for node, tables in before.items()
        for table, rows in tables.items()
        if rows != after[node][table]
    }


def steady(look: Callable[[], Any], seconds: float, times: int = 4) -> Any:
    """What is seen once it has been the same several times in a row, a moment apart."""
    seen: list[Any] = []

    def same() -> bool:
        seen.append(look())
        return len(seen) >= times and all(one == seen[-1] for one in seen[-times:])

    assert processes.wait_until(same, seconds, 0.5), seen[-2:]
    return seen[-1]
