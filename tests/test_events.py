"""Events: what is done to a network while it runs, said in a file, in Python, or by calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_cli import QUICK, command, good
from twinplane.errors import TwinplaneError
from twinplane.network import Network
from twinplane.network.handles import Lsp

EXAMPLE = Path(__file__).parents[1] / "examples" / "failover.yaml"

TOP = """\
name: events
nodes:
  a: {kind: router}
  b: {kind: router}
  c: {kind: router}
  x: {kind: external, interface: eth7}
links:
  - [a, b]
  - [b, c]
  - [a, c]
  - [a, c]
  - ["c", "x:eth7"]
lsps:
  - {name: east, from: a, to: c, route: [b, c]}
flows:
  - {name: f, from: a, to: b, rate: 1 Mbit/s, size: 500}
  - {name: late, from: a, to: b, rate: 1 Mbit/s, size: 500, start: 2 s}
events:
"""


def ring() -> tuple[Network, Lsp]:
    """Three routers, an LSP with a flow, and a flow that routers route."""
    net = Network(seed=3)
    a, b, c = (net.router(name, hello="100 ms") for name in "abc")
    for x, y in ((a, b), (b, c), (a, c)):
        net.link(x, y)
    east = a.lsp("east", c, route=[b, c])
    net.flow(a, c, over=east, name="f", rate="5 Mbit/s", size=500)
    net.flow(a, b, name="g", rate="1 Mbit/s", size=500)
    return net, east


def done(net: Network) -> list[dict[str, Any]]:
    """Actions without what is null."""
    return [{k: v for k, v in row.items() if v is not None} for row in net.actions().to_dicts()]


def closed(net: Network) -> None:
    """The accounts of all flows leave nothing over."""
    assert net.table("flow_accounts")["unknown"].sum() == 0


def test_a_schedule_does_what_calls_do_then() -> None:
    """However the run is cut into pieces."""
    digests = set()
    for cut in (6.0, 0.37):
        net, east = ring()
        net.at("1 s").fail("a", "b")
        net.at("2 s").heal("a", "b")
        net.every("500 ms", start="3 s", times=4).flap(east)
        net.at("5500 ms").restart("b", "100 ms")
        while net.now < 6:
            net.run(until=min(6.0, net.now + cut))
        digests.add(net.digest())
        closed(net)
    net, east = ring()
    net.run(until="1 s")
    net.fail("a", "b")
    net.run(until="2 s")
    net.repair("a", "b")
    for k in range(4):
        net.run(until=3 + k * 0.5)
        east.teardown()
        east.signal()
    net.run(until="5500 ms")
    net.restart("b", "100 ms")
    net.run(until="6 s")
    assert digests == {net.digest()}


def test_the_end_of_a_call_leaves_a_newer_event_alone() -> None:
    """And the end of an event leaves a newer call alone."""
    for first_is_a_call in (True, False):
        net, _ = ring()
        if first_is_a_call:
            net.at("2 s").loss("a", "b", 1, for_="3 s")
        else:
            net.at("1 s").loss("a", "b", 0, for_="2 s")
        net.run(until="1 s")
        if first_is_a_call:
            net.fault("a", "b", loss=0.0, until="3 s")
        net.run(until="2 s")
        if not first_is_a_call:
            net.fault("a", "b", loss=1.0, until="5 s")
        net.run(until="3100 ms")
        before = net.table("losses").filter(pl.col("reason") == "link-loss")["packets"].sum()
        net.run(until="4900 ms")
        after = net.table("losses").filter(pl.col("reason") == "link-loss")["packets"].sum()
        assert after - before > 100, (first_is_a_call, before, after)
        net.run(until="6 s")
        late = net.table("losses").filter(pl.col("reason") == "link-loss")["packets"].sum()
        assert after <= late < after + (after - before) / 5
        closed(net)


def test_a_file_and_python_have_one_digest() -> None:
    of_file = Network.from_file(EXAMPLE)
    of_file.run(until="10 s")
    net = Network(seed=7)
    nodes = {name: net.router(name, hello="9 s") for name in "abcd"}
    left = net.host("left", "10.1.0.2/24")
    right = net.host("right", "10.2.0.2/24")
    core = {"rate": "1 Gbit/s", "delay": "50 us", "reservable": "900 Mbit/s"}
    net.link(left, "a", rate="none", delay=0)
    net.link("a", "b", **core)
    net.link("b", "c", **core, detection="50 ms")
    net.link("c", "d", **core)
    net.link("a", "d", **core)
    net.link("c", right, rate="none", delay=0)
    nodes["a"].lsp(
        *("gold", "c"),
        **{"route": ["b", "c"], "fallback": ["d", "c"], "bandwidth": "20 Mbit/s"},
        carries="10.2.0.0/24",
    )
    net.flow(left, right, name="video", rate="8 Mbit/s", size=1000, dscp="EF", start="1 s")
    net.at("3 s").fail("b", "c")
    net.at("5 s").heal("b", "c")
    net.at("6 s").loss("a", "d", "1 %", sender="a", for_="1 s")
    net.at("8 s").flap("gold", for_="100 ms")
    net.run(until="10 s")
    assert done(net) == done(of_file) and len(done(net)) == 4
    assert net.flows[0].stats()["lost"].sum() == of_file.flows[0].stats()["lost"].sum() > 40
    assert net.digest() == of_file.digest()
    closed(net)


def test_a_node_takes_its_links_down_and_brings_them_back() -> None:
    """By a schedule and by calls alike; what was cut for itself stays down."""
    nets = [ring()[0], ring()[0]]
    nets[0].at("1 s").fail("a", "b")
    nets[0].at("2 s").fail("b", for_="1 s")
    nets[0].run(until="4 s")
    nets[1].run(until="1 s")
    nets[1].fail("a", "b")
    nets[1].run(until="2 s")
    nets[1].fail("b")
    nets[1].run(until="3 s")
    nets[1].repair("b")
    nets[1].run(until="4 s")
    assert nets[0].digest() == nets[1].digest()
    for net in nets:
        closed(net)
        ports = net.events().filter(pl.col("event").is_in(["port-down", "port-up"]))
        told = [(row["node"], row["event"], round(row["time_s"], 3)) for row in ports.to_dicts()]
        detection = 0.0
        assert [one for one in told if one[0] == "c"] == [
            ("c", "port-down", 2.0 + detection),
            ("c", "port-up", 3.0 + detection),
        ]
        assert [one for one in told if one[0] == "a"] == [("a", "port-down", 1.0 + detection)]


def test_a_restart_of_what_is_down_does_nothing_and_a_later_one_decides() -> None:
    net, _ = ring()
    net.at("1 s").fail("b", for_="2 s")
    net.at("2 s").restart("b", "500 ms")
    net.at("5 s").restart("b", "1 s")
    net.at("5500 ms").restart("b", "2 s")
    net.run(until="10 s")
    ports = net.events().filter((pl.col("node") == "c") & pl.col("event").is_in(["port-down", "port-up"]))
    told = [(row["action"], row["time_s"], row["until_s"]) for row in done(net)]
    assert told == [("fail", 1.0, 3.0), ("restart", 5.0, 6.0), ("restart", 5.5, 7.5)]
    assert ports["time_s"].to_list() == [1.0, 3.0]
    closed(net)


def test_what_ends_by_itself_comes_back() -> None:
    net, east = ring()
    net.at("1 s").fail("b", for_="500 ms")
    net.at("4 s").tear(east, for_="1 s")
    net.run(until="3500 ms")
    assert east.up
    net.run(until="4500 ms")
    assert not east.up
    net.run(until="6 s")
    assert east.up
    assert done(net) == [
        {"time_s": 1.0, "action": "fail", "node": "b", "until_s": 1.5},
        {"time_s": 4.0, "action": "tear", "lsp": "east", "until_s": 5.0},
    ]
    closed(net)


def test_a_later_failure_outlasts_the_end_of_an_earlier_one() -> None:
    lost = {}
    for second in ("1200 ms", None):
        net, _ = ring()
        net.at("1 s").fail("a", "b", for_="500 ms")
        if second is not None:
            net.at(second).fail("a", "b", for_="2 s")
        net.run(until="4 s")
        lost[second] = net.flows[1].stats()["lost"].sum()
        closed(net)
    assert abs(lost[None] - 126) <= 2 and abs(lost["1200 ms"] - 551) <= 2


def test_what_happens_at_one_time_happens_in_the_order_of_the_list() -> None:
    """What ends then ends first."""

    def lost(*events: tuple[str, str, str | None]) -> int:
        net, _ = ring()
        for at, what, for_ in events:
            moment = net.at(at)
            moment.fail("a", "b", for_=for_) if what == "fail" else moment.heal("a", "b")
        net.run(until="4 s")
        closed(net)
        return int(net.flows[1].stats()["lost"].sum())

    # 250 packets each second; one or two are on their way.
    assert lost(("1 s", "fail", None), ("1 s", "heal", None)) <= 3
    assert abs(lost(("1 s", "fail", "1 s"), ("2 s", "fail", "1 s")) - 500) <= 2
    assert abs(lost(("1 s", "fail", None), ("1 s", "heal", None), ("1 s", "fail", None)) - 750) <= 2
    assert abs(lost(("1 s", "fail", "1 s"), ("2 s", "heal", None)) - 250) <= 2


def test_a_flow_that_stops_and_starts_at_one_time_misses_nothing() -> None:
    net, _ = ring()
    net.at("1 s").stop("g")
    net.at("1 s").start("g")
    net.at("2 s").stop("f", for_="1 s")
    net.at("3 s").stop("f", for_="500 ms")
    net.run(until="5 s")
    assert abs(net.flows[1].stats()["sent"].sum() - 5 * 250) <= 2
    assert abs(net.flows[0].stats()["sent"].sum() - 3.5 * 1250) <= 2
    # The other way round it is silent from then on, and an event that begins it keeps it silent before.
    net, _ = ring()
    net.at("1 s").start("g")
    net.at("1 s").stop("g")
    net.run(until="3 s")
    assert net.flows[1].stats()["sent"].sum() <= 1
    closed(net)


def test_a_link_of_another_network_is_refused() -> None:
    net, _ = ring()
    other = ring()[0].links[1]
    for call in (net.fail, net.at("1 s").fail, net.at("1 s").heal, net.repair):
        with pytest.raises(TwinplaneError, match=r"^b-c: it belongs to another network$"):
            call(other)
    net.fail(net.links[1])


def test_flows_start_and_stop_by_events() -> None:
    net, _ = ring()
    net.at("2 s").start("g")
    net.at("3 s").stop("g")
    net.at("4 s").start("g", for_="500 ms")
    net.at("1 s").stop("f", for_="1 s")
    for until, sent in ((2, 0), (3, 250), (4, 250), (6, 375)):
        net.run(until=until)
        assert abs(net.flows[1].stats()["sent"].sum() - sent) <= 2, until
    assert abs(net.flows[0].stats()["sent"].sum() - 5 * 1250) <= 2
    closed(net)


def test_random_times_are_those_of_the_seed_and_the_stream() -> None:
    def times(seed: int, stream: str | None) -> tuple[list[float], list[float]]:
        net = Network(seed=seed)
        a, b = net.router("a"), net.router("b")
        net.link(a, b)
        net.random("100 ms", start="1 s", until="9 s", stream=stream).fail(a, for_="1 ms")
        net.random("100 ms", start="1 s", until="9 s", stream=stream).fail(b, for_="1 ms")
        net.run(until="10 s")
        found = [row for row in done(net)]
        return tuple([row["time_s"] for row in found if row["node"] == node] for node in "ab")  # type: ignore[return-value]

    one, other = times(1, None)
    assert one != other and times(1, None) == (one, other) and times(2, None)[0] != one
    assert 50 < len(one) < 110 and one[0] > 1.0 and one[-1] <= 9.0
    shared, same = times(1, "storm")
    assert shared == same


WRONG: list[tuple[str, int, str]] = [
    ("{at: 5 s, fail: [a, q]}", 19, "event number 1: fail: 'q', no node has that name"),
    ("{at: 5 s, fail: [b, x]}", 19, "there is no link between 'b' and 'x' ('b' has links to a, c)"),
    ("{at: 5 s, fail: [a, c]}", 19, "there are 2 links between 'a' and 'c': name one by an interface, as in"),
    ('{at: 5 s, fail: ["a:e7", c]}', 19, "e7"),
    ("{at: 5 s, heal: [a, b]}", 19, "nothing happens to the link between 'a' and 'b' before"),
    ("{every: 1 s, heal: [a, b]}", 19, "nothing happens to the link between 'a' and 'b' before"),
    ("{at: -5 s, fail: [a, b]}", 19, "'-5 s': it cannot be negative"),
    ("{at: 5 s, loss: {on: [a, b], share: 1.5}}", 19, "1.5: a share is 0 to 1, or 0 % to 100 %"),
    ("{at: 5 s, loss: {on: [a, b], share: 1 %, from: c}}", 19, "'c' is not an end of the link between"),
    ("{at: 5 s, fail: x}", 19, "'x' is external: it can't be made to fail or restart"),
    ("{at: 5 s, restart: x}", 19, "'x' is external: it can't be made to fail or restart"),
    ("{at: 5 s}", 19, "it says not what happens (one of fail, heal, restart, "),
    ("{at: 5 s, fail: a, tear: east}", 19, "one action in each event: 'fail' and 'tear' are two"),
    ("{fail: a}", 19, "it says not when: 'at', 'every' or 'random' is needed"),
    ("{at: 5 s, every: 1 s, fail: a}", 19, "'at' and 'every' are two ways to say when: one of them"),
    ("{at: 5 s, until: 9 s, fail: a}", 19, "'until' goes with 'every' and 'random'"),
    ("{every: 1 s, from: 5 s, until: 4 s, fail: a, for: 1 ms}", 19, "4 s is before its beginning (5 s)"),
    ("{at: 5 s, flap: eats}", 19, "'eats', no LSP has that name (did you mean 'east'?)"),
    ("{at: 5 s, flap: [a, b]}", 19, "'for' is missing: how long the link is down"),
    ("{at: 5 s, stop: g}", 19, "'g', no flow has that name"),
    ("{at: 1 s, start: late}", 19, "'late' has a start of its own at 2 s, before which this does nothing"),
    ("{at: 5 s, fial: [a, b]}", 19, "unknown field 'fial' (did you mean 'fail'?)"),
    (
        "{at: 5 s, fail: [a, b]}\n  - {at: 2 s, heal: [a, b]}",
        20,
        "2 s is before 5 s, the time of the event above",
    ),
    (
        "{at: 9 s, fail: [a, b], for: 2 s}",
        19,
        "it ends at 11 s, after the end of the run at 10 s (--duration)",
    ),
    ("{at: 11 s, fail: [a, b]}", 19, "11 s is after the end of the run at 10 s (--duration)"),
    ("{every: 1 s, until: 20 s, flap: east}", 19, "20 s is after the end of the run at 10 s (--duration)"),
]


@pytest.mark.parametrize(("event", "line", "said"), WRONG, ids=[one[0][:48] for one in WRONG])
def test_a_wrong_event_is_one_sentence_with_its_line(
    event: str, line: int, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    top = (
        TOP.replace("  x: {kind: external, interface: eth7}\n", "  x: {kind: peer}\n")
        if "run" in said
        else TOP
    )
    path.write_text(f"{top}  - {event}\n")
    found = refusal(path)
    assert found.startswith(f"{path}:{line}:"), found
    assert said in found and "\n" not in found.strip(), found


def refusal(path: Path) -> str:
    """What `twinplane run` says of a file that it refuses, without the name of the program."""
    ran = command("run", str(path))
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    return ran.stderr.removeprefix("twinplane: ").strip()


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (lambda net: net.at("1 s").fail("a", "q"), "'q', no node has that name"),
        (lambda net: net.at("1 s").loss("a", "b", "150 %"), "'150 %': a share is 0 to 1, or 0 % to 100 %"),
        (lambda net: net.at("1 s").heal("a", "b"), "nothing happens to the link between 'a' and 'b' before"),
        (lambda net: net.every(0).flap("east"), "it is not above zero"),
        (lambda net: net.at("1 s").loss("a", "b", 0.1, sender="c"), "'c' is not an end of the link"),
    ],
)
def test_python_refuses_the_same(add: Callable[[Network], object], said: str) -> None:
    net, _ = ring()
    with pytest.raises(TwinplaneError) as caught:
        add(net)
        net.run(until="1 s")
    assert said in str(caught.value)


def test_what_has_passed_is_refused_and_what_comes_is_done() -> None:
    net, _ = ring()
    net.run(until="2 s")
    with pytest.raises(TwinplaneError, match="1 s has passed: it is 2 s"):
        net.at("1 s").fail("a", "b")
    net.at("3 s").fail("a", "b")
    net.every("1 s", start="1 s", until="4 s").restart("b", "1 ms")
    net.run(until="4 s")
    assert [(row["time_s"], row["action"]) for row in done(net)] == [
        *[(2.0, "restart"), (3.0, "fail"), (3.0, "restart"), (4.0, "restart")],
    ]


BESIDE: list[tuple[str, str, str]] = [
    ("{at: 2 s, fail: [a, x]}", ":2:25: ", "event number 1: fail: 'x', no node has that name"),
    ("{at: 20 s, fail: [a, b]}", ":2:10: ", "20 s is after the end of the run at 10 s"),
    ("{at: 2 s, heal: [a, d]}", ":2:", "nothing happens to the link between 'a' and 'd' before that"),
    ("3", ":2:", "event number 1"),
]


@pytest.mark.parametrize(("event", "place", "said"), BESIDE, ids=[one[0] for one in BESIDE])
def test_wrong_events_beside_a_network_have_their_line(
    event: str, place: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "storm.yaml"
    path.write_text(f"events:\n  - {event}\n")
    ran = command("run", str(EXAMPLE), "--events", str(path))
    assert ran.returncode == 2 and ran.stderr.startswith(f"twinplane: {path}{place}"), ran.stderr
    assert said in ran.stderr and "Traceback" not in ran.stderr


def test_events_beside_an_experiment(tmp_path: Path) -> None:
    path, out = tmp_path / "storm.yaml", tmp_path / "out"
    path.write_text("events:\n  - {at: 200 ms, fail: [r1, r2], for: 10 ms}\n")
    good("run", "lsp-flap", *QUICK, "--set", "m=4", "--events", str(path), "--out", str(out))
    found = pl.read_parquet(out / "tables" / "actions.parquet")
    assert found.select("action", "link", "until_s").rows() == [("fail", "r1-r2", 0.21)]
    assert (out / "events.yaml").read_text() == path.read_text()


def test_a_run_of_a_file_keeps_its_actions(tmp_path: Path) -> None:
    good("run", str(EXAMPLE), "--out", str(tmp_path / "out"))
    found = pl.read_parquet(tmp_path / "out" / "tables" / "actions.parquet")
    assert found["action"].to_list() == ["fail", "heal", "loss", "tear"]
    assert found["link"].to_list() == ["b-c", "b-c", "a-d", None]


def test_routes_follow_events() -> None:
    net = Network(seed=3, routes="shortest")
    a, b, c = (net.router(name) for name in "abc")
    for x, y in ((a, b), (b, c), (a, c)):
        net.link(x, y)
    net.flow(a, b, name="f", rate="1 Mbit/s", size=500)
    net.at("1 s").fail(a, b, for_="2 s")
    net.run(until="5 s")
    computed = net.table("computed_routes")
    assert computed["avoided"].to_list() == [1, 0] and 1 < computed["time_s"][0] < 2
    assert 0 < net.flows[0].stats()["lost"].sum() < 250
    closed(net)


def test_events_happen_by_the_clock_on_the_wall() -> None:
    net = Network(seed=3, clock="wall")
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    net.flow(a, b, name="f", rate="1 Mbit/s", size=500)
    net.at("300 ms").fail(a, b, for_="200 ms")
    net.at("600 ms").stop("f")
    net.run(until="1 s")
    first, second = done(net)
    assert (first["action"], second["action"]) == ("fail", "stop")
    assert first["time_s"] >= 0.3 and second["time_s"] >= 0.6
    assert net.flows[0].stats()["lost"].sum() > 0
    closed(net)


def test_an_event_of_a_python_file_has_its_line(tmp_path: Path) -> None:
    """Whether it is wrong by itself, or only beside the others."""
    path = tmp_path / "net.py"
    text = """\
import twinplane as tp

net = tp.Network()
a, b = net.router("a"), net.router("b")
net.link(a, b)
net.flow(a, b, name="f", start="2 s")
"""
    for line, said in (
        ('net.at("2 s").heal(a, b)', "nothing happens to the link between 'a' and 'b' before"),
        ('net.at("1 s").start("f")', "'f' has a start of its own at 2 s"),
        ('net.at("1 s").stop("g")', "'g', no flow has that name"),
    ):
        path.write_text(text + "net.at(1).loss(a, b, 0.01) if False else None\n" + line + "\n")
        result = command("fail", str(path), "--watch", "1 s")
        assert result.returncode == 2 and result.stderr.count("net.py") == 1, result.stderr
        assert f"{path}:8: " in result.stderr and said in result.stderr, result.stderr


def test_what_is_healed_while_a_network_runs_is_checked() -> None:
    net, _ = ring()
    net.at("2 s").fail("a", "b", for_="100 ms")
    net.run(until="1 s")
    for wrong in (
        lambda: net.at("5 s").heal("b", "c"),
        lambda: net.at("1500 ms").heal("a", "b"),
        lambda: net.at("5 s").heal("c"),
        lambda: net.at("1500 ms").heal(),
    ):
        with pytest.raises(TwinplaneError, match=r"heal: nothing happens to .* that could be healed"):
            wrong()
    net.at("5 s").heal("a", "b")
    net.at("5 s").heal()
    net.fail("c")
    net.at("5 s").heal("c")
    net.run(until="6 s")
    assert [row["action"] for row in done(net)] == ["fail", "fail", "heal", "heal", "heal"]


def test_events_name_demands() -> None:
    """All of them, those of a class, or those of a pair of nodes."""
    net = Network(seed=3)
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b)
    net.link(b, c)
    with pytest.raises(TwinplaneError, match="'gold', no flow has that name"):
        net.at("1 s").stop("gold")
    rows = [(x, y, "400 kbit/s", z) for x, y in (("a", "b"), ("a", "c")) for z in ("gold", "rest")]
    net.demands(rows, classes={"gold": {"dscp": "EF"}, "rest": {}})
    net.at("1 s").stop("gold")
    net.at("2 s").stop("a-b")
    net.at("3 s").stop("demands", for_="1 s")
    with pytest.raises(TwinplaneError, match=r"'gald', no flow has that name \(did you mean 'gold'\?\)"):
        net.at("1 s").stop("gald")
    moves = []
    for second in range(1, 5):
        sent = []
        for part in (0.1, 0.9):
            net.run(until=second + part)
            table = net.table("demands")
            sent.append({(row["class"], row["to"]): row["sent"] for row in table.iter_rows(named=True)})
        moves.append({key for key in sent[0] if sent[1][key] > sent[0][key]})
    rest = {("rest", "b"), ("rest", "c")}
    # When all go on, those do that were stopped before.
    assert moves == [rest, {("rest", "c")}, set(), {("gold", "b"), ("gold", "c"), *rest}]
    assert {row["flow"] for row in done(net)} == {"gold", "a-b", "demands"}
    with pytest.raises(TwinplaneError, match="'gald', no flow has that name"):
        net.at("7 s").start("gald")
    with pytest.raises(TwinplaneError, match=r"'demand', no flow has that name \(did you mean 'demands'\?\)"):
        net.at("7 s").start("demand")
    with pytest.raises(TwinplaneError, match=r"'gol', no flow has that name \(did you mean 'gold'\?\)"):
        net.at("7 s").start("gol")
    net.at("7 s").start("gold")
    closed(net)


def demanding() -> Network:
    """Two demands from a, of two classes each."""
    net = Network(seed=3)
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b)
    net.link(b, c)
    rows = [(x, y, "400 kbit/s", z) for x, y in (("a", "b"), ("a", "c")) for z in ("gold", "rest")]
    net.demands(rows, classes={"gold": {"dscp": "EF"}, "rest": {}})
    return net


def test_events_of_demands_that_there_are_none_of_are_refused() -> None:
    """Both nodes are there, and classes are; but nobody sends from c to a."""
    net = demanding()
    net.at("1 s").stop("a-b")
    net.at("2 s").stop("c-a")
    with pytest.raises(TwinplaneError, match="'c-a', no flow has that name"):
        net.run(until="3 s")


def test_an_end_leaves_those_alone_that_another_event_has_stopped_since() -> None:
    """Names overlap: `demands`, a class and a pair of nodes mean some of the same."""
    net = demanding()
    net.at("1 s").stop("demands", for_="2 s")
    net.at("2 s").stop("gold")
    net.at("4 s").start("a-b", for_="1 s")
    moves = []
    for begin, end in (("3100 ms", "3900 ms"), ("4100 ms", "4900 ms"), ("5100 ms", "5900 ms")):
        sent = []
        for at in (begin, end):
            net.run(until=at)
            sent.append(
                {(r["class"], r["to"]): r["sent"] for r in net.table("demands").iter_rows(named=True)}
            )
        moves.append({key for key in sent[0] if sent[1][key] > sent[0][key]})
    rest = {("rest", "b"), ("rest", "c")}
    assert moves == [rest, {("gold", "b"), *rest}, {("rest", "c")}]


def test_a_flow_that_is_stopped_first_by_another_name_sends_before() -> None:
    net = demanding()
    net.at("1 s").stop("demands")
    net.at("2 s").start("gold")
    net.run(until="900 ms")
    assert net.table("demands")["sent"].min() > 0
