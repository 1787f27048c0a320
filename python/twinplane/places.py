"""Places in trees of queues, as the core names them and in the words of users."""

from __future__ import annotations

import re

LINK = re.compile(r"^link \d+ \('([^']*)' to '([^']*)'\): (queue|ingress) at '([^']*)'")
"""How the core names an end of a link."""

IN_TREE = re.compile(r"\broot((?:/[A-Za-z0-9_.:-]+)*): ")
"""How the core names a place in a tree."""


def in_words(text: str) -> str:
    """What the core says, in the words that a user knows: ``root/gold: `` is ``class 'gold': ``."""

    def said(match: re.Match[str]) -> str:
        return "".join(f"class '{name}': " for name in match[1].split("/")[1:] if name != "queue")

    return LINK.sub(r"link \1 - \2: \3 at \4", IN_TREE.sub(said, text))
