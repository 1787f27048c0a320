"""Which packets a filter or a rule takes, and whether it can take any at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from .. import filters
from ..errors import TwinplaneError
from . import phb
from .base import Name, Ports, Spec, SpecError

LABEL_MAX = (1 << 20) - 1
"""RFC 3032, 2.1: a label has 20 bits."""

_ONE_OR_MORE = {
    "anyOf": [
        {"type": "string"},
        {"type": "integer"},
        {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
    ]
}


def _tcs(value: Any) -> Any:
    items = value if isinstance(value, (list, tuple, set)) else [value]
    if not items or any(
        isinstance(one, bool) or not isinstance(one, int) or not 0 <= one <= 7 for one in items
    ):
        raise ValueError(f"{value!r}: the TC of a label is 0 to 7, one or several")
    return tuple(sorted(set(items)))


def _labels(value: Any) -> Any:
    parts = (
        value.split("-") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    )
    try:
        found = [int(part) for part in parts]
    except (TypeError, ValueError):
        found = []
    found = found * 2 if len(found) == 1 else found
    if len(found) != 2 or not 0 <= found[0] <= found[1] <= LABEL_MAX:
        raise ValueError(f"{value!r}: a label of 0 to {LABEL_MAX}, or two with the lower first")
    return (found[0], found[1])


def _inputs(value: Any) -> Any:
    items = value if isinstance(value, (list, tuple)) else [value]
    if not items:
        raise ValueError("no link is named, so that it takes nothing")
    return tuple(items)


Behaviours = Annotated[Any, BeforeValidator(phb.behaviours), WithJsonSchema(_ONE_OR_MORE)]
CodePoints = Annotated[Any, BeforeValidator(phb.code_points), WithJsonSchema(_ONE_OR_MORE)]
Tcs = Annotated[Any, BeforeValidator(_tcs), WithJsonSchema(_ONE_OR_MORE)]
Labels = Annotated[Any, BeforeValidator(_labels), WithJsonSchema(_ONE_OR_MORE)]
Inputs = Annotated[Any, BeforeValidator(_inputs), WithJsonSchema(_ONE_OR_MORE)]
_FLOW = ("src", "dst", "protocol", "src_ports", "dst_ports")
_SETS = ("phb", "dscp", "tc", "inputs")


class Match(Spec):
    """Packets that match every field that is given; a match with no field takes every packet."""

    phb: Behaviours | None = Field(
        default=None,
        description="PHBs, one or several: as the node determined them, or by code point.",
    )
    dscp: CodePoints | None = Field(
        default=None, description="Code points in the IP header, below labels too."
    )
    tc: Tcs | None = Field(
        default=None,
        description="TC (formerly EXP) of the outermost label, 0 to 7, one or several.",
    )
    labels: Labels | None = Field(default=None, description="The outermost label, or first-last.")
    labelled: bool | None = Field(default=None, description="Is there a label?")
    src: str | None = Field(default=None, description="Source addresses, as a prefix.")
    dst: str | None = Field(default=None, description="Destination addresses, as a prefix.")
    protocol: int | str | None = Field(default=None, description="tcp, udp, icmp and so on, or a number.")
    src_ports: int | str | tuple[int, int] | None = Field(
        default=None, description="Source port, or first-last."
    )
    dst_ports: int | str | tuple[int, int] | None = Field(
        default=None, description="Destination port, or first-last."
    )
    mark: int | None = Field(
        default=None, ge=0, lt=1 << 32, description="The mark that a conditioner put on it."
    )
    inputs: Inputs | None = Field(
        default=None, description="Where it came from: neighbours (or links), one or several."
    )

    @model_validator(mode="after")
    def _possible(self) -> Match:
        self.flow()
        if self.labelled is False:
            for field in ("tc", "labels"):
                if getattr(self, field) is not None:
                    raise SpecError(f"it can take nothing: a packet without a label has no {field}", field)
        return self

    def flow(self) -> dict[str, Any] | None:
        """Addresses, protocol and ports as the core takes them, or nothing if none is given."""
        given = {key: getattr(self, key) for key in _FLOW if getattr(self, key) is not None}
        if not given:
            return None
        try:
            found = filters.filter_spec(given, "")
        except TwinplaneError as error:
            raise SpecError(str(error).removeprefix(": ").removeprefix("filter: ")) from None
        if ("src_ports" in found or "dst_ports" in found) and found["protocol"] not in WITH_PORTS:
            raise SpecError(
                f"it can take nothing: protocol {given['protocol']} has no ports (tcp and udp have)",
                "protocol",
            )
        return found

    def match(self, ports: Ports) -> dict[str, Any]:
        """The fields that are given, as the core takes them."""
        found: dict[str, Any] = {}
        if self.phb is not None:
            found["phb"] = phb.names(self.phb)
        for key in ("dscp", "tc", "labels"):
            if getattr(self, key) is not None:
                found[key] = list(getattr(self, key))
        for key in ("labelled", "mark"):
            if getattr(self, key) is not None:
                found[key] = getattr(self, key)
        flow = self.flow()
        if flow is not None:
            found |= flow
        if self.inputs is not None:
            found["inputs"] = sorted({port for one in self.inputs for port in ports(one)})
        return found

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """The same."""
        return self.match(ports)

    def covers(self, other: Match) -> bool:
        """Does it take every packet that the other takes?"""
        for key in (*_SETS, "labels", "labelled", "mark", *_FLOW):
            mine, theirs = getattr(self, key), getattr(other, key)
            if mine is None:
                continue
            if key == "labelled" and mine and other.needs_label():
                continue
            if theirs is None or not _within(key, theirs, mine):
                return False
        return True

    def needs_label(self) -> bool:
        """Does it take labelled packets only?"""
        return bool(self.labelled) or self.tc is not None or self.labels is not None

    def given(self) -> tuple[str, ...]:
        """The fields that are given."""
        return tuple(key for key in Match.model_fields if getattr(self, key) is not None)


WITH_PORTS = frozenset((6, 17, 33, 132, 136))
"""Protocols whose headers begin with ports: TCP, UDP, DCCP, SCTP, UDP-Lite."""


def _within(key: str, inner: Any, outer: Any) -> bool:
    if key in _SETS:
        return set(inner) <= set(outer)
    if key == "labels":
        return bool(outer[0] <= inner[0] and inner[1] <= outer[1])
    if key in ("src", "dst"):
        import ipaddress

        networks = [ipaddress.IPv4Network(text, strict=False) for text in (inner, outer)]
        return networks[0].subnet_of(networks[1])
    if key in ("src_ports", "dst_ports"):
        low, high = filters.ports(inner, key), filters.ports(outer, key)
        return high[0] <= low[0] and low[1] <= high[1]
    if key == "protocol":
        return filters.protocol(inner, key) == filters.protocol(outer, key)
    return bool(inner == outer)


class Filter(Match):
    """Packets that go to a class; the first filter that takes a packet decides."""

    class_: Name = Field(alias="class", description="The class that takes them.")

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        return {"class": self.class_, **self.match(ports)}


def check_order(matches: Sequence[Match], group: str, noun: str) -> None:
    """Refuse what can take nothing because those before it take all of it."""
    taken: dict[str, set[Any]] = {}
    for place, one in enumerate(matches):
        for earlier, other in enumerate(matches[:place]):
            if other.covers(one):
                raise SpecError(
                    f"it can take nothing: {noun} {earlier + 1} before it takes all of its packets",
                    group,
                    place,
                )
        for key in _SETS:
            values = getattr(one, key)
            if values is not None and set(values) <= taken.get(key, set()):
                raise SpecError(
                    f"it can take nothing: those before it take every {key} that it names", group, place
                )
        fields = one.given()
        if len(fields) == 1 and fields[0] in _SETS:
            taken.setdefault(fields[0], set()).update(getattr(one, fields[0]))
