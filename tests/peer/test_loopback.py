"""The naive peers among themselves: they can set up, use and tear down what they signal.

What the naive router lacks (admission, priorities, validation of reservations, Srefresh) is left
to the router under test; the rest of the scenarios is tried out here, so that a failure there is
the router's.
"""

from __future__ import annotations

import pytest

from . import codec as c
from .bench import Bench, Options
from .lsr import Lsr
from .neighbour import Ends, Neighbour
from .port import Clock, Wire
from .scenarios import SCENARIOS
from .stand_in import EAST, WEST, build, mac

# What the naive router cannot do, by scenario.
BEYOND_NAIVE: set[str] = {
    "data.ttl_expires",
    "hello.asks",
    "hello.downstream_falls_silent",
    "hello.downstream_restarts",
    "integrity.wrong_key",
    "malformed.broken_reservations",
    "malformed.cut_anywhere",
    "malformed.missing_objects",
    "malformed.unknown_c_type",
    "malformed.unknown_class_forwarded",
    "malformed.unknown_class_in_resv",
    "reliable.acknowledges_again",
    "reliable.new_epoch",
    "reliable.out_of_order",
    "reliable.router_summarises",
    "reliable.srefresh_keeps",
    "reliable.srefresh_lists_many",
    "reliable.srefresh_unknown",
    "reservations.conflicting_style",
    "reservations.label_out_of_range",
    "reservations.no_label",
    "reservations.unknown_sender",
    "reservations.unknown_style",
    "sharing.equal_priority_holds",
    "sharing.fixed_filter_adds_up",
    "sharing.grows_in_place",
    "sharing.holding_beats_setup",
    "sharing.make_before_break_larger",
    "sharing.preemption",
    "sharing.preempts_the_weakest",
    "sharing.refused_takes_nothing",
    "sharing.sessions_do_not_share",
    "sharing.too_much",
}


def test_back_to_back() -> None:
    """Two peers on one wire: Path, Resv, a refresh, PathTear."""
    clock = Clock()
    wire = Wire(clock)
    west = Neighbour(wire.left, Ends(mac(1), "10.1.0.1", "10.1.0.2", WEST, EAST))
    east = Neighbour(wire.right, Ends(mac(2), "10.1.0.2", "10.1.0.1", EAST, WEST))
    ingress, egress = Lsr(WEST, [west]), Lsr(EAST, [east])
    clock.ticks += [ingress.pump, egress.pump]
    path = c.Message(
        c.Type.PATH,
        [
            c.Session(EAST, 1, WEST),
            c.RsvpHop("10.1.0.1"),
            c.TimeValues(1000),
            c.ExplicitRoute.strict("10.1.0.2"),
            c.LabelRequest(),
            c.SenderTemplate(WEST, 1),
            c.SenderTspec(c.Traffic.of_bits(1e6)),
        ],
    )
    key = ingress.signal(west, path)
    clock.run(0.1)
    assert ingress.label(key) == egress.egress_labels[key] >= 16
    clock.run(20.0)
    assert ingress.label(key) is not None and key in egress.paths
    assert len(Bench.came(east, c.Type.PATH, key)) > 10
    ingress.tear(key)
    clock.run(0.1)
    assert not ingress.paths and not egress.paths and not ingress.resvs
    assert not west.undecodable and not east.undecodable


def test_states_expire() -> None:
    """A wire that is cut leaves no state anywhere."""
    bench, router = build()
    key = bench.set_up(bench.path(refresh_ms=1000))
    assert router.paths and not bench.failures
    bench.ingress.refreshes = False
    bench.run(20.0)
    assert not router.paths and not router.ilm
    assert key not in bench.egress.paths


@pytest.mark.parametrize("name", sorted(set(SCENARIOS) - BEYOND_NAIVE))
def test_scenario(name: str) -> None:
    """Every scenario that a naive router can pass."""
    scenario = SCENARIOS[name]
    if scenario.originates:
        pytest.skip("the naive router originates nothing by itself")
    bench, _ = build(scenario.options)
    assert scenario.run(bench) == []


def test_every_scenario_cites() -> None:
    """A scenario without an RFC behind it proves nothing."""
    assert len(SCENARIOS) > 10
    assert [name for name, s in SCENARIOS.items() if "RFC" not in s.sections] == []


def test_options_reach_the_peers() -> None:
    """The key of the options is the key of both sides."""
    bench, _ = build(Options(key=b"secret"))
    assert bench.west.key == bench.east.key == b"secret"
