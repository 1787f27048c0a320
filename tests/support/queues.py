"""Networks with queues for tests."""

from typing import Any

import twinplane as tp
from twinplane import queues as q


def htb(**more: Any) -> q.Htb:
    classes = {
        "all": q.HtbClass(rate="4 Mbit/s"),
        "gold": q.HtbClass(
            parent="all", rate="1 Mbit/s", ceil="4 Mbit/s", prio=1, queue=q.Bfifo(limit="10 kB")
        ),
        "rest": q.HtbClass(parent="all", rate=3e6, queue=q.FqCodel(target="2 ms")),
    }
    return q.Htb(**{"classes": classes, "default": "rest", **more})


def network() -> tuple[tp.Network, tp.Router, tp.Router]:
    net = tp.Network()
    return net, net.router("a"), net.router("b")


def bands() -> q.Prio:
    classes = {"voice": {"queue": q.Bfifo(limit="10 kB")}, "rest": {"queue": q.Pfifo(limit=20)}}
    return q.Prio(classes=classes, filters=[{"phb": "EF", "class": "voice"}])


def loaded(**more: Any) -> tuple[tp.Network, tp.Link]:
    """Two flows through a link of 1 Mbit/s with a queue, 1.5 Mbit/s together."""
    net = tp.Network(queue_bin="50 ms")
    a, b, h = net.router("a"), net.router("b"), net.host("h")
    edge = q.Conditioner(
        rules=[{"name": "ef", "dscp": "EF", "meter": q.TokenBucket(rate="300 kbit/s", burst="3 kB")}]
    )
    net.link(h, a, rate="100 Mbit/s", addresses=("10.1.0.2/24", "10.1.0.1/24"), ingress={"a": edge})
    link = net.link(a, b, rate="1 Mbit/s", queue={"a": more.get("queue", bands())})
    net.link(b, h, rate="100 Mbit/s", addresses=("10.2.0.1/24", "10.2.0.2/24"))
    for name, rate, dscp in (("voice", "500 kbit/s", "EF"), ("rest", "1 Mbit/s", 0)):
        net.flow(
            h,
            h,
            from_link="a",
            to_link="b",
            rate=rate,
            size=518,
            dscp=dscp,
            name=name,
            log=name == "voice",
            arrivals="poisson",
            stop="2 s",
        )
    return net, link
