"""Signalling messages of two runs side by side: by neighbour and session, the order of their types.

Two runs of one programme never agree on the order of everything: refreshes are jittered, messages of
different sessions overtake each other, and what one end sends crosses what it receives. What must agree is,
for each session and direction, the order of types with repetitions folded: ``Path PathTear Path`` whether a
Path was refreshed or not. Messages that belong to no session (Hello, Ack, Srefresh) are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

Where = tuple[str, str]
"""A node, and its neighbour."""


@dataclass(frozen=True)
class Message:
    """One message at one end of a link."""

    time_s: float
    node: str
    neighbor: str
    direction: str
    kind: str
    session: str | None = None


@dataclass(frozen=True)
class Difference:
    """Where the orders of one session part."""

    session: str
    direction: str
    place: int
    first: str | None
    second: str | None
    first_s: float | None
    second_s: float | None

    def __str__(self) -> str:
        """In words."""

        def side(kind: str | None, time_s: float | None) -> str:
            return "nothing more" if kind is None else f"{kind} at {time_s:.6f} s"

        return (
            f"session {self.session}, {self.direction}, message {self.place + 1}:"
            f" {side(self.first, self.first_s)} against {side(self.second, self.second_s)}"
        )


TITLES = ("messages", "sessions", "same order", "differences", "first difference")
"""Of what `Aligned.cells` says."""


@dataclass
class Aligned:
    """What two runs say of one neighbour."""

    node: str
    neighbor: str
    messages: tuple[int, int] = (0, 0)
    sessions: tuple[int, int] = (0, 0)
    same: int = 0
    """Sessions whose order is the same in both, both directions."""
    differences: int = 0
    """Steps that are in one order and not in the other."""
    first_difference: Difference | None = None
    types: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How many messages of each direction and type."""

    @property
    def equal(self) -> bool:
        """Is the order of every session the same?"""
        return self.differences == 0 and self.sessions[0] == self.sessions[1] == self.same

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {**asdict(self), "equal": self.equal}
        found["first_difference"] = None if self.first_difference is None else str(self.first_difference)
        return found

    def cells(self) -> list[str]:
        """For a table, below `TITLES`."""
        return [
            "{} / {}".format(*self.messages),
            "{} / {}".format(*self.sessions),
            str(self.same),
            str(self.differences),
            "-" if self.first_difference is None else str(self.first_difference),
        ]


def messages_of(columns: Mapping[str, Sequence[Any]]) -> list[Message]:
    """Messages from a table `signals`, in order of time.

    A session is called by end point and tunnel id; by the id alone where there is one end point, so that runs
    whose addresses differ can be compared.
    """
    ends = {str(name).rpartition("/")[0] for name in columns["session"] if name is not None}

    def called(name: Any) -> str | None:
        return None if name is None else str(name).rpartition("/")[2] if len(ends) == 1 else str(name)

    keys = ("time_s", "node", "neighbor", "direction", "type", "session")
    found = [
        Message(time, str(node), str(near), str(way), str(kind), called(session))
        for time, node, near, way, kind, session in zip(*(columns[key] for key in keys), strict=True)
    ]
    return sorted(found, key=lambda message: message.time_s)


def folded(messages: Iterable[Message]) -> list[tuple[str, float]]:
    """Types in order with repetitions folded, each with the time of its first."""
    found: list[tuple[str, float]] = []
    for message in messages:
        if not found or found[-1][0] != message.kind:
            found.append((message.kind, message.time_s))
    return found


def align(first: Sequence[Message], second: Sequence[Message]) -> list[Aligned]:
    """Every neighbour that either run has seen, sorted."""
    a, b = (_by_place(run) for run in _named_alike(first, second))
    return [_one(where, a.get(where, []), b.get(where, [])) for where in sorted({*a, *b})]


def seen_by_both(first: Sequence[Message], second: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Messages at nodes that both runs saw: in a lab only the tester's are seen, in one process all are."""
    nodes = {message.node for message in first} & {message.node for message in second}
    a, b = ([message for message in run if message.node in nodes] for run in (first, second))
    return a, b


def _named_alike(first: Sequence[Message], second: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Where a node has one neighbour in each run, it is the same one, whatever it is called."""
    near = [_neighbors(run) for run in (first, second)]
    sole = {
        node: next(iter(names))
        for node, names in near[0].items()
        if len(names) == 1 and len(near[1].get(node, ())) == 1
    }
    return list(first), [replace(m, neighbor=sole.get(m.node, m.neighbor)) for m in second]


def _neighbors(messages: Sequence[Message]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for message in messages:
        found.setdefault(message.node, set()).add(message.neighbor)
    return found


def _by_place(messages: Sequence[Message]) -> dict[Where, list[Message]]:
    found: dict[Where, list[Message]] = {}
    for message in messages:
        found.setdefault((message.node, message.neighbor), []).append(message)
    return found


def _by_session(messages: Sequence[Message]) -> dict[str, dict[str, list[Message]]]:
    found: dict[str, dict[str, list[Message]]] = {}
    for message in messages:
        if message.session is not None:
            found.setdefault(message.session, {}).setdefault(message.direction, []).append(message)
    return found


def _one(where: Where, first: Sequence[Message], second: Sequence[Message]) -> Aligned:
    made = Aligned(*where, messages=(len(first), len(second)))
    counts = [Counter(f"{message.direction} {message.kind}" for message in run) for run in (first, second)]
    made.types = {key: (counts[0][key], counts[1][key]) for key in sorted({*counts[0], *counts[1]})}
    a, b = _by_session(first), _by_session(second)
    made.sessions = (len(a), len(b))
    for session in dict.fromkeys([*a, *b]):
        wrong = 0
        for direction in ("tx", "rx"):
            x = folded(a.get(session, {}).get(direction, []))
            y = folded(b.get(session, {}).get(direction, []))
            if [kind for kind, _ in x] == [kind for kind, _ in y]:
                continue
            steps, place = _steps([kind for kind, _ in x], [kind for kind, _ in y])
            wrong += steps
            if made.first_difference is None:
                one, two = (run[place] if place < len(run) else (None, None) for run in (x, y))
                made.first_difference = Difference(session, direction, place, one[0], two[0], one[1], two[1])
        made.differences += wrong
        made.same += wrong == 0
    return made


def _steps(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How many steps differ, and where the first does."""
    total, place = 0, None
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag != "equal":
            total += max(i2 - i1, j2 - j1)
            place = i1 if place is None else place
    return total, place or 0
