"""Traffic conditioning (RFC 2475, 2.3.3): which packets are metered, and what becomes of each colour."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from ..units import format_rate
from . import phb
from .base import Name, Ports, Rate, Size, SizeOrNone, Spec, SpecError
from .matching import Match, check_order


class TokenBucket(Spec):
    """A token bucket, with a second one for the peak rate if that is given: green conforms, red exceeds."""

    kind: Literal["token-bucket"] = Field(default="token-bucket", description="Green conforms, red exceeds.")
    rate: Rate = Field(description="Rate at which tokens come.")
    burst: Size = Field(description="Bytes that the bucket holds.")
    peakrate: Rate | None = Field(default=None, description="Rate of a second bucket, which limits bursts.")
    mtu: Size | None = Field(
        default=None, description="Bytes that the second bucket holds [default: one packet]."
    )

    @model_validator(mode="after")
    def _check(self) -> TokenBucket:
        if self.peakrate is not None and self.peakrate <= self.rate:
            raise SpecError(
                f"{format_rate(self.peakrate)} has to be above rate={format_rate(self.rate)}", "peakrate"
            )
        if self.mtu is not None and self.peakrate is None:
            raise SpecError("it is the size of the peak rate's bucket: peakrate is missing", "mtu")
        return self


class SingleRate(Spec):
    """The single-rate three-colour marker (RFC 2697)."""

    kind: Literal["single-rate"] = Field(
        default="single-rate", description="Three colours by one rate (RFC 2697)."
    )
    cir: Rate = Field(description="Committed information rate.")
    cbs: SizeOrNone = Field(description="Committed burst size; 0 if none is green.")
    ebs: SizeOrNone = Field(description="Excess burst size; 0 if none is yellow.")
    aware: bool = Field(default=False, description="Take the colour that a packet has (its drop precedence).")

    @model_validator(mode="after")
    def _check(self) -> SingleRate:
        # RFC 2697, 2: at least one of the two has to be larger than 0.
        if self.cbs == 0 and self.ebs == 0:
            raise SpecError("cbs and ebs are both 0: one of them has to be above zero", "cbs")
        return self


class TwoRate(Spec):
    """The two-rate three-colour marker (RFC 2698)."""

    kind: Literal["two-rate"] = Field(
        default="two-rate", description="Three colours by two rates (RFC 2698)."
    )
    cir: Rate = Field(description="Committed information rate.")
    cbs: Size = Field(description="Committed burst size.")
    pir: Rate = Field(description="Peak information rate.")
    pbs: Size = Field(description="Peak burst size.")
    aware: bool = Field(default=False, description="Take the colour that a packet has (its drop precedence).")

    @model_validator(mode="after")
    def _check(self) -> TwoRate:
        # RFC 2698, 2: the PIR must be equal to or greater than the CIR.
        if self.pir < self.cir:
            raise SpecError(f"{format_rate(self.pir)} has to be at least cir={format_rate(self.cir)}", "pir")
        return self


Meter = Annotated[TokenBucket | SingleRate | TwoRate, Field(discriminator="kind")]
"""Any meter."""


REMARK = re.compile(
    r"remark (?P<phb>.+?)(?: (?:as )?tc (?P<tc>\S+?))?(?P<below>,? below labels(?: too)?)?", re.IGNORECASE
)
"""A PHB, perhaps the TC that stands for it, perhaps in the packet below the labels as well."""
EARLIER = re.compile(r"remark .+ exp \S+.*", re.IGNORECASE)
"""The same with the name that TC had before RFC 5462."""


def _lowered(action: str) -> dict[str, Any]:
    """An action as the core takes it."""
    text = " ".join(action.split())
    if text in ("pass", "drop"):
        return {"kind": text}
    word, _, rest = text.partition(" ")
    if word == "mark" and rest.isdecimal() and int(rest) < 1 << 32:
        return {"kind": word, "mark": int(rest)}
    if EARLIER.fullmatch(text):
        raise ValueError(f"{action!r}: 'as EXP' is now called 'as TC'")
    if (said := REMARK.fullmatch(text)) is None:
        raise ValueError(
            f"{action!r} is no action: pass, drop, 'remark PHB' such as 'remark AF12' (or 'remark AF12 as TC"
            " 3', 'remark AF12 below labels'), or 'mark NUMBER'"
        )
    found: dict[str, Any] = {"kind": "remark", "phb": phb.name_of(phb.behaviour(said["phb"]))}
    if said["tc"] is not None:
        if said["tc"] not in tuple("01234567"):
            raise ValueError(f"{action!r}: the TC of a label is 0 to 7")
        found["tc"] = int(said["tc"])
    return found if said["below"] is None else {**found, "below_labels": True}


def _action(value: str) -> str:
    found = _lowered(value)
    if found["kind"] == "mark":
        return f"mark {found['mark']}"
    if found["kind"] != "remark":
        return str(found["kind"])
    tc = f" as TC {found['tc']}" if "tc" in found else ""
    return f"remark {found['phb']}{tc}{' below labels' if found.get('below_labels') else ''}"


Action = Annotated[str, AfterValidator(_action)]
"""``pass``, ``drop``, ``remark AF12``, ``remark AF12 as TC 3 below labels`` or ``mark 7``."""


class Rule(Match):
    """Packets, their meter, and what becomes of each colour; without a meter every packet is green.

    An action is ``"pass"``, ``"drop"``, ``"remark AF12"`` (the code point of an IP packet, the TC of a
    labelled one) or ``"mark 7"`` (for filters by `mark`). Of a labelled packet, ``"remark AF12 as TC 3"``
    says which TC (by default those of the LSP's map before an egress queue, else of the node's), and
    ``"remark AF12 below labels"`` writes the code point of the IP packet as well, which then keeps the
    PHB when it leaves the LSP.
    """

    name: Name = Field(description="Its name, for the counters.")
    meter: Meter | None = Field(
        default=None, description="What tells the colour [default: none, all are green]."
    )
    green: Action = Field(default="pass", description="What becomes of packets in profile.")
    yellow: Action = Field(default="pass", description="What becomes of those between.")
    red: Action = Field(default="drop", description="What becomes of those out of profile.")

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        meter = None if self.meter is None else self.meter.lowered(ports)
        actions = {key: getattr(self, key) for key in ("green", "yellow", "red")}
        return {"name": self.name, **self.match(ports), "meter": meter, **actions}


class Accounting(Spec):
    """Which bytes of a packet count; published results depend on it.

    `layer` is ``ip`` (the IP packet), ``network`` (labels too), ``link`` (and the Ethernet header: what Linux
    counts), ``frame`` (with padding and frame check sequence) or ``wire`` (with preamble and gap).
    `overhead` is added to each packet (at least -64, as tc-cake has it), and none counts for less than
    `minimum` (tc-stab's mpu).
    """

    layer: Literal["ip", "network", "link", "frame", "wire"] = Field(
        default="link",
        description="ip, network (labels too), link (as Linux), frame (with FCS) or wire (with gaps).",
    )
    overhead: int = Field(default=0, ge=-64, le=65535, description="Bytes added to each packet, from -64 on.")
    minimum: int = Field(default=0, ge=0, le=65535, description="The least that a packet counts for.")


class Conditioner(Spec):
    """Rules in order: the first that takes a packet decides; packets that none takes pass."""

    accounting: Accounting = Field(
        default_factory=lambda: Accounting(), description="What packets count for."
    )
    rules: tuple[Rule, ...] = Field(description="Rules in order.")

    @model_validator(mode="after")
    def _check(self) -> Conditioner:
        if not self.rules:
            raise SpecError("there is none: at least one is needed", "rules")
        names: set[str] = set()
        for place, rule in enumerate(self.rules):
            if rule.name in names:
                raise SpecError(f"another rule is called '{rule.name}'", "rules", place, "name")
            names.add(rule.name)
        check_order(self.rules, "rules", "rule")
        return self
