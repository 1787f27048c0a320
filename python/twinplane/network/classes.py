"""Queues and conditioners of a network file: names become what they stand for; errors have their lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..model import generated as model
from ..model import reading
from ..model.source import NetworkFileError, Place, Source

if TYPE_CHECKING:
    from .network import Network


class Classes:
    """The queues and conditioners of links, which the core has checked."""

    def __init__(self, lab: model.NetworkSpec, source: Source, network: Network) -> None:
        self.lab, self.source, self.network = lab, source, network

    def add(self, index: int, ends: tuple[str, str], link: model.LinkSpec) -> None:
        """Put what a link says at its ends."""
        placed = self.network.draft.placed
        for side, node in enumerate(ends):
            queue = link.queue.get(node) if isinstance(link.queue, Mapping) else link.queue
            if queue is not None and self.takes(node, "queue"):
                placed[index, f"{'ab'[side]}_queue"] = self.tree(queue)
        for side, node in enumerate(ends):
            ingress = link.ingress.get(node) if isinstance(link.ingress, Mapping) else link.ingress
            if ingress is not None and self.takes(node, "ingress"):
                placed[index, f"{'ab'[side]}_ingress"] = self.conditioner(ingress)

    def takes(self, name: str, key: str) -> bool:
        """Are queues, or conditioners, of ours at the ports of the node?"""
        ours = (
            (model.RouterSpec,) if key == "ingress" else (model.RouterSpec, model.EdgeSpec, model.StationSpec)
        )
        return isinstance(self.lab.nodes[name], ours)

    def tree(self, given: str | model.Tree) -> model.Tree:
        """A tree by its name or itself, with its conditioner."""
        found = self.lab.queues[given] if isinstance(given, str) else given
        if isinstance(found.conditioner, str):
            found = replace(found, conditioner=self.lab.conditioners[found.conditioner])
        return found

    def conditioner(self, given: str | model.Conditioner) -> model.Conditioner:
        """A conditioner by its name or itself."""
        return self.lab.conditioners[given] if isinstance(given, str) else given

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
    return list(given.values()) if isinstance(given, Mapping) else [given]


def _names(given: Any) -> set[str]:
    return {one for one in _each(given) if isinstance(one, str)}


def _inline(given: Any) -> list[model.Tree]:
    return [one for one in _each(given) if isinstance(one, model.Tree)]
