"""What the naive peer reads in RFC 4090 and a Twinplane router did not do at first."""

from __future__ import annotations

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from .bench import Bench
from .repair_bench import HEAD, Merge, Repair
from .repairing import protected_path
from .state import key_of
from .test_merge import ONE_TO_ONE, detour_of


def test_a_label_that_is_taken_everywhere_says_so() -> None:
    """The flag of a recorded label, by which others know that they may use it (RFC 4090, 6.4.1)."""
    m = Merge(same=False)
    key = m.up(m.west, m.path(m.west))
    record = m.head_of(m.west).resvs[key].descriptor.record
    label = m.head_of(m.west).label(key) or 0
    assert record is not None
    # It is so: by the other port, too, the label leads to east.
    assert m.passes(m.west2, label) == [m.end.egress_labels[key]]
    assert c.LabelHop(label, flags=c.Recorded.GLOBAL_LABEL) in record.hops


def test_a_label_of_one_interface_protects_nobody() -> None:
    """Without that flag a Path has to go through the bypass first, to ask for a label (RFC 4090, 6.4.1)."""
    r = Repair()
    r.end.label_flags = 0
    key = r.head.signal(r.west, r.path())
    r.bench.until(lambda: len(r.end.paths) == 2, 5.0)
    r.bench.run(1.0)
    assert r.head.reported(key)[:1] == [0] or r.end.repairs(c.Type.PATH)


def test_a_node_is_avoided_by_any_of_its_addresses() -> None:
    """The egress by its router id, to which the session leads (RFC 4090, 4.2.1, 7.1.2)."""
    m = Merge(same=False)
    m.up(m.west, m.path(m.west, head=HEAD, fast=ONE_TO_ONE))
    detour = detour_of(m, m.west2, m.east.ends.router_id)
    head = m.head_of(m.west2)
    head.signal(m.west2, detour)
    m.bench.run(0.1)
    assert head.told(key_of(detour)) and head.label(key_of(detour)) is None


def test_another_type_of_fast_reroute_is_refused() -> None:
    """A C-Type that nobody knows, of a class that is known (RFC 4090, 4.1; RFC 2205, 3.10)."""
    m = Merge(same=False)
    route = [m.west.ends.peer, m.east.ends.address]
    path = protected_path(m.west, m.east.ends.router_id, route, fast=c.Unknown(205, 99, bytes(20)))
    m.west.send(path)
    m.bench.run(0.05)
    specs = [message.need(c.ErrorSpec) for message in Bench.came(m.west, c.Type.PATH_ERR)]
    assert [(spec.code, spec.value) for spec in specs] == [(14, 205 << 8 | 99)]
