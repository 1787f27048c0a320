"""What is wrong with a call is said by it, in the words of a network file, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from twinplane import Network, TwinplaneError, wire
from twinplane.network.nodes import Router


def abc() -> tuple[Network, Router, Router, Router]:
    net = Network()
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b)
    net.link(b, c)
    return net, a, b, c


NAME = "is not a name: it has up to 32 letters, digits, '-', '_' and '.', and begins with a letter or a digit"


@pytest.mark.parametrize("name", [5, None, b"x", ["a"], "", "a b", "a/b", "a" * 33, "-x", "."])
@pytest.mark.parametrize("kind", ["router", "host", "edge", "peer"])
def test_names_that_no_file_could_have(kind: str, name: Any) -> None:
    net = Network()
    with pytest.raises(TwinplaneError) as caught:
        getattr(net, kind)(name)
    assert str(caught.value) == f"nodes: {name!r} {NAME}"
    assert net.nodes == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": "x"}, "seed: 'x': it should be a whole number"),
        ({"seed": -1}, "seed: -1: it should be 0 to"),
        ({"phases": 5}, "measuring: phases: 5"),
        ({"clock": 5}, "clock=5: unknown"),
    ],
)
def test_options_of_the_whole(options: dict[str, Any], said: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        Network(**options)
    assert str(caught.value).startswith(said)


Wrong = Callable[[Network, Router, Router, Router], object]
FLOWS: list[tuple[Wrong, str]] = [
    (lambda n, a, b, c: n.flow(a, c, over="gild"), "flow 'a-c': over: 'gild', no LSP has that name"),
    (lambda n, a, b, c: n.flow(a, c, over=5), "flow 'a-c': over: 5, no LSP has that name"),  # type: ignore
    (lambda n, a, b, c: n.flow(a, c, over=b), "no LSP has that name"),  # type: ignore[arg-type]
    (lambda n, a, b, c: n.flow(b, c, over="gold"), "flow 'b-c': its LSP goes from 'a' to 'c'"),
    (lambda n, a, b, c: n.flow(a, b, over="gold"), "flow 'a-b': its LSP goes from 'a' to 'c'"),
    (lambda n, a, b, c: n.flow(a, c, name="f"), "flow 'f': name: 'f' is given twice"),
    (lambda n, a, b, c: n.flow(a, c, rate=0), "rate: 0: it is not above zero"),
    (lambda n, a, b, c: n.flow(a, 5), "flow 'a-5': to: 5, no node has that name"),  # type: ignore[arg-type]
    (lambda n, a, b, c: a.lsp("gold", c), "lsp 'gold': name: 'gold' is given twice"),
    (lambda n, a, b, c: b.lsp("gold", c), "lsp 'gold': name: 'gold' is given twice"),
    (lambda n, a, b, c: a.lsp("x", 5), "lsp 'x': to: 5, no node has that name"),  # type: ignore[arg-type]
    (lambda n, a, b, c: a.lsp("x", c, count="y"), "lsp 'x': count: 'y'"),  # type: ignore[arg-type]
    (lambda n, a, b, c: a.lsp("x", c, route="bc"), "lsp 'x': route: 'bc': it should be a list"),
    (lambda n, a, b, c: a.lsp("x", c, route=5), "lsp 'x': route: 5: it should be a list"),  # type: ignore
    (lambda n, a, b, c: n.route(a, "10.0.0.0/8", 5), "5, no node has that name"),  # type: ignore[arg-type]
    (lambda n, a, b, c: n.node(["a"]), "['a'], no node has that name"),  # type: ignore[arg-type]
    (lambda n, a, b, c: n.capture(a, b, packets=0), "capture: packets=0"),
    (lambda n, a, b, c: n.capture(a, b, packets="x"), "capture: packets='x'"),  # type: ignore[arg-type]
    (lambda n, a, b, c: n.fault(a, b, loss="x"), "fault loss='x': a probability is 0 to 1"),
    (lambda n, a, b, c: n.remove("gold"), "remove: 'gold' is neither"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("wrong", "said"), FLOWS, ids=[said for _, said in FLOWS])
def test_what_is_refused_leaves_nothing_behind(wrong: Wrong, said: str) -> None:
    net, a, b, c = abc()
    a.lsp("gold", c)
    net.flow(a, c, name="f")
    before = net.described()
    with pytest.raises(TwinplaneError) as caught:
        wrong(net, a, b, c)
    assert said in str(caught.value)
    assert net.described() == before and len(net.flows) == len(net.lsps) == 1
    net.run(until="10 ms")
    assert net.lsps[0].up


def test_the_same_while_it_runs() -> None:
    net, a, b, c = abc()
    net.run(until="1 ms")
    gold = a.lsp("gold", c)
    for wrong in (
        lambda: net.flow(b, c, over=gold),
        lambda: a.lsp("gold", c),
        lambda: net.flow(a, c, size=3),
    ):
        with pytest.raises(TwinplaneError):
            wrong()
    assert len(net.flows) == 0 and len(net.lsps) == 1
    flow = net.flow(a, c, over="gold", start="20 ms", stop="30 ms")
    net.run(until="50 ms")
    assert gold.up and flow.stats()["received"].sum() > 0


def test_lsps_and_flows_of_another_network() -> None:
    net, a, _, c = abc()
    other, x, _, z = abc()
    foreign, flow = x.lsp("gold", z), other.flow(x, z)
    a.lsp("gold", c)
    with pytest.raises(TwinplaneError, match="flow 'a-c': over: gold: it belongs to another network"):
        net.flow(a, c, over=foreign)
    for part in (foreign, flow):
        with pytest.raises(TwinplaneError, match="does not belong to this network"):
            net.remove(part)


def test_flows_without_a_name_have_one_each() -> None:
    net, a, _, c = abc()
    names = [net.flow(a, c).name for _ in range(3)]
    assert names == ["a-c", "a-c-2", "a-c-3"]


def test_flows_and_lsps_are_taken_back() -> None:
    net, a, _, c = abc()
    parallel = net.link(a, c)
    wrong = a.lsp("wrong", c, route=[parallel], bandwidth="1 Mbit/s")
    gold = a.lsp("gold", c, route=[parallel])
    first, second = net.flow(a, c, over=wrong, name="first"), net.flow(a, c, over=gold, name="second")
    with pytest.raises(TwinplaneError, match="lsp 'wrong': flow 'first' goes over it"):
        net.remove(wrong)
    net.remove(first)
    net.remove(wrong)
    assert [flow.name for flow in net.flows] == ["second"] and [lsp.name for lsp in net.lsps] == ["gold"]
    assert (second.index, gold.index) == (0, 0)
    with pytest.raises(TwinplaneError, match="or was removed"):
        net.remove(first)
    again = a.lsp("wrong", c)
    net.run(until="20 ms")
    assert gold.up and again.up and second.stats()["received"].sum() > 0
    with pytest.raises(TwinplaneError, match="flow 'second' has to be removed before the network first runs"):
        net.remove(second)


def test_what_is_removed_changes_nothing_else() -> None:
    def made(spare: bool) -> str:
        net, a, b, c = abc()
        a.lsp("gold", c, route=[b, c])
        net.flow(a, c, name="f", arrivals="poisson", rate="10 Mbit/s")
        if spare:
            net.remove(net.flow(a, b, name="spare"))
            net.remove(b.lsp("more", c))
        net.run(until="100 ms")
        return net.digest()

    assert made(True) == made(False)


def test_programmes() -> None:
    net = Network()
    ingress, router, egress = net.edge("in"), net.router("r"), net.edge("out")
    net.link(ingress, router)
    net.link(router, egress)
    lsp = ingress.lsp("x", egress)
    with pytest.raises(TwinplaneError, match="node 'out': programme: lsps: 'x' does not begin here"):
        egress.programme("1 s", "flap", lsp, 10)
    with pytest.raises(TwinplaneError, match="node 'in': programme: lsps: 'x', no LSP has that name"):
        ingress.programme("1 s", "flap", "x", 10)  # type: ignore[arg-type]
    with pytest.raises(TwinplaneError, match="rate: 0: it is not above zero"):
        ingress.programme("1 s", "flap", lsp, 0)
    ingress.programme("1 s", "flap", lsp, 10)
    with pytest.raises(TwinplaneError, match="lsp 'x': it is in the programme of 'in'"):
        net.remove(lsp)


@pytest.mark.parametrize(
    "asked",
    [
        lambda n: n.run(until="1 s"),
        lambda n: n.table("events"),
        lambda n: n.digest(),
        lambda n: n.capture("a", "b"),
        lambda n: n.router("z"),
        lambda n: n.flow("a", "c"),
        lambda n: n.node("a").lsp("late", "c"),
        lambda n: n.fail("a", "b"),
    ],
)
def test_a_network_that_is_closed(asked: Callable[[Network], object]) -> None:
    net, *_ = abc()
    net.run(until="1 ms")
    net.close()
    with pytest.raises(TwinplaneError, match="the network is closed"):
        asked(net)
    assert (len(net.nodes), len(net.flows), len(net.lsps)) == (3, 0, 0)
    net.close()


@pytest.mark.parametrize(
    "tree", [5, None, "x", {}, [5], [{}], [{"ethernet": 5}], {"layers": 5}, object(), b"x"]
)
def test_frames_that_are_none(tree: Any) -> None:
    with pytest.raises(TwinplaneError) as caught:
        wire.encode(tree)
    assert str(caught.value).startswith(
        "a frame is a list of layers from the outside in, as `decode` gives it"
    )
    assert "line 1 column" not in str(caught.value)


@pytest.mark.parametrize("frame", [5, None, "x", [1], {}])
def test_bytes_that_are_none(frame: Any) -> None:
    for ask in (wire.decode, wire.summary):
        with pytest.raises(TwinplaneError, match="a frame is bytes, and not"):
            ask(frame)


def test_events_have_a_column_for_each_fact() -> None:
    net, a, b, c = abc()
    a.lsp("gold", c)
    empty = net.events()
    net.run(until="1 s")
    net.fail(b, c)
    net.run(until="2 s")
    events = net.events()
    assert events.schema == empty.schema
    assert not [key for key, kind in events.schema.items() if kind in (pl.Object, pl.Struct)]
    up = events.filter(pl.col("event") == "lsp-up").row(0, named=True)
    assert (up["node"], up["lsp"], up["index"], up["label"], up["route"]) == ("a", "gold", 0, 16, ["b", "c"])
    error = events.filter(pl.col("event") == "lsp-error").row(0, named=True)
    assert (error["at"], error["code"], error["value"]) == ("b", 24, 5)  # RFC 3209, 7.3: no route
    ports = events.filter(pl.col("event") == "port-down")
    assert set(ports["node"]) == {"b", "c"} and ports["lsp"].null_count() == ports.height
    assert events["time_s"].is_sorted()


def test_events_of_a_stretch_of_time_of_a_name_or_of_a_node() -> None:
    net, a, b, c = abc()
    a.lsp("gold", c)
    net.run(until="1 s")
    net.fail(b, c)
    net.run(until="2 s")
    times, names, nodes = (net.events()[key].to_list() for key in ("time_s", "event", "node"))
    assert {"lsp-up", "port-down"} <= set(names) and min(times) < 1 <= max(times)
    asked: tuple[dict[str, Any], ...] = (
        {"since": "1 s"},
        {"until": "1 s"},
        {"since": times[0], "until": "1 s"},
        {"event": "port-down"},
        {"node": "b"},
        {"node": b, "event": "port-down", "since": 0.5},
        {"event": "no-such-event"},
    )
    for given in asked:
        begin, end = float(str(given.get("since", 0)).split()[0]), float(given.get("until", "9 s").split()[0])
        kept = [
            place
            for place, time in enumerate(times)
            if begin <= time < end
            and given.get("event") in (None, names[place])
            and getattr(given.get("node"), "name", given.get("node")) in (None, nodes[place])
        ]
        found = net.events(**given)
        assert found["time_s"].to_list() == [times[place] for place in kept], given
        assert found.schema.keys() >= {"time_s", "node", "event"}
    for given, said in (
        ({"since": "soon"}, r"^events: since 'soon': "),
        ({"until": -1}, r"^events: until -1: it cannot be negative$"),
        ({"node": "z"}, r"^'z', no node has that name$"),
    ):
        with pytest.raises(TwinplaneError, match=said):
            net.events(**given)
