"""Frames as trees of plain Python values, and back.

`decode` of a valid frame followed by `encode` gives the same bytes.
"""

from __future__ import annotations

import json
from typing import Any

from . import core
from .errors import TwinplaneError, one_line

Tree = Any
"""Dictionaries, lists, texts and numbers, as `json` reads and writes them."""


def decode(frame: bytes, link_type: int = 1) -> Tree:
    """The layers of a packet, from its link-layer header on, without frame check sequence.

    ``link_type`` is the number that capture files have for that header, by default 1, Ethernet; raw IP
    (101), Linux cooked (113, 276), PPP (9, 50), HDLC (104), loopback (0, 108), MPLS (219), PDUs of ATM
    (SunATM, 123) and its cells (ERF, 197) are read, too. Another number raises `TwinplaneError`;
    `link_types` has them all.
    """
    with core.translated():
        return json.loads(core.load().decode(_bytes(frame), link_type))


def link_types() -> dict[int, str]:
    """The numbers of the link types that `decode` reads, in order, with their names in capture files."""
    return dict(core.load().link_types())


def encode(tree: Tree) -> bytes:
    """The bytes of a tree as `decode` makes it."""
    if not isinstance(tree, list) or not all(isinstance(one, dict) and "layer" in one for one in tree):
        raise TwinplaneError(
            "a frame is a list of layers from the outside in, as `decode` gives it: each a mapping that has"
            f" its kind under 'layer', and not {_said(tree)}"
        )
    try:
        text = json.dumps(tree)
    except (TypeError, ValueError) as error:
        raise TwinplaneError(f"a frame is of texts, numbers, lists and mappings: {one_line(error)}") from None
    with core.translated():
        return bytes(core.load().encode(text))


def summary(frame: bytes, link_type: int = 1) -> str:
    """One line on what a packet carries; ``link_type`` as for `decode`."""
    with core.translated():
        return str(core.load().summary(_bytes(frame), link_type))


def _bytes(frame: object) -> bytes:
    """A frame, if it is one: a number would become so many zeros."""
    if not isinstance(frame, bytes | bytearray | memoryview):
        raise TwinplaneError(f"a frame is bytes, and not {_said(frame)}")
    return bytes(frame)


def _said(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
