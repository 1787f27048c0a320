"""Packets at a Twinplane router as egress, as penultimate hop and as plain IP router, seen by the naive peer.

The naive router pops in the uniform model alone and is no egress for packets, so these are no scenarios.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from . import codec as c
from . import harness, referee
from .bench import Bench, Options
from .codec.icmp import DESTINATION_UNREACHABLE, TIME_EXCEEDED
from .codec.ip import PROTOCOL_ICMP, PROTOCOL_UDP
from .codec.link import LABEL_EXPLICIT_NULL, LABEL_IMPLICIT_NULL

tp: Any = pytest.importorskip("twinplane")

ECHO_REPLY, ECHO_REQUEST = 0, 8
sent: list[referee.Frame] = []


class Build:
    """Builds benches, and keeps what their routers sent."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.benches: list[Bench] = []

    def __call__(self, **router_has: Any) -> Bench:
        self.benches.append(harness.build(tp, Options(), **router_has))
        return self.benches[-1]


@pytest.fixture
def build(request: pytest.FixtureRequest) -> Iterator[Build]:
    made = Build(request.node.name)
    yield made
    for b in made.benches:
        b.invariants()
        assert b.failures == []
        for side, port in (("west", b.west_port), ("east", b.east_port)):
            sent.extend(referee.Frame(made.name, side, *frame) for frame in port.received)


def labelled(b: Bench, *stack: c.LabelEntry, packet: c.Ipv4 | None = None) -> None:
    """Send a labelled packet from the west."""
    b.west.send_labelled(list(stack), (packet or b.datagram()).encode())
    b.run(0.01)


def arrived(b: Bench) -> c.Ipv4:
    """The one packet without label that came out in the east."""
    assert len(b.east.packets) == 1 and not b.east.labelled
    return b.east.packets[0][1]


def answer(b: Bench) -> tuple[c.Ipv4, c.Icmp]:
    """The one ICMP message that came back to the west."""
    found = [packet for _, packet in b.west.packets if packet.protocol == PROTOCOL_ICMP]
    assert len(found) == 1
    return found[0], c.Icmp.decode(found[0].payload)


# RFC 3443, 3: the label's TTL is the packet's in the uniform model; in the pipes the packet never sees it.
PENULTIMATE = {"uniform": 19, "pipe": 64, "short-pipe": 64}


@pytest.mark.parametrize("model", PENULTIMATE)
def test_penultimate_hop(build: Build, model: str) -> None:
    """Label 3 in the east: the packet goes out without label (RFC 3031, 3.16; RFC 3443, 3)."""
    b = build(ttl=model)
    b.egress.egress_label = LABEL_IMPLICIT_NULL
    key = b.set_up(b.path())
    labelled(b, c.LabelEntry(b.ingress.label(key) or 0, 20, 5))
    assert arrived(b) == replace(b.datagram(), ttl=PENULTIMATE[model])


@pytest.mark.parametrize(("model", "ttl"), [("uniform", 19), ("pipe", 9), ("short-pipe", 9)])
def test_penultimate_hop_of_a_tunnel(build: Build, model: str, ttl: int) -> None:
    """What is below comes to light with the rest of its stack (RFC 3443, 3)."""
    b = build(ttl=model)
    b.egress.egress_label = LABEL_IMPLICIT_NULL
    key = b.set_up(b.path())
    inner = 30 if model == "uniform" else 9
    labelled(b, c.LabelEntry(b.ingress.label(key) or 0, 20), c.LabelEntry(777, inner, 3))
    assert [item.stack for item in b.east.labelled] == [[c.LabelEntry(777, ttl, 3)]]


EGRESS = {"uniform": 19, "pipe": 63, "short-pipe": 63}


@pytest.mark.parametrize("model", EGRESS)
@pytest.mark.parametrize("egress_label", ["real", "explicit-null"])
def test_egress(build: Build, model: str, egress_label: str) -> None:
    """The end of the LSP: pop, then as an IP packet (RFC 3032, 2.4.3; RFC 3443, 3)."""
    b = build(ttl=model, egress_label=egress_label)
    key = b.set_up(b.path(to=b.dut))
    label = b.ingress.label(key)
    assert label is not None and (label == LABEL_EXPLICIT_NULL) == (egress_label == "explicit-null")
    labelled(b, c.LabelEntry(label, 20))
    assert arrived(b) == replace(b.datagram(), ttl=EGRESS[model])


def test_egress_asks_for_no_label(build: Build) -> None:
    """Implicit null from the router as egress (RFC 3032, 2.1)."""
    b = build(egress_label="implicit-null")
    assert b.ingress.label(b.set_up(b.path(to=b.dut))) == LABEL_IMPLICIT_NULL


def test_echo_over_an_lsp(build: Build) -> None:
    """The egress answers a ping that came with a label; identifier and data come back (RFC 792)."""
    b = build()
    key = b.set_up(b.path(to=b.dut))
    ping = c.Icmp(ECHO_REQUEST, 0, b"abcdefgh", rest=b"\x12\x34\x00\x07")
    packet = c.Ipv4(b.west_ends.router_id, b.dut, PROTOCOL_ICMP, ping.encode())
    labelled(b, c.LabelEntry(b.ingress.label(key) or 0, 20), packet=packet)
    envelope, reply = answer(b)
    assert (envelope.source, envelope.destination) == (b.dut, b.west_ends.router_id)
    assert reply == replace(ping, kind=ECHO_REPLY)


def test_port_unreachable_at_the_egress(build: Build) -> None:
    """The last answer of a traceroute (RFC 1122, 3.2.2.1)."""
    b = build()
    key = b.set_up(b.path(to=b.dut))
    udp = c.Udp(5000, 33_434, b"").encode(b.west_ends.router_id, b.dut)
    packet = c.Ipv4(b.west_ends.router_id, b.dut, PROTOCOL_UDP, udp)
    labelled(b, c.LabelEntry(b.ingress.label(key) or 0, 20), packet=packet)
    _, icmp = answer(b)
    assert (icmp.kind, icmp.code) == (DESTINATION_UNREACHABLE, 3)
    assert c.Ipv4.decode(icmp.quote).payload[:8] == udp


def test_too_long_for_the_way_out(build: Build) -> None:
    """DF and a short MTU: fragmentation needed, with MTU and label stack (RFC 3032, 3.5; RFC 4950)."""
    b = build(mtu=600)
    key = b.set_up(b.path())
    entry = c.LabelEntry(b.ingress.label(key) or 0, 20, 4)
    labelled(b, entry, packet=replace(b.datagram(size=700), dont_fragment=True))
    packets = [packet for _, packet in b.west.packets + b.east.packets]
    packets += [c.Ipv4.decode(item.payload) for item in b.east.labelled]
    assert [packet.protocol for packet in packets] == [PROTOCOL_ICMP]
    icmp = c.Icmp.decode(packets[0].payload)
    assert (icmp.kind, icmp.code) == (DESTINATION_UNREACHABLE, 4)
    # RFC 3032, 3.5: what is left for IP beside the label.
    assert int.from_bytes(icmp.rest[2:], "big") == 600 - 4
    assert icmp.extensions is not None and icmp.extensions.label_stack == [entry]


def test_plain_packets(build: Build) -> None:
    """Without a label: one hop fewer (RFC 1812, 5.3.1), and what is wrong is told (RFC 1812, 4.3.3)."""
    b = build()
    b.west.send_ip(b.datagram(ttl=2, tos=0xB8))
    b.run(0.01)
    assert arrived(b) == b.datagram(ttl=1, tos=0xB8)
    b.forget()
    b.west.send_ip(b.datagram(ttl=1))
    b.run(0.01)
    envelope, icmp = answer(b)
    assert (icmp.kind, icmp.code, envelope.source) == (TIME_EXCEEDED, 0, b.west_ends.peer)
    b.forget()
    nowhere, source = "192.0.2.77", b.west_ends.router_id
    udp = c.Udp(5000, 5001, b"").encode(source, nowhere)
    b.west.send_ip(c.Ipv4(source, nowhere, PROTOCOL_UDP, udp))
    b.run(0.01)
    assert answer(b)[1].kind == DESTINATION_UNREACHABLE and not b.east.packets


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, no expert error."""
    if not sent:
        pytest.skip("nothing ran before")
    path = tmp_path / "router.pcapng"
    path.write_bytes(referee.pcapng(sent))
    assert referee.complaints(path) == []
