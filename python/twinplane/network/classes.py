"""Queues and conditioners of a network file: names become what they stand for; errors have their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..model import generated as model
from ..model import reading
from ..model.source import NetworkFileError, Place, Source, value_at
from ..queues.base import GROUPS
from ..queues.conditioners import Conditioner
from ..queues.tree import Tree

if TYPE_CHECKING:
    from .network import Network

OF = {"queue": "queues", "ingress": "conditioners"}
"""Where what a link names is written."""


CORE = re.compile(r"link (\d+) [^:]*: (queue|ingress) at '([^']+)': (?:(root)((?:/[^:\s]+)*): )?(.*)")
"""How the core says where in a tree something is."""

NUMBERED = re.compile(r"(?:(conditioner|ingress): )?(filter|rule) (\d+)\b")
"""How it names filters and rules there."""


INSIDE = re.compile(r" of '([^']+)', which they are in$")
"""How it names the class whose rate is not enough for those in it."""


def place_in_tree(text: str, data: Any) -> tuple[Place, str] | None:
    """Of what the core says about queues: where that is written, and the same in the words of the file."""
    match = CORE.match(text)
    if match is None:
        return None
    link, key, node = int(match[1]), match[2], match[3]
    top: Place = ("topology", "links") if isinstance(data, Mapping) and "topology" in data else ("links",)
    place = reading.written(data, (*top, link, key, node))
    place, lead = _named(data, place, OF[key], f"{reading.whose(data, place)}{key} at {node}: ")
    place = _root(data, place) if match[4] else place
    for name in (match[5] or "").split("/")[1:]:
        here = value_at(data, place)
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
        inner = value_at(data, place)
        if isinstance(inner, Mapping) and "queue" in inner:
            place = (*place, "queue")
    said = match[6]
    if (inside := INSIDE.search(said)) is not None:
        place = (*place, "classes", inside[1])
    numbered = NUMBERED.match(said)
    if numbered is not None:
        said = said[numbered.start(2) :]
        if numbered[1] == "conditioner":
            place, lead = _named(data, (*place, "conditioner"), "conditioners", f"{lead}conditioner: ")
        group = "filters" if numbered[2] == "filter" else "rules"
        place = (*place, group, int(numbered[3]) - 1)
    return place, lead + said


def _named(data: Any, place: Place, where: str, lead: str) -> tuple[Place, str]:
    """Where what stands at a place is written: at the name, if it is one."""
    given = value_at(data, place)
    return ((where, given), f"{GROUPS[where]} '{given}': ") if isinstance(given, str) else (place, lead)


def _root(data: Any, place: Place) -> Place:
    """The discipline of a tree, which may be within the tree or in its place."""
    here = value_at(data, place)
    return (*place, "root") if isinstance(here, Mapping) and "root" in here else place


class Classes:
    """The queues and conditioners of links, which the core has checked."""

    def __init__(self, lab: model.NetworkSpec, source: Source, network: Network) -> None:
        self.lab, self.source, self.network = lab, source, network

    def add(self, index: int, ends: tuple[str, str], link: model.LinkSpec) -> None:
        """Put what a link says at its ends."""
        placed = self.network.draft.placed
        for side, node in enumerate(ends):
            queue = link.queue.get(node) if isinstance(link.queue, dict) else link.queue
            if queue is not None and self.takes(node, "queue"):
                placed[index, f"{'ab'[side]}_queue"] = self.tree(queue)
        for side, node in enumerate(ends):
            ingress = link.ingress.get(node) if isinstance(link.ingress, dict) else link.ingress
            if ingress is not None and self.takes(node, "ingress"):
                placed[index, f"{'ab'[side]}_ingress"] = self.conditioner(ingress)

    def takes(self, name: str, key: str) -> bool:
        """Are queues, or conditioners, of ours at the ports of the node?"""
        ours = (
            (model.RouterSpec,) if key == "ingress" else (model.RouterSpec, model.EdgeSpec, model.StationSpec)
        )
        return isinstance(self.lab.nodes[name], ours)

    def tree(self, given: str | model.Tree) -> Tree:
        """A tree by its name or itself, with its conditioner."""
        found = self.lab.queues[given] if isinstance(given, str) else given
        if isinstance(found.conditioner, str):
            found = replace(found, conditioner=self.lab.conditioners[found.conditioner])
        return Tree.model_validate(found.described())

    def conditioner(self, given: str | model.Conditioner) -> Conditioner:
        """A conditioner by its name or itself."""
        found = self.lab.conditioners[given] if isinstance(given, str) else given
        return Conditioner.model_validate(found.described())

    def unused(self) -> list[str]:
        """What is described and stands nowhere, a sentence each with its line."""
        given = {"queues": set[str](), "conditioners": set[str]()}
        for link in self.lab.links:
            given["queues"] |= _names(link.queue)
            given["conditioners"] |= _names(link.ingress)
            given["conditioners"] |= {name for one in _inline(link.queue) for name in _names(one.conditioner)}
        for tree in self.lab.queues.values():
            given["conditioners"] |= _names(tree.conditioner)
        nobody = {
            "queues": "no link names it in 'queue'",
            "conditioners": "no link names it in 'ingress', and no queue in 'conditioner'",
        }
        return [
            str(self.error((where, name), f"it is not used: {why}"))
            for where, why in nobody.items()
            for name in getattr(self.lab, where)
            if name not in given[where]
        ]

    def error(self, place: Place, text: str) -> NetworkFileError:
        """An error at a place."""
        return self.source.error(place, f"{reading.whose(self.source.data, place)}{text}")


def _each(given: Any) -> list[Any]:
    return list(given.values()) if isinstance(given, dict) else [given]


def _names(given: Any) -> set[str]:
    return {one for one in _each(given) if isinstance(one, str)}


def _inline(given: Any) -> list[model.Tree]:
    return [one for one in _each(given) if isinstance(one, model.Tree)]
