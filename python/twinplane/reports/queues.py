"""Trees of queues on the page: what they are, what went through them, and what waited when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..charts import SHADES, Chart, Curve
from ..charts.table import Table
from ..network.trees import root_of
from ..units import format_rate, format_time, rate_bps, size_bytes
from .page import Section

if TYPE_CHECKING:
    from ..frames import Columns
    from ..network import Network

TREES_MAX = 24
"""Of more trees than this those that dropped or held most are shown."""
CURVES_MAX = len(SHADES)
GAP = "\u00a0"
"""A space that stays one."""

Row = dict[str, Any]
Key = tuple[str, int]
"""A tree: its node and its link."""
Place = tuple[str, str]
"""Where a queue is in its tree, and what it is configured to."""


@dataclass
class Shown:
    """A tree of queues with what it counted."""

    node: str
    neighbor: str
    rows: list[Row]
    places: Mapping[str, Place] = field(default_factory=dict)
    """By the paths of the rows."""
    series: Mapping[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    """Start of bins in seconds and mean bytes, by path."""


def of_network(network: Network) -> list[Section]:
    """The sections of a network: none if there is no tree and no conditioner in it."""
    placed = network.draft.at_ends()
    if not placed:
        return []
    series = None if network.queue_bin_ps is None else network.columns("queue_series")

    def neighbor(node: str, link: int) -> str:
        a, b = network.links[link].a.name, network.links[link].b.name
        return b if a == node else a

    def configured(node: str, link: int) -> Mapping[str, Place]:
        tree = placed.get((link, node, "queue"))
        return {} if tree is None else dict(layout(root_of(tree), "root"))

    return sections(
        trees(network.columns("queues"), series, neighbor, configured),
        network.columns("conditioners"),
        neighbor,
        network.now,
    )


def trees(table: Columns, series: Columns | None, neighbor: Any, configured: Any) -> list[Shown]:
    """Trees from table `queues` and, if it was kept, `queue_series`."""
    found: dict[Key, Shown] = {}
    for row in _rows(table):
        key = (row["node"], row["link"])
        if key not in found:
            found[key] = Shown(row["node"], neighbor(*key), [], configured(*key), {})
        found[key].rows.append(row)
    for row in _rows(series or {}):
        shown = found.get((row["node"], row["link"]))
        if shown is not None and isinstance(shown.series, dict):
            x, y = shown.series.setdefault(row["path"], ([], []))
            x.append(row["start_ps"] / 1e12)
            y.append(row["mean_bytes"])
    for tree in found.values():
        order = {path: place for place, path in enumerate(tree.places)}
        tree.rows.sort(key=lambda row: order.get(row["path"], len(order)))
    return list(found.values())


def sections(
    shown: Sequence[Shown],
    conditioners: Columns,
    neighbor: Any,
    seconds: float,
) -> list[Section]:
    """Queues over time and as tables, then conditioners."""
    found = []
    if shown:
        part = Section("Queues")
        if len(shown) > TREES_MAX:
            part.paragraphs.append(f"{TREES_MAX} of {len(shown)} trees: those that dropped or held most.")
            shown = sorted(shown, key=_busy, reverse=True)[:TREES_MAX]
        for place, tree in enumerate(shown):
            chart = backlog(tree, f"queues-{place}")
            part.charts += [] if chart is None else [chart]
            part.tables.append(counts(tree, seconds))
        part.points = [
            "Little's law: the mean number of packets in a queue is the rate at which they come times the"
            " mean time that they stay. It is checked of every queue to the picosecond, and so is that what"
            " came was sent, was dropped or waits; the columns differ by what still waits at the end only.",
        ]
        found.append(part)
    rules = list(_rows(conditioners))
    if rules:
        found.append(Section("Meters and markers", tables=[_rules(rules, neighbor)]))
    return found


def _busy(tree: Shown) -> tuple[int, int]:
    root = tree.rows[0]
    return root["dropped_packets"], root["backlog_bytes_max"]


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def drawn(paths: Sequence[str]) -> list[str]:
    """A text tree: each path by its last word, behind lines that lead to it."""
    found = []
    for place, path in enumerate(paths):
        parts = path.split("/")
        text = ""
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            more = any(
                other.startswith(f"{above}/") and not _inside(other, "/".join(parts[: depth + 1]))
                for other in paths[place + 1 :]
            )
            own = depth == len(parts) - 1
            text += ("├─" if more else "└─") if own else ("│" if more else GAP) + GAP
            text += GAP
        found.append(text + parts[-1])
    return found


def _inside(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}/")


def counts(tree: Shown, seconds: float) -> Table:
    """A tree with what each of its queues counted; columns of what never happened are left out."""
    rows = tree.rows
    places = [tree.places.get(row["path"], (row["path"], "")) for row in rows]
    what = [
        f"{row['discipline']}: {configured}" if configured else str(row["discipline"])
        for (_, configured), row in zip(places, rows, strict=True)
    ]
    columns: list[tuple[str, list[str]]] = [
        ("queue", drawn([shown for shown, _ in places])),
        ("what it is", what),
        ("sent", [str(int(row["extra"].get("sent_packets", row["sent_packets"]))) for row in rows]),
    ]
    counted = {"borrowed": [int(row["extra"].get("borrowed_packets", 0)) for row in rows]}
    counted["marked"] = [row["marked"] for row in rows]
    columns += [
        (title, [_held(row, str(value)) for row, value in zip(rows, values, strict=True)])
        for title, values in counted.items()
        if any(values)
    ]
    columns.insert(3, ("dropped", [_held(row, drops(row)) for row in rows]))
    most = [f"{row['backlog_packets_max']} ({size(row['backlog_bytes_max'])})" for row in rows]
    columns += [
        ("most waiting", [_held(row, text) for row, text in zip(rows, most, strict=True)]),
        ("mean wait", [_held(row, format_time(row["mean_wait_s"], 3)) for row in rows]),
        ("mean waiting", [_held(row, f"{row['mean_packets']:.4g}") for row in rows]),
        ("by Little's law", [_held(row, _little(row, seconds)) for row in rows]),
    ]
    root = rows[0]
    caption = (
        f"{tree.node} towards {tree.neighbor}: {root['given_packets']} packets came,"
        f" {root['sent_packets']} were sent, {root['dropped_packets']} dropped,"
        f" {root['backlog_packets']} wait"
    )
    cells = list(zip(*(cells for _, cells in columns), strict=True))
    styles = {path: style for style, path in enumerate(shown_over_time(tree))}
    keys = [styles.get(row["path"]) for row in rows] if styles else ()
    lines = [place for place, (title, _) in enumerate(columns) if title == "dropped"]
    return Table(caption, [title for title, _ in columns], cells, 2, keys, lines)


def drops(row: Row) -> str:
    """How many packets together, and below it how many for which reason."""
    reasons = [f"{count} {reason}" for reason, count in row["drops"].items() if count]
    return "\n".join([str(row["dropped_packets"]), *reasons])


def _held(row: Row, text: str) -> str:
    """A class in which others are holds nothing itself."""
    return "-" if row["discipline"] == "class" else text


def _little(row: Row, seconds: float) -> str:
    gone, wait = row["given_packets"] - row["backlog_packets"], row["mean_wait_s"]
    return "-" if wait is None or not seconds else f"{gone * wait / seconds:.4g}"


def size(value: float) -> str:
    """Bytes with the unit that suits them."""
    if value < 10_000:
        return f"{value:.0f} B"
    scale, unit = next(((s, u) for s, u in ((1e3, "kB"), (1e6, "MB")) if value < 1e4 * s), (1e9, "GB"))
    return f"{value / scale:.4g} {unit}"


def shown_over_time(tree: Shown) -> list[str]:
    """The paths of the queues whose backlog is drawn: those that others are not in, and that held most."""
    paths = {row["path"]: tree.places.get(row["path"], (row["path"], ""))[0] for row in tree.rows}
    leaves = [
        path
        for path, shown in paths.items()
        if path in tree.series and not any(other.startswith(f"{shown}/") for other in paths.values())
    ]
    most = {path: max(tree.series[path][1], default=0.0) for path in leaves}
    kept = set(sorted(leaves, key=lambda path: -most[path])[:CURVES_MAX])
    return [path for path in leaves if path in kept]


def backlog(tree: Shown, key: str) -> Chart | None:
    """What waited in the queues of a tree over time."""
    curves: list[Curve] = []
    words = []
    for style, path in enumerate(shown_over_time(tree)):
        name = path.removeprefix("root/")
        x, y = tree.series[path]
        curves.append(Curve(name, x, [value / 1000 for value in y], 0, "line", style))
        words.append(f"{name} {size(max(y, default=0.0))}")
    if not curves:
        return None
    title = f"Backlog of {tree.node} towards {tree.neighbor} over time"
    alt = f"Mean of each interval; the most is: {', '.join(words)}."
    return Chart(key, title, alt, "time (s)", ["backlog (kB)"], curves)


def _rules(rows: Sequence[Row], neighbor: Any) -> Table:
    titles = ["where", "link to", "rule", "colour", "action", "packets", "bytes"]
    cells = [
        [
            f"{row['node']}, {row['where']}",
            neighbor(row["node"], row["link"]),
            row["rule"] or "(none)",
            row["colour"] or "-",
            row["action"],
            str(row["packets"]),
            str(row["bytes"]),
        ]
        for row in rows
    ]
    return Table("What rules did to packets", titles, cells, 5)


RATES = (("rate", ""), ("ceil", "up to "), ("peakrate", "peak "), ("bandwidth", "bandwidth "))
SIZES = (("limit", "limit "), ("min", "min "), ("max", "max "), ("quantum", "quantum "))
EARLY = ("limit", "min", "max", "probability", "bandwidth", "ecn")
"""What of RED is shown."""
IN_PACKETS = ("pfifo", "fq-codel")
"""Disciplines whose limit counts packets."""


def phb_words(given: Any) -> str:
    """One PHB, or several."""
    return str(given) if isinstance(given, (str, int)) else " ".join(map(str, given))


def layout(queue: Mapping[str, Any], path: str, shown: str | None = None) -> Iterator[tuple[str, Place]]:
    """Where the queues of a tree are, in its order, by the paths of their rows.

    The core names a class by its name alone, wherever it is: what it is in stands in the description.
    """
    shown = path if shown is None else shown
    yield path, (shown, _words(queue))
    if queue.get("queue"):
        yield from layout(queue["queue"], f"{path}/queue", f"{shown}/queue")
    yield from _classes(_by_name(queue.get("classes")), None, path, shown)
    for name, one in _by_name(queue.get("queues")).items():
        # What a virtual queue does not say is as the discipline says; its PHB may be its name.
        whole = {key: value for key, value in queue.items() if key in EARLY} | one
        words = f"{phb_words(one.get('phb') or [name])}: {_words(one.get('red', whole))}"
        yield f"{path}/{name}", (f"{shown}/{name}", words)


def _by_name(given: Any) -> dict[str, Any]:
    """Classes by name; in results of earlier revisions they are a list."""
    return {one["name"]: one for one in given} if isinstance(given, list) else dict(given or {})


def _classes(
    classes: Mapping[str, Mapping[str, Any]], outer: str | None, path: str, shown: str
) -> Iterator[tuple[str, Place]]:
    for name, one in classes.items():
        if one.get("parent") != outer:
            continue
        own, where = f"{path}/{name}", f"{shown}/{name}"
        inner = dict(layout(one["queue"], own, where)) if one.get("queue") else {}
        words = (_words(one), inner.pop(own, ("", ""))[1])
        yield own, (where, ", ".join(text for text in words if text))
        yield from inner.items()
        yield from _classes(classes, name, path, where)


def _words(spec: Mapping[str, Any]) -> str:
    found = [f"{lead}{format_rate(rate_bps(spec[key]))}" for key, lead in RATES if spec.get(key)]
    packets = spec.get("discipline") in IN_PACKETS
    sizes = SIZES[1:] if packets else SIZES
    found += [f"{lead}{size(size_bytes(spec[key]))}" for key, lead in sizes if spec.get(key)]
    if packets and spec.get("limit"):
        found.append(f"limit {spec['limit']} packets")
    if spec.get("probability"):
        found.append(f"p {spec['probability']:g}")
    found += [key for key in ("bounded", "isolated", "ecn") if spec.get(key)]
    return ", ".join(found)
