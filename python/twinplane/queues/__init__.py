"""Classes of service: queue disciplines, filters, meters and markers, in front of the links of a network.

.. code-block:: python

    import twinplane as tp
    from twinplane import queues as q

    shaper = q.Htb(
        classes={
            "all": q.HtbClass(rate="4 Mbit/s"),
            "gold": q.HtbClass(parent="all", rate="1 Mbit/s", ceil="4 Mbit/s", queue=q.Bfifo(limit="10 kB")),
            "rest": q.HtbClass(parent="all", rate="3 Mbit/s", ceil="4 Mbit/s"),
        },
        filters=[{"phb": "EF", "class": "gold"}],
        default="rest",
    )
    net.link(a, b, rate="100 Mbit/s", queue={"a": shaper})

Rates are numbers in bits per second or texts such as ``"2.8 Mbit/s"``, sizes bytes or ``"10 kB"``, times
seconds or ``"5 ms"``. Parameters have the names of Linux's tc. The core declares and checks them when an
object is made: what is wrong is said by a `twinplane.TwinplaneError` of one sentence, and fields that were
not given have their defaults.
"""

from ..model.generated import (
    Accounting,
    Bfifo,
    Cbq,
    CbqClass,
    Conditioner,
    Drr,
    DrrClass,
    Filter,
    FqCodel,
    Gred,
    GredQueue,
    Htb,
    HtbClass,
    Match,
    Pfifo,
    Prio,
    PrioClass,
    Red,
    Rule,
    SingleRate,
    Tbf,
    TokenBucket,
    Tree,
    TwoRate,
)

__all__ = [
    "Accounting",
    "Bfifo",
    "Cbq",
    "CbqClass",
    "Conditioner",
    "Drr",
    "DrrClass",
    "Filter",
    "FqCodel",
    "Gred",
    "GredQueue",
    "Htb",
    "HtbClass",
    "Match",
    "Pfifo",
    "Prio",
    "PrioClass",
    "Red",
    "Rule",
    "SingleRate",
    "Tbf",
    "TokenBucket",
    "Tree",
    "TwoRate",
]
