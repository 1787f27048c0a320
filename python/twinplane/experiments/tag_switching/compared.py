"""The published times beside what timers say, and beside what was measured."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...results.points import Point
from ..scores import Comparison, Kind, rounding
from . import stages
from .parameters import DIVERTED, LINK_OF, PLANES, TagSwitchingParameters
from .timers import FLOODING_S, Interval, asked_s, predict

WORDS = {
    "core": "in the core",
    "outside": "from outside",
    "answers": "answers to outside",
    "failure": "after a failure",
    "repair": "after the repair",
}


@cache
def published() -> dict[str, Any]:
    """The figures of the study."""
    return tomllib.loads((Path(__file__).parent / "published.toml").read_text())


def expected(p: TagSwitchingParameters, event: str, plane: str) -> Interval | None:
    """What timers say, if the link fails in these runs that tells of it."""
    link = LINK_OF[event]
    return predict(p.model_copy(update={"link": link}), event, plane) if link in p.links else None


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """The published figures, then all that timers say, those that the study does not have among them."""
    found = []
    for point in points:
        p = TagSwitchingParameters.model_validate(point.parameters)
        lead = f"{p.detection}: " if len(points) > 1 else ""
        found += [*_published(lead, p, point), *_predicted(lead, p, point), *_stages(lead, p, point)]
    return found


def _published(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    found = []
    for row in published()["recovery"]:
        event, plane = row["event"], row["plane"]
        timers = expected(p, event, plane)
        if timers is None:
            continue
        for end, key, at in (("least", "min", timers.low_s), ("greatest", "max", timers.high_s)):
            said = float(row[f"{end}_s"])
            found.append(
                Comparison(
                    f"{lead}{row['what']}: the {end}",
                    "s",
                    Kind.OUTSIDE,
                    said,
                    point.metrics.get(f"{plane}_{event}_{key}_s"),
                    *rounding(said, float(row["digits"])),
                    "rounding of the figure",
                    at,
                    f"of {p.runs} runs",
                )
            )
    return found


def _predicted(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    known = {(row["plane"], row["event"]) for row in published()["recovery"]}
    found = []
    for event in LINK_OF:
        for plane in PLANES:
            timers = expected(p, event, plane)
            if timers is None:
                continue
            new = "" if (plane, event) in known else " (the study has none)"
            for end, key, at in (("earliest", "min", timers.low_s), ("latest", "max", timers.high_s)):
                found.append(
                    Comparison(
                        f"{lead}{WORDS[plane]}, {WORDS[event]}{new}: the {end}",
                        "s",
                        Kind.OURS,
                        None,
                        point.metrics.get(f"{plane}_{event}_{key}_s"),
                        timers.low_s - FLOODING_S,
                        timers.high_s + FLOODING_S,
                        timers.why,
                        at,
                        f"of {p.runs} runs",
                    )
                )
    return found


def _stages(lead: str, p: TagSwitchingParameters, point: Point) -> list[Comparison]:
    """What a recovery consists of."""
    found = []
    for stage, what in stages.STAGES.items():
        timers = stages.expected(p, stage)
        if timers is None:
            continue
        for end, key, at in (("earliest", "min", timers.low_s), ("latest", "max", timers.high_s)):
            found.append(
                Comparison(
                    f"{lead}{what}: the {end}",
                    "s",
                    Kind.OURS,
                    None,
                    point.metrics.get(f"{stage}_{key}_s"),
                    timers.low_s - FLOODING_S,
                    timers.high_s + FLOODING_S,
                    timers.why,
                    at,
                    f"of {p.runs} runs",
                )
            )
    return found


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What the published intervals would need."""
    p = TagSwitchingParameters.model_validate(points[0].parameters)
    both = {
        one: predict(p.model_copy(update={"link": DIVERTED, "detection": one}), "failure", "core")
        for one in ("interface", "hello")
    }
    fast, slow = both["interface"], both["hello"]
    assert fast is not None and slow is not None
    row = next(row for row in published()["recovery"] if (row["plane"], row["event"]) == ("core", "failure"))
    ends = [float(row["least_s"]), float(row["greatest_s"])]
    missed = [f"{end:g}" for end in ends if not any(way.low_s <= end <= way.high_s for way in (fast, slow))]
    said = f"neither gives {' or '.join(missed)} s" if missed else "each is reached by one of them"
    return [
        "In the core timers leave two ways to see a failure: an interface that goes down,"
        f" {fast.low_s:g} s until routes are new, and a dead interval, {slow.low_s:g} to {slow.high_s:g} s."
        f" Published are {ends[0]:g} to {ends[1]:g} s: {said}. Something between, such as cells that watch a"
        " circuit (OAM), would give up after a time of its own; the study says nothing of it.",
        *(_on_atm(p) if p.medium == "atm" else _on_ethernet()),
    ]


def _on_ethernet() -> list[str]:
    return [
        "Seen from outside after a failure, which the study could not measure, nothing waits for BGP or for"
        " tags where another way is left: tags of all neighbours are kept, and sessions of BGP follow the"
        " routes of OSPF.",
        SENT_AGAIN,
        "After the repair OSPF comes first, since TDP's sessions join loopback addresses: tags are there at"
        " the next Hello, and BGP has told its neighbours outside by then, unless it withdrew just before.",
    ]


def _on_atm(p: TagSwitchingParameters) -> list[str]:
    return [
        f"Links are ATM of {p.cells_per_s:g} cells/s, and VCs are labels that LDP gives on demand: it stands"
        " in for TDP, which gives no channels here. A switch keeps no labels but those that it uses, so that"
        " it asks for another one when its route is another one: seen from outside and in the core, after a"
        f" failure that takes {1e3 * asked_s(p):.0f} ms.",
        SENT_AGAIN,
        "After the repair of the link that has another way, each switch gives its label back as soon as its"
        " route is the better one, and asks for the next one only then: packets may be lost, in the core,"
        " too, for as long as that takes, or until there is a session of LDP over the link.",
    ]


def fault(point: Point) -> str | None:
    """What is otherwise than timers say; that published figures are missed is no fault."""
    if wrong := point.metrics["surprising"]:
        return f"{wrong} recoveries are not as timers say"
    wrong = point.metrics["odd_stages"]
    return f"{wrong} parts of recoveries are not as timers say" if wrong else None


def bounds(parameters: Mapping[str, Any]) -> list[str]:
    """What flows can tell."""
    return [
        f"A recovery is known to the time between two packets, {1e3 / parameters['packets_per_s']:g} ms.",
        "Predictions know timers alone: 0.2 s are allowed for flooding, connections and packets.",
    ]


SENT_AGAIN = (
    "After the repair OSPF takes no second advertisement of a router within a second of the first, so"
    " that the one which names the neighbour is sent again, 5 s later, and computed with once more."
)
