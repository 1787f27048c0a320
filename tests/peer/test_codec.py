"""The codec alone: vectors computed by hand from the RFCs' diagrams, then round trips."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest

from . import codec as c
from .codec.rsvp import with_checksum


def h(text: str) -> bytes:
    """Bytes from spaced hexadecimal."""
    return bytes.fromhex(text)


# One (object, bytes) pair drives both directions.
OBJECTS = [
    (c.Session("10.0.0.2", 7, "10.0.0.1"), "0010 01 07  0a000002 0000 0007 0a000001"),
    (c.RsvpHop("10.1.0.1", 0x11223344), "000c 03 01  0a010001 11223344"),
    (c.TimeValues(30_000), "0008 05 01  00007530"),
    (c.ErrorSpec("10.1.0.9", 24, 2, 1), "000c 06 01  0a010009 01 18 0002"),
    (c.Scope(("10.0.0.1", "10.0.0.2")), "000c 07 01  0a000001 0a000002"),
    (c.Style(c.Style.FF), "0008 08 01  00 00000a"),
    (c.Style(c.Style.SE), "0008 08 01  00 000012"),
    (c.Style(c.Style.WF), "0008 08 01  00 000011"),
    (c.FilterSpec("10.0.0.1", 0x0102), "000c 0a 07  0a000001 0000 0102"),
    (c.SenderTemplate("10.0.0.1", 0x0102), "000c 0b 07  0a000001 0000 0102"),
    (
        # 1,000,000 = 1.9073486328125 * 2^19: sign 0, exponent 146, fraction 0x742400.
        c.SenderTspec(c.Traffic(1e6, 1000.0, 2e6, 64, 1500)),
        "0024 0c 02  0000 0007  01 00 0006  7f 00 0005 49742400 447a0000 49f42400 00000040 000005dc",
    ),
    (
        c.Flowspec(c.Traffic(1e6, 1000.0, 2e6, 64, 1500)),
        "0024 09 02  0000 0007  05 00 0006  7f 00 0005 49742400 447a0000 49f42400 00000040 000005dc",
    ),
    (
        c.Flowspec(c.Traffic(1e6, 1000.0, 2e6, 64, 1500), 2, 1e6, 50),
        "0030 09 02  0000 000a  02 00 0009  7f 00 0005"
        " 49742400 447a0000 49f42400 00000040 000005dc  82 00 0002 49742400 00000032",
    ),
    (
        c.Adspec(hops=2, bandwidth=1e6, latency_us=10, mtu=9000),
        "0030 0d 02  0000 000a  01 00 0008"
        " 04 00 0001 00000002  06 00 0001 49742400  08 00 0001 0000000a  0a 00 0001 00002328"
        " 05 00 0000",
    ),
    (c.ResvConfirm("10.2.0.2"), "0008 0f 01  0a020002"),
    (c.Label(1000), "0008 10 01  000003e8"),
    (c.LabelRequest(0x0800), "0008 13 01  0000 0800"),
    (
        c.ExplicitRoute(
            (
                c.Ipv4Hop("10.1.0.2"),
                c.Ipv4Hop("10.9.0.0", 16, loose=True),
                c.Ipv6Hop("2001:db8::1", 64),
                c.AsHop(65000, loose=True),
                c.UnnumberedHop("10.0.0.3", 9),
                c.LabelHop(17),
            )
        ),
        "0040 14 01  01 08 0a010002 20 00  81 08 0a090000 10 00"
        " 02 14 20010db8000000000000000000000001 40 00  a0 04 fde8"
        " 04 0c 0000 0a000003 00000009  03 08 00 01 00000011",
    ),
    (
        c.RecordRoute((c.Ipv4Hop("10.1.0.2", flags=1), c.LabelHop(1000, flags=1))),
        "0014 15 01  01 08 0a010002 20 01  03 08 01 01 000003e8",
    ),
    (
        c.RecordRoute((c.Ipv6Hop("2001:db8::1"), c.UnnumberedHop("10.0.0.3", 9, flags=2))),
        "0024 15 01  02 14 20010db8000000000000000000000001 80 00  04 0c 02 00 0a000003 00000009",
    ),
    (c.SessionAttribute(3, 2, 6, "gold"), "0010 cf 07  03 02 06 04 676f6c64 00000000"),
    (c.SessionAttribute(7, 7, 0, "nine-char"), "0014 cf 07 07 07 00 09 6e696e652d63686172 000000"),
    (
        c.SessionAttributeRa(1, 2, 4, 3, 2, 6, "gold"),
        "001c cf 01  00000001 00000002 00000004 03 02 06 04 676f6c64 00000000",
    ),
    (c.HelloRequest(0x1234, 0), "000c 16 01  00001234 00000000"),
    (c.HelloAck(5, 0x1234), "000c 16 02  00000005 00001234"),
    (c.MessageId(0x0A0B0C, 17, c.MessageId.ACK_DESIRED), "000c 17 01  01 0a0b0c 00000011"),
    (c.MessageIdAck(0x0A0B0C, 17), "000c 18 01  00 0a0b0c 00000011"),
    (c.MessageIdNack(0x0A0B0C, 17), "000c 18 02  00 0a0b0c 00000011"),
    (c.MessageIdList(0x0A0B0C, (17, 18)), "0010 19 01  00 0a0b0c 00000011 00000012"),
    (
        c.Integrity(0x010203040506, 2, bytes(range(16)), 0x80),
        "0024 04 01  80 00 010203040506 0000000000000002 000102030405060708090a0b0c0d0e0f",
    ),
    (c.Challenge(0x010203040506, b"wxyz"), "0010 40 01  0000 010203040506 7778797a"),
    (c.Unknown(111, 1, b"\x01\x02\x03\x04"), "0008 6f 01  01020304"),
]


@pytest.mark.parametrize(("item", "text"), OBJECTS, ids=lambda v: type(v).__name__)
def test_object_vectors(item: c.Obj, text: str) -> None:
    message = c.Message(c.Type.PATH, [item])
    assert item.encode() == h(text)
    assert c.Message.decode(message.encode()).objects == [item]


def example_path() -> c.Message:
    """A Path with every object that one may hold."""
    traffic = c.Traffic(1e6, 1000.0, 1e6, 64, 1500)
    return c.Message(
        c.Type.PATH,
        [
            c.MessageId(5, 17, 1),
            c.Session("10.0.0.2", 7, "10.0.0.1"),
            c.RsvpHop("10.1.0.1"),
            c.TimeValues(30_000),
            c.ExplicitRoute.strict("10.1.0.2", "10.2.0.2"),
            c.LabelRequest(),
            c.SessionAttribute(7, 7, 4, "gold"),
            c.SenderTemplate("10.0.0.1", 1),
            c.SenderTspec(traffic),
            c.Adspec(),
            c.RecordRoute((c.Ipv4Hop("10.1.0.1"),)),
        ],
        ttl=255,
        flags=1,
    )


def example_resv() -> c.Message:
    """A shared-explicit Resv for two LSPs."""
    return c.Message(
        c.Type.RESV,
        [
            c.Session("10.0.0.2", 7, "10.0.0.1"),
            c.RsvpHop("10.1.0.2"),
            c.TimeValues(30_000),
            c.ResvConfirm("10.2.0.2"),
            c.Style(c.Style.SE),
            c.Flowspec(c.Traffic(1e6, 1000.0, 1e6, 64, 1500)),
            c.FilterSpec("10.0.0.1", 1),
            c.Label(1000),
            c.RecordRoute((c.Ipv4Hop("10.2.0.2"), c.LabelHop(1000))),
            c.FilterSpec("10.0.0.1", 2),
            c.Label(1001),
        ],
        ttl=255,
    )


def test_header_vector() -> None:
    # Sum of words: 1001 + ff00 + 0010 + 0008 + 0501 + 0000 + 7530 = 1 894a, folded 894b; ~ = 76b4.
    message = c.Message(c.Type.PATH, [c.TimeValues(30_000)], ttl=255)
    assert message.encode() == h("10 01 76b4 ff 00 0010  0008 05 01 00007530")
    assert message.encode(checksum=False) == h("10 01 0000 ff 00 0010  0008 05 01 00007530")
    assert c.Message.decode(message.encode(checksum=False)) == message


@pytest.mark.parametrize("message", [example_path(), example_resv()], ids=["path", "resv"])
def test_message_round_trip(message: c.Message) -> None:
    assert c.Message.decode(message.encode()) == message


def test_bundle() -> None:
    # RFC 2961, 3: whole messages, each with its own header and checksum, behind one header.
    bundle = c.Message(c.Type.BUNDLE, parts=[example_path(), example_resv()])
    data = bundle.encode()
    assert data[8:] == example_path().encode() + example_resv().encode()
    assert c.Message.decode(data) == bundle
    signed = c.Message(c.Type.BUNDLE, [c.Integrity(1, 2)], parts=[example_path()])
    assert c.Message.decode(c.sign(signed.encode(), b"key")).parts == [example_path()]
    with pytest.raises(c.CodecError, match="empty bundle"):
        c.Message.decode(c.Message(c.Type.BUNDLE).encode())
    with pytest.raises(c.CodecError, match="bundle in a bundle"):
        c.Message.decode(c.Message(c.Type.BUNDLE, parts=[bundle]).encode())


def test_ack_and_srefresh() -> None:
    ack = c.Message(c.Type.ACK, [c.MessageIdAck(5, 17), c.MessageIdNack(5, 18)])
    assert ack.encode()[8:] == h("000c 18 01 00000005 00000011  000c 18 02 00000005 00000012")
    srefresh = c.Message(c.Type.SREFRESH, [c.MessageId(5, 20, 1), c.MessageIdList(5, (17, 18))])
    assert c.Message.decode(srefresh.encode()) == srefresh


def test_flow_descriptors() -> None:
    first, second = c.flow_descriptors(example_resv())
    assert (first.filter.lsp_id, first.label) == (1, c.Label(1000))
    assert (second.filter.lsp_id, second.label, second.record) == (2, c.Label(1001), None)
    assert first.record is not None and first.record.hops[1] == c.LabelHop(1000)
    assert first.flowspec == second.flowspec is not None


def test_digest() -> None:
    data = example_path()
    data.objects.insert(0, c.Integrity(1, 5))
    signed = c.sign(data.encode(), b"secret")
    assert c.Message.decode(signed).need(c.Integrity).sequence == 5
    assert c.verify_digest(signed, b"secret")
    assert not c.verify_digest(signed, b"other")
    assert not c.verify_digest(signed[:-1] + b"\xff", b"secret")
    assert not c.verify_digest(example_path().encode(), b"secret")
    # The checksum is no part of the digest (RFC 2747, 4.1).
    assert c.verify_digest(signed[:2] + b"\x00\x00" + signed[4:], b"secret")


def mangled() -> list[tuple[str, bytes]]:
    """Messages that no decoder may take."""
    good = example_path().encode()

    def patched(offset: int, new: bytes) -> bytes:
        return with_checksum(good[:offset] + new + good[offset + len(new) :])

    return [
        ("version", patched(0, b"\x20")),
        ("checksum", good[:4] + b"\x01" + good[5:]),
        ("length below header", patched(6, b"\x00\x04")),
        ("length beyond packet", patched(6, struct.pack(">H", len(good) + 4))),
        ("length off by one", patched(6, struct.pack(">H", len(good) - 1))),
        ("object of no length", patched(8, b"\x00\x00")),
        ("object of three bytes", patched(8, b"\x00\x03")),
        ("object of odd length", patched(8, b"\x00\x0d")),
        ("object beyond message", patched(8, b"\xff\xf8")),
        ("truncated", good[:-4]),
        ("empty", b""),
    ]


@pytest.mark.parametrize("data", [d for _, d in mangled()], ids=[n for n, _ in mangled()])
def test_mangled_messages(data: bytes) -> None:
    with pytest.raises(c.CodecError):
        c.Message.decode(data)


def test_arbitrary_bytes() -> None:
    rng = random.Random(1)
    for _ in range(3000):
        data = bytearray(example_path().encode())
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            decoded = c.Message.decode(with_checksum(bytes(data)))
        except c.CodecError:
            continue
        assert isinstance(decoded, c.Message)


def test_ipv4_vector() -> None:
    # 4600 + 001c + 012e... a RSVP packet of 4 payload bytes with Router Alert, TTL 1.
    packet = c.Ipv4("10.0.0.1", "10.0.0.2", 46, b"abcd", ttl=1, options=c.ROUTER_ALERT)
    data = packet.encode()
    # 4600+001c+0000+0000+012e+0a00+0001+0a00+0002+9404+0000 = ef51, ~ = 10ae.
    assert data == h("46 00 001c 0000 0000 01 2e 10ae 0a000001 0a000002 94040000 61626364")
    assert c.Ipv4.decode(data + b"\x00" * 10) == packet
    assert packet.router_alert and not c.Ipv4("1.1.1.1", "2.2.2.2", 46, b"").router_alert
    for offset in (0, 8, 12):
        with pytest.raises(c.CodecError):
            c.Ipv4.decode(data[:offset] + b"\x77" + data[offset + 1 :])


def test_link_vectors() -> None:
    frame = c.Ethernet(b"\x02" * 6, b"\x04" * 6, 0x8847, h("003e8740"))
    assert frame.encode()[:18] == h("020202020202 040404040404 8847 003e8740")
    assert len(frame.encode()) == 60
    # Label 1000 = 0x003e8, traffic class 3, bottom, TTL 64: 003e 8 | 011 1 | 40.
    entry = c.LabelEntry(1000, 64, 3)
    assert entry.encode() == h("003e8740")
    entries, rest = c.decode_stack(h("003e8640 00011fff 45"))
    assert entries == [c.LabelEntry(1000, 64, 3, False), c.LabelEntry(17, 255, 7, True)]
    assert rest == b"\x45" and c.encode_stack(entries) == h("003e8640 00011fff")
    arp = c.Arp(1, b"\x02" * 6, "10.0.0.1", bytes(6), "10.0.0.2")
    assert arp.encode() == h("0001 0800 06 04 0001 020202020202 0a000001 000000000000 0a000002")
    assert c.Arp.decode(arp.encode() + bytes(18)) == arp


def test_udp_and_icmp() -> None:
    udp = c.Udp(1000, 2000, b"abc")
    data = udp.encode("10.0.0.1", "10.0.0.2")
    assert c.Udp.decode(data, "10.0.0.1", "10.0.0.2") == udp
    with pytest.raises(c.CodecError):
        c.Udp.decode(data, "10.0.0.1", "10.0.0.3")
    stack = [c.LabelEntry(1000, 1, 3)]
    told = c.Icmp(11, 0, b"q" * 40, c.IcmpExtensions.for_stack(stack))
    data = told.encode()
    # RFC 4884: 128 bytes of quote, 32 words; RFC 4950: object of 8 bytes, class 1, type 1.
    assert data[5] == 32 and data[8 + 128] == 0x20
    assert data[8 + 132 :] == h("0008 01 01 003e8701")
    decoded = c.Icmp.decode(data)
    assert decoded.extensions is not None and decoded.extensions.label_stack == stack
    assert decoded.quote[:40] == b"q" * 40
    with pytest.raises(c.CodecError):
        c.Icmp.decode(data[:-1] + b"\x09")


@pytest.mark.needs("tshark")
def test_tshark_reads_it(tmp_path: Path) -> None:
    """A decoder that neither of us wrote finds nothing malformed and every checksum right."""
    signed = example_path()
    signed.objects.insert(0, c.Integrity(1, 5))
    payloads = [
        example_path().encode(),
        example_resv().encode(),
        c.sign(signed.encode(), b"secret"),
        c.Message(c.Type.BUNDLE, parts=[example_path(), example_resv()]).encode(),
        c.Message(c.Type.SREFRESH, [c.MessageIdList(5, (17, 18))]).encode(),
        c.Message(c.Type.ACK, [c.MessageIdAck(5, 17)]).encode(),
        c.Message(c.Type.HELLO, [c.HelloRequest(1, 0)]).encode(),
    ]
    capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for index, payload in enumerate(payloads):
        packet = c.Ipv4("10.0.0.1", "10.0.0.2", 46, payload, options=c.ROUTER_ALERT).encode()
        frame = c.Ethernet(b"\x02" * 6, b"\x04" * 6, 0x0800, packet).encode()
        capture += struct.pack("<IIII", index, 0, len(frame), len(frame)) + frame
    path = tmp_path / "codec.pcap"
    path.write_bytes(capture)
    bad = "_ws.malformed || _ws.expert.severity >= 0x600000"
    command = ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE"]
    found = subprocess.run([*command, "-Y", bad], capture_output=True, text=True, check=True)
    assert found.stdout == ""
    seen = subprocess.run([*command, "-Y", "rsvp"], capture_output=True, text=True, check=True)
    assert len(seen.stdout.splitlines()) == len(payloads)
