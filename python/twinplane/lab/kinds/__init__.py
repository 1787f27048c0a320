"""Kinds of nodes, as labs make them: a module for each, and a line in the list here."""

from __future__ import annotations

from .bird import Bird
from .bridge import Bridge
from .external import External
from .frr import Frr
from .host import Host
from .kind import Kind
from .ovs import Ovs
from .router import Router
from .switch import Switch

KINDS: dict[str, Kind] = {
    "router": Router(),
    "host": Host(),
    "station": Kind(),
    "edge": Kind(),
    "external": External(),
    "bridge": Bridge(),
    "switch": Switch(),
    "ovs": Ovs(),
    "frr": Frr(),
    "bird": Bird(),
}
"""By the name that members of a plan have; a raw port is an edge, and a measured host a station."""

MADE_AS = {"peer": "edge"}
"""Kinds of descriptions that labs make as another kind."""


def of(kind: str) -> Kind:
    """What a lab does with nodes of a kind."""
    return KINDS[kind]


def is_made(kind: str) -> bool:
    """Has a lab a process, a kernel or an interface for nodes of this kind of a description?"""
    return MADE_AS.get(kind, kind) in KINDS
