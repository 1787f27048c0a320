"""What a Twinplane router refuses of a naive root's tree, and where branches meet (RFC 4875, 5.2, 11, 18)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import referee
from .bench import MBIT, Bench
from .tree import send
from .tree_bench import BEYOND, Tree, builder, out

ROUTING_PROBLEM = 24
UNSUPPORTED_INTEGRITY, REMERGE, PARAMETER_MISMATCH = 24, 25, 26
# RFC 5420, 3.1 and 5: type 1, length 8; RFC 4875, 20.4: bit 3 is LSP integrity.
INTEGRITY = c.Unknown(67, 1, bytes.fromhex("00010008 10000000"))
# RFC 3473: what a PathErr must not say here (RFC 4875, 5.2.2).
PATH_STATE_REMOVED = 0x04
NOWHERE = "192.0.2.99"
sent: list[referee.Frame] = []


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Callable[..., Tree]]:
    with builder(request.node.name, sent) as build:
        yield build


@pytest.mark.parametrize("why", ["no-route", "strict-hop-that-is-no-neighbour", "branch-that-nobody-names"])
def test_a_leaf_that_can_not_be_had_harms_no_other(build: Callable[..., Tree], why: str) -> None:
    """PathErr names it alone, and the rest comes up (RFC 4875, 4.5, 5.2.2)."""
    t = build()
    route = {
        "no-route": None,
        "strict-hop-that-is-no-neighbour": [t.west.ends.peer, NOWHERE],
        "branch-that-nobody-names": ["192.0.2.50", NOWHERE],
    }[why]
    t.root.signal(t.west, t.root.path(t.west, [t.to("east"), (NOWHERE, route), t.to("south")]))
    t.bench.until(lambda: len(t.root.reserved()) == 2)
    t.bench.until(lambda: t.root.errors)
    assert {(code, *leaves) for code, _, leaves in t.root.told()} == {(ROUTING_PROBLEM, NOWHERE)}
    for error in t.root.errors:
        spec = error.need(c.ErrorSpec)
        assert not spec.flags & PATH_STATE_REMOVED
        assert error.need(c.TreeSender) == t.root.sender(1)
    assert t.copies() == out("east", "south")


def test_secondary_routes_need_a_first_one(build: Callable[..., Tree]) -> None:
    """SEROs without an ERO (RFC 4875, 5.2.2)."""
    t = build()
    path = t.root.path(t.west, [(t.leaf["east"].address, None), t.to("south")])
    t.root.signal(t.west, path)
    t.bench.until(lambda: t.root.errors)
    assert {code for code, _, _ in t.root.told()} == {ROUTING_PROBLEM}
    assert t.leaf["south"].leaves() == set()


def test_a_secondary_route_of_the_first_leaf_is_ignored(build: Callable[..., Tree]) -> None:
    """Its route is the ERO, whatever follows it (RFC 4875, 5.1)."""
    t = build()
    path = t.root.path(t.west, [t.to("east")])
    path.objects.append(c.SecondaryRoute(c.ExplicitRoute.strict(*t.to("south")[1]).hops))
    t.up(t.west, path)
    assert t.copies() == out("east")


def test_integrity_is_refused_by_its_name(build: Callable[..., Tree]) -> None:
    """Who does not support LSP integrity says so (RFC 4875, 5.2.4, 20.3)."""
    t = build()
    t.root.signal(t.west, t.root.path(t.west, [t.to("east")], extra=[INTEGRITY]))
    t.bench.until(lambda: t.root.errors)
    assert [told[:2] for told in t.root.told()] == [(ROUTING_PROBLEM, UNSUPPORTED_INTEGRITY)]
    assert t.told_to_go_on() == {}


@pytest.mark.parametrize(
    "tail",
    [
        [],
        [c.SubLsp6("2001:db8::1")],
        [c.Unknown(50, 1, b"")],
        [c.Unknown(50, 1, bytes(8))],
        [c.Unknown(50, 99, bytes(4))],
        [c.SecondaryRoute((c.Ipv4Hop(NOWHERE),))],
    ],
    ids=["no-leaf", "ipv6", "short", "long", "other-type", "route-without-leaf"],
)
def test_lists_that_can_not_be_read_go_no_further(build: Callable[..., Tree], tail: list[c.Obj]) -> None:
    """Dropped, or answered by an error; the next Path is a good one (RFC 4875, 5.1, 19.3; RFC 2205, 3.10)."""
    t = build()
    path = t.root.path(t.west, [t.to("east")])
    leaf = path.objects.pop()
    assert isinstance(leaf, c.SubLsp)
    path.objects += tail
    send(t.west, path, leaf.leaf)
    t.bench.run(0.05)
    specs = [message.need(c.ErrorSpec).code for message in t.root.errors]
    assert set(specs) <= {13, 14, ROUTING_PROBLEM}
    assert t.told_to_go_on() == {} and not t.root.resvs
    t.up(t.west, t.root.path(t.west, [t.to("east")]))
    assert t.copies() == out("east")


def test_a_broken_route_of_a_later_leaf_leads_nobody(build: Callable[..., Tree]) -> None:
    """Whether the Path or the leaf is refused: the leaf goes nowhere, and no broken object goes on."""
    t = build()
    path = t.root.path(t.west, [t.to("east"), (t.leaf["south"].address, None)])
    # A subobject of two bytes (RFC 3209, 4.3.3: at least four).
    path.objects.append(c.Unknown(200, 2, b"\x01\x02\x00\x00"))
    t.root.signal(t.west, path)
    t.bench.run(0.05)
    assert not t.leaf["south"].paths
    t.up(t.west, t.root.path(t.west, [t.to("east")]))
    assert t.copies() == out("east")


def test_a_session_over_ipv6_is_refused(build: Callable[..., Tree]) -> None:
    """P2MP_LSP_TUNNEL_IPv6 (RFC 4875, 19.1.2) is a C-Type that is not known here (RFC 2205, 3.10)."""
    t = build()
    path = t.root.path(t.west, [t.to("east")])
    path.objects[0] = c.Unknown(1, 14, bytes(24))
    send(t.west, path, t.leaf["east"].address)
    t.bench.run(0.05)
    specs = [m.need(c.ErrorSpec) for m in Bench.came(t.west, c.Type.PATH_ERR)]
    assert [(spec.code, spec.value) for spec in specs] in ([], [(14, 1 << 8 | 14)])
    assert t.told_to_go_on() == {}


def meeting(t: Tree, **said: float) -> c.Message:
    """A Path by the root's other port for a leaf behind east, where the LSP goes already."""
    t.up(t.west, t.root.path(t.west, [t.to("east")]))
    return t.root.path(t.west2, [t.to("east", BEYOND, by=t.west2)], 2, **said)  # type: ignore[arg-type]


def test_branches_that_meet_again_are_refused(build: Callable[..., Tree]) -> None:
    """PathErr 24/25 with the leaves of the Path, and some of the other branch (RFC 4875, 18.1.1)."""
    t = build()
    t.root.signal(t.west2, meeting(t))
    t.bench.until(lambda: t.root.errors)
    ((code, value, leaves),) = t.root.told()
    assert (code, value) == (ROUTING_PROBLEM, REMERGE)
    assert set(leaves) == {BEYOND, t.leaf["east"].address}
    assert Bench.came(t.west2, c.Type.PATH_ERR) and not Bench.came(t.west, c.Type.PATH_ERR)
    assert t.leaf["east"].leaves() == {t.leaf["east"].address}
    assert t.copies() == out("east")


def test_branches_that_may_meet_bring_nothing_twice(build: Callable[..., Tree]) -> None:
    """Each Path has its Resv, and packets of all ways but one are dropped (RFC 4875, 18.1.1)."""
    t = build(remerge="allow")
    second = meeting(t)
    t.up(t.west2, second)
    assert t.leaf["east"].leaves() == {t.leaf["east"].address, BEYOND}
    assert set(t.root.reserved(t.west)) == {t.leaf["east"].address}
    assert set(t.root.reserved(t.west2)) == {BEYOND}
    came = [t.copies(side) for side in (t.west, t.west2)]
    assert sorted(came, key=len) == [{}, out("east")]
    # RFC 4875, 7.2.2: the other sub-group stays.
    t.root.tear(t.west2, second)
    t.bench.run(0.05)
    assert t.leaf["east"].leaves() == {t.leaf["east"].address}
    assert t.copies(t.west) == out("east")


def test_branches_that_meet_have_to_be_alike(build: Callable[..., Tree]) -> None:
    """Other attributes: PathErr 24/26 to the previous hop of the later Path (RFC 4875, 18.1.1)."""
    t = build(remerge="allow")
    t.root.signal(t.west2, meeting(t, bandwidth=20 * MBIT))
    t.bench.until(lambda: t.root.errors)
    assert [told[:2] for told in t.root.told()] == [(ROUTING_PROBLEM, PARAMETER_MISMATCH)]
    assert Bench.came(t.west2, c.Type.PATH_ERR) and t.copies(t.west) == out("east")


def test_branches_may_cross(build: Callable[..., Tree]) -> None:
    """Two ways in and two ways out: each feeds its own (RFC 4875, 18)."""
    t = build()
    t.up(t.west, t.root.path(t.west, [t.to("east")]))
    t.up(t.west2, t.root.path(t.west2, [t.to("south", by=t.west2)], 2))
    assert t.copies(t.west) == out("east")
    assert t.copies(t.west2) == out("south")


def test_a_leaf_that_is_rerouted_moves(build: Callable[..., Tree]) -> None:
    """The same leaf by another way in is no re-merge (RFC 4875, 18.1); the old way may go afterwards."""
    t = build()
    old = t.root.path(t.west, [t.to("east")])
    t.up(t.west, old)
    t.up(t.west2, t.root.path(t.west2, [t.to("east", by=t.west2)], 2))
    assert not t.root.errors
    t.root.tear(t.west, old)
    t.bench.run(0.05)
    assert t.copies(t.west2) == out("east")


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, and every checksum right."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "router.pcapng"
    # The PathErr holds the session that the peer had sent, which this tshark can't read.
    path.write_bytes(referee.pcapng([frame for frame in sent if "ipv6" not in frame.scenario]))
    assert referee.complaints(path) == []
