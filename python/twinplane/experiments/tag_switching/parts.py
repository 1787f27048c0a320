"""The parts of the study: how networks of each are built and looked at, and how what they gave is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...charts import Chart
from ...errors import TwinplaneError
from ...network import Network
from ...results.points import Point
from ..base import Column, Outcome
from ..scores import Comparison
from . import (
    compared,
    figures,
    judged,
    load,
    measuring,
    processor_paper,
    processors,
    shown,
    te,
    te_judged,
    te_paper,
    te_shown,
    throughput,
    timers,
    vcs,
    vcs_shown,
)
from .build import build as build_recovery
from .parameters import TagSwitchingParameters


def _whole(p: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
    """One network."""
    return {"": p}


def _only(_: TagSwitchingParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
    (outcome,) = outcomes.values()
    return outcome


def _nowhere(_: Network, __: TagSwitchingParameters) -> Iterator[float]:
    return iter(())


def _unchecked(_: TagSwitchingParameters) -> None:
    """What the parameters themselves refuse is enough."""


@dataclass(frozen=True)
class Networks:
    """How the networks of a part are built, run and looked at."""

    build: Callable[[TagSwitchingParameters, int], Network]
    end_s: Callable[[TagSwitchingParameters], float]
    summarise: Callable[[Network, TagSwitchingParameters], Outcome]
    all: Callable[[TagSwitchingParameters], Mapping[str, TagSwitchingParameters]] = _whole
    """The networks of a point, by name."""
    joined: Callable[[TagSwitchingParameters, Mapping[str, Outcome]], Outcome] = _only
    pauses: Callable[[Network, TagSwitchingParameters], Iterator[float]] = _nowhere
    check: Callable[[TagSwitchingParameters], None] = _unchecked


@dataclass(frozen=True)
class Shown:
    """How a part is shown, and judged."""

    headline: Callable[[TagSwitchingParameters], str]
    answer: Callable[[Sequence[Point]], str]
    columns: Callable[[Sequence[Point]], list[Column]]
    charts: Callable[[Sequence[Point]], list[Chart]]
    comparisons: Callable[[Sequence[Point]], list[Comparison]]
    arithmetic: Callable[[Sequence[Point]], list[str]]
    fault: Callable[[Point], str | None]
    bounds: Callable[[Mapping[str, Any]], list[str]]


@dataclass(frozen=True)
class Part:
    """A part of the study."""

    networks: Networks
    shown: Shown = field(
        default=Shown(
            shown.headline,
            shown.answer,
            shown.columns,
            shown.charts,
            judged.comparisons,
            judged.arithmetic,
            judged.fault,
            judged.bounds,
        )
    )
    uses: frozenset[str] = frozenset()
    """Parameters that mean something to it, or to others that it can be run together with."""
    is_alone: bool = False
    """Has it a table of its own, so that it can't be run together with other parts?"""


LINKS = {"rate_mbps", "cells_per_s", "tag_vcs", "vc_merge", "tag_encapsulation"}
TOGETHER = frozenset(
    LINKS
    | {"path", "tags", "plain_encapsulation", "packet", "rtt_ms", "delay_ms", "duration_s", "buffer_kb"}
    | {"message", "flows", "both_ways", "udp_mbps", "profile", "packet_us", "message_us", "load"}
)
"""Those of parts that have a table together."""
RECOVERY_TIMES = {"hello_s", "dead_s", "spf_s", "tdp_hello_s", "advertise_s", "hold_s", "down_s"}


def check(p: TagSwitchingParameters) -> None:
    """Refuse what a part does not have, so that nobody takes it for set; then see the file of each part."""
    part = PARTS[p.part]
    for name, info in TagSwitchingParameters.model_fields.items():
        value = getattr(p, name)
        if name in ("part", "medium", *part.uses) or value == info.default:
            continue
        if name == "tags":
            if value == "with":
                continue
            raise TwinplaneError(f"tag-switching: tags={value}: part={p.part} is about tags: with, or both")
        shown = f"{value:g}" if isinstance(value, float) else value
        others = [other for other, one in PARTS.items() if name in one.uses]
        raise TwinplaneError(
            f"tag-switching: {name}={shown}: part={p.part} does not have that (part {', '.join(others)})"
        )
    part.networks.check(p)


PATH = Part(
    Networks(
        throughput.build,
        throughput.end_s,
        throughput.summarise,
        throughput.settings,
        throughput.joined,
        processors.pauses,
        processor_paper.check,
    ),
    uses=TOGETHER,
)
LOAD = Part(
    Networks(
        load.build,
        load.end_s,
        load.summarise,
        throughput.settings,
        throughput.joined,
    ),
    uses=TOGETHER,
)
RECOVERY = Part(
    Networks(
        build_recovery,
        measuring.end_s,
        measuring.summarise,
        measuring.runs,
        measuring.joined,
        check=timers.check,
    ),
    Shown(
        figures.headline,
        figures.answer,
        figures.columns,
        # Its figure is drawn from a table: see `figures.plots`.
        lambda points: [],
        compared.comparisons,
        compared.arithmetic,
        compared.fault,
        compared.bounds,
    ),
    frozenset(LINKS | RECOVERY_TIMES | {"link", "detection", "runs", "number", "delay_ms", "packets_per_s"}),
    is_alone=True,
)
VCS = Part(
    Networks(vcs.build, vcs.end_s, vcs.summarise, check=vcs_shown.check),
    Shown(
        vcs_shown.headline,
        vcs_shown.answer,
        vcs_shown.columns,
        vcs_shown.charts,
        vcs_shown.comparisons,
        vcs_shown.arithmetic,
        vcs_shown.fault,
        vcs_shown.bounds,
    ),
    frozenset({"vc_merge", "tag_encapsulation", "network", "edges", "graph", "routing", "outside"}),
    is_alone=True,
)
TE = Part(
    Networks(te.build, te.end_s, te.summarise, pauses=te.pauses, check=te_paper.check),
    Shown(
        te_shown.headline,
        te_shown.answer,
        te_shown.columns,
        # As that of recovery: see `te_shown.plots`.
        lambda points: [],
        te_judged.comparisons,
        te_judged.arithmetic,
        te_judged.fault,
        te_judged.bounds,
    ),
    frozenset(LINKS | {"tags", "delay_ms", "packets_per_s", "packet", "duration_s", "moves"}),
    is_alone=True,
)
PARTS: Mapping[str, Part] = {
    "recovery": RECOVERY,
    **dict.fromkeys(("rtt", "tcp", "duplex", "udp"), PATH),
    "load": LOAD,
    "vcs": VCS,
    "te": TE,
}
