"""What all models of queues share: quantities, names, and errors of one sentence with their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails

from .. import renamed, units
from ..errors import TwinplaneError, one_line, suggest

Ports = Callable[[Any], list[int]]
"""From a link or a neighbour's name to the numbers of a node's ports that lead there."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,31}")

TAGS = frozenset(
    (
        *("pfifo", "bfifo", "tbf", "prio", "red", "gred", "cbq", "htb", "drr", "fq-codel", "fq_codel"),
        *("token-bucket", "single-rate", "two-rate", "name", "inline", "ends", "e-lsp", "l-lsp", "[key]"),
    )
)
"""What the models put into places beside what is written: the kinds among which they choose."""


class SpecError(ValueError):
    """Something is wrong further down than where it was noticed."""

    def __init__(self, text: str, *place: str | int) -> None:
        super().__init__(text)
        self.place = place


def _refuse_none(given: Any) -> None:
    if given is None:
        raise ValueError("a value is missing")


def _quantity(parse: Callable[..., int], what: str, *, zero: bool = True, keep: bool = False) -> Any:
    def check(value: Any) -> Any:
        _refuse_none(value)
        try:
            found = parse(value, what)
        except TwinplaneError as error:
            raise ValueError(str(error).removeprefix(f"{what} ")) from None
        if found == 0 and not zero:
            raise ValueError(f"{value!r}: it is not above zero")
        return value if keep else found

    return check


_QUANTITY = {"anyOf": [{"type": "string"}, {"type": "number"}]}
Rate = Annotated[
    Any, BeforeValidator(_quantity(units.rate_bps, "rate", zero=False)), WithJsonSchema(_QUANTITY)
]
"""Bits per second, from a number or a text such as ``"2.8 Mbit/s"``."""
Size = Annotated[
    Any, BeforeValidator(_quantity(units.size_bytes, "size", zero=False)), WithJsonSchema(_QUANTITY)
]
"""Bytes, from a number or a text such as ``"10 kB"``."""
SizeOrNone = Annotated[Any, BeforeValidator(_quantity(units.size_bytes, "size")), WithJsonSchema(_QUANTITY)]
"""The same, or zero."""
Time = Annotated[
    Any,
    BeforeValidator(_quantity(units.span_ps, "time", zero=False, keep=True)),
    WithJsonSchema(_QUANTITY),
]
"""A time, as it was given: seconds, or a text such as ``"5 ms"``."""


Count = Annotated[int, Field(ge=1, lt=1 << 32)]
"""Of packets, say."""


def _named(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(
            f"'{value}' is not a name: it has up to 32 letters, digits, '-', '_', '.' and ':',"
            " and begins with a letter or a digit"
        )
    return value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_text), AfterValidator(_named)]
"""Of a class or a virtual queue."""


class Spec(BaseModel):
    """A description that refuses what it does not know, in one sentence (`TwinplaneError`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)

    def __init__(self, **given: Any) -> None:
        try:
            self.__pydantic_validator__.validate_python(given, self_instance=self)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=True)[0]
            raise TwinplaneError(f"{self.title()}: {sentence(type(self), first)}") from None

    # Models inside of models are validated as such, so that an error knows its whole place.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def title(cls) -> str:
        """What errors begin with."""
        field = cls.model_fields.get("discipline") or cls.model_fields.get("kind")
        default = None if field is None else field.default
        return default if isinstance(default, str) else cls.__name__

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """What the core takes; what was not said is left out, so that it keeps the core's default."""
        found: dict[str, Any] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            if value is not None:
                found[name] = lower(value, ports)
        return found


def lower(value: Any, ports: Ports) -> Any:
    """A value as the core takes it."""
    if isinstance(value, Spec):
        return value.lowered(ports)
    if isinstance(value, Mapping):
        return {name: lower(item, ports) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [lower(item, ports) for item in value]
    return value


def place_of(error: ErrorDetails) -> tuple[str | int, ...]:
    """Where an error is, as far down as it knows."""
    inner = (error.get("ctx") or {}).get("error")
    return (*error["loc"], *(inner.place if isinstance(inner, SpecError) else ()))


GROUPS = {
    "classes": "class",
    "filters": "filter",
    "queues": "queue",
    "rules": "rule",
    "conditioners": "conditioner",
}


def words(place: tuple[str | int, ...]) -> list[str]:
    """A place in the words of the user: ``class 'gold'``, ``filter 2``, ``rate``."""
    found: list[str] = []
    steps = list(place)
    before: str | int | None = None
    while steps:
        step = steps.pop(0)
        # What follows these, or has more behind it, is a discipline; else `prio` and `red` are fields.
        tag = step in TAGS and (bool(steps) or before in ("queue", "root", "meter"))
        before = step
        if step in GROUPS and steps:
            inner = steps.pop(0)
            found.append(
                f"{GROUPS[str(step)]} " + (f"{inner + 1}" if isinstance(inner, int) else f"'{inner}'")
            )
            continue
        # The red of a rule is a colour, elsewhere it is a discipline.
        colour = bool(found) and found[-1].startswith("rule ")
        if isinstance(step, str) and step not in ("queue", "root") and (colour or not tag):
            found.append(step)
    return found


def sentence(model: type[BaseModel], error: ErrorDetails) -> str:
    """An error of validation as one sentence, with its place."""
    place = place_of(error)
    if place[-1:] == ("[key]",):
        place = place[:-2]  # the name is in the reason
    kind = error["type"]
    if kind == "extra_forbidden":
        known = fields_at(model, place[:-1])
        lead = "".join(f"{word}: " for word in words(place[:-1]))
        if (said := renamed.field(str(place[-1]), known)) is not None:
            return f"{lead}{said}"
        return f"{lead}unknown field '{place[-1]}'{near(str(place[-1]), known)}"
    lead = "".join(f"{word}: " for word in words(place))
    return f"{lead}{reason(error)}"


def reason(error: ErrorDetails) -> str:
    """What is wrong, without the place."""
    kind, given, context = error["type"], error.get("input"), error.get("ctx") or {}
    if kind == "missing":
        return "it is missing"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key = str(context.get("discriminator", "kind")).strip("'")
        known = [word.strip(" '") for word in str(context.get("expected_tags", "")).split(",")]
        name = given.get(key) if isinstance(given, Mapping) else None
        if name is None:
            return f"{key} is missing" + (f": one of {', '.join(known)}" if known != [""] else "")
        return f"{key}: '{name}' is none of {', '.join(known)}{suggest(str(name), known)}"
    if kind == "literal_error":
        known = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return f"{given!r} is none of {', '.join(known)}{suggest(str(given), known)}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        if given is None:
            return "nothing is said: it should be a mapping, {} if all is as usual"
        return f"{shortened(given)}: it should be a mapping"
    text = one_line(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if kind == "value_error":
        return text
    text = plain(text)
    shown = "nothing" if given is None else "" if isinstance(given, (list, dict)) else shortened(given)
    return f"{shown}: it {text}" if shown else f"it {text}"


PLAIN = {
    "should be a valid dictionary": "should be a mapping",
    "should be a valid list": "should be a list",
    "should be a valid tuple": "should be a list",
    "should be a valid string": "should be a text",
    "should be a valid integer": "should be a whole number",
    "should be a valid number": "should be a number",
    "should be a valid boolean": "should be true or false",
    "should be greater than or equal to": "should be at least",
    "should be less than or equal to": "should be at most",
    "should be greater than": "should be more than",
}
"""What pydantic says, and what is said instead."""


def plain(text: str) -> str:
    """What pydantic says of a value, in plain words."""
    for theirs, ours in PLAIN.items():
        if text.startswith(theirs):
            # What follows the kind of value is how it was read.
            return ours if theirs.startswith("should be a ") else ours + text.removeprefix(theirs)
    return text


def shortened(given: Any) -> str:
    """A value as it was written, if it is not long."""
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}..."


def near(name: str, known: tuple[str, ...]) -> str:
    """A suggestion, or all that is known."""
    return suggest(name, known) or (f" (one of {', '.join(known)})" if known else "")


def fields_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Field names as a user writes them."""
    return tuple(info.alias or name for name, info in model.model_fields.items())


def fields_at(model: type[BaseModel], place: tuple[str | int, ...]) -> tuple[str, ...]:
    """The fields that the model at a place has."""
    from .registry import INNER, TAGGED

    at, steps = model, list(place)
    while steps:
        step = str(steps.pop(0))
        inner = INNER.get((at, step)) or INNER.get((None, step))
        if inner is not None:
            at = inner
            if step in GROUPS and steps:
                steps.pop(0)  # the name or place of one of several
        elif step in TAGGED:
            at = TAGGED[step]
    return fields_of(at)
