"""A switch of somebody else's: two interfaces of the tester lead to it; its channel is the kernel's TCP."""

from __future__ import annotations

import ipaddress
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ...errors import TwinplaneError, os_reason
from ...lab import interfaces
from .parameters import OpenFlowParameters

PORT = 6653
"""Where switches and controllers listen if nothing is said: the port of OpenFlow."""
CONNECT_S = 10.0
"""So long a switch that listens is given to answer."""
RETRY_S = 0.2
COME_S = 20.0
"""So long a switch that connects by itself is given: it may wait for 8 s between two attempts."""
SIDES = ("ingress", "egress")
FCS = 4


@dataclass(frozen=True)
class Target:
    """Where a switch is met."""

    connects: bool
    """Does the tester connect? Otherwise the switch does."""
    address: str
    """Where the switch listens, or the tester; empty: the tester at all addresses of the machine."""
    port: int

    def __str__(self) -> str:
        """For people."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}" if host else f"port {self.port}"


def target(sut: str) -> Target:
    """What `tcp:ADDRESS[:PORT]` and `ptcp:[PORT][:ADDRESS]` say, as Open vSwitch writes them."""
    method, _, rest = sut.partition(":")
    connects = method == "tcp"
    # A colon stands within brackets, too.
    host, port = (rest, "") if connects else ("", rest)
    if connects and rest.startswith("["):
        host, _, port = rest[1:].partition("]")
        port = port.removeprefix(":")
    elif connects and ":" in rest:
        host, _, port = rest.partition(":")
    elif not connects and ":" in rest:
        port, _, host = rest.partition(":")
        host = host.removeprefix("[").removesuffix("]")
    try:
        found = Target(connects, str(ipaddress.ip_address(host)) if host else "", int(port) if port else PORT)
    except ValueError:
        found = Target(connects, "", 0)
    if not 0 < found.port < 65536 or (connects and not found.address):
        right = (
            "tcp:192.0.2.1:6653 connects to a switch that listens there"
            if connects
            else "ptcp:6653 waits for a switch that connects there, ptcp:6653:192.0.2.2 at one address"
        )
        raise TwinplaneError(f"openflow: sut={sut}: {right}")
    return found


def check(p: OpenFlowParameters, size: int) -> None:
    """Refuse, before anything is done, interfaces that can't carry packets of `size`, or have the channel."""
    at, ends = target(p.sut), [(p.ingress_port, p.ingress_netns), (p.egress_port, p.egress_netns)]
    for side, number, (interface, _) in zip(SIDES, (p.from_port, p.to_port), ends, strict=True):
        if not interface:
            raise TwinplaneError(
                f"openflow: sut={p.sut}: --{side}-port is needed: the tester's interface to port {number} of"
                " the switch"
            )
    if ends[0] == ends[1]:
        raise TwinplaneError(
            f"openflow: --ingress-port and --egress-port are both {p.ingress_port}:"
            " the switch stands between two"
        )
    if p.from_port == p.to_port:
        raise TwinplaneError(
            f"openflow: to_port={p.to_port} is from_port, too:"
            " a switch sends no packet back by the port that it came by"
        )
    for interface, netns in ends:
        interfaces.check(interface, netns or None, size + FCS)
    if shutil.which("ip") is None:
        raise TwinplaneError(f"openflow: sut={p.sut}: ip is missing (package iproute2)")
    if at.connects:
        _check_apart(p, at.address)
    else:
        _listener(p, at).close()


def _check_apart(p: OpenFlowParameters, address: str) -> None:
    """Refuse a data port by which the channel goes, too."""
    asked = subprocess.run(["ip", "-j", "route", "get", address], capture_output=True, text=True, check=False)
    if asked.returncode:
        raise TwinplaneError(f"openflow: sut={p.sut}: this machine has no route to {address}")
    by = json.loads(asked.stdout)[0].get("dev")
    for side, interface, netns in (
        ("ingress", p.ingress_port, p.ingress_netns),
        ("egress", p.egress_port, p.egress_netns),
    ):
        if by == interface and not netns:
            raise TwinplaneError(
                f"openflow: --{side}-port {interface}: the channel to {address} goes by it, too: test packets"
                " need an interface of their own"
            )


def _listener(p: OpenFlowParameters, at: Target) -> socket.socket:
    family = socket.AF_INET6 if ":" in at.address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((at.address, at.port))
        listener.listen(1)
    except OSError as error:
        listener.close()
        raise TwinplaneError(f"openflow: sut={p.sut}: it can't listen at {at}: {os_reason(error)}") from None
    return listener


def _accepted(p: OpenFlowParameters, at: Target) -> socket.socket:
    with _listener(p, at) as listener:
        listener.settimeout(COME_S)
        try:
            found, (peer, *_) = listener.accept()
        except TimeoutError:
            raise TwinplaneError(
                f"openflow: sut={p.sut}: no switch has connected to {at} within {COME_S:.0f} s"
            ) from None
    try:
        _check_apart(p, peer)
    except TwinplaneError:
        found.close()
        raise
    return found


def _connected(p: OpenFlowParameters, at: Target) -> socket.socket:
    until = time.monotonic() + CONNECT_S
    while True:
        left = until - time.monotonic()
        try:
            return socket.create_connection((at.address, at.port), max(left, RETRY_S))
        except ConnectionRefusedError:
            # A switch that was reset by a test before this one may take a while to listen again.
            if left < RETRY_S:
                raise TwinplaneError(f"openflow: sut={p.sut}: nobody listens at {at}") from None
            time.sleep(RETRY_S)
        except TimeoutError:
            raise TwinplaneError(
                f"openflow: sut={p.sut}: nobody answers at {at} within {CONNECT_S:.0f} s"
            ) from None
        except OSError as error:
            raise TwinplaneError(f"openflow: sut={p.sut}: {at}: {os_reason(error)}") from None


@contextmanager
def channel(p: OpenFlowParameters) -> Iterator[socket.socket]:
    """A connection to the switch as long as the block lasts."""
    at = target(p.sut)
    with _connected(p, at) if at.connects else _accepted(p, at) as found:
        try:
            yield found
        finally:
            # The core has a descriptor of its own: the switch is to see that the test is over.
            with suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)


def check_state(p: OpenFlowParameters, state: str, errors: int, passed_s: float) -> None:
    """Refuse a switch that does not answer, or not in the tester's version."""
    if state == "refused":
        raise TwinplaneError(
            f"openflow: sut={p.sut}: the switch does not speak OpenFlow {p.version}, the version of the tests"
        )
    if state == "waiting" and passed_s >= CONNECT_S:
        what = (
            "what answers there does not speak OpenFlow"
            if errors
            else f"the switch has said nothing within {CONNECT_S:.0f} s"
        )
        raise TwinplaneError(f"openflow: sut={p.sut}: {what}")
    if state == "preparing" and passed_s >= COME_S:
        raise TwinplaneError(
            f"openflow: sut={p.sut}: the switch has not said within {COME_S:.0f} s"
            " that its entries are deleted"
        )
