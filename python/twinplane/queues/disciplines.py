"""Queue disciplines with the parameters of Linux's tc under their usual names.

Queues where packets wait: `Pfifo`, `Bfifo`, `Red`, `Gred`, `FqCodel`. Those with queues below them: `Tbf`,
`Prio`, `Drr`, `Htb`, `Cbq`. What they do is told in docs/models/queues.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from .. import units
from ..errors import TwinplaneError
from . import phb, structure
from .base import Name, Ports, Rate, Size, Spec, SpecError, Time
from .matching import Behaviours, Filter

Count = Annotated[int, Field(ge=1, lt=1 << 32)]


class Pfifo(Spec):
    """First in, first out, limited in packets (tc-pfifo)."""

    discipline: Literal["pfifo"] = Field(
        default="pfifo", description="First in, first out, limited in packets."
    )
    limit: Count = Field(default=1000, description="Packets that may wait.")


class Bfifo(Spec):
    """First in, first out, limited in bytes (tc-bfifo)."""

    KEYS: ClassVar[Mapping[str, str]] = {"limit": "limit_bytes"}

    discipline: Literal["bfifo"] = Field(
        default="bfifo", description="First in, first out, limited in bytes."
    )
    limit: Size = Field(description="Bytes that may wait.")


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

    KEYS: ClassVar[Mapping[str, str]] = {
        "limit": "limit_bytes",
        "min": "min_bytes",
        "max": "max_bytes",
        "avpkt": "avpkt_bytes",
        "burst": "burst_packets",
        "bandwidth": "bandwidth_bps",
        "harddrop": "hard_drop",
    }

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
        return {self.KEYS.get(key, key): value for key, value in found.items()}


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
        description="Behaviours whose packets it takes [default: the one that it is named after].",
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
        queues = [
            {
                "name": name,
                "phb": phb.names(self._behaviours(name)),
                "priority": queue.prio,
                "red": self._queue(name),
            }
            for name, queue in self.queues.items()
        ]
        found = {"discipline": "gred", "limit_bytes": self.limit, "rio": self.grio, "queues": queues}
        return found if self.default is None else {**found, "default": self.default}


class FqCodel(Spec):
    """Fair queueing with CoDel (RFC 8290; tc-fq_codel)."""

    KEYS: ClassVar[Mapping[str, str]] = {
        "quantum": "quantum_bytes",
        "target": "target_ps",
        "interval": "interval_ps",
        "ce_threshold": "ce_threshold_ps",
        "memory_limit": "memory_bytes",
    }
    TIMES: ClassVar[frozenset[str]] = frozenset(("target", "interval", "ce_threshold"))

    discipline: Literal["fq-codel", "fq_codel"] = Field(
        default="fq-codel", description="Fair queueing with CoDel."
    )
    limit: Count | None = Field(default=None, description="Packets that may wait in all [default: 10240].")
    flows: Annotated[int, Field(ge=1, le=65536)] | None = Field(
        default=None, description="Queues that flows are hashed to [default: 1024]."
    )
    quantum: Size | None = Field(default=None, description="Bytes of a turn [default: the longest frame].")
    target: Time | None = Field(
        default=None, description="Time in the queue that is acceptable [default: 5 ms]."
    )
    interval: Time | None = Field(
        default=None, description="For how long it may be exceeded [default: 100 ms]."
    )
    ecn: bool | None = Field(
        default=None, description="Mark packets of ECN-capable transports [default: yes]."
    )
    ce_threshold: Time | None = Field(default=None, description="Mark whatever has waited for longer.")
    memory_limit: Size | None = Field(
        default=None, description="Bytes that may wait in all [default: 32 MiB]."
    )

    @model_validator(mode="after")
    def _check(self) -> FqCodel:
        target = units.span_ps("5 ms" if self.target is None else self.target)
        interval = units.span_ps("100 ms" if self.interval is None else self.interval)
        if target >= interval:
            raise SpecError("target has to be below interval (RFC 8289, 4.3: 5 to 10 % of it)", "target")
        return self

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        return {**super().lowered(ports), "discipline": "fq-codel"}


class Tbf(Spec):
    """Token-bucket filter (tc-tbf): never more than `burst` beyond `rate`."""

    KEYS: ClassVar[Mapping[str, str]] = {
        "rate": "rate_bps",
        "burst": "burst_bytes",
        "limit": "limit_bytes",
        "peakrate": "peak_bps",
        "mtu": "peak_burst_bytes",
    }
    TIMES: ClassVar[frozenset[str]] = frozenset(("latency",))

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

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it; a latency becomes a limit, as tc does it."""
        found = super().lowered(ports)
        if found.pop("latency", None) is not None:
            span = units.span_ps(self.latency or 0)
            limits = [self.rate * span // (8 * units.PS_PER_S) + self.burst]
            if self.peakrate is not None:
                limits.append(self.peakrate * span // (8 * units.PS_PER_S) + self.mtu)
            found["limit_bytes"] = min(limits)
        return found


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

    KEYS: ClassVar[Mapping[str, str]] = {"quantum": "quantum_bytes"}

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

    KEYS: ClassVar[Mapping[str, str]] = {
        "rate": "rate_bps",
        "ceil": "ceil_bps",
        "burst": "burst_bytes",
        "cburst": "cburst_bytes",
        "prio": "priority",
        "quantum": "quantum_bytes",
    }

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

    KEYS: ClassVar[Mapping[str, str]] = {"direct_qlen": "direct_packets"}

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

    KEYS: ClassVar[Mapping[str, str]] = {
        "rate": "rate_bps",
        "prio": "priority",
        "allot": "allot_bytes",
        "maxburst": "maxburst_packets",
        "minburst": "minburst_packets",
        "avpkt": "avpkt_bytes",
        "ewma": "ewma_log",
    }
    TIMES: ClassVar[frozenset[str]] = frozenset(("minidle",))

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

    KEYS: ClassVar[Mapping[str, str]] = {
        "bandwidth": "bandwidth_bps",
        "avpkt": "avpkt_bytes",
        "mpu": "mpu_bytes",
        "ewma": "ewma_log",
        "allot": "allot_bytes",
    }

    discipline: Literal["cbq"] = Field(default="cbq", description="Class-based queueing.")
    bandwidth: Rate | None = Field(
        default=None, description="What the device does [default: the port's rate]."
    )
    avpkt: Size = Field(description="Average size of packets.")
    mpu: Size | None = Field(default=None, description="Least size that a packet counts for [default: 0].")
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
