"""Table `actions`: what was done to a network while it ran."""

from __future__ import annotations

from typing import Any

from twinplane.network import Network


def ring() -> Network:
    """Three routers, two links between a pair of them, and an LSP."""
    net = Network(seed=3)
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b)
    net.link(b, c)
    net.link(a, c)
    net.link(a, c)
    a.lsp("east", c, route=[b, c])
    return net


def rows(net: Network) -> list[dict[str, Any]]:
    """The actions, without what is null."""
    return [{k: v for k, v in row.items() if v is not None} for row in net.actions().to_dicts()]


def test_nothing_was_done_to_a_network_that_only_ran() -> None:
    net = ring()
    net.run(until="1 s")
    assert net.actions().height == 0


def test_every_call_is_a_row_in_words_of_users() -> None:
    net = ring()
    net.run(until="1 s")
    net.fail("a", "b")
    net.run(until="2 s")
    net.repair("a", "b")
    net.fault("b", "c", loss=0.1, delay="5 ms", until="3 s", direction="forth")
    net.fault(net.links[3], reordering=0.25, by="2 ms")
    net.fault("b", "c", delay="1 ms", jitter="1 ms")
    net.run(until="3 s")
    net.restart("b", down="2 s")
    net.run(until="4 s")
    net.heal()
    net.lsps[0].teardown()
    net.run(until="5 s")
    net.lsps[0].signal()
    assert rows(net) == [
        {"time_s": 1.0, "action": "fail", "link": "a-b"},
        {"time_s": 2.0, "action": "heal", "link": "a-b"},
        {
            **{"time_s": 2.0, "action": "loss", "link": "b-c"},
            **{"from": "b", "until_s": 3.0, "value": "10 %"},
        },
        {
            **{"time_s": 2.0, "action": "delay", "link": "b-c"},
            **{"from": "b", "until_s": 3.0, "value": "5 ms"},
        },
        {"time_s": 2.0, "action": "reordering", "link": "a:e2-c:e2", "value": "25 % by 2 ms"},
        {"time_s": 2.0, "action": "delay", "link": "b-c", "value": "1 ms to 2 ms"},
        {"time_s": 3.0, "action": "restart", "node": "b", "until_s": 5.0},
        {"time_s": 4.0, "action": "heal"},
        {"time_s": 4.0, "action": "tear", "lsp": "east"},
        {"time_s": 5.0, "action": "signal", "lsp": "east"},
    ]
