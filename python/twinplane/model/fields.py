"""Kinds of values in a lab file: names, addresses, quantities. What is refused says what would be right."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic.json_schema import WithJsonSchema

from .. import units
from ..errors import TwinplaneError


class Strict(BaseModel):
    """What is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
"""Labs and nodes become parts of the names of namespaces and files."""


def _named(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(
            f"'{value}' is not a name: it has up to 32 letters, digits, '-', '_' and '.',"
            " and begins with a letter or a digit"
        )
    return value


def _interface(value: str) -> str:
    # Linux, dev_valid_name().
    if not 1 <= len(value) <= 15 or re.search(r"[\s/:]", value) or value in (".", ".."):
        raise ValueError(
            f"'{value}' is not the name of an interface: 1 to 15 characters without '/', ':' and spaces"
        )
    return value


def _quantity(parse: Callable[..., int], what: str, *, zero: bool = True) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        try:
            found = parse(value, what)
        except TwinplaneError as error:
            raise ValueError(str(error).removeprefix(f"{what} ")) from None
        if found == 0 and not zero:
            raise ValueError(f"{value!r}: it is not above zero")
        return value

    return check


def _text(value: Any) -> Any:
    """A number in the file where a word is meant: a node called 1."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _address(value: str) -> str:
    try:
        ipaddress.IPv4Address(value)
    except ValueError:
        raise ValueError(f"{value!r} is not an IPv4 address such as 10.1.0.1") from None
    return value


def _address_and_length(value: str) -> str:
    try:
        if "/" not in value:
            raise ValueError
        ipaddress.IPv4Interface(value)
    except ValueError:
        raise ValueError(
            f"{value!r} is not an IPv4 address with a prefix length such as 10.1.0.2/24"
        ) from None
    return value


def _prefix(value: str) -> str:
    try:
        return str(ipaddress.IPv4Network(value, strict=True))
    except ValueError:
        pass
    try:
        meant = ipaddress.IPv4Network(value, strict=False)
    except ValueError:
        raise ValueError(f"{value!r} is not an IPv4 prefix such as 10.2.0.0/24") from None
    raise ValueError(f"{value!r} has bits set beyond its length (did you mean '{meant}'?)")


_QUANTITY = {"anyOf": [{"type": "string"}, {"type": "number"}]}
_rate = _quantity(units.rate_bps, "rate", zero=False)
Name = Annotated[str, BeforeValidator(_text), AfterValidator(_named)]
Interface = Annotated[str, AfterValidator(_interface)]
Time = Annotated[Any, AfterValidator(_quantity(units.span_ps, "time")), WithJsonSchema(_QUANTITY)]
Period = Annotated[
    Any, AfterValidator(_quantity(units.span_ps, "time", zero=False)), WithJsonSchema(_QUANTITY)
]
Rate = Annotated[
    Any,
    AfterValidator(lambda value: value if value == "none" else _rate(value)),
    WithJsonSchema(_QUANTITY),
]
Bandwidth = Annotated[Any, AfterValidator(_quantity(units.rate_bps, "rate")), WithJsonSchema(_QUANTITY)]
Size = Annotated[Any, AfterValidator(_quantity(units.size_bytes, "size")), WithJsonSchema(_QUANTITY)]
Address = Annotated[str, AfterValidator(_address)]
InterfaceAddress = Annotated[str, AfterValidator(_address_and_length)]
Prefix = Annotated[str, AfterValidator(_prefix)]
Driver = Literal["packet", "xdp"]
Labels = dict[str, str | int | float | bool]


def _endpoint(value: Any) -> Any:
    value = _text(value)
    if isinstance(value, str):
        node, colon, interface = value.partition(":")
        _named(node)
        if colon:
            _interface(interface)
    return value


Endpoint = Annotated[
    str,
    BeforeValidator(_endpoint),
    WithJsonSchema({"type": "string", "description": "NODE, or NODE:INTERFACE."}),
]
