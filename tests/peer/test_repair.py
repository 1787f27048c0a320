"""A Twinplane router as point of local repair between a naive head end and a naive merge point (RFC 4090)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import referee
from .bench import MBIT, Bench
from .repair_bench import AVAILABLE, IN_USE, Repair
from .repairing import ASKS, flags_of
from .state import key_of

NOTIFY, LOCALLY_REPAIRED = 25, 3
sent: list[referee.Frame] = []


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Any]:
    made: list[Repair] = []

    def build(*wanted: Any, **has: Any) -> Repair:
        made.append(Repair(*wanted, **has))
        return made[-1]

    yield build
    for repair in made:
        repair.bench.assert_sound()
        for port in repair.bench.ports.values():
            sent.extend(referee.Frame(request.node.name, port.peer.name, *frame) for frame in port.received)


def assert_around(r: Repair, path: c.Message, message: c.Message) -> None:
    """What a point of local repair makes of a Path when it goes through a bypass tunnel (RFC 4090, 6.4.3)."""
    session, sender = key_of(message)
    assert session == path.need(c.Session)
    assert sender.lsp_id == path.need(c.SenderTemplate).lsp_id
    assert r.own(sender.address) and sender.address != r.west.ends.router_id
    assert r.own(message.need(c.RsvpHop).address)
    asked, attribute = path.need(c.SessionAttribute), message.need(c.SessionAttribute)
    assert attribute.flags & (c.Asked.LOCAL | c.Asked.BANDWIDTH | c.Asked.NODE) == 0
    assert attribute.flags & c.Asked.SE_STYLE == asked.flags & c.Asked.SE_STYLE
    assert (attribute.setup_priority, attribute.holding_priority) == (
        asked.setup_priority,
        asked.holding_priority,
    )
    assert message.need(c.SenderTspec) == path.need(c.SenderTspec)
    # RFC 4090, 6.4.4: an address of the merge point, and nothing before it.
    (hop,) = message.need(c.ExplicitRoute).hops
    assert isinstance(hop, c.Ipv4Hop)
    assert hop.address in (r.east.ends.router_id, r.east.ends.address, r.east2.ends.address)


def test_a_link_fails_and_a_bypass_takes_its_lsp(build: Any) -> None:
    """Flags, PathErr; labels, Path and PathTear through the bypass (RFC 4090, 6, 6.4.3, 6.4.4, 6.5)."""
    r: Repair = build()
    fast = c.FastReroute(flags=c.FastReroute.FACILITY, bandwidth=10 * MBIT / 8)
    path = r.path(fast=fast)
    key = r.up(path)
    # RFC 4090, 4.1: nobody changes it on the way; 6: at first no flag was set.
    (onward, *_) = Bench.came(r.east, c.Type.PATH, key)
    assert onward.need(c.FastReroute) == fast
    assert onward.need(c.SessionAttribute) == path.need(c.SessionAttribute)
    first, *_ = Bench.came(r.west, c.Type.RESV, key)
    record = c.flow_descriptors(first)[0].record
    assert flags_of(record) == [0, 0] and record is not None
    labels = [hop for hop in record.hops if isinstance(hop, c.LabelHop)]
    assert [hop.label for hop in labels] == [r.head.label(key), r.end.egress_labels[key]]
    # The bypass tunnel is an LSP of the point of local repair to the merge point (RFC 4090, 6.2).
    (tunnel,) = [other for other in r.end.paths if other != key]
    assert tunnel[0].destination == r.east.ends.router_id and r.own(tunnel[1].address)
    r.sends(key)
    assert r.came() == [("east", [r.end.egress_labels[key]])]

    r.fail()
    r.sends(key)
    assert r.came() == [("east2", [r.end.egress_labels[tunnel], r.end.egress_labels[key]])]
    r.bench.until(lambda: r.head.reported(key)[:1] == [AVAILABLE | IN_USE])
    assert [told[:2] for told in r.head.told(key)] == [(NOTIFY, LOCALLY_REPAIRED)]
    assert all(r.own(node) for _, _, node in r.head.told(key))
    (repair, *_) = r.end.repairs(c.Type.PATH)
    assert repair.packet.router_alert and repair.packet.destination == r.east.ends.router_id
    assert repair.packet.source == repair.message.need(c.SenderTemplate).address
    assert_around(r, path, repair.message)
    assert repair.message.get(c.FastReroute) is None
    # RFC 4090, 6.5 and RFC 3209, 4.4.3: its own address is in the recorded route.
    assert any(
        r.own(hop.address) for hop in repair.message.need(c.RecordRoute).hops if isinstance(hop, c.Ipv4Hop)
    )
    assert not Bench.came(r.west, c.Type.RESV_TEAR) and not Bench.came(r.east2, c.Type.PATH_TEAR)

    r.head.tear(key)
    r.bench.until(lambda: r.end.repairs(c.Type.PATH_TEAR))
    torn = r.end.repairs(c.Type.PATH_TEAR)[0].message
    assert key_of(torn) == key_of(repair.message)


def test_a_bypass_is_refreshed_and_soft_state_lives_on(build: Any) -> None:
    """Both ends of a failure go on for many lifetimes; without answers of the merge point it ends (7.2)."""
    r: Repair = build(refresh="1 s")
    r.end.refresh_ms = 1000
    key = r.up(r.path(refresh_ms=1000))
    r.fail()
    r.bench.until(lambda: r.head.reported(key)[:1] == [AVAILABLE | IN_USE])
    before = len(r.end.repairs(c.Type.PATH))
    r.bench.run(20.0, 0.02)
    assert 10 < len(r.end.repairs(c.Type.PATH)) - before < 60
    assert r.head.label(key) is not None and r.head.reported(key)[:1] == [AVAILABLE | IN_USE]
    r.sends(key)
    assert [port for port, _ in r.came()] == ["east2"]
    r.end.answers_repairs = False
    r.bench.until(lambda: r.head.label(key) is None, 15.0, 0.02)


def test_a_bypass_that_goes_is_told_to_the_head_end(build: Any) -> None:
    """The flag is taken back, by a Resv at once (RFC 4090, 6)."""
    r: Repair = build()
    key = r.up(r.path())
    (tunnel,) = [other for other in r.end.paths if other != key]
    r.end.resv_tear(tunnel, r.east2, c.Style(c.Style.SE))
    r.bench.until(lambda: r.head.reported(key)[:1] == [0])
    assert r.head.label(key) is not None and not r.head.told(key)


@pytest.mark.parametrize("label", [pytest.param(5, id="reserved"), pytest.param(1 << 20, id="too-great")])
def test_a_label_around_that_is_none_is_refused(build: Any, label: int) -> None:
    """ResvErr 24/6 to the merge point, as along a link (RFC 3209, 4.1.1.2), and the old label stays."""
    r: Repair = build()
    key = r.up(r.path())
    (tunnel,) = [other for other in r.end.paths if other != key]
    good = r.end.egress_labels[key]
    r.fail()
    r.end.egress_labels[key] = label
    r.bench.until(lambda: [*Bench.came(r.east2, c.Type.RESV_ERR), *r.end.repairs(c.Type.RESV_ERR)], 5.0, 0.02)
    came = [m.need(c.ErrorSpec) for m in Bench.came(r.east2, c.Type.RESV_ERR)]
    assert (24, 6) in [(spec.code, spec.value) for spec in came]
    r.end.egress_labels[key] = good
    r.sends(key)
    assert r.came() == [("east2", [r.end.egress_labels[tunnel], good])]


def test_a_link_that_is_back_is_taken_again(build: Any) -> None:
    """Local reversion: the Path along the link, and back when its Resv has come (RFC 4090, 6.5.2)."""
    r: Repair = build(reversion="2 s")
    key = r.up(r.path())
    r.fail()
    r.bench.until(lambda: r.head.reported(key)[:1] == [AVAILABLE | IN_USE])
    r.bench.forget()
    r.bench.net.repair(r.failing)
    r.bench.until(lambda: Bench.came(r.east, c.Type.PATH, key), 60.0, 0.02)
    r.bench.until(lambda: r.head.reported(key)[:1] == [AVAILABLE], 60.0, 0.02)
    r.sends(key)
    assert r.came() == [("east", [r.end.egress_labels[key]])]


def test_a_router_fails_and_its_label_is_not_needed(build: Any) -> None:
    """Node protection with bandwidth: flags, and the label that east gave to the router that is gone."""
    r: Repair = build(over="next")
    asks = ASKS | c.Asked.NODE | c.Asked.BANDWIDTH
    path = r.path(asks=asks)
    key = r.up(path, AVAILABLE | c.Recorded.NODE | c.Recorded.BANDWIDTH)
    # The next router is the last but one: no way around the egress.
    assert r.head.reported(key)[1:] == [0, 0]
    (tunnel,) = [other for other in r.end.paths if other != key]
    reserved = r.end.paths[tunnel].message.need(c.SenderTspec).traffic.rate
    assert reserved >= path.need(c.SenderTspec).traffic.rate
    r.bench.net.fail("next")
    r.sends(key)
    assert r.came() == [("east2", [r.end.egress_labels[tunnel], r.end.egress_labels[key]])]
    r.bench.until(lambda: r.end.repairs(c.Type.PATH))
    assert_around(r, path, r.end.repairs(c.Type.PATH)[0].message)
    r.bench.until(lambda: r.head.told(key))
    assert [told[:2] for told in r.head.told(key)] == [(NOTIFY, LOCALLY_REPAIRED)]


@pytest.mark.parametrize(
    ("asks", "fast", "protected"),
    [
        (c.Asked.SE_STYLE | c.Asked.LABELS, None, False),
        (ASKS, None, True),
        (c.Asked.SE_STYLE | c.Asked.LABELS, c.FastReroute(), True),
        (c.Asked.SE_STYLE | c.Asked.LABELS, c.LegacyFastReroute(), True),
        (ASKS, c.FastReroute(flags=c.FastReroute.FACILITY | c.FastReroute.ONE_TO_ONE), True),
    ],
)
def test_the_flag_or_the_object_asks(build: Any, asks: int, fast: c.Obj | None, protected: bool) -> None:
    """Either is enough (RFC 4090, 5 and 6); who asks for nothing is promised nothing."""
    r: Repair = build()
    key = r.head.signal(r.west, r.path(asks=asks, fast=fast))
    r.bench.until(lambda: r.head.label(key) is not None)
    r.bench.run(2.0, 0.01)
    assert r.head.reported(key)[:1] == [AVAILABLE if protected else 0]
    (onward, *_) = Bench.came(r.east, c.Type.PATH, key)
    assert [item for item in onward.objects if item.number[0] == 205] == ([fast] if fast else [])


def test_a_detour_is_signalled_used_and_torn_down(build: Any) -> None:
    """One-to-one backup: DETOUR, one label, both PathTears (RFC 4090, 6.3)."""
    r: Repair = build()
    fast = c.FastReroute(flags=c.FastReroute.ONE_TO_ONE, bandwidth=20 * MBIT / 8)
    path = r.path(fast=fast)
    key = r.up(path)
    (detour,) = [other for other in r.end.paths if other != key]
    message = r.end.paths[detour].message
    session, sender = detour
    assert (session, sender.lsp_id) == (key[0], key[1].lsp_id)
    assert r.own(sender.address) and sender.address != r.west.ends.router_id
    ((plr, avoided),) = message.need(c.Detour).pairs
    # RFC 4090, 4.2.1: local addresses of the two.
    assert r.own(plr) and avoided in (r.east.ends.address, r.east.ends.router_id)
    assert message.get(c.FastReroute) is None
    flags = message.need(c.SessionAttribute).flags
    assert flags & (c.Asked.LOCAL | c.Asked.BANDWIDTH | c.Asked.NODE) == 0 and flags & c.Asked.SE_STYLE
    assert message.need(c.SenderTspec).traffic.rate == fast.bandwidth
    hops = [hop.address for hop in message.need(c.ExplicitRoute).hops if isinstance(hop, c.Ipv4Hop)]
    assert hops == [r.east2.ends.address]

    r.fail()
    r.sends(key)
    assert r.came() == [("east2", [r.end.egress_labels[detour]])]
    r.bench.until(lambda: r.head.reported(key)[:1] == [AVAILABLE | IN_USE])
    assert [told[:2] for told in r.head.told(key)] == [(NOTIFY, LOCALLY_REPAIRED)]
    r.head.tear(key)
    r.bench.until(lambda: detour not in r.end.paths)


@pytest.mark.parametrize(
    ("fast", "protected"),
    [
        (c.FastReroute(2, 1, 1, c.FastReroute.ONE_TO_ONE), True),
        (c.FastReroute(2, 1, 0, c.FastReroute.ONE_TO_ONE), False),
        (c.FastReroute(2, 1, 1, c.FastReroute.ONE_TO_ONE, include_any=8), False),
        (c.FastReroute(2, 1, 1, c.FastReroute.ONE_TO_ONE, bandwidth=2e9 / 8), True),
    ],
    ids=["one-hop-more", "no-hop-more", "colour-of-no-link", "more-than-there-is"],
)
def test_a_detour_is_as_it_was_asked_for(build: Any, fast: c.FastReroute, protected: bool) -> None:
    """Hop limit and filters hold; bandwidth where it can be had, and priorities (RFC 4090, 4.1, 6, 6.2)."""
    r: Repair = build()
    key = r.head.signal(r.west, r.path(fast=fast, asks=ASKS | c.Asked.BANDWIDTH))
    r.bench.until(lambda: r.head.label(key) is not None)
    r.bench.run(4.0, 0.01)
    bandwidth = c.Recorded.BANDWIDTH if protected and not fast.bandwidth else 0
    assert r.head.reported(key)[:1] == [(AVAILABLE if protected else 0) | bandwidth]
    for message in [state.message for other, state in r.end.paths.items() if other != key]:
        asked = message.need(c.SessionAttribute)
        assert (asked.setup_priority, asked.holding_priority) == (2, 1)
        assert message.need(c.SenderTspec).traffic.rate == 0


def test_what_a_detour_says_stays_at_its_router(build: Any) -> None:
    """PathErr and ResvTear of a detour are not for the head end (RFC 4090, 6.3.2)."""
    r: Repair = build()
    key = r.up(r.path(fast=c.FastReroute(flags=c.FastReroute.ONE_TO_ONE)))
    (detour,) = [other for other in r.end.paths if other != key]
    r.bench.forget()
    r.end.refuse(r.east2, r.end.paths[detour].message, 24, 5)
    r.bench.run(0.05)
    r.end.resv_tear(detour, r.east2, c.Style(c.Style.SE))
    r.bench.run(0.05)
    assert not r.head.told(key) and r.head.label(key) is not None
    assert not Bench.came(r.west, c.Type.RESV_TEAR)


def test_what_ends_further_down_is_kept_back_by_a_detour(build: Any) -> None:
    """A ResvTear of the LSP goes no further as long as the detour is up, which takes the traffic (6.3.2)."""
    r: Repair = build()
    key = r.up(r.path(fast=c.FastReroute(flags=c.FastReroute.ONE_TO_ONE)))
    (detour,) = [other for other in r.end.paths if other != key]
    r.end.resv_tear(key, r.east, c.Style(c.Style.SE))
    r.bench.run(0.05)
    assert not Bench.came(r.west, c.Type.RESV_TEAR) and r.head.label(key) is not None
    r.sends(key)
    assert r.came() == [("east2", [r.end.egress_labels[detour]])]
    r.head.tear(key)
    r.bench.until(lambda: key not in r.end.paths and detour not in r.end.paths)


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_routers_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, and the objects of RFC 4090 among it."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "routers.pcapng"
    path.write_bytes(referee.pcapng(sent))
    assert referee.complaints(path) == []
    assert referee.object_classes(path) >= {63, 205}
