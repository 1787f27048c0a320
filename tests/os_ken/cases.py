"""Writes the switch test cases of os-ken as JSON, a line each: messages and frames as hexadecimal digits.

They are read as os-ken's own tester reads them (os_ken/tests/switch/tester.py): messages are built by its
parser, and packets by its packet library from the expressions that cases have. Only the tester itself is not
used, because it needs a second switch and waits for seconds in each case.
"""

from __future__ import annotations

import json
import random
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The packet library reads one option of os-ken's command line, which would need twenty more packages.
sys.modules["os_ken.flags"] = types.ModuleType("os_ken.flags")
CONFIGURATION: Any = types.ModuleType("os_ken.cfg")
CONFIGURATION.CONF = {"zapi": types.SimpleNamespace(server_version=3, server_freebsd=0, software_version="")}
sys.modules["os_ken.cfg"] = CONFIGURATION

import netaddr  # noqa: E402
from os_ken.lib.packet import (  # noqa: E402
    arp,
    ethernet,
    icmp,
    icmpv6,
    ipv4,
    ipv6,
    mpls,
    pbb,
    sctp,
    tcp,
    udp,
    vlan,
)
from os_ken.ofproto import ofproto_parser, ofproto_protocol, ofproto_v1_3  # noqa: E402

# Frames of a flow whose addresses are random: one after the other is sent, again and again.
VARIANTS = 5000
# What all frames of flows end with.
FILL = "11"
# Ports by the names that cases may give them.
PORTS = {"target_recv_port": 1, "target_send_port_1": 2, "target_send_port_2": 3}
# Names in the expressions of packets; two classes of this name are told apart.
WORDS: dict[str, Any] = {"netaddr": netaddr, "randint": random.randint}
for module in (arp, ethernet, icmp, icmpv6, ipv4, ipv6, mpls, pbb, sctp, tcp, udp, vlan):
    for word, found in vars(module).items():
        if isinstance(found, type) and found.__module__ == module.__name__:
            renamed = {("ipv6", "option"): "ipv6option", ("icmpv6", "echo"): "icmpv6echo"}
            WORDS[renamed.get((module.__name__.rsplit(".", 1)[-1], word), word)] = found


class Datapath(ofproto_protocol.ProtocolDesc):  # type: ignore[misc]
    """A switch that messages are written for."""

    def set_xid(self, message: Any) -> None:
        """Messages need none."""


def packet(layers: list[str]) -> str:
    """A packet that is written as expressions of its layers."""
    built = eval("/".join(layers), dict(WORDS))
    built.serialize()
    return bytes(built.data).hex()


def message(described: dict[str, Any], datapath: Datapath) -> str:
    """A message that is written as os-ken writes messages as JSON."""
    built = ofproto_parser.ofp_msg_from_jsondict(datapath, described)
    built.set_xid(1)
    built.serialize()
    return bytes(built.buf).hex()


def with_numbers(value: Any) -> Any:
    """Ports may be named by what they are for."""
    if isinstance(value, dict):
        return {key: with_numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [with_numbers(entry) for entry in value]
    return PORTS.get(value, value) if isinstance(value, str) else value


def field(described: dict[str, Any]) -> list[Any]:
    """A field that what comes out is to have, and its value."""
    return [described["OXMTlv"]["field"], described["OXMTlv"]["value"]]


def test(described: dict[str, Any]) -> dict[str, Any]:
    """What comes in, and what is to come out."""
    told: dict[str, Any] = {}
    ingress = described["ingress"]
    if isinstance(ingress, list):
        told["frame"] = packet(ingress)
    else:
        data = ingress["packets"]["data"]
        is_random = any("randint" in layer for layer in data)
        frames = [packet(data) for _ in range(VARIANTS if is_random else 1)]
        told["flow"] = {
            "frames": [frame.removesuffix(FILL * (len(frame) // 2 - 100)) for frame in frames],
            "len": len(frames[0]) // 2,
            "per_second": ingress["packets"].get("pktps", 1000),
            "seconds": ingress["packets"].get("duration_time", 30),
        }
    if "PACKET_IN" in described:
        told["packet_in"] = packet(described["PACKET_IN"])
    elif "table-miss" in described:
        told["miss"] = described["table-miss"]
    elif isinstance(described["egress"], list):
        told["egress"] = packet(described["egress"])
    else:
        told["rates"] = [
            {
                "fields": [field(one) for one in rate["OFPMatch"]["oxm_fields"]],
                "kbps": rate.get("kbps"),
                "pktps": rate.get("pktps"),
            }
            for rate in described["egress"]["throughput"]
        ]
    return told


def cases(folder: Path) -> Iterator[dict[str, Any]]:
    """All cases of a folder, with the file that they are from."""
    datapath = Datapath(ofproto_v1_3.OFP_VERSION)
    for path in sorted(folder.rglob("*.json")):
        for described in json.loads(path.read_text()):
            if not isinstance(described, str):
                described = with_numbers(described)
                yield {
                    "file": str(path.relative_to(folder).with_suffix("")),
                    "name": described["description"],
                    "messages": [message(one, datapath) for one in described["prerequisite"]],
                    "tests": [test(one) for one in described["tests"]],
                }


def main() -> None:
    """Writes the cases that the installed package has."""
    random.seed(1)
    import os_ken

    for case in cases(Path(os_ken.__file__).parent / "tests" / "switch" / "of13"):
        print(json.dumps(case))


if __name__ == "__main__":
    main()
