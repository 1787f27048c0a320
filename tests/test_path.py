"""`Router.path`: which table decides on a packet at each router, and what it overrides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
import twinplane as tp
from twinplane.cli.path_table import packet, print_path
from twinplane.errors import TwinplaneError
from twinplane.lab.following import follow

ARGUMENTS: tuple[Any, ...] = (None, None, None, None, None)


def triangle(**lsp: Any) -> tp.Network:
    """A host at `a` and one at `c`, the short way between them, and an LSP by `b`."""
    net = tp.Network(seed=1)
    a, b, c = (net.router(name, ospf=True) for name in "abc")
    for x, y in [(a, c), (a, b), (b, c)]:
        net.link(x, y, rate="1 Gbit/s", delay="1 ms")
    here, there = net.host("here", address="10.1.0.2/24"), net.host("there", address="10.2.0.2/24")
    net.link(here, a, rate="1 Gbit/s")
    net.link(there, c, rate="1 Gbit/s")
    a.lsp("east", to=c, route=[b, c], filters=[{"dst": "10.2.0.0/24", "dscp": "EF"}], **lsp)
    return net


@pytest.fixture(scope="module")
def net() -> Iterator[tp.Network]:
    made = triangle(when_down="drop")
    made.run(until="60 s")
    yield made


def steps(found: pl.DataFrame) -> list[tuple[str, str, str]]:
    return list(found.select("node", "table", "action").iter_rows())


def test_a_filter_overrides_a_route(net: tp.Network) -> None:
    here = net.node("here")
    assert isinstance(here, tp.Host)
    found = here.path("there", dscp="EF")
    out, at_end = found["leaves"][0], found["leaves"][1]
    assert steps(found) == [
        ("a", "filter", f"push {out}"),
        ("b", "ilm", f"swap to {at_end}"),
        ("c", "ilm", "pop"),
        ("c", "fib", "forward"),
    ]
    assert found["owner"].to_list() == ["lsp east"] * 3 + ["connected"]
    assert found["labels"].to_list() == [None, out, at_end, None] and found["hop"].to_list() == [1, 2, 3, 3]
    assert found["overrides"][0].to_list() == ["fib 10.2.0.0/24 (ospf): forward to c"]
    assert found["to"].to_list() == ["b", "c", None, "there"]
    # Another code point follows the route, from the host or from outside at the router.
    a = net.node("a")
    assert isinstance(a, tp.Router)
    for path in (here.path("10.2.0.2"), a.path("there", src="here", protocol="tcp", dst_port=80)):
        assert steps(path) == [("a", "fib", "forward"), ("c", "fib", "forward")]
        assert path["owner"].to_list() == ["ospf", "connected"]
    delivered = a.path("c")
    assert delivered["action"][-1] == "deliver" and delivered["to"][-1] is None


def test_nothing_is_sent_by_looking(net: tp.Network) -> None:
    def counted() -> tuple[Any, ...]:
        tables = ("ftn", "fib", "counters", "neighbors")
        a = net.node("a")
        return tuple(net.columns(name, a) for name in tables)

    before = counted()
    for _ in range(3):
        net.node("here").path("there", dscp="EF")  # type: ignore[attr-defined]
    assert counted() == before


def test_what_is_down_drops_or_routes() -> None:
    for when_down, wanted in (("drop", "filter"), ("route", "fib")):
        net = triangle(when_down=when_down)
        net.at("30 s").fail("b", "c")
        net.run(until="31 s")
        here = net.node("here")
        assert isinstance(here, tp.Host)
        found = here.path("there", dscp="EF")
        assert found["table"][0] == wanted, found
        assert (found["action"][0] == "drop: discard") == (when_down == "drop"), found
        assert found.height == (1 if when_down == "drop" else 2)


def test_wrong_input_is_one_sentence(net: tp.Network) -> None:
    a = net.node("a")
    assert isinstance(a, tp.Router)
    for said, words in (
        ({"to": "d"}, "'d' is neither an address nor the name of a node"),
        ({"to": "c", "dst_port": 80}, "ports need a protocol"),
        ({"to": "c", "protocol": "icmp", "dst_port": 80}, "protocol 1 has no ports"),
        ({"to": "2001:db8::1", "src": "10.1.0.2"}, "both addresses are of IPv4, or both of IPv6"),
        ({"to": "c", "dscp": "XF"}, "dscp"),
    ):
        with pytest.raises(TwinplaneError, match=words):
            a.path(**said)
    with pytest.raises(TwinplaneError, match="when_down: 'fall' is none of route or drop"):
        triangle(when_down="fall").run(until=0)
    with pytest.raises(TwinplaneError, match="'filters' says which packets are dropped"):
        bare = tp.Network(seed=1)
        a, b = bare.router("a"), bare.router("b")
        bare.link(a, b)
        a.lsp("east", to=b, when_down="drop")
        bare.run(until=0)
    with pytest.raises(TwinplaneError, match="path: to where"):
        packet("path", None, None, *ARGUMENTS)
    with pytest.raises(TwinplaneError, match="'a': table 'fib' is of one router"):
        packet("fib", "10.0.0.1", "a", *ARGUMENTS)
    with pytest.raises(TwinplaneError, match="--dscp: it says of which packet"):
        packet("fib", "a", None, None, None, None, None, "EF")


def test_it_is_printed_for_people(net: tp.Network, capsys: pytest.CaptureFixture[str]) -> None:
    assert packet("path", "there", None, None, "17", None, 80, "EF") == {
        "to": "there", "protocol": 17, "dst_port": 80, "dscp": "EF",
    }  # fmt: skip
    here = net.node("here")
    assert isinstance(here, tp.Host)
    print_path(json.loads(json.dumps(here.path("there", dscp="EF").to_dict(as_series=False))))
    lines = capsys.readouterr().out.splitlines()
    assert any("lsp east" in line and "filter" in line for line in lines), lines
    assert any(line.split()[:2] == ["else", "fib"] for line in lines), lines


def test_a_way_is_followed_from_router_to_router(net: tp.Network) -> None:
    """Each router of a lab is asked alone: together they say what the network says of the whole way."""
    asked_of = []

    def ask(name: str, of: dict[str, Any]) -> Any:
        node = net.node(name)
        if not isinstance(node, tp.Router):
            return None
        asked_of.append(name)
        return node.owner.path(node, of).to_dict(as_series=False)

    a = net.node("a")
    assert isinstance(a, tp.Router)
    for to, dscp in (("there", "EF"), ("there", None), ("10.9.9.9", None)):
        of = {"to": to, "src": "here", **({"dscp": dscp} if dscp else {})}
        assert follow("a", of, ask) == a.path(to, src="here", dscp=dscp).to_dict(as_series=False)
    assert asked_of == ["a", "b", "c", "a", "c", "a"]
    with pytest.raises(TwinplaneError, match="1048576: a label is at most 1048575"):
        ask("a", {"to": "there", "labels": [1 << 20]})
