"""The fields of a device profile; the same names as in the core."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class Forwarding(_Section):
    """Timing of the forwarding plane."""

    latency_ns: float = Field(0.0, ge=0)
    latency_ns_per_byte: float = Field(0.0, ge=0)
    packets_per_s_max: float | None = Field(None, gt=0)
    packet_us: float = Field(0.0, ge=0)
    lookup_us: float = Field(0.0, ge=0)
    copy_us: float = Field(0.0, ge=0)


class Cost(_Section):
    """How long handling a message takes: `us`, and `per_state_ns` for each state that the protocol holds."""

    us: float = Field(0.0, ge=0)
    per_state_ns: float = Field(0.0, ge=0)


class Control(_Section):
    """Timing and limits of the control processor."""

    path_us: float = Field(0.0, ge=0)
    resv_us: float = Field(0.0, ge=0)
    tear_us: float = Field(0.0, ge=0)
    other_us: float = Field(0.0, ge=0)
    per_state_ns: float = Field(0.0, ge=0)
    costs: dict[str, dict[str, Cost]] = Field(default_factory=dict)
    queue_messages: int | None = Field(None, ge=1)
    alert_queue_messages: int | None = Field(None, ge=1)


class WriteCost(_Section):
    """How long an operation on a table takes: `us`, and `per_entry_ns` for each entry in the table."""

    us: float = Field(0.0, ge=0)
    per_entry_ns: float = Field(0.0, ge=0)


class Tables(_Section):
    """Timing, limits and failures of table writes."""

    write_us: float = Field(0.0, ge=0)
    per_entry_ns: float = Field(0.0, ge=0)
    costs: dict[
        Literal["ports", "neighbors", "groups", "replications", "ilm", "ftn", "filters", "fib"], WriteCost
    ] = Field(default_factory=dict)
    labels_max: int | None = Field(None, ge=0)
    prefixes_max: int | None = Field(None, ge=0)
    filters_max: int | None = Field(None, ge=0)
    groups_max: int | None = Field(None, ge=0)
    replications_max: int | None = Field(None, ge=0)
    failures: float = Field(0.0, ge=0, le=1)


class DeviceProfile(_Section):
    """A device profile. What is absent costs nothing and has no limit."""

    name: str
    description: str = ""
    forwarding: Forwarding = Field(default_factory=lambda: Forwarding.model_validate({}))
    control: Control = Field(default_factory=lambda: Control.model_validate({}))
    tables: Tables = Field(default_factory=lambda: Tables.model_validate({}))
    buffer_bytes: int | None = Field(None, ge=1)
    clock_offset_ppb: int = 0

    @classmethod
    def every_field(cls) -> list[str]:
        """The names of all fields of all sections."""
        sections = (cls, Forwarding, Control, Cost, Tables, WriteCost)
        return [name for section in sections for name in section.model_fields]
