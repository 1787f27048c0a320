"""Queues and conditioners of a lab file: names become what they stand for; errors have their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import suggest
from ..model import generated as model
from ..model import reading
from ..model.source import LabFileError, Place, Source, value_at
from ..queues.base import GROUPS
from ..queues.conditioners import Conditioner
from ..queues.tree import Tree

if TYPE_CHECKING:
    from .network import Network

OWN = frozenset(("discipline", "root", "rules"))
"""Keys by which a tree or a conditioner is told from a mapping by end."""

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
    """The queues and conditioners of links."""

    def __init__(self, lab: model.NetworkSpec, source: Source, network: Network) -> None:
        self.lab, self.source, self.network = lab, source, network
        self.used: set[tuple[str, str]] = set()
        self.known: dict[str, dict[str, Tree | Conditioner]] = {
            where: {
                name: self.modelled((where, name), key, given, "")
                for name, given in getattr(lab, where).items()
            }
            for key, where in OF.items()
        }

    def of_link(
        self, link: Place, key: str, given: Any, ends: tuple[str, str]
    ) -> Iterator[tuple[str, Tree | Conditioner]]:
        """What stands at each end."""
        if given is None:
            return
        place = reading.written(self.source.data, (*link, key))
        if not isinstance(given, Mapping) or OWN & set(given):
            ours = [name for name in ends if self.takes(name, key)]
            for name in ours:
                yield name, self.named(place, key, given, f"{key}: ")
            return
        for name, one in given.items():
            here = reading.written(self.source.data, (*link, key, name))
            if name not in ends:
                raise self.error(
                    here, f"{key}: '{name}' is no end of it, {' and '.join(ends)} are{suggest(name, ends)}"
                )
            if not self.takes(name, key):
                kind = (self.lab.nodes[name].WORD or ("", ""))[1]
                raise self.error(here, f"{key}: '{name}' is of kind {kind}: its ports are not ours")
            yield name, self.named(here, key, one, f"{key} at {name}: ")

    def takes(self, name: str, key: str) -> bool:
        """Are queues, or conditioners, of ours at the ports of the node?"""
        ours = (
            (model.RouterSpec,) if key == "ingress" else (model.RouterSpec, model.EdgeSpec, model.StationSpec)
        )
        return isinstance(self.lab.nodes[name], ours)

    def named(self, place: Place, key: str, given: Any, lead: str) -> Tree | Conditioner:
        """A tree or a conditioner; `lead` says where it stands."""
        found: Any
        if isinstance(given, str):
            found, place = self.look_up(place, OF[key], given), (OF[key], given)
        else:
            found = self.modelled(place, key, given, lead)
        if isinstance(found, Tree) and isinstance(found.conditioner, str):
            inner = self.look_up((*place, "conditioner"), "conditioners", found.conditioner)
            found = found.model_copy(update={"conditioner": inner})
        assert isinstance(found, (Tree, Conditioner))
        return found

    def modelled(self, place: Place, key: str, given: Any, lead: str) -> Tree | Conditioner:
        """What is written at a place; `lead` says where that is."""
        if key == "queue":
            return reading.modelled(self.source, place, Tree, given, lead)
        return reading.modelled(self.source, place, Conditioner, given, lead)

    def look_up(self, place: Place, where: str, name: str) -> Any:
        """What a name stands for."""
        known = self.known[where]
        if name not in known:
            hint = suggest(name, known) or (f" (one of {', '.join(known)})" if known else "")
            raise self.error(place, f"'{name}' is not under '{where}'{hint}")
        self.used.add((where, name))
        return known[name]

    def unused(self) -> list[str]:
        """What is described and stands nowhere, a sentence each with its line."""
        nobody = {
            "queues": "no link names it in 'queue'",
            "conditioners": "no link names it in 'ingress', and no queue in 'conditioner'",
        }
        return [
            str(self.error((where, name), f"it is not used: {why}"))
            for where, why in nobody.items()
            for name in self.known[where]
            if (where, name) not in self.used
        ]

    def error(self, place: Place, text: str) -> LabFileError:
        """An error at a place."""
        return self.source.error(place, f"{reading.whose(self.source.data, place)}{text}")

    def put(self, index: int, node: str, key: str, made: Tree | Conditioner) -> None:
        """Put it at the end of a link."""
        side = "a" if self.network.links[index].a.name == node else "b"
        self.network.draft.placed[index, f"{side}_{key}"] = made
