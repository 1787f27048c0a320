"""Queue disciplines with the parameters of Linux's tc under their usual names.

Queues where packets wait: `waiting` (`Pfifo`, `Bfifo`, `FqCodel`), `early` (`Red`, `Gred`). Those with queues
below them are here: `Tbf`, `Prio`, `Drr`, `Htb`, `Cbq`. What they do is told in docs/models/queues.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .. import units
from . import structure
from .base import Count, Name, Rate, Size, SizeOrNone, Spec, SpecError, Time
from .early import Gred, Red
from .matching import Filter
from .waiting import Bfifo, FqCodel, Pfifo


class Tbf(Spec):
    """Token-bucket filter (tc-tbf): never more than `burst` beyond `rate`."""

    discipline: Literal["tbf"] = Field(default="tbf", description="Token-bucket filter.")
    rate: Rate = Field(description="Rate at which tokens come.")
    burst: Size = Field(description="Bytes that the bucket holds.")
    limit: Size | None = Field(default=None, description="Bytes that may wait; or latency, or a queue.")
    latency: Time | None = Field(
        default=None, description="The longest time that a packet may wait for tokens."
    )
    peakrate: Rate | None = Field(default=None, description="Rate of a second bucket, which limits bursts.")
    mtu: Size | None = Field(default=None, description="Bytes that the second bucket holds.")
    queue: Queue | None = Field(default=None, description="What waits [default: a bfifo of limit].")

    @model_validator(mode="after")
    def _check(self) -> Tbf:
        given = [key for key in ("limit", "latency", "queue") if getattr(self, key) is not None]
        if len(given) != 1:
            said = f"{' and '.join(given)} are given" if given else "none is given"
            raise SpecError(f"how much may wait is said by one of limit, latency and queue: {said}")
        if self.peakrate is not None and self.peakrate <= self.rate:
            raise SpecError(
                f"{units.format_rate(self.peakrate)} has to be above rate={units.format_rate(self.rate)}",
                "peakrate",
            )
        if (self.peakrate is None) != (self.mtu is None):
            raise SpecError("peakrate and mtu go together: the second bucket's rate and size")
        return self


class _Classful(Spec):
    """Filters and a default class."""

    filters: tuple[Filter, ...] = Field(
        default=(), description="Which packets go where; the first that takes a packet decides."
    )

    def _checked(self, classes: Mapping[str, Any], default: str | None) -> None:
        structure.check_some(classes, "classes")
        structure.check_filters(self.filters, classes, default)


class PrioClass(Spec):
    """A band of `Prio`."""

    queue: Queue | None = Field(default=None, description="What waits in it [default: a pfifo of 1000].")


class Prio(_Classful):
    """Strict priority (tc-prio): a band sends only when those before it have nothing to send."""

    discipline: Literal["prio"] = Field(default="prio", description="Strict priority.")
    classes: dict[Name, PrioClass] = Field(description="Bands, the most urgent first.")
    default: Name | None = Field(default=None, description="Where the others go [default: the last band].")

    @model_validator(mode="after")
    def _check(self) -> Prio:
        self._checked(self.classes, self.default)
        return self


class DrrClass(Spec):
    """A class of `Drr`."""

    quantum: Size | None = Field(default=None, description="Bytes of a turn [default: the longest frame].")
    queue: Queue | None = Field(default=None, description="What waits in it [default: a pfifo of 1000].")


class Drr(_Classful):
    """Deficit round robin (Shreedhar and Varghese 1995; tc-drr)."""

    discipline: Literal["drr"] = Field(default="drr", description="Deficit round robin.")
    classes: dict[Name, DrrClass] = Field(description="Classes, by name.")
    default: Name | None = Field(default=None, description="Where the others go [default: they are dropped].")

    @model_validator(mode="after")
    def _check(self) -> Drr:
        self._checked(self.classes, self.default)
        return self


class HtbClass(Spec):
    """A class of `Htb`."""

    parent: Name | None = Field(default=None, description="The class that it is in.")
    rate: Rate = Field(description="Rate that it has for certain.")
    ceil: Rate | None = Field(default=None, description="Rate up to which it may borrow [default: rate].")
    burst: Size | None = Field(
        default=None, description="Bytes that may go at once [default: as tc computes it]."
    )
    cburst: Size | None = Field(default=None, description="The same for ceil.")
    prio: int = Field(default=0, ge=0, le=7, description="0 borrows first.")
    quantum: Size | None = Field(
        default=None, description="Bytes of a turn when it borrows [default: rate / r2q]."
    )
    queue: Queue | None = Field(
        default=None, description="What waits; leaves only [default: a pfifo of 1000]."
    )

    @model_validator(mode="after")
    def _check(self) -> HtbClass:
        if self.ceil is not None and self.ceil < self.rate:
            raise SpecError(
                f"{units.format_rate(self.ceil)} has to be at least rate={units.format_rate(self.rate)}",
                "ceil",
            )
        return self


class Htb(_Classful):
    """Hierarchical token bucket (tc-htb): classes lend what they do not use to those in the same class."""

    discipline: Literal["htb"] = Field(default="htb", description="Hierarchical token bucket.")
    r2q: Count | None = Field(
        default=None, description="Rate by this is the quantum of classes [default: 10]."
    )
    classes: dict[Name, HtbClass] = Field(description="Classes, by name.")
    default: Name | None = Field(
        default=None, description="Where the others go [default: they go first, at the rate of the port]."
    )
    direct_qlen: Count | None = Field(
        default=None, description="Packets that may wait in that direct queue [default: 1000]."
    )

    @model_validator(mode="after")
    def _check(self) -> Htb:
        structure.check_tree(self.classes)
        self._checked(self.classes, self.default)
        return self


class CbqClass(Spec):
    """A class of `Cbq`."""

    parent: Name | None = Field(
        default=None, description="The class that it is in [default: the root class]."
    )
    rate: Rate = Field(description="Rate allotted to it.")
    prio: int = Field(default=8, ge=1, le=8, description="1 is asked first.")
    weight: Rate | None = Field(default=None, description="Weight in its round [default: its rate].")
    allot: Size | None = Field(
        default=None, description="Bytes of a round [default: as the discipline says]."
    )
    bounded: bool = Field(default=False, description="It never borrows.")
    isolated: bool = Field(default=False, description="It never lends.")
    maxburst: Count = Field(default=20, description="Packets sent at once after idleness.")
    minburst: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Packets sent at once after having waited."
    )
    minidle: Time | None = Field(
        default=None, description="How far the average idle time may fall below zero."
    )
    avpkt: Size | None = Field(
        default=None, description="Average size of packets [default: as the discipline says]."
    )
    ewma: int | None = Field(
        default=None,
        ge=1,
        le=31,
        description="log2 of the length of the average [default: as the discipline says].",
    )
    queue: Queue | None = Field(
        default=None, description="What waits; leaves only [default: a pfifo of 1000]."
    )


class Cbq(_Classful):
    """Class-based queueing (Floyd and Jacobson 1995; tc-cbq, as Linux had it until it was removed)."""

    discipline: Literal["cbq"] = Field(default="cbq", description="Class-based queueing.")
    bandwidth: Rate | None = Field(
        default=None, description="What the device does [default: the port's rate]."
    )
    avpkt: Size = Field(description="Average size of packets.")
    mpu: SizeOrNone | None = Field(
        default=None, description="Least size that a packet counts for [default: 0]."
    )
    ewma: int | None = Field(
        default=None, ge=1, le=31, description="log2 of the length of averages [default: 5]."
    )
    allot: Size | None = Field(
        default=None, description="Bytes of a round, by default for classes [default: 1514]."
    )
    classes: dict[Name, CbqClass] = Field(description="Classes, by name.")
    default: Name | None = Field(default=None, description="Where the others go [default: they are dropped].")

    @model_validator(mode="after")
    def _check(self) -> Cbq:
        structure.check_tree(self.classes)
        self._checked(self.classes, self.default)
        return self


Queue = Annotated[
    Pfifo | Bfifo | Tbf | Prio | Red | Gred | Cbq | Htb | Drr | FqCodel, Field(discriminator="discipline")
]
"""Any discipline."""

DISCIPLINES = (Pfifo, Bfifo, Tbf, Prio, Red, Gred, Cbq, Htb, Drr, FqCodel)

for _made in (Tbf, PrioClass, Prio, DrrClass, Drr, HtbClass, Htb, CbqClass, Cbq):
    _made.model_rebuild()
