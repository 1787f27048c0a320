"""Published rows beside ours, and closed forms beside runs."""

from __future__ import annotations

from collections.abc import Sequence

from ...results.points import Point
from ..scores import Comparison, Kind
from . import marks, model, profile
from .build import LEAD_S, duration_s
from .claims import Verdict, claims, loses_nothing
from .parameters import OpenFlowParameters
from .rows import Row, published, rows

DELAY = 0.15
"""A median agrees within this share: published medians of one size differ as much from rate to rate."""
SHARE = 0.05
"""A share received agrees within this: counts do not say to the second how long a test took."""
WHOLE_S = 0.5
"""Published times of the appliance's flow maximum are whole seconds."""
RUN, RUN_S, RUN_PACKETS = 0.02, 0.001, 2
"""A run agrees with the closed form of its own profile within this share and time, and so many packets."""
ELSEWHERE = 2
"""On another machine an echo takes up to so many times as long, or short."""


def parameters_of(point: Point) -> OpenFlowParameters:
    """The parameters of a point."""
    return OpenFlowParameters.model_validate(point.parameters)


def ran(point: Point) -> list[Row]:
    """The rows that a point has results of."""
    return [row for row in rows(parameters_of(point)) if f"{row.name}_sent" in point.metrics]


def share(point: Point, row: Row) -> float | None:
    """Received by sent. The packet that was under way when the test ended is not lost."""
    sent = point.metrics.get(f"{row.name}_sent")
    received = point.metrics.get(f"{row.name}_received")
    return None if not sent or received is None else received / sent


def delay(point: Point, row: Row) -> float | None:
    """The median, which a few packets that waited for something else do not move."""
    found: float | None = point.metrics.get(f"{row.name}_delay_median_s")
    return found


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """All of them, point by point."""
    found = []
    for point in points:
        lead = f"{parameters_of(point).sut}: " if len(points) > 1 else ""
        found += [verdict.comparison for verdict in verdicts(point, lead)]
    return found


def verdicts(point: Point, lead: str = "") -> list[Verdict]:
    """Of switches of the study: every figure. Of others: what arithmetic says of profile and links."""
    p, own = parameters_of(point), ran(point)
    of = _of_real if p.is_real else _of_ours if p.profile is None else _of_profile
    found = [
        Verdict(row.part, row.name, one) for row in own for one in of(f"{lead}{called(row)}", p, point, row)
    ]
    if p.profile is not None and p.is_judged:
        found += claims(lead, profile.read(p.profile), point, own)
    return found


def median(row: Row) -> float | None:
    """The published median, or the mean where that is all there is."""
    figure = row.published
    return None if figure is None else figure.median if figure.median is not None else figure.mean


def _of_profile(what: str, p: OpenFlowParameters, point: Point, row: Row) -> list[Comparison]:
    if row.in_words:
        return []
    assert p.profile is not None
    said = model.foretold(row, p.profile, duration_s(p, row), LEAD_S)
    if not p.is_judged or row.published is None:
        return _beside_run(what, said, point, row)
    found, own = [], profile.read(p.profile)
    if (figure := median(row)) is not None:
        kind, reason = marks.kind(own, row, marks.delay_of(row))
        slack, because = _slack(row, figure)
        measured, ends = delay(point, row), (figure - slack, figure + slack)
        found.append(
            Comparison(
                f"{what}: delay", "s", kind, figure, measured, *ends, because, said.delay_s, reason=reason
            )
        )
    part = row.published.share
    if part is not None and row.part != "control" and not loses_nothing(row):
        kind, reason = marks.kind(own, row, marks.share_of(row))
        slack = min(SHARE, (1 - part) / 2)
        because = "when a test ended is not known to the second"
        measured, ends = share(point, row), (part - slack, part + slack)
        found.append(
            Comparison(
                f"{what}: received", "share", kind, part, measured, *ends, because, said.share, reason=reason
            )
        )
    return found


def _slack(row: Row, figure: float) -> tuple[float, str]:
    """How far a delay may be off, and why."""
    if not row.part.startswith("flow"):
        return DELAY * figure, "medians of one size differ as much"
    slack, because = max(DELAY * figure, row.interval_s / 2), "half an interval of the stream, or 15 %"
    if (row.part, row.device) == ("flow-maximum", "ezappliance") and slack < WHOLE_S:
        return WHOLE_S, "figures are whole seconds"
    return slack, because


def _beside_run(what: str, said: model.Foretold, point: Point, row: Row) -> list[Comparison]:
    """The closed form of a profile beside its run: nothing is published, or of another switch."""
    slack, because = max(RUN * said.delay_s, RUN_S), f"closed form: {said.because}"
    ends = (said.delay_s - slack, said.delay_s + slack)
    found = [
        Comparison(
            f"{what}: delay", "s", Kind.OURS, None, delay(point, row), *ends, because, predicted=said.delay_s
        )
    ]
    if row.part.startswith("flow"):
        return found
    slack = RUN_PACKETS / max(point.metrics[f"{row.name}_sent"], 1)
    ends, measured = (said.share - slack, min(said.share + slack, 1.0)), share(point, row)
    return [
        *found,
        Comparison(f"{what}: received", "share", Kind.OURS, None, measured, *ends, because, said.share),
    ]


def _of_real(what: str, p: OpenFlowParameters, point: Point, row: Row) -> list[Comparison]:
    """Open vSwitch here, and on the machine of the study: the echo is the only figure that is published."""
    if p.sut != "ovs" or row.part != "control":
        return []
    (said,) = (said for said in published()["control"]["rows"] if said[0] == "open-vswitch")
    figure, packets = said[2] / 1e6, said[4]
    if point.metrics[f"{row.name}_sent"] < packets:
        return []
    because = f"another machine: up to {ELSEWHERE} times as long or short"
    ends = (figure / ELSEWHERE, figure * ELSEWHERE)
    return [Comparison(f"{what}: delay", "s", Kind.OUTSIDE, figure, delay(point, row), *ends, because)]


def _of_ours(what: str, p: OpenFlowParameters, point: Point, row: Row) -> list[Comparison]:
    """Links alone take time: what a test sees lies between two of them and those of the channel."""
    measured = delay(point, row)
    if row.part.startswith("flow"):
        because = "an interval of the stream: the switch takes no time"
        ends = (0.0, row.interval_s * 1.02)
        return [Comparison(f"{what}: delay", "s", Kind.OURS, None, measured, *ends, because)]
    least = 1e-6 if row.part in ("control", "statistics") else (row.size + 4) * 8e-9 * 2
    because = "two links of 1 Gbit/s, and headers of the channel"
    ends, all_of_them = (least, least + 25e-6), (0.999, 1.0)
    return [
        Comparison(f"{what}: delay", "s", Kind.OURS, None, measured, *ends, because),
        Comparison(
            f"{what}: received", "share", Kind.OURS, None, share(point, row), *all_of_them, "nothing waits"
        ),
    ]


def called(row: Row) -> str:
    """A row in words."""
    if row.part.startswith("flow"):
        return f"{row.part}, {row.flows} {'entry' if row.flows == 1 else 'entries'}"
    if row.part == "control":
        return "control"
    return f"{row.part}, {row.rate:g} Mbit/s, {row.size} bytes"
