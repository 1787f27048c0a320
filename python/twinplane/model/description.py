"""The serialisable description that a network is lowered to, and the options that end up in it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Any

from .. import units
from ..errors import TwinplaneError, suggest


@dataclass
class Description:
    """Nodes, links, LSPs and flows as the core takes them."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    lsps: list[dict[str, Any]] = field(default_factory=list)
    flows: list[dict[str, Any]] = field(default_factory=list)
    _pairs: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    _known: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The four lists."""
        return {"nodes": self.nodes, "links": self.links, "lsps": self.lsps, "flows": self.flows}

    def between(self, a: int, b: int) -> list[int]:
        """The links between two nodes."""
        for index in range(self._known, len(self.links)):
            link = self.links[index]
            pair = (min(link["a"], link["b"]), max(link["a"], link["b"]))
            self._pairs.setdefault(pair, []).append(index)
        self._known = len(self.links)
        return self._pairs.get((min(a, b), max(a, b)), [])


def ipv4(text: str, what: str) -> str:
    """An IPv4 address."""
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise TwinplaneError(f"{what}: {text!r} is not an IPv4 address") from None


def interface_address(text: str, what: str) -> str:
    """An IPv4 address with the length of its prefix."""
    try:
        if "/" in text:
            return str(ipaddress.IPv4Interface(text))
    except ValueError:
        pass
    raise TwinplaneError(f"{what}: {text!r} is not an IPv4 address with a prefix length such as 10.1.0.2/24")


def router_id(name: str, given: str | None) -> dict[str, str]:
    """The router id of a node, if one was given."""
    return {} if given is None else {"router_id": ipv4(given, f"{name}: router_id")}


RSVP_TIMES = {
    "refresh": "refresh_ps",
    "hello_interval": "hello_ps",
    "setup_timeout": "setup_timeout_ps",
}
RSVP_CHOICES = {
    "egress_label": ("real", "implicit-null", "explicit-null"),
    "ttl": ("uniform", "pipe", "short-pipe"),
}
RSVP_SWITCHES = {"refresh_reduction": "refresh_reduction", "rsvp_handshake": "integrity_handshake"}
RSVP_OPTIONS = (*RSVP_TIMES, *RSVP_CHOICES, *RSVP_SWITCHES, "rsvp_key", "rsvp_key_id")
"""Keyword arguments of `Network.router` and `Network.edge`."""


def rsvp_options(node: str, given: dict[str, Any]) -> dict[str, Any]:
    """Signalling options of a node as the core takes them; what is not given keeps its default."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if value is None and key in RSVP_OPTIONS:
            continue
        if key in RSVP_TIMES:
            found[RSVP_TIMES[key]] = units.span_ps(value, key)
        elif key in RSVP_CHOICES:
            if value not in RSVP_CHOICES[key]:
                raise TwinplaneError(f"{node}: {key}={value!r}: one of {', '.join(RSVP_CHOICES[key])}")
            found[key] = value
        elif key in RSVP_SWITCHES:
            found[RSVP_SWITCHES[key]] = bool(value)
        elif key == "rsvp_key":
            found["integrity_key"] = _secret(node, value)
        elif key == "rsvp_key_id":
            # RFC 2747, 2: the Key Identifier has 48 bits.
            if not 0 <= int(value) < 1 << 48:
                raise TwinplaneError(f"{node}: rsvp_key_id={value!r}: 0 to 2^48 - 1")
            found["integrity_key_id"] = int(value)
        else:
            raise TwinplaneError(f"{node}: unknown option {key!r}{suggest(key, RSVP_OPTIONS)}")
    return found


def _secret(node: str, value: str | bytes) -> str:
    """A shared secret as text."""
    try:
        return value if isinstance(value, str) else bytes(value).decode()
    except UnicodeDecodeError:
        raise TwinplaneError(f"{node}: rsvp_key: a secret is text in UTF-8") from None


FAULTS = ("loss", "corruption", "duplication", "reordering", "delay")
"""Keyword arguments of `Network.fault`."""

_FAULT_EXTRAS = ("by", "jitter", "until", "direction")


def fault_specs(link: int, now_ps: int, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Faults of a link as the core takes them."""
    shared: dict[str, Any] = {"at": now_ps, "link": link}
    direction = given.get("direction", "both")
    if direction not in ("forth", "back", "both"):
        raise TwinplaneError(f"fault direction={direction!r}: forth (first end to second), back or both")
    shared["direction"] = direction
    if given.get("until") is not None:
        shared["until"] = units.span_ps(given["until"], "until")
    found = []
    for key, value in given.items():
        if key == "delay":
            extra, jitter = units.span_ps(value, key), units.span_ps(given.get("jitter", 0), "jitter")
            found.append({**shared, "fault": key, "extra": extra, "jitter": jitter})
        elif key in FAULTS:
            if not 0 <= float(value) <= 1:
                raise TwinplaneError(f"fault {key}={value!r}: a probability is 0 to 1")
            name = "bit_error_rate" if key == "corruption" else "probability"
            spec = {**shared, "fault": key, name: float(value)}
            if key == "reordering":
                spec["extra"] = units.span_ps(given.get("by", "1 ms"), "by")
            found.append(spec)
        elif key not in _FAULT_EXTRAS:
            raise TwinplaneError(f"unknown fault {key!r}{suggest(key, (*FAULTS, *_FAULT_EXTRAS))}")
    if not found:
        raise TwinplaneError(f"no fault is named: one of {', '.join(FAULTS)}")
    return found
