"""What can be set of `multicast`, and the sizes that follow from it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..parameters import Parameters

CORE_LINKS = 4
"""Links of PC3 in the study: to PC2, PC4, PC5 and PC6."""
MTU = 1500
"""Longest IP packet of the hosts, in bytes."""
IP, UDP = 20, 8
ETHERNET = 18
"""Header and frame check sequence."""
AROUND = 20
"""Preamble, start of frame and gap."""
LABEL = 4
RATE = 100e6
"""Of the links between routers, in bits a second."""


class MulticastParameters(Parameters):
    """What can be set with --set; each description is the help text."""

    forwarding: Literal["ip", "lsp", "group"] = Field(
        "group", description="IP unicast, a unicast LSP, or a group over a label-switched core-based tree."
    )
    receivers: int = Field(3, ge=1, le=64, description="Receivers: one, unless it is a group.")
    probing: bool = Field(False, description="Do routers probe their links?")
    size: int = Field(
        8192, ge=64, le=60_000, description="Bytes of UDP payload; long packets travel as fragments."
    )
    profile: str = Field("pc-router", description="Device profile of every router.")
    probe_period_ms: float = Field(50.0, ge=0.1, le=10_000, description="Time between two probes of a link.")
    misses: int = Field(3, ge=1, le=100, description="Probes missed before a link is taken to be down.")
    duration_s: float = Field(1.0, ge=0.05, le=60, description="For how long arrivals are counted.")


def fragments(size: int) -> list[int]:
    """The IP packets, in bytes, that a UDP packet with so much payload travels as (RFC 791, 3.2)."""
    left, room = size + UDP, (MTU - IP) // 8 * 8
    found = []
    while left + IP > MTU:
        found.append(room + IP)
        left -= room
    return [*found, left + IP]


def wire_bytes(size: int, labels: int = 0) -> int:
    """What a packet takes of an Ethernet, with all that is around its fragments."""
    return sum(length + labels * LABEL + ETHERNET + AROUND for length in fragments(size))
