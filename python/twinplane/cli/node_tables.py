"""How a router's tables look, and what the words of ``twinplane node`` mean."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from .. import declared
from ..errors import TwinplaneError
from ..frames import Columns
from ..units import format_rate, format_time
from .queue_tables import print_queues
from .tables import print_table

OF_LINKS = ("queues", "conditioners", "queue_series")
"""Tables of ends of links."""


WIDE = 16
"""Tables with more columns are printed row by row, a line for each column."""


def check_name(table: str) -> None:
    """Is there such a table?"""
    if table != "status":
        declared.of_router(table)


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


def title_of(column: declared.Column) -> str:
    """The words of a column's name, with the unit where neither they nor the cells say it."""
    stem = column.name.removesuffix("_bps") if column.unit == "bit/s" else column.name
    stem = stem.removesuffix("_s") if column.unit == "s" else stem
    words = stem.replace("_", " ")
    said = column.unit in ("", "s", "bit/s") or column.unit in words.split()
    return words[:1].upper() + words[1:] + ("" if said else f" ({column.unit})")


def print_columns(table: str, columns: Columns, ports: Sequence[Mapping[str, Any]] = ()) -> None:
    """A table of a router, as it is declared; `ports` are the router's, with their links and interfaces.

    Columns that the router does not have, as an older one, are left out.
    """
    if table in OF_LINKS and "neighbor" in columns:
        columns = link_names(columns, ports)
    if table == "queues":
        print_queues(rows(columns))
        return
    found = declared.of_router(table)
    hidden = ("neighbor",) if table in OF_LINKS else ()
    shown = [one for one in found.columns if one.exact_name in columns and one.name not in hidden]
    if len(shown) > WIDE:
        _print_wide(shown, columns)
        return
    # Columns of words first, so that they can stand on the left.
    words = [one for one in shown if one.type == "str" or (table in OF_LINKS and one.name == "link")]
    first = [one for one in words if one is shown[0]] or shown[:1]
    order = [*first, *(one for one in words if one not in first)]
    order += [one for one in shown if one not in order]
    cells = [[_cell(one, value) for value in columns[one.exact_name]] for one in order]
    left = len(words) if words and words[0] is order[0] else 0
    print_table([title_of(one) for one in order], list(zip(*cells, strict=True)), left=left)


def _print_wide(shown: Sequence[declared.Column], columns: Columns) -> None:
    count = len(columns[shown[0].exact_name])
    for place in range(count):
        lines = [
            (one.name, _cell(one, columns[one.exact_name][place]), one.unit, one.meaning) for one in shown
        ]
        print_table(["Column", "Value", "Unit", "Meaning"], lines, left=4)
    if not count:
        print("no rows")


def _cell(column: declared.Column, value: Any) -> str:
    if value is None:
        return "-"
    if column.time:
        return f"{value / 1e12:.6f} s"
    if column.unit == "s" and isinstance(value, float):
        return format_time(value, 3)
    if column.unit == "bit/s" and isinstance(value, int):
        return format_rate(value)
    return _plain(value)


def _plain(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return " ".join(f"{name}={_plain(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    return str(value)


def print_tables(of: str | None) -> None:
    """All tables, a line each; or the columns of those with one name."""
    every = declared.tables()
    if of is None:
        print_table(
            ["Table", "Of", "A row is"], [(one.name, SCOPES[one.scope], one.meaning) for one in every], left=3
        )
        return
    declared.of_router(of)
    for one in (one for one in every if one.name == of):
        lines = [(c.name, c.type, c.unit, c.meaning) for c in one.columns]
        print(f"{one.name} ({SCOPES[one.scope]}): {one.meaning}")
        print_table(["Column", "Type", "Unit", "Meaning"], lines, left=4)


def tables_json(of: str | None) -> str:
    """The same for programs."""
    if of is not None:
        declared.of_router(of)
    return json.dumps([asdict(one) for one in declared.tables() if of in (None, one.name)])


SCOPES = {
    "router": "a router",
    "device": "a router or host",
    "either": "a node, or all",
    "network": "all nodes",
    "process": "a router process",
    "packet": "a packet",
}
"""Of what a table is asked, for people."""


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


def print_lsp_test(found: Sequence[Mapping[str, Any]]) -> None:
    """The requests of a test of an LSP, and what was replied."""

    def way_on(row: Mapping[str, Any]) -> str:
        ways = zip(row["downstream"], row["downstream_labels"], strict=True)
        return ", ".join(f"{to} with {labels}" if labels else str(to) for to, labels in ways)

    cells = [
        (
            str(row["sequence"]),
            str(row["hop"]),
            row["from"] or row["end"] or "-",
            format_time(None if row["delay_ps"] is None else row["delay_ps"] / 1e12),
            row["meaning"] or row["outcome"],
            "-"
            if row["code"] is None
            else f"{row['code']}" + (f" at {row['depth']}" if row["depth"] else ""),
            way_on(row) or "-",
        )
        for row in found
    ]
    titles = ["Request", "TTL", "Reply of", "Delay", "Meaning", "Code", "Packets go on to"]
    print_table(titles, cells, left=7, title=found[0]["fec"] if found else "")


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
