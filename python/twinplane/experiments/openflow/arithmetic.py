"""What published tables say by themselves: checks that any table of the kind has to pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isclose, sqrt
from statistics import median

from ...results.points import Point
from .claims import loses_nothing
from .compared import called, parameters_of
from .parameters import OpenFlowParameters
from .rows import Figures, Row, published, rows

PRINTED_S = 1.5e-6
"""Two figures in whole microseconds are off by so much together."""
ALIKE = 0.1
"""Tests of one kind take as long within this share."""


def impossible(figure: Figures) -> str | None:
    """Why mean, median and standard deviation can't be of one sample of values of at least zero."""
    mean, middle, sd, count = figure.mean, figure.median, figure.sd, figure.packets
    if mean is None or sd is None:
        return None
    us = f"a mean of {mean * 1e6:.0f} us"
    if middle is not None and abs(mean - middle) > sd + PRINTED_S:
        return f"{us} is farther from a median of {middle * 1e6:.0f} than a deviation of {sd * 1e6:.0f}"
    if count is not None and sd > (most := mean * sqrt(count)) + PRINTED_S:
        bound = f"deviate by {most * 1e6:.0f} at most, not by {sd * 1e6:.0f}"
        return f"{count} samples of at least zero with {us} {bound}"
    return None


def lasting_otherwise(own: Sequence[Row]) -> list[tuple[Row, float, float]]:
    """Rows without loss whose packets take another time than those of most, by their interval: both times."""
    lasting = [
        (row, row.published.packets * row.size * 8e-3 / (row.rate * 1.048576))
        for row in own
        if loses_nothing(row) and row.published is not None and row.published.packets is not None
    ]
    if not lasting:
        return []
    usual = median(time for _, time in lasting)
    return [(row, time, usual) for row, time in lasting if not isclose(time, usual, rel_tol=ALIKE)]


def arithmetic(points: Sequence[Point]) -> list[str]:
    """Sentences about the tables whose rows are run."""
    found = [*OF_ALL]
    for device in dict.fromkeys(p.device for p in map(parameters_of, points) if p.is_judged):
        found += [*OF_DEVICE[device], *_by_rule(device)]
    for name, mean, middle, sd, packets in published()["control"]["rows"]:
        if name == "open-vswitch":
            figure = Figures(mean / 1e6, middle / 1e6, sd / 1e6, None, packets)
            found.append(f"control, Open vSwitch: {impossible(figure)}.")
    return found


OF_ALL = (
    "Packets of a test are a thousand gaps apart: 1.144 s at 10 Mbit/s and 1500 bytes, 15.3 ms at 50"
    " Mbit/s and 100 bytes. 26 packets of 1500 bytes are 30 s of that, not 60; 13 (packet_out of the card)"
    " are 15 s.",
    "A test of entries sees the next packet of the stream: 14.92, 50, 100.9 and 151.9 ms are whole"
    " intervals less 0.3 to 0.9 ms, because the additions begin that long after a packet of it.",
)
OF_DEVICE = {
    "netfpga": (
        "0.9231, 0.9333, 0.9412, 0.9524, 0.973 are 12/13, 14/15, 16/17, 20/21 and 36/37: one packet each"
        " is under way when the test ends. That is no loss.",
        "packet_out at 100 Mbit/s has 312 packets of 1500 bytes, 359 of 1300, 425 of 1100 and 519 of 900:"
        " at that rate they would take 36 s each, at 250 Mbit/s 14.3 s, as in all other rows. 539 in"
        " 14.3 s, twice, is one packet each 26.5 ms, and delays of 1.4 and 3.0 s are half of what such a"
        " queue grows to.",
        "Received / sent of packet_in, times the rate of triggers, is 33 to 43 packets a second in all"
        " rows that lose, without more delay: a limit on the rate, not a queue.",
    ),
    "ezappliance": (
        "packet_out of the appliance passes 716 to 790 packets in 30 s whenever they come more often than"
        " every 40 ms, whatever their size; rarer ones take 1.5 to 11 ms. A reading: a header of three"
        " bytes and a packet are two short writes into a socket, and the second waits for an"
        " acknowledgement that the other end defers by 40 ms.",
        "A mean delay of 12.2 s with 0.179 received is half of what the queue grows to in 30 s: 30 x"
        " (1 - 0.179) / 2 = 12.3 s.",
    ),
}
"""What took reading, and no rule finds."""


def _by_rule(device: str) -> Iterable[str]:
    own = rows(OpenFlowParameters.model_validate({"conditions": device}))
    for row in own:
        if row.published is not None and (reason := impossible(row.published)):
            yield f"{called(row)}, {device}: {reason}."
    for part in ("packet-in", "packet-out", "data"):
        for row, time, usual in lasting_otherwise([one for one in own if one.part == part]):
            assert row.published is not None
            each = row.size * 8 / (row.rate * 1.048576)
            yield (
                f"{called(row)}, {device}: {row.published.packets:,} packets, one each {each:.4g} ms,"
                f" take {time:.1f} s; tests of other rows {usual:.1f} s."
            )
