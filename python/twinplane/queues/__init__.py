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
seconds or ``"5 ms"``. Parameters have the names of Linux's tc. What is wrong is said by a
`twinplane.TwinplaneError` of one sentence.
"""

from .conditioners import Accounting, Conditioner, Rule, SingleRate, TokenBucket, TwoRate
from .disciplines import Cbq, CbqClass, Drr, DrrClass, Htb, HtbClass, Prio, PrioClass, Tbf
from .early import Gred, GredQueue, Red
from .matching import Filter, Match
from .tree import Tree
from .waiting import Bfifo, FqCodel, Pfifo

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
