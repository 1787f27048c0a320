"""RED and GRED against the formula of Floyd and Jacobson: the share of packets dropped, and how far apart.

Two beds. In the first the average stands still: large packets fill the queue, then two thousand short ones
come within the time of one large packet on the link, so that nothing leaves, and add a thousandth to it. In
the second RED does what it is for: a constant overload meets it, and the average moves with every drop. There
the averages that packets met are computed again from what is known outside (when they came, which of them
were dropped, how long one takes on the link), and every drop is held against the probability that the formula
gives that packet.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .. import traffic
from ..network import Network
from . import theory
from .bed import DELAY_S, GAP_BYTES, RATE_BPS, queues
from .verdict import Measured

# -- an average that stands still -----------------------------------------------------------------------

REPETITIONS = 24
BALLAST, PROBE, PROBES = 65_000, 64, 2000
"""Bytes of the packets that fill the queue, of those that are counted, and how many of these there are."""
SETTLE = 200
"""So many of them come first, and are not counted."""
LOW, HIGH, GREATEST = 50_000_000, 150_000_000, 0.2
SLOW_BPS = 10_000_000
FILL_S, PROBE_S = 0.02, 0.02
"""A large packet takes 52 ms on the link: all come before the second one leaves the queue."""
OFFERED = ((1021, 65), (1468, 90), (2134, 125))
"""Large packets that are offered, of which RED drops some, and about how many MB of them wait then."""
SOURCE = "Floyd and Jacobson 1993, 7, method 2"
BINS = 20


@dataclass(frozen=True)
class Still:
    """Where probes meet a constant average."""

    name: str
    root: Any
    offered: int
    ballast: str
    """Behaviour of the packets that fill the queue."""
    probe: str


def _early(**more: Any) -> dict[str, Any]:
    # With a burst as long as min the weight of the average is a half: it follows within some packets.
    shared = {"limit": 4 * HIGH, "min": LOW, "max": HIGH, "avpkt": BALLAST, "probability": GREATEST}
    return {**shared, "burst": -(-LOW // BALLAST), **more}


def stills() -> list[Still]:
    """RED at three averages; GRED, which counts its own packets, or with RIO those of better priority too."""
    found = [
        Still(f"RED, average of {size} MB", queues.Red(**_early()), offered, "BE", "BE")
        for offered, size in OFFERED
    ]
    offered, size = OFFERED[1]
    members: dict[str, Any] = {
        "AF11": queues.GredQueue(min=HIGH, max=2 * HIGH, burst=HIGH // BALLAST + 1, prio=1),
        "AF12": queues.GredQueue(prio=2),
    }
    members = {"queues": members, "default": "AF12"}  # ARP too has to pass
    gred = queues.Gred(**_early(), **members)
    found.append(Still(f"GRED, average of {size} MB", gred, offered, "AF12", "AF12"))
    gred = queues.Gred(**_early(), grio=True, **members)
    # None of AF11 is dropped: all that are offered wait, but for the one on the link.
    offered = size * 1_000_000 // BALLAST + 1
    found.append(Still(f"GRED with RIO, {size} MB of AF11", gred, offered, "AF11", "AF12"))
    return found


def still(seed: int, case: Still) -> list[Measured]:
    """The share of probes that are dropped, and the numbers of packets from one drop to the next."""
    draw, whole, shares, observed, beyond = random.Random(seed), [], [], [0] * BINS, 0
    for one in range(1000 * seed, 1000 * seed + REPETITIONS):
        waiting, lost = _probed(one, case)
        first = GREATEST * (waiting * BALLAST - LOW) / (HIGH - LOW)
        # Half of the probes that are let in wait in front of the middle one: less than a thousandth.
        let_in = (1 - 1 / theory.red_spacing(first)) * PROBES / 2
        base = first + GREATEST * let_in * PROBE / (HIGH - LOW)
        whole.append(1 / theory.red_spacing(base))
        shares.append(sum(lost[SETTLE:]) / (PROBES - SETTLE))
        longest = math.floor(1 / first) + 1
        places = [place for place, gone in enumerate(lost) if gone]
        # A gap that begins near the end is not seen if it is long: none that begins there is counted.
        gaps = [b - a for a, b in pairwise(places) if SETTLE <= a < PROBES - longest]
        beyond += sum(gap > longest for gap in gaps)
        for gap in gaps:
            _sort(observed, 1 - (gap - 1) * base, base, draw)
    return [
        _share(case.name, shares, whole, f"{SOURCE}: one in the mean of the spacings at that average"),
        _uniform(case.name, observed, f"{SOURCE}: uniform over 1 to 1/p packets"),
        Measured(
            case.name,
            "gaps longer than 1/p",
            (beyond,),
            0,
            "exact",
            source="1/p packets after a drop the probability is 1",
        ),
    ]


def _share(name: str, seen: Sequence[float], formula: Sequence[float], source: str) -> Measured:
    """What each repetition lost beyond its own expectation, on the mean of the expectations."""
    expected = math.fsum(formula) / len(formula)
    values = tuple(expected + one - own for one, own in zip(seen, formula, strict=True))
    return Measured(name, "share dropped", values, expected, source=source)


def _sort(observed: list[int], longer: float, same: float, draw: random.Random) -> None:
    """A gap by the chance of one as long or longer, less a random part of the chance of one just as long.

    That is uniform if gaps are distributed as the formula says, though they are whole numbers.
    """
    chance = longer - draw.random() * min(same, longer)
    observed[min(BINS - 1, int(chance * BINS))] += 1


def _uniform(name: str, observed: Sequence[int], source: str) -> Measured:
    """Goodness of fit (Pearson 1900) to cells of the same probability."""
    share = sum(observed) / len(observed)
    value = math.fsum((count - share) ** 2 / share for count in observed)
    quantity = f"gaps between drops, chi-square of {sum(observed)}"
    return Measured(name, quantity, (value,), len(observed) - 1, "chi-square", source=source)


def _probed(seed: int, case: Still) -> tuple[int, list[bool]]:
    """How many large packets wait, and of each probe: was it dropped?

    The queue then drains, which takes long and costs nothing.
    """
    net = Network(seed=seed)
    a, b = net.router("a"), net.router("b")
    tree = queues.Tree(root=case.root, accounting=queues.Accounting(layer="frame"))
    net.link(a, b, rate=SLOW_BPS, delay=DELAY_S, queue={"a": tree}, mtu=65_535)
    start = FILL_S + 0.001

    def flow(name: str, count: int, size: int, dscp: str, at: float, width: float) -> Any:
        gaps = [width / count] * count
        arrivals = traffic.Trace(gaps=gaps, sizes=[size] * count)
        return net.flow(a, b, arrivals=arrivals, dscp=dscp, name=name, start=at, log=True)

    ballast = flow("ballast", case.offered, BALLAST, case.ballast, 0.0, FILL_S)
    probe = flow("probe", PROBES, PROBE, case.probe, start, PROBE_S)
    net.run(until=(case.offered + 2) * BALLAST * 8 / SLOW_BPS + 1)
    came = [[at is not None for at in one.packets()["arrival_s"].to_list()] for one in (ballast, probe)]
    return sum(came[0]) - 1, [not one for one in came[1]]


# -- an average that moves ------------------------------------------------------------------------------

SIZE = 1000
MIN, MAX, MOST, BURST = 30_000, 90_000, 0.2, 40
SECONDS = 1.5
MOVING = 16
"""Repetitions."""
OVERLOADS = (1.0513, 1.1487)
"""Arrivals by what the link sends: such that hardly ever one comes just when another leaves."""


def moving(seed: int, overload: float) -> list[Measured]:
    """Constant arrivals beyond the rate of the link: every drop beside the probability of that packet."""
    red = queues.Red(
        limit=400_000, min=MIN, max=MAX, avpkt=SIZE, burst=BURST, probability=MOST, bandwidth=RATE_BPS
    )
    tree = queues.Tree(root=red, accounting=queues.Accounting(layer="frame"))
    served_s = (SIZE + GAP_BYTES) * 8 / RATE_BPS
    draw, whole, shares, observed = random.Random(seed), [], [], [0] * BINS
    computed, counted = [], []
    for one in range(1000 * seed, 1000 * seed + MOVING):
        fates, longest = _overloaded(one, tree, overload / served_s * SIZE * 8)
        met = theory.red_replay(fates, served_s / overload, served_s, SIZE, (MIN, MAX, MOST), BURST)
        part = [(gone, p) for gone, p in zip(fates, met.probabilities, strict=True) if p]
        shares.append(sum(gone for gone, _ in part) / len(part))
        whole.append(math.fsum(p for _, p in part) / len(part))
        computed.append(met.most)
        counted.append(longest)
        for longer, same in met.gaps:
            _sort(observed, longer, same, draw)
    name = f"RED, {overload:g} times the link"
    each = "by the probability of each packet, given the drops before it"
    return [
        _share(name, shares, whole, f"{SOURCE}: {each}"),
        _uniform(name, observed, f"{SOURCE}: {each}"),
        Measured(
            name,
            "longest queue (packets)",
            (sum(counted),),
            sum(computed),
            "exact",
            source="computed again from arrivals and fates, added over repetitions",
        ),
    ]


def _overloaded(seed: int, tree: Any, rate_bps: float) -> tuple[list[bool], int]:
    """Of each packet: was it dropped? And how many waited at most."""
    net = Network(seed=seed)
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate=RATE_BPS, delay=DELAY_S, queue={"a": tree})
    # One packet goes ahead, so that no other has to wait until ARP knows the neighbour.
    net.flow(a, b, arrivals=traffic.Trace(gaps=[0.0], sizes=[SIZE]), name="ahead")
    flow = net.flow(
        a, b, rate=rate_bps, size=SIZE, arrivals="constant", name="f", start=0.001, stop=SECONDS, log=True
    )
    net.run(until=SECONDS + 0.1)
    lost = [at is None for at in flow.packets()["arrival_s"].to_list()]
    return lost, net.columns("queues")["backlog_packets_max"][0]
