"""OSPF in words of users: file and Python mean the same, and pages and tables tell what happened."""

from __future__ import annotations

from pathlib import Path

import pytest
import twinplane as tp
from twinplane.reports.ospf import contested

from tests.lab.support import refused

FILE = """\
name: square
nodes:
  a: {kind: router, ospf: {hello_interval: 1 s, area: 0.0.0.3, interfaces: {b: {cost: 7}}}}
  b: {kind: router, ospf: {hello_interval: 1 s, area: 3}}
  c: {kind: router, ospf: {hello_interval: 1 s, area: 3}}
links:
  - [a, b, {rate: 1 Gbit/s, delay: 1 ms}]
  - [b, c, {rate: 1 Gbit/s, delay: 1 ms}]
  - [a, c, {rate: 1 Gbit/s, delay: 1 ms}]
flows:
  - {name: f, from: a, to: b, rate: 1 Mbit/s, size: 500, start: 8 s}
"""


def described() -> tp.Network:
    net = tp.Network()
    for name in "abc":
        net.router(name, hello="9 s")  # as network files have it
    for ends in ("ab", "bc", "ac"):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms")
    net.ospf(area=3, hello_interval="1 s")
    net.ospf("a", area="0.0.0.3", hello_interval="1 s", interfaces={"b": {"cost": 7}})
    net.flow("a", "b", rate="1 Mbit/s", size=500, start="8 s", name="f")
    return net


def test_a_file_and_python_mean_the_same_and_the_page_tells_it(tmp_path: Path) -> None:
    path = tmp_path / "square.yaml"
    path.write_text(FILE)
    net, other = described(), tp.Network.from_file(path)
    net.at("25 s").fail("a", "c")
    other.at("25 s").fail("a", "c")
    net.run(until="30 s")
    other.run(until="30 s")
    assert net.digest() == other.digest()
    assert net.table("ospf")["area"].unique().to_list() == ["0.0.0.3"]
    # By c it is shorter; when that link fails, the flow takes the direct one.
    lost = net.losses()["packets"].sum()
    assert 10 <= lost <= 16, "50 ms of 250 packets a second"
    assert net.table("ospf_neighbors")["state"].to_list() == ["full"] * 4
    page = tmp_path / "page.html"
    tp.report(net, page)
    text = page.read_text()
    assert "Routers that speak OSPF" in text and "adjacency lost" in text
    assert "All 3 routers of area 0.0.0.3 have the same database" in text


def in_two_pieces(joined: str) -> tp.Network:
    """Backbone, area 1, backbone: `joined` is the other end of the virtual link of `c`."""
    net = tp.Network()
    quick = {"hello_interval": "1 s"}
    for name, other, far in (("b", "c", "c"), ("c", "b", joined)):
        links = [{"area": 1, "router": far, **quick}]
        net.router(name, ospf=tp.Ospf(interfaces={other: {"area": 1}}, virtual_links=links, **quick))
    net.router("a", ospf=tp.Ospf(**quick))
    net.router("d", ospf=tp.Ospf(**quick))
    for ends in ("ab", "bc", "cd"):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms")
    return net


def test_a_virtual_link_joins_and_the_page_says_when_it_does_not(tmp_path: Path) -> None:
    net = in_two_pieces("b")
    assert net.warnings == []
    net.flow("a", "d", rate="1 Mbit/s", size=500, start="25 s", name="f")
    net.at("30 s").fail("b", "c")
    net.run(until="29 s")
    table = net.table("ospf_virtual_links")
    assert table["neighbor"].to_list() == ["full", "full"]
    assert table["cost"].to_list() == [1, 1]
    assert net.losses()["packets"].sum() == 0
    net.run(until="40 s")
    assert net.table("ospf_virtual_links")["state"].to_list() == ["down", "down"]
    page = tmp_path / "page.html"
    tp.report(net, page)
    text = page.read_text()
    assert "virtual adjacency lost" in text
    assert "The virtual link of b to c through area 0.0.0.1 is not up: no way through the area" in text


@pytest.mark.parametrize(
    ("joined", "said"),
    [
        ("x", "'x', no node has that name"),
        ("c", "that is this router itself"),
        ("100.64.1.1", "that is this router itself"),
        ("h", "does not speak ospf"),
        ("o", "'o' is external: say its router_id"),
    ],
)
def test_a_virtual_link_that_cannot_be_is_one_sentence(joined: str, said: str) -> None:
    net = in_two_pieces(joined)
    net.host("h", address="10.1.0.2/24")
    net.link("h", "a")
    net.external("o")
    net.link("o", "b")
    with pytest.raises(tp.TwinplaneError, match=said):
        net.run(until="1 s")


def test_the_page_says_whose_packets_are_refused(tmp_path: Path) -> None:
    net = tp.Network()
    a = net.router("a", ospf=tp.Ospf(hello_interval="1 s"))
    b = net.router("b", ospf=tp.Ospf(hello_interval="1 s", dead_interval="9 s"))
    net.link(a, b)
    with pytest.warns(tp.TwinplaneWarning, match="dead interval is 4 s at 'a' and 9 s at 'b'"):
        assert len(net.warnings) == 1
    net.run(until="3 s")
    tp.report(net, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "its dead interval is 9 s, and here it is 4 s" in text
    assert (
        net.table("ospf_interfaces").filter(node="a")["refused_why"][0]
        == "its dead interval is 9 s, and here it is 4 s"
    )


def test_the_page_says_who_shares_a_router_id(tmp_path: Path) -> None:
    """What they hear of each other says so; the other one may be no router of this network."""
    net = tp.Network()
    for name, router_id in (("a", "192.0.2.1"), ("b", "192.0.2.2"), ("c", "192.0.2.1")):
        net.router(name, ospf=tp.Ospf(hello_interval="1 s", router_id=router_id))
    net.link("a", "b")
    net.link("b", "c")
    with pytest.warns(tp.TwinplaneWarning, match="'a' has its router id 192.0.2.1, too"):
        net.run(until="40 s")
    tp.report(net, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    last = max(filter(None, net.table("ospf")["contested_s"]))
    both = "a and c have the same router id, 192.0.2.1: others take them for one. Last noticed at"
    assert f"{both} {last:.4g} s." in text
    rows = [{"node": "a", "router_id": "192.0.2.1", "contested_ps": 20 * 10**12}] * 2
    (alone,) = contested([*rows, {"node": "b", "router_id": "192.0.2.2", "contested_ps": None}])
    assert alone.startswith("a is not the only router with router id 192.0.2.1: ") and "at 20 s" in alone


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("area: x", "'x' is not the number of an area such as 0 or 0.0.0.1"),
        ("hello: 1 s", "unknown field 'hello'"),
        ("dead_interval: 3 s", "dead_interval=3 s has to be above hello_interval=10 s"),
        ("authentication: {kind: md5}", "kind=md5: a 'key' is missing"),
        (
            "authentication: {keys: [{key_id: 1, kind: md5, key: x, stop_accept: 9 s},"
            " {key_id: 2, kind: md5, key: y, start_generate: 10 s}]}",
            "no key is there to send with from 9 s on",
        ),
        ("interfaces: {z: {cost: 3}}", "no link leads to 'z': its links lead to b"),
    ],
)
def test_wrong_settings_are_one_sentence(tmp_path: Path, words: str, said: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        f"name: x\nnodes:\n  a: {{kind: router, ospf: {{{words}}}}}\n"
        "  b: {kind: router}\nlinks:\n  - [a, b]\n"
    )
    assert said in refused("lab", "check", path)


def test_hosts_have_no_ospf() -> None:
    net = tp.Network()
    net.host("h", "10.1.0.2/24")
    with pytest.raises(tp.TwinplaneError, match="node 'h': ospf: it is no router of ours"):
        net.ospf("h")


def test_settings_are_checked_though_there_is_no_router_yet() -> None:
    net = tp.Network()
    with pytest.raises(tp.TwinplaneError, match=r"^ospf: area: 'q' is not the number of an area"):
        net.ospf(area="q")
    net.ospf(area=1)


def test_a_key_takes_over_in_words_of_users() -> None:
    keys = [
        {"key_id": 1, "kind": "md5", "key": "old", "stop_generate": "8 s", "stop_accept": "9 s"},
        {"key_id": 2, "kind": "sha256", "key": "new", "start_accept": "7 s", "start_generate": "8 s"},
    ]
    net = tp.Network()
    for name in "ab":
        net.router(name, ospf=tp.Ospf(hello_interval="1 s", authentication={"keys": keys}))
    net.link("a", "b")
    assert net.warnings == []
    net.run(until="12 s")
    ports = net.table("ospf_interfaces").filter(towards="b")
    assert (ports["key_id"].to_list(), ports["adjacent"].to_list()) == ([2], [1])
    assert net.events(event="ospf-adjacency-lost").to_dicts() == []
