"""From a file to a checked lab; every error is one sentence that begins with the file and the line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .. import renamed
from ..diffserv import DiffServ
from ..errors import one_line, suggest
from ..queues import base
from ..queues.conditioners import Conditioner
from ..queues.tree import Tree
from . import flows, source
from . import lab_file as model
from .source import LabFileError, Place, Source, value_at

CONTAINERLAB = {
    "image": "it runs no containers: a host runs what is installed on this machine",
    "type": "a router's timing is its 'profile'",
    "mgmt": "routers are managed through sockets, not through a network",
    "mgmt-ipv4": "routers are managed through sockets, not through a network",
    "startup-config": "LSPs are listed under 'lsps'",
    "binds": "a host sees the files of this machine",
    "env": "a host's commands are given under 'exec'",
    "ports": "a host has an address of its own",
    "vars": "metadata go into 'labels'",
    "defaults": "each node says what it is",
    "kinds": "each node says what it is",
    "prefix": "namespaces are called tp-NAME-NODE",
    "group": "metadata go into 'labels'",
}
"""What is in containerlab's files and not in ours, and why."""

FOREIGN_KINDS = {"linux": "host", "bridge": "router", "ovs-bridge": "router", "ext-container": "host"}
"""What stands nearest to some of its kinds."""


def read(path: Path) -> tuple[model.LabFile, Source]:
    """Read and check a lab file."""
    return checked(source.read(path))


def checked(found: Source) -> tuple[model.LabFile, Source]:
    """Check the values of a lab file."""
    if found.data is None:
        raise LabFileError(f"{found.path}: it is empty: a lab has a name, nodes and links")
    if not isinstance(found.data, dict):
        raise found.error((), "a lab is a mapping with a name, nodes and links")
    try:
        lab = model.LabFile.model_validate(found.data)
    except ValidationError as error:
        complaints = error.errors(include_url=False, include_context=True)
        complaints = [one for one in complaints if one["type"] != "none_required"] or complaints
        places = {id(one): written(found.data, base.place_of(one)) for one in complaints}
        first = min(complaints, key=lambda one: found.line(places[id(one)]))
        raise found.error(places[id(first)], sentence(found.data, first)) from None
    if lab.topology is not None:
        if lab.nodes or lab.links:
            raise found.error(
                ("topology",),
                "topology: nodes and links are given here and at the top as well: one of the two",
            )
        _move(found.lines, ("topology",))
        lab = lab.model_copy(update={"nodes": lab.topology.nodes, "links": lab.topology.links})
    if not lab.nodes:
        raise found.error(("nodes",), "a lab needs nodes: 'nodes: {pe1: {kind: router}}'")
    return lab, found


def _move(lines: dict[Place, int], below: Place) -> None:
    """Let what is below one place be found at the top."""
    for place, line in list(lines.items()):
        if place[: len(below)] == below and len(place) > len(below):
            lines[place[len(below) :]] = line


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
        return f"{base.GROUPS[str(place[0])]} '{place[1]}': "
    if len(place) >= 2 and place[0] in ("links", "lsps", "flows"):
        item = _get(data, place[:2])
        if place[0] != "links":
            kind = str(place[0])[:-1]
            name = flows.called(kind, item)
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


SERVICE: dict[str, dict[str, type[BaseModel]]] = {
    "links": {"queue": Tree, "ingress": Conditioner},
    "nodes": {"diffserv": DiffServ},
}
"""Fields that hold what `twinplane.queues` and `twinplane.diffserv` describe."""


def of_service(place: Place) -> tuple[list[str], type[BaseModel], Place] | None:
    """Of a place in queues, conditioners and the like: lead words, the model there, and the place in it."""
    place = tuple(place[1:] if place[:1] == ("topology",) else place)
    if len(place) > 1 and place[0] in ("queues", "conditioners"):
        return [], Tree if place[0] == "queues" else Conditioner, place[2:]
    for at, key in enumerate(place[2:], 2):
        of = SERVICE.get(str(place[0]), {}).get(str(key))
        if of is not None:
            inner = place[at + 1 :]
            if inner[:1] == ("ends",) and len(inner) > 1:
                return [f"{key} at {inner[1]}"], of, inner[2:]
            return [str(key)], of, inner
    return None


def in_service(lead: str, error: ErrorDetails) -> str | None:
    """The sentence of an error in queues, conditioners and the like."""
    place = base.place_of(error)
    found = of_service(place[:-2] if place[-1:] == ("[key]",) else place)
    if found is None:
        return None
    before, of, inner = found
    if error["type"] == "extra_forbidden":
        known = base.fields_at(of, inner[:-1])
        unknown = f"unknown field '{inner[-1]}'{base.near(str(inner[-1]), known)}"
        text = renamed.field(str(inner[-1]), known) or unknown
        inner = inner[:-1]
    else:
        text = base.reason(error)
    return lead + "".join(f"{word}: " for word in (*before, *base.words(inner))) + text


def sentence(data: Any, error: ErrorDetails) -> str:
    """What is wrong, and what would be right."""
    place = tuple(error["loc"])
    served = in_service(whose(data, written(data, place)), error)
    if served is not None:
        return served
    where = written(data, place)
    lead = whose(data, where)
    field = next((str(step) for step in reversed(place) if isinstance(step, str)), "")
    kind = error["type"]
    # A place inside a node, a link or an LSP is named by the last field; nodes themselves already are.
    within = field if len(where) > 2 or not lead else ""
    if place[0] == "flows" and len(place) > 2:
        words = flows.of_flow(place[2:])[0]
        if kind not in ("missing", "extra_forbidden"):
            return f"{lead}{': '.join(words)}: {flows.kinds_sentence(error) or _reason(error)}"
        lead += "".join(f"{word}: " for word in words[:-1])
    if kind == "extra_forbidden":
        if field in CONTAINERLAB:
            return f"{lead}'{field}' is containerlab's and is not used here: {CONTAINERLAB[field]}"
        return f"{lead}unknown field '{field}'{_near(field, fields_at(place))}"
    if kind == "missing":
        return f"{lead}{field} is missing{_example(field)}"
    if kind in ("union_tag_invalid", "union_tag_not_found") and place[0] == "nodes":
        given = error.get("input")
        name = given.get("kind") if isinstance(given, Mapping) else None
        if name is None:
            return f"{lead}kind is missing: {source.listed(model.KINDS)}"
        hint = suggest(str(name), model.KINDS)
        if name in FOREIGN_KINDS:
            hint = f" (containerlab's '{name}' is nearest to '{FOREIGN_KINDS[name]}')"
        return f"{lead}kind: '{name}' is none of {source.listed(model.KINDS)}{hint}"
    reason = _reason(error)
    return f"{lead}{within}: {reason}" if within else f"{lead}{reason}"


def _reason(error: ErrorDetails) -> str:
    kind, given, context = error["type"], error.get("input"), error.get("ctx") or {}
    if kind == "literal_error":
        known = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return f"{given!r} is none of {source.listed(known)}{suggest(str(given), known)}"
    text = one_line(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if kind == "value_error":
        return text
    shown = "" if isinstance(given, list | dict) else f"{'nothing' if given is None else repr(given)}: it "
    text = base.plain(text)
    return f"{shown}{text}" if shown else f"it {text}"


def _example(field: str) -> str:
    known = {
        "name": ", such as 'name: two-sites'",
        "address": ": a host needs one, with the prefix length, such as 10.1.0.2/24",
        "endpoints": ', such as ["pe1:e0", "p:e1"]',
        "from": ": the router where it begins",
        "to": ": the router where it ends",
    }
    return known.get(field, "")


def _near(field: str, known: tuple[str, ...]) -> str:
    return suggest(field, known) or (f" (one of {', '.join(known)})" if known else "")


def fields_at(place: Place) -> tuple[str, ...]:
    """The fields that the model at a place has."""
    if place[:1] == ("topology",):
        place = tuple(step for step in place[1:] if step != "Topology")
        if len(place) == 1:
            return _fields(model.Topology)
    if len(place) == 1:
        return _fields(model.LabFile)
    top = place[0]
    if top == "flows":
        return flows.of_flow(place[2:-1])[1]
    if top == "links":
        return _fields(model.Link)
    if top == "lsps":
        return _fields(model.Filter if "filters" in place else model.LspSpec)
    if top == "nodes":
        if "rsvp" in place[2:]:
            return _fields(model.Rsvp)
        kinds: dict[str, type[BaseModel]] = {
            "router": model.RouterNode,
            "host": model.HostNode,
            "external": model.ExternalNode,
            "tester": model.TesterNode,
            "station": model.StationNode,
        }
        return _fields(kinds[str(place[2])]) if len(place) > 2 and place[2] in kinds else ()
    return ()


def _fields(of: type[BaseModel]) -> tuple[str, ...]:
    return tuple(info.alias or name for name, info in of.model_fields.items())
