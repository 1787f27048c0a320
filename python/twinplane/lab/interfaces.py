"""Interfaces of this machine that the tester is given: there, up, and wide enough."""

from __future__ import annotations

import contextlib

from ..errors import TwinplaneError, os_reason

HEADER_AND_FCS = 18
"""Bytes of a frame that an MTU does not count: Ethernet header and frame check sequence."""


def check(interface: str, netns_name: str | None, size: int | None = None) -> None:
    """One sentence if frames of a size can't be sent by an interface."""
    from . import netns

    where = "" if netns_name is None else f" in namespace '{netns_name}'"
    if not netns.may_make():
        raise TwinplaneError(f"interface '{interface}'{where}: opening it needs root (CAP_NET_RAW): sudo")
    with contextlib.nullcontext() if netns_name is None else netns.inside(netns_name):
        try:
            mtu, up = netns.mtu(interface), netns.is_up(interface)
        except OSError as error:
            raise TwinplaneError(f"interface '{interface}'{where}: {os_reason(error)}") from None
    if not up:
        raise TwinplaneError(f"interface '{interface}'{where} is down: `ip link set {interface} up`")
    if size is not None and mtu < size - HEADER_AND_FCS:
        need = size - HEADER_AND_FCS
        raise TwinplaneError(
            f"interface '{interface}'{where}: its MTU is {mtu}, and frames of {size} bytes need {need}:"
            f" `ip link set {interface} mtu {need}`, or size={mtu + HEADER_AND_FCS}"
        )
