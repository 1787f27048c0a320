"""Link-state advertisements, labels of LDP and messages of BGP as captures hold them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from .test_captures import tshark

UPDATE = 4
HEADER, LSA_HEADER = 24, 20

Instance = tuple[int, str, str, int]
"""Type, link state id, router and sequence number of an advertisement (RFC 2328, 12.1)."""


def dotted(four: bytes) -> str:
    return ".".join(map(str, four))


def flooded(path: Path) -> dict[str, dict[Instance, set[bytes]]]:
    """Advertisements that each sender has flooded on a link, without their age (RFC 2328, A.3.5, A.4.1)."""
    found: dict[str, dict[Instance, set[bytes]]] = defaultdict(lambda: defaultdict(set))
    fields = ("-T", "fields", "-e", "ip.src", "-e", "data.data")
    for line in tshark(path, "--disable-protocol", "ospf", "-Y", "ip.proto == 89", *fields):
        source, _, text = line.partition("\t")
        packet = bytes.fromhex(text.replace(":", ""))
        if packet[1] != UPDATE:
            continue
        count, at = int.from_bytes(packet[HEADER : HEADER + 4], "big"), HEADER + 4
        for _ in range(count):
            length = int.from_bytes(packet[at + 18 : at + LSA_HEADER], "big")
            assert length >= LSA_HEADER and at + length <= len(packet), (path, line)
            lsa = packet[at : at + length]
            key = (lsa[3], dotted(lsa[4:8]), dotted(lsa[8:12]), int.from_bytes(lsa[12:16], "big"))
            found[source][key].add(lsa[2:])
            at += length
    return found


def last_contents(path: Path) -> dict[tuple[int, str, str], bytes]:
    """Of each advertisement the last instance, without age, sequence number and checksum."""
    found: dict[Instance, bytes] = {}
    for instances in flooded(path).values():
        for instance, (lsa, *_) in instances.items():
            found[instance] = lsa[:10] + lsa[16:]
    return {instance[:3]: found[instance] for instance in sorted(found)}


def mapped(path: Path) -> set[tuple[str, str]]:
    """Which router has given labels for which prefixes by LDP: sources and addresses of prefixes."""
    fields = ("-T", "fields", "-e", "ip.src", "-e", "ldp.msg.tlv.fec.pfval")
    lines = (line.partition("\t") for line in tshark(path, "-Y", "ldp.msg.type == 0x0400", *fields))
    return {(source, prefix) for source, _, prefixes in lines for prefix in prefixes.split(",")}


OPEN, BGP_UPDATE = 1, 2
BGP_HEADER = 19


def said_by_bgp(path: Path) -> set[tuple[str, bytes]]:
    """OPEN and UPDATE messages with their sources (RFC 4271, 4.1); what is sent again is there once."""
    found = set()
    fields = ("-T", "fields", "-e", "ip.src", "-e", "tcp.payload")
    for line in tshark(path, "--disable-protocol", "bgp", "-Y", "tcp.port == 179 && tcp.len > 0", *fields):
        source, _, text = line.partition("\t")
        data = bytes.fromhex(text.replace(":", ""))
        while data:
            length, kind = int.from_bytes(data[16:18], "big"), data[18]
            assert data[:16] == b"\xff" * 16 and BGP_HEADER <= length <= len(data), (path, line)
            if kind in (OPEN, BGP_UPDATE):
                found.add((source, data[:length]))
            data = data[length:]
    return found
