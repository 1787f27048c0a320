"""Labelled packets through the router: swap, TTL, traffic class, ICMP (RFC 3031, 3032, 3443)."""

from __future__ import annotations

from .. import codec as c
from ..bench import Bench
from ..codec.icmp import TIME_EXCEEDED
from ..codec.ip import PROTOCOL_ICMP
from ..state import Key
from .registry import scenario


def _labels(b: Bench, key: Key) -> tuple[int, int]:
    """What goes in and what must come out."""
    return b.ingress.label(key) or 0, b.egress.egress_labels.get(key, 0)


@scenario()
def swaps(b: Bench) -> None:
    """The label is swapped, TTL goes down by one, the rest is untouched (RFC 3031, 3.10)."""
    key = b.set_up(b.path())
    into, out = _labels(b, key)
    for ttl in (255, 64, 2):
        for traffic_class in (0, 5, 7):
            b.forget()
            b.push(into, ttl, traffic_class)
            if not b.check(b.east.labelled, f"nothing came out for TTL {ttl}"):
                continue
            item = b.east.labelled[0]
            expected = [c.LabelEntry(out, ttl - 1, traffic_class)]
            b.equal(item.stack, expected, "stack in the east")
            inner = c.Ipv4.decode(item.payload)
            b.equal(inner, b.datagram(), "packet below the label")
    b.tear_down(key)


@scenario()
def deeper_stack(b: Bench) -> None:
    """Only the top label changes (RFC 3031, 3.10)."""
    key = b.set_up(b.path())
    into, out = _labels(b, key)
    below = [c.LabelEntry(70_001, 9, 3), c.LabelEntry(70_002, 8, 4)]
    b.west.send_labelled([c.LabelEntry(into, 50, 6), *below], b.datagram().encode())
    b.run(0.01)
    if b.check(b.east.labelled, "nothing came out"):
        found = [(e.label, e.ttl, e.traffic_class, e.bottom) for e in b.east.labelled[0].stack]
        expected = [(out, 49, 6, False), (70_001, 9, 3, False), (70_002, 8, 4, True)]
        b.equal(found, expected, "stack in the east")
    b.tear_down(key)


@scenario()
def unknown_label(b: Bench) -> None:
    """A label that nobody gave out is dropped, never guessed (RFC 3031, 3.18)."""
    key = b.set_up(b.path())
    into, _ = _labels(b, key)
    if not into:
        return
    for label in (16, 999_999, into + 1, into - 1, 0xFFFFF):
        if label == into:
            continue
        b.push(label)
    b.check(not b.east.labelled, "a packet with an unknown label came out in the east")
    b.check(not b.west.labelled, "a packet with an unknown label came back in the west")
    b.check(b.forwards(key), "the LSP does not forward after them")
    b.tear_down(key)


@scenario()
def ttl_expires(b: Bench) -> None:
    """TTL 1: ICMP time exceeded with the label stack (RFC 3032, 2.3; RFC 4884; RFC 4950)."""
    key = b.set_up(b.path())
    into, _ = _labels(b, key)
    b.push(into, ttl=1, traffic_class=5)
    b.run(0.1)
    found = _time_exceeded(b)
    if not b.check(found, "no ICMP time exceeded, neither in the west nor in the east"):
        return
    packet, icmp = found[0]
    own = (b.dut, b.west_ends.peer, b.east_ends.peer)
    b.check(packet.source in own, f"ICMP source {packet.source} is none of the router's addresses")
    b.equal(packet.destination, b.datagram().source, "ICMP destination")
    quoted = c.Ipv4.decode(icmp.quote)
    b.equal(quoted.payload[:8], b.datagram().payload[:8], "quoted ports")
    if b.check(icmp.extensions, "no extensions") and icmp.extensions is not None:
        # RFC 4950, 3: the stack as it came in.
        stack = icmp.extensions.label_stack
        b.equal(stack, [c.LabelEntry(into, 1, 5)], "label stack in the extension")
    passed = [i for i in b.east.labelled if c.Ipv4.decode(i.payload).protocol != PROTOCOL_ICMP]
    b.check(not passed, "the packet whose TTL expired came out all the same")
    b.tear_down(key)


@scenario()
def ttl_zero(b: Bench) -> None:
    """TTL 0 never goes out again (RFC 3032, 2.4.1)."""
    key = b.set_up(b.path())
    into, _ = _labels(b, key)
    b.push(into, ttl=0)
    b.run(0.05)
    passed = [i for i in b.east.labelled if c.Ipv4.decode(i.payload).protocol != PROTOCOL_ICMP]
    b.check(not passed, "a packet with TTL 0 came out in the east")
    b.tear_down(key)


def _time_exceeded(b: Bench) -> list[tuple[c.Ipv4, c.Icmp]]:
    """Every ICMP time exceeded, back in the west or along the LSP (RFC 3032, 2.3.2)."""
    packets = [packet for _, packet in b.west.packets + b.east.packets]
    packets += [c.Ipv4.decode(item.payload) for item in b.east.labelled + b.west.labelled]
    found = []
    for packet in packets:
        if packet.protocol == PROTOCOL_ICMP:
            icmp = c.Icmp.decode(packet.payload)
            if icmp.kind == TIME_EXCEEDED:
                found.append((packet, icmp))
    return found


@scenario()
def broken_labelled(b: Bench) -> None:
    """Stacks without bottom, without packet, of odd sizes: dropped (RFC 3032, 2.1)."""
    key = b.set_up(b.path())
    into, _ = _labels(b, key)
    endless = c.LabelEntry(into, 64, 0, False).encode() * 300
    for payload in (endless, b"", b"\x00", endless[:46], c.LabelEntry(into).encode()):
        frame = c.Ethernet(b.west.peer_mac or bytes(6), b.west_ends.mac, 0x8847, payload)
        b.west_port.send(frame.encode())
        b.west_port.send(frame.encode()[:14] + payload)
    b.run(0.05)
    b.east.undecodable.clear()
    b.check(b.forwards(key), "the LSP does not forward after broken frames")
    b.tear_down(key)


@scenario()
def reserved_labels(b: Bench) -> None:
    """Labels 1, 2 and 4 to 15 from outside reach no LSP (RFC 3032, 2.1)."""
    key = b.set_up(b.path())
    for label in range(16):
        if label not in (0, 3):
            b.push(label)
    labelled = [item.stack[0].label for item in b.east.labelled]
    b.equal(labelled, [], "labels in the east")
    b.check(b.forwards(key), "the LSP does not forward after them")
    b.tear_down(key)
