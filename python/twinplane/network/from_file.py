"""The network of a network file, in one process: `Network.from_file()`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import warn
from ..model import network_file, source
from ..model.written import plain
from . import lowering

if TYPE_CHECKING:
    from .network import Network

    N = TypeVar("N", bound=Network)


ELSEWHERE = {
    "external": "it is external: what is beyond an interface is in labs only (twinplane lab up {path}),"
    " or in networks that `Network.attach` is told of",
    "frr": "it is a router of FRR, which runs in labs only: twinplane lab up {path}",
    "ovs": "it is an Open vSwitch, which runs in labs only: twinplane lab up {path}"
    " (kind: switch is one of ours)",
    "bird": "it is a router of BIRD, which runs in labs only: twinplane lab up {path}",
}
"""Kinds of nodes that are in no network of one process, and where they are."""


def from_file(kind: type[N], path: Path, seed: int | None = None, **options: Any) -> N:
    """The network that a network file describes, in one process; `options` go to `Network`."""
    found = source.read(path)
    lab, described, checked = network_file.checked(found)
    for name, node in lab.nodes.items():
        if node.WORD is not None and (words := ELSEWHERE.get(node.WORD[1])) is not None:
            raise checked.error(("nodes", name), f"node '{name}': {words.format(path=path)}")
        left = "exec" if getattr(node, "exec", None) else "record" if getattr(node, "record", None) else None
        if left is not None:
            warn(f"{checked.error(('nodes', name, left), '')}node '{name}': {left}: only a lab does that")
    if lab.measuring is not None:
        options = vars(lab.measuring) | options
    if lab.queue_bin is not None:
        options = {"queue_bin": lab.queue_bin} | options
    if lab.routes is not None:
        options = {"routes": plain(lab.routes)} | options
    network = kind(lab.seed if seed is None else seed, **options)
    described.set_whole(network.draft.core.whole())
    lowering.adopt(network, lab, described, checked)
    return network
