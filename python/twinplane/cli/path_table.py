"""``twinplane node show path``: the packet that is asked for, and what decides on it, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import TwinplaneError
from ..frames import Columns
from .node_tables import rows
from .tables import print_table


def packet(
    table: str,
    to: str | None,
    node: str | None,
    src: str | None,
    protocol: str | None,
    src_port: int | None,
    dst_port: int | None,
    dscp: str | None,
) -> dict[str, Any] | None:
    """The packet that is asked for; None for other tables, of which there is no more to say."""
    said = {"src": src, "protocol": protocol, "src_port": src_port, "dst_port": dst_port, "dscp": dscp}
    given = {
        key: _number(value) if key in ("protocol", "dscp") else value
        for key, value in said.items()
        if value is not None
    }
    if table == "path":
        if to is None:
            raise TwinplaneError("path: to where? `twinplane node show path TO [NODE]`")
        return {"to": to, **given}
    if node is not None:
        raise TwinplaneError(
            f"'{node}': table '{table}' is of one router: `twinplane node show {table} NODE`"
        )
    if given:
        option = next(iter(given)).replace("_", "-")
        raise TwinplaneError(f"--{option}: it says of which packet `node show path` is, not '{table}'")
    return None


def _number(value: str | int) -> str | int:
    is_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10
    return int(value) if is_number else value


def print_path(columns: Columns) -> None:
    """What decides on a packet, a line for each entry, and below each what it overrides."""
    lines = []
    for row in rows(columns):
        lines.append(_line(row))
        marks = ["else", *[""] * len(row["overrides"])]
        lines += [
            ("", "", mark, other, "", "", "") for mark, other in zip(marks, row["overrides"], strict=False)
        ]
    print_table(["Router", "Labels", "Table", "Entry", "Owner", "Action", "To"], lines, left=7)


def _line(row: Mapping[str, Any]) -> tuple[str, ...]:
    to = "-" if row["to"] is None else row["to"]
    if row["leaves"] is not None:
        to += f" with {row['leaves']}"
    if row["gateway"] is not None and row["mac"] is None:
        to += ", whose address is asked for first"
    cells = [
        row["node"],
        row["labels"] or "-",
        row["table"],
        row["entry"],
        (row["owner"] or "-") + (f" through {row['through']}" if row["through"] else ""),
        row["action"],
        to,
    ]
    return tuple(cells)
