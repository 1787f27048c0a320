"""What tables tell of sessions, of databases and of ways of packets, with times in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..frames import Columns, rows
from ..network.lsp_spans import TORN
from ..network.sessions import AWAY, PROTOCOLS


@dataclass(frozen=True)
class Span:
    """A stretch of time in which an LSP, or a session, did not change."""

    lsp: str
    """Its name; of a session that of its protocol and of its two ends."""
    begin: float
    end: float
    state: str
    route: tuple[str, ...] | None = None
    why: str | None = None

    @property
    def torn(self) -> bool:
        """Is it down because somebody tore it down?"""
        return self.state == "down" and self.why == TORN


@dataclass
class Session:
    """A session of a protocol between two nodes: it is up while both ends say so."""

    protocol: str
    ends: tuple[str, ...]
    over: str
    """What tells it from others between the two; empty where there is only one."""
    spans: list[Span] = field(default_factory=list)

    @property
    def between(self) -> str:
        """Its two ends in words."""
        return f"{' - '.join(self.ends)}{f' ({self.over})' if self.over else ''}"

    @property
    def name(self) -> str:
        """Protocol and ends."""
        return f"{self.protocol} {self.between}"

    @property
    def up_first(self) -> float | None:
        """When it came up first; None if it never was up."""
        return next((span.begin for span in self.spans if span.state == "up"), None)

    @property
    def downs(self) -> list[Span]:
        """Each time that it was down after it had been up."""
        return [span for span in self.spans if span.state == "down"]

    @property
    def is_up(self) -> bool:
        """Is it up at the end?"""
        return self.spans[-1].state == "up"


def sessions_of(table: Columns) -> list[Session]:
    """Sessions from table ``sessions``, which has a row for each end and stretch of time."""
    ends: dict[tuple[str, tuple[str, ...], str], dict[str, list[Span]]] = {}
    for row in _rows(table):
        pair = tuple(sorted({row["node"], row["neighbor"]}))
        own = ends.setdefault((row["protocol"], pair, row["over"]), {}).setdefault(row["node"], [])
        begin, end = row["begin_ps"] / 1e12, row["end_ps"] / 1e12
        own.append(Span(row["node"], begin, end, row["state"], why=row["why"]))
    found = [_joined(Session(*key), of) for key, of in ends.items()]
    return sorted(found, key=lambda one: (PROTOCOLS.index(one.protocol), one.ends, one.over))


def _joined(session: Session, ends: dict[str, list[Span]]) -> Session:
    """A session with its stretches of time, from those of its ends."""
    times = sorted({span.begin for spans in ends.values() for span in spans})
    last = max(spans[-1].end for spans in ends.values())
    places = dict.fromkeys(ends, 0)
    states: list[tuple[float, str, str | None]] = []
    was_up = False
    for at in times:
        for name, spans in ends.items():
            while places[name] + 1 < len(spans) and spans[places[name] + 1].begin <= at:
                places[name] += 1
        now = [ends[name][place] for name, place in places.items()]
        away = [span for span in now if span.state != "up"]
        was_up = was_up or not away
        state = "up" if not away else "down" if was_up else "waiting"
        if not states or states[-1][1] != state:
            states.append((at, state, _why(away)))
    ends_at = [*(at for at, _, _ in states[1:]), last]
    session.spans = [
        Span(session.name, begin, end, state, why=why)
        for (begin, state, why), end in zip(states, ends_at, strict=True)
    ]
    return session


def _why(away: list[Span]) -> str | None:
    """Why ends are not up: what the one says that noticed first; all of them if the session never came up."""
    down = [span for span in away if span.state == "down"]
    if down:
        begin = min(span.begin for span in down)
        first = [span.why for span in down if span.begin == begin and span.why]
        # That a node was away explains what the other one noticed.
        return min(first, key=lambda why: not why.endswith(AWAY), default=None)
    said = {span.lsp: span.why for span in away if span.why}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{name}: {why}" for name, why in said.items()) or None


@dataclass(frozen=True)
class Size:
    """How large a database was at a moment: at the router with least, with most, and at all together."""

    at: float
    database: str
    routers: int
    least: int
    most: int
    total: int


def sizes_of(table: Columns) -> list[Size]:
    """From table ``database_sizes``."""
    return [
        Size(row["time_ps"] / 1e12, *(row[key] for key in ("database", "routers", "least", "most", "total")))
        for row in _rows(table)
    ]


@dataclass(frozen=True)
class Way:
    """A stretch of time in which packets of a flow, or from a router to another, took the same way."""

    kind: str
    name: str
    begin: float
    end: float
    nodes: tuple[str, ...]
    labels: tuple[str, ...]
    fate: str


def ways_of(table: Columns) -> list[Way]:
    """From table ``ways``."""
    return [
        Way(
            *(row["kind"], row["name"], row["begin_ps"] / 1e12, row["end_ps"] / 1e12),
            *(tuple(row["nodes"]), tuple(row["labels"]), row["fate"]),
        )
        for row in _rows(table)
    ]


def _rows(table: Columns) -> Iterator[dict[str, Any]]:
    if rows(table):
        for values in zip(*table.values(), strict=True):
            yield dict(zip(table, values, strict=True))
