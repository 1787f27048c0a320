"""The kernel of a router's namespace is silent: no IPv6, ARP, ICMP or RST."""

from __future__ import annotations

import json
import socket
import struct
import time
from pathlib import Path

from twinplane.lab import Lab, netns

from .conftest import NetworkFile
from .support import TWO_SITES

ETH_P_ALL = 3


def test_settings(network_file: NetworkFile) -> None:
    with Lab(network_file()) as lab:
        shown = json.loads(lab.exec("p", "ip", "-j", "-d", "address").stdout)
        for one in shown:
            assert one.get("addr_info") == []  # no address at all, not even a link-local one
        links = {one["ifname"]: one["flags"] for one in shown}
        assert set(links) == {"lo", "e0", "e1"} and "UP" not in links["lo"]
        assert all("NOARP" in links[name] and "MULTICAST" not in links[name] for name in ("e0", "e1"))
        assert lab.exec("p", "cat", "/proc/sys/net/ipv4/ip_forward").stdout == "0\n"
        if Path("/proc/sys/net/ipv6").exists():
            assert lab.exec("p", "cat", "/proc/sys/net/ipv6/conf/e0/disable_ipv6").stdout == "1\n"
        info = lab.node("p").ask("status")
        assert info["node"] == "p"


def test_the_mac_of_an_interface_is_the_routers(network_file: NetworkFile) -> None:
    lab = Lab(network_file())
    with lab:
        for member in lab.plan.members.values():
            shown = json.loads(lab.exec(member.name, "ip", "-j", "link").stdout)
            addresses = {one["ifname"]: one["address"] for one in shown if one["ifname"] != "lo"}
            assert addresses == {end.name: end.mac for end in member.interfaces}


def test_without_its_process_a_router_says_nothing(network_file: NetworkFile) -> None:
    """Frames that a kernel would answer, to a namespace whose router is dead: TCP, UDP, echo, ARP, IPv6."""
    lab = Lab(network_file())
    with lab:
        for name in ("pe1", "p", "pe2"):
            lab.kill(name)
        end = lab.plan.members["pe1"].interfaces[0]
        with netns.inside(f"tp-{lab.name}-left"):
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            tap.bind(("e0", ETH_P_ALL))
        with tap:
            router = bytes.fromhex(end.mac.replace(":", ""))
            own = bytes.fromhex(lab.plan.members["left"].interfaces[0].mac.replace(":", ""))
            questions = asked(own, router, "10.1.0.2", end.address.partition("/")[0])
            assert len(questions) == 6
            for frame in questions:
                tap.send(frame)
            heard = listen(tap, 1.0)
        assert heard == []


def asked(own: bytes, router: bytes, source: str, target: str) -> list[bytes]:
    a, b = socket.inet_aton(source), socket.inet_aton(target)
    arp = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + own + a + bytes(6) + b
    tcp = struct.pack("!HHIIBBHHH", 1025, 80, 1, 0, 5 << 4, 2, 1024, 0, 0)
    tcp = tcp[:16] + checksum(a + b + struct.pack("!HH", 6, len(tcp)) + tcp) + tcp[18:]
    udp = struct.pack("!HHHH", 1025, 9, 8, 0)
    echo = struct.pack("!BBHHH", 8, 0, 0, 1, 1)
    echo = echo[:2] + checksum(echo) + echo[4:]
    neighbour = (
        bytes.fromhex("6000000000003aff")
        + bytes(15)
        + b"\1"
        + bytes.fromhex("ff0200000000000000000001ff000001")
    )
    everyone = b"\xff" * 6
    return [
        everyone + own + b"\x08\x06" + arp,
        router + own + b"\x08\x06" + arp,
        router + own + b"\x08\x00" + ip(a, b, 6, tcp),
        router + own + b"\x08\x00" + ip(a, b, 17, udp),
        router + own + b"\x08\x00" + ip(a, b, 1, echo),
        b"\x33\x33\xff\x00\x00\x01" + own + b"\x86\xdd" + neighbour,
    ]


def ip(source: bytes, target: bytes, protocol: int, payload: bytes) -> bytes:
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + source + target
    return header[:10] + checksum(header) + header[12:] + payload


def checksum(data: bytes) -> bytes:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", total ^ 0xFFFF)


def listen(tap: socket.socket, seconds: float) -> list[bytes]:
    """What comes in (not what goes out)."""
    found = []
    limit = time.monotonic() + seconds
    while (left := limit - time.monotonic()) > 0:
        tap.settimeout(left)
        try:
            frame, address = tap.recvfrom(65536)
        except TimeoutError:
            break
        if address[2] != socket.PACKET_OUTGOING:
            found.append(frame)
    return found


def test_an_idle_lab_without_lsps_is_quiet(network_file: NetworkFile) -> None:
    """Nobody has anything to say: no router solicitations, no multicast reports, no ARP."""
    text = TWO_SITES[: TWO_SITES.index("lsps:")].replace(
        "{kind: router}", "{kind: router, rsvp: {hello: none}}"
    )
    with Lab(network_file(text)) as lab:
        taps = []
        for node, name in (("left", "e0"), ("p", "e0"), ("p", "e1"), ("pe2", "e1")):
            with netns.inside(f"tp-{lab.name}-{node}"):
                tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
                tap.bind((name, ETH_P_ALL))
                taps.append(tap)
        time.sleep(2)
        for tap in taps:
            with tap:
                assert listen(tap, 0.01) == []
