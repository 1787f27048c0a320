"""What a naive router remembers of each LSP (RFC 2205, 2.3: soft state)."""

from __future__ import annotations

from dataclasses import dataclass

from . import codec as c
from .neighbour import Neighbour

# RFC 2205, 3.7: K, the number of refreshes that may be lost.
MISSED = 3

Key = tuple[c.Session, c.SenderTemplate]


def key_of(message: c.Message) -> Key:
    """Session and sender of a message about one path."""
    return message.need(c.Session), message.need(c.SenderTemplate)


def keys_of(message: c.Message) -> list[Key]:
    """Every sender that a message is about, by template or by filters."""
    if message.get(c.SenderTemplate) is not None:
        return [key_of(message)]
    session = message.need(c.Session)
    return [(session, c.SenderTemplate(f.address, f.lsp_id)) for f in message.all(c.FilterSpec)]


def lifetime(refresh_ms: int) -> float:
    """How long a state lives without refresh (RFC 2205, 3.7)."""
    return (MISSED + 0.5) * 1.5 * refresh_ms / 1000


@dataclass
class PathState:
    """What is known of one sender; `sent` is what went on, under the identifier `sent_id`."""

    message: c.Message
    came_from: Neighbour | None
    goes_to: Neighbour | None
    expires: float = float("inf")
    sent: c.Message | None = None
    sent_id: int | None = None

    def touch(self, now: float) -> None:
        """A refresh came."""
        if self.came_from is not None:
            self.expires = now + lifetime(self.message.need(c.TimeValues).refresh_ms)


@dataclass
class ResvState:
    """What is known of one sender's reservation."""

    message: c.Message
    descriptor: c.FlowDescriptor
    came_from: Neighbour
    expires: float
    local_label: int = 0

    @property
    def style(self) -> c.Style:
        """The style that it was made in."""
        return self.message.need(c.Style)

    def touch(self, now: float) -> None:
        """A refresh came."""
        self.expires = now + lifetime(self.message.need(c.TimeValues).refresh_ms)
