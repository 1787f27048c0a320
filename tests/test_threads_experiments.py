"""Every experiment gives the same with several threads as with one: digests, figures and tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twinplane.experiments import CATALOGUE, load
from twinplane.network.engine import Engine

from tests.support.campaign import scaled

GRAPH = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="a"/><node id="b"/><node id="c"/><node id="d"/>
<edge source="a" target="b"/><edge source="b" target="c"/>
<edge source="c" target="d"/><edge source="d" target="a"/>
</graph></graphml>"""

OWN = """\
name: own
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}}
links: [[a, b, {delay: 2 ms}], [b, c, {delay: 2 ms}], [c, d, {delay: 2 ms}], [d, a, {delay: 2 ms}]]
lsps: [{name: l, from: a, to: c, route: [b, c]}]
flows: [{from: a, to: c, over: l, start: 100 ms}, {from: b, to: d, arrivals: poisson}, {from: d, to: b}]
"""

BRIEF: dict[str, dict[str, Any]] = {
    "lsp-flap": {
        **{"setup_rate": 2000, "settle_s": 0.02, "signalling_rate": 2000, "first_event_s": 0.02},
        **{"first_period_s": 0.02, "second_period_s": 0.02, "grace_s": 0.05, "end_window_s": 0.01},
        **{"rate_mbps": 5, "n": 10, "m": 3},
    },
    "lsp-mesh": {"topology": "ring.graphml", "setup_s": 1.0, "settle_s": 0.3},
    "convergence": {"routers": 4, "cases": 1},
    "tag-switching": {"part": "udp", "tags": "with", "duration_s": 1.0},
    "protection": {"topology": "ring.graphml", "pairs": 2, "packets_per_s": 100, "watch_s": 0.5, "cases": 1},
    "multicast": {"duration_s": 0.05, "receivers": 2, "size": 1024},
    "diffserv": {"duration_s": 0.3, "drain_s": 0.2, "begin_s": 0.3, "scenario": "diffserv-mpls"},
    "openflow": {"quick": True, "only": "data-10-100"},
    "network": {"file": "own.yaml", "duration_s": 0.3, "drain_s": 0.1},
}
"""The smallest settings of each experiment."""

BY_THE_CLOCK = {"run_s"}
"""Figures of the machine: how long a run took."""


class Shared:
    """A network of the core that so many threads share wherever that is possible, whatever is asked for."""

    def __init__(self, core: Any, threads: int) -> None:
        self.core = core
        core.set_threads(threads, True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def set_threads(self, most: int, always: bool) -> None:
        """Nothing: it is said already."""

    def try_threads(self, most: int) -> None:
        """Nothing: it is said already."""


@pytest.fixture
def sharing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets so many threads share each network from now on."""
    running = Engine.running

    def share(threads: int) -> None:
        known: dict[Any, Shared] = {}

        def shared(self: Engine) -> Any:
            core: Any = running(self)
            if core not in known:
                known[core] = Shared(core, threads)
            return known[core]

        monkeypatch.setattr(Engine, "running", shared)

    return share


def run(name: str, settings: dict[str, Any]) -> tuple[list[str], int]:
    """Digests, figures and tables, in words; and the most threads of a network at last."""
    experiment = load(name)
    parameters = experiment.parameters.model_validate(settings)
    experiment.check(parameters)
    seen, outcomes, most = [], {}, 1
    for part, said in experiment.parts(parameters).items():
        network = experiment.build(said, 1)
        experiment.run(network, said)
        outcomes[part] = experiment.summarise(network, said)
        seen.append(network.digest())
        most = max(most, network.engine.running().threads()[0])
    joined = experiment.joined(parameters, outcomes)
    tables = {**joined.tables, **{key: outcome.tables for key, outcome in outcomes.items()}}
    figures = {key: value for key, value in joined.metrics.items() if key not in BY_THE_CLOCK}
    return [*seen, repr(figures), repr(tables)], most


def test_each_experiment_is_tried() -> None:
    assert BRIEF.keys() == CATALOGUE.keys()


@pytest.mark.parametrize("name", BRIEF)
@pytest.mark.filterwarnings("ignore::twinplane.TwinplaneWarning")
def test_an_experiment_does_not_tell_how_many_threads_there_were(
    name: str, sharing: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ring.graphml").write_text(GRAPH)
    Path("own.yaml").write_text(OWN)
    sharing(1)
    one, alone = run(name, BRIEF[name])
    assert alone == 1
    # More threads than two in long campaigns: small networks have no more parts than some four.
    for threads in (2, 3, 8) if scaled(2) > 2 else (2,):
        sharing(threads)
        more, several = run(name, BRIEF[name])
        assert more == one, threads
        assert 1 < several <= threads, "it is shared, or nothing is shown"
