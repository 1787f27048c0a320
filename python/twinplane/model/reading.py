"""Where in a network file something is written, and what it belongs to in the words of whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .source import Place, value_at

GROUPS = {"queues": "queue", "conditioners": "conditioner"}
"""What one of a group of a network file is called."""


def called(kind: str, item: Any) -> str | None:
    """What an LSP or a flow is called: a flow after its ends if it has no name."""
    if not isinstance(item, Mapping):
        return None
    name, ends = item.get("name"), (item.get("from"), item.get("to"))
    if kind in ("flow", "tcp flow") and name is None and None not in ends:
        return "-".join(map(str, ends))
    return name if isinstance(name, str) else None


def written(data: Any, place: tuple[str | int, ...]) -> Place:
    """Where in the file the value is that the models name by `place`.

    The models' own steps (the kind of a node) are left out, and the short form of a link is looked into.
    """
    found: list[str | int] = []
    for step in place:
        if isinstance(data, dict):
            if step in data:
                found.append(step)
                data = data[step]
        elif isinstance(data, list):
            if isinstance(step, int):
                found.append(step)
                data = data[step] if step < len(data) else None
            elif step != "endpoints" and len(data) == 3 and isinstance(data[2], dict):
                found.append(2)
                if step in data[2]:
                    found.append(step)
                    data = data[2][step]
    return tuple(found)


def whose(data: Any, place: Place) -> str:
    """``node 'pe1': ``: what a place belongs to, in the user's words."""
    place = place[1:] if place[:1] == ("topology",) else place
    if len(place) >= 2 and place[0] == "nodes":
        return f"node '{place[1]}': "
    if len(place) >= 2 and place[0] in ("queues", "conditioners"):
        return f"{GROUPS[str(place[0])]} '{place[1]}': "
    if len(place) >= 2 and place[0] in ("links", "lsps", "flows", "tcp"):
        item = _get(data, place[:2])
        if place[0] != "links":
            kind = "tcp flow" if place[0] == "tcp" else str(place[0])[:-1]
            name = called(kind, item)
            return f"{kind} '{name}': " if isinstance(name, str) else f"{kind} number {int(place[1]) + 1}: "
        ends = item.get("endpoints") if isinstance(item, Mapping) else item
        if isinstance(ends, list) and len(ends) >= 2:
            return f"link {ends[0]} - {ends[1]}: "
        return f"link number {int(place[1]) + 1}: "
    return ""


def _get(data: Any, place: Place) -> Any:
    if isinstance(data, dict) and "topology" in data and place[0] in ("nodes", "links"):
        data = data["topology"] if place[0] not in data else data
    return value_at(data, place)
