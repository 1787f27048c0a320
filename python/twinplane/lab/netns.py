"""Network namespaces: entering one, asking the kernel about its interfaces, finding who lives in it."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from ..errors import TwinplaneError, os_reason

NETNS = Path("/run/netns")
"""Where iproute2 keeps the names of namespaces."""

CLONE_NEWNET = 0x40000000
MNT_DETACH = 2
OWN = "/proc/thread-self/ns/net"

SIOCGIFFLAGS, SIOCGIFMTU, SIOCETHTOOL = 0x8913, 0x8921, 0x8946
# linux/ethtool.h: transmit checksums, scatter-gather, TCP segmentation, generic segmentation.
ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_STSO, ETHTOOL_SGSO = 0x17, 0x19, 0x1F, 0x24

CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN = 12, 13, 21
UNUSABLE = 0x40 | 0x08
"""Flags of an IPv6 address: it is tentative, or somebody else has it (linux/if_addr.h)."""


def libc() -> ctypes.CDLL:
    """The C library."""
    return ctypes.CDLL(None, use_errno=True)


def path_of(namespace: str) -> Path:
    """Where the name of a namespace is kept."""
    return NETNS / namespace


def exists(namespace: str) -> bool:
    """Is there a file of that name? It may be no namespace any more."""
    return os.path.lexists(path_of(namespace))


def identity(path: str | Path) -> tuple[int, int] | None:
    """What tells a namespace from others, or nothing if there is none behind the name."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    # A name that is left after its namespace is gone is an ordinary file.
    plain = NETNS.stat().st_dev if str(path).startswith(f"{NETNS}/") and NETNS.exists() else -1
    return None if found.st_dev == plain else (found.st_dev, found.st_ino)


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Be in a namespace: sockets and processes made meanwhile are born there. Only this thread goes."""
    path = path_of(namespace)
    try:
        there = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise TwinplaneError(f"namespace '{namespace}': {os_reason(error)}") from None
    here = os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _set(there, namespace)
        try:
            yield
        finally:
            _set(here, "the namespace that this began in")
    finally:
        os.close(there)
        os.close(here)


def _set(descriptor: int, what: str) -> None:
    if libc().setns(descriptor, CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise TwinplaneError(f"namespace '{what}': {reason[:1].lower()}{reason[1:]}")


def forget(namespace: str) -> None:
    """Take a namespace's name away; it ends when nobody lives in it any more."""
    path = path_of(namespace)
    while libc().umount2(os.fsencode(path), MNT_DETACH) == 0:
        pass  # whatever is mounted over it, too
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def silence(namespace: str) -> None:
    """Before a link comes up: no IPv6, and nothing is forwarded. All interfaces to come take the default."""
    settings = {
        "ipv6/conf/all/disable_ipv6": "1",
        "ipv6/conf/default/disable_ipv6": "1",
        "ipv4/ip_forward": "0",
        "ipv4/conf/all/arp_ignore": "8",
        "ipv4/conf/default/arp_ignore": "8",
        "ipv4/icmp_echo_ignore_all": "1",
        "ipv4/conf/default/accept_local": "0",
    }
    with inside(namespace):
        for name, value in settings.items():
            with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
                Path(f"/proc/sys/net/{name}").write_text(value)


def plain_host(namespace: str) -> None:
    """Before a link comes up: no IPv6, so that a host says nothing that it was not asked for."""
    with inside(namespace):
        for name in ("all", "default"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")


def speak_ipv6(interface: str, *, slaac: bool = False) -> None:
    """Let an interface of the present namespace, not up yet, have the IPv6 addresses that it is given.

    It takes none from advertisements and asks for none, unless it is to make its own (`slaac`): then it looks
    whether they are free, too.
    """
    given = "1" if slaac else "0"
    for name, value in {
        "accept_ra": given,
        "autoconf": given,
        "router_solicitations": "-1" if slaac else "0",
        "dad_transmits": given,
        "disable_ipv6": "0",
    }.items():
        path = Path(f"/proc/sys/net/ipv6/conf/{interface}/{name}")
        try:
            path.write_text(value)
        except OSError as error:
            raise TwinplaneError(
                f"interface '{interface}': no IPv6 in this kernel: {os_reason(error)}"
            ) from None


def may_use(interface: str, address: str) -> bool:
    """Has an interface of the present namespace this IPv6 address, and has nobody else been found to?"""
    wanted = ipaddress.IPv6Interface(address).ip.packed.hex()
    try:
        lines = Path("/proc/thread-self/net/if_inet6").read_text().splitlines()
    except FileNotFoundError:  # a kernel without IPv6
        return False
    rows = [line.split() for line in lines]
    return any(row[0] == wanted and row[5] == interface and not int(row[4], 16) & UNUSABLE for row in rows)


def _ask(interface: str, request: int, payload: bytes = b"") -> bytes:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        given = struct.pack("16s24s", interface.encode(), payload)
        return fcntl.ioctl(asking.fileno(), request, given)[16:]


def mtu(interface: str) -> int:
    """Of an interface of the present namespace; OSError if there is none."""
    return int(struct.unpack_from("i", _ask(interface, SIOCGIFMTU))[0])


def is_up(interface: str) -> bool:
    """Is an interface of the present namespace administratively up?"""
    return bool(struct.unpack_from("H", _ask(interface, SIOCGIFFLAGS))[0] & 1)


def finish_frames(interface: str) -> None:
    """Let the kernel finish checksums and cut segments itself before this interface gets them."""
    for command in (ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_STXCSUM, ETHTOOL_SSG):
        value = bytearray(struct.pack("II", command, 0))
        buffer = (ctypes.c_char * len(value)).from_buffer(value)
        payload = struct.pack("P", ctypes.addressof(buffer))
        with contextlib.suppress(OSError):  # some are fixed; a capture would show it
            _ask(interface, SIOCETHTOOL, payload)


def capabilities() -> int:
    """What this process may do, as bits."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def may_make() -> bool:
    """May this process make namespaces and links?"""
    held = capabilities()
    return all(held >> bit & 1 for bit in (CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN)) and os.geteuid() == 0
