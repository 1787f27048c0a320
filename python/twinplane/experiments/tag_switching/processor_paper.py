"""Load of edge routers' processors on paper, beside what is published of it, and what that would need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve
from ...errors import TwinplaneError
from ...results.points import Point
from ..scores import Comparison, Kind, rounding
from .compared import published
from .links import BUFFER_PACKETS, HEADERS
from .parameters import TagSwitchingParameters
from .predicted import Prediction, duplex, is_lossy, rtt, tcp, window_of
from .processors import ENDS, SPAN_S
from .throughput import TRANSACTIONS

if TYPE_CHECKING:
    from ...results.folder import Results

MESSAGES_PER_S = 4.0
"""More than OSPF, LDP and ARP have to say to an edge router, which has one neighbour."""
FITTED_US = 525.0
"""What a packet has to take for the published peak of 41.1, by the packets of full duplex on ATM (15 %), if
both directions share a connection."""
BUSY = 0.9
"""A processor that is busy for a greater share delays packets by waits that are not predicted."""


def packets_s(p: TagSwitchingParameters, tagged: bool) -> Prediction | None:
    """What the sender's edge router receives in the busiest 5 s, in packets per second.

    Nothing is said where windows limit, so that how long segments are is up to the sender, nor where packets
    are lost, so that it is open how many are sent again.
    """
    span = min(p.duration_s, SPAN_S)
    if p.part == "udp":
        value = p.udp_mbps * 1e6 / 8 / p.packet
        return Prediction(value, value - 1, value + MESSAGES_PER_S, "rate of UDP, and messages of routers")
    if p.part == "rtt":
        one = rtt(p, tagged).value
        value = 2 * min(TRANSACTIONS, span / one) / span
        low, high = 0.97 * value - 1, value + 12 / span + MESSAGES_PER_S
        return Prediction(value, low, high, "requests and answers, each a packet")
    half = tcp(p, tagged)
    if half.why.startswith("buffer") or is_lossy(p, tagged):
        return None
    segment = (p.packet - HEADERS) * 8 / 1e6
    data = half.value / segment
    more = BUFFER_PACKETS / span + MESSAGES_PER_S
    if p.part == "tcp":
        why = "segments of data, and an acknowledgement for each to every second one"
        return Prediction(1.5 * data, 1.4 * data, 2.05 * data + more, why)
    both = duplex(p, tagged)
    why = "segments of data both ways, and up to an acknowledgement for every second one"
    if p.both_ways == "two":
        why = "segments of data both ways, and an acknowledgement for each to every second one"
        each = 2 / segment
        high = 2.05 * each * both.high + 2 * more
        return Prediction(1.5 * each * both.value, 1.4 * each * both.low, high, why)
    return Prediction(2 * data, 1.8 * data, 3.05 * data + 2 * more, why)


def load(p: TagSwitchingParameters, tagged: bool) -> Prediction | None:
    """The share of 5 s for which a processor is busy with these packets, and with messages."""
    packets = packets_s(p, tagged)
    if packets is None:
        return None
    each, message = p.packet_us / 1e6, p.message_us / 1e6
    high = packets.high * each + MESSAGES_PER_S * message
    return Prediction(packets.value * each, packets.low * each, high, packets.why)


def check(p: TagSwitchingParameters) -> None:
    """A processor has to be idle now and then: else packets wait for it, and the rest is predicted wrong."""
    high = max(_most(p, one == "with") for one in p.settings)
    used = high * p.packet_us / 1e6
    if used > BUSY:
        raise TwinplaneError(
            f"tag-switching: packet_us={p.packet_us:g}: up to {high:.0f} packets a second would keep a"
            f" processor busy for {used:.2f} s of each: {BUSY * 1e6 / high:.0f} at most"
        )


def _most(p: TagSwitchingParameters, tagged: bool) -> float:
    """Packets per second, or about so many: each segment is as short as a window or a message may make it."""
    if (found := packets_s(p, tagged)) is not None:
        return found.high
    shortest = min(p.packet - HEADERS, window_of(p), max(p.message, HEADERS))
    ways = 2 if p.part == "duplex" else 1
    return 2 * ways * tcp(p, tagged).value * 1e6 / 8 / shortest


def comparisons(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    """Published peaks if processors take time, and what arithmetic says of packets and load."""
    found = []
    for setting in p.settings:
        title = "with tags" if setting == "with" else "without"
        packets, busy = packets_s(p, setting == "with"), load(p, setting == "with")
        if p.duration_s < SPAN_S or packets is None or busy is None:
            continue
        if setting == "with" and p.has_processor:
            found += _published(lead, p, point, busy)
        found.append(
            Comparison(
                f"{lead}{title}: packets that the sender's edge router takes in, the most over 5 s",
                "packets/s",
                Kind.OURS,
                None,
                point.metrics.get(f"{setting}_near_packets_s"),
                packets.low,
                packets.high,
                packets.why,
                packets.value,
            )
        )
        if p.has_processor:
            found.append(
                Comparison(
                    f"{lead}{title}: load of its processor, the most over 5 s",
                    "share",
                    Kind.OURS,
                    None,
                    point.metrics.get(f"{setting}_near_load"),
                    busy.low,
                    busy.high,
                    busy.why,
                    busy.value,
                )
            )
    return found


def _published(lead: str, p: TagSwitchingParameters, point: Point, expected: Prediction) -> list[Comparison]:
    measured = point.metrics.get("with_near_load")
    found = []
    for row in _rows(p):
        said = row["percent"] / 100
        is_fitted = p.part == "duplex" and p.both_ways == "one" and p.packet_us == FITTED_US
        found.append(
            Comparison(
                f"{lead}load of the processor of {row['router']}, the most over 5 s",
                "share",
                Kind.FITTED if is_fitted else Kind.OUTSIDE,
                said,
                measured,
                *rounding(said, row["digits"] / 100),
                "rounding of the figure",
                expected.value,
                reason="packet_us follows from this peak" if is_fitted else "",
            )
        )
    claim = published()["processor_claim"]
    if p.path == claim["path"]:
        found.append(
            Comparison(
                f"{lead}load of processors on this path, the most over 5 s",
                "share",
                Kind.OUTSIDE,
                None,
                measured,
                0.0,
                claim["percent"] / 100,
                "what the study says",
                expected.value,
                f"below {claim['percent']} % on the 7500, and just 7500s on this path",
            )
        )
    return found


def _rows(p: TagSwitchingParameters) -> list[dict[str, Any]]:
    return [row for row in published()["processor"] if (row["part"], row["path"]) == (p.part, p.path)]


def arithmetic(p: TagSwitchingParameters, point: Point) -> list[str]:
    """What a published peak would need, by the packets that were counted."""
    packets = point.metrics.get("with_near_packets_s")
    if not packets:
        return []
    found = [
        f"Of {row['router']} a greatest load of {row['percent']} % over 5 s is published. Its counterpart"
        f" here took in {packets:.0f} packets a second: {row['percent'] * 1e4 / packets:.0f} us of its"
        " processor for each would make that."
        for row in _rows(p)
    ]
    for row in _rows(p):
        if "losses_began_mbps" in row:
            needed = row["percent"] * 1e4 / FITTED_US
            began = row["losses_began_mbps"]
            found.append(
                f"With {FITTED_US:g} us for a packet, which the other published peak takes,"
                f" {row['percent']} % are {needed:.0f} packets a second. The study lost packets from"
                f" {began} Mbit/s on: packets of {began * 1e6 / 8 / needed:.0f} bytes would be as many there."
                " How long its packets were is not published."
            )
    if p.has_processor:
        found.append(
            f"Each packet that an edge router receives takes {p.packet_us:g} us of its processor, a message"
            f" of OSPF or LDP {p.message_us:g} us: both are choices. Packets that the router makes itself are"
            " left out of its load."
        )
    elif found:
        found.append(
            "Here edge routers forward by hardware: packet_us says what a packet takes of a processor."
        )
    return found


def plots(found: Results) -> list[Chart]:
    """Over time, of a run of one point: load if processors take time, else packets."""
    if "processors" not in found.tables() or len(found.points) != 1:
        return []
    point = found.points[0]
    p = TagSwitchingParameters.model_validate(point.parameters)
    rows = list(found.table("processors").iter_rows(named=True))
    key, unit, of = ("load", "% of 5 s", 100) if p.has_processor else ("packets_s", "packets/s", 1)
    curves: list[Curve] = []
    for setting in p.settings:
        for end in ENDS:
            own = [row for row in rows if (row["tags"], row["end"]) == (setting, end)]
            if not own:
                return []
            name = f"{own[0]['router']}, {'with tags' if setting == 'with' else 'without'}"
            # A step lasts until the next value: the last one is there twice.
            x = [row["begin_s"] for row in own] + [own[-1]["begin_s"] + SPAN_S]
            y = [row[key] * of for row in (*own, own[-1])]
            curves.append(Curve(name, x, y, 0, "steps", len(curves)))
    title = "Load of edge routers' processors" if p.has_processor else "Packets that edge routers take in"
    most = max(float(value) for curve in curves for value in curve.y if value is not None)
    alt = f"{title} over 5 s at a time, at most {most:.3g} {unit}."
    return [Chart("processors", title, alt, "seconds since data was sent first", [unit], curves, zero=(0,))]


def columns(points: Sequence[Point]) -> list[tuple[str, str]]:
    """Titles and metrics, where processors take time."""
    known = [TagSwitchingParameters.model_validate(point.parameters) for point in points]
    if not any(p.has_processor for p in known):
        return []
    return [
        (f"{'with tags' if setting == 'with' else 'without'}: processor", f"{setting}_near_load")
        for setting in ("with", "without")
        if any(setting in p.settings for p in known)
    ]
