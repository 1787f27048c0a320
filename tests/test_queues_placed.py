"""Queues and conditioners at the ends of links, and neighbours that they name."""

import pytest
import twinplane as tp
from twinplane import queues as q

from tests.support.queues import htb, network


def test_queues_are_at_the_ends_that_are_named() -> None:
    net, a, b = network()
    net.link(a, b, queue={"b": q.Pfifo(limit=7)}, ingress={a: q.Conditioner(rules=[{"name": "all"}])})
    net.link(a, b, queue=htb())
    first, second = net.lowered()["links"]
    assert first["b_queue"]["root"] == {"discipline": "pfifo", "limit": 7}
    assert "a_queue" not in first and first["a_ingress"]["rules"][0]["name"] == "all"
    assert second["a_queue"] == second["b_queue"]
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
    assert net.lowered()["links"][1]["a_queue"]["root"]["filters"][0]["inputs"] == [0, 2]
    net.link(a, b, queue={"a": q.Drr(classes={"x": {}}, filters=[{"inputs": [direct], "class": "x"}])})
    assert net.lowered()["links"][3]["a_queue"]["root"]["filters"][0]["inputs"] == [2]
    net.link(a, b, queue={"b": into})
    with pytest.raises(tp.TwinplaneError, match=r"queue at b: inputs: b has no neighbour 'c' \(one of a"):
        net.lowered()


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
    filters = net.lowered()["links"][2]["a_queue"]["root"]["filters"]
    assert [one["inputs"] for one in filters] == [[1], [0]]
    net.link(a, b, queue={"a": q.Drr(classes={"x": {}}, filters=[{"inputs": "c:e7", "class": "x"}])})
    with pytest.raises(tp.TwinplaneError, match="inputs: no link of a has an end 'c:e7' "):
        net.lowered()
