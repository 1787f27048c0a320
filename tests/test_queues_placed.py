"""Queues and conditioners at the ends of links, and neighbours that they name."""

import pytest
import twinplane as tp
from twinplane import queues as q

from tests.support.queues import htb, network


def test_queues_are_at_the_ends_that_are_named() -> None:
    net, a, b = network()
    net.link(a, b, queue={"b": q.Pfifo(limit=7)}, ingress={a: q.Conditioner(rules=[{"name": "all"}])})
    net.link(a, b, queue=htb())
    placed = net.draft.at_ends()
    assert (placed[0, "b", "queue"]["discipline"], placed[0, "b", "queue"]["limit"]) == ("pfifo", 7)
    assert (0, "a", "queue") not in placed and placed[0, "a", "ingress"]["rules"][0]["name"] == "all"
    assert placed[1, "a", "queue"] == placed[1, "b", "queue"]
    with pytest.raises(
        tp.TwinplaneError, match="link a - b: queue: 'c' is not an end of this link, a and b are"
    ):
        net.link(a, b, queue={"c": q.Pfifo()})
    assert len(net.links) == 2


def test_inputs_are_ports_of_the_node() -> None:
    net, a, b = network()
    c = net.router("c")
    net.link(a, c)
    into = {"discipline": "drr", "classes": {"x": {}, "y": {}}, "filters": [{"inputs": "c", "class": "x"}]}
    net.link(a, b, queue={"a": into})
    direct = net.link(a, c)
    assert net.draft.at_ends()[1, "a", "queue"]["filters"][0]["inputs"] == [0, 2]
    net.link(a, b, queue={"a": q.Drr(classes={"x": {}}, filters=[{"inputs": [direct], "class": "x"}])})
    assert net.draft.at_ends()[3, "a", "queue"]["filters"][0]["inputs"] == [2]
    net.link(a, b, queue={"b": into})
    refused = r"^link a:e4 - b:e2: queue at b: filter 1: inputs: b has no neighbour 'c' \(one of a\)"
    with pytest.raises(tp.TwinplaneError, match=refused):
        net.draft.at_ends()


def test_inputs_may_be_interfaces_where_links_are_parallel() -> None:
    net, a, b = network()
    c = net.router("c")
    net.link(a, c)
    net.link(a, c)
    net.link(
        a,
        b,
        queue={
            "a": q.Drr(
                classes={"x": {}, "y": {}},
                filters=[{"inputs": "c:e1", "class": "x"}, {"inputs": ["a:e0"], "class": "y"}],
            )
        },
    )
    filters = net.draft.at_ends()[2, "a", "queue"]["filters"]
    assert [one["inputs"] for one in filters] == [[1], [0]]
    net.link(a, b, queue={"a": q.Drr(classes={"x": {}}, filters=[{"inputs": "c:e7", "class": "x"}])})
    with pytest.raises(tp.TwinplaneError, match="inputs: no link of a has an end 'c:e7' "):
        net.draft.at_ends()
