"""Queues where packets wait in the order of their arrival, all together or by flow."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .. import units
from .base import Count, Ports, Size, Spec, SpecError, Time


class Pfifo(Spec):
    """First in, first out, limited in packets (tc-pfifo)."""

    discipline: Literal["pfifo"] = Field(
        default="pfifo", description="First in, first out, limited in packets."
    )
    limit: Count = Field(default=1000, description="Packets that may wait.")


class Bfifo(Spec):
    """First in, first out, limited in bytes (tc-bfifo)."""

    discipline: Literal["bfifo"] = Field(
        default="bfifo", description="First in, first out, limited in bytes."
    )
    limit: Size = Field(description="Bytes that may wait.")


class FqCodel(Spec):
    """Fair queueing with CoDel (RFC 8290; tc-fq_codel)."""

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
