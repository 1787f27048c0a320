"""How a router's tables look, and what the words of ``twinplane node`` mean."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..errors import TwinplaneError, suggest
from ..frames import Columns
from ..units import format_rate, format_time
from .queue_tables import print_queues
from .tables import print_table

TABLES = (
    *("status", "lsps", "tunnels", "ilm", "ftn", "fib", "neighbors", "counters", "drops"),
    *("queues", "conditioners", "queue_series"),
    *("ports", "interfaces", "bandwidth", "messages", "processors", "state", "events", "log"),
)
"""What can be shown."""

LAYOUTS: dict[str, tuple[tuple[str, str], ...]] = {
    "ilm": (
        ("label", "In label"), ("out", "Out label"), ("to", "Next hop"), ("port", "Port"),
        ("gateway", "Gateway"), ("class", "Class"), ("packets", "Packets"), ("bytes", "Bytes"),
    ),
    "ftn": (
        ("prefix", "Prefix"), ("filter", "Filter"), ("classes", "Classes"), ("push", "Push"),
        ("to", "Next hop"), ("port", "Port"), ("gateway", "Gateway"), ("class", "Class"),
        ("packets", "Packets"), ("bytes", "Bytes"),
    ),
    "fib": (
        ("prefix", "Prefix"), ("to", "Next hop"), ("port", "Port"), ("gateway", "Gateway"),
        ("packets", "Packets"), ("bytes", "Bytes"),
    ),
    "lsps": (
        ("name", "LSP"), ("role", "Role"), ("state", "State"), ("from", "From"), ("to", "To"),
        ("tunnel", "Tunnel"), ("lsp", "LSP id"), ("in_label", "In label"), ("out_label", "Out label"),
        ("bandwidth_bps", "Bandwidth"), ("setup_priority", "Setup"), ("holding_priority", "Hold"),
        ("style", "Style"), ("diffserv", "DiffServ"),
    ),
    "tunnels": (
        ("name", "LSP"), ("to", "To"), ("tunnel", "Tunnel"), ("active", "LSP id"),
        ("candidate", "Candidate"), ("failures", "Failures"), ("retry_ps", "Next try"),
    ),
    "counters": (
        ("port", "Port"), ("rx_packets", "Received"), ("rx_bytes", "Bytes"), ("tx_packets", "Sent"),
        ("tx_bytes", "Bytes"),
    ),
    "drops": (("node", "Node"), ("reason", "Reason"), ("count", "Packets")),
    "bandwidth": (
        ("port", "Port"), ("address", "Address"), ("up", "Up"), ("reservable_bps", "Reservable"),
        ("reserved_bps", "Reserved"),
    ),
    "interfaces": (
        ("interface", "Interface"), ("link", "Link"), ("state", "State"), ("driver", "Driver"),
        ("rx_frames", "Received"), ("rx_bytes", "Bytes"), ("rx_kernel_drops", "Missed"),
        ("tx_frames", "Sent"), ("tx_bytes", "Bytes"), ("tx_dropped", "Dropped"), ("tx_errors", "Errors"),
        ("lateness_p50_s", "Late, half"), ("lateness_p99_s", "Late, 99 %"), ("lateness_max_s", "Late, most"),
    ),
    "conditioners": (
        ("link", "Link to"), ("where", "Where"), ("rule", "Rule"), ("colour", "Colour"),
        ("action", "Action"), ("packets", "Packets"), ("bytes", "Bytes"),
    ),
    "queue_series": (
        ("link", "Link to"), ("path", "Queue"), ("start_ps", "From"), ("mean_bytes", "Mean bytes"),
        ("max_bytes", "Most"),
    ),
    "neighbors": (("port", "Port"), ("address", "Address"), ("mac", "MAC")),
    "log": (("time_ps", "Time"), ("text", "Text")),
}  # fmt: skip
"""Columns in order with their titles; tables that are not here are printed as they come."""

LEFT = frozenset(
    (
        "Prefix",
        "Filter",
        "LSP",
        "Text",
        "Address",
        "node",
        "name",
        "from",
        "to",
        "event",
        "reason",
        "interface",
        "Link to",
        "Queue",
        "Where",
        "Rule",
        "Colour",
        "Action",
        "Classes",
        "Node",
        "Reason",
    )
)

OF_LINKS = ("queues", "conditioners", "queue_series")
"""Tables of ends of links."""


def check_name(table: str) -> None:
    """Is there such a table?"""
    if table not in TABLES:
        hint = suggest(table, TABLES) or f" (one of {', '.join(TABLES)})"
        raise TwinplaneError(f"'{table}': there is no table of that name{hint}")


def rows(columns: Columns) -> list[dict[str, Any]]:
    """A table as a list of objects."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def link_names(columns: Columns, ports: Sequence[Mapping[str, Any]] = ()) -> Columns:
    """A table with links by the neighbours that they lead to; parallel ones by their interfaces as well."""
    interfaces = {port["link"]: str(port["interface"]) for port in ports}
    leads: dict[str, set[int]] = {}
    for link, neighbor in zip(columns["link"], columns["neighbor"], strict=True):
        leads.setdefault(neighbor, set()).add(link)

    def name(link: int, neighbor: str) -> str:
        if len(leads[neighbor]) == 1:
            return neighbor
        return f"{neighbor} ({interfaces.get(link, f'link {link}')})"

    named = [name(*row) for row in zip(columns["link"], columns["neighbor"], strict=True)]
    return {**columns, "link": named}


def print_columns(table: str, columns: Columns, ports: Sequence[Mapping[str, Any]] = ()) -> None:
    """A table as a router would print it; `ports` are the router's, with their links and interfaces."""
    if table in OF_LINKS and "neighbor" in columns:
        columns = link_names(columns, ports)
    if table == "queues":
        print_queues(rows(columns))
        return
    layout = [(key, title) for key, title in LAYOUTS.get(table, ()) if key in columns]
    layout = layout or [(key, key.removesuffix("_ps").removesuffix("_bps")) for key in columns]
    cells = [[_cell(key, value) for value in columns[key]] for key, _ in layout]
    # Columns of words first, so that they can stand on the left.
    order = sorted(range(len(layout)), key=lambda place: layout[place][1] not in LEFT and place > 0)
    titles = [layout[place][1] for place in order]
    left = next((n for n, title in enumerate(titles) if title not in LEFT), len(titles))
    if not cells or not cells[0]:
        print_table(titles, [], left=left)
        return
    print_table(titles, list(zip(*(cells[place] for place in order), strict=True)), left=left)


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key.endswith("_ps") and isinstance(value, int):
        return f"{value / 1e12:.6f} s"
    if key.startswith("lateness_") and isinstance(value, float):
        return format_time(value, 3)
    if key.endswith("_bps") and isinstance(value, int):
        return format_rate(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return " ".join(f"{name}={_cell(name, item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(_cell("", item) for item in value)
    return str(value)


def print_status(found: Mapping[str, Any]) -> None:
    """What a router's process is, and how it fares."""
    since = datetime.fromtimestamp(found["up_since"], UTC).astimezone().isoformat(" ", "seconds")
    tunnels = found["tunnels"]
    lines = [
        ("router", f"{found['node']}, process {found['pid']}, version {found['version']}"),
        ("up since", since),
        ("tunnels", f"{tunnels['up']} up, {tunnels['down']} down"),
        ("LSPs", f"{found['lsps']} begin here, end here or pass"),
        ("memory", f"{found['rss_bytes'] / 1e6:.1f} MB"),
        ("processor", f"{found['cpu_s']:.2f} s used"),
        ("recorded", found["recording"] or "no"),
        ("captures", ", ".join(one["path"] for one in found["captures"]) or "none"),
    ]
    for title, text in lines:
        print(f"{title:10} {text}")
    late = {one["what"]: one for one in found["lateness"]}
    if "events" in late and late["events"]["count"]:
        print(
            f"{'lateness':10} {format_time(late['events']['p50_s'])} half of the time, "
            f"{format_time(late['events']['p99_s'])} for 99 %, {format_time(late['events']['max_s'])} at most"
        )
    if found["ports"]:
        print_columns(
            "interfaces", {key: [port.get(key) for port in found["ports"]] for key in found["ports"][0]}
        )


ICMP = {0: "", 3: "destination unreachable", 11: "time exceeded"}
"""Types of answers (RFC 792)."""


def ping_line(number: int, found: Mapping[str, Any]) -> str:
    """What became of one echo request."""
    if found["from"] is None:
        return f"{number:3}  no answer from {found['to']}"
    who = _who(found)
    kind = ICMP.get(found["type"], f"ICMP type {found['type']}")
    return f"{number:3}  {who}  {format_time(found['rtt_s'])}" + (f"  {kind}" if kind else "")


def print_trace(found: Mapping[str, Any]) -> None:
    """The hops of a trace."""
    cells = [
        (
            str(hop["ttl"]),
            "*" if hop["from"] is None else hop.get("node") or "-",
            hop["from"] or "-",
            ", ".join(map(str, hop.get("labels") or [])) or "-",
            format_time(hop.get("rtt_s")),
        )
        for hop in found["hops"]
    ]
    end = "" if found["reached"] else ", which does not answer"
    print_table(["Hop", "Router", "Address", "Labels", "Time"], cells, left=3, title=f"to {found['to']}{end}")


def _who(found: Mapping[str, Any]) -> str:
    return f"{found['node']} ({found['from']})" if found.get("node") else str(found["from"])


def link_of(text: str) -> int | list[str]:
    """A link as people write it: ``pe1:p``, or its place."""
    if text.isdigit():
        return int(text)
    ends = text.split(":")
    if len(ends) != 2 or not all(ends):
        raise TwinplaneError(f"'{text}' is not a link: its two ends are needed, such as pe1:p")
    return ends


def setting(text: str) -> tuple[str, Any]:
    """A ``key=value``; values are JSON, or else words."""
    key, found, value = text.partition("=")
    if not found:
        raise TwinplaneError(f"--set {text}: KEY=VALUE is needed")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
