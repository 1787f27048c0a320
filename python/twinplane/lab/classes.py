"""Queues and conditioners of a lab file: names become what they stand for; errors have their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import suggest
from ..queues.base import GROUPS, words
from ..queues.conditioners import Conditioner
from ..queues.tree import Tree
from . import model, reading
from .source import LabFileError, Place, Source

if TYPE_CHECKING:
    from ..network import Network

OF = {"queue": "queues", "ingress": "conditioners"}
"""Where what a link names is written."""


CORE = re.compile(r"link (\d+)[^:]*: (queue|ingress) at '([^']+)': ((?:root)?(?:/[^:\s]+)*)(?:: )?(.*)")
"""How the core says where in a tree something is."""


def place_in_tree(text: str, data: Any) -> tuple[Place, str] | None:
    """Of an error of the core about queues: where that is written, and the error in its words."""
    match = CORE.match(text)
    if match is None:
        return None
    link, key, node = int(match[1]), match[2], match[3]
    top: Place = ("topology", "links") if isinstance(data, Mapping) and "topology" in data else ("links",)
    place = reading.written(data, (*top, link, key, node))
    given = _at(data, place)
    if isinstance(given, str):
        place = (OF[key], given)
        lead = f"{GROUPS[OF[key]]} '{given}': "
    else:
        lead = f"{reading.whose(data, place)}{key} at {node}: "
    for name in match[4].split("/")[1:]:
        here = _at(data, place)
        of = next(
            (
                of
                for of in ("classes", "queues")
                if isinstance(here, Mapping) and name in (here.get(of) or {})
            ),
            None,
        )
        if of is not None:
            place = (*place, of, name)
            lead += f"{GROUPS[of]} '{name}': "
        inner = _at(data, place)
        if isinstance(inner, Mapping) and "queue" in inner:
            place = (*place, "queue")
    return place, lead + match[5]


def _at(data: Any, place: Place) -> Any:
    for step in place:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


class Classes:
    """The queues and conditioners of links."""

    def __init__(self, lab: model.LabFile, source: Source, network: Network, warnings: list[str]) -> None:
        self.lab, self.source, self.network, self.warnings = lab, source, network, warnings

    def of_link(
        self, link: Place, key: str, given: Any, ends: tuple[str, str]
    ) -> Iterator[tuple[str, Tree | Conditioner, Place]]:
        """What stands at each end, and where it is written."""
        if given is None:
            return
        place = reading.written(self.source.data, (*link, key))
        if not isinstance(given, Mapping):
            ours = [name for name in ends if self.takes(name, key)]
            for name in ours:
                yield name, *self.named(place, key, given)
            return
        for name, one in given.items():
            here = reading.written(self.source.data, (*link, key, name))
            if name not in ends:
                raise self.error(
                    here, f"{key}: '{name}' is no end of it, {' and '.join(ends)} are{suggest(name, ends)}"
                )
            if not self.takes(name, key):
                kind = self.lab.nodes[name].kind
                raise self.error(here, f"{key}: '{name}' is of kind {kind}: its ports are not ours")
            yield name, *self.named(here, key, one)

    def takes(self, name: str, key: str) -> bool:
        """Are queues, or conditioners, of ours at the ports of the node?"""
        ours = (
            (model.RouterNode,)
            if key == "ingress"
            else (model.RouterNode, model.TesterNode, model.StationNode)
        )
        return isinstance(self.lab.nodes[name], ours)

    def named(self, place: Place, key: str, given: Any) -> tuple[Tree | Conditioner, Place]:
        """A tree or a conditioner, and where it is written."""
        found: Any = given
        if isinstance(given, str):
            found, place = self.look_up(place, OF[key], given), (OF[key], given)
        if isinstance(found, Tree) and isinstance(found.conditioner, str):
            inner = self.look_up((*place, "conditioner"), "conditioners", found.conditioner)
            found = found.model_copy(update={"conditioner": inner})
        assert isinstance(found, (Tree, Conditioner))
        return found, place

    def look_up(self, place: Place, where: str, name: str) -> Any:
        """What a name stands for."""
        known: dict[str, Any] = getattr(self.lab, where)
        if name not in known:
            hint = suggest(name, known) or (f" (one of {', '.join(known)})" if known else "")
            raise self.error(place, f"'{name}' is not under '{where}'{hint}")
        return known[name]

    def error(self, place: Place, text: str) -> LabFileError:
        """An error at a place."""
        return self.source.error(place, f"{reading.whose(self.source.data, place)}{text}")

    def put(self, index: int, node: str, key: str, made: Tree | Conditioner) -> None:
        """Put it at the end of a link."""
        side = "a" if self.network.links[index].a.name == node else "b"
        self.network.placed[index, f"{side}_{key}"] = made

    def warn(self, node: str, index: int, tree: Tree, place: Place, rate_bps: int) -> None:
        """Say once, with its line, which rates do not add up."""
        link = self.network.links[index]
        for inner, outer, text in tree.excesses(rate_bps or None):
            at = (*place, *inner, "classes")
            line = self.source.line(at if outer is None else (*at, outer))
            lead = f"link {link.a.name} - {link.b.name}: queue at {node}: "
            if place[0] == "queues":
                lead = f"queue '{place[1]}': "
            where = "".join(f"{word}: " for word in words(inner))
            said = f"{self.source.path}:{line}: {lead}{where}{text}"
            if said not in self.warnings:
                self.warnings.append(said)
