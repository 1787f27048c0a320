"""Queue trees of every discipline, meters and markers, in front of a link that is too narrow."""

from __future__ import annotations

from typing import Any

from .. import api
from ..registry import program
from ..seen import Seen
from .shapes import sites

LEAVES: dict[str, dict[str, Any]] = {
    "pfifo": {"discipline": "pfifo", "limit": 20},
    "bfifo": {"discipline": "bfifo", "limit": "15 kB"},
    "fq-codel": {
        **{"discipline": "fq_codel", "limit": 200, "flows": 16, "quantum": 600, "target": "2 ms"},
        **{"interval": "30 ms", "ecn": True, "ce_threshold": "10 ms", "memory_limit": "40 kB"},
    },
    "red": {
        **{"discipline": "red", "limit": "60 kB", "min": "5 kB", "max": "30 kB", "avpkt": 700, "burst": 10},
        **{"probability": 0.1, "bandwidth": "10 Mbit/s", "ecn": True, "harddrop": True},
    },
    "gred": {
        **{
            "discipline": "gred",
            "limit": "60 kB",
            "min": "5 kB",
            "max": "30 kB",
            "burst": "9 kB",
            "grio": True,
        },
        "queues": {
            "AF11": {"prio": 1, "probability": 0.02},
            "more": {"phb": ["AF12", "AF13"], "prio": 2, "probability": 0.2},
            "rest": {"phb": ["EF", "default"], "prio": 8},
        },
        "default": "rest",
    },
    "tbf": {"discipline": "tbf", "rate": "4 Mbit/s", "burst": "6 kB", "latency": "20 ms"},
    "tbf-peak": {
        **{"discipline": "tbf", "rate": "4 Mbit/s", "burst": "20 kB", "limit": "30 kB"},
        **{"peakrate": "6 Mbit/s", "mtu": 1600},
    },
    "tbf-queue": {
        **{"discipline": "tbf", "rate": "4 Mbit/s", "burst": "6 kB"},
        "queue": {"discipline": "pfifo", "limit": 9},
    },
}

FILTERS = [
    {"phb": "EF", "class": "voice"},
    {"dscp": ["AF11", "AF12"], "class": "business"},
    {"protocol": "udp", "dst_ports": "7000-7010", "class": "business"},
]

TREES: dict[str, dict[str, Any]] = {
    "prio": {
        "discipline": "prio",
        "classes": {"voice": {"queue": LEAVES["bfifo"]}, "business": {}, "rest": {"queue": LEAVES["pfifo"]}},
        "filters": FILTERS,
        "default": "rest",
    },
    "drr": {
        "discipline": "drr",
        "classes": {
            "voice": {"quantum": 3000},
            "business": {"quantum": 1500, "queue": LEAVES["red"]},
            "rest": {"queue": LEAVES["pfifo"]},
        },
        "filters": FILTERS,
        "default": "rest",
    },
    "htb": {
        **{"discipline": "htb", "r2q": 5, "direct_qlen": 50},
        "classes": {
            "all": {"rate": "5 Mbit/s", "ceil": "6 Mbit/s", "burst": "10 kB", "cburst": "8 kB"},
            "voice": {"parent": "all", "rate": "1 Mbit/s", "prio": 0, "queue": LEAVES["bfifo"]},
            "business": {"parent": "all", "rate": "2 Mbit/s", "ceil": "5 Mbit/s", "prio": 1, "quantum": 2000},
            "rest": {
                "parent": "all",
                "rate": "1 Mbit/s",
                "ceil": "5 Mbit/s",
                "prio": 2,
                "queue": LEAVES["fq-codel"],
            },
        },
        "filters": FILTERS,
        "default": "rest",
    },
    "htb-direct": {
        "discipline": "htb",
        "classes": {"voice": {"rate": "1 Mbit/s", "ceil": "2 Mbit/s"}, "business": {"rate": "2 Mbit/s"}},
        "filters": FILTERS,
        "direct_qlen": 15,
    },
    "cbq": {
        **{"discipline": "cbq", "bandwidth": "10 Mbit/s", "avpkt": 700, "mpu": 64, "ewma": 4, "allot": 1500},
        "classes": {
            "all": {"rate": "6 Mbit/s", "bounded": True},
            "voice": {"parent": "all", "rate": "1 Mbit/s", "prio": 1, "maxburst": 10, "minburst": 2},
            "business": {
                "parent": "all",
                "rate": "3 Mbit/s",
                "prio": 3,
                "weight": "2 Mbit/s",
                "isolated": True,
            },
            "rest": {"parent": "all", "rate": "2 Mbit/s", "minidle": "1 ms", "queue": LEAVES["pfifo"]},
        },
        "filters": FILTERS,
        "default": "rest",
    },
}


def _narrow(seen: Seen, tree: Any, **more: Any) -> None:
    """Four flows of 13 Mbit/s together through a link of 10 Mbit/s, for 300 ms."""
    net, node = sites(ap={"queue": {"a": tree}}, **more)
    sizes = api.source("Uniform", 100, 1400)
    on_off = api.source("OnOff", on="20 ms", off="10 ms", kind="pareto", shape=1.6)
    left, right = node["left"], node["right"]
    shared: dict[str, Any] = {"start": "20 ms", "stop": "320 ms"}
    net.flow(left, right, name="voice", rate="2 Mbit/s", size=200, dscp="EF", log=True, **shared)
    net.flow(left, right, name="af", rate="4 Mbit/s", size=1000, arrivals="poisson", dscp="AF11", **shared)
    net.flow(left, right, name="af12", rate="3 Mbit/s", size=sizes, arrivals="poisson", dscp="AF12", **shared)
    net.flow(left, right, name="bulk", rate="4 Mbit/s", size=1400, arrivals=on_off, dst_port=7005, **shared)
    net.flow(left, right, name="rest", rate="3 Mbit/s", size=api.source("Imix"), rate_counts="ip", **shared)
    with api.quiet() as said:
        seen.tap(net)
        net.run(until="400 ms")
    seen.fact("warnings", sorted(said))
    seen.fact("description", api.described(net)["links"])
    seen.network(net)


def _enter() -> None:
    """A program for each leaf and each tree, at the rate of the port or of its own."""
    for name, tree in {**LEAVES, **TREES}.items():

        def narrow(seen: Seen, tree: Any = tree) -> None:
            _narrow(seen, tree)

        narrow.__name__ = f"queue_{name}"
        program(narrow)


_enter()


@program
def queue_nested(seen: Seen) -> None:
    """Disciplines in disciplines, with bytes counted as IP packets and with overhead."""
    inner = {"discipline": "tbf", "rate": "3 Mbit/s", "burst": "6 kB", "queue": TREES["drr"]}
    root = {
        "discipline": "prio",
        "classes": {
            "voice": {"queue": LEAVES["gred"]},
            "business": {"queue": inner},
            "rest": {"queue": LEAVES["tbf"]},
        },
        "filters": [{"phb": "AF1", "class": "voice"}, {"dscp": "EF", "class": "business"}],
        "default": "rest",
    }
    _narrow(seen, {"root": root, "accounting": {"layer": "ip", "overhead": 20, "minimum": 84}})


def _rule(name: str, meter: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "meter": meter, **more}


TOKEN = {"kind": "token-bucket", "rate": "1 Mbit/s", "burst": "4 kB", "peakrate": "3 Mbit/s", "mtu": 1600}
SINGLE = {"kind": "single-rate", "cir": "2 Mbit/s", "cbs": "5 kB", "ebs": "10 kB"}
TWO = {"kind": "two-rate", "cir": "1 Mbit/s", "cbs": "4 kB", "pir": "2 Mbit/s", "pbs": "8 kB"}


@program
def meters(seen: Seen) -> None:
    """Every kind of meter and action, in front of a tree that sees the marks."""
    edge = {
        "accounting": {"layer": "frame"},
        "rules": [
            _rule("voice", TOKEN, dscp="EF", red="drop"),
            _rule("af", SINGLE, dscp="AF11", green="remark AF11", yellow="remark AF12", red="remark AF13"),
            _rule("aware", {**TWO, "aware": True}, phb=["AF12", "AF13"], green="mark 7", yellow="mark 8"),
            {"name": "rest", "protocol": "udp", "green": "remark CS1"},
        ],
    }
    marked = {
        **TREES["prio"],
        "filters": [{"mark": 7, "class": "voice"}, {"mark": 8, "class": "business"}, *FILTERS],
    }
    _narrow(seen, {"root": marked, "accounting": {"layer": "wire"}}, left_a={"ingress": {"a": edge}})


@program
def placed_later(seen: Seen) -> None:
    """Trees and meters put at links that are there already, and packets kept for their series."""
    net, node = sites()
    net.place("p", "b", queue=TREES["htb"], ingress=None)
    net.place("b", "p", ingress={"rules": [_rule("all", TWO, yellow="remark AF12", red="drop")]})
    net.flow(
        node["left"], node["right"], rate="9 Mbit/s", size=700, arrivals="poisson", stop="200 ms", log=True
    )
    net.flow(node["right"], node["left"], rate="3 Mbit/s", size=100, stop="200 ms", trace=True)
    with api.quiet() as said:
        seen.tap(net)
        net.run(until="300 ms")
    seen.fact("warnings", said)
    seen.table("Flow.packets", api.frame(net.flows[0].packets()))
    seen.network(net)
