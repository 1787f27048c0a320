"""RED against its formula: where an overloaded queue settles."""

from __future__ import annotations

from .. import queues
from . import theory
from .bed import GAP_BYTES, RATE_BPS, Stream, run
from .queueing import REPETITIONS
from .verdict import Measured

SIZE = 1000
LOW, HIGH, GREATEST = 30_000, 90_000, 0.2
SECONDS = 4.0


def settled(seed: int, overload: float) -> list[Measured]:
    """Constant arrivals beyond the rate of the link: what has to be dropped fixes the average queue."""
    tree = queues.Red(
        limit=400_000, min=LOW, max=HIGH, avpkt=SIZE, burst=40, probability=GREATEST, bandwidth=RATE_BPS
    )
    tree = queues.Tree(root=tree, accounting=queues.Accounting(layer="frame"))
    served = RATE_BPS / ((SIZE + GAP_BYTES) * 8)
    share = 1 - 1 / overload
    stream = Stream("f", overload * served * SIZE * 8, SIZE, arrivals="constant")
    averages, losses = [], []
    for one in range(1000 * seed, 1000 * seed + REPETITIONS):
        row = run(one, tree, [stream], SECONDS, warm=0).queues["root"]
        averages.append(row["mean_packets"] * SIZE)
        losses.append(row["dropped_packets"] / row["given_packets"])
    expected = theory.red_average(share, LOW, HIGH, GREATEST)
    source = "Floyd and Jacobson 1993: p = max_p (avg - min) / (max - min), gaps uniform over 1 to 1/p"
    return [
        Measured(
            f"RED, {overload:g} times the link",
            "mean queue (bytes)",
            tuple(averages),
            expected,
            source=source,
        ),
        Measured(
            f"RED, {overload:g} times the link",
            "share dropped",
            tuple(losses),
            share,
            source="what the link cannot carry",
        ),
    ]
