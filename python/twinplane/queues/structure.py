"""The tree of classes of a discipline: parents, cycles, leaves and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import suggest
from .base import SpecError
from .matching import Filter, check_order


def check_known(name: str | None, known: Mapping[str, Any], noun: str, place: tuple[str | int, ...]) -> None:
    """Refuse a name that nothing has."""
    if name is not None and name not in known:
        hint = suggest(name, known) or (f" (one of {', '.join(known)})" if known else "")
        raise SpecError(f"there is no {noun} '{name}'{hint}", *place)


def check_some(given: Mapping[str, Any], field: str) -> None:
    """Refuse none at all."""
    if not given:
        raise SpecError("there is none: at least one is needed", field)


def check_tree(classes: Mapping[str, Any]) -> None:
    """Every parent is there, no class is in itself, and packets wait in leaves only."""
    for name, one in classes.items():
        others = classes if one.parent in classes else {key: None for key in classes if key != name}
        check_known(one.parent, others, "class", ("classes", name, "parent"))
    done: set[str] = set()
    for name in classes:
        way: list[str] = []
        here: str | None = name
        while here is not None and here not in done:
            if here in way:
                ring = way[way.index(here) :]
                said = ", ".join(
                    f"'{inner}' is in '{outer}'" for inner, outer in zip(ring, [*ring[1:], here], strict=True)
                )
                raise SpecError(f"the classes are a cycle: {said}", "classes", ring[0], "parent")
            way.append(here)
            here = classes[here].parent
        done.update(way)
    for outer, below in children(classes).items():
        if outer is not None and classes[outer].queue is not None:
            raise SpecError(
                f"it has a queue, and '{below[0]}' is in it: packets wait in leaves only",
                "classes",
                outer,
                "queue",
            )


def children(classes: Mapping[str, Any]) -> dict[str | None, list[str]]:
    """The classes in each class that has some; those at the top are in None."""
    found: dict[str | None, list[str]] = {}
    for name, one in classes.items():
        found.setdefault(getattr(one, "parent", None), []).append(name)
    return found


def check_filters(filters: Sequence[Filter], classes: Mapping[str, Any], default: str | None) -> None:
    """Filters and the default name leaves, and every filter can take something."""
    below = children(classes)
    named: list[tuple[tuple[str | int, ...], str]] = [
        (("filters", place, "class"), one.class_) for place, one in enumerate(filters)
    ]
    if default is not None:
        named.append((("default",), default))
    for place, name in named:
        check_known(name, classes, "class", place)
        if name in below:
            leaves = [inner for inner in below[name] if inner not in below] or below[name]
            raise SpecError(
                f"class '{name}' has others in it: packets wait in leaves ({', '.join(leaves)})", *place
            )
    check_order(filters, "filters", "filter")
