"""Queues of a router on the terminal: a tree for each end of a link, in no more columns than they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..reports.queues import GAP, drawn, size
from ..units import format_time
from .tables import print_table

if TYPE_CHECKING:
    from ..results.folder import Results

Row = Mapping[str, Any]

REASONS = {
    "buffer-full": "Full",
    "early-drop": "Early\ndrop",
    "policed": "Policed",
    "port-down": "Port\ndown",
}
"""Short headings of reasons for which queues drop; others are headed by their words."""


TREES_MAX = 6
"""Of more trees those are printed that dropped or held most."""

REASONS_MAX = 2
"""Of more reasons the columns would be too many: they stand below the table."""


def print_queues(rows: Sequence[Row]) -> None:
    """The trees, one table for each end of a link; columns in which all is zero are left out."""
    ends = list(dict.fromkeys(row["link"] for row in rows))
    if not ends:
        print("no queues but FIFOs")
    for link in ends:
        _print_tree(f"towards {link}", in_order([row for row in rows if row["link"] == link]))


def print_trees(found: Results) -> None:
    """The trees of a run's first point."""
    from ..reports.kept_trees import shown

    trees = shown(found) if "queues" in found.tables() else []
    busiest = sorted(trees, key=lambda tree: _busy(tree.rows[0]), reverse=True)[:TREES_MAX]
    for tree in trees:
        if tree in busiest:
            name = f"{tree.node} towards {tree.neighbor}"
            _print_tree(name, in_order([placed(row, tree.places) for row in tree.rows]))
    if len(trees) > len(busiest):
        print(f"{len(trees) - len(busiest)} more trees, which dropped and held less, are in the report")


def placed(row: Row, places: Mapping[str, tuple[str, str]]) -> Row:
    """A row under the class that it is in."""
    return {**row, "path": places[row["path"]][0]} if row["path"] in places else row


def _busy(root: Row) -> tuple[int, int, int]:
    return root["dropped_packets"], root["backlog_bytes_max"], root["sent_packets"]


def in_order(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """The queues of a tree, each behind the one that it is in, with the whole way to it."""
    inside: dict[str, list[Row]] = {}
    for row in rows:
        inside.setdefault(row.get("parent") or row["path"].rpartition("/")[0], []).append(row)

    def walk(path: str, whole: str) -> Iterator[tuple[str, Row]]:
        for row in inside.get(path, ()):
            name = row["path"].rpartition("/")[2]
            own = f"{whole}/{name}" if whole else name
            yield own, row
            yield from walk(row["path"], own)

    return list(walk("", ""))


def _print_tree(title: str, tree: Sequence[tuple[str, Row]]) -> None:
    rows = [row for _, row in tree]
    reasons = list(dict.fromkeys(reason for row in rows for reason, count in row["drops"].items() if count))
    columns: list[tuple[str, list[str]]] = [
        ("Queue", [name.replace(GAP, " ") for name in drawn([path for path, _ in tree])]),
        ("Kind", [str(row["discipline"]).replace("virtual-queue", "virtual") for row in rows]),
        ("Sent", [str(_sent(row, "packets")) for row in rows]),
        ("Bytes", [size(_sent(row, "bytes")) for row in rows]),
    ]
    if len(reasons) <= REASONS_MAX:
        columns += [
            _counted(_heading(reason), [row["drops"].get(reason, 0) for row in rows]) for reason in reasons
        ]
    else:
        columns.append(_counted("Dropped", [row["dropped_packets"] for row in rows]))
    counts = {
        "Marked": [row["marked"] for row in rows],
        "Borrowed": [int(row["extra"].get("borrowed_packets", 0)) for row in rows],
        "Waiting": [row["backlog_packets"] for row in rows],
    }
    columns += [_counted(title, values) for title, values in counts.items() if any(values)]
    columns += [
        _counted("Most\nwaiting", [row["backlog_packets_max"] for row in rows]),
        ("Most\nbytes", [_size(row["backlog_bytes_max"]) for row in rows]),
        ("Mean\nwait", [format_time(row["mean_wait_s"], 3) for row in rows]),
    ]
    cells = list(zip(*(cells for _, cells in columns), strict=True))
    print_table([title for title, _ in columns], cells, left=2, title=title, narrow=True)
    if len(reasons) > REASONS_MAX:
        for path, row in tree:
            words = ", ".join(f"{count} {reason}" for reason, count in row["drops"].items() if count)
            if words and (path.count("/") or len(tree) == 1):  # the root's are the sum of the others
                print(f" {path} dropped {words}")
        print()


def _sent(row: Row, what: str) -> int:
    """A class in which others are has no queue of its own, but knows what these sent."""
    return int(row["extra"].get(f"sent_{what}", row[f"sent_{what}"]))


def _heading(reason: str) -> str:
    return REASONS.get(reason, reason.replace("-", "\n").capitalize())


def _counted(title: str, values: Sequence[int]) -> tuple[str, list[str]]:
    return title, [str(value) if value else "-" for value in values]


def _size(value: int) -> str:
    return size(value) if value else "-"
