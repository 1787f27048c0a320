"""Which packets an LSP carries: destination prefixes, and filters by the fields that name a flow."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

from . import units
from .errors import TwinplaneError, suggest

PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "dccp": 33, "sctp": 132, "udplite": 136}
"""Names of IP protocols (IANA)."""

FIELDS = ("src", "dst", "protocol", "src_ports", "dst_ports", "dscp")
"""What a filter can ask for; what is left out may be anything."""


def prefix(text: str, what: str) -> str:
    """A prefix in canonical form."""
    try:
        return str(ipaddress.IPv4Network(text, strict=False))
    except ValueError:
        raise TwinplaneError(f"{what}: {text!r} is not an IPv4 prefix such as 10.1.0.0/24") from None


def prefixes(given: Sequence[str] | str, what: str) -> list[str]:
    """Destinations whose packets an LSP carries."""
    return [prefix(text, f"{what}: carries") for text in ([given] if isinstance(given, str) else given)]


def protocol(value: str | int, what: str) -> int:
    """The number of an IP protocol."""
    text = str(value).lower()
    if text in PROTOCOLS:
        return PROTOCOLS[text]
    if text.isdecimal() and int(text) < 256:
        return int(text)
    raise TwinplaneError(
        f"{what}: protocol={value!r}: a number of 0 to 255 or one of {', '.join(PROTOCOLS)}"
        f"{suggest(text, PROTOCOLS)}"
    )


def ports(value: str | int | Sequence[int], what: str) -> list[int]:
    """First and last port."""
    parts: Sequence[Any] = value.split("-") if isinstance(value, str) else [value]
    if not isinstance(value, (str, int)):
        parts = value
    try:
        found = [int(part) for part in parts]
    except (TypeError, ValueError):
        found = []
    if len(found) == 1:
        found *= 2
    if len(found) != 2 or not 0 <= found[0] <= found[1] <= 65535:
        raise TwinplaneError(f"{what}={value!r}: a port of 0 to 65535, or two with the lower first")
    return found


def filter_spec(given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A filter as the core takes it."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key not in FIELDS:
            raise TwinplaneError(f"{what}: filter: unknown field {key!r}{suggest(key, FIELDS)}")
        if value is None:
            continue
        if key in ("src", "dst"):
            found[key] = prefix(str(value), f"{what}: filter: {key}")
        elif key == "protocol":
            found[key] = protocol(value, f"{what}: filter")
        elif key == "dscp":
            found[key] = units.dscp(value)
        else:
            found[key] = ports(value, f"{what}: filter: {key}")
    if ("src_ports" in found or "dst_ports" in found) and "protocol" not in found:
        raise TwinplaneError(f"{what}: filter: ports need a protocol that has some, such as tcp")
    return found
