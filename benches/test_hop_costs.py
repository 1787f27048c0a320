"""Costs are read from what callgrind writes: each function's own, once."""

from __future__ import annotations

import pytest
from hop_costs import Cost, Found, read, short, table

WRITTEN = """version: 1
positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
fl=(1) run.rs
fn=(1) twinplane_engine::virtual_time::run::<impl twinplane_engine::World>::step
10 100 10 5 0 3 1 0 1
+2 20
cfn=(2) twinplane_forwarding::fast::forward
calls=4 12
12 900 0 0 0 50 0 0 9
fn=(2)
12 900 300 100 0 40 10 0 8 1
"""


def test_what_is_called_counts_there() -> None:
    found = {cost.function: cost for cost in read(WRITTEN.splitlines())}
    assert found["engine::virtual_time::run::step"] == Cost("engine::virtual_time::run::step", 120, 4, 1)
    assert found["forwarding::fast::forward"] == Cost("forwarding::fast::forward", 900, 50, 9)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("core::iter::Zip<A,B>::new", "iter::Zip<A,B>::new"),
        ("<twinplane_node::router::Router as twinplane_base::Device>::poll", "node::router::Router::poll"),
        ("twinplane_engine::lane::arrive::h0123456789abcdef", "engine::lane::arrive"),
        ("twinplane_engine::run'2", "engine::run"),
    ],
)
def test_names_for_people(name: str, said: str) -> None:
    assert short(name) == said


def test_a_table_adds_up() -> None:
    costs = [Cost("a", 5, 1, 0.5), Cost("b", 3, 1, 0), Cost("c", 2, 0, 0)]
    text = table(Found("chain", 10, Cost("all", 10, 2, 0.5), costs), 1)
    assert "| all | 10.0 | 2.00 | 0.500 |" in text
    assert "| 2 others | 5.0 | 1.00 | 0.000 |" in text
