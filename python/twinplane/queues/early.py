"""Queues that drop or mark before they are full: RED, and a RED queue per drop precedence."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from .. import units
from ..errors import TwinplaneError
from . import phb, structure
from .base import Name, Ports, Rate, Size, Spec, SpecError
from .matching import Behaviours


def _burst(value: Any) -> Any:
    """Packets from a number, bytes from a text with a unit: kept as they are until avpkt is known."""
    if isinstance(value, str) and not value.strip().isdecimal():
        try:
            return -units.size_bytes(value, "burst")
        except TwinplaneError as error:
            raise ValueError(str(error).removeprefix("burst ")) from None
    try:
        return units.size_bytes(value, "burst")
    except TwinplaneError as error:
        raise ValueError(str(error).removeprefix("burst ")) from None


Burst = Annotated[
    Any,
    BeforeValidator(_burst),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]}),
]


class _Early(Spec):
    """Parameters of random early detection."""

    limit: Size | None = Field(default=None, description="Bytes that may wait, whatever the average is.")
    min: Size | None = Field(
        default=None, description="Average queue at which dropping begins [default: max / 3]."
    )
    max: Size | None = Field(
        default=None, description="Average queue at which `probability` is reached [default: limit / 4]."
    )
    avpkt: Size | None = Field(default=None, description="Average size of packets [default: 1000].")
    burst: Burst | None = Field(
        default=None,
        description="Packets that may come at once, or bytes with a unit (divided by avpkt, rounded up)"
        " [default: (2 min + max) / (3 avpkt)].",
    )
    probability: float | None = Field(
        default=None, gt=0, le=1, description="Greatest probability of an early drop [default: 0.02]."
    )
    bandwidth: Rate | None = Field(
        default=None,
        description="Rate at which an idle queue drains, for its average [default: that of the port].",
    )
    ecn: bool | None = Field(default=None, description="Mark packets of ECN-capable transports (RFC 3168).")
    harddrop: bool | None = Field(default=None, description="With ecn, drop beyond max nevertheless.")

    def early(self) -> dict[str, Any]:
        """The parameters as the core takes them, with tc's defaults worked out."""
        if self.limit is None:
            raise SpecError("limit is missing: bytes that may wait, such as 120 kB", "limit")
        most = self.max if self.max is not None else self.min * 3 if self.min is not None else self.limit // 4
        least = self.min if self.min is not None else most // 3
        avpkt = 1000 if self.avpkt is None else self.avpkt
        if not 0 < least < most:
            raise SpecError(f"thresholds out of order: min={least} has to be below max={most}", "min")
        if most > self.limit:
            raise SpecError(
                f"thresholds out of order: max={most} has to be at most limit={self.limit}", "max"
            )
        burst = -(-(2 * least + most) // (3 * avpkt)) if self.burst is None else self.burst
        if burst < 0:
            burst = -(burst // avpkt)
        if burst * avpkt < least:
            # The average would have passed min before the burst is over: there is no weight for it.
            raise SpecError(
                f"{burst} packets of {avpkt} bytes are less than min={least}: at least"
                f" {-(-least // avpkt)} packets are needed",
                "burst",
            )
        found = {"limit": self.limit, "min": least, "max": most, "avpkt": avpkt, "burst": burst}
        for key in ("probability", "bandwidth", "ecn", "harddrop"):
            if getattr(self, key) is not None:
                found[key] = getattr(self, key)
        return found


class Red(_Early):
    """Random early detection (Floyd and Jacobson 1993; tc-red)."""

    discipline: Literal["red"] = Field(default="red", description="Random early detection.")

    @model_validator(mode="after")
    def _check(self) -> Red:
        self.early()
        return self

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        return {"discipline": self.discipline, **self.early()}


class GredQueue(_Early):
    """A virtual queue of `Gred`; what is not said is as the discipline says."""

    phb: Behaviours | None = Field(
        default=None,
        description="PHBs whose packets it takes [default: the one that it is named after].",
    )
    prio: int = Field(default=8, ge=1, le=16, description="Priority with grio, 1 is the best.")


class Gred(_Early):
    """Generic RED (tc-gred): a virtual queue for each drop precedence, all in one real queue."""

    discipline: Literal["gred"] = Field(
        default="gred", description="RED with a virtual queue per drop precedence."
    )
    grio: bool = Field(
        default=False, description="RIO: the average of a virtual queue counts those of better priority too."
    )
    queues: dict[Name, GredQueue] = Field(description="The virtual queues, by name.")
    default: Name | None = Field(
        default=None,
        description="The virtual queue of packets that belong to none [default: they are dropped].",
    )

    @model_validator(mode="after")
    def _check(self) -> Gred:
        structure.check_some(self.queues, "queues")
        taken: dict[int, str] = {}
        for name in self.queues:
            for code in self._behaviours(name):
                if code in taken:
                    raise SpecError(
                        f"{phb.name_of(code)} belongs to '{taken[code]}' already", "queues", name, "phb"
                    )
                taken[code] = name
            self._queue(name)
        if self.limit is None:
            raise SpecError("limit is missing: bytes that may wait in all virtual queues together", "limit")
        structure.check_known(self.default, self.queues, "queue", ("default",))
        return self

    def _behaviours(self, name: str) -> tuple[int, ...]:
        given = self.queues[name].phb
        if given is not None:
            return tuple(given)
        try:
            return phb.behaviours(name)
        except ValueError:
            raise SpecError(
                "phb is missing: which behaviours it takes (or name the queue after one)", "queues", name
            ) from None

    def _queue(self, name: str) -> dict[str, Any]:
        mine = self.queues[name]
        keys = [key for key in _Early.model_fields if getattr(mine, key) is None]
        merged = mine.model_copy(update={key: getattr(self, key) for key in keys})
        try:
            return merged.early()
        except SpecError as error:
            raise SpecError(str(error), "queues", name, *error.place) from None

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        queues = {
            name: {"phb": phb.names(self._behaviours(name)), "prio": queue.prio, **self._queue(name)}
            for name, queue in self.queues.items()
        }
        found = {"discipline": "gred", "limit": self.limit, "grio": self.grio, "queues": queues}
        return found if self.default is None else {**found, "default": self.default}
