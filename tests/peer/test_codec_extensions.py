"""Objects of RFC 4090 and RFC 4875: vectors computed by hand from the diagrams, lists of leaves, tshark."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import codec as c
from . import referee

OBJECTS = [
    (
        # 1,250,000 = 1.1920928955078125 * 2^20: sign 0, exponent 147, fraction 0x189680.
        c.FastReroute(3, 2, 16, c.FastReroute.FACILITY, 1.25e6, 1, 2, 4),
        "0018 cd 01  03 02 10 02  49989680  00000001 00000002 00000004",
    ),
    (
        c.LegacyFastReroute(3, 2, 16, 1.25e6, 1, 2),
        "0014 cd 07  03 02 10 00  49989680  00000001 00000002",
    ),
    (
        c.Detour((("10.1.0.1", "10.1.0.2"), ("10.1.0.5", "10.1.0.6"))),
        "0014 3f 07  0a010001 0a010002  0a010005 0a010006",
    ),
    (
        c.Detour6((("2001:db8::1", "2001:db8::2"),)),
        "0024 3f 08  20010db8000000000000000000000001 20010db8000000000000000000000002",
    ),
    (c.TreeSession(0x01020304, 7, "10.0.0.1"), "0010 01 0d  01020304 0000 0007 0a000001"),
    (
        c.TreeSender("10.0.0.1", 0x0102, "10.0.0.9", 3),
        "0014 0b 0c  0a000001 0000 0102 0a000009 0000 0003",
    ),
    (
        c.TreeFilter("10.0.0.1", 0x0102, "10.0.0.9", 3),
        "0014 0a 0c  0a000001 0000 0102 0a000009 0000 0003",
    ),
    (c.SubLsp("10.0.0.7"), "0008 32 01  0a000007"),
    (c.SubLsp6("2001:db8::7"), "0014 32 02  20010db8000000000000000000000007"),
    (
        c.SecondaryRoute((c.Ipv4Hop("10.1.0.2"), c.Ipv4Hop("10.2.0.2", loose=True))),
        "0014 c8 02  01 08 0a010002 20 00  81 08 0a020002 20 00",
    ),
    (
        c.SecondaryRecord((c.Ipv4Hop("10.1.0.2", flags=9), c.LabelHop(1000, flags=1))),
        "0014 c9 02  01 08 0a010002 20 09  03 08 01 01 000003e8",
    ),
]


@pytest.mark.parametrize(("item", "text"), OBJECTS, ids=lambda v: type(v).__name__)
def test_object_vectors(item: c.Obj, text: str) -> None:
    assert item.encode() == bytes.fromhex(text)
    assert c.Message.decode(c.Message(c.Type.PATH, [item]).encode()).objects == [item]


@pytest.mark.parametrize("number", [item.number for item, _ in OBJECTS])
def test_objects_of_a_wrong_length_are_refused(number: tuple[int, int]) -> None:
    """Four bytes are a leaf over IPv4 and nothing else; for that one eight are wrong."""
    cut = c.Unknown(*number, bytes(8 if number == c.SubLsp("10.0.0.7").number else 4))
    with pytest.raises(c.CodecError):
        c.Message.decode(c.Message(c.Type.PATH, [cut]).encode())


def example_path() -> c.Message:
    """The Path that LSR H sends to I in RFC 4875, figure 1, with Q and R; O besides, without a route."""
    return c.Message(
        c.Type.PATH,
        [
            c.TreeSession(0x01020304, 7, "10.0.0.1"),
            c.RsvpHop("10.1.0.8"),
            c.TimeValues(30_000),
            c.ExplicitRoute.strict("10.1.0.9", "10.1.0.13", "10.1.0.17"),
            c.LabelRequest(),
            c.SessionAttribute(7, 7, 4, "tree"),
            c.FastReroute(flags=c.FastReroute.ONE_TO_ONE),
            c.TreeSender("10.0.0.1", 1, "10.0.0.1", 2),
            c.SenderTspec(c.Traffic.of_bits(1e6)),
            c.RecordRoute((c.Ipv4Hop("10.1.0.8", flags=1),)),
            c.SubLsp("10.0.0.17"),
            c.SubLsp("10.0.0.18"),
            c.SecondaryRoute((c.Ipv4Hop("10.1.0.17"), c.Ipv4Hop("10.1.0.18"))),
            c.SubLsp("10.0.0.15"),
        ],
    )


def example_resv() -> c.Message:
    """Two sub-groups, the first with two leaves."""
    return c.Message(
        c.Type.RESV,
        [
            c.TreeSession(0x01020304, 7, "10.0.0.1"),
            c.RsvpHop("10.1.0.9"),
            c.TimeValues(30_000),
            c.Style(c.Style.SE),
            c.Flowspec(c.Traffic.of_bits(1e6)),
            c.TreeFilter("10.0.0.1", 1, "10.0.0.1", 2),
            c.Label(1000),
            c.RecordRoute((c.Ipv4Hop("10.1.0.17"),)),
            c.SubLsp("10.0.0.17"),
            c.SubLsp("10.0.0.18"),
            c.SecondaryRecord((c.Ipv4Hop("10.1.0.18"),)),
            c.TreeFilter("10.0.0.1", 1, "10.0.0.1", 3),
            c.Label(1000),
            c.SubLsp("10.0.0.15"),
        ],
    )


def test_lists_of_leaves() -> None:
    """The first leaf has the ERO or the RRO, each later one what follows it (RFC 4875, 5.1, 6.3.1)."""
    path, resv = example_path(), example_resv()
    assert c.leaves_of(path) == c.leaves_of(resv) == ["10.0.0.17", "10.0.0.18", "10.0.0.15"]
    first, second, third = c.routed_leaves(path)
    assert first == ("10.0.0.17", path.need(c.ExplicitRoute).hops)
    assert second == ("10.0.0.18", (c.Ipv4Hop("10.1.0.17"), c.Ipv4Hop("10.1.0.18")))
    assert third == ("10.0.0.15", None)
    groups = [(item.leaf, item.filter.sub_group, item.label) for item in c.reserved_leaves(resv)]
    assert groups == [("10.0.0.17", 2, 1000), ("10.0.0.18", 2, 1000), ("10.0.0.15", 3, 1000)]
    records = [item.record for item in c.reserved_leaves(resv)]
    assert records == [(c.Ipv4Hop("10.1.0.17"),), (c.Ipv4Hop("10.1.0.18"),), None]


@pytest.mark.needs("tshark")
def test_tshark_reads_it(tmp_path: Path) -> None:
    """A decoder that neither of us wrote finds nothing malformed."""
    detour = c.Message(c.Type.PATH, [c.Detour((("10.1.0.1", "10.1.0.2"),)), c.FastReroute()])
    frames = []
    for message in (example_path(), example_resv(), detour):
        packet = c.Ipv4("10.0.0.1", "10.0.0.2", 46, message.encode(), options=c.ROUTER_ALERT)
        frame = c.Ethernet(b"\x02" * 6, b"\x04" * 6, 0x0800, packet.encode()).encode()
        frames.append(referee.Frame("codec", "none", 0.0, frame))
    path = tmp_path / "codec.pcapng"
    path.write_bytes(referee.pcapng(frames))
    assert referee.complaints(path) == []
    assert referee.object_classes(path) >= {50, 63, 200, 201, 205}
