"""The naive peers among themselves: they can set up, use and tear down what they signal.

Every scenario is tried out on a naive router first, so that a failure elsewhere is that router's.
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


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_scenario(name: str) -> None:
    """A naive router passes every scenario, and keeps nothing of it."""
    scenario = SCENARIOS[name]
    bench, _ = build(scenario.options)
    assert scenario.run(bench) == []
    bench.fall_silent()
    assert bench.leftovers() == []


def test_every_scenario_cites() -> None:
    """A scenario without an RFC behind it proves nothing."""
    assert len(SCENARIOS) > 10
    assert [name for name, s in SCENARIOS.items() if "RFC" not in s.sections] == []


def test_options_reach_the_peers() -> None:
    """The key of the options is the key of both sides."""
    bench, _ = build(Options(key=b"secret"))
    assert bench.west.key == bench.east.key == b"secret"
