"""A switch profile as the experiment reads it: values as numbers, and the figures that they follow from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ...errors import TwinplaneError
from ...profiles import switches
from ...units import seconds, span_ps

DEVICES = ("netfpga", "ezappliance")
"""The switches of the study that profiles may be of."""
TIMES = (
    "pipeline",
    "pipeline_per_byte",
    "packet_in",
    "packet_in_per_byte",
    "packet_in_every",
    "packet_out",
    "packet_out_per_byte",
    "socket_stall",
    "socket_linger",
    "echo",
    "message",
    "remote_call",
    "entry_write",
    "entry_write_per_entry",
)
COUNTS = ("packet_in_burst", "packet_in_queue", "reset_bytes")


@dataclass(frozen=True)
class Profile:
    """What it says, times in seconds."""

    values: Mapping[str, float]
    device: str | None = None
    """Of which switch of the study it is; None: of another, about which nothing is published here."""
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By value: the published figures that it follows from."""
    between: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By value: between which ends any other would do as well."""

    def __getitem__(self, key: str) -> float:
        """A value."""
        return self.values[key]

    def follows(self, figure: str) -> list[str]:
        """The values that follow from a figure."""
        return [value for value, figures in self.rows.items() if figure in figures]


@cache
def read(name: str) -> Profile:
    """A profile by its name or file; `TwinplaneError` says what is wrong with it."""
    found = switches.resolve(name)
    values = {key: _time(key, found) for key in TIMES}
    values |= {key: _count(key, found) for key in COUNTS}
    fit = found.get("fit", {})
    if not isinstance(fit, Mapping):
        raise TwinplaneError("profile: fit is a table, with device and rows")
    if unknown := set(fit) - {"device", "rows", "between"}:
        raise TwinplaneError(f"profile: fit has no {min(unknown)} (device, rows and between)")
    device = fit.get("device")
    if device is None and fit:
        raise TwinplaneError(f"profile: fit: device is missing, one of {', '.join(DEVICES)}")
    if device is not None and device not in DEVICES:
        raise TwinplaneError(f"profile: fit: device={device}: one of {', '.join(DEVICES)}")
    rows = {key: tuple(figures) for key, figures in _table(fit, "rows", (str, str)).items()}
    between = {key: (float(a), float(b)) for key, (a, b) in _table(fit, "between", (int, int)).items()}
    return Profile(values, device, rows, between)


def _missing(key: str, such: str) -> TwinplaneError:
    return TwinplaneError(f"profile: {key} is missing, such as {such}")


def _time(key: str, found: Mapping[str, Any]) -> float:
    value = found.get(key)
    if value is None:
        raise _missing(key, "50 us")
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise TwinplaneError(f"profile: {key}={value}: a time, such as 50 us")
    return seconds(span_ps(value, f"profile: {key}"))


def _count(key: str, found: Mapping[str, Any]) -> float:
    value = found.get(key)
    if value is None:
        raise _missing(key, "0")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TwinplaneError(f"profile: {key}={value}: a whole number from 0 on")
    return value


def _table(fit: Mapping[str, Any], key: str, kinds: tuple[type, type]) -> Mapping[str, list[Any]]:
    """One of lists, by values of the profile; `kinds` of its members, of which numbers are two."""
    found = fit.get(key, {})
    if not isinstance(found, Mapping):
        raise TwinplaneError(f"profile: fit: {key} is a table")
    for value, members in found.items():
        if value not in (*TIMES, *COUNTS):
            raise TwinplaneError(f"profile: fit: {key}: {value} is no value of a profile")
        is_list = isinstance(members, list) and all(isinstance(one, kinds[0]) for one in members)
        if not is_list or (kinds[0] is int and len(members) != 2):
            what = "two numbers" if kinds[0] is int else "names of figures"
            raise TwinplaneError(f"profile: fit: {key}: {value} is a list of {what}")
    return found
