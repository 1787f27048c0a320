"""Places in trees of queues, as the core names them and in the words of users."""

from __future__ import annotations

import re
from collections.abc import Iterable

LINK = re.compile(r"^link \d+ \('([^']*)' to '([^']*)'\): (queue|ingress) at '([^']*)'")
"""How the core names an end of a link."""

IN_TREE = re.compile(r"\broot((?:/[A-Za-z0-9_.:-]+)*): ")
"""How the core names a place in a tree."""


def in_words(text: str) -> str:
    """What the core says, in the words that a user knows: ``root/gold: `` is ``class 'gold': ``."""

    def said(match: re.Match[str]) -> str:
        return "".join(f"class '{name}': " for name in match[1].split("/")[1:] if name != "queue")

    return LINK.sub(r"link \1 - \2: \3 at \4", IN_TREE.sub(said, text))


AT = re.compile(r"(link \S+ - \S+: (?:queue|ingress) at \S+: )(.*)")
"""How users are told where something stands."""


def together(texts: Iterable[str]) -> list[str]:
    """The same said of several ends of links is said once, of the first."""
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        match = AT.fullmatch(text)
        found.setdefault(text if match is None else match[2], []).append(text)
    return [
        same[0] if len(same) == 1 else f"{same[0]} (and so at {len(same) - 1} more)"
        for same in found.values()
    ]
