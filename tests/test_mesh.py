"""`lsp-mesh` on real topologies: every LSP up, every packet back, every hop as asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_graphml import NODES, TOPOLOGIES, document, place
from twinplane.experiments import load
from twinplane.experiments.base import Outcome
from twinplane.experiments.lsp_mesh.parameters import MeshParameters
from twinplane.results.points import Point

EXPERIMENT = load("lsp-mesh")


def run(topology: Path, seed: int = 1, **settings: object) -> tuple[MeshParameters, Outcome]:
    parameters = MeshParameters.model_validate({"topology": str(topology), "setup_s": 2.0, **settings})
    network = EXPERIMENT.build(parameters, seed)
    EXPERIMENT.run(network, parameters)
    return parameters, EXPERIMENT.summarise(network, parameters)


@pytest.mark.parametrize("name", sorted(NODES))
def test_real_topologies(name: str) -> None:
    path = TOPOLOGIES / f"{name}.graphml"
    if not path.exists():
        pytest.skip("the topologies are not here")
    parameters, outcome = run(path, pairs_max=300)
    m = outcome.metrics
    assert EXPERIMENT.fault(Point(parameters.model_dump(), m)) is None
    assert (m["nodes"], m["links"]) == NODES[name]
    assert m["lsps"] == m["up"] == min(300, m["pairs"])
    assert m["probes_received"] == m["probes_sent"] == 3 * m["lsps"]
    # Each packet crosses at least one link, and no shortest path is longer than the network.
    assert m["lsps"] <= m["hops_checked"] / 3 <= m["lsps"] * m["nodes"]
    assert (m["wrong_hops"], m["probes_lost"]) == (0, 0)


def test_parallel_links_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "parallel.graphml"
    links = '<edge source="0" target="1"/>' * 3 + '<edge source="1" target="2"/>'
    file.write_text(document(place("0") + place("1", "same") + place("2", "same") + links))
    _, outcome = run(file)
    assert outcome.metrics["hops_checked"] == 3 * (4 * 1 + 2 * 2)
    assert (outcome.metrics["up"], outcome.metrics["wrong_hops"]) == (6, 0)


def test_the_sample_depends_on_the_seed(tmp_path: Path) -> None:
    file = tmp_path / "ring.graphml"
    ring = "".join(f'<edge source="{n}" target="{(n + 1) % 8}"/>' for n in range(8))
    file.write_text(document("".join(place(str(n)) for n in range(8)) + ring))
    digests = [run(file, seed, pairs_max=10)[1].metrics["digest"] for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


def test_what_goes_wrong_is_a_bad_verdict() -> None:
    good = {"lsps": 2, "up": 2, "lsps_probed": 2, "probes_sent": 6, "probes_received": 6, "wrong_hops": 0}
    faults = [
        EXPERIMENT.fault(Point({}, {**good, **change}))
        for change in ({}, {"up": 1}, {"probes_received": 5}, {"wrong_hops": 1})
    ]
    assert faults == [
        None,
        "1 of 2 LSPs are not up",
        "5 of 6 packets arrived",
        "1 packets left their route",
    ]
