"""The rows of the study: what is tested, with what, and what is published of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

from .parameters import BEYOND, OpenFlowParameters

QUICK_SIZES = (100, 500, 1500)
QUICK_FLOWS = (1, 20, 50, 70, 100)
FLOWS = (1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
MAXIMUM = (1, 20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 250, 300, 400, 500, 750, 1000)
HELD: dict[str, dict[str, tuple[int, ...]]] = {
    "packet-in": {"netfpga": (250, 500, 1000), "ezappliance": (100,)},
    "packet-out": {"ezappliance": (250,)},
}
"""Rates whose rows are published and not given: they are predicted."""
EXPIRING = (1, 10, 100, 1000)
"""Beyond the study: so many entries go by themselves at once."""
ASKING = (100.0, 500.0)
"""Beyond the study: rates, in Mbit/s, at which it is asked what is counted; at each stamped packet."""
HELD_FLOWS = 150
"""From so many entries on the appliance's flow maximum is not given."""
ECHO_RATE, ECHO_SIZE = 3.0, 1500
"""Of echo requests: parameter 3, by the rule for packets."""
STREAM = {
    ("netfpga", 1): (200.0, 400),
    ("netfpga", 10): (30.0, 600),
    ("netfpga", 0): (60.0, 400),
    ("ezappliance", 0): (30.0, 400),
}
"""Rate and size of the stream of flow_add, where they are given; 0: of all other numbers of entries. Those of
the card are a reading: an interval of the stream is about 51 ms in its rows from 20 to 90."""


@dataclass(frozen=True)
class Figures:
    """What is published of a row, in seconds."""

    mean: float | None
    median: float | None
    sd: float | None
    share: float | None
    """Received by sent."""
    packets: int | None


@dataclass(frozen=True)
class Row:
    """One line of a published table, or one that is to be predicted."""

    part: str
    rate: float
    """In Mbit/s, as printed."""
    size: int
    flows: int = 1
    published: Figures | None = None
    held: bool = False
    """Is it published and not given?"""
    device: str = "netfpga"
    in_words: bool = False
    """Is it said of it in words, and nothing else, that the connection is reset?"""

    @property
    def name(self) -> str:
        """By which metrics begin."""
        what = f"{self.flows}" if self.part.startswith("flow") else f"{self.rate:g}-{self.size}"
        return f"{self.part}-{what}"

    @property
    def used_rate(self) -> float:
        """The rate that packets are sent at, in Mbit/s.

        Counts of the card's packet_out at 100 Mbit/s are those of 250: 312 packets of 1500 bytes are what
        14.3 s have room for then, as in all other rows.
        """
        wrong = (self.part, self.device, self.rate) == ("packet-out", "netfpga", 100)
        return 250.0 if wrong else self.rate

    @property
    def interval_s(self) -> float:
        """Between two stamped packets: a thousand gaps, by the rule of the study."""
        return self.size * 8 / (self.used_rate * 1.048576) / 1e3

    def duration_s(self, durations: str) -> float:
        """How long packets are sent."""
        if self.part.startswith("flow"):
            return 120.0
        if durations == "text":
            return 30.0 if self.part == "data" else 60.0
        return 14.3 if (self.part, self.device) == ("packet-out", "netfpga") else 30.0


@cache
def published() -> dict[str, Any]:
    """The figures of the study."""
    return tomllib.loads((Path(__file__).parent / "published.toml").read_text())


def _value(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _figures(mean: float, median: float, sd: float, share: float, packets: float) -> Figures:
    times = [None if isnan(value) else value / 1e6 for value in (mean, median, sd)]
    count = _value(packets)
    return Figures(times[0], times[1], times[2], _value(share), None if count is None else int(count))


def _packets(part: str, key: str, device: str) -> list[Row]:
    return [
        Row(part, float(rate), size, published=_figures(*rest), device=device)
        for rate, size, *rest in published()[key][device]
    ]


def _held(part: str, key: str, device: str) -> list[Row]:
    """Those that are kept back have the sizes of those that are given."""
    rates = HELD.get(part, {}).get(device, ())
    sizes = sorted({int(size) for _, size, *_ in published()[key][device]})
    return [Row(part, float(rate), size, held=True, device=device) for rate in rates for size in sizes]


def _in_words(device: str) -> list[Row]:
    return [
        Row("packet-out", float(said["rate"]), size, device=device, in_words=True)
        for said in published()["words"]
        for size in said["sizes"]
        if said["device"] == device
    ]


def _control(device: str) -> Row:
    for name, mean, median, sd, packets in published()["control"]["rows"]:
        if name == device:
            found = _figures(mean, median, sd, 1.0, packets)
            return Row("control", ECHO_RATE, ECHO_SIZE, published=found, device=device)
    return Row("control", ECHO_RATE, ECHO_SIZE, device=device)


def _stream(device: str, flows: int) -> tuple[float, int]:
    return STREAM.get((device, flows), STREAM[device, 0])


def _additions(device: str) -> list[Row]:
    found = []
    for flows, mean, median, sd, *stream in published()["flow_add"][device]:
        rate, size = stream or _stream(device, flows)
        figures = _figures(mean, median, sd, float("nan"), float("nan"))
        found.append(Row("flow-add", float(rate), size, flows, figures, device=device))
    return found


def _changes(device: str) -> list[Row]:
    return [Row("flow-mod", row.rate, row.size, row.flows, device=device) for row in _additions(device)]


def _maximum(device: str) -> list[Row]:
    nan = float("nan")
    known: dict[int, float] = dict(published()["flow_maximum"][device])
    rate, size = STREAM[device, 0]
    found = []
    for flows in MAXIMUM:
        figures = _figures(known[flows], nan, nan, nan, nan) if flows in known else None
        held = device == "ezappliance" and flows >= HELD_FLOWS
        found.append(Row("flow-maximum", rate, size, flows, figures, held, device))
    return found


def _expiry(device: str) -> list[Row]:
    rate, size = STREAM[device, 0]
    return [Row("flow-expiry", rate, size, flows, device=device) for flows in EXPIRING]


def _statistics(device: str) -> list[Row]:
    sizes = sorted({int(size) for _, size, *_ in published()["data_path"][device]})
    return [Row("statistics", rate, size, device=device) for rate in ASKING for size in sizes]


def rows(parameters: OpenFlowParameters) -> list[Row]:
    """The rows that a run has, in the order of the study."""
    device = parameters.device
    found = [
        *_packets("packet-in", "packet_in", device),
        *_held("packet-in", "packet_in", device),
        Row("packet-in-action", 10.0, 500, device=device),
        *_packets("packet-out", "packet_out", device),
        *_held("packet-out", "packet_out", device),
        *(_in_words(device) if parameters.is_judged else ()),
        _control("open-vswitch" if parameters.sut == "ovs" else device),
        *_packets("data", "data_path", device),
        *_additions(device),
        *_changes(device),
        *_maximum(device),
        *(row for part in BEYOND if _is_asked(parameters, part) for row in ROWS_BEYOND[part](device)),
    ]
    if parameters.part != "all":
        found = [row for row in found if row.part == parameters.part]
    if parameters.quick:
        found = [row for row in found if _is_quick(row)]
    if parameters.only:
        found = [row for row in found if row.name == parameters.only]
    return found


ROWS_BEYOND = {"flow-expiry": _expiry, "statistics": _statistics}
"""The rows of tests that are done when they are asked for."""


def _is_asked(parameters: OpenFlowParameters, part: str) -> bool:
    """Is it the part that a run has, or has it one row of it alone?"""
    return parameters.part == part or parameters.only.startswith(f"{part}-")


def _is_quick(row: Row) -> bool:
    if row.part.startswith("flow"):
        return row.flows in QUICK_FLOWS
    return row.part in ("control", "packet-in-action") or row.size in QUICK_SIZES
