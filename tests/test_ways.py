"""Ways through a network: what is warned of before a run, and routes that follow failures."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.lab import plan
from twinplane.network import Network, lowering

from tests.lab.support import refused

BYPASS = Path(__file__).resolve().parents[1] / "examples" / "labs" / "bypass.yaml"

TWO_WAYS = """\
name: two-ways
nodes:
  h1: {kind: host, address: 10.1.0.2/24}
  h2: {kind: host, address: 10.2.0.2/24}
  a: {kind: router}
  b: {kind: router}
  c: {kind: router}
  d: {kind: router}
links:
  - [h1, a]
  - [a, b]
  - [b, d]
  - [a, c, {metric: 5}]
  - [c, d, {metric: 5}]
  - [d, h2]
"""


def two_ways(**options: Any) -> tuple[Network, tp.Flow]:
    """Two hosts, a short way and a long one between them, and a packet each millisecond."""
    net = Network(**options)
    h1, h2 = net.host("h1", "10.1.0.2/24"), net.host("h2", "10.2.0.2/24")
    a, b, c, d = (net.router(name) for name in "abcd")
    for x, y, metric in ((h1, a, 1), (a, b, 1), (b, d, 1), (a, c, 5), (c, d, 5), (d, h2, 1)):
        net.link(x, y, metric=metric)
    return net, net.flow(h1, h2, rate="4 Mbit/s", size=500)


def lost(flow: tp.Flow) -> int:
    """Packets of a flow that did not arrive."""
    return int(flow.stats()["lost"].sum())


def test_routes_follow_a_failure_after_detection_and_computation() -> None:
    net, flow = two_ways(routes={"kind": "shortest", "detection": "10 ms", "computation": "90 ms"})
    net.run(until="1 s")
    net.fail("a", "b")
    net.run(until="2 s")
    gone = lost(flow)
    assert 99 <= gone <= 102
    net.repair("a", "b")
    net.run(until="3 s")
    assert lost(flow) <= gone + 1  # what is in flight counts as lost
    computed = net.table("computed_routes")
    assert computed["time_s"].to_list() == [1.1, 2.1]
    assert computed["avoided"].to_list() == [1, 0]
    assert net.table("flow_accounts")["unknown"].to_list() == [0]


def test_without_failures_the_key_changes_no_byte() -> None:
    digests = []
    for options in ({}, {"routes": "shortest"}):
        net, _ = two_ways(**options)
        net.run(until="1 s")
        digests.append(net.digest())
    assert digests[0] == digests[1]


def test_a_file_and_a_call_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(
        f"{TWO_WAYS}flows:\n  - {{from: h1, to: h2, rate: 4 Mbit/s, size: 500}}\nroutes: shortest\n"
    )
    for net in (Network.from_file(file, 1), two_ways(routes="shortest")[0]):
        net.run(until="1 s")
        net.fail("a", "b")
        net.run(until="2 s")
        assert net.table("computed_routes")["time_s"].to_list() == [1.25]
    assert "routes" in Network.from_file(file).described()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("routes: shortets", "did you mean 'shortest'"),
        ("routes: {kind: shortest, computation: -1 s}", "computation"),
        ("routes: {kind: shortest, detecting: 1 s}", "did you mean 'detection'"),
    ],
)
def test_wrong_routes_are_refused_with_their_line(tmp_path: Path, written: str, words: str) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(f"{TWO_WAYS}flows: [{{from: h1, to: h2}}]\n{written}\n")
    line = TWO_WAYS.count("\n") + 2
    said = refused("run", file, "--out", tmp_path / "out")
    assert f"{file}:{line}:" in said and words in said


def test_a_lab_does_not_compute_routes(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(f"{TWO_WAYS}routes: shortest\n")
    line = TWO_WAYS.count("\n") + 1
    with pytest.raises(tp.TwinplaneError) as error:
        plan.plan(lowering.lower(file))
    assert f"{file}:{line}:" in str(error.value) and "not in a lab" in str(error.value)


def test_nodes_without_a_link_are_a_warning() -> None:
    net = Network()
    for name in "abcdefg":
        net.router(name)
    net.link("a", "b")
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="1 ms")
    assert [str(one.message) for one in caught] == [
        "node 'c': it has no link, and neither has 'd', 'e', 'f' and 1 more:"
        " no packet gets there, and none away"
    ]


def test_flows_without_a_way_are_a_warning() -> None:
    net = Network()
    a, b, c, d = (net.router(name) for name in "abcd")
    net.link(a, b)
    net.link(c, d)
    for end in (b, c, d):
        net.flow(a, end)
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="1 ms")
    assert [str(one.message) for one in caught] == [
        "flow 'a-c': no way leads from 'a' to 'c': all its packets are lost, and so are those of 1 more"
    ]


def test_a_network_whose_parts_all_have_ways_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net, _ = two_ways()
        net.run(until="1 ms")


@pytest.mark.parametrize("failed", [("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")])
def test_the_example_bypass_survives_any_failure_between_routers(failed: tuple[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a command of a host is for labs only
        net = Network.from_file(BYPASS)
        flows = [
            net.flow("client", "server", dst_port=80),
            net.flow("client", "server", dst_port=8080),
            net.flow("server", "client", src_port=80),
        ]
        net.run(until="2 s")
        net.fail(*failed)
        net.run(until="20 s")
        before = [lost(flow) for flow in flows]
        net.run(until="22 s")
    assert all(lsp.up for lsp in net.lsps)
    # What is in flight counts as lost.
    assert all(lost(flow) - gone <= 1 for flow, gone in zip(flows, before, strict=True))


LSPS = """\
lsps:
  - {name: east, from: a, to: d, route: [b, d]}
  - {name: west, from: d, to: a, route: [b, a], fallback: [c, a]}
  - {name: back, from: d, to: a, route: [b, a]}
flows:
  - {name: plain, from: h1, to: h2}
  - {name: other, from: c, to: d}
"""


def warned(file: Path) -> list[str]:
    """Warnings of a file, without its path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [text.removeprefix(f"{file}:") for text in Network.from_file(file).warnings]


def test_events_that_leave_something_without_a_way_are_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(f"{TWO_WAYS}{LSPS}events:\n  - {{at: 1 s, fail: [a, b]}}\n  - {{at: 2 s, fail: b}}\n")
    line = (TWO_WAYS + LSPS).count("\n") + 2
    routes = (
        "and routes stay as they are: flow 'plain' loses all packets while it lasts,"
        " though there is another way ('routes: shortest' lets routes follow)"
    )
    lsps = "over which lsps 'east' and 'back' go, and no fallback avoids that"
    assert warned(file) == [
        f"{line}:5: event number 1: it cuts a-b, {lsps}",
        f"{line}:5: event number 1: it cuts a-b, {routes}",
        f"{line + 1}:5: event number 2: it takes 'b' down, {lsps}",
        f"{line + 1}:5: event number 2: it takes 'b' down, {routes}",
    ]
    file.write_text(f"{file.read_text()}routes: shortest\n")
    assert warned(file) == [
        f"{line}:5: event number 1: it cuts a-b, {lsps}",
        f"{line + 1}:5: event number 2: it takes 'b' down, {lsps}",
    ]


def test_events_that_everything_survives_are_silent(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    events = "events: [{at: 1 s, fail: [b, c]}, {at: 2 s, heal: [b, c]}]\n"
    file.write_text(f"{BYPASS.read_text()}{events}")
    assert [text for text in warned(file) if "event" in text] == []
