"""What is surprising about queues and conditioners, though it runs."""

import html
import warnings
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane import queues as q

from tests.support.queues import htb, network


def test_rates_that_do_not_add_up_are_a_warning_that_says_by_how_much(tmp_path: Path) -> None:
    net, a, b = network()
    classes = {name: {"rate": rate} for name, rate in (("ef", 0.8e6), ("af1", 2e6), ("de", 1e6))}
    shaper = q.Htb(
        classes={"all": {"rate": "2.8 Mbit/s"}, **{k: {**v, "parent": "all"} for k, v in classes.items()}}
    )
    net.link(a, b, rate="100 Mbit/s", queue={"a": shaper})
    more = (
        "link a - b: queue at a: class 'all': the rates of ef, af1 and de add up to 3.8 Mbit/s,"
        " 1 Mbit/s more than the 2.8 Mbit/s of 'all', which they are in"
    )
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="1 ms")
    rest = "link a - b: queue at a: no packet gets to ef, af1 and de: no filter leads there"
    said = [str(one.message) for one in caught]
    assert said[:2] == [more, rest] and said == net.warnings
    assert len(said) == 3 and "they leave before all classes, at the rate of the port" in said[2]
    assert {one.filename for one in caught} == {__file__}  # the user's line, not one of the library
    page = tp.report(net, tmp_path / "page.html")
    assert html.unescape(page.read_text()).count(f"Warning: {more}.") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net, a, b = network()
        net.link(a, b, rate="100 Mbit/s", queue={"a": htb(filters=[{"phb": "EF", "class": "gold"}])})
        net.run(until="1 ms")
    assert net.warnings == []


def test_the_same_at_several_ends_is_said_once() -> None:
    net, a, b = network()
    for x, y in ((a, b), (b, net.router("c"))):
        net.link(x, y, queue=q.Drr(classes={"x": {}, "y": {}}, default="x"))
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="1 us")
    assert [str(one.message) for one in caught] == [
        "link a - b: queue at a: no packet gets to y: no filter leads there (and so at 3 more)"
    ]


def test_what_is_surprising_about_rules_is_a_warning_too() -> None:
    net, a, b = network()
    rules = [
        {"name": "one", "meter": {"kind": "token-bucket", "rate": 1e6, "burst": 100}, "phb": "EF"},
        {"name": "two", "yellow": "drop"},
    ]
    net.link(a, b, ingress={"b": q.Conditioner(rules=rules)})
    net.link(a, b, queue={"a": q.Tree(root=q.Pfifo(), conditioner=q.Conditioner(rules=rules))})
    with pytest.warns(tp.TwinplaneWarning):
        said = net.warnings
    burst = "rule 1 'one': burst=100 is less than the longest packet"
    yellow = "rule 2 'two': without a meter all packets are green: 'yellow' and 'red' mean nothing"
    assert [text.partition(" (1514")[0] for text in said] == [
        f"link a - b: ingress at b: {burst}",
        f"link a - b: ingress at b: {yellow}",
        f"link a - b: queue at a: conditioner: {burst}",
        f"link a - b: queue at a: conditioner: {yellow}",
    ]


def said_of(**link: Any) -> list[str]:
    net, a, b = network()
    net.link(a, b, **{"rate": "10 Mbit/s", **link})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [text.removeprefix("link a - b: queue at a: ") for text in net.warnings]


def tbf(burst: int, **more: Any) -> q.Tbf:
    return q.Tbf(rate="1 Mbit/s", burst=burst, latency="1 s", **more)


def test_packets_that_no_filter_takes_are_warned_of() -> None:
    classes: dict[str, Any] = {"x": {}, "y": {}}
    voice = {"phb": "EF", "class": "x"}
    left = (
        "no filter takes ARP, RSVP, routing, best-effort IP, labelled packets and some others, and there is"
        " no default: they are dropped (no-class), so that neighbours are not found and LSPs do not come up:"
        " say in 'default' which class takes them"
    )
    others = {"phb": "AF1", "class": "y"}
    assert said_of(queue={"a": q.Drr(classes=classes, filters=[voice, others])}) == [left]
    assert said_of(queue={"a": q.Drr(classes=classes, filters=[voice, others], default="y")}) == []
    assert said_of(queue={"a": q.Drr(classes=classes, filters=[voice, {"class": "y"}])}) == []
    af = q.Gred(limit="60 kB", queues={"AF11": {}, "AF12": {}, "AF13": {}})
    inner = q.Prio(classes={"af": {"queue": af}, "y": {}}, filters=[{"phb": "AF1", "class": "af"}])
    assert said_of(queue={"a": inner}) == []


def test_the_longest_packet_is_counted_as_the_tree_does() -> None:
    def tree_of(burst: int, layer: str) -> dict[str, Any]:
        return {"a": q.Tree(root=tbf(burst), accounting={"layer": layer})}

    assert said_of(queue=tree_of(1500, "ip")) == said_of(queue=tree_of(1538, "wire")) == []
    less = "burst=1514 is less than the longest packet (1538 B): longer ones than that are dropped"
    assert said_of(queue=tree_of(1514, "wire")) == [less]
    assert said_of(queue={"a": tbf(1600)}, mtu=9000) == [
        "burst=1600 is less than the longest packet (9014 B): longer ones than that are dropped"
    ]
    # Nobody asked for the 9216 bytes of a link that says nothing.
    assert said_of(queue={"a": tbf(1600)}) == []


def test_packets_beyond_a_burst_are_told_at_the_end() -> None:
    net = tp.Network()
    a, h, k = net.router("a"), net.host("h", "10.1.0.2/24"), net.host("k", "10.2.0.2/24")
    net.link(h, a, rate="100 Mbit/s")
    net.link(a, k, rate="100 Mbit/s", queue={"a": q.Tbf(rate="9 Mbit/s", burst=1600, latency="1 s")})
    net.flow(h, k, rate="1 Mbit/s", size=9000, stop="0.1 s", name="big")
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="50 ms")
        net.run(until="1 s")
    before, after = [str(one.message).removeprefix("link a - k: queue at a: ") for one in caught]
    assert before.startswith("burst=1600 is less than the longest packet (8996 B, of flow 'big'): longer")
    assert "were dropped since they are longer than its bucket (beyond-burst)" in after
    assert len(net.warnings) == 2 and {one.filename for one in caught} == {__file__}


def test_what_has_no_effect_is_warned_of() -> None:
    slow: dict[str, Any] = {"rate": "1 Mbit/s", "queue": tbf(3000)}
    for queue, mark in (
        (q.Htb(classes={"x": {**slow, "ceil": "2 Mbit/s"}}, default="x"), "class 'x': ceil=2 Mbit/s means"),
        (q.Cbq(bandwidth="5mbit", avpkt=1000, classes={"x": slow}, default="x"), "bandwidth=5 Mbit/s is not"),
        (
            q.Tbf(rate="20mbit", burst=3000, limit=9000),
            "rate=20 Mbit/s is more than the 10 Mbit/s of the port",
        ),
        (
            q.Tbf(rate="9mbit", burst=3000, queue=q.Htb(classes={"x": {"rate": "60mbit"}}, default="x")),
            "the rate of x is 60 Mbit/s, 51 Mbit/s more than the 9 Mbit/s of the tbf that it is in",
        ),
        (
            q.Drr(classes={"x": {}}, filters=[{"mark": 7, "class": "x"}], default="x"),
            "filter 1: it can match nothing: no conditioner puts mark 7 on packets",
        ),
        (
            q.Tree(root=q.Pfifo(), accounting={"layer": "ip", "overhead": -40}),
            "accounting: with overhead=-40 packets of up to 41 B of IP count for 1 byte",
        ),
    ):
        said = said_of(queue={"a": queue})
        assert len(said) == 1 and said[0].startswith(mark), said
    with pytest.raises(tp.TwinplaneError, match="accounting: overhead: -65: it should be -64 to 65535"):
        q.Tree(root=q.Pfifo(), accounting={"overhead": -65})
