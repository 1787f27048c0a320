"""IPv6 from Python: a network that speaks it, what is refused, and bytes on which tshark agrees."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from support.needs import need
from twinplane import wire

HOP_BY_HOP = {
    "header": "hop-by-hop",
    "options": [{"option": "router-alert", "value": 0}, {"option": "pad-n", "len": 0}],
}
DESTINATION = {
    "header": "destination-options",
    "options": [{"option": "other", "kind": 30, "data": "010203"}, {"option": "pad1"}],
}
OPTIONS = [
    {"option": "source-link-layer", "mac": "02:00:00:00:00:01"},
    {"option": "mtu", "mtu": 1500},
    {
        "option": "prefix",
        "prefix": "2001:db8::",
        "len": 64,
        "on_link": True,
        "autonomous": True,
        "valid_s": 90,
        "preferred_s": 80,
    },
]
ADVERTISEMENT = {
    "discovery": "router-advertisement",
    "hop_limit": 64,
    "managed": False,
    "other": True,
    "lifetime_s": 1800,
    "reachable_ms": 1,
    "retransmit_ms": 2,
}


def network() -> tp.Network:
    net = tp.Network(seed=1)
    a, b, c = (net.router(name, ipv6=f"2001:db8:ff::{at}") for at, name in enumerate("abc", 1))
    net.link(a, b, ipv6=("2001:db8:12::1/64", "2001:db8:12::2/64"))
    net.link(b, c, ipv6=("2001:db8:23::2/64", "2001:db8:23::3/64"))
    return net


def test_a_network_pings_and_traces() -> None:
    net = network()
    net.run(until="10 ms")
    a = net.node("a")
    assert isinstance(a, tp.Router)
    assert a.ping("2001:db8:ff::3") is not None
    hops = a.traceroute("2001:db8:ff::3")
    assert hops["address"].to_list() == ["2001:db8:12::2", "2001:db8:ff::3"]
    assert hops["node"].to_list() == ["b", "c"]
    assert "2001:db8:23::/64" in a.fib()["prefix"].to_list()


def test_addresses_are_refused_in_one_sentence() -> None:
    net = tp.Network(seed=1)
    a, b = net.router("a"), net.router("b")
    with pytest.raises(tp.TwinplaneError, match="an IPv6 address with a prefix length such as"):
        net.link(a, b, ipv6=("10.0.0.1/24", "10.0.0.2/24"))
    net.link(a, b, ipv6=("2001:db8:1::1/64", "2001:db8:2::2/64"))
    with pytest.raises(tp.TwinplaneError, match="are not in one network"):
        net.run(until="1 ms")


def messages() -> list[dict[str, Any]]:
    echo = {"ident": 1, "sequence": 2, "data": "0102"}
    target = {"target": "2001:db8::1"}
    discovery = [
        {"discovery": "router-solicitation"},
        ADVERTISEMENT,
        {"discovery": "neighbor-solicitation", **target},
    ]
    advertised = {"router": True, "solicited": False, "replaces": True, **target}
    discovery.append({"discovery": "neighbor-advertisement", **advertised})
    return [
        {"layer": "icmpv6", "message": "echo-request", **echo},
        {"layer": "icmpv6", "message": "echo-reply", **echo},
        *(
            {"layer": "icmpv6", "message": "neighbor-discovery", **one, "options": OPTIONS}
            for one in discovery
        ),
        {"layer": "udp", "src_port": 4000, "dst_port": 4001},
    ]


def encoded() -> list[bytes]:
    def packet(message: dict[str, Any], headers: list[Any], labels: list[int]) -> bytes:
        layers: list[Any] = [{"layer": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}]
        if labels:
            layers.append({"layer": "mpls", "stack": [{"label": label, "ttl": 9} for label in labels]})
        ip = {"layer": "ipv6", "src": "fe80::1", "dst": "ff02::1", "hop_limit": 255, "headers": headers}
        return wire.encode([*layers, ip, message])

    frames = [packet(message, [], []) for message in messages()]
    quoted = packet(messages()[0], [], [])[14:].hex()
    stack = [{"object": "mpls-stack", "stack": [{"label": 77, "ttl": 1}, {"label": 2, "ttl": 1}]}]
    padded = {"original": quoted + "00" * (128 - len(quoted) // 2), "extensions": stack}
    for message, more in (
        ("destination-unreachable", {"code": 4, "quote": {"original": quoted}}),
        ("packet-too-big", {"mtu": 1400, "quote": {"original": quoted}}),
        ("time-exceeded", {"code": 0, "quote": padded}),
        ("parameter-problem", {"code": 1, "pointer": 6, "quote": {"original": quoted}}),
    ):
        frames.append(packet({"layer": "icmpv6", "message": message, **more}, [], []))
    frames.append(packet(messages()[0], [HOP_BY_HOP, DESTINATION], []))
    frames.append(packet(messages()[-1], [], [1025, 2]))
    return frames


def pcap(path: Path, frames: list[bytes]) -> None:
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    parts += [struct.pack("<IIII", at, 0, len(frame), len(frame)) + frame for at, frame in enumerate(frames)]
    path.write_bytes(b"".join(parts))


def test_frames_read_back_as_written() -> None:
    for frame in encoded():
        assert wire.encode(wire.decode(frame)) == frame


def test_tshark_agrees(tmp_path: Path) -> None:
    need("tshark")
    path = tmp_path / "six.pcap"
    pcap(path, encoded())

    def shown(wanted: str, *fields: str) -> list[str]:
        said = [word for field in fields for word in ("-e", field)]
        words = ["tshark", "-n", "-r", str(path), "-o", "udp.check_checksum:TRUE", "-Y", wanted]
        done = subprocess.run(
            [*words, *(("-T", "fields", *said) if fields else ())], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    bad = "_ws.malformed || icmpv6.checksum.status == 0 || udp.checksum.status == 0"
    assert shown(bad) == []
    assert len(shown("icmpv6.checksum.status == 1")) == len(encoded()) - 2
    assert shown("icmpv6.type == 135", "icmpv6.nd.ns.target_address") == ["2001:db8::1"]
    assert shown("icmpv6.type == 2", "icmpv6.mtu") == ["1400"]
    assert shown("icmpv6.type == 134", "icmpv6.opt.prefix", "icmpv6.opt.mtu") == ["2001:db8::\t1500"]
    labels = shown("icmpv6.type == 3", "icmp.mpls.label") or shown("icmpv6.type == 3", "mpls.label")
    assert labels in ([], ["77,2"])
    assert shown("mpls && ipv6", "mpls.label") == ["1025,2"]
