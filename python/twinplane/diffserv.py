"""Differentiated services over MPLS (RFC 3270): what routers and LSPs know of per-hop behaviours (PHBs).

An E-LSP infers the PHB from TC, the three traffic-class bits of the label (RFC 5462; EXP in RFC 3270),
by a map that is preconfigured or signalled; an L-LSP infers the scheduling class from the label, and the drop
precedence from TC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationError, WithJsonSchema

from .errors import TwinplaneError, suggest
from .queues import phb
from .queues.base import Ports, Spec, sentence
from .queues.matching import Behaviours

PRECONFIGURED = (0, 10, 12, 18, 26, 46, 48, 56)
"""What TC 0 to 7 mean where nothing else is said: default, AF11, AF12, AF21, AF31, EF, CS6, CS7."""


def _tc_map(value: Any) -> Any:
    if isinstance(value, Mapping):
        found = list(PRECONFIGURED)
        for tc, name in value.items():
            if not str(tc).isdecimal() or int(tc) > 7:
                raise ValueError(f"{tc!r}: TC is 0 to 7")
            found[int(tc)] = phb.behaviour(name)
        return tuple(found)
    if not isinstance(value, (list, tuple)) or len(value) != 8:
        raise ValueError("a PHB for each of TC 0 to 7: a list of eight, or a mapping such as {5: EF}")
    return tuple(phb.behaviour(name) for name in value)


def _class(value: Any) -> Any:
    """A scheduling class, by the first of its PHBs."""
    codes = phb.behaviours(value)
    if isinstance(value, (list, tuple)) or len(codes) not in (1, 3):
        raise ValueError(f"{value!r}: one scheduling class, such as EF or AF1")
    code = int(codes[0])
    return next((group[0] for group in phb.GROUPS.values() if code in group), code)


TcMap = Annotated[
    Any,
    BeforeValidator(_tc_map),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
                {
                    "type": "array",
                    "items": {"type": ["string", "integer"]},
                    "minItems": 8,
                    "maxItems": 8,
                },
            ]
        }
    ),
]
"""PHBs of TC 0 to 7; a mapping changes those of the preconfigured map that it names."""
Class = Annotated[Any, BeforeValidator(_class), WithJsonSchema({"type": ["string", "integer"]})]


def _dscp(value: Any) -> Any:
    """Pairs of a code point and the PHB that it means."""
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, (list, tuple)) or any(
        not isinstance(pair, (list, tuple)) or len(pair) != 2 for pair in pairs
    ):
        raise ValueError("a PHB for some code points: a mapping such as {63: EF}")
    found = {phb.code_points(point)[0]: phb.behaviour(name) for point, name in pairs}
    if len(found) < len(pairs):
        raise ValueError("a code point is there twice")
    return tuple(sorted(found.items()))


DscpMap = Annotated[
    Any,
    BeforeValidator(_dscp),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
]
"""PHBs of code points that mean another than the one that they are recommended for."""
Model = Literal["pipe", "short-pipe", "uniform"]


class DiffServ(Spec):
    """How a router supports RFC 3270."""

    tc_map: TcMap | None = Field(
        default=None,
        description="PHBs of TC 0 to 7 in E-LSPs for which no map is signalled"
        " [default: default, AF11, AF12, AF21, AF31, EF, CS6, CS7].",
    )
    model: Model = Field(
        default="pipe",
        description="What the marking of an LSP has to do with that of its packets (RFC 3270, 2.6),"
        " unless the LSP has a model of its own.",
    )
    supported: Behaviours | None = Field(
        default=None, description="PHBs that LSPs may ask for [default: all]."
    )
    dscp: DscpMap | None = Field(
        default=None,
        description="PHBs of code points that mean another one here than they are recommended for"
        " [default: none].",
    )

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        found: dict[str, Any] = {"model": self.model}
        for key in ("tc_map", "supported"):
            if getattr(self, key) is not None:
                found[key] = phb.names(getattr(self, key))
        if self.dscp is not None:
            found["dscp"] = [[point, phb.name_of(code)] for point, code in self.dscp]
        return found


MODEL = (
    "Its tunnelling model (RFC 3270, 2.6), of which every router here is told [default: each router's own]."
)


class ELsp(Spec):
    """An E-LSP: TC identifies the PHB, by a map of its own (signalled) or the preconfigured one."""

    kind: Literal["e-lsp"] = Field(default="e-lsp", description="TC identifies the PHB.")
    map: TcMap | None = Field(
        default=None, description="PHBs of TC 0 to 7, signalled [default: the preconfigured ones]."
    )
    signal: bool | None = Field(
        default=None,
        description="Signal a DIFFSERV object, with an empty map if there is none [default: with a map].",
    )
    model: Model | None = Field(default=None, description=MODEL)

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        found: dict[str, Any] = {
            "kind": self.kind,
            "map": None if self.map is None else phb.names(self.map),
        }
        given = {"signal": self.signal, "model": self.model}
        return found | {key: value for key, value in given.items() if value is not None}


class LLsp(Spec):
    """An L-LSP: the label identifies the scheduling class, TC the drop precedence."""

    kind: Literal["l-lsp"] = Field(default="l-lsp", description="The label identifies the scheduling class.")
    class_: Class = Field(alias="class", description="The scheduling class, such as EF or AF1.")
    model: Model | None = Field(default=None, description=MODEL)

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        groups = (group for group, codes in phb.GROUPS.items() if self.class_ in codes)
        found = {"kind": self.kind, "class": next(groups, phb.name_of(self.class_))}
        return found if self.model is None else {**found, "model": self.model}


def _kind(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    return "l-lsp" if kind == "l-lsp" else "e-lsp"


def short_form(value: Any) -> Any:
    """``l-lsp AF1`` as a mapping."""
    if not isinstance(value, str):
        return value
    word, _, rest = value.partition(" ")
    if word not in KINDS:
        raise ValueError(f"{value!r} is neither e-lsp nor l-lsp{suggest(word, KINDS)}")
    return {"kind": word, **({"class": rest.strip()} if rest.strip() else {})}


KINDS = ("e-lsp", "l-lsp")
LspDiffServ = Annotated[
    Annotated[ELsp, Tag("e-lsp")] | Annotated[LLsp, Tag("l-lsp")],
    Discriminator(_kind),
    BeforeValidator(short_form),
]
"""An E-LSP or an L-LSP, or its short form."""


def _no_ports(_: Any) -> list[int]:
    return []


def _model(model: type[Spec], given: Any, what: str) -> dict[str, Any]:
    if isinstance(given, model):
        return given.lowered(_no_ports)
    try:
        return model.model_validate(given).lowered(_no_ports)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=True)[0]
        raise TwinplaneError(f"{what}: {sentence(model, first)}") from None


def node_spec(given: Any, what: str) -> dict[str, Any]:
    """What a router knows, as the core takes it; True is the preconfigured map and the pipe model."""
    return _model(DiffServ, {} if given is True else given, what)


def lsp_spec(given: Any, what: str) -> dict[str, Any]:
    """What an LSP is, as the core takes it: ``"e-lsp"``, ``"l-lsp AF1"``, a model or a mapping."""
    try:
        given = short_form(given)
    except ValueError as error:
        raise TwinplaneError(f"{what}: {error}") from None
    if isinstance(given, (ELsp, LLsp)):
        return given.lowered(_no_ports)
    kind = given.get("kind") if isinstance(given, Mapping) else None
    if kind not in KINDS:
        raise TwinplaneError(f"{what}: {kind!r} is neither e-lsp nor l-lsp{suggest(str(kind), KINDS)}")
    return _model(ELsp if kind == "e-lsp" else LLsp, given, what)


def classes_spec(given: Any, what: str) -> list[str]:
    """PHBs whose packets take an LSP."""
    try:
        return phb.names(phb.behaviours(given))
    except ValueError as error:
        raise TwinplaneError(f"{what}: {error}") from None
