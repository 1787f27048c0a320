"""The tree of classes of a discipline: parents, cycles, leaves, filters, and rates that add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import suggest
from ..units import format_rate
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


def beyond(classes: Mapping[str, Any], top_bps: int | None, top: str) -> Iterator[tuple[str | None, str]]:
    """Where the rates of classes are more than there is, in words, with the class that they are in.

    `top_bps` is what the classes at the top have together, `top` what that is called.
    """
    for outer, inner in children(classes).items():
        total = sum(classes[name].rate for name in inner)
        limit = top_bps if outer is None else classes[outer].rate
        if limit is None or total <= limit:
            continue
        whole = top if outer is None else f"class '{outer}'"
        if len(inner) == 1:
            said = f"class '{inner[0]}' has {format_rate(total)}"
        else:
            names = ", ".join(f"'{name}'" for name in inner[:-1]) + f" and '{inner[-1]}'"
            said = f"classes {names} have {format_rate(total)} together"
        yield (
            outer,
            f"{said}, {whole} has {format_rate(limit)}: {format_rate(total - limit)} more than there is",
        )
