"""A Twinplane router as merge point of LSPs that naive routers repair (RFC 4090, 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import referee
from .bench import Bench
from .neighbour import Neighbour
from .repair_bench import AVOIDED, HEAD, OTHER_AVOIDED, Merge
from .repairing import around, protected_path, send_through, tear_of
from .state import key_of

ONE_TO_ONE = c.FastReroute(flags=c.FastReroute.ONE_TO_ONE)
sent: list[referee.Frame] = []


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Callable[..., Merge]]:
    made: list[Merge] = []

    def build(*, same: bool, **mp_has: Any) -> Merge:
        made.append(Merge(same, **mp_has))
        return made[-1]

    yield build
    for merge in made:
        merge.bench.assert_clean()
        for port in merge.bench.ports.values():
            sent.extend(referee.Frame(request.node.name, port.peer.name, *frame) for frame in port.received)


class Facility:
    """An LSP by west's first port, and a bypass tunnel of west to the merge point by its second."""

    def __init__(self, m: Merge, refresh_ms: int = 30_000) -> None:
        self.plr = m.heads[0]
        self.path = m.path(m.west, refresh_ms=refresh_ms)
        self.key = m.up(m.west, self.path)
        tunnel = protected_path(m.west2, m.mp, [m.west2.ends.peer], asks=c.Asked.SE_STYLE)
        self.bypass = self.plr.label(m.up(m.west2, tunnel)) or 0
        self.label = self.plr.label(self.key) or 0
        # RFC 4090, 6.4.4.
        self.around = around(self.path, m.west2, [m.mp, m.east.ends.address])


def test_a_repaired_lsp_is_one_with_itself(build: Callable[..., Merge]) -> None:
    """The Path through a bypass goes no further; its Resv comes straight back (RFC 4090, 7.1.1, 7.2)."""
    m = build(same=True)
    f = Facility(m)
    record = f.plr.resvs[f.key].descriptor.record
    assert record is not None
    recorded = [hop for hop in record.hops if isinstance(hop, c.LabelHop)]
    assert recorded[0].label == f.label
    repaired = f.plr.repair(m.west2, f.bypass, f.around)
    m.bench.until(lambda: f.plr.label(repaired) is not None)
    answers = Bench.arrivals(m.west2, c.Type.RESV, repaired)
    assert [item.packet.destination for item in answers] == [m.west2.ends.address] * len(answers)
    assert m.senders_in_the_east() == {f.key[1]}
    # By the label that was recorded, and by the one that was given again (RFC 4090, 6.4.1).
    out = m.end.egress_labels[f.key]
    assert m.passes(m.west, f.label) == [out]
    assert m.passes(m.west2, f.bypass, f.label) == [out]
    assert m.passes(m.west2, f.bypass, f.plr.label(repaired) or 0) == [out]
    # RFC 4090, 7.1.3: each is torn down by itself, and the last one takes the LSP with it.
    send_through(m.west2, f.bypass, tear_of(f.around))
    f.plr.give_up(repaired)
    m.bench.run(0.05)
    assert not Bench.came(m.east, c.Type.PATH_TEAR)
    assert m.passes(m.west, f.label) == [out]
    f.plr.tear(f.key)
    m.bench.until(lambda: Bench.came(m.east, c.Type.PATH_TEAR, f.key))


def test_a_repaired_lsp_outlives_its_link(build: Callable[..., Merge]) -> None:
    """Nothing is torn down when the link goes; refreshes by the bypass keep the LSP (RFC 4090, 7.2)."""
    m = build(same=True, refresh="1 s")
    m.end.refresh_ms = 1000
    f = Facility(m, refresh_ms=1000)
    out = m.end.egress_labels[f.key]
    m.bench.net.fail(m.bench.links["west", "mp"])
    m.bench.run(2.0)
    assert not Bench.came(m.east, c.Type.PATH_TEAR) and not Bench.came(m.east, c.Type.RESV_ERR)
    assert m.passes(m.west2, f.bypass, f.label) == [out]
    f.plr.give_up(f.key)
    repaired = f.plr.repair(m.west2, f.bypass, f.around)
    m.bench.until(lambda: f.plr.label(repaired) is not None)
    m.bench.run(20.0, 0.02)
    assert not Bench.came(m.east, c.Type.PATH_TEAR)
    assert len(Bench.came(m.west2, c.Type.RESV, repaired)) > 10
    assert m.passes(m.west2, f.bypass, f.label) == [out]
    send_through(m.west2, f.bypass, tear_of(f.around))
    f.plr.give_up(repaired)
    m.bench.until(lambda: Bench.came(m.east, c.Type.PATH_TEAR))


def test_who_is_not_repaired_goes_in_its_time(build: Callable[..., Merge]) -> None:
    """State lives as if it had just been refreshed, and no longer (RFC 4090, 7.2)."""
    m = build(same=True)
    f = Facility(m, refresh_ms=1000)
    m.bench.net.fail(m.bench.links["west", "mp"])
    m.bench.run(4.0, 0.02)
    assert not Bench.came(m.east, c.Type.PATH_TEAR)
    m.bench.until(lambda: Bench.came(m.east, c.Type.PATH_TEAR, f.key), 5.0, 0.02)


def test_a_reservation_that_ends_is_told_on_both_ways(build: Callable[..., Merge]) -> None:
    """ResvTear towards the ingress, and along the backup (RFC 4090, 7.1.3)."""
    m = build(same=True)
    f = Facility(m)
    repaired = f.plr.repair(m.west2, f.bypass, f.around)
    m.bench.until(lambda: f.plr.label(repaired) is not None)
    m.end.answers = False
    m.end.resv_tear(f.key, m.east, c.Style(c.Style.SE))
    m.bench.until(lambda: f.plr.label(f.key) is None)
    m.bench.until(lambda: f.plr.label(repaired) is None)


def test_a_path_out_of_a_bypass_may_have_another_ttl(build: Callable[..., Merge]) -> None:
    """Between its ends there were routers that did not look at it (RFC 4090, 7)."""
    m = build(same=True)
    f = Facility(m)
    packet = replace(m.west2.envelope(f.around), payload=m.west2.encode(f.around), ttl=17)
    m.west2.send_labelled([c.LabelEntry(f.bypass)], packet.encode())
    m.bench.until(lambda: Bench.came(m.west2, c.Type.RESV, key_of(f.around)))
    assert not Bench.came(m.west2, c.Type.PATH_ERR)


def test_an_error_goes_straight_to_who_repaired(build: Callable[..., Merge]) -> None:
    """PathErr to the address in RSVP_HOP, and no harm to the LSP (RFC 4090, 6.4.3)."""
    m = build(same=True)
    f = Facility(m)
    send_through(m.west2, f.bypass, around(f.path, m.west2, [m.mp, AVOIDED]))
    m.bench.until(lambda: Bench.came(m.west2, c.Type.PATH_ERR))
    (item,) = Bench.arrivals(m.west2, c.Type.PATH_ERR)
    assert item.packet.destination == m.west2.ends.address
    assert item.message.need(c.ErrorSpec).code == 24 and key_of(item.message) == key_of(f.around)
    assert not Bench.came(m.west, c.Type.PATH_ERR)
    assert m.passes(m.west, f.label) == [m.end.egress_labels[f.key]]


def detour_of(
    m: Merge, side: Neighbour, avoided: str, *, sender: str | None = None, plr: str = ""
) -> c.Message:
    """A detour of the LSP of `HEAD`, from a router at this side (RFC 4090, 6.3)."""
    pair = plr or side.ends.address, avoided
    asks = c.Asked.SE_STYLE | c.Asked.LABELS
    return m.path(side, head=HEAD, sender=sender or side.ends.address, asks=asks, detour=c.Detour((pair,)))


@pytest.mark.parametrize(
    ("method", "first"),
    # By the other method a detour that comes first stays an LSP of its own (docs/models/protection.md).
    [("sender-template-specific", "lsp"), ("path-specific", "lsp"), ("path-specific", "detour")],
)
def test_a_detour_ends_where_it_meets_its_lsp(build: Callable[..., Merge], method: str, first: str) -> None:
    """One Path goes on, that of the LSP; both carry by the label of the LSP (RFC 4090, 7.1.1, 7.1.2)."""
    m = build(same=False)
    lsp = m.path(m.west, head=HEAD, fast=ONE_TO_ONE)
    sender = HEAD if method == "path-specific" else None
    detour = detour_of(m, m.west2, m.west.ends.router_id, sender=sender)
    ends = [(m.west, lsp), (m.west2, detour)]
    for side, path in ends if first == "lsp" else ends[::-1]:
        m.up(side, path)
    key = key_of(lsp)
    m.bench.run(0.05)
    assert m.senders_in_the_east() == {key[1]}
    last = Bench.came(m.east, c.Type.PATH)[-1]
    assert last.need(c.FastReroute) == ONE_TO_ONE and last.get(c.Detour) is None
    out = m.end.egress_labels[key]
    for side, path in ends:
        assert m.passes(side, m.head_of(side).label(key_of(path)) or 0) == [out]
    m.head_of(m.west2).tear(key_of(detour))
    m.bench.run(0.05)
    assert not Bench.came(m.east, c.Type.PATH_TEAR)
    assert m.passes(m.west, m.head_of(m.west).label(key) or 0) == [out]
    m.head_of(m.west).tear(key)
    m.bench.until(lambda: Bench.came(m.east, c.Type.PATH_TEAR, key))


def test_a_detour_outlives_its_lsp(build: Callable[..., Merge]) -> None:
    """The LSP is torn down above, and goes on below for its detour (RFC 4090, 7.1.3)."""
    m = build(same=False)
    key = m.up(m.west, m.path(m.west, head=HEAD, fast=ONE_TO_ONE))
    detour = m.up(m.west2, detour_of(m, m.west2, m.west.ends.router_id))
    m.head_of(m.west).tear(key)
    m.bench.run(0.05)
    assert not Bench.came(m.east, c.Type.PATH_TEAR)
    assert m.passes(m.west2, m.head_of(m.west2).label(detour) or 0) == list(m.end.egress_labels.values())
    m.head_of(m.west2).tear(detour)
    m.bench.until(lambda: Bench.came(m.east, c.Type.PATH_TEAR))


def test_two_detours_go_on_as_one(build: Callable[..., Merge]) -> None:
    """DETOUR then has the pairs of both, and of one when the other ends (RFC 4090, 7.1.3, 8.1)."""
    m = build(same=False)
    first = m.up(m.west, detour_of(m, m.west, AVOIDED))
    second = m.up(m.west2, detour_of(m, m.west2, OTHER_AVOIDED))
    pairs = {(m.west.ends.address, AVOIDED), (m.west2.ends.address, OTHER_AVOIDED)}

    def said() -> set[tuple[str, str]]:
        return set(Bench.came(m.east, c.Type.PATH)[-1].need(c.Detour).pairs)

    m.bench.until(lambda: said() == pairs)
    assert len(m.senders_in_the_east()) == 1
    labels = list(m.end.egress_labels.values())
    for side, key in ((m.west, first), (m.west2, second)):
        assert m.passes(side, m.head_of(side).label(key) or 0) == labels
    m.head_of(m.west).tear(first)
    m.bench.until(lambda: said() == {(m.west2.ends.address, OTHER_AVOIDED)})
    assert not Bench.came(m.east, c.Type.PATH_TEAR)
    assert m.passes(m.west2, m.head_of(m.west2).label(second) or 0) == labels
    m.head_of(m.west2).tear(second)
    m.bench.until(lambda: Bench.came(m.east, c.Type.PATH_TEAR))


def test_a_detour_that_comes_to_what_it_avoids_is_refused(build: Callable[..., Merge]) -> None:
    """The LSP goes to what the detour avoids: PathErr for the detour alone (RFC 4090, 7.1.2)."""
    m = build(same=False)
    key = m.up(m.west, m.path(m.west, head=HEAD, fast=ONE_TO_ONE))
    detour = detour_of(m, m.west2, m.east.ends.address, sender=HEAD)
    head = m.head_of(m.west2)
    head.signal(m.west2, detour)
    m.bench.until(lambda: head.told(key_of(detour)))
    assert head.label(key_of(detour)) is None
    assert m.passes(m.west, m.head_of(m.west).label(key) or 0) == list(m.end.egress_labels.values())
    head.give_up(key_of(detour))
    m.head_of(m.west).tear(key)


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (c.Detour6((("2001:db8::1", "2001:db8::2"),)), (14, 63 << 8 | 8)),
        (c.Unknown(63, 99, bytes(8)), (14, 63 << 8 | 99)),
        (c.Unknown(63, 7, b""), None),
        (c.Unknown(63, 7, bytes(4)), None),
        (c.Unknown(63, 7, bytes(12)), None),
    ],
    ids=["ipv6", "other-type", "no-pair", "half-a-pair", "pair-and-a-half"],
)
def test_what_can_not_be_read_goes_no_further(
    build: Callable[..., Merge], item: c.Obj, error: tuple[int, int] | None
) -> None:
    """Unknown C-Types are answered (RFC 4090, 4.2; RFC 2205, 3.10); cut objects are no objects."""
    m = build(same=False)
    path = m.path(m.west, head=HEAD)
    at = next(place for place, found in enumerate(path.objects) if isinstance(found, c.SenderTspec))
    path.objects.insert(at + 1, item)
    m.west.send(path)
    m.bench.run(0.05)
    found = Bench.came(m.west, c.Type.PATH_ERR)
    specs = [(spec.code, spec.value) for message in found for spec in message.all(c.ErrorSpec)]
    assert specs == [error] if error else specs in ([], [(14, item.number[0] << 8 | item.number[1])])
    assert not Bench.came(m.east, c.Type.PATH)
    m.bench.forget()
    key = m.up(m.west, m.path(m.west, head=HEAD))
    m.head_of(m.west).tear(key)


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, and DETOUR among it."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "router.pcapng"
    path.write_bytes(referee.pcapng(sent))
    assert referee.complaints(path) == []
    assert 63 in referee.object_classes(path)
