"""Frames as trees of plain Python values, and back.

`decode` of a valid frame followed by `encode` gives the same bytes.
"""

from __future__ import annotations

import json
from typing import Any

from . import core

Tree = Any
"""Dictionaries, lists, texts and numbers, as `json` reads and writes them."""


def decode(frame: bytes) -> Tree:
    """The layers of an Ethernet frame (without its frame check sequence)."""
    with core.translated():
        return json.loads(core.load().decode(bytes(frame)))


def encode(tree: Tree) -> bytes:
    """The bytes of a tree as `decode` makes it."""
    with core.translated():
        return bytes(core.load().encode(json.dumps(tree)))


def summary(frame: bytes) -> str:
    """One line on what a frame carries."""
    with core.translated():
        return str(core.load().summary(bytes(frame)))
