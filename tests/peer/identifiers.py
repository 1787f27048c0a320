"""Which message identifier stands for which state, per neighbour (RFC 2961, 4.5 and 5.3)."""

from __future__ import annotations

from enum import Enum

from . import codec as c
from .neighbour import Neighbour
from .state import Key, keys_of


class Age(Enum):
    """What an identifier says of its message."""

    NEW = "new"
    SAME = "same"
    OLD = "old"


class Identifiers:
    """Identifiers that one neighbour used in its present epoch."""

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.known: dict[int, tuple[int, list[Key]]] = {}
        self.newest: dict[tuple[int, Key], int] = {}

    def learn(self, message: c.Message) -> Age:
        """Remember the identifier of a Path or Resv, and tell whether the message is news."""
        found = message.get(c.MessageId)
        if found is None or message.kind not in (c.Type.PATH, c.Type.RESV):
            return Age.NEW
        if found.epoch != self.epoch:
            # RFC 2961, 4.5: the neighbour started afresh.
            self.epoch = found.epoch
            self.known.clear()
            self.newest.clear()
        keys = keys_of(message)
        last = max((self.newest.get((message.kind, key), -1) for key in keys), default=-1)
        if found.identifier < last:
            return Age.OLD
        self.known[found.identifier] = (message.kind, keys)
        for key in keys:
            self.newest[(message.kind, key)] = found.identifier
        return Age.SAME if found.identifier == last else Age.NEW

    def forget(self, key: Key) -> None:
        """A state is gone: its identifiers stand for nothing."""
        self.known = {i: (kind, keys) for i, (kind, keys) in self.known.items() if key not in keys}
        self.newest = {k: identifier for k, identifier in self.newest.items() if k[1] != key}


class Books:
    """The `Identifiers` of every neighbour."""

    def __init__(self) -> None:
        self._of: dict[int, Identifiers] = {}

    def of(self, neighbour: Neighbour) -> Identifiers:
        """Those of one neighbour."""
        return self._of.setdefault(id(neighbour), Identifiers())

    def forget(self, key: Key) -> None:
        """A state is gone."""
        for book in self._of.values():
            book.forget(key)
