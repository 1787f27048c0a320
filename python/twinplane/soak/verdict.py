"""What a soak run shows: leaks of memory, drift of state, LSPs that went down, processor used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .programme import Round, Sample

LEAST = 3
"""Fewer intervals say nothing."""

GROWTH_SHARE = 0.02
GROWTH_BYTES = 1_000_000
"""So much larger may memory be in the last third of the run than in the second, whichever is more."""

TRANSIENT = ("timers", "waiting")
"""What depends on the moment: it may vary, but not grow."""


@dataclass
class Verdict:
    """What was found, in sentences; nothing if all is well."""

    faults: list[str] = field(default_factory=list)
    growth_bytes: dict[str, int] = field(default_factory=dict)
    """By router: how much more memory in the last third than in the second."""
    cpu_share: dict[str, float] = field(default_factory=dict)
    """By router: processor used, of one core, by the clock of the run."""

    @property
    def good(self) -> bool:
        """Nothing leaks, nothing drifts."""
        return not self.faults


def judge(rounds: Sequence[Round]) -> Verdict:
    """Compare the intervals with the first."""
    found = Verdict()
    if len(rounds) < LEAST:
        found.faults.append(f"{len(rounds)} intervals are too few to judge by: at least {LEAST} are needed")
        return found
    by_node = {
        sample.node: [one for r in rounds for one in r.samples if one.node == sample.node]
        for sample in rounds[0].samples
    }
    for node, samples in by_node.items():
        _state(found, node, samples)
        _memory(found, node, samples)
        passed = rounds[-1].end_s - rounds[0].end_s
        found.cpu_share[node] = (samples[-1].cpu_s - samples[0].cpu_s) / passed
    for one in rounds:
        if one.downs:
            found.faults.append(f"interval {one.number}: {one.downs} LSPs went down by themselves")
    if rounds[-1].lost:
        found.faults.append(f"{rounds[-1].lost} packets of the steady flow got lost")
    return found


def _state(found: Verdict, node: str, samples: Sequence[Sample]) -> None:
    first = samples[0]
    for number, sample in enumerate(samples[1:], 2):
        if sample.tunnels_up != first.tunnels_up:
            found.faults.append(
                f"router '{node}', interval {number}: {sample.tunnels_up} LSPs up, {first.tunnels_up} before"
            )
        for key, value in sample.state.items():
            if key not in TRANSIENT and value != first.state[key]:
                found.faults.append(
                    f"router '{node}', interval {number}: {key} is {value}, {first.state[key]} at first"
                )
    third = len(samples) // 3
    for key in TRANSIENT:
        early = max(sample.state[key] for sample in samples[: len(samples) - third])
        late = max(sample.state[key] for sample in samples[len(samples) - third :])
        if late > early * 1.1 + 2:
            found.faults.append(
                f"router '{node}': {key} grows: up to {late} in the last third, {early} before"
            )


def _memory(found: Verdict, node: str, samples: Sequence[Sample]) -> None:
    third = len(samples) // 3
    second = max(sample.rss_bytes for sample in samples[third : 2 * third])
    last = max(sample.rss_bytes for sample in samples[-third:])
    found.growth_bytes[node] = last - second
    if last - second > max(GROWTH_BYTES, GROWTH_SHARE * second):
        found.faults.append(f"router '{node}': memory grows: {second / 1e6:.1f} to {last / 1e6:.1f} MB")
