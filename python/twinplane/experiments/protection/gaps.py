"""Gaps of `protection`, by the three methods of RFC 6414, 3.6, side by side."""

from __future__ import annotations

from bisect import bisect_right

import polars as pl

from ...network import Network
from . import trees
from .build import times
from .classes import METHODS
from .parameters import DOWN_S, ProtectionParameters

KINDS = ("LSPs", "trees")
"""What carries a flow: an LSP with one end, or a tree."""


def flows(p: ProtectionParameters) -> dict[str, int]:
    """How many flows go over LSPs, and behind them in the network over trees."""
    return {"LSPs": min(p.lsps, 2), "trees": min(p.trees, 2)}


def received(network: Network, p: ProtectionParameters) -> pl.DataFrame:
    """What each flow sent to each receiver in the phase of each failure, and what arrived there."""
    streams = network.table("streams").filter(pl.col("phase") >= 0)
    flow = pl.col("flow").cast(pl.Int64)
    sent = streams.select(flow, "phase", pl.col("sent").cast(pl.Int64), "received", "duplicated")
    is_tree = pl.col("flow") >= flows(p)["LSPs"]
    over_lsps = sent.filter(~is_tree).with_columns(node=pl.lit("d"))
    parts = [over_lsps.with_columns(pl.col("received", "duplicated").cast(pl.Int64))]
    if p.trees:
        copies = network.table("receivers").select(
            flow, "phase", pl.col("received").cast(pl.Int64), "node", pl.col("duplicated").cast(pl.Int64)
        )
        parts.append(sent.filter(is_tree).drop("received", "duplicated").join(copies, on=["flow", "phase"]))
    columns = ["flow", "phase", "node", "sent", "received", "duplicated"]
    rows = pl.concat([part.select(columns) for part in parts])
    return rows.with_columns(
        kind=pl.when(is_tree).then(pl.lit("trees")).otherwise(pl.lit("LSPs")),
        is_before=pl.col("node") == trees.AT_BEFORE,
    ).sort("phase", "flow", "node")


def gaps(network: Network, p: ProtectionParameters, rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each interruption: its failure, its flow and receiver, and its gap in seconds.

    Packets lost are those sent in the phase of a failure that did not arrive, though their receiver is beyond
    it. When that was is known of what was lost on its way. What is lost by one of two LSPs (1+1) need not be
    missing, and a tree that has no branch there any more loses nothing on its way: then it is the receiver
    that tells when the first packet came that was not lost.
    """
    period, failed = 1 / p.packets_per_s, times(p, network.seed)
    lost_between, came_again = _lost_between(network, failed, period), _came_again(network, failed)
    found = []
    for one in rows.filter(~pl.col("is_before") & (pl.col("sent") > pl.col("received"))).to_dicts():
        at, packets = failed[one["phase"]], one["sent"] - one["received"]
        first_s, last_s = lost_between.get((one["flow"], one["phase"]), (at, at))
        again = max(last_s + period - at, 0.0)
        if p.doubled or (one["kind"] == "trees" and not p.protected):
            again = came_again.get((one["flow"], one["node"], one["phase"]))
            # One after the other: what was sent first and last is as far apart as there are packets.
            first_s = last_s = at
        found.append(
            {
                "kind": one["kind"],
                "flow": one["flow"],
                "receiver": one["node"],
                "failed_s": at,
                "packets": packets,
                "loss_s": packets * period,
                "time_s": again,
                # What is on a link is lost at once, though it was sent at different times.
                "timestamp_s": max(last_s - first_s + 2 * period, (packets + 1) * period),
            }
        )
    texts = {"kind": pl.String, "flow": pl.UInt32, "receiver": pl.String, "failed_s": pl.Float64}
    lengths = dict.fromkeys((f"{method}_s" for method in METHODS), pl.Float64)
    return pl.DataFrame(found, schema={**texts, "packets": pl.UInt64, **lengths})


def _lost_between(
    network: Network, failed: list[float], period: float
) -> dict[tuple[int, int], tuple[float, float]]:
    """When the first and the last packet of a flow were lost that a failure cost, by flow and failure."""
    found = {}
    for row in network.table("outages").to_dicts():
        # The last failure before that; the first packet may be lost with the link, a moment before.
        place = bisect_right(failed, row["first_s"] + period) - 1
        if place >= 0 and row["first_s"] <= failed[place] + DOWN_S:
            found[row["flow"], place] = (row["first_s"], row["last_s"])
    return found


def _came_again(network: Network, failed: list[float]) -> dict[tuple[int, str, int], float]:
    """From a failure until a packet came that followed missing ones, by flow, receiver and failure."""
    found: dict[tuple[int, str, int], float] = {}
    for row in network.table("loss_periods").sort("packets").to_dicts():
        place = bisect_right(failed, row["next_received_s"]) - 1
        if place >= 0:
            found[row["flow"], row["node"], place] = row["next_received_s"] - failed[place]
    return found
