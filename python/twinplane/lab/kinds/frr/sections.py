"""Which daemons of FRR a configuration is for, and what else it says that a lab has to know."""

from __future__ import annotations

import re

DAEMONS: dict[str, str] = {
    "ospfd": r"router ospf\b(?!6)|ip ospf\b",
    "ospf6d": r"router ospf6\b|ipv6 ospf6\b",
    "bgpd": r"router bgp\b",
    "ldpd": r"mpls ldp\b|l2vpn\b",
    "bfdd": r"bfd$|ip ospf bfd\b|neighbor \S+ bfd\b|isis bfd\b|ip pim bfd\b",
    "isisd": r"router isis\b|ip router isis\b",
    "ripd": r"router rip$|ip rip\b",
    "ripngd": r"router ripng\b",
    "eigrpd": r"router eigrp\b",
    "babeld": r"router babel\b|babel\b",
    "fabricd": r"router openfabric\b|ip router openfabric\b",
    "pimd": r"ip pim\b|router pim\b|ip igmp\b",
    "nhrpd": r"ip nhrp\b|nhrp\b",
    "pbrd": r"pbr-map\b|pbr-policy\b",
    "pathd": r"segment-routing\b|pcep\b",
    "vrrpd": r"vrrp\b",
}
"""Daemons, and the lines that are for them. zebra and staticd are started in any case."""

ALWAYS = ("zebra", "staticd")


def daemons(config: str) -> list[str]:
    """The daemons that a configuration is for, in the order in which they are started."""
    lines = [line.strip() for line in config.splitlines()]
    asked = [
        name for name, lead in DAEMONS.items() if any(re.match(lead, line) is not None for line in lines)
    ]
    return [*ALWAYS, *asked]


def addressed(config: str) -> set[str]:
    """The interfaces that a configuration gives IPv4 addresses."""
    found = set()
    interface = ""
    for line in config.splitlines():
        words = line.split()
        if words[:1] == ["interface"] and len(words) > 1:
            interface = words[1]
        elif words[:2] == ["ip", "address"] and line[:1].isspace():
            found.add(interface)
    return found


def explicit_null(config: str) -> bool:
    """Does LDP ask for the label explicit null, which a kernel would have to take off?"""
    return re.search(r"^\s*label local advertise explicit-null\b", config, re.MULTILINE) is not None
