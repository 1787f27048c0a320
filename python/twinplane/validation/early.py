"""RED against its formula: where an overloaded queue settles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from . import theory
from .bed import GAP_BYTES, RATE_BPS, Stream, queues, run
from .verdict import Measured

SIZE = 1000
LOW, HIGH, GREATEST = 30_000, 90_000, 0.2
SECONDS = 8.0


def settled(seed: int, overload: float) -> list[Measured]:
    """Constant arrivals beyond the rate of the link: what has to be dropped fixes the average queue."""
    red = queues.Red(
        limit=400_000, min=LOW, max=HIGH, avpkt=SIZE, burst=40, probability=GREATEST, bandwidth=RATE_BPS
    )
    tree = queues.Tree(root=red, accounting=queues.Accounting(layer="frame"))
    served = RATE_BPS / ((SIZE + GAP_BYTES) * 8)
    share = 1 - 1 / overload
    stream = Stream("f", overload * served * SIZE * 8, SIZE, arrivals="constant", log=True)
    seen = run(seed, tree, [stream], SECONDS, warm=0.25)
    gaps = _gaps(seen.packets["f"])
    mean = math.fsum(gaps) / len(gaps)
    spread = math.sqrt(math.fsum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean
    # Gaps between drops are uniform over 1 to 1/p.
    longest = (2 - share) / share
    name = f"RED, {overload:g} times the link"
    return [
        Measured(
            name,
            "mean queue (bytes)",
            (seen.steady["root"] * SIZE,),
            theory.red_average(share, LOW, HIGH, GREATEST),
            kind="bound",
            tolerance=SIZE,
            source="Floyd and Jacobson 1993: p = max_p (avg - min) / (max - min); a packet, since RED looks"
            " at arrivals, not at all times",
        ),
        Measured(
            name,
            "spread of gaps between drops, by their mean",
            (spread,),
            math.sqrt((longest**2 - 1) / 12) / ((longest + 1) / 2),
            kind="bound",
            tolerance=0.03,
            source="Floyd and Jacobson 1993, 7, method 2: uniform over 1 to 1/p; 0.03 for its moves",
        ),
    ]


def _gaps(arrived: Sequence[bool]) -> list[int]:
    """From one lost packet to the next, in the later three quarters."""
    lost = [place for place, came in enumerate(arrived) if not came and place > len(arrived) // 4]
    return [after - before for before, after in pairwise(lost)]
