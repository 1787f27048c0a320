"""One form for each value, whatever its type is today, and a short hash of a column of them.

The form forgets what a change of types changes without changing the value:

- a whole float is an integer (3.0 is 3);
- a mapping is its pairs in the order of their keys, without those whose value is null;
- a list of structs of a name and a figure (``{"reason": "queue full", "packets": 3}``) is that mapping;
- a duration is its picoseconds, an address its text, bytes are their hexadecimal digits.

Null, an empty text and an empty list (or mapping) are three different values.

What these rules don't cover is said in `renames.toml` by a conversion (`CONVERSIONS`).
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

DIGITS = 16
"""Hexadecimal digits of a hash."""

PAIRS = (("reason", "packets"), ("reason", "count"), ("name", "value"), ("key", "value"))
"""Fields of structs that stand for an entry of a mapping."""


def plain(value: Any) -> Any:
    """The canonical form of a value: null, booleans, numbers, texts and lists of these."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return _pairs(value.items())
    if isinstance(value, list | tuple):
        return _sequence(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, datetime.timedelta):
        return (value // datetime.timedelta(microseconds=1)) * 10**6
    if isinstance(value, ipaddress.IPv4Address | ipaddress.IPv6Address):
        return str(value)
    if hasattr(value, "to_list"):
        return _sequence(value.to_list())
    raise TypeError(f"no canonical form of {type(value).__name__}: {value!r}")


def _number(value: float) -> Any:
    if math.isnan(value):
        return "nan"
    return int(value) if value.is_integer() else value


def _sequence(values: Iterable[Any]) -> list[Any]:
    values = list(values)
    for name, figure in PAIRS:
        if values and all(isinstance(item, Mapping) and set(item) == {name, figure} for item in values):
            return _pairs((item[name], item[figure]) for item in values)
    return [plain(item) for item in values]


def _pairs(items: Iterable[tuple[Any, Any]]) -> list[Any]:
    found = [[str(key), plain(value)] for key, value in items if value is not None]
    return sorted(found, key=lambda pair: json.dumps(pair))


def text(value: Any) -> str:
    """A value as one line of JSON."""
    return json.dumps(plain(value), ensure_ascii=True, separators=(",", ":"))


def digest(values: Iterable[Any]) -> str:
    """A hash of a column: its values in their order."""
    return hashlib.sha256("\n".join(text(value) for value in values).encode()).hexdigest()[:DIGITS]


def bytes_digest(content: bytes) -> str:
    """A hash of bytes."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def _unless_null(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "seconds to ps": _unless_null(lambda value: round(value * 1e12)),
    "ns to ps": _unless_null(lambda value: value * 1000),
    "address to integer": _unless_null(lambda value: int(ipaddress.IPv4Address(value))),
    "integer to address": _unless_null(lambda value: str(ipaddress.IPv4Address(value))),
    "text to integer": _unless_null(int),
    "integer to text": _unless_null(str),
}
"""From a value of today to that of the golden, for the key `as` of a renamed column."""
