"""Little's law and conservation on every queue of a tree of all disciplines."""

from __future__ import annotations

from .bed import RATE_BPS, Stream, queues, run
from .verdict import Measured


def all_disciplines(seed: int) -> list[Measured]:
    """A priority tree with every kind of queue in it, overloaded for a while, then drained."""
    red = {"limit": 60_000, "min": 5_000, "max": 20_000, "avpkt": 1000, "probability": 0.1}
    shaped = queues.Tbf(rate=RATE_BPS / 20, burst=10_000, limit=50_000)
    tree = queues.Prio(
        classes={
            "ef": queues.PrioClass(queue=shaped),
            "af1": queues.PrioClass(
                queue=queues.Gred(
                    limit=60_000,
                    queues={
                        "af11": queues.GredQueue(phb=["AF11"], **red),
                        "af12": queues.GredQueue(phb=["AF12"], **red),
                    },
                )
            ),
            "af2": queues.PrioClass(queue=queues.Red(**red)),
            "af3": queues.PrioClass(queue=queues.FqCodel()),
            "rest": queues.PrioClass(queue=queues.Bfifo(limit=40_000)),
        },
        filters=[
            {"phb": "EF", "class": "ef"},
            {"phb": ["AF11", "AF12"], "class": "af1"},
            {"phb": "AF21", "class": "af2"},
            {"phb": "AF31", "class": "af3"},
        ],
    )
    codes = ("EF", "AF11", "AF12", "AF21", "AF31", "BE")
    streams = [Stream(code, 0.25 * RATE_BPS, 300 + 200 * place, code) for place, code in enumerate(codes)]
    seen = run(seed, tree, streams, 0.5, warm=0, drain=True)
    rows = []
    for path, row in seen.queues.items():
        if not row["given_packets"]:
            continue
        inside = row["mean_packets"] * seen.end_s
        waited = row["mean_wait_s"] * (row["given_packets"] - row["backlog_packets"])
        name = f"Little's law, {path} ({row['discipline']})"
        source = "area under the backlog and sum of the waits, drained: equal but for rounding of figures"
        rows.append(
            Measured(name, "packets x s", (inside,), waited, "bound", 1e-9 * max(waited, 1e-6), source)
        )
        kept = row["sent_packets"] + row["dropped_packets"] + row["backlog_packets"]
        name = f"conservation, {path} ({row['discipline']})"
        rows.append(
            Measured(
                name,
                "packets out, dropped, waiting",
                (kept,),
                row["given_packets"],
                "exact",
                source="packets in",
            )
        )
    return rows
