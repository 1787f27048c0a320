"""What a run will take, in words: time, memory, and size of results, with what each lies between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..units import format_time
from .growth import Range


@dataclass(frozen=True)
class Estimate:
    """What a run will take, from a trial.

    Each figure is a `Range` with `low`, `value` and `high`. `time_s` are seconds if nothing else keeps the
    processors, `processor_s` seconds of processors for all of it, `memory` the most bytes of memory at a
    time, `results` bytes of what is left in the end, and `events` those of the engine.
    """

    time_s: Range
    processor_s: Range
    memory: Range
    results: Range
    events: Range
    reached: float
    """How much of the run the trial has seen, from 0 to 1 of its events."""
    trial_s: float
    """Seconds of the processor that the trial took."""
    what: str = "results"
    """What `results` are."""

    def as_dict(self) -> dict[str, Any]:
        """For a program to read."""
        ranges = ("time_s", "processor_s", "memory", "results", "events")
        found: dict[str, Any] = {f"{key}": vars(getattr(self, key)) for key in ranges}
        return {**found, "reached": self.reached, "trial_s": self.trial_s}

    def __str__(self) -> str:
        """In one line."""
        seen = "the whole run" if self.reached >= 1.0 else f"{self.reached:.1%} of the events"
        return (
            f"about {spanned(self.time_s, seconds)}, {spanned(self.memory, of_bytes)} of memory,"
            f" {spanned(self.results, of_bytes)} of {self.what}"
            f" (a trial of {seconds(self.trial_s)} saw {seen})"
        )


def spanned(found: Range, form: Any) -> str:
    """A figure with what it lies between, if that says something."""
    low, value, high = (form(one) for one in (found.low, found.value, found.high))
    return str(value) if low == high else f"{value} ({low} to {high})"


def seconds(value: float) -> str:
    """A time for people: two digits that count, minutes and hours where they are."""
    if value >= 7200:
        return f"{value / 3600:.1f} h"
    if value >= 120:
        return f"{value / 60:.1f} min"
    return f"{value:.0f} s" if value >= 10 else format_time(value, 2)


def of_bytes(value: float) -> str:
    """Bytes for people."""
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= size:
            return f"{value / size:.{0 if value >= 10 * size else 1}f} {unit}"
    return f"{value:.0f} B"


def read(found: Mapping[str, Any]) -> Estimate:
    """An estimate of what `as_dict` gave."""
    said: dict[str, Any] = {
        key: Range(**value) if isinstance(value, Mapping) else value for key, value in found.items()
    }
    return Estimate(**said)
