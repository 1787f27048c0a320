"""The way of a packet through a lab: each router is asked what it would do, then the one that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..frames import Columns

# More routers than a time to live lets a packet pass.
HOPS_MAX = 64

Ask = Callable[[str, dict[str, Any]], Columns | None]


def follow(first: str, packet: Mapping[str, Any], ask: Ask) -> Columns:
    """The rows of table `path` at each router, from the first one on.

    `ask` puts the question to a router; None if the tables of a node can not be asked: the way
    ends there. Each router but the first is asked of the packet with the labels that the last one sends.
    """
    of_first = {} if ":" in str(packet["to"]) else {"src": first}
    asked, node = {**of_first, **packet}, first
    whole: dict[str, list[Any]] = {}
    for hop in range(1, HOPS_MAX + 1):
        columns = ask(node, asked)
        if columns is None:
            break
        # A router that knows others in its process tells of them, too: they are asked themselves.
        count = sum(1 for other in columns["hop"] if other == 1)
        for name, cells in columns.items():
            told = [hop] * count if name == "hop" else list(cells)[:count]
            whole.setdefault(name, []).extend(told)
        to, leaves = whole["to"][-1], whole["leaves"][-1]
        if to is None:
            break
        node = to
        asked = {**asked, "labels": [int(label) for label in (leaves or "").split()]}
    return whole
