"""Every scenario against a Twinplane router, one test each."""

from __future__ import annotations

from typing import Any

import pytest

from . import harness
from .scenarios import SCENARIOS

tp: Any = pytest.importorskip("twinplane")
if not hasattr(getattr(tp, "Network", None), "peer"):
    pytest.skip("this twinplane has no ports for peers", allow_module_level=True)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_scenario(name: str) -> None:
    """The router completes, refuses or survives the exchange, and keeps nothing of it."""
    scenario = SCENARIOS[name]
    bench = harness.build(tp, scenario.options)
    failures = scenario.run(bench)
    # Once the peers are silent for longer than any lifetime, no state may be left.
    bench.fall_silent()
    failures += [f"left behind: {what}" for what in bench.leftovers()]
    assert failures == [], f"{name}: {scenario.sections}"
