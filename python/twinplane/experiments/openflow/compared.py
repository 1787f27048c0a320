"""Published rows beside ours, and predictions of those that are not given."""

from __future__ import annotations

from collections.abc import Sequence

from ...results.points import Point
from ..scores import Comparison, Kind
from . import model
from .build import duration_s
from .parameters import OpenFlowParameters
from .rows import Row, published, rows

DELAY = 0.15
"""A median agrees within this share: published medians of one size differ as much from rate to rate."""
SHARE = 0.05
"""A share received agrees within this: counts do not say to the second how long a test took."""
CONTRADICTORY = {
    (
        "ezappliance",
        "packet-in-10-100",
    ): "a quarter is lost at 13 packets a second, and at 22 (50 Mbit/s, 300) none",
    ("ezappliance", "packet-out-10-600"): "a median of 504 us beside a mean of 4998 and a deviation of 112",
    ("ezappliance", "packet-out-100-1000"): "a median of 4490 us, where 10 and 50 Mbit/s have 7800",
    ("ezappliance", "flow-maximum-40"): "1 s, which is said to be 0.05 s for each of 40 entries",
    ("netfpga", "flow-add-100"): "a mean of 2.6 s and a deviation of 1.6 s, where 90 entries take 0.2 s",
    ("netfpga", "flow-add-30"): "longer than one interval for 30 entries; 200 of flow maximum are within one",
}
"""Published figures that contradict others, and how."""
FITTED_RATES = {
    ("packet-in", "netfpga"): 100.0,
    ("packet-in", "ezappliance"): 10.0,
    ("packet-out", "ezappliance"): 10.0,
    ("data", "netfpga"): 1000.0,
    ("data", "ezappliance"): 1000.0,
}
"""At which rate medians were fitted."""


def parameters_of(point: Point) -> OpenFlowParameters:
    """The parameters of a point."""
    return OpenFlowParameters.model_validate(point.parameters)


def share(point: Point, row: Row) -> float | None:
    """Received by sent. The packet that was under way when the test ended is not lost."""
    sent = point.metrics.get(f"{row.name}_sent")
    received = point.metrics.get(f"{row.name}_received")
    return None if not sent or received is None else received / sent


def delay(point: Point, row: Row) -> float | None:
    """The median, which a few packets that waited for something else do not move."""
    found: float | None = point.metrics.get(f"{row.name}_delay_median_s")
    return found


def delay_grows(row: Row) -> bool:
    """Does the published delay grow as long as packets are sent?"""
    figure = row.published
    return figure is not None and figure.sd is not None and figure.sd > 0.1


def _kind(row: Row, is_share: bool) -> tuple[Kind, str]:
    if reason := CONTRADICTORY.get((row.device, row.name)):
        return Kind.CONTRADICTORY, reason
    if is_share and (row.part, row.device) == ("packet-out", "netfpga") and delay_grows(row):
        return Kind.CONTRADICTORY, "0.9981 is 538 of 539: packets that wait count as not sent"
    if row.used_rate != row.rate:
        return Kind.FITTED, f"sent at {row.used_rate:g} Mbit/s, as the published counts say"
    if row.part == "control":
        return Kind.FITTED, "the echo is this"
    if row.part.startswith("flow"):
        return (Kind.FITTED, "the time of a write") if row.part == "flow-add" else (Kind.OUTSIDE, "")
    loses = row.published is not None and row.published.share is not None and row.published.share < 0.9
    if is_share and loses:
        return Kind.FITTED, "how many packets pass in a second"
    if row.part == "packet-out" and row.device == "netfpga":
        return (
            (Kind.FITTED, "the time of a packet") if (row.rate, row.size) == (50, 100) else (Kind.INSIDE, "")
        )
    if FITTED_RATES.get((row.part, row.device)) == row.rate and not is_share:
        return Kind.FITTED, "times of messages and of the pipeline"
    return Kind.INSIDE, ""


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """Of measured switches: every row. Of ours: what arithmetic says of links alone."""
    found: list[Comparison] = []
    for point in points:
        p = parameters_of(point)
        lead = f"{p.sut}: " if len(points) > 1 else ""
        for row in rows(p):
            if f"{row.name}_sent" not in point.metrics:
                continue
            if p.is_real:
                found += _of_real(lead, point, row)
            else:
                found += _of_profile(lead, p, point, row) if p.profile else _of_ours(lead, point, row)
    return found


def _of_profile(lead: str, p: OpenFlowParameters, point: Point, row: Row) -> list[Comparison]:
    what = f"{lead}{called(row)}"
    assert p.profile is not None
    if row.part.startswith("flow"):
        return _entries(what, p.profile, point, row)
    said = model.foretold(row, p.profile, duration_s(p, row))
    assert said is not None
    found = []
    figure = row.published
    median = None if figure is None else figure.median if figure.median is not None else figure.mean
    if median is not None:
        kind, reason = _kind(row, False)
        low, high = median * (1 - DELAY), median * (1 + DELAY)
        because = "medians of one size differ as much"
        found.append(
            Comparison(
                f"{what}: delay",
                "s",
                kind,
                median,
                delay(point, row),
                low,
                high,
                because,
                said.delay_s,
                reason=reason,
            )
        )
    if figure is not None and figure.share is not None and row.part != "control":
        kind, reason = _kind(row, True)
        # Of few packets the one that is under way at the end is a large share.
        slack = max(SHARE, 1.5 / figure.packets) if figure.packets else SHARE
        low, high = figure.share - slack, figure.share + slack
        because = "when a test ended is not known to the second"
        found.append(
            Comparison(
                f"{what}: received",
                "share",
                kind,
                figure.share,
                share(point, row),
                low,
                high,
                because,
                said.share,
                reason=reason,
            )
        )
    if figure is None:
        because = f"predicted: {said.because}"
        found.append(
            Comparison(
                f"{what}: delay",
                "s",
                Kind.OURS,
                None,
                delay(point, row),
                said.low_s,
                said.high_s,
                because,
                said.delay_s,
            )
        )
        found.append(
            Comparison(
                f"{what}: received",
                "share",
                Kind.OURS,
                None,
                share(point, row),
                max(said.share - 2 * SHARE, 0.0),
                min(said.share + 2 * SHARE, 1.0),
                because,
                said.share,
            )
        )
    return found


def _entries(what: str, profile: str, point: Point, row: Row) -> list[Comparison]:
    measured, gap = delay(point, row), row.interval_s
    low, high = model.add_interval(profile, row)
    predicted = model.write_s(profile, row.flows, row.part == "flow-mod")
    figure = row.published
    median = None if figure is None else figure.median if figure.median is not None else figure.mean
    if median is None:
        because = "predicted: writing, and up to an interval of the stream"
        return [Comparison(f"{what}: delay", "s", Kind.OURS, None, measured, low, high, because, predicted)]
    kind, reason = _kind(row, False)
    slack = max(DELAY * median, gap / 2)
    because = "half an interval of the stream, or 15 %"
    if (row.part, row.device) == ("flow-maximum", "ezappliance"):
        slack, because = max(slack, 1.0), "figures are whole seconds"
    return [
        Comparison(
            f"{what}: delay",
            "s",
            kind,
            median,
            measured,
            median - slack,
            median + slack,
            because,
            predicted,
            reason=reason,
        )
    ]


def _of_real(lead: str, point: Point, row: Row) -> list[Comparison]:
    """Open vSwitch here, and on the machine of the study: the echo is the only figure that is published."""
    if row.part != "control":
        return []
    (median,) = (median for name, _, median, *_ in published()["control"]["rows"] if name == "open-vswitch")
    figure, because = median / 1e6, "another machine: three times as long or short"
    measured = delay(point, row)
    return [
        Comparison(
            f"{lead}control: delay", "s", Kind.OUTSIDE, figure, measured, figure / 3, figure * 3, because
        )
    ]


def _of_ours(lead: str, point: Point, row: Row) -> list[Comparison]:
    """Links alone take time: what a test sees lies between two of them and those of the channel."""
    if row.part.startswith("flow"):
        because = "an interval of the stream: the switch takes no time"
        high = row.interval_s * 1.02
        return [
            Comparison(
                f"{lead}{called(row)}: delay", "s", Kind.OURS, None, delay(point, row), 0.0, high, because
            )
        ]
    least = 1e-6 if row.part == "control" else (row.size + 4) * 8e-9 * 2
    high = least + 25e-6
    because = "two links of 1 Gbit/s, and headers of the channel"
    return [
        Comparison(
            f"{lead}{called(row)}: delay", "s", Kind.OURS, None, delay(point, row), least, high, because
        ),
        Comparison(
            f"{lead}{called(row)}: received",
            "share",
            Kind.OURS,
            None,
            share(point, row),
            0.999,
            1.0,
            "nothing waits",
        ),
    ]


def called(row: Row) -> str:
    """A row in words."""
    if row.part.startswith("flow"):
        return f"{row.part}, {row.flows} {'entry' if row.flows == 1 else 'entries'}"
    if row.part == "control":
        return "control"
    return f"{row.part}, {row.rate:g} Mbit/s, {row.size} bytes"


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What published tables say by themselves, where they are run."""
    devices = {parameters_of(point).device for point in points if parameters_of(point).profile}
    found = [
        "Packets of a test are a thousand gaps apart: 1.144 s at 10 Mbit/s and 1500 bytes, 15.3 ms at 50"
        " Mbit/s and"
        " 100 bytes. 26 packets of 1500 bytes are 30 s of that, not 60; 13 (packet_out of the card) are 15"
        " s.",
        "A test of entries sees the next packet of the stream: 14.92, 50, 100.9 and 151.9 ms are whole"
        " intervals less 0.3 to 0.9 ms, because the additions begin that long after a packet of it.",
    ]
    if "netfpga" in devices:
        found += [
            "0.9231, 0.9333, 0.9412, 0.9524, 0.973 are 12/13, 14/15, 16/17, 20/21 and 36/37: one packet"
            " each is under"
            " way when the test ends. That is no loss.",
            "packet_out at 100 Mbit/s has 312 packets of 1500 bytes, 359 of 1300, 425 of 1100 and 519 of"
            " 900: at that"
            " rate they would take 36 s each, at 250 Mbit/s 14.3 s, as in all other rows. 539 in 14.3 s,"
            " twice, is"
            " one packet each 26.5 ms, and delays of 1.4 and 3.0 s are half of what such a queue grows to.",
            "Received / sent of packet_in, times the rate of triggers, is 33 to 43 packets a second in all"
            " rows that"
            " lose, without more delay: a limit on the rate, not a queue.",
        ]
    if "ezappliance" in devices:
        found += [
            "packet_out of the appliance passes 716 to 790 packets in 30 s whenever they come more often"
            " than every"
            " 40 ms, whatever their size; rarer ones take 1.5 to 11 ms. A header of three bytes and a"
            " packet are two"
            " short writes into a socket: the second waits for an acknowledgement that the other end defers"
            " by 40 ms.",
            "A mean delay of 12.2 s with 0.179 received is half of what the queue grows to in 30 s: 30 x (1"
            " - 0.179) / 2"
            " = 12.3 s.",
        ]
    found.append(
        "26 samples of at least zero with a mean of 354 us can't deviate by 6323: at most by 354 x 5.1 ="
        " 1806."
    )
    return found
