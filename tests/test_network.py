"""Networks: the fifteen lines, tables, faults, peers, and mistakes in one sentence."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import twinplane
from twinplane import Network, TwinplaneError, core, wire
from twinplane.errors import UnknownNameError
from twinplane.network.nodes import Peer, Router


def square(seed: int = 7) -> tuple[Network, list[Router]]:
    net = Network(seed=seed)
    a, b, c, d = (net.router(name) for name in "abcd")
    for x, y in [(a, b), (b, c), (c, d), (a, d)]:
        net.link(x, y, rate="1 Gbit/s", delay="50 us", reservable="900 Mbit/s")
    return net, [a, b, c, d]


def test_the_fifteen_lines(tmp_path: Path) -> None:
    net, (a, b, c, d) = square()
    lsp = a.lsp("gold", to=c, route=[b, c], bandwidth="200 Mbit/s", fallback=[d, c])
    flow = net.flow(a, c, over=lsp, rate="150 Mbit/s", size=512, arrivals="poisson", dscp="EF")
    tap = net.capture(a, b, packets=1000)
    assert lsp.state == "down"
    net.run(until="200 ms")
    assert lsp.up
    labels = b.ilm()
    assert labels.height == 1 and labels["packets"][0] > 0
    net.fail(b, c)
    net.run(until="1 s")
    events = lsp.history["event"].to_list()
    assert [event for event in events if event != "error"] == ["up", "down", "up"]
    stats = flow.stats()
    assert stats["sent"][0] == stats["received"][0] + stats["lost"][0]  # what is on its way counts as lost
    assert 0 < stats["lost"][0] < 1000
    assert stats["delay_min_s"][0] > 100e-6
    assert b.ilm().height == 0 and d.ilm().height == 1
    assert tap.save(tmp_path / "ab.pcapng").stat().st_size > 10_000
    page = twinplane.report(net, tmp_path / "failover.html").read_text()
    assert "Link b-c failed at 200 ms" in page and "LSP gold was back" in page
    net.repair(b, c)
    lsp.teardown()
    net.run(for_="1 s")
    assert lsp.state == "down"
    left = net.table("state")
    assert all(left[key].sum() == 0 for key in ("lsps", "labels", "reserved_bps"))


def test_same_seed_same_digest() -> None:
    def digest(seed: int) -> str:
        net, (a, b, c, _) = square(seed)
        lsp = a.lsp("gold", to=c, route=[b, c])
        net.flow(a, c, over=lsp, arrivals="poisson", rate="10 Mbit/s")
        net.run(until="20 ms")
        return net.digest()

    assert digest(1) == digest(1) != digest(2)


def test_a_run_in_steps_is_the_same_run() -> None:
    digests = []
    for parts in (1, 7):
        net, (a, b, c, _) = square()
        lsp = a.lsp("gold", to=c, route=[b, c])
        net.flow(a, c, over=lsp, rate="10 Mbit/s")
        for part in range(1, parts + 1):
            net.run(until=0.02 * part / parts)
        digests.append(net.digest())
    assert digests[0] == digests[1]


def test_groups_parallel_links_and_reoptimisation() -> None:
    net = Network()
    a, b = net.router("a"), net.router("b")
    first, second = net.link(a, b), net.link(a, b)
    group = a.lsp("many", to=b, route=[second], count=5)
    flow = net.flow(a, b, over=group, rate="10 Mbit/s", start="10 ms", stop="400 ms")
    net.run(until="100 ms")
    assert (group.state, group.up_count) == ("up", 5)
    assert flow.streams()["stream"].n_unique() == 5
    used = net.table("ports").filter(pl.col("received_frames") > 100)["link"].unique().to_list()
    assert used == [second.index]
    group.reoptimise([first])
    net.run(for_="500 ms")
    assert group.up
    lost = flow.stats()["lost"].sum()
    assert lost == 0
    with pytest.raises(TwinplaneError, match="there are 2 links between a and b: give the link itself"):
        net.fail(a, b)


def test_traceroute_along_an_lsp() -> None:
    net, (a, b, c, _) = square()
    lsp = a.lsp("gold", to=c, route=[b, c])
    net.run(until="100 ms")
    plain = a.traceroute(c)
    assert plain["node"].to_list()[-1] == "c"
    along = a.traceroute(lsp=lsp, hops=2)
    assert along["node"][0] == "b"
    assert along["labels"][0] != ""


def test_hosts_reach_each_other_over_lsps_that_carry_their_prefixes() -> None:
    net, (a, b, c, _) = square()
    left, right = net.host("left", "10.1.0.2/24"), net.host("right", "10.2.0.2/24", gateway="10.2.0.254")
    net.link(left, a)
    net.link(c, right)
    a.lsp("east", to=c, route=[b, c], carries="10.2.0.0/24")
    a.lsp("web", to=c, route=[b, c], filters=[{"protocol": "tcp", "dst_ports": "80-443", "dscp": "EF"}])
    flow = net.flow(left, right, rate="10 Mbit/s", start="100 ms")
    net.log_signals()
    net.run(until="1 s")
    stats = flow.stats()
    assert stats["received"][0] > 2000 and stats["lost"][0] <= 2
    assert (left.gateway, right.gateway) == ("10.1.0.1", "10.2.0.254")
    assert 0.0004 < (left.ping(right) or 0) < 0.0006
    path = left.traceroute(right)
    assert path["node"].to_list() == ["a", "b", "c", "right"]
    assert [bool(text) for text in path["labels"]] == [False, True, True, False]
    signals = net.table("signals").filter(pl.col("node") == "b", pl.col("neighbor") == "c")
    assert signals["type"].to_list()[:2] == ["Path", "Path"]
    assert signals["session"].unique().len() == 2


def test_nothing_is_lost_before_neighbours_are_known() -> None:
    net = Network(seed=1)
    left, right = net.host("left", "10.1.0.2/24"), net.host("right", "10.2.0.2/24")
    near, far = net.router("near"), net.router("far")
    for a, b in ((left, near), (near, far), (far, right)):
        net.link(a, b, rate="100 Mbit/s", delay="1 ms")
    flows = [
        net.flow(a, b, rate="10 Mbit/s", size=500, stop="50 ms") for a, b in ((left, right), (near, far))
    ]
    net.run(until="100 ms")
    for flow in flows:
        (row,) = flow.stats().to_dicts()
        assert row["sent"] == 125 and row["lost"] == 0
    # The first packet of a host waited while ARP asked, there and back.
    assert flows[0].stats()["delay_max_s"][0] > 5e-3 > flows[0].stats()["delay_min_s"][0]


def test_faults_and_restart() -> None:
    net, (a, b, c, _) = square()
    lsp = a.lsp("gold", to=c, route=[b, c])
    flow = net.flow(a, c, over=lsp, rate="50 Mbit/s")
    net.run(until="50 ms")
    net.fault(a, b, loss=0.5, direction="forth")
    net.run(until="100 ms")
    lost = flow.stats()["lost"].sum()
    assert 100 < lost < 600
    net.fault(a, b, loss=0)
    net.restart("b", down="10 ms")
    net.run(until="300 ms")
    assert flow.stats()["lost"].sum() > lost
    with pytest.raises(TwinplaneError, match="fault loss=2: a probability is 0 to 1"):
        net.fault(a, b, loss=2)
    with pytest.raises(TwinplaneError, match=r"unknown fault 'lost' \(did you mean 'loss'\?\)"):
        net.fault(a, b, lost=0.1)


def test_a_recorded_router_answers_the_same_again(tmp_path: Path) -> None:
    net, (a, b, c, _) = square()
    lsp = a.lsp("gold", to=c, route=[b, c])
    net.flow(a, c, over=lsp, rate="10 Mbit/s")
    net.record(b)
    net.run(until="20 ms")
    net.fail(b, c)
    net.run(until="30 ms")
    recording = net.recording("b")
    assert len(recording) > 20
    path = recording.save(tmp_path / "b.json")
    fresh, _ = square()
    replay = fresh.replay(twinplane.Recording.load(path))
    assert replay.same and replay.outputs > 20
    other = Network()
    x, y = other.router("x"), other.router("y")
    other.link(x, y)
    assert not other.replay(recording).same
    with pytest.raises(TwinplaneError, match="b: a recording begins before the network first runs"):
        net.record("b")
    with pytest.raises(TwinplaneError, match="router 'b' is not being recorded"):
        net.recording("b")
    with pytest.raises(TwinplaneError, match="recording: "):
        fresh.replay(twinplane.Recording("{}"))
    with pytest.raises(TwinplaneError, match="recording cannot be read: no such file"):
        twinplane.Recording.load(tmp_path / "none.json")


def test_a_peer_talks_ethernet() -> None:
    net = Network()
    router, peer = net.router("dut"), net.peer("west")
    link = net.link(peer, router)
    request = [
        {"layer": "ethernet", "src": link.mac(peer), "dst": "ff:ff:ff:ff:ff:ff", "ethertype": 0x0806},
        {
            "layer": "arp",
            "operation": 1,
            "sender_mac": link.mac(peer),
            "sender_ip": link.address(peer),
            "target_mac": "00:00:00:00:00:00",
            "target_ip": link.address(router),
        },
    ]
    net.run(for_="1 ms")
    peer.receive()
    peer.send(wire.encode(request))
    net.run(for_="1 ms")
    answers = [wire.decode(frame)[1] for _, frame in peer.receive()]
    assert [arp["sender_mac"] for arp in answers if arp["operation"] == 2] == [link.mac(router)]


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda n, r: n.link("a", "z"), "'z', no node has that name"),
        (lambda n, r: n.link("a", "a"), "link a - a: the two ends are the same node"),
        (lambda n, r: n.router("a"), "node 'a': 'a' is given twice"),
        (lambda n, r: n.router("e", "idael"), "profile=idael: no such profile (did you mean 'ideal'?)"),
        (lambda n, r: n.router("e", helo=1), "node 'e': rsvp: unknown field 'helo' (did you mean 'hello'?)"),
        (
            lambda n, r: r[0].lsp("x", to="c", route=["q", "c"]),
            "lsp 'x': route: 'q', no node has that name (one of a, b, c, d)",
        ),
        (
            lambda n, r: r[0].lsp("x", to="c", route=["c"]),
            "lsp 'x': route: no link leads from 'a' to 'c'",
        ),
        (
            lambda n, r: r[0].lsp("x", to="c", route=["b"]),
            "lsp 'x': route: it ends at 'b', and the LSP at 'c'",
        ),
        (lambda n, r: r[0].lsp("x", to="a"), "lsp 'x': it begins and ends at a"),
        (lambda n, r: r[0].lsp("x", to="b", count=0), "lsp 'x': count: 0: it should be 1 to 1000000"),
        (
            lambda n, r: r[0].lsp("x", to="b", setup_priority=3, holding_priority=5),
            "lsp 'x': holding_priority: priorities are 0 (highest) to 7, and holding must not be weaker than"
            " setup (setup 3, holding 5)",
        ),
        (
            lambda n, r: n.flow("a", "b", size=63),
            "flow 'a-b': size: 63: an Ethernet frame has 64 to",
        ),
        (
            lambda n, r: n.flow("a", "b", arrivals="poison"),
            "flow 'a-b': arrivals: 'poison' is none of constant, poisson, on-off or trace (did you mean",
        ),
        (lambda n, r: n.run(), 'say how far to run: run(until="1 s") or run(for_="10 ms")'),
        (lambda n, r: n.capture("a", "c"), "there is no link between a and c"),
        (lambda n, r: Network(busy=True), "local, incarnation, epoch_ns and busy are for real time"),
        (
            lambda n, r: n.attach("a", n.links[0], "e0"),
            "interface e0: a network in virtual time has none: clock='wall'",
        ),
        (
            lambda n, r: n.host("h", "10.1.0.2"),
            "node 'h': address: '10.1.0.2' is not an IPv4 address with a prefix length",
        ),
        (lambda n, r: n.host("h", "10.1.0.2/24", interface="a b"), "interface 'a b': a name has 1 to 15"),
        (
            lambda n, r: r[0].lsp("x", to="b", filters=[{"protocol": "tpc"}]),
            "lsp 'x': filter 1: protocol: 'tpc' is not an IP protocol: icmp, tcp",
        ),
        (
            lambda n, r: r[0].lsp("x", to="b", filters=[{"dst_ports": 80}]),
            "lsp 'x': filter 1: ports need a protocol",
        ),
        (
            lambda n, r: r[0].lsp("x", to="b", carries="10.1/24"),
            "lsp 'x': carries: '10.1/24' is not an IPv4 prefix",
        ),
        (lambda n, r: Network(clock="virtua"), "clock='virtua': unknown (did you mean 'virtual'?)"),
        (lambda n, r: Network().run(until=1), "the network has no nodes"),
        (lambda n, r: wire.encode([{"layer": "ethernot"}]), "ethernot"),
    ],
)
def test_mistakes_give_one_sentence(mistake: object, sentence: str) -> None:
    net, routers = square()
    with pytest.raises(TwinplaneError) as caught:
        mistake(net, routers)  # type: ignore[operator]
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_fixed_once_the_network_runs() -> None:
    net, _ = square()
    net.run(until="1 ms")
    with pytest.raises(TwinplaneError, match="router 'e' has to be added before the network first runs"):
        net.router("e")
    with pytest.raises(TwinplaneError, match="it is already 1 ms"):
        net.run(until="0.5 ms")


def test_more_bandwidth_than_a_link_has_is_refused_and_said() -> None:
    net, (a, b, c, _) = square()
    lsp = a.lsp("huge", to=c, route=[b, c], bandwidth="2 Gbit/s", retry_limit=1)
    net.run(until="3 s")
    assert not lsp.up
    errors = lsp.history.filter(pl.col("event") == "error")
    # RFC 2205, appendix B: admission control failure, requested bandwidth unavailable.
    assert errors.height > 0 and errors["why"][0].startswith("error 1, value 2")
    assert errors["why"][0].endswith("admission control failure, requested bandwidth unavailable")


def test_frames_survive_decode_and_encode(tmp_path: Path) -> None:
    net, (a, b, c, _) = square()
    lsp = a.lsp("gold", to=c, route=[b, c])
    net.flow(a, c, over=lsp, rate="10 Mbit/s")
    tap = net.capture(a, b)
    net.run(until="10 ms")
    frames = [frame for _, _, _, frame in core.load().CaptureFile(str(tap.save(tmp_path / "ab.pcapng")))]
    kinds = {wire.decode(frame)[-1]["layer"] for frame in frames}
    assert len(frames) > 20 and len(kinds) > 2
    for frame in frames:
        assert wire.encode(wire.decode(frame)) == bytes(frame)
        assert "\n" not in wire.summary(frame)


def test_plane_of_the_public_names() -> None:
    assert all(hasattr(twinplane, name) for name in twinplane.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = twinplane.nothing


@pytest.mark.parametrize("driver", ["staged", {"staged": {"interval": "10 ms"}}])
def test_routers_with_another_driver_and_another_protocol(driver: object) -> None:
    net = Network(seed=2)
    routers = [net.router(name, table_driver=driver, greet={}) for name in ("a", "b")]
    net.link(*routers)
    net.run("5 s")
    assert net.table("staged_commits")["commits"].min() >= 1
    assert net.table("greet_neighbors")["state"].to_list() == ["labelled", "labelled"]


def test_kinds_without_a_handle_of_their_own_are_nodes_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "plug.yaml"
    path.write_text("name: plug\nnodes: {a: {kind: peer}, m: {kind: reflector}}\nlinks: [[a, m]]\n")
    net = Network.from_file(path)
    assert (net.node("m").kind, str(net.node("m"))) == ("reflector", "<reflector m>")
    peer = net.node("a")
    assert isinstance(peer, Peer)
    peer.send(bytes.fromhex("020000000009 020000000008 88b5 0102"))
    net.run("1 ms")
    ((_, frame),) = peer.receive()
    assert frame == bytes.fromhex("020000000008 020000000009 88b5 0102")


def test_a_driver_that_there_is_not() -> None:
    with pytest.raises(UnknownNameError) as refused:
        Network().router("a", table_driver="stage")
    assert refused.value.code == "unknown-word" and "table_driver: 'stage' is none of" in str(refused.value)


def test_a_shared_segment_in_python_and_in_a_file(tmp_path: Path) -> None:
    net = Network(seed=1)
    lan = net.bridge("lan", "10.1.0.0/24", ageing="10 s")
    router, left, right = net.router("r"), net.host("left", "10.1.0.11/24"), net.host("right", "10.1.0.12/24")
    far = net.host("far", "10.2.0.2/24")
    for member in (router, left, right):
        net.link(member, lan, rate="1 Gbit/s", delay="10 us")
    net.link(router, far, rate="1 Gbit/s")
    assert (left.address, left.gateway) == ("10.1.0.11", "10.1.0.1")
    described = net.described()
    pairs = [(left, right), (left, far), (far, right)]
    flows = [net.flow(a, b, rate="10 Mbit/s", size=500, stop="100 ms") for a, b in pairs]
    net.run(until="200 ms")
    assert all(flow.stats()["received"][0] > 200 and flow.stats()["lost"][0] == 0 for flow in flows)
    assert described["nodes"]["lan"]["prefix"] == "10.1.0.0/24"
    file = tmp_path / "lan.yaml"
    file.write_text(
        "name: lan\nnodes:\n  lan: {kind: bridge, prefix: 10.1.0.0/24}\n  r: {kind: router}\n"
        "  a: {kind: host, address: 10.1.0.2/24}\nlinks:\n  - [a, lan]\n  - [lan, r]\n"
    )
    read = Network.from_file(file)
    assert [node.kind for node in read.nodes] == ["bridge", "router", "host"]
    with pytest.raises(TwinplaneError, match=r"node 'lan': 10\.1\.0\.0/30 has no address left for 's'"):
        net = Network()
        lan = net.bridge("lan", "10.1.0.0/30")
        for name in "pqs":
            net.link(net.router(name), lan)
        net.run(until="1 ms")


def test_options_of_rsvp_are_named_singly() -> None:
    net = Network()
    with pytest.raises(TwinplaneError, match="node 'a': rsvp: unknown field 'rsvp'"):
        net.router("a", rsvp={"hello": "9 s"})


def test_routes_said_one_by_one_are_those_of_a_list() -> None:
    """A route costs as much as itself, is filled in like any other, and a wrong one changes nothing."""

    def pair(**said: object) -> Network:
        net = Network()
        a, b = net.router("a", **said), net.router("b")
        net.link(a, b)
        return net

    said = [{"prefix": f"10.{place}.0.0/16", "via": "b"} for place in range(5)]
    net = pair()
    for route in said:
        net.route("a", route["prefix"], route["via"])
    expected = pair(routes=said).described()
    assert net.described() == expected
    with pytest.raises(
        TwinplaneError, match=r"node 'a': routes: prefix: '10\.9\.0\.0/99' is not an IPv4 prefix"
    ):
        net.route("a", "10.9.0.0/99", "b")
    assert net.described() == expected
