"""The best paths by a router's traffic-engineering database, for whom asks."""

from __future__ import annotations

import pytest
import twinplane as tp

OSPF = {"hello_interval": "1 s", "te": True}


def diamond() -> tp.Network:
    """Three ways from a to d: by b, by c, and by both."""
    net = tp.Network()
    for name in "abcd":
        net.router(name, ospf=OSPF)
    for ends, metric, rate in (
        ("ab", 1, "1 Gbit/s"),
        ("bd", 1, "400 Mbit/s"),
        ("ac", 5, "1 Gbit/s"),
        ("cd", 5, "1 Gbit/s"),
        ("bc", 1, "1 Gbit/s"),
    ):
        net.link(*ends, rate=rate, metric=metric)
    net.run(until="20 s")
    return net


def ways(net: tp.Network, **asked: object) -> list[tuple[str, int]]:
    """The routers of each path, and what it costs."""
    rows = net.node("a").te_paths("d", **asked).to_dicts()
    count = max(row["path"] for row in rows)
    found = []
    for path in range(1, count + 1):
        of = [row for row in rows if row["path"] == path]
        assert [row["hop"] for row in of] == list(range(1, len(of) + 1))
        found.append(("".join(row["node"] for row in of), of[0]["cost"]))
    return found


def test_the_best_paths_come_in_their_order() -> None:
    net = diamond()
    assert ways(net) == [("bd", 2)]
    assert ways(net, k=9) == [("bd", 2), ("bcd", 7), ("cbd", 7), ("cd", 10)]
    assert ways(net, k=9, bandwidth="500 Mbit/s") == [("bcd", 7), ("cd", 10)]
    assert ways(net, k=9, hop_limit=2, exclude=["b"]) == [("cd", 10)]
    link = net.links[0]
    (row,) = net.node("a").te_paths("b").to_dicts()
    assert (row["near"], row["far"]) == (link.address("a"), link.address("b"))
    assert row["left"] == 1_000_000_000


def test_pairs_have_nothing_in_common() -> None:
    net = diamond()
    assert ways(net, disjoint="link") == [("bd", 2), ("cd", 10)]
    # Of the two paths that cost 7, each has a link of the first one.
    assert ways(net, disjoint="node", bandwidth="300 Mbit/s") == [("bd", 2), ("cd", 10)]
    with pytest.raises(tp.TwinplaneError, match=r"'a' to 'd': no path .* not disjoint from the other path"):
        net.node("a").te_paths("d", disjoint="link", bandwidth="500 Mbit/s")
    with pytest.raises(tp.TwinplaneError, match="disjoint"):
        net.node("a").te_paths("d", disjoint="path")


def test_a_standby_takes_over() -> None:
    net = diamond()
    lsp = net.node("a").lsp("safe", "d", bandwidth="100 Mbit/s", path={"k": 3, "standby": "node"})
    flow = net.flow("a", "d", over=lsp, rate="4 Mbit/s", size=500, start="25 s", name="f")
    net.run(until="30 s")
    shown = net.table("lsp_paths")
    assert shown["state"].to_list() == ["active", "next", "next", "standby"]
    assert shown["node"].unique().to_list() == ["a"]
    net.fail("b", "d")
    net.run(until="31 s")
    assert flow.stats()["lost"].item() <= 2
    assert net.table("lsp_paths")["state"].to_list().count("active") == 1
    words = lsp.history["event"].to_list()
    assert words == ["up", "standby up", "error", "down", "up", "no path for standby"], lsp.history


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"path": {"k": 0}}, "k"),
        ({"path": {"k": 65}}, "k"),
        ({"path": {"standby": "path"}}, "standby"),
        (
            {"path": {"k": 2}, "route": ["b", "d"]},
            "'k' is of paths that the head end computes, and 'route' says",
        ),
        ({"path": {"standby": "srlg"}, "shortest": True}, "'standby' is of paths .* 'shortest' says"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, object], said: str) -> None:
    net = diamond()
    with pytest.raises(tp.TwinplaneError, match=said):
        net.node("a").lsp("safe", "d", **asked)
        net.run(until="21 s")


def test_a_tree_has_no_alternatives() -> None:
    net = tp.Network()
    root, leaf = (net.router(name, ospf=OSPF) for name in "ab")
    net.link(root, leaf)
    with pytest.raises(tp.TwinplaneError, match="of a point-to-multipoint LSP there is one tree"):
        root.p2mp("tree", [leaf], path={"standby": "link"})
        net.run(until="1 s")


def test_why_there_is_none_is_said() -> None:
    net = diamond()
    with pytest.raises(tp.TwinplaneError, match=r"'a' to 'd': no path with 2 Gbit/s .* bandwidth"):
        net.node("a").te_paths("d", bandwidth="2 Gbit/s")
    # Messages round what is asked for to the nearest float.
    for asked in ("1 Tbit/s", "999999999999 bit/s"):
        with pytest.raises(tp.TwinplaneError, match=f"no path with {asked} at priority 7"):
            net.node("a").te_paths("d", bandwidth=asked)
    with pytest.raises(tp.TwinplaneError, match="'nobody' is neither an address nor the name of a node"):
        net.node("a").te_paths("nobody")
    with pytest.raises(tp.TwinplaneError, match="traffic engineering knows addresses of IPv4"):
        net.node("a").te_paths("2001:db8::1")
    with pytest.raises(tp.TwinplaneError, match="k"):
        net.node("a").te_paths("d", k=0)
